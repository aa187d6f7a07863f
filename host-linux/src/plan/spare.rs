//! How many more drives some watts are good for, in each state.

use wattline_core::profile::{Profile, Work};
use wattline_core::units::{BytesPerSecond, Milliwatts};

use super::quantity::{self, Gigabytes, rounded};
use super::{Figure, Figures, PlanError};
use crate::decimal::Decimal;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct SpareQuestion {
    /// What the drives do.
    pub work: Work,
    /// The watts that are free.
    pub spare: Milliwatts,
    /// The drives that are there already, where that was said.
    pub drives: Option<u16>,
}

/// How many more drives fit.
#[derive(Clone, Debug)]
pub struct SparePlan {
    /// What was asked.
    pub question: SpareQuestion,
    /// What one drive costs and gives.
    pub figures: Figures,
    /// What one drive holds, where the profile says it.
    pub capacity: Option<Gigabytes>,
    /// The answer for each of [`Figures::states`].
    pub states: Vec<MoreDrives>,
}

/// What fits if all new drives are in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoreDrives {
    /// What one drive costs and gives.
    pub figure: Figure,
    /// How many fit.
    pub drives: u32,
    /// What they draw.
    pub power: Milliwatts,
    /// What they give.
    pub throughput: BytesPerSecond,
    spare: Milliwatts,
}

impl SparePlan {
    /// Divides the watts.
    ///
    /// # Errors
    /// Where no state was measured in this kind of work.
    pub fn new(profile: &Profile, question: SpareQuestion) -> Result<Self, PlanError> {
        let figures = Figures::new(profile, question.work)?;
        let states = figures.states.iter().map(|figure| MoreDrives::new(*figure, question.spare)).collect();
        let capacity = profile.capacity_gb.map(|gigabytes| Gigabytes::new(gigabytes.into()));
        Ok(Self { question, figures, capacity, states })
    }

    /// Watts for a terabyte, with a drive in this state; `None` where the capacity is not known.
    #[must_use]
    pub fn watts_per_terabyte(&self, figure: &Figure) -> Option<Milliwatts> {
        let per_terabyte = rounded(u64::from(figure.power.get()) * 1000, self.capacity?.get());
        Some(Milliwatts::new(u32::try_from(per_terabyte).unwrap_or(u32::MAX)))
    }

    /// The drives that there are then, where it was said how many there are now.
    #[must_use]
    pub fn in_all(&self, more: &MoreDrives) -> Option<u32> {
        Some(more.drives.saturating_add(self.question.drives?.into()))
    }
}

impl MoreDrives {
    fn new(figure: Figure, spare: Milliwatts) -> Self {
        // A sound profile has no drive of 0 W.
        let drives = spare.get().checked_div(figure.power.get()).unwrap_or_default();
        let power = quantity::power(figure.power, drives);
        Self { figure, drives, power, throughput: quantity::throughput(figure.throughput, drives), spare }
    }

    /// The watts divided by a drive's, to a hundredth; never rounded up to a drive that does not fit.
    pub(super) fn quotient(&self) -> Decimal<2> {
        let hundredths = rounded(u64::from(self.spare.get()) * 100, u64::from(self.figure.power.get().max(1)));
        Decimal(hundredths.min(u64::from(self.drives) * 100 + 99))
    }
}

#[cfg(test)]
mod tests {
    use wattline_core::nvme::PowerState;

    use super::*;

    #[test]
    fn a_quotient_is_never_rounded_up_to_a_drive_that_does_not_fit() {
        let figure = Figure {
            state: PowerState::PS0,
            power: Milliwatts::new(10_000),
            throughput: BytesPerSecond::new(1),
            limited_by_fabric: false,
        };
        for (spare, drives, quotient) in
            [(79_999, 7, "7.99"), (80_000, 8, "8"), (76_555, 7, "7.66"), (9_999, 0, "0.99"), (1, 0, "0")]
        {
            let more = MoreDrives::new(figure, Milliwatts::new(spare));
            assert_eq!((more.drives, more.quotient().to_string()), (drives, quotient.to_owned()), "{spare}");
        }
    }
}
