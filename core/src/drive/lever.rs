//! By which feature a drive is held under its watts.
//!
//! The transitions of a drive speak of its power states: each is a wish to be held under that state's maximum power. A
//! lever is the feature that carries the wish. Power Management (02h) comes first; where the drive refuses it, or
//! accepts and does not act, the next lever that the user allowed takes its place, and the drive is read again, through
//! that lever.
//!
//! | lever | the wish becomes | used |
//! |---|---|---|
//! | [`Lever::PowerState`] | the state itself | always first |
//! | [`Lever::OcpPowerState`] | the state's maximum power in whole watts, rounded down | where the user allows it |
//!
//! Power Limit (23h) is no lever: how a limit is taken away again is not known (see
//! [`power_limit`](crate::nvme::feature::power_limit)). Neither are the drive's own thermal thresholds, since no figure
//! in watts belongs to them; they are a last resort ([`Backstop`](super::Backstop)).

use serde::{Deserialize, Serialize};

use super::{Outcome, Request};
use crate::nvme::PowerState;
use crate::nvme::feature::ocp_power_state::OcpPowerState;
use crate::profile::Profile;
use crate::units::Milliwatts;

/// What a drive is held with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Lever {
    /// Power Management (02h).
    PowerState,
    /// DSSD Power State (C7h).
    OcpPowerState,
}

/// The levers that the user allows. [`Lever::PowerState`] always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[serde(deny_unknown_fields)]
pub struct Levers {
    /// [`Lever::OcpPowerState`], on drives that advertise it (an Open Compute datacenter SSD).
    pub ocp_power_state: bool,
}

impl Levers {
    /// The lever to try after this one.
    #[must_use]
    pub const fn after(self, lever: Lever) -> Option<Lever> {
        match lever {
            Lever::PowerState if self.ocp_power_state => Some(Lever::OcpPowerState),
            Lever::PowerState | Lever::OcpPowerState => None,
        }
    }
}

impl Lever {
    /// A request about power states, as this lever puts it to the drive. `None` where it has no words for the state.
    #[must_use]
    pub fn request(self, request: Request, profile: &Profile) -> Option<Request> {
        match (self, request) {
            (Self::OcpPowerState, Request::SetPowerState(state)) => {
                Some(Request::SetOcpPowerState(whole_watts(profile.state(state)?.max_power?)?))
            }
            (Self::OcpPowerState, Request::ReadPowerState) => Some(Request::ReadOcpPowerState),
            (_, request) => Some(request),
        }
    }

    /// An answer in terms of power states. A limit in watts counts as the lowest state that takes as much; one above
    /// all of them as the highest.
    #[must_use]
    pub fn outcome(self, outcome: Outcome, profile: &Profile) -> Outcome {
        let (Self::OcpPowerState, Outcome::OcpPowerState(limit)) = (self, outcome) else { return outcome };
        let mut highest: Option<(Milliwatts, PowerState)> = None;
        let mut lowest: Option<(Milliwatts, PowerState)> = None;
        for (number, state) in profile.operational() {
            let Some(power) = state.max_power else { continue };
            if highest.is_none_or(|(most, _)| power > most) {
                highest = Some((power, number));
            }
            if whole_watts(power) >= Some(limit) && lowest.is_none_or(|(least, _)| power < least) {
                lowest = Some((power, number));
            }
        }
        lowest.or(highest).map_or(outcome, |(_, state)| Outcome::Is(state))
    }
}

/// Rounded down: a drive held under 8 W is held under 8.25 W.
fn whole_watts(power: Milliwatts) -> Option<OcpPowerState> {
    OcpPowerState::new(u8::try_from(power.get() / 1000).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::d5_p5336;

    fn ps(number: u8) -> PowerState {
        PowerState::new(number).unwrap()
    }

    #[test]
    fn every_wish_comes_back_as_the_state_that_was_wished() {
        let profile = d5_p5336();
        for (state, _) in profile.operational() {
            let wish = Request::SetPowerState(state);
            assert_eq!(Lever::PowerState.request(wish, &profile), Some(wish));
            let Some(Request::SetOcpPowerState(limit)) = Lever::OcpPowerState.request(wish, &profile) else { panic!() };
            assert!(limit.power() <= profile.state(state).unwrap().max_power.unwrap());
            let answer = Lever::OcpPowerState.outcome(Outcome::OcpPowerState(limit), &profile);
            assert_eq!(answer, Outcome::Is(state));
        }
    }

    /// Whatever limit a drive names, it never counts for less than that.
    #[test]
    fn a_limit_that_nobody_asked_for_counts_as_the_next_higher_state() {
        let profile = d5_p5336();
        for watts in 0..128 {
            let limit = OcpPowerState::new(watts).unwrap();
            let Outcome::Is(state) = Lever::OcpPowerState.outcome(Outcome::OcpPowerState(limit), &profile) else {
                panic!("{watts} W");
            };
            let power = profile.state(state).unwrap().max_power.unwrap();
            assert!(power >= limit.power() || state == PowerState::PS0, "{watts} W: {state:?}");
        }
    }

    #[test]
    fn a_state_that_reports_no_maximum_cannot_be_wished_in_watts() {
        let mut profile = d5_p5336();
        profile.states[1].max_power = None;
        assert_eq!(Lever::OcpPowerState.request(Request::SetPowerState(ps(1)), &profile), None);
        profile.states[0].max_power = Some(Milliwatts::from_watts(200));
        assert_eq!(Lever::OcpPowerState.request(Request::SetPowerState(ps(0)), &profile), None);
    }

    #[test]
    fn a_lever_is_followed_only_by_one_that_the_user_allows() {
        assert_eq!(Levers::default().after(Lever::PowerState), None);
        let allowed = Levers { ocp_power_state: true };
        assert_eq!(allowed.after(Lever::PowerState), Some(Lever::OcpPowerState));
        assert_eq!(allowed.after(Lever::OcpPowerState), None);
    }
}
