//! The scenarios that the program carries.

/// Name and text of each, in the order in which they are listed.
pub const ALL: [(&str, &str); 6] = [
    ("r760-article", include_str!("../../scenarios/r760-article.toml")),
    ("r760-write-cap", include_str!("../../scenarios/r760-write-cap.toml")),
    ("r760-write-cap-nameplate", include_str!("../../scenarios/r760-write-cap-nameplate.toml")),
    ("r760-undeclared-reads", include_str!("../../scenarios/r760-undeclared-reads.toml")),
    ("r760-cap-drop", include_str!("../../scenarios/r760-cap-drop.toml")),
    ("r760-reset", include_str!("../../scenarios/r760-reset.toml")),
];

/// The text of the scenario of this name.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
