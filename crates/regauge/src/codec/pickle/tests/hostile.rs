//! Input that only an attacker sends: refused early, and within little memory.

use super::*;

/// Converts to JSON and returns the error.
#[track_caller]
fn refused(bytes: &[u8], kind: ErrorKind) -> Error {
    let mut options = crate::Options::new(Format::Pickle, Format::Json);
    options.objects = Some(crate::policy::fidelity::Objects::Data);
    let error = crate::convert_bytes(bytes, &options).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    error
}

#[test]
fn a_billion_laughs() {
    // Each list holds the previous one ten times.
    let mut bomb = b"]\x94".to_vec();
    for level in 0..12_u8 {
        bomb.push(b']');
        bomb.push(b'(');
        for _ in 0..10 {
            bomb.extend_from_slice(&[b'h', level]);
        }
        bomb.extend_from_slice(b"e\x94");
    }
    bomb.push(b'.');
    let error = refused(&bomb, ErrorKind::Limit);
    assert!(error.message().contains("the limit of aliases"), "{error}");
    // A target with references keeps it unexpanded.
    let options = crate::Options::new(Format::Pickle, Format::Pickle);
    assert!(crate::convert_bytes(&bomb, &options).unwrap().len() < 2 * bomb.len() + 100);
}

#[test]
fn laughs_in_a_key() {
    let mut bomb = b"N\x85\x940".to_vec();
    for level in 0..30_u8 {
        bomb.extend_from_slice(&[b'h', level, b'h', level, 0x86, 0x94, b'0']);
    }
    let bomb = [b"}", bomb.as_slice(), b"h\x1eNs."].concat();
    assert_eq!(read(&bomb).unwrap_err().kind(), ErrorKind::Limit);
}

#[test]
fn long_text_again_and_again() {
    let long = vec![b'a'; 1 << 20];
    let mut bomb = b"](X\0\0\x10\0".to_vec();
    bomb.extend_from_slice(&long);
    bomb.extend_from_slice(b"q\0");
    for _ in 0..1000 {
        bomb.extend_from_slice(b"h\0");
    }
    bomb.extend_from_slice(b"e.");
    let error = refused(&bomb, ErrorKind::Limit);
    assert!(error.message().contains("long text that repeats"), "{error}");
}

#[test]
fn depth() {
    let nested = |depth: usize| {
        let mut bytes = vec![b']'; depth];
        bytes.resize(2 * depth - 1, b'a');
        bytes.push(b'.');
        bytes
    };
    assert!(read(&nested(512)).is_ok());
    let error = refused(&nested(513), ErrorKind::Limit);
    assert!(error.message().contains("more than 512 deep"), "{error}");
    refused(&nested(1_000_000), ErrorKind::Limit);
    let ids = [vec![b'N'], vec![b'Q'; 100_000], vec![b'.']].concat();
    refused(&ids, ErrorKind::Limit);
    // Arguments within arguments.
    let mut calls = b"cdatetime\ntimezone\n".repeat(5000);
    calls.push(b'N');
    calls.extend(b"\x85R".repeat(5000));
    calls.push(b'.');
    refused(&calls, ErrorKind::Limit);
    survey(&calls, &Limits::default());
}

#[test]
fn huge_lengths() {
    for opcode in [b'X', b'B', b'T', 0x8B] {
        let bytes = [opcode, 0xFF, 0xFF, 0xFF, 0x7F, b'a'];
        refused(&bytes, ErrorKind::Limit);
    }
    for opcode in [0x8D, 0x8E, 0x96, 0x95] {
        let mut bytes = vec![opcode];
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        refused(&bytes, ErrorKind::Limit);
    }
    let mut digits = vec![0x8B, 0, 0, 1, 0];
    digits.resize(5 + 65536, 1);
    digits.push(b'.');
    let error = refused(&digits, ErrorKind::Limit);
    assert!(error.message().contains("integer_digits"), "{error}");
}

#[test]
fn many_values_of_few_bytes() {
    // One byte each: the stack, the memo, empty lists.
    let many = 6 << 20;
    for byte in [b'N', b']', b')', b'('] {
        let error = refused(&vec![byte; many], ErrorKind::Limit);
        assert!(error.message().contains("the limit of nodes"), "{error}");
    }
    let memo = [vec![b'N'], vec![0x94; many]].concat();
    refused(&memo, ErrorKind::Limit);
    // A number far beyond all others takes no memory.
    check(b"Nr\xff\xff\xff\xff.", Value::Null);
}
