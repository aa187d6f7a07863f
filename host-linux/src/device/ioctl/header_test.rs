//! Compares the layout and the number with the kernel's own header, as the C compiler understands it.

use std::fmt::Write as _;
use std::io::Write as _;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::{Command, Stdio};

use super::PassthroughCommand;

const HEADER: &str = "/usr/include/linux/nvme_ioctl.h";

macro_rules! layout {
    ($($field:ident)*) => {
        [$((stringify!($field), offset_of!(PassthroughCommand, $field), size_of_val(&PassthroughCommand::default().$field))),*]
    };
}

#[test]
fn structure_and_number_are_those_of_the_kernels_header() {
    let fields = layout!(opcode flags rsvd1 nsid cdw2 cdw3 metadata addr metadata_len data_len
        cdw10 cdw11 cdw12 cdw13 cdw14 cdw15 timeout_ms result);
    let Some(theirs) = said_by_c(&fields.map(|(name, ..)| name)) else {
        return;
    };
    let number = nix::request_code_readwrite!(b'N', 0x41, size_of::<PassthroughCommand>());
    let mut ours = format!("number {number}\nsize {}\n", size_of::<PassthroughCommand>());
    for (name, offset, size) in fields {
        // Writing to a string cannot fail.
        let _ = writeln!(ours, "{name} {offset} {size}");
    }
    assert_eq!(ours, theirs);
}

/// The same lines, printed by a C program. `None`, with a word on the terminal, where it cannot be built.
fn said_by_c(fields: &[&str]) -> Option<String> {
    if !Path::new(HEADER).is_file() {
        return not_run(&format!("there is no {HEADER}; on Debian: apt-get install linux-libc-dev"));
    }
    let mut source = String::from(
        "#include <linux/nvme_ioctl.h>\n#include <stddef.h>\n#include <stdio.h>\n#include <sys/ioctl.h>\nint main(void) {\n\
         struct nvme_passthru_cmd cmd;\n\
         printf(\"number %lu\\nsize %zu\\n\", (unsigned long)NVME_IOCTL_ADMIN_CMD, sizeof cmd);\n",
    );
    for name in fields {
        let _ = writeln!(
            source,
            "printf(\"{name} %zu %zu\\n\", offsetof(struct nvme_passthru_cmd, {name}), sizeof cmd.{name});"
        );
    }
    source.push_str("}\n");

    let directory = std::env::temp_dir().join(format!("wattline-header-test-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let probe = directory.join("probe");
    let compiler = Command::new("cc").args(["-x", "c", "-", "-o"]).arg(&probe).stdin(Stdio::piped()).spawn();
    let Ok(mut compiler) = compiler else {
        return not_run("there is no cc; on Debian: apt-get install gcc");
    };
    compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(compiler.wait().unwrap().success(), "cc refused\n{source}");
    let run = Command::new(&probe).output().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    Some(String::from_utf8(run.stdout).unwrap())
}

/// Says so past the test harness, which shows the output of failing tests only.
fn not_run(reason: &str) -> Option<String> {
    writeln!(std::io::stderr(), "NOT RUN: the comparison with the kernel's header: {reason}").unwrap();
    None
}
