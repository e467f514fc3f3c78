//! The calls of the last minutes: none runs twice, and none after a newer one of its key.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::body::Bytes;
use sha2::{Digest, Sha256};
use tokio::sync::{Mutex as Turn, OwnedMutexGuard, oneshot, watch};

use crate::call::Call;
use crate::ordered::Ordered;
use crate::signing::TOLERANCE;

/// A call is remembered for so many seconds: an older one is not verified any more.
pub(crate) const RETENTION: u64 = 2 * TOLERANCE.as_secs();

/// A bounded memory of calls. A call that was removed to make room is refused by its time, and never runs again.
pub(crate) struct History {
    memory: Mutex<Memory>,
    limits: Limits,
}

#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub calls: usize,
    /// Total length of the answers that are kept.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            calls: 50_000,
            bytes: 32 << 20,
        }
    }
}

/// The answer of a run once that has ended; `None` in it if the call did not run to its end.
type Ended = Option<Option<Bytes>>;

struct Memory {
    known: Ordered<Known>,
    latest: Ordered<Latest>,
    /// Unknown calls that were signed up to this time are refused: they may be removed ones.
    floor: u64,
    bytes: usize,
}

struct Known {
    at: u64,
    digest: [u8; 32],
    /// `None` if it was removed to make room.
    answer: Option<watch::Receiver<Ended>>,
    size: usize,
}

struct Latest {
    at: u64,
    version: u64,
    supersede: oneshot::Sender<()>,
    /// Held by the run that lasts, one at a time for each key.
    turn: Arc<Turn<()>>,
}

/// What is to be done with a call.
pub(crate) enum Step {
    /// It is new: run it.
    Run(Run, Pending),
    /// It came before: wait for the answer to that.
    Repeated(Pending),
    /// A newer run of the key has begun, the token came with another body, or the answer is not remembered any more.
    Refused,
}

/// The answer of a run, now or later.
pub(crate) struct Pending(watch::Receiver<Ended>);

impl Pending {
    /// `None` if the call did not run to its end.
    pub async fn wait(mut self) -> Option<Bytes> {
        self.0
            .wait_for(Option::is_some)
            .await
            .ok()?
            .clone()
            .flatten()
    }
}

/// A run that is allowed.
pub(crate) struct Run {
    token: String,
    superseded: oneshot::Receiver<()>,
    turn: Arc<Turn<()>>,
    ended: watch::Sender<Ended>,
}

impl Run {
    /// Ends when a newer run of the key has begun.
    pub async fn superseded(&mut self) {
        if (&mut self.superseded).await.is_err() {
            // The history forgot the key.
            std::future::pending().await
        }
    }

    /// Waits for the end of the earlier run of the key. The guard is held while this one runs.
    pub fn turn(&self) -> impl Future<Output = OwnedMutexGuard<()>> + use<> {
        self.turn.clone().lock_owned()
    }
}

impl History {
    pub fn new(limits: Limits) -> Self {
        let memory = Memory {
            known: Ordered::new(),
            latest: Ordered::new(),
            floor: 0,
            bytes: 0,
        };
        Self {
            memory: Mutex::new(memory),
            limits,
        }
    }

    /// Remembers a call. It was signed at the time `at`; this and `now` are in seconds since 1970.
    pub fn begin(&self, call: &Call, at: u64, body: &[u8], now: u64) -> Step {
        let digest: [u8; 32] = Sha256::digest(body).into();
        let mut memory = self.memory();
        memory.make_room(now, self.limits);
        if let Some(known) = memory.known.get_mut(&call.token) {
            return match &known.answer {
                Some(answer) if known.digest == digest => Step::Repeated(Pending(answer.clone())),
                _ => Step::Refused,
            };
        }
        let Some((superseded, turn)) = memory.make_latest(call, at) else {
            return Step::Refused;
        };
        let (ended, answer) = watch::channel(None);
        let known = Known {
            at,
            digest,
            answer: Some(answer.clone()),
            size: 0,
        };
        memory.known.put(&call.token, known);
        let token = call.token.clone();
        Step::Run(
            Run {
                token,
                superseded,
                turn,
                ended,
            },
            Pending(answer),
        )
    }

    /// Ends a run with its answer.
    pub fn end(&self, run: Run, answer: Option<Bytes>) {
        let size = answer.as_ref().map_or(0, Bytes::len);
        let mut memory = self.memory();
        if let Some(known) = memory.known.get_mut(&run.token) {
            known.size = size;
            memory.bytes += size;
        }
        run.ended.send_replace(Some(answer));
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    /// Makes a call the newest of its key, unless a newer one has begun.
    fn make_latest(
        &mut self,
        call: &Call,
        at: u64,
    ) -> Option<(oneshot::Receiver<()>, Arc<Turn<()>>)> {
        let version = call.resource_version().parse().unwrap_or(0);
        let before = self.latest.get_mut(&call.key);
        if at <= self.floor
            || before
                .as_ref()
                .is_some_and(|before| before.is_newer(version, at))
        {
            return None;
        }
        let turn = before.map(|before| before.turn.clone()).unwrap_or_default();
        let (supersede, superseded) = oneshot::channel();
        if let Some(before) = self.latest.put(
            &call.key,
            Latest {
                at,
                version,
                supersede,
                turn: turn.clone(),
            },
        ) {
            let _has_ended = before.supersede.send(());
        }
        Some((superseded, turn))
    }

    fn make_room(&mut self, now: u64, limits: Limits) {
        let oldest = now.saturating_sub(RETENTION);
        let floor = &mut self.floor;
        let mut removes = |at: u64, count: usize| {
            if at >= oldest {
                if count < limits.calls {
                    return false;
                }
                *floor = at.max(*floor);
            }
            true
        };
        while self
            .known
            .first()
            .is_some_and(|known| removes(known.at, self.known.len()))
        {
            self.bytes -= self.known.remove_first().map_or(0, |known| known.size);
        }
        while self
            .latest
            .first()
            .is_some_and(|latest| removes(latest.at, self.latest.len()))
        {
            self.latest.remove_first();
        }
        let bytes = &mut self.bytes;
        self.known.visit(|known| {
            if *bytes > limits.bytes && known.size > 0 {
                *bytes -= known.size;
                (known.size, known.answer) = (0, None);
            }
            *bytes > limits.bytes
        });
    }
}

impl Latest {
    /// Compares the versions of the object, and, if these do not decide it, the times of signing.
    fn is_newer(&self, version: u64, at: u64) -> bool {
        if version == 0 || self.version == 0 || version == self.version {
            at < self.at
        } else {
            version < self.version
        }
    }
}
