//! A recorded sysfs tree, unpacked into a directory of this test run.
//!
//! The recording is a text file, since sysfs is full of links and of names with colons: each line is a path and
//! either ` = ` and the file's content, with `\n` for line ends, or ` -> ` and the link's target.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use wattline::sysfs::Sysfs;

/// What `tests/guest/record-sysfs` wrote in the guest: nvme0 and nvme1, and /dev/null.
pub(crate) const QEMU: &str = include_str!("../fixtures/qemu-linux-6.1.sysfs.txt");

/// A tree that a test may change; removed in the end.
pub(crate) struct Tree(PathBuf);

impl Tree {
    /// `test` names the directory, so that tests that run at once do not share one.
    pub(crate) fn unpack(recording: &str, test: &str) -> Self {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("sysfs-{test}-{}", std::process::id()));
        for line in recording.lines().filter(|line| !line.starts_with('#')) {
            let (path, content) = line.split_once(' ').unwrap_or_else(|| panic!("not a line of a recording: {line}"));
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match content.split_once(' ') {
                Some(("=", content)) => fs::write(path, content.replace("\\n", "\n")).unwrap(),
                Some(("->", target)) => symlink(target, path).unwrap(),
                _ => panic!("not a line of a recording: {line}"),
            }
        }
        Self(root)
    }

    pub(crate) fn sysfs(&self) -> Sysfs {
        Sysfs::at(&self.0)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
