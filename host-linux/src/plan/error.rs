//! Why there is no plan.

use thiserror::Error;
use wattline_core::profile::Work;

use crate::profile::ProfileError;

/// Why there is no plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// No profile.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// No operational state was measured in this kind of work.
    #[error("profile {profile} has no measurement of {work}")]
    NotMeasured {
        /// The profile's name.
        profile: String,
        /// What was asked for.
        work: Work,
        /// What there is.
        measured: Vec<Work>,
    },
    /// A cap without a base.
    #[error("profile {profile} has no reference server, so the server without drives is not known")]
    NoBase {
        /// The profile's name.
        profile: String,
    },
}

impl PlanError {
    /// What to do next.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Profile(error) => error.help().to_owned(),
            Self::NotMeasured { measured, .. } if measured.is_empty() => {
                "it has no measurements at all; add them to its file: `wattline plan --help` shows one".to_owned()
            }
            Self::NotMeasured { measured, .. } => {
                let names: Vec<_> = measured.iter().map(|work| work.name()).collect();
                format!("it has {}; another kind has to be measured first", names.join(" and "))
            }
            Self::NoBase { .. } => "say it with `--base W`, or with `reference_base_mw` in the profile".to_owned(),
        }
    }
}
