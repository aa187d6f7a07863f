//! Results as tables for people.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};
use wattline_core::profile::Work;
use wattline_sim::calibration::Calibration;
use wattline_sim::check::{Check, shed::Shed};
use wattline_sim::outcome::{Governed, Outcome, Uniform};
use wattline_sim::rows::Row;
use wattline_sim::scenario::Scenario;

/// Not there, or not applicable.
const NONE: &str = "-";

pub(crate) fn list(scenarios: &[Scenario]) -> String {
    let mut table = table(&["scenario", "what it shows"], 2);
    for scenario in scenarios {
        table.add_row([&scenario.name, &scenario.description]);
    }
    format!("{table}\n")
}

pub(crate) fn outcome(scenario: &Scenario, outcome: &Outcome) -> String {
    let mut text = format!("{} (seed {}): {}\n", outcome.scenario, outcome.seed, scenario.description);
    if let Some(wrong) = outcome.wrong {
        let _ = writeln!(text, "  under a governor that does one thing wrong: {wrong}");
    }
    if !outcome.rows.is_empty() {
        let _ = writeln!(text, "{}", rows(&outcome.rows));
    }
    if let Some(result) = &outcome.governed {
        let _ = writeln!(text, "{}\n{}", governed(scenario, outcome, result), disturbances(&result.sheds));
    }
    if let Some(result) = &outcome.ungoverned {
        let _ = writeln!(text, "  {:.1} W, {:.2} GB/s, ungoverned", result.mean_w, result.gb_s);
    }
    for check in &outcome.checks {
        let _ = writeln!(text, "{}", line(check));
    }
    let verdict = match (outcome.checks.is_empty(), outcome.holds()) {
        (true, _) => "nothing was checked: nobody governed",
        (_, true) => "everything held",
        (_, false) => "NOT everything held",
    };
    let _ = writeln!(text, "{verdict}\n");
    text
}

fn line(check: &Check) -> String {
    format!("  {} {}: {}", if check.ok { "ok  " } else { "FAIL" }, check.name, check.detail)
}

fn rows(rows: &[Row]) -> Table {
    let mut table = table(&["row", "article W", "simulated W", "meter W", "article GB/s", "simulated GB/s"], 1);
    for row in rows {
        table.add_row([
            row.title(),
            format!("{:.0}", row.article_w),
            format!("{:.1}", row.simulated_w),
            format!("{:.0}", row.metered_w),
            number(row.article_gb_s, 1),
            number(row.simulated_gb_s, 2),
        ]);
    }
    table
}

fn governed(scenario: &Scenario, outcome: &Outcome, governed: &Governed) -> Table {
    let mut table = table(&["", ""], 1);
    let trusted = scenario.governor.as_ref().is_none_or(|section| section.trust_measured);
    let optimum = outcome.optimum.and_then(|optimum| optimum.gb_s);
    let measured = outcome.optimum.and_then(|optimum| optimum.gb_s_measured);
    let at_cap = outcome.optimum.and_then(|optimum| optimum.gb_s_at_cap);
    let against = |best: Option<f64>| {
        best.map_or(NONE.into(), |best| format!("{best:.2} ({:.1} % reached)", governed.gb_s / best * 100.0))
    };
    let single = |best: Option<Uniform>| best.map_or(NONE.into(), |best| format!("{:.2} (PS{})", best.gb_s, best.ps));
    let [mut optima, mut singles] = [Vec::new(), Vec::new()];
    if trusted {
        optima.push(("optimum at cap - margin GB/s", against(optimum)));
        singles.push(("best single state GB/s", single(outcome.uniform)));
    } else {
        optima.push(("optimum at cap - margin by nameplate figures GB/s", against(optimum)));
        optima.push(("optimum at cap - margin by measured figures GB/s", against(measured)));
        singles.push(("best single state by nameplate figures GB/s", single(outcome.uniform)));
        singles.push(("best single state by measured figures GB/s", single(outcome.uniform_measured)));
    }
    let of_run = [
        ("cap W", format!("{:.1}", governed.cap_w)),
        ("margin W", format!("{:.1}", governed.margin_w)),
        ("mean W", format!("{:.1}", governed.mean_w)),
        ("highest second after shedding W", number(governed.max_1s_w, 1)),
        ("highest second of all W", number(governed.max_1s_w_all, 1)),
        ("first shedding ms", number(governed.shed_ms, 0)),
        ("GB/s", format!("{:.2}", governed.gb_s)),
    ];
    let at_cap = [("optimum at the cap GB/s", against(at_cap))];
    let rest = [
        ("transitions per drive and hour", format!("{:.0}", governed.transitions_per_drive_hour)),
        ("alarms raised", governed.alarms.iter().filter(|alarm| alarm.raised).count().to_string()),
    ];
    for (name, value) in of_run.into_iter().chain(optima).chain(at_cap).chain(singles).chain(rest) {
        table.add_row([name.to_owned(), value]);
    }
    table.set_header::<[&str; 0]>([]);
    table
}

fn disturbances(sheds: &[Shed]) -> Table {
    let header =
        ["disturbance", "at s", "shed ms", "W over cap", "ms over cap", "W above cap - margin", "ms above (first 3 s)"];
    let mut table = table(&header, 1);
    for shed in sheds {
        table.add_row([
            shed.cause.clone(),
            format!("{:.1}", shed.at_s),
            number(shed.shed_ms, 0),
            format!("{:.1}", shed.over_w),
            format!("{:.0}", shed.over_ms),
            format!("{:.1}", shed.into_margin_w),
            format!("{:.0}", shed.into_margin_ms),
        ]);
    }
    table
}

pub(crate) fn calibration(calibration: &Calibration) -> String {
    let mut text = String::from(
        "P = idle + awake + energy x g + crowding x g^2, in watts at the wall for one drive that moves g GB/s\n",
    );
    let mut constants =
        table(&["work", "idle W", "awake W", "energy J/GB", "crowding W/(GB/s)^2", "in chassis J/GB"], 1);
    for kind in [Work::SequentialRead, Work::SequentialWrite] {
        let work = calibration.ssd.work[kind];
        constants.add_row([
            kind.to_string(),
            format!("{:.3}", calibration.ssd.idle_w),
            format!("{:.3}", work.awake_w),
            format!("{:.3}", work.energy_j_per_gb),
            format!("{:.3}", work.crowding_w),
            format!("{:.3} (guess)", work.chassis_j_per_gb),
        ]);
    }
    let mut fit = table(&["row", "article W", "fitted W", "off W", "regulation point W"], 1);
    let drives = f64::from(calibration.article.server.drives);
    for row in &calibration.article.row {
        let wall_w = calibration.ssd.work[row.work].wall_w(calibration.ssd.idle_w, row.gb_s / drives) * drives;
        let total_w = calibration.article.server.idle_no_drives_w + wall_w;
        fit.add_row([
            format!("{} PS{}", row.work, row.ps),
            format!("{:.0}", row.total_w),
            format!("{total_w:.1}"),
            format!("{:+.1}", total_w - row.total_w),
            format!("{:.2}", calibration.ssd.states[row.ps].limit_w[row.work]),
        ]);
    }
    let seen = &calibration.prediction;
    let off = |is: f64, should: f64| (is / should - 1.0) * 100.0;
    let _ = writeln!(text, "{constants}\n\n{fit}\n");
    let _ = writeln!(text, "sequential-write PS1, predicted from PS0 and PS2 alone:");
    let _ = writeln!(
        text,
        "  at the row's watts: {:.2} GB/s against {:.2} ({:+.1} %)",
        seen.gb_s,
        seen.article_gb_s,
        off(seen.gb_s, seen.article_gb_s)
    );
    let _ = writeln!(
        text,
        "  at the row's GB/s: {:.1} W against {:.0} ({:+.1} W, where the meter's step is {:.0} W)",
        seen.total_w,
        seen.article_w,
        seen.total_w - seen.article_w,
        calibration.article.server.meter_quantum_w
    );
    let _ = writeln!(
        text,
        "  a power law instead: {:.2} GB/s ({:+.1} %)",
        seen.power_law_gb_s,
        off(seen.power_law_gb_s, seen.article_gb_s)
    );
    text
}

/// A table whose first `words` columns hold words and whose others hold numbers.
fn table(header: &[&str], words: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(header);
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or(NONE.into(), |value| format!("{value:.decimals$}"))
}
