//! Limits inside a limit: what all drives may take together, and what those of one shelf may.
//!
//! ```text
//! total ≥ shelf 0 + shelf 1 + … + drives in no shelf
//!         each shelf within its own limit
//! ```
//!
//! A shelf is any set of slots that share a limit: an enclosure behind one supply, a row behind one converter. Its
//! limit is in the watts of drive draws.

use crate::units::Milliwatts;

/// How many shelves there can be.
pub const SHELVES: usize = 8;

/// The number of a shelf, below [`SHELVES`].
pub type Shelf = u8;

/// How much may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// By all together.
    pub total: Milliwatts,
    /// By each shelf; `None`: the total is its only limit.
    pub shelves: [Option<Milliwatts>; SHELVES],
}

impl Limits {
    /// One limit, and no shelves.
    #[must_use]
    pub const fn of(total: Milliwatts) -> Self {
        Self { total, shelves: [None; SHELVES] }
    }

    /// By how much a sum exceeds its limit, the worst of them; zero where none is exceeded.
    #[must_use]
    pub fn excess(&self, sums: &Sums) -> Milliwatts {
        let of_shelves = (0u8..).zip(&self.shelves).map(|(shelf, _)| self.shelf_excess(sums, shelf));
        of_shelves.fold(self.total_excess(sums), Milliwatts::max)
    }

    /// By how much the total exceeds its limit.
    #[must_use]
    pub fn total_excess(&self, sums: &Sums) -> Milliwatts {
        over(sums.total, self.total)
    }

    /// By how much a shelf's sum exceeds the shelf's limit.
    #[must_use]
    pub fn shelf_excess(&self, sums: &Sums, shelf: Shelf) -> Milliwatts {
        let limit = self.shelves.get(usize::from(shelf)).copied().flatten();
        limit.map_or(Milliwatts::ZERO, |limit| over(sums.shelf(shelf), limit))
    }

    /// What is left of each limit; nothing where it is exceeded.
    #[must_use]
    pub fn less(&self, sums: &Sums) -> Self {
        let left = |sum: u64, limit: Milliwatts| limit.saturating_sub(milliwatts(sum));
        let mut less = Self::of(left(sums.total, self.total));
        for ((less, limit), sum) in less.shelves.iter_mut().zip(self.shelves).zip(sums.shelves) {
            *less = limit.map(|limit| left(sum, limit));
        }
        less
    }

    /// What a drive may take at most: the total, and its shelf's limit where it is in one.
    #[must_use]
    pub fn of_shelf(&self, shelf: Option<Shelf>) -> Milliwatts {
        let limit = shelf.and_then(|shelf| self.shelves.get(usize::from(shelf)).copied().flatten());
        limit.map_or(self.total, |limit| limit.min(self.total))
    }

    /// Takes watts of a drive in a shelf out of the limits that it is under.
    pub(crate) fn take(&mut self, shelf: Option<Shelf>, power: Milliwatts) {
        self.change(shelf, |limit| limit.saturating_sub(power));
    }

    /// Gives back what was taken.
    pub(crate) fn give_back(&mut self, shelf: Option<Shelf>, power: Milliwatts) {
        self.change(shelf, |limit| limit.saturating_add(power));
    }

    fn change(&mut self, shelf: Option<Shelf>, change: impl Fn(Milliwatts) -> Milliwatts) {
        self.total = change(self.total);
        if let Some(Some(limit)) = shelf.and_then(|shelf| self.shelves.get_mut(usize::from(shelf))) {
            *limit = change(*limit);
        }
    }
}

/// Watts added up, in total and for each shelf; wider than a power, so that no sum of absurd draws passes for a small
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    total: u64,
    shelves: [u64; SHELVES],
}

impl Sums {
    /// Nothing.
    pub const ZERO: Self = Self { total: 0, shelves: [0; SHELVES] };

    /// All watts, in milliwatts.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// The watts of a shelf, in milliwatts; none of one that does not exist.
    #[must_use]
    pub fn shelf(&self, shelf: Shelf) -> u64 {
        self.shelves.get(usize::from(shelf)).copied().unwrap_or_default()
    }

    /// Counts the watts of a drive.
    pub fn add(&mut self, shelf: Option<Shelf>, power: Milliwatts) {
        self.change(shelf, |sum| sum.saturating_add(u64::from(power.get())));
    }

    /// Counts them no more.
    pub fn remove(&mut self, shelf: Option<Shelf>, power: Milliwatts) {
        self.change(shelf, |sum| sum.saturating_sub(u64::from(power.get())));
    }

    fn change(&mut self, shelf: Option<Shelf>, change: impl Fn(u64) -> u64) {
        self.total = change(self.total);
        if let Some(sum) = shelf.and_then(|shelf| self.shelves.get_mut(usize::from(shelf))) {
            *sum = change(*sum);
        }
    }
}

/// A sum as a power; the largest there is where it would not fit.
pub(crate) fn milliwatts(sum: u64) -> Milliwatts {
    Milliwatts::new(u32::try_from(sum).unwrap_or(u32::MAX))
}

fn over(sum: u64, limit: Milliwatts) -> Milliwatts {
    milliwatts(sum.saturating_sub(u64::from(limit.get())))
}
