//! The shelf in real time: one lock, and one thread that does what is due when it is due.
//!
//! What comes by a connection is taken under the lock, at the time that the clock shows; what the drives do by
//! themselves happens at the moments that the model computes, even where the thread comes to it late.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::shelf::{Notice, Shelf};
use crate::time::Micros;

/// The shelf and its clock.
pub(super) struct Plant {
    state: Mutex<State>,
    sooner: Condvar,
    start: Instant,
    stopped: AtomicBool,
}

struct State {
    shelf: Shelf,
    /// When the thread means to wake up.
    planned: Micros,
}

impl Plant {
    /// This shelf, whose time begins now.
    pub(super) fn new(shelf: Shelf) -> Self {
        Self {
            state: Mutex::new(State { shelf, planned: 0 }),
            sooner: Condvar::new(),
            start: Instant::now(),
            stopped: AtomicBool::new(false),
        }
    }

    /// Acts on the shelf as it is now.
    pub(super) fn with<R>(&self, act: impl FnOnce(&mut Shelf) -> R) -> R {
        let mut state = self.lock();
        state.shelf.advance(self.now());
        let result = act(&mut state.shelf);
        if state.shelf.has_notices() || state.shelf.next_due() < state.planned {
            self.sooner.notify_one();
        }
        result
    }

    /// Does what is due, until [`Self::stop`]; `hear` gets what controllers have to hear of.
    pub(super) fn run(&self, hear: impl Fn(Notice)) {
        let mut state = self.lock();
        while !self.stopped.load(Ordering::Relaxed) {
            let now = self.now();
            state.shelf.advance(now);
            let notices = state.shelf.take_notices();
            if !notices.is_empty() {
                drop(state);
                notices.into_iter().for_each(&hear);
                state = self.lock();
                continue;
            }
            state.planned = state.shelf.next_due();
            let wait = Duration::from_micros(state.planned.saturating_sub(now));
            let waited = self.sooner.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Ends [`Self::run`].
    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.sooner.notify_one();
    }

    fn now(&self) -> Micros {
        Micros::try_from(self.start.elapsed().as_micros()).unwrap_or(Micros::MAX)
    }

    /// A thread that panicked has left the shelf as it was between two of its steps; the others go on.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
