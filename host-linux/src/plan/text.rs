//! Plans for people.

use comfy_table::{CellAlignment, Table};
use wattline_core::nvme::PowerState;
use wattline_core::units::BytesPerSecond;

use super::quantity::{gb_s_for_people, power, rounded, terabytes, throughput};
use super::{Base, CapPlan, Figures, Gigabytes, Load, MoreDrives, Sharing, SparePlan};
use crate::decimal::Decimal;
use crate::quantity::shown;
use crate::table::{lines, table};

/// A plan under a cap as text; nothing where there is none, because the shortfall says it all.
#[must_use]
pub fn cap_text(plan: &CapPlan) -> String {
    let Some(sharing) = &plan.sharing else { return String::new() };
    let question = &plan.question;
    let title = format!("{}, {}, profile {}\n", count(question.drives.into()), question.work, plan.figures.profile);
    let mut parts = vec![title, limits(plan), drives_by_state(&plan.figures, sharing), comparison(sharing)];
    parts.extend(notes(&plan.figures));
    parts.join("\n")
}

fn limits(plan: &CapPlan) -> String {
    let origin = match plan.base {
        Base::Said(_) => "the server without drives, as given",
        Base::Reference(_) => "the server without drives: the profile's reference server",
    };
    let mut table = table();
    table.add_row(["cap", &plan.question.cap.to_string()]);
    table.add_row(["base", &plan.base.power().to_string(), origin]);
    table.add_row(["margin", &plan.question.margin.to_string()]);
    right(&mut table, 1..2);
    lines(&table)
}

fn drives_by_state(figures: &Figures, sharing: &Sharing) -> String {
    let mut table = table();
    table.set_header(["PS", "drives", "power\nof one", "\nof all", "throughput\nof one", "\nof all"]);
    for (figure, drives) in figures.states.iter().zip(&sharing.drives) {
        table.add_row([
            figure.state.to_string(),
            drives.to_string(),
            figure.power.to_string(),
            power(figure.power, (*drives).into()).to_string(),
            rate(figure.throughput),
            rate(throughput(figure.throughput, (*drives).into())),
        ]);
    }
    right(&mut table, 1..6);
    lines(&table)
}

fn comparison(sharing: &Sharing) -> String {
    let Sharing { load, uniform, .. } = sharing;
    let row = |name: &str, load: &Load| [name.to_owned(), load.total.to_string(), rate(load.throughput)];
    let mut table = table();
    table.set_header(["", "power with base", "throughput"]);
    table.add_row(row("this plan", load));
    table.add_row(row(&format!("best uniform state, {}", uniform.state), &uniform.load));
    right(&mut table, 1..3);
    lines(&table) + &verdict(load.throughput, uniform.load.throughput)
}

fn verdict(plan: BytesPerSecond, uniform: BytesPerSecond) -> String {
    let more = plan.saturating_sub(uniform).get();
    if more == 0 {
        return "The plan gives what the best uniform state gives.\n".to_owned();
    }
    let percent = Decimal::<1>(rounded(more.saturating_mul(1000), uniform.get().max(1)));
    format!("The plan gives {percent} % more throughput than the best uniform state.\n")
}

/// Drives for spare watts as text.
#[must_use]
pub fn spare_text(plan: &SparePlan) -> String {
    let question = &plan.question;
    let mut title = format!("{} more, {}, profile {}\n", question.spare, question.work, plan.figures.profile);
    if let Some(drives) = question.drives {
        let drives = u32::from(drives);
        title += &match plan.capacity {
            Some(of_one) => format!("already there: {}, {} TB\n", count(drives), terabytes(of_one.times(drives))),
            None => format!("already there: {}\n", count(drives)),
        };
    }
    let mut parts = vec![title, more_by_state(plan)];
    parts.extend(notes(&plan.figures));
    parts.join("\n")
}

fn more_by_state(plan: &SparePlan) -> String {
    let mut header =
        vec!["PS", "power\nof one", "\nper TB", "more\ndrives", "\nexactly", "\npower", "\nthroughput", "\ncapacity"];
    if plan.question.drives.is_some() {
        header.extend(["in all\ndrives", "\ncapacity"]);
    }
    let columns = header.len();
    let mut table = table();
    table.set_header(header);
    for more in &plan.states {
        table.add_row(more_row(plan, more));
    }
    right(&mut table, 1..columns);
    lines(&table)
}

fn more_row(plan: &SparePlan, more: &MoreDrives) -> Vec<String> {
    let mut row = vec![
        more.figure.state.to_string(),
        more.figure.power.to_string(),
        shown(plan.watts_per_terabyte(&more.figure).map(|power| power.to_string())),
        more.drives.to_string(),
        more.quotient().to_string(),
        more.power.to_string(),
        rate(more.throughput),
        capacity(plan.capacity, more.drives),
    ];
    if let Some(in_all) = plan.in_all(more) {
        row.extend([in_all.to_string(), capacity(plan.capacity, in_all)]);
    }
    row
}

/// What has to be known about the figures.
fn notes(figures: &Figures) -> Vec<String> {
    let limited = figures.states.iter().filter(|figure| figure.limited_by_fabric);
    let limited: Vec<_> = limited.map(|figure| figure.state).collect();
    let mut notes = Vec::new();
    if !limited.is_empty() {
        notes.push(format!("{}: {LIMITED}", listed(&limited)));
    }
    if !figures.not_measured.is_empty() {
        let (states, work) = (listed(&figures.not_measured), figures.work);
        notes.push(format!("{states}: left out, because the profile has no measurement of {work} there.\n"));
    }
    notes
}

const LIMITED: &str = "\
measured where a PCIe switch or the like limited the drives, not the drives themselves.
Elsewhere, or with fewer drives behind such a limit, each may draw more and give more. What a switch
lets through is not modelled: here, throughput grows with every drive.
";

fn listed(states: &[PowerState]) -> String {
    states.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn count(drives: u32) -> String {
    if drives == 1 { "1 drive".to_owned() } else { format!("{drives} drives") }
}

fn rate(throughput: BytesPerSecond) -> String {
    format!("{} GB/s", gb_s_for_people(throughput))
}

fn capacity(of_one: Option<Gigabytes>, drives: u32) -> String {
    shown(of_one.map(|of_one| format!("{} TB", terabytes(of_one.times(drives)))))
}

fn right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in table.column_iter_mut().skip(columns.start).take(columns.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
