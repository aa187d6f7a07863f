//! Virtual time: microseconds since the start of the run, and a queue of what is to happen.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Virtual time in microseconds since the start of the run.
pub type Micros = u64;

/// One second.
pub const SECOND: Micros = 1_000_000;

/// Microseconds as seconds.
#[must_use]
pub fn seconds(micros: Micros) -> f64 {
    micros as f64 / SECOND as f64
}

/// Seconds as whole microseconds, rounded up; nothing below zero, and at most about 584,000 years.
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is what is meant")]
pub fn micros(seconds: f64) -> Micros {
    (seconds * SECOND as f64).ceil() as Micros
}

/// Things to happen, in order of time and, at the same time, in the order in which they were put in.
#[derive(Debug)]
pub struct Queue<T> {
    heap: BinaryHeap<Entry<T>>,
    sequence: u64,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), sequence: 0 }
    }
}

impl<T> Queue<T> {
    /// Puts in what is to happen at `at`.
    pub fn push(&mut self, at: Micros, what: T) {
        self.heap.push(Entry { at, sequence: self.sequence, what });
        self.sequence += 1;
    }

    /// When the next thing is to happen.
    #[must_use]
    pub fn next_time(&self) -> Option<Micros> {
        self.heap.peek().map(|entry| entry.at)
    }

    /// Takes out what is to happen at `now` or before.
    pub fn pop_due(&mut self, now: Micros) -> Option<T> {
        if self.next_time()? > now {
            return None;
        }
        self.heap.pop().map(|entry| entry.what)
    }
}

#[derive(Debug)]
struct Entry<T> {
    at: Micros,
    sequence: u64,
    what: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (Micros, u64) {
        (self.at, self.sequence)
    }
}

/// Reversed, since the heap hands out its largest entry first.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_keeps_time_and_then_the_order_of_entry() {
        let mut queue = Queue::default();
        for (at, what) in [(5, "c"), (3, "a"), (5, "d"), (3, "b")] {
            queue.push(at, what);
        }
        assert_eq!(queue.pop_due(2), None);
        let out: Vec<_> = std::iter::from_fn(|| queue.pop_due(9)).collect();
        assert_eq!(out, ["a", "b", "c", "d"]);
    }

    #[test]
    fn seconds_round_up_and_never_below_zero() {
        assert_eq!(micros(0.000_000_1), 1);
        assert_eq!(micros(1.5), 1_500_000);
        assert_eq!(micros(-1.0), 0);
        assert_eq!(seconds(2_500_000), 2.5);
    }
}
