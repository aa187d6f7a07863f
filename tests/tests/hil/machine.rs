//! The emulated board: QEMU with the firmware, its lines and its monitor.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use wattline_core::journal::{decode, encode};
use wattline_edge::appliance::{METER_ADDRESS, SENSOR_ADDRESS};
use wattline_edge::link::{FromBoard, MAX_MESSAGE, Order, ToBoard};

use super::captured::Captured;

/// The firmware's ELF file.
pub(crate) fn firmware() -> PathBuf {
    std::env::var_os("WATTLINE_FIRMWARE").expect("WATTLINE_FIRMWARE names the firmware; tests/run hil sets it").into()
}

/// Which of the sensors are on the bus.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plugged {
    Both,
    Neither,
}

/// A running board.
pub(crate) struct Machine {
    qemu: Child,
    plugged: Plugged,
    to_board: ChildStdin,
    from_board: Receiver<FromBoard>,
    monitor: Monitor,
    directory: PathBuf,
}

impl Machine {
    /// Longer than the watchdog's period, on a busy machine. What takes longer has failed.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Starts a board; the files of its lines are in a directory of this name.
    pub(crate) fn start(name: &str, plugged: Plugged) -> Self {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hil").join(name);
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).expect("a writable target directory");

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port for QEMU's monitor");
        let port = listener.local_addr().expect("a bound socket").port();
        let mut qemu = Command::new("qemu-system-arm");
        qemu.args(["-machine", "lm3s6965evb", "-display", "none", "-semihosting-config", "enable=on,target=native"]);
        qemu.arg("-kernel").arg(firmware());
        qemu.args(["-chardev", "stdio,id=drives,signal=off", "-serial", "chardev:drives"]);
        qemu.args(["-serial", "file:reports", "-serial", "file:log"]);
        qemu.args(["-chardev", &format!("socket,id=monitor,host=127.0.0.1,port={port},server=off,nodelay=on")]);
        qemu.args(["-mon", "chardev=monitor,mode=control"]);
        if plugged == Plugged::Both {
            qemu.args(["-device", &format!("adm1272,bus=i2c,address={METER_ADDRESS},id=meter")]);
            qemu.args(["-device", &format!("tmp105,bus=i2c,address={SENSOR_ADDRESS},id=sensor")]);
        }
        let errors = fs::File::create(directory.join("qemu")).expect("a writable file");
        let mut qemu = qemu
            .current_dir(&directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("qemu-system-arm is installed");
        let to_board = qemu.stdin.take().expect("a pipe");
        let from_board = messages(qemu.stdout.take().expect("a pipe"));
        let ready = from_board.recv_timeout(Self::PATIENCE);
        if ready != Ok(FromBoard::Ready) {
            let _ = qemu.kill();
            let said = fs::read_to_string(directory.join("qemu")).unwrap_or_default();
            panic!("the board did not start: {ready:?}; QEMU says: {said}");
        }
        // QEMU connects before it runs anything, so this does not wait.
        let (stream, _) = listener.accept().expect("QEMU's monitor");
        Self { qemu, plugged, to_board, from_board, monitor: Monitor::new(stream), directory }
    }

    /// Sends a message.
    pub(crate) fn send(&mut self, message: &ToBoard) {
        let mut buffer = [0; MAX_MESSAGE];
        let frame = encode(message, &mut buffer).expect("every message fits");
        self.to_board.write_all(frame).expect("QEMU runs");
    }

    /// Waits for a message.
    pub(crate) fn receive(&mut self) -> FromBoard {
        self.from_board.recv_timeout(Self::PATIENCE).expect("the board answers")
    }

    /// Sets what the power monitor reads, in watts, and the temperature sensor, in thousandths of a degree Celsius.
    pub(crate) fn set(&mut self, watts: u16, millicelsius: i32) {
        if self.plugged == Plugged::Both {
            self.monitor.set("meter", "pin", &watts.into());
            self.monitor.set("sensor", "temperature", &millicelsius.into());
        }
    }

    /// Ends the run, and returns what was written on the lines.
    pub(crate) fn end(mut self) -> Captured {
        self.send(&ToBoard { event: None, order: Order::End });
        let status = self.qemu.wait().expect("QEMU ends");
        assert!(status.success(), "QEMU: {status}");
        let file = |name| fs::read(self.directory.join(name)).expect("QEMU wrote this file");
        let captured = Captured { reports: file("reports"), log: file("log") };
        fs::write(self.directory.join("journal"), captured.journal()).expect("a writable file");
        captured
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // After `end` there is nothing left to end.
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// The messages on the drives' line, read by a thread of their own so that one can wait for them with a limit.
fn messages(mut line: impl Read + Send + 'static) -> Receiver<FromBoard> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let (mut frame, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let length = match line.read(&mut buffer) {
                Ok(0) | Err(_) => return,
                Ok(length) => length,
            };
            for byte in &buffer[..length] {
                if *byte != 0 {
                    frame.push(*byte);
                    continue;
                }
                let message = decode(&frame, &mut [0; MAX_MESSAGE]).expect("an undamaged frame");
                frame.clear();
                if sender.send(message).is_err() {
                    return;
                }
            }
        }
    });
    receiver
}

/// QEMU's monitor: JSON, a line for each command and each answer.
struct Monitor(BufReader<TcpStream>);

impl Monitor {
    fn new(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("a TCP option");
        stream.set_read_timeout(Some(Machine::PATIENCE)).expect("a socket option");
        let mut monitor = Self(BufReader::new(stream));
        assert!(monitor.line().get("QMP").is_some(), "QEMU greets first");
        monitor.execute("qmp_capabilities", &json!({}));
        monitor
    }

    fn set(&mut self, device: &str, property: &str, value: &Value) {
        let path = format!("/machine/peripheral/{device}");
        self.execute("qom-set", &json!({ "path": path, "property": property, "value": value }));
    }

    fn execute(&mut self, command: &str, arguments: &Value) {
        let mut line = json!({ "execute": command, "arguments": arguments }).to_string();
        line.push('\n');
        self.0.get_mut().write_all(line.as_bytes()).expect("QEMU runs");
        loop {
            let answer = self.line();
            if answer.get("event").is_none() {
                assert!(answer.get("return").is_some(), "{command} {arguments}: {answer}");
                return;
            }
        }
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("QEMU answers");
        serde_json::from_str(&line).expect("QEMU speaks JSON")
    }
}
