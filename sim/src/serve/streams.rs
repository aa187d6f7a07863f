//! Which work a command is: what continues a stream is sequential.

use std::collections::VecDeque;

use wattline_core::profile::Work;

/// Where streams of reads and of writes have come to, so that what continues one is sequential.
#[derive(Default)]
pub(super) struct Streams {
    reads: VecDeque<u64>,
    writes: VecDeque<u64>,
}

/// Streams that are told apart on one queue.
const STREAMS: usize = 16;
/// **Guess:** from this many bytes on, a command costs a drive what a sequential one does, wherever it goes.
const LARGE: u64 = 64 * 1024;

impl Streams {
    pub(super) fn classify(&mut self, reads: bool, at: u64, bytes: u64) -> Work {
        let ends = if reads { &mut self.reads } else { &mut self.writes };
        let known = ends.iter().position(|end| *end == at);
        if let Some(known) = known {
            ends.remove(known);
        }
        ends.truncate(STREAMS - 1);
        ends.push_front(at + bytes);
        match (reads, known.is_some() || bytes >= LARGE) {
            (true, true) => Work::SequentialRead,
            (true, false) => Work::RandomRead,
            (false, true) => Work::SequentialWrite,
            (false, false) => Work::RandomWrite,
        }
    }
}
