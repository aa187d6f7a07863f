//! Checkers: they judge the true watts and what was on the wire, and share no code with the policy.
//!
//! | room | what it judges |
//! |---|---|
//! | [`window`] | the mean of the true watts over any second |
//! | [`shed`] | how long each disturbance took to shed, and what it went over the cap by |
//! | [`figures`] | what a drive counts for: the checkers' own reading of the rule |
//! | [`ledger`] | that no raise was promised out of watts that were not there |
//! | [`endurance`] | that work goes on, alarms are raised, and everything is in order at the end |
//! | [`fairness`] | that equal drives get equal shares |
//! | [`verdicts`] | from what they found to what is printed |

pub mod endurance;
pub mod fairness;
pub mod figures;
pub mod ledger;
pub mod shed;
pub mod verdicts;
pub mod window;

use serde::Serialize;

/// One thing that had to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// A short name.
    pub name: String,
    /// It holds.
    pub ok: bool,
    /// By what figures.
    pub detail: String,
}

impl Check {
    /// A check with its verdict.
    pub fn new(name: impl Into<String>, ok: bool, detail: impl Into<String>) -> Self {
        Self { name: name.into(), ok, detail: detail.into() }
    }
}
