//! How many watts a drive may turn into heat now.
//!
//! **Goal.** Keep the composite temperature below the drive's own warning threshold, early and a little rather than
//! late and a lot.
//!
//! **Method.** Four levels, each with its own temperature for entering, its own for leaving, and its own dwell; a level
//! says how much of the span between the drive's lowest and highest operational state may be used: all of it, two
//! thirds, one third, none.
//!
//! ```text
//!          T ≥ enter           T ≥ enter, and dwell       T ≥ enter, and dwell
//!   Cool ────────────▶ Warm ────────────────────────▶ Hot ────────────────────▶ Critical
//!     │  ◀────────────  │   ◀────────────────────────  │  ◀────────────────────     ▲
//!     │  T ≤ leave, dwell      T ≤ leave, dwell             T ≤ leave, dwell         │
//!     └─────────────────┴──────────── T ≥ limit ─────────┴───────────────────────────┘
//! ```
//!
//! Each level is given its dwell to take effect before the next one follows, and before it is left. At the limit
//! `Critical` is entered at once. Here *T* for entering is the temperature, or what it comes to within `look_ahead` if
//! it goes on as it does (`slope`).
//!
//! **Mixing over time.** Where the air is too warm for one state and not for the next, a drive alternates between the
//! two, about one kelvin below its limit: so it gets the mean watts that its air can take, although it has no state of
//! just these. A drive that does its work in the more efficient of two states gets it for a part of the time.
//!
//! | room | what it knows |
//! |---|---|
//! | [`limits`] | the temperatures, from what a drive reports |
//! | `slope` | how fast a temperature rises that is read in whole kelvins |
//! | [`sensor`] | whether a reading can be believed: fine, absent, frozen |
//! | [`throttling`] | what the drive's own thermal management says about our limits |
//! | [`backstop`] | the temperatures that it is to be given |
//! | [`chassis`] | how many watts all drives may turn into heat together |
//!
//! **What it leaves out.** The case, where no board sensor stands in for the composite temperature: it is estimated
//! from that ([`ThermalLimits::with_touch_limit`]).

pub mod backstop;
pub mod chassis;
pub mod limits;
pub mod sensor;
mod slope;
pub mod throttling;

use serde::{Deserialize, Serialize};

pub use self::backstop::NoBackstop;
pub use self::chassis::{Chassis, Cooling, CoolingConfig, Fans};
pub use self::limits::{ThermalLimits, Threshold};
pub use self::sensor::{Sensing, SensorEvent};
use self::sensor::{Stillness, possible};
use self::slope::{KELVIN, Slope};
pub use self::throttling::ThrottleCounters;
use self::throttling::Throttling;
use crate::units::{Instant, Kelvin, Microseconds, Milliwatts};

/// How warm a drive is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Level {
    /// No limit.
    #[default]
    Cool,
    /// Two thirds of the span of power.
    Warm,
    /// One third.
    Hot,
    /// The lowest operational state.
    Critical,
}

impl Level {
    /// The most power that a drive may take at this level, of one that takes between `lowest` and `highest`.
    #[must_use]
    pub fn ceiling(self, lowest: Milliwatts, highest: Milliwatts) -> Milliwatts {
        let span = u64::from(highest.saturating_sub(lowest).get());
        let thirds = match self {
            Self::Cool => 3,
            Self::Warm => 2,
            Self::Hot => 1,
            Self::Critical => 0,
        };
        lowest.saturating_add(Milliwatts::new(u32::try_from(span * thirds / 3).unwrap_or(u32::MAX)))
    }

    /// Every level.
    pub const ALL: [Self; 4] = [Self::Cool, Self::Warm, Self::Hot, Self::Critical];

    /// What follows, where the temperature calls for a level, and where this one may be left.
    #[must_use]
    pub fn after(self, calls_for: Self, may_leave: bool) -> Self {
        if calls_for > self {
            calls_for
        } else if may_leave {
            self.below()
        } else {
            self
        }
    }

    const fn above(self) -> Option<Self> {
        match self {
            Self::Cool => Some(Self::Warm),
            Self::Warm => Some(Self::Hot),
            Self::Hot => Some(Self::Critical),
            Self::Critical => None,
        }
    }

    const fn below(self) -> Self {
        match self {
            Self::Critical => Self::Hot,
            Self::Hot => Self::Warm,
            Self::Warm | Self::Cool => Self::Cool,
        }
    }
}

/// The heat of one drive.
#[derive(Clone, Debug, Hash)]
pub struct Thermal {
    limits: ThermalLimits,
    throttling: Throttling,
    level: Level,
    entered: Instant,
    /// The last reading and its time; before the first, only the time since when one is waited for.
    last: (Option<Kelvin>, Instant),
    slope: Slope,
    /// What the last reading was foreseen to come to.
    foreseen: Kelvin,
    sensing: Sensing,
    /// Since when a frozen reading counts as frozen.
    suspected: Instant,
    stillness: Stillness,
    load: Option<Milliwatts>,
}

impl Thermal {
    /// A drive of which nothing is known yet.
    #[must_use]
    pub fn new(limits: ThermalLimits, now: Instant) -> Self {
        Self {
            limits,
            throttling: Throttling::default(),
            level: Level::Cool,
            entered: now,
            last: (None, now),
            slope: Slope::default(),
            foreseen: Kelvin::ZERO,
            sensing: Sensing::Fine,
            suspected: now,
            stillness: Stillness::default(),
            load: None,
        }
    }

    /// How warm the drive is.
    #[must_use]
    pub const fn level(&self) -> Level {
        self.level
    }

    /// The most power that the drive may take now, of one that takes between `lowest` and `highest`.
    #[must_use]
    pub fn ceiling(&self, lowest: Milliwatts, highest: Milliwatts) -> Milliwatts {
        self.level.ceiling(lowest, highest)
    }

    /// How long until the limit is reached if the temperature goes on as it does; `None`: it does not rise.
    #[must_use]
    pub fn time_to_limit(&self, now: Instant) -> Option<Microseconds> {
        self.slope.until(self.limit(), now)
    }

    /// What is known of the source of the temperature.
    #[must_use]
    pub const fn sensing(&self) -> Sensing {
        self.sensing
    }

    /// Whether its temperature has not been readable for too long.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.sensing == Sensing::Lost
    }

    /// How far its limits are lowered because the drive slowed itself down.
    #[must_use]
    pub const fn lowered(&self) -> Kelvin {
        self.throttling.lowered()
    }

    /// When, after `now`, [`advance`](Self::advance) changes anything next although nothing is read: the readings have
    /// been missing or frozen for too long, the last one counts as risen to the next threshold, a level that was
    /// entered has stood for long enough, or a lowered limit is given back.
    #[must_use]
    pub fn next_deadline(&self, now: Instant) -> Option<Instant> {
        let timeout = self.limits.timeout;
        let lost = Some(self.last.1.after(timeout)).filter(|_| !self.is_lost());
        let frozen = match self.sensing {
            Sensing::Fine => self.limits.frozen_after.and_then(|span| self.stillness.reaches(span)),
            Sensing::Frozen => Some(self.suspected.after(timeout)),
            Sensing::Lost => None,
        };
        let reading = self.last.0.filter(|_| !self.is_held_lowest(now));
        let limit =
            reading.filter(|_| self.level < Level::Critical).and_then(|reading| self.reaches(self.limit(), reading));
        let next = self.level.above().zip(reading).and_then(|(next, reading)| {
            let reached =
                if self.foreseen >= self.enters(next) { Some(now) } else { self.reaches(self.enters(next), reading) };
            Some(reached?.max(self.stands_until().unwrap_or(now)))
        });
        let leaves = self.stands_until().filter(|at| reading.is_some() && *at > now && self.may_leave(*at));
        let forgiven = self.throttling.next_deadline();
        [lost, frozen, limit, next, leaves, forgiven].into_iter().flatten().filter(|due| *due > now).min()
    }

    /// A reading came. One that no drive can have is none.
    pub fn reads(&mut self, reading: Kelvin, now: Instant) {
        let Some(reading) = possible(reading) else { return self.advance(now) };
        self.stillness.loads(self.load, now);
        self.last = (Some(reading), now);
        let event = if self.slope.reads(reading, now) {
            self.stillness.moved(self.load);
            SensorEvent::Moved
        } else {
            SensorEvent::Same
        };
        self.sensing = self.sensing.after(event);
        self.foreseen = self.slope.foreseen(now, self.limits.look_ahead);
        self.advance(now);
    }

    /// The drive takes about so many watts from now on; `None` where that is not known.
    pub fn loads(&mut self, load: Option<Milliwatts>, now: Instant) {
        self.load = load;
        self.stillness.loads(load, now);
    }

    /// The counters of its own thermal management were read.
    pub fn throttles(&mut self, counters: ThrottleCounters, now: Instant) {
        self.throttling.reads(counters, now);
        self.advance(now);
    }

    /// Time passes, or a reading failed.
    pub fn advance(&mut self, now: Instant) {
        self.throttling.advance(now);
        if now.since(self.last.1).unwrap_or_default() >= self.limits.timeout {
            self.sensing = self.sensing.after(SensorEvent::TimedOut);
        }
        let still = self.limits.frozen_after.is_some_and(|span| self.stillness.differed(now) >= span);
        if still && self.sensing == Sensing::Fine {
            self.sensing = self.sensing.after(SensorEvent::StoodStill);
            self.suspected = now;
        }
        let level = self.level.after(self.calls_for(now), self.has_stood(now) && self.may_leave(now));
        if level != self.level {
            self.level = level;
            self.entered = now;
        }
    }

    /// The level that is to be entered now; where that is none, the present one.
    fn calls_for(&self, now: Instant) -> Level {
        if self.is_held_lowest(now) {
            return Level::Critical;
        }
        let Some(temperature) = self.counts_for(now) else { return self.level };
        if temperature >= self.limit() {
            return Level::Critical;
        }
        let next = self.level.above().filter(|next| temperature >= self.enters(*next) && self.has_stood(now));
        next.unwrap_or(self.level)
    }

    /// The temperature at a moment after the last reading, at worst, or what it was foreseen to come to.
    fn counts_for(&self, then: Instant) -> Option<Kelvin> {
        Some(self.risen(self.last.0?, then).max(self.foreseen))
    }

    /// Whether nothing has been known of the temperature for so long that only the lowest state is left.
    fn is_held_lowest(&self, now: Instant) -> bool {
        let suspected = now.since(self.suspected).unwrap_or_default();
        self.is_lost() || (self.sensing == Sensing::Frozen && suspected >= self.limits.timeout)
    }

    /// From when on the last reading counts as risen.
    fn known_at(&self) -> Instant {
        if self.sensing == Sensing::Frozen { self.suspected } else { self.last.1 }
    }

    /// What the last reading counts for at a moment after it.
    fn risen(&self, reading: Kelvin, then: Instant) -> Kelvin {
        let age = then.since(self.known_at()).unwrap_or_default();
        let risen = age.get().saturating_mul(u64::from(self.limits.worst_slew_mk_per_s)) / KELVIN;
        reading.saturating_add(Kelvin::new(u16::try_from(risen).unwrap_or(u16::MAX)))
    }

    /// When a reading counts as risen to a temperature; `None`: never.
    fn reaches(&self, temperature: Kelvin, reading: Kelvin) -> Option<Instant> {
        let rise = u64::from(temperature.saturating_sub(reading).get()) * KELVIN;
        let slew = u64::from(self.limits.worst_slew_mk_per_s);
        (slew > 0).then(|| self.known_at().after(Microseconds::new(rise.div_ceil(slew))))
    }

    /// Whether it is cool enough at this moment to leave the level.
    fn may_leave(&self, then: Instant) -> bool {
        let Some((threshold, reading)) = self.threshold(self.level).zip(self.last.0) else { return false };
        let leave = threshold.leave.min(threshold.enter.saturating_sub(Kelvin::new(1))).saturating_sub(self.lowered());
        let calls = self
            .counts_for(then)
            .is_some_and(|temperature| temperature >= self.enters(self.level) || temperature >= self.limit());
        self.risen(reading, then) <= leave && !calls && !self.is_held_lowest(then)
    }

    /// Until when the level stands in any case; `None`: it is `Cool`, which gives way at once.
    fn stands_until(&self) -> Option<Instant> {
        self.threshold(self.level).map(|threshold| self.entered.after(threshold.dwell.max(Microseconds::new(1))))
    }

    fn has_stood(&self, now: Instant) -> bool {
        self.stands_until().is_none_or(|until| now >= until)
    }

    fn limit(&self) -> Kelvin {
        self.limits.limit.saturating_sub(self.lowered())
    }

    fn threshold(&self, level: Level) -> Option<&Threshold> {
        match level {
            Level::Cool => None,
            Level::Warm => Some(&self.limits.warm),
            Level::Hot => Some(&self.limits.hot),
            Level::Critical => Some(&self.limits.critical),
        }
    }

    fn enters(&self, level: Level) -> Kelvin {
        let enter = self.threshold(level).map_or(Kelvin::ZERO, |threshold| threshold.enter);
        enter.saturating_sub(self.lowered())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::from_micros(seconds * 1_000_000)
    }

    fn celsius(celsius: i32) -> Kelvin {
        Kelvin::from_celsius(celsius).unwrap()
    }

    fn drive() -> Thermal {
        Thermal::new(ThermalLimits::from_thresholds(Some(celsius(70)), Some(celsius(80))), at(0))
    }

    /// Every level with every call, as the picture at the top has it.
    #[test]
    fn levels_follow_one_another() {
        use Level::{Cool, Critical, Hot, Warm};
        for (from, called, left) in
            [(Cool, [Cool, Warm, Hot, Critical], Cool), (Warm, [Warm, Warm, Hot, Critical], Cool)]
                .into_iter()
                .chain([(Hot, [Hot, Hot, Hot, Critical], Warm), (Critical, [Critical; 4], Hot)])
        {
            assert_eq!(Level::ALL.map(|calls_for| from.after(calls_for, false)), called, "{from:?}");
            assert_eq!(from.after(from, true), left, "{from:?}");
            assert_eq!(from.above().map_or(Critical, Level::below), if from == Critical { Critical } else { from });
        }
    }

    #[test]
    fn levels_are_given_their_dwell_and_the_limit_none() {
        // Every level begins at 69 °C and is left at 68 °C; each stands 10 s. The limit is 70 °C.
        let mut thermal = drive();
        for (second, degrees, level) in [
            (0, 40, Level::Cool),
            (1_000, 68, Level::Cool),
            (2_000, 69, Level::Warm),
            (2_009, 69, Level::Warm),
            (2_010, 69, Level::Hot),
            (2_020, 69, Level::Critical),
            (2_021, 50, Level::Critical),
            (2_030, 50, Level::Hot),
            (2_039, 50, Level::Hot),
            (2_040, 50, Level::Warm),
            (2_050, 50, Level::Cool),
            (3_000, 68, Level::Cool),
            (4_000, 70, Level::Critical),
            (4_009, 68, Level::Critical),
            (4_010, 68, Level::Hot),
            (4_030, 68, Level::Warm),
            (4_050, 68, Level::Cool),
        ] {
            thermal.reads(celsius(degrees), at(second));
            assert_eq!(thermal.level(), level, "at {second} s");
        }
    }

    #[test]
    fn what_rises_is_slowed_down_before_it_is_there() {
        // One kelvin in two seconds: 69 °C is 2 s ahead at 68 °C.
        let mut thermal = drive();
        for second in 0..20 {
            let degrees = 59 + second / 2;
            thermal.reads(celsius(degrees), at(u64::try_from(second).unwrap()));
            let soon = 2 * degrees + second % 2 + 2 * 2 / 2 >= 2 * 69;
            assert_eq!(thermal.level() > Level::Cool, soon, "at {second} s, {degrees} °C");
            if second > 4 {
                let left = (70 - degrees) * 2 - second % 2;
                let expected = Microseconds::from_secs(u64::try_from(left).unwrap());
                assert_eq!(thermal.time_to_limit(at(u64::try_from(second).unwrap())), Some(expected));
            }
        }
    }

    #[test]
    fn a_missing_reading_rises_and_is_lost_in_the_end() {
        let mut thermal = drive();
        thermal.reads(celsius(59), at(0));
        thermal.advance(at(19));
        assert_eq!(thermal.level(), Level::Cool);
        assert_eq!(thermal.next_deadline(at(19)), Some(at(20)));
        thermal.advance(at(20));
        assert_eq!((thermal.level(), thermal.sensing()), (Level::Warm, Sensing::Fine));
        assert_eq!(thermal.next_deadline(at(20)), Some(at(22)));
        thermal.advance(at(22));
        assert_eq!((thermal.level(), thermal.sensing()), (Level::Critical, Sensing::Fine));
        thermal.advance(at(30));
        assert_eq!((thermal.level(), thermal.sensing()), (Level::Critical, Sensing::Lost));
        thermal.reads(celsius(30), at(41));
        assert_eq!((thermal.level(), thermal.sensing()), (Level::Hot, Sensing::Fine));
    }

    #[test]
    fn a_drive_that_was_never_read_is_lost_after_the_timeout() {
        let mut thermal = drive();
        thermal.advance(at(29));
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Cool, false));
        thermal.advance(thermal.next_deadline(at(29)).unwrap());
        assert_eq!((thermal.level(), thermal.is_lost()), (Level::Critical, true));
        assert_eq!(thermal.next_deadline(at(30)), None);
    }

    #[test]
    fn values_that_no_drive_can_have_are_no_readings() {
        for absurd in [Kelvin::ZERO, Kelvin::new(212), Kelvin::new(401), Kelvin::MAX] {
            let mut thermal = drive();
            for second in 0..30 {
                thermal.reads(absurd, at(second));
                assert_eq!(thermal.level(), Level::Cool);
            }
            thermal.reads(absurd, at(30));
            assert!(thermal.is_lost());
        }
    }

    #[test]
    fn a_reading_that_never_moves_while_the_load_does_is_frozen() {
        let watts = |watts| Some(Milliwatts::from_watts(watts));
        let mut thermal = drive();
        let mut seen = std::vec::Vec::new();
        for second in 0..400 {
            // 25 W for 100 s, then 10 W.
            thermal.loads(watts(if second < 100 { 25 } else { 10 }), at(second));
            thermal.reads(celsius(50), at(second));
            let now = (thermal.sensing(), thermal.level());
            if seen.last().is_none_or(|(_, before)| *before != now) {
                seen.push((second, now));
            }
        }
        // Frozen after 120 s of the other load; 50 °C counts as 65 °C 30 s later, and that is the timeout.
        assert_eq!(
            seen,
            [
                (0, (Sensing::Fine, Level::Cool)),
                (220, (Sensing::Frozen, Level::Cool)),
                (250, (Sensing::Frozen, Level::Critical)),
            ]
        );
        thermal.reads(celsius(51), at(400));
        assert_eq!((thermal.sensing(), thermal.level()), (Sensing::Fine, Level::Hot));
    }

    #[test]
    fn a_steady_load_makes_a_steady_reading_plausible() {
        for load in [None, Some(Milliwatts::from_watts(25))] {
            let mut thermal = drive();
            for second in 0..4_000 {
                thermal.loads(load, at(second));
                thermal.reads(celsius(50), at(second));
            }
            assert_eq!(thermal.sensing(), Sensing::Fine);
        }
    }

    #[test]
    fn a_drive_that_slows_itself_down_is_held_cooler() {
        let mut thermal = drive();
        thermal.throttles(ThrottleCounters::default(), at(0));
        thermal.reads(celsius(68), at(0));
        assert_eq!(thermal.level(), Level::Cool);
        thermal.throttles(ThrottleCounters { light_transitions: 1, ..ThrottleCounters::default() }, at(1));
        assert_eq!((thermal.level(), thermal.lowered()), (Level::Warm, Kelvin::new(1)));
    }

    #[test]
    fn a_ceiling_lies_between_the_lowest_and_the_highest_state() {
        let (low, high) = (Milliwatts::from_watts(10), Milliwatts::from_watts(25));
        let ceilings = Level::ALL.map(|level| level.ceiling(low, high).get());
        assert_eq!(ceilings, [25_000, 20_000, 15_000, 10_000]);
        assert_eq!(Level::Cool.ceiling(high, low), high);
    }

    /// What happens to a drive: a reading, a load, counters, or only time.
    type Step = (u64, Option<u16>, Option<u32>, Option<u32>);

    fn steps() -> impl Strategy<Value = std::vec::Vec<Step>> {
        let reading = prop::option::of(prop_oneof![4 => 330..350u16, 1 => any::<u16>()]);
        let span = prop_oneof![4 => 0..5_000_000u64, 1 => 0..1_000_000_000_000_000u64];
        prop::collection::vec((span, reading, prop::option::of(any::<u32>()), prop::option::of(0..9u32)), 0..60)
    }

    fn happens(thermal: &mut Thermal, now: Instant, (_, reading, load, counters): Step) {
        thermal.loads(load.map(Milliwatts::new), now);
        if let Some(light_transitions) = counters {
            thermal.throttles(ThrottleCounters { light_transitions, ..ThrottleCounters::default() }, now);
        }
        match reading {
            Some(reading) => thermal.reads(Kelvin::new(reading), now),
            None => thermal.advance(now),
        }
    }

    proptest! {
        /// Whoever keeps the deadlines misses nothing: between them, time alone changes nothing. And a deadline is
        /// always still to come.
        #[test]
        fn nothing_changes_between_deadlines(steps in steps(), early in 1..1_000_000u64) {
            let mut thermal = drive();
            let mut now = Instant::START;
            for step in steps {
                let until = now.after(Microseconds::new(step.0));
                while let Some(due) = thermal.next_deadline(now).filter(|due| *due <= until) {
                    prop_assert!(due > now);
                    let before = due.as_micros() - early.min(due.as_micros() - now.as_micros());
                    let known = (thermal.level(), thermal.sensing(), thermal.lowered());
                    thermal.advance(Instant::from_micros(before.max(now.as_micros())));
                    prop_assert_eq!((thermal.level(), thermal.sensing(), thermal.lowered()), known);
                    thermal.advance(due);
                    now = due;
                }
                now = until;
                happens(&mut thermal, now, step);
                let known = (thermal.level(), thermal.sensing(), thermal.lowered());
                thermal.advance(now);
                prop_assert_eq!((thermal.level(), thermal.sensing(), thermal.lowered()), known);
            }
        }
    }
}
