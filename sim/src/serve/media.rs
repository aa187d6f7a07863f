//! What is written on a drive: a namespace in memory that keeps only what is not zero.

use std::collections::HashMap;

/// Bytes of a logical block.
pub(super) const BLOCK: u64 = 512;
/// Bytes that are kept or left out together. 64 KiB.
const CHUNK: u64 = 64 * 1024;

/// The content of one namespace. Never larger in memory than its capacity.
#[derive(Debug)]
pub(super) struct Media {
    blocks: u64,
    chunks: HashMap<u64, Box<[u8]>>,
}

impl Media {
    /// A namespace of this many bytes, all zero, rounded down to whole blocks.
    pub(super) fn new(bytes: u64) -> Self {
        Self { blocks: bytes / BLOCK, chunks: HashMap::new() }
    }

    /// How much memory its content takes, in bytes.
    #[cfg(test)]
    fn kept(&self) -> u64 {
        self.chunks.len() as u64 * CHUNK
    }

    /// Whether this range of blocks is in the namespace.
    pub(super) fn has(&self, first: u64, count: u64) -> bool {
        first.checked_add(count).is_some_and(|end| end <= self.blocks)
    }

    /// Fills `into` with what is at this byte; zeros beyond the end.
    pub(super) fn read(&self, at: u64, into: &mut [u8]) {
        pieces(at, into.len(), |chunk, within, piece| {
            let Some(into) = into.get_mut(piece) else { return };
            match self.chunks.get(&chunk).and_then(|chunk| chunk.get(within)) {
                Some(from) => into.copy_from_slice(from),
                None => into.fill(0),
            }
        });
    }

    /// Writes at this byte; what is beyond the end is dropped.
    pub(super) fn write(&mut self, at: u64, data: &[u8]) {
        let room = usize::try_from((self.blocks * BLOCK).saturating_sub(at)).unwrap_or(usize::MAX);
        let data = data.get(..room).unwrap_or(data);
        pieces(at, data.len(), |chunk, within, piece| {
            let Some(from) = data.get(piece) else { return };
            let zero = from.iter().all(|byte| *byte == 0);
            if zero && (within.len() as u64 == CHUNK || !self.chunks.contains_key(&chunk)) {
                self.chunks.remove(&chunk);
                return;
            }
            let kept = self.chunks.entry(chunk).or_insert_with(|| vec![0; within_chunk(CHUNK)].into());
            if let Some(into) = kept.get_mut(within) {
                into.copy_from_slice(from);
            }
        });
    }

    /// Makes a range of bytes zero.
    pub(super) fn zero(&mut self, at: u64, length: u64) {
        let end = at.saturating_add(length).min(self.blocks * BLOCK);
        let whole = at.div_ceil(CHUNK)..end / CHUNK;
        if whole.is_empty() {
            self.write(at, &vec![0; within_chunk(end.saturating_sub(at))]);
            return;
        }
        self.chunks.retain(|chunk, _| !whole.contains(chunk));
        self.write(at, &vec![0; within_chunk(whole.start * CHUNK - at)]);
        self.write(whole.end * CHUNK, &vec![0; within_chunk(end - whole.end * CHUNK)]);
    }
}

/// A length of at most two chunks.
fn within_chunk(length: u64) -> usize {
    usize::try_from(length.min(2 * CHUNK)).unwrap_or(0)
}

/// Calls `each` for every piece of a range that lies in one chunk: the chunk, where in it, and where in the range.
fn pieces(at: u64, length: usize, mut each: impl FnMut(u64, std::ops::Range<usize>, std::ops::Range<usize>)) {
    let mut done = 0;
    while done < length {
        let Some(from) = at.checked_add(done as u64) else { return };
        let within = within_chunk(from % CHUNK);
        let count = (within_chunk(CHUNK) - within).min(length - done);
        each(from / CHUNK, within..within + count, done..done + count);
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: u64 = 4 * CHUNK + 3 * BLOCK;

    #[derive(Clone, Debug)]
    enum Act {
        Write(u64, Vec<u8>),
        Zero(u64, u64),
    }

    fn act() -> impl Strategy<Value = Act> {
        let place = 0..SIZE / BLOCK;
        let fill = prop_oneof![Just(0u8), any::<u8>()];
        let write = (place.clone(), fill, 1..300usize)
            .prop_map(|(block, fill, blocks)| Act::Write(block * BLOCK, vec![fill; blocks * 512]));
        prop_oneof![write, (place, 1..300u64).prop_map(|(block, blocks)| Act::Zero(block * BLOCK, blocks * BLOCK))]
    }

    proptest! {
        /// The other way to do it: one array.
        #[test]
        fn it_is_an_array_that_keeps_no_zeros(acts in prop::collection::vec(act(), 1..20)) {
            let mut media = Media::new(SIZE);
            let mut array = vec![0u8; usize::try_from(SIZE).unwrap()];
            for act in acts {
                let (at, data) = match act {
                    Act::Write(at, data) => { media.write(at, &data); (at, data) }
                    Act::Zero(at, length) => { media.zero(at, length); (at, vec![0; usize::try_from(length).unwrap()]) }
                };
                let at = usize::try_from(at).unwrap();
                let count = data.len().min(array.len() - at);
                array[at..at + count].copy_from_slice(&data[..count]);
            }
            let mut read = vec![1; array.len()];
            media.read(0, &mut read);
            prop_assert!(read == array);
            media.zero(0, SIZE);
            media.read(0, &mut read);
            prop_assert!(read.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn zeros_take_no_memory_and_the_end_is_the_end() {
        let mut media = Media::new(SIZE);
        media.write(0, &vec![0; 100_000]);
        assert_eq!(media.kept(), 0);
        media.write(SIZE - 512, &[7; 1024]);
        assert_eq!(media.kept(), CHUNK);
        assert!(media.has(0, SIZE / BLOCK) && !media.has(1, SIZE / BLOCK) && !media.has(u64::MAX, 2));
        let mut read = [1; 1024];
        media.read(SIZE - 512, &mut read);
        assert!(read[..512].iter().all(|byte| *byte == 7));
    }
}
