//! The study as a document.

use std::fmt::Write;

use wattline_core::apst::gaps::Gaps;
use wattline_core::nvme::PowerStateDescriptor;

use super::catalogue::PowerTable;
use super::drive::{Sleeper, Truth};
use super::families::Family;
use super::study::{Part, Policy, Result, Study};
use super::walk::{Cause, Polls, walk};
use crate::time::{SECOND, seconds};

/// The document.
#[must_use]
pub fn document(study: &Study, command: &str) -> String {
    let mut text = String::new();
    let _ = write(&mut text, study, command);
    text
}

fn write(text: &mut String, study: &Study, command: &str) -> std::fmt::Result {
    introduction(text, study, command)?;
    writeln!(text, "## Each policy on each family\n\nHeld-out gaps, transitions as assumed.")?;
    for family in Family::ALL {
        writeln!(text, "\n**{}**\n", sentence(family.name()))?;
        policies(text, study, family)?;
    }
    writeln!(text, "\n## If transitions cost something else\n")?;
    writeln!(
        text,
        "Energy relative to the clairvoyant who knows the true cost, held-out gaps: mean, and worst drive.\n"
    )?;
    truths(text, study)?;
    writeln!(text, "\n## Recorded and held-out gaps\n")?;
    histogram(text, study)?;
    writeln!(text, "\n## What is promised without a histogram\n")?;
    promises(text, study)?;
    writeln!(text, "\n## Polls\n")?;
    polls(text, study)?;
    writeln!(text, "\n## Each power table\n")?;
    each(text, study)
}

fn introduction(text: &mut String, study: &Study, command: &str) -> std::fmt::Result {
    let posts: usize = study.drives.iter().map(|drive| drive.posts).sum();
    let (tables, gaps, seed, next) = (study.drives.len(), study.gaps, study.seed, study.seed + 1);
    writeln!(
        text,
        "# Idle: what the policies cost\n\nWritten by `{command}`; change the program and not this file.\n"
    )?;
    paragraph(
        text,
        &format!(
            "{tables} distinct power tables of {posts} posts about drives with non-operational states; {gaps} gaps of \
             each of five families, with the seed {seed} (recorded: the histogram is made of them) and {next} (held \
             out). Active energy is left out. Every policy may make a command wait 100 ms, Linux' default; Windows is \
             balanced, on the mains. The clairvoyant knows each gap, and stays or goes at once to the best state \
             within the same bound. The model and its estimates are in `core/src/apst/energy/mod.rs`, the families in \
             `sim/src/idle/families.rs`."
        ),
    )?;
    paragraph(
        text,
        "Hardly any drive reports its idle powers. So **the watts here rest on a guess**: waiting in an operational \
         state takes a quarter of the least operational maximum. Ratios rest on it less than watts do. What a \
         transition costs is assumed as well; below it is a third and three times as much.",
    )?;
    paragraph(
        text,
        "*Of clairvoyant* is energy divided by the clairvoyant's: the mean over the power tables, and the worst of \
         them. *Wait* is what a command waits for the drive: the mean over commands and tables, and the longest. \
         *Wakes* are in an hour of gaps. The policy `energy` has no limit of wear here, and sends drives to sleep \
         more often than the others.",
    )?;
    if !study.left_out.is_empty() {
        let names: Vec<_> = study.left_out.iter().map(|drive| drive.name.as_str()).collect();
        paragraph(text, &format!("Left out, since they do not report enough: {}.", names.join(", ")))?;
    }
    Ok(())
}

fn policies(text: &mut String, study: &Study, family: Family) -> std::fmt::Result {
    writeln!(text, "| policy | mean mW | of clairvoyant: mean | worst | wait ms: mean | longest | wakes/h |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for policy in Policy::ALL {
        let results = study.of(family, policy, Part::HeldOut, Truth::Assumed);
        writeln!(
            text,
            "| {} | {:.1} | {:.3} | {:.2} | {:.2} | {:.1} | {:.0} |",
            policy.name(),
            mean(results.clone(), |result| result.milliwatts),
            mean(results.clone(), |result| result.of_clairvoyant),
            most(results.clone(), |result| result.of_clairvoyant),
            mean(results.clone(), |result| result.mean_wait_ms),
            most(results.clone(), |result| result.longest_wait_ms),
            mean(results, |result| result.wakes_per_hour),
        )?;
    }
    Ok(())
}

fn truths(text: &mut String, study: &Study) -> std::fmt::Result {
    writeln!(text, "| family | policy | a third | as assumed | three times |")?;
    writeln!(text, "|---|---|---|---|---|")?;
    for family in Family::ALL {
        for policy in &Policy::ALL[..Policy::ALL.len() - 1] {
            let cell = |truth| {
                let results = study.of(family, *policy, Part::HeldOut, truth);
                let ratio = |result: &Result| result.of_clairvoyant;
                format!("{:.2}, {:.2}", mean(results.clone(), ratio), most(results, ratio))
            };
            let cells = [Truth::Third, Truth::Assumed, Truth::Triple].map(cell);
            writeln!(text, "| {} | {} | {} |", family.name(), policy.name(), cells.join(" | "))?;
        }
    }
    Ok(())
}

fn histogram(text: &mut String, study: &Study) -> std::fmt::Result {
    paragraph(
        text,
        "Energy with the histogram, in percent of Linux': on the recorded gaps as the histogram holds them (lengths \
         rounded up), where no table of the same bound costs less; on the recorded gaps themselves; and on held-out \
         ones. *Less, equal, more* counts power tables.",
    )?;
    writeln!(
        text,
        "| family | as held: mean | least | most | less, equal, more | recorded: mean | most | held out: mean | most |"
    )?;
    writeln!(text, "|---|---|---|---|---|---|---|---|---|")?;
    for family in Family::ALL {
        let held: Vec<_> = study.held.iter().filter(|held| held.1 == family).collect();
        let percent: Vec<f64> = held.iter().map(|(_, _, ours, linux)| *ours as f64 / *linux as f64 * 100.0).collect();
        let count = |order| held.iter().filter(|(_, _, ours, linux)| ours.cmp(linux) == order).count();
        let counts = [std::cmp::Ordering::Less, std::cmp::Ordering::Equal, std::cmp::Ordering::Greater].map(count);
        let walked = |part| {
            let ours = study.of(family, Policy::EnergyWithHistogram, part, Truth::Assumed);
            let linux = study.of(family, Policy::Linux, part, Truth::Assumed);
            let percent: Vec<f64> = ours.zip(linux).map(|(a, b)| a.milliwatts / b.milliwatts * 100.0).collect();
            format!("{:.1} | {:.1}", average(&percent), largest(&percent))
        };
        writeln!(
            text,
            "| {} | {:.1} | {:.1} | {:.1} | {}, {}, {} | {} | {} |",
            family.name(),
            average(&percent),
            percent.iter().copied().fold(f64::INFINITY, f64::min),
            largest(&percent),
            counts[0],
            counts[1],
            counts[2],
            walked(Part::Recorded),
            walked(Part::HeldOut),
        )?;
    }
    Ok(())
}

fn promises(text: &mut String, study: &Study) -> std::fmt::Result {
    paragraph(
        text,
        "*Worst* is the most that the table costs on any gaps, divided by the clairvoyant's, computed exactly; *met* \
         the most in this study. Useful is a state that is the best one for some gap. With one, nothing lies on the \
         way down, and theory says 2, and a bit more where half a millisecond matters, since a table waits whole \
         ones. With n, every entry on the way is paid besides, and theory says n + 1; a state on the way that makes \
         it worse is left out.",
    )?;
    writeln!(text, "| useful states | power tables | one left out | theory | worst: mean | most | met |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for useful in 0..=3 {
        let drives: Vec<_> = (0..study.drives.len()).filter(|at| study.promises[*at].useful == useful).collect();
        if drives.is_empty() {
            continue;
        }
        let worst: Vec<f64> = drives.iter().map(|at| study.promises[*at].worst.0 as f64 / 1000.0).collect();
        let fewer = drives.iter().filter(|at| study.promises[**at].targets < useful).count();
        let met = study.results.iter().filter(|result| {
            result.policy == Policy::Energy && result.truth == Truth::Assumed && drives.contains(&result.drive)
        });
        let met = most(met, |result| result.of_clairvoyant);
        let (count, theory, mean, most) = (drives.len(), useful + 1, average(&worst), largest(&worst));
        writeln!(text, "| {useful} | {count} | {fewer} | {theory} | {mean:.3} | {most:.3} | {met:.3} |")?;
    }
    Ok(())
}

/// A steady hour without work, looked at now and then.
fn polls(text: &mut String, study: &Study) -> std::fmt::Result {
    // A drive whose idle powers are all reported; else the first.
    let reports = |drive: &&PowerTable| drive.states.iter().all(|state| state.idle_power.power().is_some());
    let Some(drive) = study.drives.iter().find(reports).or(study.drives.first()) else { return Ok(()) };
    let Some(sleeper) = Sleeper::new(&drive.drive()) else { return Ok(()) };
    paragraph(
        text,
        &format!(
            "An hour without work, {}: a poll is a command that wakes the drive (or is served where it is), takes 1 ms \
             and restarts its idle clock. Nothing but polls, and the work after the hour, wakes it.",
            drive.name
        ),
    )?;
    writeln!(text, "| poll every | linux: mW | wakes | energy: mW | wakes | energy, served asleep: mW | wakes |")?;
    writeln!(text, "|---|---|---|---|---|---|---|")?;
    for every in [None, Some(300), Some(60), Some(10), Some(1)] {
        let cell = |policy: Policy, wakes| {
            let polls = every.map(|every| Polls { every: every * SECOND, takes: 1000, wakes });
            let hour = walk(&sleeper, &policy.table(drive, &Gaps::new()), &[3600 * SECOND], polls);
            let milliwatts = sleeper.joules(hour.spent, Truth::Assumed) * 1000.0 / seconds(hour.idle);
            let woken = hour.wakes.iter().filter(|wake| wake.cause == Cause::Poll).count();
            format!("{milliwatts:.1} | {woken}")
        };
        let every = every.map_or("never".to_owned(), |every| format!("{every} s"));
        let cells = [cell(Policy::Linux, true), cell(Policy::Energy, true), cell(Policy::Energy, false)];
        writeln!(text, "| {every} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

fn each(text: &mut String, study: &Study) -> std::fmt::Result {
    paragraph(
        text,
        "Energy divided by the clairvoyant's, held-out gaps, transitions as assumed: mean over the five families. \
         *Worst* is the most that `energy` costs on any gaps. States: milliwatts, and entry and exit latency together \
         in milliseconds.",
    )?;
    writeln!(text, "| power table | posts | states | none | linux | windows | energy | worst | energy, histogram |")?;
    writeln!(text, "|---|---|---|---|---|---|---|---|---|")?;
    for (at, drive) in study.drives.iter().enumerate() {
        let own: Vec<_> = study.results.iter().filter(|result| result.drive == at).collect();
        let cell = |policy: Policy| {
            let results = own.iter().copied().filter(move |result| {
                (result.policy, result.part, result.truth) == (policy, Part::HeldOut, Truth::Assumed)
            });
            format!("{:.2}", mean(results, |result| result.of_clairvoyant))
        };
        let states: Vec<_> = drive.states.iter().filter(|state| state.non_operational).map(state).collect();
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {:.2} | {} |",
            drive.name.replace('|', "\\|"),
            drive.posts,
            states.join(", "),
            cell(Policy::None),
            cell(Policy::Linux),
            cell(Policy::Windows),
            cell(Policy::Energy),
            study.promises[at].worst.0 as f64 / 1000.0,
            cell(Policy::EnergyWithHistogram),
        )?;
    }
    Ok(())
}

/// Lines of at most this many letters.
const WIDTH: usize = 118;

fn paragraph(text: &mut String, words: &str) -> std::fmt::Result {
    let mut width = 0;
    for word in words.split(' ') {
        let length = word.chars().count();
        let separator = match width {
            0 => "",
            _ if width + 1 + length > WIDTH => "\n",
            _ => " ",
        };
        width = if separator == " " { width + 1 + length } else { length };
        write!(text, "{separator}{word}")?;
    }
    writeln!(text, "\n")
}

fn state(state: &PowerStateDescriptor) -> String {
    let power = state.idle_power.power().or(state.max_power).map_or(0, |power| power.tenths_of_milliwatt());
    let latency = state.round_trip_latency().unwrap_or_default().get();
    format!("{} at {}", f64::from(power) / 10.0, latency as f64 / 1000.0)
}

fn sentence(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn mean<'a>(results: impl Iterator<Item = &'a Result>, of: impl Fn(&Result) -> f64) -> f64 {
    average(&results.map(of).collect::<Vec<_>>())
}

fn most<'a>(results: impl Iterator<Item = &'a Result>, of: impl Fn(&Result) -> f64) -> f64 {
    results.map(of).fold(0.0, f64::max)
}

fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
