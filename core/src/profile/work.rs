//! Kinds of work, and sets of them.

use core::fmt;
use core::ops::{Index, IndexMut};
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// A kind of work that a drive can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Reading in order of address.
    SequentialRead,
    /// Writing in order of address.
    SequentialWrite,
    /// Reading at random addresses.
    RandomRead,
    /// Writing at random addresses.
    RandomWrite,
}

impl Work {
    /// Every kind of work.
    pub const ALL: [Self; 4] = [Self::SequentialRead, Self::SequentialWrite, Self::RandomRead, Self::RandomWrite];

    /// Its name on command lines and in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SequentialRead => "sequential-read",
            Self::SequentialWrite => "sequential-write",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A word that names no kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownWork;

impl fmt::Display for UnknownWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no kind of work (sequential-read, sequential-write, random-read, random-write)")
    }
}

impl core::error::Error for UnknownWork {}

impl FromStr for Work {
    type Err = UnknownWork;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|work| work.name() == text).ok_or(UnknownWork)
    }
}

/// A set of kinds of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(transparent)]
pub struct WorkSet(u8);

impl WorkSet {
    /// No work.
    pub const NONE: Self = Self(0);
    /// Every kind of work.
    pub const ALL: Self = Self(0b1111);

    /// One kind of work.
    #[must_use]
    pub const fn of(work: Work) -> Self {
        Self(work.bit())
    }

    /// The kinds of work in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether every kind of work of `other` is in this set.
    #[must_use]
    pub const fn contains_all(self, other: Self) -> bool {
        other.0 & Self::ALL.0 & !self.0 == 0
    }

    /// Whether there is no work in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 & Self::ALL.0 == 0
    }

    /// The kinds of work in the set.
    pub fn kinds(self) -> impl Iterator<Item = Work> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            // Bits are in the order of the kinds, and bits that are none come after them.
            let kind = *Work::ALL.get(usize::try_from(rest.trailing_zeros()).ok()?)?;
            rest &= rest - 1;
            Some(kind)
        })
    }
}

impl fmt::Display for WorkSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ALL {
            return f.write_str("any work");
        }
        if self.is_empty() {
            return f.write_str("no work");
        }
        for (position, work) in self.kinds().enumerate() {
            let separator = if position > 0 { ", " } else { "" };
            write!(f, "{separator}{work}")?;
        }
        Ok(())
    }
}

impl FromIterator<Work> for WorkSet {
    fn from_iter<I: IntoIterator<Item = Work>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::NONE, |set, work| set.union(Self::of(work)))
    }
}

/// A value for each kind of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[allow(missing_docs, reason = "each field is named after its kind of work")]
pub struct PerWork<T> {
    pub sequential_read: T,
    pub sequential_write: T,
    pub random_read: T,
    pub random_write: T,
}

impl<T> Index<Work> for PerWork<T> {
    type Output = T;

    fn index(&self, work: Work) -> &T {
        match work {
            Work::SequentialRead => &self.sequential_read,
            Work::SequentialWrite => &self.sequential_write,
            Work::RandomRead => &self.random_read,
            Work::RandomWrite => &self.random_write,
        }
    }
}

impl<T> IndexMut<Work> for PerWork<T> {
    fn index_mut(&mut self, work: Work) -> &mut T {
        match work {
            Work::SequentialRead => &mut self.sequential_read,
            Work::SequentialWrite => &mut self.sequential_write,
            Work::RandomRead => &mut self.random_read,
            Work::RandomWrite => &mut self.random_write,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_work_is_found_by_its_name() {
        for work in Work::ALL {
            assert_eq!(work.name().parse(), Ok(work));
        }
        assert_eq!("write".parse::<Work>(), Err(UnknownWork));
    }

    #[test]
    fn sets_contain_what_was_put_in() {
        let writing = WorkSet::of(Work::SequentialWrite).union(WorkSet::of(Work::RandomWrite));
        assert!(writing.contains_all(WorkSet::of(Work::RandomWrite)));
        assert!(!writing.contains_all(WorkSet::of(Work::SequentialRead)));
        assert!(writing.contains_all(WorkSet::NONE));
        assert_eq!(writing.kinds().collect::<WorkSet>(), writing);
        assert_eq!(Work::ALL.into_iter().collect::<WorkSet>(), WorkSet::ALL);
    }
}
