//! The air at the drives: what comes in, how much of it, and what it takes along.
//!
//! ```text
//!   inlet ──▶ + what the room keeps without coolant ──▶ drives, cooled the better the more air passes
//! ```
//!
//! **Airflow** is the fans' speed times the share of them that runs; the usual speed is 1. The resistance from a case
//! to the air goes with airflow to the power of −0.8, as for turbulent flow along a plate. Fans speed up in proportion
//! to how much warmer the hottest drive is than `fan_from_c`, up to [`AirModel::most_speed`].
//!
//! **Coolant** carries the server's heat out of the room. Without it the room warms towards what
//! [`AirModel::room_k_per_w`] says of the watts at the wall, with one time constant; with it again, it cools so.

use crate::time::{Micros, SECOND, seconds};

/// Constants of fans and room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AirModel {
    /// Kelvins of the hottest drive between the fans' usual and their highest speed.
    pub fan_span_k: f64,
    /// The highest speed; the usual one is 1.
    pub most_speed: f64,
    /// Kelvins that the room warms by for each watt that nobody carries away.
    pub room_k_per_w: f64,
    /// Time constant of that, in seconds.
    pub room_s: f64,
}

impl AirModel {
    /// Guesses: fans with half as much in reserve, and a closed rack of a few hundred kilograms that loses its heat
    /// through its walls.
    pub const GUESS: Self = Self { fan_span_k: 10.0, most_speed: 1.5, room_k_per_w: 0.03, room_s: 200.0 };
}

/// How the resistance to the air goes with airflow.
const TURBULENT: f64 = 0.8;
/// With all fans gone, air still rises by itself (guess).
const LEAST_AIRFLOW: f64 = 0.05;

/// An inlet temperature on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ramp {
    from_c: f64,
    to_c: f64,
    begins: Micros,
    ends: Micros,
}

/// The air now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    model: AirModel,
    inlet: Ramp,
    inlet_c: f64,
    /// What the room has kept.
    kept_k: f64,
    coolant: bool,
    /// The share of the fans that runs.
    running: f64,
    speed: f64,
}

impl Air {
    /// Air of this temperature, with fans at their usual speed.
    #[must_use]
    pub const fn new(model: AirModel, inlet_c: f64) -> Self {
        let inlet = Ramp { from_c: inlet_c, to_c: inlet_c, begins: 0, ends: 0 };
        Self { model, inlet, inlet_c, kept_k: 0.0, coolant: true, running: 1.0, speed: 1.0 }
    }

    /// The temperature at the drives, in °C.
    #[must_use]
    pub fn drives_c(&self) -> f64 {
        self.inlet_c + self.kept_k
    }

    /// The factor on the resistance from a case to the air.
    #[must_use]
    pub fn resistance(&self) -> f64 {
        libm::pow((self.speed * self.running).max(LEAST_AIRFLOW), -TURBULENT)
    }

    /// Whether the fans run as fast as they can.
    #[must_use]
    pub fn fans_at_limit(&self) -> bool {
        self.speed >= self.model.most_speed
    }

    /// Whether all fans run.
    #[must_use]
    pub fn fans_run(&self) -> bool {
        self.running >= 1.0
    }

    /// Whether the coolant flows.
    #[must_use]
    pub const fn coolant(&self) -> bool {
        self.coolant
    }

    /// The air that comes in goes to this temperature within `span`.
    pub fn set_inlet(&mut self, now: Micros, to_c: f64, span: Micros) {
        self.inlet = Ramp { from_c: self.inlet_c, to_c, begins: now, ends: now + span };
    }

    /// This share of the fans runs from now on.
    pub fn set_running(&mut self, share: f64) {
        self.running = share;
    }

    /// The coolant flows from now on, or does not.
    pub fn set_coolant(&mut self, flows: bool) {
        self.coolant = flows;
    }

    /// Once a second: `wall_w` were taken in it, and the hottest drive is so much warmer than where the fans begin.
    pub fn second(&mut self, now: Micros, wall_w: f64, above_k: f64) {
        let Ramp { from_c, to_c, begins, ends } = self.inlet;
        let share = if now >= ends { 1.0 } else { seconds(now - begins) / seconds(ends - begins) };
        self.inlet_c = from_c + (to_c - from_c) * share;
        let kept_k = if self.coolant { 0.0 } else { wall_w * self.model.room_k_per_w };
        self.kept_k += (kept_k - self.kept_k) * (1.0 - libm::exp(-seconds(SECOND) / self.model.room_s));
        let faster = (above_k / self.model.fan_span_k).clamp(0.0, 1.0);
        self.speed = 1.0 + (self.model.most_speed - 1.0) * faster;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn air() -> Air {
        Air::new(AirModel::GUESS, 25.0)
    }

    #[test]
    fn the_usual_air_is_what_the_resistances_are_meant_for() {
        assert_eq!((air().drives_c(), air().resistance()), (25.0, 1.0));
        let mut air = air();
        air.second(SECOND, 1_000.0, 0.0);
        assert_eq!((air.drives_c(), air.resistance()), (25.0, 1.0));
    }

    #[test]
    fn an_inlet_goes_straight_to_where_it_is_sent() {
        let mut air = air();
        air.set_inlet(10 * SECOND, 45.0, 20 * SECOND);
        for (second, drives_c) in [(15, 30.0), (20, 35.0), (30, 45.0), (99, 45.0)] {
            air.second(second * SECOND, 0.0, 0.0);
            assert!((air.drives_c() - drives_c).abs() < 1e-9, "{second} s: {}", air.drives_c());
        }
    }

    #[test]
    fn without_coolant_the_room_warms_as_an_exponential() {
        let mut air = air();
        air.set_coolant(false);
        for second in 1..=400 {
            air.second(second * SECOND, 1_000.0, 0.0);
        }
        let expected = 25.0 + 30.0 * (1.0 - libm::exp(-2.0));
        assert!((air.drives_c() - expected).abs() < 1e-9, "{} {expected}", air.drives_c());
        air.set_coolant(true);
        for second in 401..=4_000 {
            air.second(second * SECOND, 1_000.0, 0.0);
        }
        assert!((air.drives_c() - 25.0).abs() < 1e-3);
    }

    #[test]
    fn fans_speed_up_to_their_limit_and_fewer_of_them_cool_less() {
        let mut air = air();
        for (above_k, at_limit, airflow) in
            [(-5.0, false, 1.0), (5.0, false, 1.25), (10.0, true, 1.5), (99.0, true, 1.5)]
        {
            air.second(SECOND, 0.0, above_k);
            assert_eq!(air.fans_at_limit(), at_limit);
            assert!((air.resistance() - libm::pow(airflow, -0.8)).abs() < 1e-12);
        }
        assert!(air.fans_run());
        air.set_running(0.4);
        assert!(!air.fans_run());
        assert!((air.resistance() - libm::pow(0.6, -0.8)).abs() < 1e-12);
    }
}
