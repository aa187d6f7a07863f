//! From what the checkers found to what is printed: each check's name, verdict and figures.

use wattline_core::profile::WorkSet;

use super::Check;
use super::fairness;
use super::figures::Figures;
use super::ledger::Verdict;
use super::shed::Shed;
use crate::calibration::Calibration;
use crate::rows::Row;
use crate::scenario::Scenario;
use crate::time::seconds;
use crate::trace::Trace;

/// One check for each row of the reference experiment.
#[must_use]
pub fn of_rows(rows: &[Row], meter_quantum_w: f64) -> Vec<Check> {
    let check = |row: &Row| {
        let rate = row.simulated_gb_s.zip(row.article_gb_s).map_or_else(String::new, |(simulated, article)| {
            format!(", {:+.2} % of GB/s (1 % allowed)", (simulated / article - 1.0) * 100.0)
        });
        let off_w = row.simulated_w - row.article_w;
        let detail = format!("{off_w:+.1} W ({:.1} W allowed){rate}", row.tolerance_w(meter_quantum_w));
        Check::new(row.title(), row.holds(meter_quantum_w), detail)
    };
    rows.iter().map(check).collect()
}

/// Watts of all drives in their lowest state, at what they count for.
#[must_use]
pub fn floor_w(figures: &Figures<'_>, declared: WorkSet, drives: usize) -> f64 {
    let states = (0..figures.states()).map(|ps| figures.watts(ps, declared));
    states.fold(f64::INFINITY, f64::min) * drives as f64
}

/// That the cap can be held at all with every drive working.
#[must_use]
pub fn floor(floor_w: f64, cap_w: f64, margin_w: f64) -> Check {
    let (to_cap_w, to_margin_w) = (floor_w - cap_w, floor_w - (cap_w - margin_w));
    let ok = to_margin_w <= 0.0;
    let detail = if ok {
        format!("{floor_w:.1} W with every drive in its lowest state, {:.1} W below cap - margin", -to_margin_w)
    } else {
        format!(
            "every drive in its lowest state takes {floor_w:.1} W: {:.1} W missing to the cap of {cap_w:.1} W, \
             {to_margin_w:.1} W to the margin of {margin_w:.1} W below it; no I/O is gated",
            to_cap_w.max(0.0)
        )
    };
    Check::new("floor", ok, detail)
}

/// That no drive's true composite temperature reached a limit.
#[must_use]
pub fn composite(trace: &Trace, limit_c: f64) -> Check {
    let peak_c = trace.samples.iter().map(|sample| sample.composite_c).fold(f64::NEG_INFINITY, f64::max);
    Check::new("composite", peak_c < limit_c, format!("{peak_c:.1} °C at most, to stay below {limit_c} °C"))
}

/// That every disturbance was shed, and in time. Commands that were in flight when it came, and stay unanswered, are no
/// excuse: other drives make up for theirs.
#[must_use]
pub fn shed(sheds: &[Shed], limit_s: Option<f64>) -> Check {
    let in_time = |shed: &Shed| {
        let limit_ms = limit_s.map_or(f64::INFINITY, |limit_s| limit_s * 1e3);
        shed.shed_ms.is_some_and(|took| took <= limit_ms)
    };
    let words = |shed: &Shed| {
        let busy = match shed.busy_ms {
            0.0 => String::new(),
            busy_ms => format!("; commands in flight stayed unanswered for up to {busy_ms:.0} ms"),
        };
        let took = shed.shed_ms.map_or("never shed".into(), |took| format!("shed in {took:.0} ms"));
        format!(
            "{} at {:.1} s: {took} (up to {:.1} W over for {:.0} ms{busy})",
            shed.cause, shed.at_s, shed.over_w, shed.over_ms
        )
    };
    let late: Vec<_> = sheds.iter().filter(|shed| !in_time(shed)).map(words).collect();
    let allowed = limit_s.map_or("no limit".into(), |limit_s| format!("{limit_s} s allowed"));
    let detail = if late.is_empty() {
        let slowest = sheds.iter().max_by(|a, b| a.shed_ms.unwrap_or(0.0).total_cmp(&b.shed_ms.unwrap_or(0.0)));
        let slowest = slowest.map_or("none".into(), words);
        let plural = if sheds.len() == 1 { "" } else { "s" };
        format!("{} disturbance{plural}, {allowed}; slowest: {slowest}", sheds.len())
    } else {
        format!("{allowed}; {}", late.join("; "))
    };
    Check::new("shed", late.is_empty() && !sheds.is_empty(), detail)
}

/// That no second after a shedding was over the cap.
#[must_use]
pub fn window(sheds: &[Shed]) -> Check {
    let highest_w = sheds.iter().filter_map(|shed| shed.highest_mean_above_cap_w).reduce(f64::max);
    let detail = highest_w.map_or("no second was left after the shedding".into(), |highest_w| {
        let side = if highest_w > 0.0 { "above" } else { "below" };
        format!("highest mean of the true watts over any second: {:.1} W {side} the cap", highest_w.abs())
    });
    Check::new("window", highest_w.is_some_and(|highest_w| highest_w <= 0.0), detail)
}

/// That the ledger's rules held.
#[must_use]
pub fn ledger(verdict: &Verdict) -> Check {
    let mut found = Vec::new();
    if let Some((at, slot, above_w)) = verdict.unpaid.first() {
        let count = verdict.unpaid.len();
        found.push(format!(
            "{count} raises without the watts for it, first at {:.3} s: drive {slot}, {above_w:.1} W too many",
            seconds(*at)
        ));
    }
    if let Some((at, above_w)) = verdict.slow.first() {
        found.push(format!("the cap drop at {:.3} s was not answered at once: {above_w:.1} W left", seconds(*at)));
    }
    if let Some((at, slot)) = verdict.doubled.first() {
        let count = verdict.doubled.len();
        found.push(format!(
            "{count} commands to a drive with one in flight, first at {:.3} s: drive {slot}",
            seconds(*at)
        ));
    }
    if let Some((at, slot)) = verdict.unread.first() {
        let count = verdict.unread.len();
        found.push(format!(
            "{count} states set before the drive had named its own, first at {:.3} s: drive {slot}",
            seconds(*at)
        ));
    }
    let detail = if found.is_empty() {
        format!("{} raises, each out of confirmed watts; one command at a time to each drive", verdict.raises)
    } else {
        found.join("; ")
    };
    Check::new("ledger", verdict.holds(), detail)
}

/// That the throughput is near the exact optimum by the figures that the governor may use, `by` nameplate or measured.
#[must_use]
pub fn optimum(gb_s: f64, best_gb_s: Option<f64>, share: f64, by: &str) -> Check {
    let Some(best_gb_s) = best_gb_s else {
        return Check::new("optimum", false, format!("no assignment of states fits cap - margin by {by} figures"));
    };
    let detail = format!(
        "{gb_s:.2} of {best_gb_s:.2} GB/s at cap - margin by {by} figures: {:.2} % ({:.0} % expected)",
        gb_s / best_gb_s * 100.0,
        share * 100.0
    );
    Check::new("optimum", gb_s >= share * best_gb_s, detail)
}

/// That the throughput is not below that of the best single state, but for what the drives' spread explains: three
/// standard deviations of the mean of their rates.
#[must_use]
pub fn uniform(gb_s: f64, uniform_gb_s: Option<f64>, scenario: &Scenario) -> Check {
    let Some(uniform_gb_s) = uniform_gb_s else {
        return Check::new("uniform", false, "no single state fits cap - margin");
    };
    let drives = scenario.drives.count.max(1) as f64;
    let slack = 3.0 * scenario.drives.spread_percent / 100.0 / libm::sqrt(3.0 * drives);
    let detail = format!(
        "{gb_s:.2} GB/s against {uniform_gb_s:.2} GB/s of the best single state (the spread explains {:.1} %)",
        slack * 100.0
    );
    Check::new("uniform", gb_s >= uniform_gb_s * (1.0 - slack), detail)
}

/// That equal drives got equal shares.
#[must_use]
pub fn fair(drive_gb_s: &[f64], within: f64, transitions_per_drive_hour: f64) -> Check {
    let (slot, off) = fairness::farthest(drive_gb_s).unwrap_or((0, 0.0));
    let detail = format!(
        "drive {slot} is farthest from the others' mean: {:.1} % ({:.0} % allowed), at {transitions_per_drive_hour:.0} \
         transitions per drive and hour",
        off * 100.0,
        within * 100.0
    );
    Check::new("fair", off <= within, detail)
}

/// That the margin is not wider than it may be, and why it is that wide.
#[must_use]
pub fn margin(margin_w: f64, most_w: f64, calibration: &Calibration, scenario: &Scenario) -> Check {
    let half_step_w = calibration.article.server.meter_quantum_w / 2.0;
    let spread_w = spread_w(calibration, scenario);
    let detail = format!(
        "{margin_w:.1} W (at most {most_w:.1} W): {half_step_w:.1} W, half the step of the meter that the figures were \
         read off, and {spread_w:.1} W, three standard deviations of the sum of the drives' spread"
    );
    Check::new("margin", margin_w <= most_w, detail)
}

/// Three standard deviations of the sum of the drives' watts, each evenly spread around its profile, at full writing.
fn spread_w(calibration: &Calibration, scenario: &Scenario) -> f64 {
    let server = &calibration.article.server;
    let totals = calibration.article.row.iter().map(|row| row.total_w);
    let drive_w = (totals.fold(0.0, f64::max) - server.idle_no_drives_w) / f64::from(server.drives);
    let deviation_w = drive_w * scenario.drives.spread_percent / 100.0 / libm::sqrt(3.0);
    3.0 * deviation_w * libm::sqrt(scenario.drives.count as f64)
}
