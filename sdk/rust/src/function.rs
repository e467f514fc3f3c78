//! A function: its handlers, and how one is run.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use crate::answer::{Answer, Problem};
use crate::call::{Call, CallType, SpecError};

/// An error of a handler: the run failed, and its message is in the object's Ready condition. A [`SpecError`] parks the object.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// What a handler returns.
pub type Result = std::result::Result<Answer, Error>;

type Run = Pin<Box<dyn Future<Output = Result> + Send>>;
type Handler = Box<dyn Fn(Call) -> Run + Send + Sync>;

/// The longest message that is sent, in bytes.
const MAX_MESSAGE: usize = 32_768;

/// The handlers of a function. Without `finalize`, every object is let go.
///
/// A handler is an `async fn`. It is dropped at its next `await` when the deadline of its call is over, when a newer run of the
/// key begins, and when the process has to end: like a crash, that may be between any two of its steps. Wrap code that blocks
/// in `tokio::task::spawn_blocking`; tasks that a handler starts are not stopped with it.
#[derive(Default)]
pub struct Function {
    reconcile: Option<Handler>,
    compose: Option<Handler>,
    finalize: Option<Handler>,
}

impl Function {
    /// A function without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler of reconcile calls, which takes the world one step towards the spec.
    pub fn reconcile<F: Future<Output = Result> + Send + 'static>(
        mut self,
        handler: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        self.reconcile = Some(boxed(handler));
        self
    }

    /// Sets the handler of compose calls, which declares the children that should exist.
    pub fn compose<F: Future<Output = Result> + Send + 'static>(
        mut self,
        handler: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        self.compose = Some(boxed(handler));
        self
    }

    /// Sets the handler of finalize calls, which undoes what `reconcile` has done.
    pub fn finalize<F: Future<Output = Result> + Send + 'static>(
        mut self,
        handler: impl Fn(Call) -> F + Send + Sync + 'static,
    ) -> Self {
        self.finalize = Some(boxed(handler));
        self
    }

    /// The handler's answer. An error and a panic are answers, too: the run failed.
    pub(crate) async fn run(&self, call: Call) -> Answer {
        let (handler, missing) = match call.r#type {
            CallType::Reconcile => (&self.reconcile, missing_reconcile as fn() -> Answer),
            CallType::Compose => (&self.compose, missing_compose as fn() -> Answer),
            CallType::Finalize => (&self.finalize, (|| Answer::Finalized) as fn() -> Answer),
        };
        let Some(handler) = handler else {
            return missing();
        };
        let key = call.key.clone();
        let problem = match caught(handler, call).await {
            Ok(Ok(answer)) => return answer,
            Ok(Err(error)) => {
                let message = shortened(message_of(error.as_ref()));
                if error.is::<SpecError>() {
                    return Answer::parked("InvalidSpec", message);
                }
                message
            }
            Err(_) => "the function panicked: see its log".into(),
        };
        log!("The run of {key} failed: {problem:?}");
        Answer::Failed(Problem {
            message: problem,
            reason: None,
        })
    }
}

fn boxed<F: Future<Output = Result> + Send + 'static>(
    handler: impl Fn(Call) -> F + Send + Sync + 'static,
) -> Handler {
    Box::new(move |call| Box::pin(handler(call)))
}

/// Runs a handler. A panic is an error: the hook of the standard library has logged it.
async fn caught(handler: &Handler, call: Call) -> std::result::Result<Result, Box<dyn Any + Send>> {
    let mut run = pin!(async move { handler(call).await });
    poll_fn(
        |context| match catch_unwind(AssertUnwindSafe(|| run.as_mut().poll(context))) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        },
    )
    .await
}

/// The message of an error, with those of its sources.
fn message_of(error: &(dyn std::error::Error + 'static)) -> String {
    std::iter::successors(Some(error), |one| one.source())
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn shortened(mut message: String) -> String {
    message.truncate(message.floor_char_boundary(MAX_MESSAGE));
    message
}

fn missing_compose() -> Answer {
    let message = "This function declares no children. Leave out spec.webhook.composes, or give Function a handler compose.";
    Answer::parked("NotComposed", message)
}

fn missing_reconcile() -> Answer {
    let message = "This function declares children: set spec.webhook.composes to true, and list their kinds in spec.owns.";
    Answer::Parked(Problem {
        message: message.into(),
        reason: None,
    })
}
