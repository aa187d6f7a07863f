use std::io::Cursor;

use proptest::prelude::*;

use super::*;

fn parse(bytes: &[u8], limits: Limits) -> (Result<FromHost, ReadError>, usize) {
    let mut cursor = Cursor::new(bytes);
    let result = read(&mut cursor, limits);
    (result, usize::try_from(cursor.position()).unwrap())
}

/// What Linux sends first: no digests, one request at a time.
#[test]
fn a_connection_begins_as_linux_begins_it() {
    let mut bytes = vec![0x00, 0, 128, 0, 128, 0, 0, 0];
    bytes.resize(INITIALIZE_LENGTH, 0);
    let expected = InitializeRequest { format: 0, alignment: 0, digests: 0, max_requests: 0 };
    let (value, taken) = parse(&bytes, Limits::Fresh);
    assert_eq!((value.unwrap(), taken), (FromHost::Initialize(expected), 128));
    let response = initialize_response();
    assert_eq!(response.len(), 128);
    assert_eq!(response[..16], [0x01, 0, 128, 0, 128, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]);
}

#[test]
fn what_goes_out_is_as_the_specification_draws_it() {
    let data = data_to_host(0x0102, &[0xAA; 6], 0);
    assert_eq!(
        data,
        [[0x07, 0x04, 24, 24, 30, 0, 0, 0, 0x02, 0x01].as_slice(), &[0; 6], &[6, 0, 0, 0, 0, 0, 0, 0], &[0xAA; 6],]
            .concat()
    );
    let aligned = data_to_host(1, &[1], 7);
    assert_eq!((aligned[3], aligned.len(), aligned[32]), (32, 33, 1));
    let ready = ready_to_transfer(5, 9, 0x2_0000);
    assert_eq!(ready, [0x09, 0, 24, 0, 24, 0, 0, 0, 5, 0, 9, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0]);
    let end = termination(FatalError::LimitExceeded);
    assert_eq!(end.len(), 24);
    assert_eq!(end[..10], [0x03, 0, 24, 0, 24, 0, 0, 0, 5, 0]);
    assert_eq!(response(&[7; 16])[..9], [0x05, 0, 24, 0, 24, 0, 0, 0, 7]);
}

fn host_data(offset: u8, data: &[u8], claimed: u32) -> Vec<u8> {
    let total = u32::try_from(usize::from(offset) + data.len()).unwrap();
    let mut pdu = vec![0x06, 0x04, 24, offset];
    pdu.extend(total.to_le_bytes());
    pdu.extend([3, 0, 4, 0, 0, 16, 0, 0]);
    pdu.extend(claimed.to_le_bytes());
    pdu.extend([0; 4]);
    pdu.resize(usize::from(offset), 0);
    pdu.extend(data);
    pdu
}

#[test]
fn data_are_where_the_offset_says_and_as_many_as_claimed() {
    for offset in [24, 28, 252] {
        let bytes = host_data(offset, &[1, 2, 3], 3);
        let expected = HostData { command: 3, tag: 4, offset: 4096, last: true, data: vec![1, 2, 3] };
        assert_eq!(parse(&bytes, Limits::Initialized).0.unwrap(), FromHost::Data(expected));
    }
    let wrong = parse(&host_data(24, &[1, 2, 3], 4), Limits::Initialized).0;
    assert!(matches!(wrong, Err(ReadError::Fatal(FatalError::InvalidHeader))));
    let odd = parse(&host_data(26, &[1, 2, 3], 3), Limits::Initialized).0;
    assert!(matches!(odd, Err(ReadError::Fatal(FatalError::InvalidHeader))));
}

/// A claim of 4 GiB, and of one byte more than the limit: refused after eight bytes, before anything is reserved.
#[test]
fn no_claim_makes_us_read_or_reserve() {
    for (kind, header, most) in [(0x04u8, 72u8, IN_CAPSULE_BYTES), (0x06, 24, MAX_H2C_BYTES)] {
        let too_much = u32::from(header) + u32::try_from(most).unwrap() + 1;
        for total in [too_much, u32::MAX] {
            let mut bytes = vec![kind, 0, header, header];
            bytes.extend(total.to_le_bytes());
            bytes.resize(400_000, 0);
            let (result, taken) = parse(&bytes, Limits::Initialized);
            assert!(matches!(result, Err(ReadError::Fatal(FatalError::LimitExceeded))), "{result:?}");
            assert_eq!(taken, COMMON_HEADER);
        }
    }
}

/// All 65,536 pairs of type and header length, at both times: only what may come is read.
#[test]
fn only_what_may_come_now_is_read() {
    for (limits, allowed) in
        [(Limits::Fresh, vec![(0x00u8, 128u8)]), (Limits::Initialized, vec![(0x04, 72), (0x06, 24), (0x02, 24)])]
    {
        for kind in 0..=u8::MAX {
            for header in 0..=u8::MAX {
                let mut bytes = vec![kind, 0, header, 0, header, 0, 0, 0];
                bytes.resize(256, 0);
                let (result, taken) = parse(&bytes, limits);
                assert_eq!(result.is_ok(), allowed.contains(&(kind, header)), "{kind} {header} {result:?}");
                if result.is_err() {
                    assert_eq!(taken, COMMON_HEADER);
                }
            }
        }
    }
}

proptest! {
    /// Bytes that mean nothing: an end, never a panic, and never more taken than the limits allow.
    #[test]
    fn no_bytes_are_too_much(bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 0u8..10, fresh: bool) {
        let limits = if fresh { Limits::Fresh } else { Limits::Initialized };
        let mut typed = bytes.clone();
        if let Some(first) = typed.first_mut() {
            *first = kind;
        }
        for bytes in [bytes, typed] {
            let (result, taken) = parse(&bytes, limits);
            prop_assert!(taken <= bytes.len());
            if let Ok(FromHost::Data(data)) = result {
                prop_assert!(data.data.len() <= MAX_H2C_BYTES);
            }
        }
    }

    #[test]
    fn a_command_comes_with_its_data(
        submission in prop::collection::vec(any::<u8>(), 64), data in prop::collection::vec(any::<u8>(), 0..9000),
    ) {
        let mut bytes = vec![0x04, 0, 72, if data.is_empty() { 0 } else { 72 }];
        bytes.extend(u32::try_from(72 + data.len()).unwrap().to_le_bytes());
        bytes.extend(&submission);
        bytes.extend(&data);
        let (result, taken) = parse(&bytes, Limits::Initialized);
        if data.len() > IN_CAPSULE_BYTES {
            prop_assert!(matches!(result, Err(ReadError::Fatal(FatalError::LimitExceeded))));
        } else {
            prop_assert_eq!(taken, bytes.len());
            prop_assert_eq!(result.unwrap(), FromHost::Command(submission.try_into().unwrap(), data));
        }
    }
}
