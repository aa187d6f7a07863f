//! The target against hosts that mean no good, or are no more: half-open connections, many at once, hosts that vanish,
//! bytes that mean nothing. The host here is written for this test alone, and shares nothing with the target.
#![cfg(feature = "serve")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use wattline_sim::calibration::Calibration;
use wattline_sim::scenario;
use wattline_sim::serve::{self, Options, ServeError, Server};

fn options(listen: &str) -> Options {
    Options {
        listen: listen.parse().unwrap(),
        redfish: None,
        anywhere: false,
        throughput_scale: 1.0,
        capacity: 4 << 20,
        seed: 1,
        tables: Vec::new(),
    }
}

fn server() -> Server {
    let text = "name = \"test\"\nduration_s = 60\n[drives]\ncount = 2";
    let scenario = scenario::parse("test", text).unwrap();
    serve::start(&scenario, &Calibration::embedded(), &options("127.0.0.1:0")).unwrap()
}

/// A host's end of one connection.
struct Host(TcpStream);

impl Host {
    fn dial(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        Self(socket)
    }

    fn initialize(&mut self) {
        let mut request = [0; 128];
        request[2] = 128;
        request[4] = 128;
        self.0.write_all(&request).unwrap();
        let mut response = [0; 128];
        self.0.read_exact(&mut response).unwrap();
        assert_eq!(response[..5], [1, 0, 128, 0, 128]);
    }

    fn send(&mut self, command: [u8; 64], data: &[u8]) {
        let mut pdu = vec![4, 0, 72, if data.is_empty() { 0 } else { 72 }];
        pdu.extend(u32::try_from(72 + data.len()).unwrap().to_le_bytes());
        pdu.extend(command);
        pdu.extend(data);
        self.0.write_all(&pdu).unwrap();
    }

    /// The next PDU: type and everything after the common header. `None`: the connection has ended.
    fn receive(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut header = [0; 8];
        self.0.read_exact(&mut header).ok()?;
        let length = u32::from_le_bytes(header[4..].try_into().unwrap());
        let mut rest = vec![0; usize::try_from(length).unwrap() - 8];
        self.0.read_exact(&mut rest).ok()?;
        Some((header[0], rest))
    }

    /// Result and status of the next completion, and the data before it.
    fn completion(&mut self) -> (u64, u16, Vec<u8>) {
        let mut data = Vec::new();
        loop {
            match self.receive().expect("a completion") {
                (5, rest) => {
                    let status = u16::from_le_bytes([rest[14], rest[15]]) >> 1;
                    return (u64::from_le_bytes(rest[..8].try_into().unwrap()), status, data);
                }
                (7, rest) => data.extend(&rest[16..]),
                other => panic!("{other:?}"),
            }
        }
    }

    fn connect(&mut self, drive: usize, queue: u16, controller: u16, keep_alive_ms: u32) -> (u64, u16) {
        let mut data = [0; 1024];
        data[16..18].copy_from_slice(&controller.to_le_bytes());
        let name = format!("nqn.2026-01.invalid.wattline:drive-{drive}");
        data[256..256 + name.len()].copy_from_slice(name.as_bytes());
        data[512..515].copy_from_slice(b"nqn");
        let mut command = command(0x7F, 0);
        command[4] = 1;
        command[32..36].copy_from_slice(&1024u32.to_le_bytes());
        command[39] = 1;
        command[42..44].copy_from_slice(&queue.to_le_bytes());
        command[44..46].copy_from_slice(&31u16.to_le_bytes());
        command[48..52].copy_from_slice(&keep_alive_ms.to_le_bytes());
        self.send(command, &data);
        let (result, status, _) = self.completion();
        (result, status)
    }

    /// Enables the controller.
    fn enable(&mut self) {
        let mut command = command(0x7F, 1);
        command[44..48].copy_from_slice(&0x14u32.to_le_bytes());
        command[48..52].copy_from_slice(&0x0046_0001u32.to_le_bytes());
        self.send(command, &[]);
        assert_eq!(self.completion().1, 0);
    }
}

fn command(opcode: u8, id: u16) -> [u8; 64] {
    let mut command = [0; 64];
    command[0] = opcode;
    command[2..4].copy_from_slice(&id.to_le_bytes());
    command[39] = 0x5A;
    command
}

/// An enabled controller of a drive: its identifier and its admin queue.
fn attach(server: &Server, drive: usize, keep_alive_ms: u32) -> (u16, Host) {
    let mut host = Host::dial(server.address);
    host.initialize();
    let (controller, status) = host.connect(drive, 0, u16::MAX, keep_alive_ms);
    assert_eq!(status, 0);
    host.enable();
    (u16::try_from(controller).unwrap(), host)
}

fn io_queue(server: &Server, drive: usize, controller: u16) -> Host {
    let mut host = Host::dial(server.address);
    host.initialize();
    assert_eq!(host.connect(drive, 1, controller, 0).1, 0);
    host
}

/// A write of these bytes at this block, by R2T; its status.
fn write(host: &mut Host, block: u64, data: &[u8]) -> u16 {
    let length = u32::try_from(data.len()).unwrap();
    let mut write = command(1, 9);
    write[4] = 1;
    write[32..36].copy_from_slice(&length.to_le_bytes());
    write[40..48].copy_from_slice(&block.to_le_bytes());
    write[48..52].copy_from_slice(&(length / 512 - 1).to_le_bytes());
    host.send(write, &[]);
    let (kind, ready) = host.receive().unwrap();
    if kind == 5 {
        return u16::from_le_bytes([ready[14], ready[15]]) >> 1;
    }
    assert_eq!((kind, &ready[..2], &ready[8..12]), (9, [9, 0].as_slice(), length.to_le_bytes().as_slice()));
    for (index, piece) in data.chunks(100_000).enumerate() {
        let offset = u32::try_from(index * 100_000).unwrap();
        let last = u8::from(usize::try_from(offset).unwrap() + piece.len() == data.len()) << 2;
        let mut pdu = vec![6, last, 24, 24];
        pdu.extend(u32::try_from(24 + piece.len()).unwrap().to_le_bytes());
        pdu.extend([9, 0, ready[2], ready[3]]);
        pdu.extend(offset.to_le_bytes());
        pdu.extend(u32::try_from(piece.len()).unwrap().to_le_bytes());
        pdu.extend([0; 4]);
        pdu.extend(piece);
        host.0.write_all(&pdu).unwrap();
    }
    host.completion().1
}

fn read(host: &mut Host, block: u64, length: u32) -> (u16, Vec<u8>) {
    let mut read = command(2, 10);
    read[4] = 1;
    read[32..36].copy_from_slice(&length.to_le_bytes());
    read[40..48].copy_from_slice(&block.to_le_bytes());
    read[48..52].copy_from_slice(&(length / 512 - 1).to_le_bytes());
    host.send(read, &[]);
    let (_, status, data) = host.completion();
    (status, data)
}

/// Waits until the server has so many controllers and connections, for as long as it takes; the test runner ends what
/// never comes to an end.
fn until(server: &Server, controllers: usize, connections: usize) {
    let begin = Instant::now();
    loop {
        let load = server.load();
        if (load.controllers, load.connections) == (controllers, connections) {
            return;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{load:?} after a minute");
        std::thread::yield_now();
    }
}

#[test]
fn what_is_written_is_read() {
    let server = server();
    let (controller, _admin) = attach(&server, 1, 0);
    let mut queue = io_queue(&server, 1, controller);
    let data: Vec<u8> = (0..300_032u32).map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1]).collect();
    assert_eq!(write(&mut queue, 7, &data), 0);
    assert_eq!(read(&mut queue, 7, 300_032), (0, data));
    assert_eq!(read(&mut queue, 4000, 512), (0, vec![0; 512]));
    // LBA Out of Range, with Do Not Retry: the namespace has 8192 blocks.
    assert_eq!(read(&mut queue, 8192, 512).0, 0x4080);
    assert_eq!(write(&mut queue, u64::MAX, &[1; 512]), 0x4080);
    // More than MDTS: Invalid Field.
    assert_eq!(read(&mut queue, 0, 1 << 20).0, 0x4002);
}

#[test]
fn who_is_not_on_this_machine_needs_a_word() {
    let scenario = scenario::load("r760-article").unwrap();
    let start = |options: &Options| serve::start(&scenario, &Calibration::embedded(), options).map(drop);
    assert!(matches!(start(&options("0.0.0.0:0")), Err(ServeError::NotLoopback(_))));
    start(&Options { anywhere: true, ..options("0.0.0.0:0") }).unwrap();
    for scale in [0.0, -1.0, 1.5, f64::NAN, f64::INFINITY] {
        let wrong = Options { throughput_scale: scale, ..options("127.0.0.1:0") };
        assert!(matches!(start(&wrong), Err(ServeError::Scale(_))), "{scale}");
    }
}

#[test]
fn a_thousand_hosts_come_and_go_and_leave_nothing() {
    let server = server();
    let mut first_kib = 0;
    for round in 0..1000 {
        let (controller, admin) = attach(&server, round % 2, 0);
        let mut queue = io_queue(&server, round % 2, controller);
        assert_eq!(write(&mut queue, 0, &[1; 4096]), 0);
        // Half of them say goodbye, the others just vanish in the middle of something.
        if round % 2 == 0 {
            queue.send(command(2, 1), &[]);
        } else {
            admin.0.shutdown(Shutdown::Both).unwrap();
        }
        drop((admin, queue));
        if round == 99 {
            until(&server, 0, 0);
            first_kib = resident_kib();
        }
    }
    until(&server, 0, 0);
    let grown = resident_kib().saturating_sub(first_kib);
    println!("1000 connects: {grown} KiB more than after 100");
    assert!(grown < 8192, "{grown} KiB");
}

/// Resident memory of this process in KiB, where the system says so.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

#[test]
fn sixty_four_at_once_are_all_served() {
    let server = server();
    let hosts: Vec<_> = (0..32).map(|number| attach(&server, number % 2, 0)).collect();
    let queues = hosts.iter().enumerate().map(|(number, (id, _))| io_queue(&server, number % 2, *id));
    let mut queues: Vec<_> = queues.collect();
    until(&server, 32, 64);
    for (number, queue) in (0u8..).zip(&mut queues) {
        assert_eq!(write(queue, u64::from(number) * 8, &[number; 4096]), 0);
    }
    for (number, queue) in (0u8..).zip(&mut queues) {
        assert_eq!(read(queue, u64::from(number) * 8, 4096), (0, vec![number; 4096]));
    }
    drop((hosts, queues));
    until(&server, 0, 0);
}

#[test]
fn half_open_connections_are_cut_off_and_hinder_nobody() {
    let server = server();
    let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(server.address).unwrap()).collect();
    let mut begun = Host::dial(server.address);
    begun.initialize();
    let mut half = Host::dial(server.address);
    half.0.write_all(&[0, 0, 128]).unwrap();
    let (_, _host) = attach(&server, 0, 0);
    for mut socket in silent {
        assert!(!matches!(socket.read(&mut [0; 1]), Ok(1)), "it says nothing to who says nothing");
    }
    assert!(begun.receive().is_none() && half.receive().is_none());
    until(&server, 1, 1);
}

/// A host that promises to be heard of every 200 ms, and is not.
#[test]
fn a_host_that_falls_silent_is_given_up_with_all_its_queues() {
    let server = server();
    let (controller, _admin) = attach(&server, 0, 200);
    let mut queue = io_queue(&server, 0, controller);
    let (_, _other) = attach(&server, 0, 0);
    assert!(queue.receive().is_none());
    until(&server, 1, 1);
    let (_, again) = attach(&server, 0, 200);
    drop(again);
}

/// Each of these ends its connection, with a word about it where the protocol has one, and no other.
#[test]
fn what_is_against_the_protocol_ends_the_connection_and_no_other() {
    let server = server();
    let (controller, mut good) = attach(&server, 0, 0);
    let ends = |name: &str, send: &dyn Fn(&mut Host)| {
        let mut host = io_queue(&server, 0, controller);
        send(&mut host);
        while let Some((kind, _)) = host.receive() {
            assert!(matches!(kind, 3 | 5 | 9), "{name}: {kind}");
        }
        until(&server, 1, 1);
    };
    let wanted = |host: &mut Host| {
        let mut write = command(1, 9);
        write[4] = 1;
        write[32..36].copy_from_slice(&65_536u32.to_le_bytes());
        write[48] = 127;
        host.send(write, &[]);
        let (kind, ready) = host.receive().unwrap();
        assert_eq!(kind, 9);
        [ready[2], ready[3]]
    };
    let piece = |tag: [u8; 2], id: u8, offset: u32, length: u32, last: bool| {
        let mut pdu = vec![6, u8::from(last) << 2, 24, 24];
        pdu.extend((24 + length).to_le_bytes());
        pdu.extend([id, 0, tag[0], tag[1]]);
        pdu.extend(offset.to_le_bytes());
        pdu.extend(length.to_le_bytes());
        pdu.resize(24 + usize::try_from(length).unwrap(), 0);
        pdu
    };
    let answer = |host: &mut Host, id: u8, offset: u32, length: u32, last: bool| {
        let tag = wanted(host);
        host.0.write_all(&piece(tag, id, offset, length, last)).unwrap();
    };
    ends("data nobody asked for", &|host| host.0.write_all(&piece([0, 0], 9, 0, 512, true)).unwrap());
    ends("data of another command", &|host| answer(host, 8, 0, 65_536, true));
    ends("data from the middle", &|host| answer(host, 9, 512, 512, false));
    ends("more than was asked for", &|host| answer(host, 9, 0, 65_537, true));
    ends("the last piece too early", &|host| answer(host, 9, 0, 512, true));
    ends("no data at all", &|host| answer(host, 9, 0, 0, false));
    ends("a second beginning", &|host| {
        let mut request = [0; 128];
        request[2] = 128;
        request[4] = 128;
        host.0.write_all(&request).unwrap();
    });
    ends("an unknown type", &|host| host.0.write_all(&[0xEE; 64]).unwrap());
    ends("a claim of 4 GiB", &|host| host.0.write_all(&[4, 0, 72, 72, 255, 255, 255, 255]).unwrap());
    ends("goodbye", &|host| {
        let mut pdu = [0; 24];
        (pdu[0], pdu[2], pdu[4]) = (2, 24, 24);
        host.0.write_all(&pdu).unwrap();
    });
    // Who got in the way of nobody is still served: Keep Alive.
    good.send(command(0x18, 3), &[]);
    assert_eq!(good.completion().1, 0);
}

/// More commands than the queue has entries: 32 Asynchronous Event Requests are refused but for four; 33 writes whose
/// data never come are one too many for 32 entries.
#[test]
fn a_queue_has_no_more_than_its_entries() {
    let server = server();
    let (controller, mut admin) = attach(&server, 0, 0);
    for id in 0..32 {
        admin.send(command(0x0C, id), &[]);
    }
    for _ in 0..28 {
        assert_eq!(admin.completion().1, 0x4105);
    }
    let mut queue = io_queue(&server, 0, controller);
    for id in 0..33 {
        let mut write = command(1, id);
        write[4] = 1;
        write[32..36].copy_from_slice(&4096u32.to_le_bytes());
        write[48] = 7;
        queue.send(write, &[]);
    }
    let mut kinds = Vec::new();
    while let Some((kind, _)) = queue.receive() {
        kinds.push(kind);
    }
    assert_eq!(kinds.iter().filter(|kind| **kind == 9).count(), 32);
    assert_eq!(kinds.last(), Some(&3), "a termination request");
}

/// Whole conversations with a byte changed here and there, and cut off somewhere: nothing of it may end the server.
#[test]
fn changed_bytes_harm_nobody_else() {
    let server = server();
    let mut state = 1u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    for _ in 0..300 {
        let mut bytes = vec![0; 128];
        (bytes[2], bytes[4]) = (128, 128);
        let mut connect = command(0x7F, 0);
        (connect[4], connect[33], connect[39], connect[44]) = (1, 4, 1, 31);
        let mut data = [0; 1024];
        (data[16], data[17]) = (255, 255);
        let name = b"nqn.2026-01.invalid.wattline:drive-0";
        data[256..256 + name.len()].copy_from_slice(name);
        let mut enable = command(0x7F, 1);
        (enable[44], enable[48], enable[50]) = (0x14, 1, 0x46);
        let mut identify = command(0x06, 2);
        (identify[33], identify[40]) = (16, 1);
        let mut log = command(0x02, 3);
        (log[33], log[40], log[42]) = (2, 2, 127);
        let mut table = command(0x09, 4);
        (table[33], table[39], table[40], table[44]) = (1, 1, 0x0C, 1);
        for (command, data) in [(connect, &data[..]), (enable, &[]), (identify, &[]), (log, &[]), (table, &data[..256])]
        {
            bytes.extend([4, 0, 72, if data.is_empty() { 0 } else { 72 }]);
            bytes.extend(u32::try_from(72 + data.len()).unwrap().to_le_bytes());
            bytes.extend(command);
            bytes.extend(data);
        }
        for _ in 0..=random(3) {
            let at = 128 + random(bytes.len() - 128);
            bytes[at] = u8::try_from(random(256)).unwrap();
        }
        bytes.truncate(128 + random(bytes.len() - 127));
        let mut host = Host::dial(server.address);
        // It may be cut off before it has said everything.
        let _ = host.0.write_all(&bytes);
        let _ = host.0.shutdown(Shutdown::Write);
        while host.receive().is_some() {}
    }
    until(&server, 0, 0);
    attach(&server, 0, 0);
}
