//! Calls: the requests of the gateway, parsed after their signature has been verified.

use std::fmt;
use std::time::SystemTime;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A call for one object.
#[derive(Clone, Debug)]
pub struct Call {
    /// The type of the call.
    pub r#type: CallType,
    /// namespace/name of the object, or its name if the kind is cluster-scoped.
    pub key: String,
    /// Of the run, and never used twice: the same token is the same call.
    pub token: String,
    /// After this time another run may begin. A handler that has not answered by then is dropped at its next `await`.
    pub deadline: SystemTime,
    /// The object, as the run read it.
    pub object: Value,
    /// For compose: the children that exist. Secrets have only their metadata.
    pub children: Objects,
    /// For compose: the related objects that exist.
    pub related: Objects,
    /// The other fields of the call, also those that this version of the crate does not have.
    pub fields: serde_json::Map<String, Value>,
}

/// The type of a call.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum CallType {
    /// Look at the world, and move it one step towards the spec.
    #[serde(rename = "dev.drover.reconcile.v2")]
    Reconcile,
    /// Undo what was done for the object.
    #[serde(rename = "dev.drover.finalize.v2")]
    Finalize,
    /// Declare the children of the object.
    #[serde(rename = "dev.drover.compose.v2")]
    Compose,
}

/// Kubernetes objects.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Objects(pub Vec<Value>);

impl Objects {
    /// An object, such as `call.children.get("apps/v1", "Deployment", "web")`.
    pub fn get(&self, api_version: &str, kind: &str, name: &str) -> Option<&Value> {
        self.0.iter().find(|one| {
            one["apiVersion"] == api_version
                && one["kind"] == kind
                && one["metadata"]["name"] == name
        })
    }
}

/// A spec that cannot be read. A handler that returns it parks the object, with the reason InvalidSpec.
#[derive(Debug)]
pub struct SpecError(String);

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SpecError {}

impl Call {
    /// The object's spec. Return the error as it is.
    pub fn spec<T: DeserializeOwned>(&self) -> Result<T, SpecError> {
        serde_path_to_error::deserialize(&self.object["spec"]).map_err(|error| {
            SpecError(format!("spec.{}: {}", error.path(), error.inner()).replace("spec..", "spec"))
        })
    }

    /// The name of the object.
    pub fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// The namespace of the object; empty if the kind is cluster-scoped.
    pub fn namespace(&self) -> &str {
        self.object["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default()
    }

    /// The number of failed runs of this key in a row.
    pub fn fails(&self) -> u64 {
        self.fields
            .get("fails")
            .and_then(Value::as_u64)
            .unwrap_or_default()
    }

    pub(crate) fn resource_version(&self) -> &str {
        self.object["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
    }
}

/// A parsed call, and the function that it is meant for.
#[derive(Debug)]
pub(crate) struct Received {
    pub call: Call,
    pub audience: Audience,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Audience {
    pub name: String,
    pub uid: String,
}

/// The fields that are checked; all others stay in `fields`.
#[derive(Deserialize)]
struct Wire {
    r#type: CallType,
    audience: Audience,
    key: String,
    token: String,
    deadline: String,
    object: Value,
    #[serde(default)]
    children: Objects,
    #[serde(default)]
    related: Objects,
    #[serde(flatten)]
    fields: serde_json::Map<String, Value>,
}

/// Parses the body of a call, which must have been verified. The error has no part of the body.
pub(crate) fn parse_call(body: &[u8]) -> Result<Received, &'static str> {
    let value: Value = serde_json::from_slice(body).map_err(|_| "the call is not JSON")?;
    if has_proto(&value) {
        return Err("a field has the name __proto__");
    }
    const OTHER: &str =
        "this is not a call of version 2 of the contract: update the crate or the gateway";
    let Wire {
        r#type,
        audience,
        key,
        token,
        deadline,
        object,
        children,
        related,
        fields,
    } = Wire::deserialize(value).map_err(|_| OTHER)?;
    let deadline = humantime::parse_rfc3339(&deadline).map_err(|_| OTHER)?;
    let call = Call {
        r#type,
        key,
        token,
        deadline,
        object,
        children,
        related,
        fields,
    };
    let has_names = ![&call.key, &call.token, call.name(), call.resource_version()].contains(&"");
    if !has_names || !call.object["spec"].is_object() {
        return Err(OTHER);
    }
    Ok(Received { call, audience })
}

/// True if a field has the name `__proto__`. No Kubernetes object has one, and code in JavaScript that handles it later would
/// lose it.
fn has_proto(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields
            .iter()
            .any(|(name, one)| name == "__proto__" || has_proto(one)),
        Value::Array(all) => all.iter().any(has_proto),
        _ => false,
    }
}
