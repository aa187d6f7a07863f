//! The command line: what was asked for, and in which words it is answered.

mod progress;
#[cfg(feature = "serve")]
mod serve;
mod tables;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Parser, Subcommand};
use wattline_core::units::Milliwatts;
use wattline_sim::calibration::Calibration;
use wattline_sim::outcome::{self, Outcome};
use wattline_sim::policy::Wrong;
use wattline_sim::scenario::value::{Cap, parse_cap};
use wattline_sim::scenario::{self, Scenario, ScenarioError, builtin};
use wattline_sim::trace::Trace;
use wattline_sim::{faults, heat, idle};

/// Where the demo puts its report.
const DEMO_REPORT: &str = "wattline-report.html";
/// The cap of the demo's governed run.
const DEMO_CAP: Milliwatts = Milliwatts::from_watts(1050);

/// Runs scenarios of virtual NVMe drives in a virtual server, under the real governor.
///
/// Without a command: the demo, which repeats the reference experiment and then governs it at 1050 W.
/// The exit status is 0 if everything held that was expected, 1 if something did not, 2 for wrong input.
#[derive(Debug, Parser)]
#[command(version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Lists the built-in scenarios.
    List,
    /// Runs a scenario.
    ///
    /// The exit status is 0 if everything held that was expected, 1 if something did not, 2 for wrong input.
    #[command(after_help = EXAMPLES)]
    Run(RunArguments),
    /// Shows how the model was calibrated, and how well its form predicts a row that it has not seen.
    Calibrate,
    /// Prints, as Markdown, what idle drives cost under each policy: for every power table in a file of posted ones.
    IdleStudy(IdleStudyArguments),
    /// Prints, as Markdown, the scenarios of faults, and how the wrong policy that each is against fails it.
    Faults,
    /// Prints, as Markdown, what policies against heat come to: nothing, the drive's own, an on/off throttle, and ours.
    HeatStudy(HeatStudyArguments),
    /// Serves a scenario's drives by NVMe/TCP, and its server's meter by Redfish, in real time.
    ///
    /// For software that knows nothing of this: the Linux kernel, nvme-cli, fio. Nothing asks hosts for a password, so
    /// only this machine can connect. Ends when it is killed.
    #[cfg(feature = "serve")]
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::ServeArguments),
}

#[derive(Debug, Args)]
struct HeatStudyArguments {
    /// Seed of all chance, instead of 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct IdleStudyArguments {
    /// JSON file of power tables.
    #[arg(value_name = "FILE.json")]
    catalogue: PathBuf,
    /// Seed of the recorded gaps, instead of 1; the held-out ones have the next.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Gaps of each family, 1 to 1000000.
    #[arg(long, value_name = "N", default_value_t = 4000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    gaps: u32,
}

const EXAMPLES: &str = "\
Examples:
  wattline-sim run r760-write-cap --cap 900
  wattline-sim run r760-cap-drop --seed 7 --report drop.html --journal drop.journal
  wattline-sim run half-and-half.toml --json";

#[derive(Debug, Args)]
struct RunArguments {
    /// Name of a built-in scenario, or path of a TOML file.
    scenario: String,
    /// Cap in watts, instead of the scenario's: 1050, 1050.5 or 1050W.
    #[arg(long, value_name = "W", value_parser = parse_cap, allow_hyphen_values = true)]
    cap: Option<Milliwatts>,
    /// Seed of all chance, instead of 1.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Prints JSON instead of tables.
    #[arg(long)]
    json: bool,
    /// Writes a report as one self-contained HTML file.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Lets a policy govern that does this one thing wrong, to see the checks fail.
    #[arg(long, value_name = "NAME", value_parser = wrong)]
    wrong: Option<Wrong>,
    /// Writes the governor's journal.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
}

/// Why nothing was run, or its result could not be handed over.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error("--{option} is for governed scenarios, and `{scenario}` has no `[governor]`")]
    NotGoverned { option: &'static str, scenario: String },
    #[error(
        "{scenario}: nothing is to happen: there is no `job`, no `row` and no `governor`; such drives can only be served"
    )]
    Empty { scenario: String },
    #[error("{} is named twice, as {one} and as {other}: one would overwrite the other", path.display())]
    SameFile { path: PathBuf, one: &'static str, other: &'static str },
    #[error("cannot write the {what} to {}: {source}", path.display())]
    Unwritable { what: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot read {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: no list of power tables: {source}", path.display())]
    NoCatalogue { path: PathBuf, source: serde_json::Error },
    #[cfg(feature = "serve")]
    #[error(transparent)]
    Serve(#[from] wattline_sim::serve::ServeError),
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
    #[error("cannot express the result as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Does what was asked for; true if everything held that was expected.
pub(crate) fn execute(arguments: &Arguments) -> Result<bool, CliError> {
    let calibration = Calibration::embedded();
    match &arguments.command {
        None => demo(&calibration),
        Some(Command::List) => {
            print(&tables::list(&builtin_scenarios()?))?;
            Ok(true)
        }
        Some(Command::Calibrate) => {
            print(&tables::calibration(&calibration))?;
            Ok(true)
        }
        Some(Command::IdleStudy(study)) => {
            print(&idle_study(study)?)?;
            Ok(true)
        }
        Some(Command::Faults) => {
            print(&faults::markdown(1)?)?;
            Ok(true)
        }
        Some(Command::HeatStudy(study)) => {
            print(&heat_study(study)?)?;
            Ok(true)
        }
        #[cfg(feature = "serve")]
        Some(Command::Serve(arguments)) => serve::run(arguments, &calibration),
        Some(Command::Run(run)) => run_scenario(run, &calibration),
    }
}

fn idle_study(arguments: &IdleStudyArguments) -> Result<String, CliError> {
    let IdleStudyArguments { catalogue: path, seed, gaps } = arguments;
    let unreadable = |source| CliError::Unreadable { path: path.clone(), source };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let tables = idle::catalogue::read(&text).map_err(|source| CliError::NoCatalogue { path: path.clone(), source })?;
    let mut command = format!("wattline-sim idle-study {}", path.display());
    if *seed != 1 {
        command += &format!(" --seed {seed}");
    }
    if *gaps != 4000 {
        command += &format!(" --gaps {gaps}");
    }
    Ok(idle::markdown::document(&idle::study::run(tables, *seed, *gaps as usize), &command))
}

fn heat_study(arguments: &HeatStudyArguments) -> Result<String, CliError> {
    let mut command = "wattline-sim heat-study".to_owned();
    if arguments.seed != 1 {
        command += &format!(" --seed {}", arguments.seed);
    }
    Ok(heat::markdown::document(&heat::study::run(arguments.seed)?, &command))
}

fn demo(calibration: &Calibration) -> Result<bool, CliError> {
    let article = scenario::load("r760-article")?;
    let (rows, _) = outcome::run(&article, calibration, 1, |_| {});
    print(&tables::outcome(&article, &rows))?;
    let governed = with_cap(scenario::load("r760-write-cap")?, Some(DEMO_CAP))?;
    let (outcome, trace) = simulate(&governed, calibration, 1, None);
    print(&tables::outcome(&governed, &outcome))?;
    let report = Path::new(DEMO_REPORT);
    write_report(report, &governed, &outcome, trace.as_ref(), &rows)?;
    print(&format!("Report: {}\n", fs::canonicalize(report).unwrap_or_else(|_| report.into()).display()))?;
    Ok(rows.holds() && outcome.holds())
}

fn run_scenario(arguments: &RunArguments, calibration: &Calibration) -> Result<bool, CliError> {
    let scenario = with_cap(scenario::load(&arguments.scenario)?, arguments.cap)?;
    if scenario.is_empty() {
        return Err(CliError::Empty { scenario: scenario.name });
    }
    if arguments.journal.is_some() && scenario.governor.is_none() {
        return Err(CliError::NotGoverned { option: "journal", scenario: scenario.name });
    }
    check_files(arguments)?;
    if arguments.wrong.is_some() && scenario.governor.is_none() {
        return Err(CliError::NotGoverned { option: "wrong", scenario: scenario.name });
    }
    let (outcome, trace) = simulate(&scenario, calibration, arguments.seed, arguments.wrong);
    if arguments.json {
        print(&(serde_json::to_string_pretty(&outcome)? + "\n"))?;
    } else {
        print(&tables::outcome(&scenario, &outcome))?;
    }
    if let Some(path) = &arguments.report {
        write_report(path, &scenario, &outcome, trace.as_ref(), &outcome)?;
    }
    if let (Some(path), Some(trace)) = (&arguments.journal, &trace) {
        write(path, "journal", &trace.journal)?;
    }
    for check in outcome.checks.iter().filter(|check| !check.ok) {
        // Nobody may be listening, which changes nothing of what it came to.
        let _ = writeln!(io::stderr(), "{}: {}", check.name, check.detail);
    }
    Ok(outcome.holds())
}

/// That what is asked for can be written, before a run that may be long, and overwrites nothing that is needed.
fn check_files(arguments: &RunArguments) -> Result<(), CliError> {
    let files = [("report", &arguments.report), ("journal", &arguments.journal)];
    let wanted = files.into_iter().filter_map(|(what, path)| path.as_ref().map(|path| (what, path.as_path())));
    let mut named: Vec<(&'static str, PathBuf)> = regular(Path::new(&arguments.scenario))
        .filter(|_| builtin::text(&arguments.scenario).is_none())
        .map(|path| ("scenario", path))
        .into_iter()
        .collect();
    for (what, path) in wanted {
        let opened = fs::OpenOptions::new().append(true).create(true).open(path);
        opened.map_err(|source| CliError::Unwritable { what, path: path.into(), source })?;
        let Some(file) = regular(path) else { continue };
        if let Some((one, _)) = named.iter().find(|(_, known)| *known == file) {
            return Err(CliError::SameFile { path: path.into(), one, other: what });
        }
        named.push((what, file));
    }
    Ok(())
}

/// A file's one true path; none of what is no file, such as `/dev/null`.
fn regular(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.is_file())
}

fn with_cap(mut scenario: Scenario, cap: Option<Milliwatts>) -> Result<Scenario, CliError> {
    let Some(cap) = cap else { return Ok(scenario) };
    match &mut scenario.governor {
        Some(governor) => governor.cap_w = Cap(cap),
        None => return Err(CliError::NotGoverned { option: "cap", scenario: scenario.name }),
    }
    Ok(scenario)
}

/// A wrong policy by its name.
fn wrong(name: &str) -> Result<Wrong, String> {
    let known = || Wrong::ALL.map(Wrong::name).join(", ");
    Wrong::named(name).ok_or_else(|| format!("there are {}", known()))
}

fn simulate(
    scenario: &Scenario,
    calibration: &Calibration,
    seed: u64,
    wrong: Option<Wrong>,
) -> (Outcome, Option<Trace>) {
    let mut progress = progress::Progress::new(scenario.duration_s.micros());
    let result = outcome::run_under(scenario, calibration, seed, wrong, |now| progress.reach(now));
    progress.finish();
    result
}

fn builtin_scenarios() -> Result<Vec<Scenario>, ScenarioError> {
    builtin::ALL.iter().map(|(name, text)| scenario::parse(name, text)).collect()
}

fn write_report(
    path: &Path,
    scenario: &Scenario,
    outcome: &Outcome,
    trace: Option<&Trace>,
    rows: &Outcome,
) -> Result<(), CliError> {
    let page = wattline_sim::report::page(scenario, outcome, trace, &rows.rows);
    write(path, "report", page.as_bytes())
}

fn write(path: &Path, what: &'static str, bytes: &[u8]) -> Result<(), CliError> {
    fs::write(path, bytes).map_err(|source| CliError::Unwritable { what, path: path.into(), source })
}

/// Prints; a reader that has had enough (`wattline-sim list | head -1`) is no error.
fn print(text: &str) -> Result<(), CliError> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
