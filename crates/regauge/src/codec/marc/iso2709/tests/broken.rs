//! What is wrong with a record, and where the next one begins.

use super::*;

#[test]
fn broken_records_are_named_and_passed_over() {
    let good = record(UTF8, &[("001", b"good"), ("245", b"10\x1Fax")]);
    let check = |broken: &[u8], message: &str| {
        let bytes = [good.as_slice(), broken, good.as_slice()].concat();
        let message = format!("bad ({} bytes) marc: record 2{message}", broken.len());
        let good = "001=good 245[1][0]$a=x";
        assert_eq!(read(&bytes), [good, &message, good]);
    };
    let broken = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = record(UTF8, &[("001", b"bad 1"), ("245", b"10\x1Fax")]);
        change(&mut bytes);
        bytes
    };
    let place = good.len();
    check(
        &broken(&|bytes| bytes[0] = b'x'),
        &format!(
            ", byte {place}: found \"x0062\", expected the five digits of a record's \
             length (leader/00-04)"
        ),
    );
    check(
        &broken(&|bytes| bytes[12] = b'x'),
        &format!(
            " (001 bad 1), byte {}: found \"x0049\", expected the base address of data \
             (leader/12-16); set `marc.repair` to read the fields by their terminators",
            place + 12
        ),
    );
    check(
        &broken(&|bytes| bytes[16] = b'8'),
        &format!(
            " (001 bad 1), byte {}: found the base address 48 (leader/12-16), expected it right \
             after the directory's terminator; set `marc.repair` to read the fields by their \
             terminators",
            place + 12
        ),
    );
    check(
        &broken(&|bytes| bytes[24] = 0),
        &format!(
            ", byte {}: found the tag \"\\x0001\", expected three printable ASCII characters",
            place + 24
        ),
    );
    check(
        &broken(&|bytes| bytes[40] = b'-'),
        &format!(
            " (001 bad 1), byte {}: found the directory entry \"2450-0600006\", expected a tag \
             and nine digits; set `marc.repair` to read the fields by their terminators",
            place + 36
        ),
    );
    check(
        &broken(&|bytes| bytes[42] = b'5'),
        &format!(
            " (001 bad 1), byte {}: found the directory entry \"245000500006\", which does not end \
             at a field's terminator; set `marc.repair` to read the fields by their terminators",
            place + 36
        ),
    );
    // Both entries name the second field.
    check(
        &broken(&|bytes| bytes.copy_within(39..48, 27)),
        &format!(
            " (001 10), byte {}: found two directory entries that name the same bytes, expected \
             each field to have its own; set `marc.repair` to read the fields by their \
             terminators",
            place + 55
        ),
    );
    check(
        &broken(&|bytes| bytes[59] = 0xFF),
        &format!(
            " (001 bad 1), byte {}: found byte 0xFF in 245 $a, expected UTF-8 (leader/09 is \"a\"); \
             set `marc.charset` to `Marc8` if the leader is wrong and the record is in MARC-8",
            place + 59
        ),
    );
}

#[test]
fn a_terminator_within_a_field_is_refused() {
    let bytes = record(UTF8, &[("245", b"10\x1Fax\x1Ey")]);
    assert_eq!(
        read(&bytes),
        ["bad (46 bytes) marc: record 1, byte 42: found a terminator (0x1E) within field 245"]
    );
}

#[test]
fn a_record_without_its_end_does_not_take_the_next_with_it() {
    let good = record(UTF8, &[("001", b"good")]);
    let mut cut = record(UTF8, &[("001", b"cut"), ("245", b"10\x1FaTitle")]);
    cut.truncate(cut.len() - 6);
    let got = read(&[cut.as_slice(), &good, &good].concat());
    assert_eq!(got.len(), 3);
    assert!(got[0].starts_with(&format!("bad ({} bytes) marc: record 1 (001 cut)", cut.len())));
    assert_eq!(got[1..], ["001=good", "001=good"]);
}

#[test]
fn what_stands_between_records_is_passed_over() {
    let good = record(UTF8, &[("001", b"x")]);
    let mut bytes = b"\xEF\xBB\xBF\r\n".to_vec();
    for between in [&b""[..], b"\n", b"\r\n", b"\0\0 \x1A"] {
        bytes.extend_from_slice(&good);
        bytes.extend_from_slice(between);
    }
    assert_eq!(read(&bytes), ["001=x"; 4]);
    assert_eq!(read(b""), [""; 0]);
    assert_eq!(read(b"\n\n"), [""; 0]);
}

#[test]
fn cut_at_every_byte() {
    let first = record(UTF8, &[("001", b"one"), ("245", "10\x1FaÉté".as_bytes())]);
    let second = record(MARC8, &[("001", b"two"), ("245", b"10\x1Fa\xE2e")]);
    let bytes = [first.as_slice(), &second].concat();
    let all = read(&bytes);
    for cut in 0..bytes.len() {
        let got = read(&bytes[..cut]);
        let whole = usize::from(cut >= first.len());
        assert_eq!(got[..whole], all[..whole]);
        let inside = cut != 0 && cut != first.len();
        assert_eq!(got.len(), whole + usize::from(inside), "{cut}: {got:?}");
        if inside {
            assert!(
                got[whole].contains("found the end of the input")
                    || got[whole].contains("five digits"),
                "{got:?}"
            );
        }
    }
}
