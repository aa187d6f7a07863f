//! What can be asked of `plan`, and how it is written.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use wattline_core::profile::Work;
use wattline_core::units::Milliwatts;

use super::cap::MAX_DRIVES;
use super::{CapQuestion, SpareQuestion};
use crate::profile::Source;

/// Plan power states by the figures of a profile.
///
/// With --cap: how many drives in which state keep a server under a cap, what they draw and give, and what the best
/// single state for all of them would give. With --spare: how many more drives fit into some watts.
#[derive(Debug, clap::Args)]
#[command(after_help = MORE, group = clap::ArgGroup::new("question").required(true).args(["cap", "spare"]))]
pub struct Arguments {
    /// A built-in profile (d5-p5336) or a TOML file; `-` is standard input
    #[arg(long, value_name = "NAME|FILE")]
    pub(super) profile: Source,
    /// What all drives do, at full load
    #[arg(long, value_name = "KIND", value_parser = work())]
    pub(super) work: Work,
    /// How many drives there are: with --cap all that work, with --spare those that are there already
    #[arg(long, value_name = "N", allow_negative_numbers = true, required_unless_present = "spare")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_DRIVES)))]
    drives: Option<u16>,
    /// Plan for a server that may draw this much
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = some_watts)]
    cap: Option<Milliwatts>,
    /// What the server draws without drives [default: the profile's reference server]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = watts, conflicts_with = "spare")]
    base: Option<Milliwatts>,
    /// What to keep free below the cap, for what figures and meter are not good to [default: 0]
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = watts, conflicts_with = "spare")]
    margin: Option<Milliwatts>,
    /// Plan what to add for this much more
    #[arg(long, value_name = "W", allow_hyphen_values = true, value_parser = some_watts)]
    spare: Option<Milliwatts>,
    /// Write JSON instead of text: watts (_w), GB/s (_gb_s) and TB (_tb) as numbers, null for what is not known
    #[arg(long)]
    pub(super) json: bool,
}

const MORE: &str = "\
Examples:
  24 drives that all write, in a server that may draw 1050 W:
    wattline plan --profile d5-p5336 --work sequential-write --drives 24 --cap 1050
  The same in another server, 30 W kept free, and only the assignment:
    wattline plan --profile d5-p5336 --work sequential-write --drives 24 --cap 900 --base 310W \\
      --margin 30 --json | jq .assignment
  200 W became free, and 12 drives are there:
    wattline plan --profile d5-p5336 --work sequential-read --spare 200 --drives 12

Watts are written 1050, 1050.5 or 1050W, up to 100 kW. A plan trusts the profile's measurements, in
the watts of the meter that they were made with. States without a measurement of this kind of work
are left out. With --spare, the drives that are there already keep what they draw.

A profile file, at its shortest (PROFILES.md in the source has every key):
  name = \"my-drive\"
  capacity_gb = 15360                # for TB
  reference_base_mw = 310000         # for --base

  [[states]]                         # PS0; repeat for PS1 and so on
  [states.measured]                  # one drive: what it adds to the meter, and what it gives
  sequential-write = { power_mw = 24500, bytes_per_second = 6900000000 }
  sequential-read = { power_mw = 17000, bytes_per_second = 7100000000, limited_by_fabric = true }

Exit status: 0 on success, 1 where even all drives in the lowest state exceed the cap, 2 where the
input or the arguments are wrong. With 1, standard error has the missing watts, and so has JSON:
`missing_w`, and `missing_to_cap_w` without the margin.";

/// Which of the two.
pub(super) enum Question {
    Cap(CapQuestion),
    Spare(SpareQuestion),
}

impl Arguments {
    /// clap has made sure that there is either `--spare`, or `--cap` and `--drives`.
    pub(super) fn question(&self) -> Question {
        let work = self.work;
        if let Some(spare) = self.spare {
            return Question::Spare(SpareQuestion { work, spare, drives: self.drives });
        }
        Question::Cap(CapQuestion {
            work,
            drives: self.drives.unwrap_or_default(),
            cap: self.cap.unwrap_or_default(),
            margin: self.margin.unwrap_or_default(),
            base: self.base,
        })
    }
}

fn work() -> impl TypedValueParser<Value = Work> {
    PossibleValuesParser::new(Work::ALL.map(Work::name)).try_map(|name| name.parse::<Work>())
}

/// The most watts that are taken: 100 kW, more than a rack of servers draws.
const MAX_WATTS: Milliwatts = Milliwatts::from_watts(100_000);

fn watts(text: &str) -> Result<Milliwatts, String> {
    if let Some(positive) = text.strip_prefix('-')
        && positive.parse::<Milliwatts>().is_ok()
    {
        return Err("watts cannot be negative".to_owned());
    }
    match text.parse() {
        Ok(watts) if watts > MAX_WATTS => Err("more than 100 kW".to_owned()),
        Ok(watts) => Ok(watts),
        Err(error) => Err(error.to_string()),
    }
}

fn some_watts(text: &str) -> Result<Milliwatts, String> {
    match watts(text)? {
        Milliwatts::ZERO => Err("0 W leaves nothing to plan".to_owned()),
        watts => Ok(watts),
    }
}
