//! What `tests/guest/record` kept.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

/// A directory of results; the variable names it.
pub(crate) struct Recorded(pub(crate) &'static str);

/// A command that was run.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Recorded {
    pub(crate) fn directory(&self) -> PathBuf {
        std::env::var_os(self.0).expect("run these tests with tests/run").into()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.directory().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn file(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    pub(crate) fn run(&self, name: &str) -> Run {
        Run {
            status: self.file(&format!("{name}.status")).trim().parse().expect("an exit status"),
            stdout: self.file(&format!("{name}.stdout")),
            stderr: self.file(&format!("{name}.stderr")),
        }
    }

    /// Standard output of a run that succeeded and complained about nothing.
    pub(crate) fn done(&self, name: &str) -> String {
        let run = self.run(name);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
        run.stdout
    }

    /// nvme-cli's value of a feature: `get-feature:0x02 (Power Management), Current value:00000000`.
    pub(crate) fn feature(&self, name: &str) -> u32 {
        let text = self.done(name);
        let (_, value) = text.lines().next().and_then(|line| line.rsplit_once(':')).expect("a value");
        u32::from_str_radix(value.trim_start_matches("0x"), 16).expect("a hexadecimal value")
    }
}

pub(crate) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}
