//! Plans for programs.

use std::fmt;

use serde::{Serialize, Serializer};
use wattline_core::nvme::PowerState;
use wattline_core::profile::Work;

use super::quantity::{gb_s, power, terabytes, throughput, watts};
use super::{CapPlan, Figure, Gigabytes, Load, MoreDrives, SparePlan};
use crate::decimal::Decimal;

type Watts = Decimal<3>;
type GigabytesPerSecond = Decimal<6>;
type Terabytes = Decimal<3>;

/// The document that `plan --cap --json` writes. What no plan fits is `null`, and then `missing_w` is above 0.
#[derive(Debug, Serialize)]
pub struct CapDocument<'a> {
    profile: &'a str,
    work: Work,
    drives: u16,
    cap_w: Watts,
    margin_w: Watts,
    base_w: Watts,
    assignment: Option<ByState<u16>>,
    total_w: Option<Watts>,
    gb_s: Option<GigabytesPerSecond>,
    uniform: Option<Uniform>,
    lowest: Uniform,
    missing_w: Watts,
    missing_to_cap_w: Watts,
    states: Vec<CapState>,
    not_measured: &'a [PowerState],
}

/// All drives in one state.
#[derive(Debug, Serialize)]
struct Uniform {
    ps: PowerState,
    total_w: Watts,
    gb_s: GigabytesPerSecond,
}

/// A state's drives under the cap; without a plan only what one drive costs and gives.
#[derive(Debug, Serialize)]
struct CapState {
    #[serde(flatten)]
    one: One,
    drives: Option<u16>,
    drives_w: Option<Watts>,
    drives_gb_s: Option<GigabytesPerSecond>,
}

/// One drive.
#[derive(Debug, Serialize)]
struct One {
    ps: PowerState,
    drive_w: Watts,
    drive_gb_s: GigabytesPerSecond,
    limited_by_fabric: bool,
}

/// The document that `plan --spare --json` writes.
#[derive(Debug, Serialize)]
pub struct SpareDocument<'a> {
    profile: &'a str,
    work: Work,
    spare_w: Watts,
    drives: Option<u16>,
    tb: Option<Terabytes>,
    more_drives: ByState<u32>,
    states: Vec<SpareState>,
    not_measured: &'a [PowerState],
}

/// A state's drives for the spare watts.
#[derive(Debug, Serialize)]
struct SpareState {
    #[serde(flatten)]
    one: One,
    w_per_tb: Option<Watts>,
    quotient: Decimal<2>,
    more_drives: u32,
    more_w: Watts,
    more_gb_s: GigabytesPerSecond,
    more_tb: Option<Terabytes>,
    drives_in_all: Option<u32>,
    tb_in_all: Option<Terabytes>,
}

impl<'a> From<&'a CapPlan> for CapDocument<'a> {
    fn from(plan: &'a CapPlan) -> Self {
        let (figures, sharing, shortfall) = (&plan.figures, plan.sharing.as_ref(), plan.shortfall());
        let counted = |(position, figure): (usize, &Figure)| {
            CapState::new(figure, sharing.and_then(|sharing| sharing.drives.get(position).copied()))
        };
        let states: Vec<_> = figures.states.iter().enumerate().map(counted).collect();
        Self {
            profile: &figures.profile,
            work: figures.work,
            drives: plan.question.drives,
            cap_w: watts(plan.question.cap),
            margin_w: watts(plan.question.margin),
            base_w: watts(plan.base.power()),
            assignment: states
                .iter()
                .map(|state| Some((state.one.ps, state.drives?)))
                .collect::<Option<_>>()
                .map(ByState),
            total_w: sharing.map(|sharing| watts(sharing.load.total)),
            gb_s: sharing.map(|sharing| gb_s(sharing.load.throughput)),
            uniform: sharing.map(|sharing| Uniform::new(sharing.uniform.state, sharing.uniform.load)),
            lowest: Uniform::new(plan.lowest.state, plan.lowest.load),
            missing_w: watts(shortfall.map(|shortfall| shortfall.missing).unwrap_or_default()),
            missing_to_cap_w: watts(shortfall.map(|shortfall| shortfall.missing_to_cap).unwrap_or_default()),
            states,
            not_measured: &figures.not_measured,
        }
    }
}

impl Uniform {
    fn new(ps: PowerState, load: Load) -> Self {
        Self { ps, total_w: watts(load.total), gb_s: gb_s(load.throughput) }
    }
}

impl CapState {
    fn new(figure: &Figure, drives: Option<u16>) -> Self {
        Self {
            one: One::from(figure),
            drives,
            drives_w: drives.map(|drives| watts(power(figure.power, drives.into()))),
            drives_gb_s: drives.map(|drives| gb_s(throughput(figure.throughput, drives.into()))),
        }
    }
}

impl From<&Figure> for One {
    fn from(figure: &Figure) -> Self {
        Self {
            ps: figure.state,
            drive_w: watts(figure.power),
            drive_gb_s: gb_s(figure.throughput),
            limited_by_fabric: figure.limited_by_fabric,
        }
    }
}

impl<'a> From<&'a SparePlan> for SpareDocument<'a> {
    fn from(plan: &'a SparePlan) -> Self {
        Self {
            profile: &plan.figures.profile,
            work: plan.figures.work,
            spare_w: watts(plan.question.spare),
            drives: plan.question.drives,
            tb: tb(plan.capacity, plan.question.drives.map(u32::from)),
            more_drives: ByState(plan.states.iter().map(|more| (more.figure.state, more.drives)).collect()),
            states: plan.states.iter().map(|more| SpareState::new(plan, more)).collect(),
            not_measured: &plan.figures.not_measured,
        }
    }
}

impl SpareState {
    fn new(plan: &SparePlan, more: &MoreDrives) -> Self {
        let in_all = plan.in_all(more);
        Self {
            one: One::from(&more.figure),
            w_per_tb: plan.watts_per_terabyte(&more.figure).map(watts),
            quotient: more.quotient(),
            more_drives: more.drives,
            more_w: watts(more.power),
            more_gb_s: gb_s(more.throughput),
            more_tb: tb(plan.capacity, Some(more.drives)),
            drives_in_all: in_all,
            tb_in_all: tb(plan.capacity, in_all),
        }
    }
}

fn tb(of_one: Option<Gigabytes>, drives: Option<u32>) -> Option<Terabytes> {
    Some(terabytes(of_one?.times(drives?)))
}

/// A value for each state, in their order: `{"ps0": 21, "ps1": 1}`.
#[derive(Debug)]
struct ByState<T>(Vec<(PowerState, T)>);

impl<T: Serialize> Serialize for ByState<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(state, value)| (format!("ps{}", state.number()), value)))
    }
}

/// Indented, and with a line end.
impl fmt::Display for CapDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pretty(self, f)
    }
}

/// Indented, and with a line end.
impl fmt::Display for SpareDocument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        pretty(self, f)
    }
}

fn pretty(document: &impl Serialize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let text = serde_json::to_string_pretty(document).map_err(|_| fmt::Error)?;
    writeln!(f, "{text}")
}
