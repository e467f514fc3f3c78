//! The HTTP server of a function, from its start to SIGTERM.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper::StatusCode;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

use crate::function::Function;
use crate::history::History;
use crate::receiver::{Receiver, Refusal};
use crate::settings::{Settings, settings_from};
use crate::signing::FolderSecrets;
use crate::waiting::Waiting;

/// Connections without a verified call: so many have at most 128 MiB of bodies.
const MAX_WAITING: usize = 64;
/// Time in which a request must have arrived, an answer must have been read, and for which a connection may be idle.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Verified calls at once, repeated ones among them.
const MAX_CALLS: u32 = 256;
const MAX_HEADERS: usize = 32 << 10;
/// Time for runs to send their answers after the grace.
const REPLY_TIMEOUT: Duration = Duration::from_secs(1);

/// Answers the gateway's calls until SIGTERM or SIGINT, then lets the calls in progress end.
///
/// Calls of different keys run at once, and one call of a key at a time. The settings are environment variables, which Drover's
/// deployer sets (see `settings.rs`). The exit code is a failure if one is missing, or the port is taken; the log states what to
/// do.
pub fn serve(function: Function) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    match runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(serve_here(function)))
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            log!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}

async fn serve_here(function: Function) -> Result<(), String> {
    let settings = settings_from(|name| std::env::var(name).ok())?;
    let secrets = FolderSecrets::open(&settings.secrets).map_err(|error| error.to_string())?;
    let Settings { host, port, .. } = &settings;
    let cannot = |error: io::Error| {
        format!(
            "Cannot listen on {host}, port {port}: {error}. Set DROVER_HTTP_HOST and DROVER_HTTP_PORT."
        )
    };
    let listener = TcpListener::bind((host.as_str(), *port))
        .await
        .map_err(cannot)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| error.to_string())?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| error.to_string())?;
    log!(
        "Answering calls at {}",
        listener.local_addr().map_err(cannot)?
    );
    let stopped = async {
        tokio::select! {
            _ = terminate.recv() => (),
            _ = interrupt.recv() => (),
        }
    };
    Server::new(
        function,
        settings,
        secrets,
        Waiting::new(MAX_WAITING, MAX_WAIT),
    )
    .serve_until(stopped, listener)
    .await;
    log!("Stopped");
    Ok(())
}

pub(crate) struct Server {
    receiver: Arc<Receiver>,
    waiting: Arc<Waiting>,
    /// A permit for each verified call.
    calls: Arc<Semaphore>,
    /// True: connections end after the call in progress.
    stopping: watch::Sender<bool>,
    /// True: runs have to end.
    over: watch::Sender<bool>,
}

impl Server {
    pub fn new(
        function: Function,
        settings: Settings,
        secrets: FolderSecrets,
        waiting: Arc<Waiting>,
    ) -> Self {
        let (over, ends) = watch::channel(false);
        let history = History::new(Default::default());
        let receiver = Arc::new(Receiver {
            function,
            settings,
            secrets,
            history,
            over: ends,
        });
        let calls = Arc::new(Semaphore::new(MAX_CALLS as usize));
        Self {
            receiver,
            waiting,
            calls,
            stopping: watch::Sender::new(false),
            over,
        }
    }

    /// Serves until `stopped` ends and the calls in progress have ended, too.
    pub async fn serve_until(self, stopped: impl Future<Output = ()>, listener: TcpListener) {
        let mut stopped = pin!(stopped);
        let mut connections = JoinSet::new();
        let mut seconds = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                () = &mut stopped => break,
                _ = seconds.tick() => self.waiting.close_old(),
                Some(_) = connections.join_next() => (),
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => drop(connections.spawn(self.connection(stream))),
                    // Such as too many open files.
                    Err(error) => {
                        log!("Cannot accept a connection: {error}");
                        sleep(Duration::from_millis(100)).await;
                    }
                },
            }
        }
        drop(listener);
        self.stopping.send_replace(true);
        let _ended_in_time = timeout(
            self.receiver.settings.stop_grace,
            self.calls.acquire_many(MAX_CALLS),
        )
        .await;
        self.over.send_replace(true);
        // The rest of the connections are closed when they are dropped.
        let _replied = timeout(REPLY_TIMEOUT, async {
            while connections.join_next().await.is_some() {}
        })
        .await;
    }

    /// Serves a connection until it ends, waits too long, or the server stops.
    fn connection(&self, stream: TcpStream) -> impl Future<Output = ()> + Send + use<> {
        let (receiver, waiting, calls) = (
            self.receiver.clone(),
            self.waiting.clone(),
            self.calls.clone(),
        );
        let mut stopping = self.stopping.subscribe();
        let close = Arc::new(Notify::new());
        // Not in the task: connections wait in the order in which they were accepted.
        let waits = Mutex::new(Some(waiting.enter(close.clone())));
        async move {
            let set_waits = |is_waiting: bool| {
                let next = is_waiting.then(|| waiting.enter(close.clone()));
                *waits
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner) = next;
            };
            let service = service_fn(|request| {
                let (receiver, calls, set_waits) = (receiver.clone(), calls.clone(), &set_waits);
                async move {
                    let busy = "too many calls at once";
                    let verified = || {
                        let permit = calls.try_acquire_owned().map_err(|_| Refusal {
                            status: StatusCode::SERVICE_UNAVAILABLE,
                            message: busy,
                        })?;
                        set_waits(false);
                        Ok(permit)
                    };
                    let response = receiver.receive(request, verified).await;
                    set_waits(true);
                    Ok::<_, std::convert::Infallible>(response)
                }
            });
            let mut builder = http1::Builder::new();
            let builder = builder.header_read_timeout(None).max_buf_size(MAX_HEADERS);
            let mut connection = pin!(builder.serve_connection(TokioIo::new(stream), service));
            let mut is_stopping = false;
            loop {
                tokio::select! {
                    _ended = connection.as_mut() => break,
                    () = close.notified() => break,
                    _ = stopping.wait_for(|stopping| *stopping), if !is_stopping => {
                        is_stopping = true;
                        connection.as_mut().graceful_shutdown();
                    }
                }
            }
        }
    }
}
