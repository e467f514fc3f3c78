//! The answers of a function.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// The outcome of a call. An error in place of an answer counts as [`Answer::Failed`].
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Answer {
    /// Answers a reconcile call: the object is reconciled.
    Done(Done),
    /// Answers a compose call.
    Composed(Composed),
    /// Answers a finalize call: everything is undone, and the object may be deleted.
    Finalized,
    /// Asks to be called again. It counts as a wait, not as a failure.
    Again(Again),
    /// Another writer came first: the function is called again almost at once.
    Conflict {
        /// A message for people.
        message: String,
    },
    /// The run failed: the function is called again, with backoff.
    Failed(Problem),
    /// Another call cannot help: the key is parked until the object changes.
    Parked(Problem),
}

/// The object is reconciled.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Done {
    /// Becomes the object's status. `None` leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Value>,
    /// Conditions of the status. If none is Ready, Drover adds that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// A duration such as 30s: call again after it, even if nothing has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_after: Option<String>,
    /// The external account that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// All children that should exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Composed {
    /// Each is an object as in a manifest, or one with settings.
    #[serde(serialize_with = "children")]
    pub children: Vec<Child>,
    /// Becomes the object's status. `None` leaves it as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Value>,
    /// Conditions of the status. If none is Ready, Drover adds that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// A duration such as 30s: call again after it, even if nothing has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_after: Option<String>,
}

impl Composed {
    /// These children, and no status.
    pub fn of<C: Into<Child>>(children: impl IntoIterator<Item = C>) -> Self {
        Self {
            children: children.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }
}

/// A child. A setting that is left out has its default: `Child { wave: Some(1), ..object.into() }`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Child {
    /// The object, as in a manifest.
    pub object: Value,
    /// Children of a higher wave are applied when all of lower waves are ready. Default: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<i64>,
    /// How a change is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Update>,
    /// For [`Update::Rolling`]: a child is changed while fewer of its kind than this are not ready. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_unavailable: Option<u64>,
    /// What happens when it is no longer declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion: Option<Deletion>,
    /// True: an object of this name that has no controller becomes the child.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<bool>,
}

/// How a change of a child is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Update {
    /// On the server. The default.
    Apply,
    /// As `Apply`; if a field is immutable, the child is deleted and created again.
    Recreate,
    /// When the child is deleted by others.
    OnDelete,
    /// The children are recreated in turn.
    Rolling,
}

/// What happens to a child when it is no longer declared, and with its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Deletion {
    /// It is deleted. The default.
    Delete,
    /// It is released.
    Orphan,
    /// It is kept for a parent that declares it again.
    Retain,
}

impl From<Value> for Child {
    fn from(object: Value) -> Self {
        Self {
            object,
            ..Self::default()
        }
    }
}

/// Writes children without settings as bare objects.
fn children<S: Serializer>(children: &[Child], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(untagged)]
    enum Written<'a> {
        Bare(&'a Value),
        Settled(&'a Child),
    }
    serializer.collect_seq(children.iter().map(|child| match child {
        Child {
            object,
            wave: None,
            update: None,
            max_unavailable: None,
            deletion: None,
            adopt: None,
        } => Written::Bare(object),
        settled => Written::Settled(settled),
    }))
}

/// A condition of a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Such as Ready.
    pub r#type: String,
    /// True, False or Unknown.
    pub status: String,
    /// In CamelCase, for programs.
    pub reason: String,
    /// For people.
    pub message: String,
}

/// A wait.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Again {
    /// A duration such as 30s.
    pub after: String,
    /// In CamelCase, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// An external account that accepts no calls until then: all keys that use it wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Again {
    /// A wait with its reason (for programs) and a message (for people).
    pub fn because(after: impl Into<String>, reason: &str, message: impl Into<String>) -> Self {
        Self {
            after: after.into(),
            reason: Some(reason.into()),
            message: Some(message.into()),
            account: None,
        }
    }
}

/// Why a run has failed, or cannot succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// For people.
    pub message: String,
    /// In CamelCase, for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Answer {
    /// Parks the key, with a reason (for programs) and a message (for people).
    pub fn parked(reason: &str, message: impl Into<String>) -> Self {
        Self::Parked(Problem {
            message: message.into(),
            reason: Some(reason.into()),
        })
    }
}

impl From<Done> for Answer {
    fn from(done: Done) -> Self {
        Self::Done(done)
    }
}

impl From<Composed> for Answer {
    fn from(composed: Composed) -> Self {
        Self::Composed(composed)
    }
}

impl From<Again> for Answer {
    fn from(again: Again) -> Self {
        Self::Again(again)
    }
}
