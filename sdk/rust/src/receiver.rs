//! A request's way: it is verified, runs once, and its answer is signed.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes};
use hyper::header::{CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::answer::Answer;
use crate::call::{Call, parse_call};
use crate::function::Function;
use crate::history::{History, Run, Step};
use crate::settings::Settings;
use crate::signing::{FolderSecrets, signatures, verify};

/// Enough for every object: the API server stores 1.5 MiB.
const MAX_BODY: usize = 2 << 20;

/// The response to a request that is not a genuine call, not meant for this function, or late. It is not signed, so it decides
/// nothing: the gateway calls again. It has no part of the request.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub status: StatusCode,
    pub message: &'static str,
}

/// A call that is genuine, meant for this function, and in time.
struct Genuine {
    call: Call,
    at: u64,
    body: Bytes,
}

pub(crate) struct Receiver {
    pub function: Function,
    pub settings: Settings,
    pub secrets: FolderSecrets,
    pub history: History,
    /// True: runs have to end.
    pub over: watch::Receiver<bool>,
}

impl Receiver {
    /// Answers a POST to any path as a call, since the ReconcileFunction chooses the path; and probes.
    ///
    /// `verified` is called when the sender has proved to be the gateway. It returns a guard that is dropped when the call is
    /// answered, or the refusal of a call that comes on top of too many.
    pub async fn receive<B: Body<Data = Bytes> + Unpin, G>(
        self: Arc<Self>,
        request: Request<B>,
        verified: impl FnOnce() -> Result<G, Refusal>,
    ) -> Response<Full<Bytes>> {
        if request.method() == Method::GET && matches!(request.uri().path(), "/healthz" | "/readyz")
        {
            return Response::default();
        }
        let genuine = match self.genuine(request).await {
            Ok(genuine) => genuine,
            Err(refusal) => return refused(&refusal),
        };
        let _guard = match verified() {
            Ok(guard) => guard,
            Err(refusal) => return refused(&refusal),
        };
        let token = genuine.call.token.clone();
        let answer = self.answer(genuine).await.unwrap_or_else(|| {
            let message =
                "A newer run of this key has begun here, or this one was answered long ago.".into();
            rendered(&Answer::Conflict { message })
        });
        self.signed(&token, answer)
    }

    async fn genuine<B: Body<Data = Bytes> + Unpin>(
        &self,
        request: Request<B>,
    ) -> Result<Genuine, Refusal> {
        let refuse = |status, message| Err(Refusal { status, message });
        let (head, body) = request.into_parts();
        if head.method != Method::POST {
            return refuse(StatusCode::METHOD_NOT_ALLOWED, "calls are sent with POST");
        }
        if head
            .headers
            .get(CONTENT_ENCODING)
            .is_some_and(|encoding| encoding != "identity")
        {
            return refuse(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "calls are not compressed",
            );
        }
        if body.size_hint().lower() > MAX_BODY as u64 {
            return refuse(StatusCode::PAYLOAD_TOO_LARGE, "a call has at most 2 MiB");
        }
        let Some(body) = read(body).await else {
            return refuse(
                StatusCode::BAD_REQUEST,
                "the call is too large, or was cut off",
            );
        };
        self.check(&head.headers, body)
    }

    /// Returns a call if it is genuine, meant for this function, and in time.
    fn check(&self, headers: &HeaderMap, body: Bytes) -> Result<Genuine, Refusal> {
        let refuse = |status, message| Err(Refusal { status, message });
        let verified = verify(&self.secrets.current(), headers, &body, seconds())?;
        let received = parse_call(&body).map_err(|message| Refusal {
            status: StatusCode::BAD_REQUEST,
            message,
        })?;
        let Settings { audience, uid, .. } = &self.settings;
        if received.audience.name != *audience
            || uid
                .as_ref()
                .is_some_and(|uid| received.audience.uid != *uid)
        {
            let message = "the call is meant for another function: correct its address";
            return refuse(StatusCode::MISDIRECTED_REQUEST, message);
        }
        let call = received.call;
        if call.token != verified.id {
            return refuse(
                StatusCode::BAD_REQUEST,
                "the token of the call is not its webhook-id",
            );
        }
        if call.deadline <= SystemTime::now() {
            return refuse(
                StatusCode::REQUEST_TIMEOUT,
                "the deadline of the call is over: compare the clocks",
            );
        }
        Ok(Genuine {
            call,
            at: verified.at,
            body,
        })
    }

    /// Runs a call, unless it ran before. The run continues when the connection breaks. `None` if there is no answer.
    async fn answer(self: &Arc<Self>, Genuine { call, at, body }: Genuine) -> Option<Bytes> {
        let deadline = deadline_of(&call);
        let answer = match self.history.begin(&call, at, &body, seconds()) {
            Step::Refused => return None,
            Step::Repeated(answer) => answer,
            Step::Run(run, answer) => {
                tokio::spawn(self.clone().run(call, deadline, run));
                answer
            }
        };
        drop(body);
        tokio::time::timeout_at(deadline, answer.wait())
            .await
            .ok()
            .flatten()
    }

    /// Runs a call in its turn, until its deadline, the begin of a newer run of the key, or the end of the process.
    async fn run(self: Arc<Self>, call: Call, deadline: Instant, mut run: Run) {
        let turn = run.turn();
        let mut over = self.over.clone();
        let answer = tokio::select! {
            biased;
            () = run.superseded() => None,
            _ = over.wait_for(|over| *over) => None,
            () = sleep_until(deadline) => None,
            answer = async {
                let _turn = turn.await;
                rendered(&self.function.run(call).await)
            } => Some(answer),
        };
        self.history.end(run, answer);
    }

    fn signed(&self, token: &str, answer: Bytes) -> Response<Full<Bytes>> {
        let timestamp = seconds().to_string();
        let signature = signatures(&self.secrets.current(), token, &timestamp, &answer);
        Response::builder()
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", token)
            .header("webhook-timestamp", timestamp)
            .header("webhook-signature", signature)
            .body(Full::new(answer))
            .expect("a verified token is a valid value of a header")
    }
}

/// Reads a body, unless it is too large or is cut off. Its parts are joined as they come: they may have one byte each.
async fn read(mut body: impl Body<Data = Bytes> + Unpin) -> Option<Bytes> {
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.ok()?.into_data() else {
            continue;
        };
        if whole.len() + data.len() > MAX_BODY {
            return None;
        }
        whole.extend_from_slice(&data);
    }
    Some(whole.into())
}

fn refused(Refusal { status, message }: &Refusal) -> Response<Full<Bytes>> {
    log!("A call was refused: {message}");
    let mut response = Response::new(Full::from(format!("{message}\n")));
    *response.status_mut() = *status;
    response
        .headers_mut()
        .insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn rendered(answer: &Answer) -> Bytes {
    serde_json::to_vec(answer)
        .expect("an answer consists of JSON values")
        .into()
}

fn deadline_of(call: &Call) -> Instant {
    let left = call
        .deadline
        .duration_since(SystemTime::now())
        .unwrap_or_default();
    let now = Instant::now();
    // A deadline that the clock of this machine cannot express is as good as none.
    now.checked_add(left)
        .unwrap_or(now + std::time::Duration::from_secs(86_400))
}

/// Seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
