//! The scenarios that the program carries.

/// Name and text of each, in the order in which they are listed.
pub const ALL: [(&str, &str); 28] = [
    ("r760-article", include_str!("../../scenarios/r760-article.toml")),
    ("r760-write-cap", include_str!("../../scenarios/r760-write-cap.toml")),
    ("r760-write-cap-nameplate", include_str!("../../scenarios/r760-write-cap-nameplate.toml")),
    ("r760-undeclared-reads", include_str!("../../scenarios/r760-undeclared-reads.toml")),
    ("r760-cap-drop", include_str!("../../scenarios/r760-cap-drop.toml")),
    ("r760-reset", include_str!("../../scenarios/r760-reset.toml")),
    ("fault-cap-halved", include_str!("../../scenarios/fault-cap-halved.toml")),
    ("fault-supply-lost", include_str!("../../scenarios/fault-supply-lost.toml")),
    ("fault-four-resets", include_str!("../../scenarios/fault-four-resets.toml")),
    ("fault-meter-frozen", include_str!("../../scenarios/fault-meter-frozen.toml")),
    ("fault-meter-high", include_str!("../../scenarios/fault-meter-high.toml")),
    ("fault-meter-low", include_str!("../../scenarios/fault-meter-low.toml")),
    ("fault-meter-absent", include_str!("../../scenarios/fault-meter-absent.toml")),
    ("fault-drives-ignore", include_str!("../../scenarios/fault-drives-ignore.toml")),
    ("fault-drives-pretend", include_str!("../../scenarios/fault-drives-pretend.toml")),
    ("fault-hot-swap", include_str!("../../scenarios/fault-hot-swap.toml")),
    ("fault-clock-back", include_str!("../../scenarios/fault-clock-back.toml")),
    ("fault-restart", include_str!("../../scenarios/fault-restart.toml")),
    ("fault-flips", include_str!("../../scenarios/fault-flips.toml")),
    ("fault-sensors-frozen", include_str!("../../scenarios/fault-sensors-frozen.toml")),
    ("fault-coolant-lost", include_str!("../../scenarios/fault-coolant-lost.toml")),
    ("fault-fans-failed", include_str!("../../scenarios/fault-fans-failed.toml")),
    ("heat-warm-room", include_str!("../../scenarios/heat-warm-room.toml")),
    ("heat-hot-room", include_str!("../../scenarios/heat-hot-room.toml")),
    ("heat-coolant-lost", include_str!("../../scenarios/heat-coolant-lost.toml")),
    ("heat-fans-failed", include_str!("../../scenarios/heat-fans-failed.toml")),
    ("heat-ramp", include_str!("../../scenarios/heat-ramp.toml")),
    ("heat-frozen-sensors", include_str!("../../scenarios/heat-frozen-sensors.toml")),
];

/// The text of the scenario of this name.
#[must_use]
pub fn text(name: &str) -> Option<&'static str> {
    ALL.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
