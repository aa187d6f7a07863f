//! What a drive's firmware makes of Set Features and Get Features (02h).

use serde::Deserialize;

/// How a drive that accepts every state and enters none behaves when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stubbornness {
    /// It names the state that it is in.
    Ignores,
    /// It names the state that it accepted.
    Pretends,
}

/// One drive's firmware.
#[derive(Clone, Copy, Debug, Default)]
pub struct Firmware {
    stubborn: Option<Stubbornness>,
    /// The state that was accepted last since it became stubborn.
    accepted: Option<usize>,
}

impl Firmware {
    /// From now on it accepts every state and enters none.
    pub fn grow_stubborn(&mut self, how: Stubbornness) {
        *self = Self { stubborn: Some(how), accepted: None };
    }

    /// A state is set, and accepted. True if the drive enters it.
    pub fn sets(&mut self, state: usize) -> bool {
        self.accepted = Some(state);
        self.stubborn.is_none()
    }

    /// The state that it names, when it is in this one.
    #[must_use]
    pub fn names(&self, held: usize) -> usize {
        let pretended = self.accepted.filter(|_| self.stubborn == Some(Stubbornness::Pretends));
        pretended.unwrap_or(held)
    }

    /// It was reset, and remembers nothing that was accepted.
    pub fn reset(&mut self) {
        self.accepted = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_obeys_or_ignores_or_pretends() {
        let mut firmware = Firmware::default();
        assert!(firmware.sets(2));
        assert_eq!(firmware.names(2), 2);
        firmware.grow_stubborn(Stubbornness::Ignores);
        assert!(!firmware.sets(1));
        assert_eq!(firmware.names(2), 2);
        firmware.grow_stubborn(Stubbornness::Pretends);
        assert_eq!(firmware.names(2), 2);
        assert!(!firmware.sets(1));
        assert_eq!(firmware.names(2), 1);
        firmware.reset();
        assert_eq!(firmware.names(0), 0);
    }
}
