//! Whether the keys of a scenario fit together; each alone was checked as it was read.

use super::Scenario;
use super::schema::{JobSection, MomentSection, RowWork};
use super::value::{Drives, Seconds, brief, watts};
use crate::calibration::Article;

impl Scenario {
    /// Whether the keys fit together; else what does not.
    pub(super) fn check(&self) -> Result<(), String> {
        let article = Article::embedded();
        for (key, text) in [("name", &self.name), ("description", &self.description)] {
            if text.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
                return Err(format!("{key}: has control characters, which a terminal could obey"));
            }
        }
        self.check_drives(&article)?;
        self.check_rows()?;
        self.check_jobs()?;
        self.check_moments()?;
        self.check_faults()?;
        self.check_governor(&article)?;
        self.check_expectations(&article)?;
        let faults = self.faults;
        if faults.lost.0 + faults.late.0 + faults.failed.0 > 1.0 {
            return Err("faults: `lost`, `late` and `failed` are shares of all commands, together at most 1".into());
        }
        Ok(())
    }

    /// Whether nothing is to happen in it by itself: such a scenario can be served, and not run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.row.is_empty() && self.job.is_empty() && self.governor.is_none()
    }

    /// Why no optimum is defined for the run: what does not stay the same all along, or was never measured. `None`: it
    /// is.
    #[must_use]
    pub fn unsteady(&self) -> Option<String> {
        self.unsteady_by(&Article::embedded())
    }

    fn unsteady_by(&self, article: &Article) -> Option<String> {
        let of_job = |(index, job): (usize, &JobSection)| {
            let what = if job.start_s.0 > 0.0 {
                format!("starts at {} s", job.start_s.0)
            } else if let Some(stop) = job.stop_s.filter(|stop| stop.0 < self.duration_s.0) {
                format!("stops at {} s", stop.0)
            } else if job.rate_limit_gb_s.is_some() {
                "has a `rate_limit_gb_s`".into()
            } else if article.row(job.work, 0).is_none() {
                format!("does {}, which was never measured", job.work.name())
            } else {
                return None;
            };
            Some(format!("job {} {what}", index + 1))
        };
        let idle = || (0..self.drives.count).find(|slot| !self.job.iter().any(|job| job.drives.contains(*slot)));
        if !self.cap.is_empty() {
            return Some("`[[cap]]` changes the cap".into());
        }
        if !self.removal.is_empty() {
            return Some("`[[removal]]` pulls drives".into());
        }
        if !self.insertion.is_empty() {
            return Some("`[[insertion]]` brings drives".into());
        }
        if self.drives.count == 0 {
            return Some("there are no drives".into());
        }
        let of_jobs = self.job.iter().enumerate().find_map(of_job);
        of_jobs.or_else(|| idle().map(|slot| format!("drive {slot} has no job")))
    }

    fn check_drives(&self, article: &Article) -> Result<(), String> {
        let (count, states) = (self.drives.count, article.drive.max_power_w.len());
        if count > crate::MAX_DRIVES {
            return Err(format!("drives.count = {count}: at most {}", crate::MAX_DRIVES));
        }
        let rows = self.row.iter().filter_map(|row| row.ps.map(|ps| ("row.ps", ps)));
        let ends = [("drives.initial_ps", self.drives.initial_ps), ("drives.fallback_ps", self.drives.fallback_ps)];
        if let Some((key, ps)) = rows.chain(ends).find(|(_, ps)| *ps >= states) {
            return Err(format!("{key} = {ps}: the drive has the states 0 to {}", states - 1));
        }
        let named = self.job.iter().map(|job| &job.drives).chain(self.reset.iter().map(|at| &at.drives));
        let named = named.chain(self.removal.iter().chain(&self.insertion).map(|at| &at.drives));
        let named = named.chain(self.stubborn.iter().map(|at| &at.drives));
        let named = named.chain(self.sensor.iter().map(|at| &at.drives));
        match (named.filter_map(Drives::highest).max().filter(|highest| *highest >= count), count) {
            (Some(highest), 0) => Err(format!("drive {highest} is named, but drives.count = 0")),
            (Some(highest), _) => Err(format!("drive {highest} is named, but there are {count} (0 to {})", count - 1)),
            (None, _) => Ok(()),
        }
    }

    fn check_rows(&self) -> Result<(), String> {
        for row in &self.row {
            let idle = matches!(row.work, RowWork::Idle | RowWork::IdleNoDrives);
            if idle == row.ps.is_some() {
                return Err("row: `ps` belongs to rows with work, and to all of them".into());
            }
        }
        if !self.row.is_empty() && (self.governor.is_some() || !self.job.is_empty()) {
            return Err("`row` goes with neither `job` nor `governor`: each row is a run of its own".into());
        }
        Ok(())
    }

    fn check_jobs(&self) -> Result<(), String> {
        for (job, number) in self.job.iter().zip(1..) {
            if job.queue_depth == 0 {
                return Err(format!("job {number}: queue_depth = 0: must be at least 1"));
            }
            if job.block_kib == 0 || job.block_kib > 1 << 20 {
                let given = job.block_kib;
                return Err(format!("job {number}: block_kib = {given}: must be between 1 and 1048576 (1 GiB)"));
            }
            if let Some(stop) = job.stop_s.filter(|stop| stop.0 <= job.start_s.0) {
                let (start_s, stop_s) = (brief(job.start_s.0), brief(stop.0));
                return Err(format!("job {number}: stop_s = {stop_s} is not after start_s = {start_s}"));
            }
        }
        Ok(())
    }

    /// That nothing is to happen after the end, where it would pass for something that was simulated.
    fn check_moments(&self) -> Result<(), String> {
        let numbered = |key: &'static str, moments: Vec<Seconds>| {
            moments.into_iter().zip(1..).map(move |(moment, number)| (key, number, moment))
        };
        let all = numbered("cap", self.cap.iter().map(|cap| cap.at_s).collect())
            .chain(numbered("reset", self.reset.iter().map(|reset| reset.at_s).collect()))
            .chain(numbered("removal", self.removal.iter().map(|removal| removal.at_s).collect()))
            .chain(numbered("insertion", self.insertion.iter().map(|insertion| insertion.at_s).collect()))
            .chain(numbered("stubborn", self.stubborn.iter().map(|stubborn| stubborn.at_s).collect()))
            .chain(numbered("meter", self.meter.iter().map(|meter| meter.at_s).collect()))
            .chain(numbered("clock", self.clock.iter().map(|clock| clock.at_s).collect()))
            .chain(numbered("restart", self.restart.iter().map(|restart| restart.at_s).collect()))
            .chain(numbered("cooling", self.cooling.iter().map(|cooling| cooling.at_s).collect()))
            .chain(numbered("sensor", self.sensor.iter().map(|sensor| sensor.at_s).collect()))
            .chain(numbered("job", self.job.iter().map(|job| job.start_s).collect()));
        for (key, number, moment) in all {
            if moment.0 >= self.duration_s.0 {
                let (name, at_s) = (if key == "job" { "start_s" } else { "at_s" }, brief(moment.0));
                let end_s = brief(self.duration_s.0);
                return Err(format!("{key} {number}: {name} = {at_s} is not before the end, duration_s = {end_s}"));
            }
        }
        Ok(())
    }

    /// That a drive is only put where none is, that the governor starts again before it stops again, and that there is
    /// time for every flip.
    fn check_faults(&self) -> Result<(), String> {
        for (insertion, number) in self.insertion.iter().zip(1..) {
            let before = |at: Seconds| at.0 < insertion.at_s.0;
            let taken = (0..self.drives.count).filter(|slot| insertion.drives.contains(*slot)).find(|slot| {
                let last = |moments: &[MomentSection]| {
                    let of_slot = moments.iter().filter(|at| at.drives.contains(*slot) && before(at.at_s));
                    of_slot.map(|at| at.at_s.0).fold(-1.0, f64::max)
                };
                last(&self.removal) <= last(&self.insertion)
            });
            if let Some(slot) = taken {
                return Err(format!("insertion {number}: slot {slot} has a drive, which was not pulled before"));
            }
        }
        let mut up_s = 0.0;
        for (restart, number) in self.restart.iter().zip(1..) {
            if restart.at_s.0 < up_s {
                return Err(format!("restart {number}: the one before it is not over at {} s", brief(restart.at_s.0)));
            }
            up_s = restart.at_s.0 + restart.down_s.0;
            if up_s >= self.duration_s.0 {
                return Err(format!("restart {number}: is not over before the end"));
            }
        }
        match self.flips.and_then(|flips| flips.stop_s).filter(|stop| stop.0 > self.duration_s.0) {
            Some(stop) => Err(format!("flips: stop_s = {} is after the end", brief(stop.0))),
            None => Ok(()),
        }
    }

    fn check_governor(&self, article: &Article) -> Result<(), String> {
        if self.governor.is_some() && self.throttle.is_some() {
            return Err("`throttle` stands in a governor's place: not both".into());
        }
        let Some(governor) = &self.governor else {
            let needing = [
                ("cap", "changes a cap", self.cap.is_empty()),
                ("restart", "restarts the governor", self.restart.is_empty()),
                ("clock", "sets the governor's clock back", self.clock.is_empty()),
                ("flips", "is about the governor's memory", self.flips.is_none()),
            ];
            return match needing.into_iter().find(|(_, _, absent)| !absent) {
                Some((key, what, _)) => Err(format!("`{key}` {what}, but there is no `governor`")),
                None => Ok(()),
            };
        };
        let lowest_w = article.drive.max_power_w.iter().copied().fold(f64::INFINITY, f64::min);
        let limit_w = watts(governor.slot_limit_w.0);
        if limit_w < lowest_w {
            return Err(format!(
                "governor.slot_limit_w = {limit_w}: even the lowest state may take {lowest_w} W, so no state is left"
            ));
        }
        Ok(())
    }

    fn check_expectations(&self, article: &Article) -> Result<(), String> {
        let expect = &self.expect;
        let given = [
            ("shed_s", expect.shed_s.is_some()),
            ("optimum_share", expect.optimum_share.is_some()),
            ("fair_within", expect.fair_within.is_some()),
            ("margin_at_most_w", expect.margin_at_most_w.is_some()),
            ("alarms", !expect.alarms.is_empty()),
            ("all_managed", expect.all_managed),
            ("rate", !expect.rate.is_empty()),
            ("composite_below_c", expect.composite_below_c.is_some()),
        ];
        for (rate, number) in expect.rate.iter().zip(1..) {
            if rate.from_s.0.ceil() + 1.0 > rate.to_s.0.floor() || rate.to_s.0 > self.duration_s.0 {
                let (from_s, to_s) = (brief(rate.from_s.0), brief(rate.to_s.0));
                return Err(format!(
                    "expect.rate {number}: {from_s} s to {to_s} s has no whole second, or is after the end"
                ));
            }
        }
        if self.governor.is_none()
            && let Some((key, _)) = given.iter().find(|(_, given)| *given)
        {
            return Err(format!("`expect.{key}` is about a governed run, but there is no `governor`"));
        }
        if expect.optimum_share.is_some()
            && let Some(why) = self.unsteady_by(article)
        {
            return Err(format!(
                "`expect.optimum_share` needs one cap and the same work all along, else no optimum is defined: {why}"
            ));
        }
        Ok(())
    }
}
