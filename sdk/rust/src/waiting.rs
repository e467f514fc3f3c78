//! The connections on which no verified call is in progress: strangers may have opened them.
//!
//! A stranger can open connections and send nothing, or very little. The server therefore does not count requests in progress,
//! and it does not refuse new ones: it closes the connection that has waited longest when there are too many, and each that has
//! waited too long. A genuine call arrives within milliseconds, so it is never the oldest.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

pub(crate) struct Waiting {
    most: usize,
    limit: Duration,
    connections: Mutex<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    by_age: BTreeMap<u64, (Instant, Arc<Notify>)>,
}

impl Waiting {
    /// At most `most` connections, each for at most the time `limit`.
    pub fn new(most: usize, limit: Duration) -> Arc<Self> {
        Arc::new(Self {
            most,
            limit,
            connections: Mutex::default(),
        })
    }

    /// Adds a connection. It must be closed when `close` is notified, and removed by dropping the returned guard.
    pub fn enter(self: &Arc<Self>, close: Arc<Notify>) -> Waits {
        let mut connections = self.connections();
        let place = connections.next;
        connections.next += 1;
        connections.by_age.insert(place, (Instant::now(), close));
        if connections.by_age.len() > self.most {
            connections.close_first();
        }
        Waits {
            waiting: self.clone(),
            place,
        }
    }

    /// Closes those that have waited too long. To be called about once a second.
    pub fn close_old(&self) {
        let mut connections = self.connections();
        while connections
            .by_age
            .first_key_value()
            .is_some_and(|(_, (since, _))| since.elapsed() > self.limit)
        {
            connections.close_first();
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connections {
    fn close_first(&mut self) {
        if let Some((_, (_, close))) = self.by_age.pop_first() {
            close.notify_one();
        }
    }
}

/// A connection that waits.
pub(crate) struct Waits {
    waiting: Arc<Waiting>,
    place: u64,
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.waiting.connections().by_age.remove(&self.place);
    }
}
