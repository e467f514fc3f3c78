//! Functions for Drover that are called over HTTP.
//!
//! A function is one or two handlers. Each takes a [`Call`] and returns an [`Answer`]:
//!
//! ```no_run
//! use drover::{Call, Composed, Function, Result};
//! use serde_json::json;
//!
//! async fn compose(call: Call) -> Result {
//!     let page = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": call.name()}, "data": {"a": "b"}});
//!     Ok(Composed::of([page]).into())
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     drover::serve(Function::new().compose(compose))
//! }
//! ```
//!
//! `compose` declares the children that should exist for an object. `reconcile` is for everything else: it looks at the world
//! and moves it one step towards the spec. `finalize` undoes that before the object is deleted.
//!
//! [`serve`] verifies each call, answers a repeated call as before, keeps the order of the calls of a key, and signs the
//! answers, as Drover's docs/webhook-functions.md requires. These files do the work:
//!
//! - `server.rs` accepts connections, until SIGTERM; `waiting.rs` closes those of strangers;
//! - `receiver.rs` takes a request through verification, history and handler;
//! - `signing.rs` has the shared secrets and the signatures; `call.rs` parses a verified call;
//! - `history.rs` remembers the calls of the last ten minutes;
//! - `function.rs` runs a handler; `answer.rs` has the answers; [`testing`] makes calls for tests of your handlers.

/// Writes a line to the standard error, which may be closed.
macro_rules! log {
    ($($part:tt)*) => {{
        use std::io::Write as _;
        let _is_closed = writeln!(std::io::stderr(), $($part)*);
    }};
}

mod answer;
mod call;
mod function;
mod history;
mod ordered;
mod receiver;
mod server;
mod settings;
mod signing;
pub mod testing;
#[cfg(test)]
mod tests;
mod waiting;

pub use answer::{Again, Answer, Child, Composed, Condition, Deletion, Done, Problem, Update};
pub use call::{Call, CallType, Objects, SpecError};
pub use function::{Error, Function, Result};
pub use server::serve;
