//! The subcommand `plan`: which power states a set of drives can afford, by the figures of a profile.
//!
//! | room | what it knows |
//! |---|---|
//! | `arguments` | what can be asked, and how watts and drives are written |
//! | `figures` | what one drive costs and gives, for one kind of work |
//! | `cap` | how many drives in which state under a cap; the core's allocator decides |
//! | `spare` | how many more drives in each state for some watts |
//! | `json`, `text` | the answers for programs and for people |
//!
//! A figure is the measured one, in the watts of the meter that measured it: a plan trusts measurement. Where
//! something outside the drive limited a measurement, it counts as measured, and the answer says so.

mod arguments;
mod cap;
mod error;
mod figures;
mod json;
mod quantity;
mod spare;
mod text;

pub use self::arguments::Arguments;
use self::arguments::Question;
pub use self::cap::{Base, CapPlan, CapQuestion, Load, Sharing, Shortfall, Uniform};
pub use self::error::PlanError;
pub use self::figures::{Figure, Figures};
pub use self::json::{CapDocument, SpareDocument};
pub use self::quantity::Gigabytes;
pub use self::spare::{MoreDrives, SparePlan, SpareQuestion};
pub use self::text::{cap_text, spare_text};
use crate::outcome::{Complaint, Exit, Outcome};

/// Answers the question, or says what is wrong with it.
#[must_use]
pub fn run(arguments: &Arguments) -> Outcome {
    answer(arguments).unwrap_or_else(|error| Outcome::failed(Complaint::error(&error, error.help()), Exit::WrongInput))
}

fn answer(arguments: &Arguments) -> Result<Outcome, PlanError> {
    let profile = arguments.profile.load()?;
    match arguments.question() {
        Question::Cap(question) => {
            let plan = CapPlan::new(&profile, question)?;
            let output = if arguments.json { CapDocument::from(&plan).to_string() } else { cap_text(&plan) };
            Ok(match plan.shortfall() {
                None => Outcome { output, ..Outcome::default() },
                // The question was sound, but no plan fits.
                Some(shortfall) => {
                    let help = shortfall.help();
                    let complaint = Complaint::error(shortfall, help);
                    Outcome { output, complaints: vec![complaint], exit: Exit::NotDone }
                }
            })
        }
        Question::Spare(question) => {
            let plan = SparePlan::new(&profile, question)?;
            let output = if arguments.json { SpareDocument::from(&plan).to_string() } else { spare_text(&plan) };
            Ok(Outcome { output, ..Outcome::default() })
        }
    }
}
