//! How many drives in which state under a cap.
//!
//! ```text
//! base + Σ figures of the drives + margin ≤ cap
//! ```
//!
//! Every drive works: none idles, none is switched off. The core's allocator chooses; the best state that
//! all drives can share is shown beside its choice.

use std::cmp::Reverse;
use std::fmt;

use wattline_core::budget::{Limits, Offer, Offers, Point, allocate};
use wattline_core::nvme::PowerState;
use wattline_core::profile::{Profile, Work};
use wattline_core::units::{BytesPerSecond, Milliwatts};

use super::quantity;
use super::{Figure, Figures, PlanError};

/// The most drives in a plan. It bounds the allocator's storage, and is far above what one server holds.
pub(super) const MAX_DRIVES: u16 = 256;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapQuestion {
    /// What the drives do.
    pub work: Work,
    /// How many there are: at most 256.
    pub drives: u16,
    /// What the server may draw.
    pub cap: Milliwatts,
    /// What is kept free below the cap.
    pub margin: Milliwatts,
    /// The server without drives, where that was said.
    pub base: Option<Milliwatts>,
}

/// How many drives in which state.
#[derive(Clone, Debug)]
pub struct CapPlan {
    /// What was asked.
    pub question: CapQuestion,
    /// What one drive costs and gives.
    pub figures: Figures,
    /// The server without drives.
    pub base: Base,
    /// All drives in the state that draws least.
    pub lowest: Uniform,
    /// The answer; `None` where even [`CapPlan::lowest`] does not fit.
    pub sharing: Option<Sharing>,
}

/// What the server draws without drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// As was said.
    Said(Milliwatts),
    /// As the profile's reference server does.
    Reference(Milliwatts),
}

/// How the watts are shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// How many drives in each of [`Figures::states`].
    pub drives: Vec<u16>,
    /// What comes of it.
    pub load: Load,
    /// For comparison, the best that fits with all drives in one state.
    pub uniform: Uniform,
}

/// All drives in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// The state.
    pub state: PowerState,
    /// What comes of it.
    pub load: Load,
}

/// What a server with working drives draws and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// What it draws, base and drives.
    pub total: Milliwatts,
    /// What the drives give.
    pub throughput: BytesPerSecond,
}

impl CapPlan {
    /// Shares the watts out. The profile has to be sound, as [`crate::profile`] makes sure.
    ///
    /// # Errors
    /// Where no state was measured in this kind of work, or the base is neither said nor known.
    pub fn new(profile: &Profile, question: CapQuestion) -> Result<Self, PlanError> {
        let figures = Figures::new(profile, question.work)?;
        let base = match (question.base, profile.reference_base) {
            (Some(said), _) => Base::Said(said),
            (None, Some(reference)) => Base::Reference(reference),
            (None, None) => return Err(PlanError::NoBase { profile: figures.profile }),
        };
        let server = Server { base: base.power(), drives: question.drives };
        let lowest = server.uniform(&figures.lowest);
        let sharing = server.share(&figures.states, question.cap.saturating_sub(question.margin));
        Ok(Self { question, figures, base, lowest, sharing })
    }

    /// What is missing; `None` where nothing is.
    #[must_use]
    pub fn shortfall(&self) -> Option<Shortfall> {
        let CapQuestion { drives, cap, margin, .. } = self.question;
        let floor = self.lowest.load.total;
        let missing = floor.saturating_add(margin).checked_sub(cap).filter(|missing| *missing > Milliwatts::ZERO)?;
        let free = cap.saturating_sub(margin).saturating_sub(self.base.power()).get();
        let fitting = free.checked_div(self.figures.lowest.power.get()).unwrap_or_default();
        let missing_to_cap = floor.saturating_sub(cap);
        let (base, state) = (self.base.power(), self.lowest.state);
        Some(Shortfall { missing, missing_to_cap, drives, state, base, floor, cap, margin, fitting })
    }
}

impl Base {
    /// The watts.
    #[must_use]
    pub const fn power(self) -> Milliwatts {
        match self {
            Self::Said(power) | Self::Reference(power) => power,
        }
    }
}

struct Server {
    base: Milliwatts,
    drives: u16,
}

impl Server {
    /// `None` where even the cheapest figures exceed the limit.
    fn share(&self, figures: &[Figure], limit: Milliwatts) -> Option<Sharing> {
        let uniform = self.best_uniform(figures, limit)?;
        let chosen = self.allocated(figures, limit.saturating_sub(self.base));
        let load = self.load(figures, &chosen);
        Some(Sharing { drives: chosen, load, uniform })
    }

    /// How many drives the core's allocator puts into each state.
    fn allocated(&self, figures: &[Figure], allowance: Milliwatts) -> Vec<u16> {
        // Values are as fine as the allocator's 32 bits allow: bytes per second up to 4.29 GB/s.
        let fastest = figures.iter().map(|figure| figure.throughput.get()).max().unwrap_or_default();
        let unit = fastest / u64::from(u32::MAX) + 1;
        let value = |figure: &Figure| u32::try_from(figure.throughput.get() / unit).unwrap_or(u32::MAX);
        let points = (0..).zip(figures);
        let offer: Offer =
            points.map(|(choice, figure)| Point { choice, power: figure.power, value: value(figure) }).collect();
        let mut offers = Box::new(Offers::<{ MAX_DRIVES as usize }>::new());
        for _ in 0..self.drives {
            offers.push(offer.clone());
        }
        let allocation = allocate(&offers, &Limits::of(allowance));
        let mut drives = vec![0; figures.len()];
        for choice in allocation.choices.into_iter().flatten() {
            drives[usize::from(choice)] += 1;
        }
        drives
    }

    /// The most throughput that fits with all drives in one state; of equals, the one that draws less.
    fn best_uniform(&self, figures: &[Figure], limit: Milliwatts) -> Option<Uniform> {
        let all = figures.iter().map(|figure| self.uniform(figure));
        let fitting = all.filter(|uniform| uniform.load.total <= limit);
        fitting.max_by_key(|uniform| (uniform.load.throughput, Reverse(uniform.load.total)))
    }

    fn uniform(&self, figure: &Figure) -> Uniform {
        Uniform { state: figure.state, load: self.load(&[*figure], &[self.drives]) }
    }

    fn load(&self, figures: &[Figure], drives: &[u16]) -> Load {
        let mut load = Load { total: self.base, throughput: BytesPerSecond::ZERO };
        for (figure, drives) in figures.iter().zip(drives) {
            load.total = load.total.saturating_add(quantity::power(figure.power, (*drives).into()));
            load.throughput = load.throughput.saturating_add(quantity::throughput(figure.throughput, (*drives).into()));
        }
        load
    }
}

/// Even all drives in the state that draws least exceed the cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The watts by which they exceed the cap less the margin.
    pub missing: Milliwatts,
    /// The watts by which they exceed the cap itself; zero where only the margin does not fit.
    pub missing_to_cap: Milliwatts,
    drives: u16,
    state: PowerState,
    base: Milliwatts,
    floor: Milliwatts,
    cap: Milliwatts,
    margin: Milliwatts,
    fitting: u32,
}

impl Shortfall {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        let enough = self.floor.saturating_add(self.margin);
        match self.fitting {
            0 => format!("raise the cap to at least {enough}; as it is, not even one drive fits"),
            1 => format!("raise the cap to at least {enough}, or plan a single drive"),
            fitting => format!("raise the cap to at least {enough}, or plan at most {fitting} drives"),
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { missing, missing_to_cap, drives, state, base, floor, cap, margin, .. } = self;
        let drives = if *drives == 1 { "1 drive".to_owned() } else { format!("all {drives} drives") };
        write!(f, "{base} without drives and {drives} in {state}, the lowest that was measured, come to {floor}: ")?;
        if *margin == Milliwatts::ZERO {
            write!(f, "{missing} over the cap of {cap}")
        } else if *missing_to_cap == Milliwatts::ZERO {
            write!(f, "{missing} too many for the margin of {margin} below the cap of {cap}, though not over the cap")
        } else {
            write!(f, "{missing_to_cap} over the cap of {cap}, and {missing} with the margin of {margin}")
        }
    }
}

#[cfg(test)]
mod tests {
    use wattline_core::profile::{Measured, StateProfile, d5_p5336};

    use super::*;

    fn question(drives: u16, cap: u32) -> CapQuestion {
        let cap = Milliwatts::from_watts(cap);
        CapQuestion { work: Work::SequentialWrite, drives, cap, margin: Milliwatts::ZERO, base: None }
    }

    /// The step to PS0 gives a little more for its watts, but PS1 for all uses the watts that ten such steps leave.
    #[test]
    fn a_plan_is_never_worse_than_one_state_for_all() {
        let mut profile = d5_p5336();
        for (state, (power, throughput)) in [(19_900, 9_911), (15_000, 5_001), (10_000, 1)].into_iter().enumerate() {
            let throughput = BytesPerSecond::new(throughput);
            let measured = Measured { power: Milliwatts::new(power), throughput, limited_by_fabric: false };
            profile.states[state] = StateProfile::default();
            profile.states[state].measured.sequential_write = Some(measured);
        }
        let plan = CapPlan::new(&profile, question(20, 462 + 300)).unwrap();
        let sharing = plan.sharing.unwrap();
        assert_eq!(sharing.drives, [0, 20, 0]);
    }

    /// The limits of a sound profile and of the command line: every sum is exact.
    #[test]
    fn the_largest_sums_do_not_saturate() {
        let mut profile = d5_p5336();
        let (power, throughput) = (Milliwatts::new(1_000_000), BytesPerSecond::new(1_000_000_000_000));
        let measured = Measured { power, throughput, limited_by_fabric: false };
        profile.states.truncate(1);
        profile.states[0].measured.sequential_write = Some(measured);
        let most = Milliwatts::from_watts(100_000);
        let plan =
            CapPlan::new(&profile, CapQuestion { base: Some(most), margin: most, ..question(256, 100_000) }).unwrap();
        assert_eq!(plan.shortfall().unwrap().missing, Milliwatts::from_watts(356_000));
        assert_eq!(plan.lowest.load.throughput, BytesPerSecond::new(256_000_000_000_000));
    }
}
