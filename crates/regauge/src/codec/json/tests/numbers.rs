//! Numbers: every boundary, and random ones as the standard library has them.

use regauge_testdata::Random;

use super::refusals::refuse;
use super::{Events, build, check, check_pieces, events, whole};
use crate::codec::json::{Parser, ReadOptions, Reader, is_number, to_vec};
use crate::model::value::Value;
use crate::policy::event::Source as _;
use crate::policy::fidelity::LossKind;
use crate::{Limits, OnLoss};

#[test]
fn integers_at_every_boundary() {
    for text in [
        "0",
        "1",
        "9",
        "10",
        "12345678",
        "123456789",
        "9999999999999999",
        "12345678901234567",
        "999999999999999999",
        "9223372036854775807",
        "-1",
        "-9223372036854775807",
        "-9223372036854775808",
        "1000000000000000000",
    ] {
        check(text, &format!("i64 {text}"), text);
    }
    for text in ["9223372036854775808", "9999999999999999999", "18446744073709551615"] {
        check(text, &format!("u64 {text}"), text);
    }
    for text in [
        "18446744073709551616",
        "-9223372036854775809",
        "-18446744073709551616",
        "123456789012345678901234567890",
        "-99999999999999999999999999999999999999999",
    ] {
        check(text, text, text);
    }
    check("-0", "f64 -0.0", "-0.0");
}

#[test]
fn doubles_at_every_boundary() {
    for (text, event, written) in [
        ("0.0", "0.0", "0.0"),
        ("-0.0", "-0.0", "-0.0"),
        ("0e5", "0.0", "0.0"),
        ("-0e-5", "-0.0", "-0.0"),
        ("1.0", "1.0", "1.0"),
        ("1.5", "1.5", "1.5"),
        ("1E2", "100.0", "100.0"),
        ("1e+2", "100.0", "100.0"),
        ("100e-2", "1.0", "1.0"),
        ("0.1", "0.1", "0.1"),
        ("1e15", "1000000000000000.0", "1000000000000000.0"),
        ("1e16", "1e16", "1e+16"),
        ("1e-5", "1e-5", "0.00001"),
        ("0.00001234", "1.234e-5", "0.00001234"),
        ("1e22", "1e22", "1e+22"),
        ("1e23", "1e23", "1e+23"),
        ("9007199254740993.0", "9007199254740992.0", "9007199254740992.0"),
        ("9007199254740993.00000000000000000001", "9007199254740994.0", "9007199254740994.0"),
        ("0.30000000000000004", "0.30000000000000004", "0.30000000000000004"),
        ("-65.613616999999977", "-65.61361699999998", "-65.61361699999998"),
        ("1.7976931348623157e308", "1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1.7976931348623158e308", "1.7976931348623157e308", "1.7976931348623157e+308"),
        ("2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308"),
        ("2.2250738585072011e-308", "2.225073858507201e-308", "2.225073858507201e-308"),
        ("5e-324", "5e-324", "5e-324"),
        ("2.4703282292062328e-324", "5e-324", "5e-324"),
        ("2.4703282292062327e-324", "0.0", "0.0"),
        ("1e-400", "0.0", "0.0"),
        ("0.000000000000000000000000000000000000000000000000001", "1e-51", "1e-51"),
        ("123456789012345678901234567890.5", "1.2345678901234568e29", "1.2345678901234568e+29"),
    ] {
        check(text, &format!("f64 {event}"), written);
    }
}

#[test]
fn numbers_beyond_the_double() {
    let hint = "which is beyond the range of a double; pass --numbers exact to keep its digits";
    for text in ["1e309", "-1e400", "1.7976931348623159e308"] {
        refuse(text, 0, &format!("found the number {text}, {hint}"));
    }
    let exact = ReadOptions { exact_numbers: true, ..ReadOptions::default() };
    for text in ["1e400", "-0.10", "1E5", "123.456789012345678901234567890"] {
        let (events, error) = whole(exact, format!("[{text}]").as_bytes());
        assert_eq!((error, events[1].as_str()), (None, format!("Decimal({text:?})").as_str()));
        check_pieces(exact, format!("[{text}, 1]").as_bytes());
    }
    assert_eq!(whole(exact, b"12").0[0], "i64 12");
}

#[test]
fn random_numbers_are_read_and_written_as_std_does() {
    let mut random = Random::new(1);
    let mut texts = Vec::new();
    for _ in 0..60_000 {
        // Random bits; with as many digits as a double needs, and fewer; a fraction; many digits.
        let bits = f64::from_bits(random.bits());
        if bits.is_finite() {
            texts.push(format!("{bits:e}"));
            texts.push(format!("{:.*e}", (random.bits() % 25) as usize, bits));
        }
        let (a, b) = (random.bits(), random.bits());
        texts.push(format!("{}.{}", a >> (a % 64), b >> (b % 64)));
        texts.push(format!("-{}.{:0width$}", a % 1000, b >> (b % 64), width = (a >> 58) as usize));
        texts.push(format!("{}e{}", a >> (a % 64), (b % 660) as i64 - 340));
    }
    // Halfway between two doubles, and just next to it.
    for _ in 0..10_000 {
        let low = (1 << 53 | random.bits() >> 11) as u128;
        let half = (low << 1 | 1) << (random.bits() % 60);
        for text in [half - 1, half, half + 1] {
            texts.push(format!("{text}.0"));
            texts.push(format!("{text}e-7"));
        }
    }
    for text in texts {
        let wanted: f64 = text.parse().unwrap();
        if wanted.is_infinite() {
            continue;
        }
        // What follows decides whether the fast path is taken.
        for input in [format!("[{text},                                        1]"), text.clone()] {
            let number =
                events(input.as_bytes()).into_iter().find(|e| e.starts_with("f64")).unwrap();
            assert_eq!(number, format!("f64 {wanted:?}"), "{input}");
        }
        let written = to_vec(&Value::F64(wanted), OnLoss::Refuse).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert!(written.contains(['.', 'e']), "{written} would be read as an integer");
        assert_eq!(written.parse::<f64>().unwrap().to_bits(), wanted.to_bits(), "{written}");
    }
    for _ in 0..20_000 {
        let value = random.bits() as i64 >> (random.bits() % 64);
        check_integer(&value.to_string());
        check_integer(&(random.bits() >> (random.bits() % 64)).to_string());
    }
}

fn check_integer(text: &str) {
    let wanted = match text.parse::<i64>() {
        Ok(value) => format!("i64 {value}"),
        Err(_) => format!("u64 {text}"),
    };
    let input = format!("[{text},                       0]");
    assert_eq!(events(input.as_bytes())[1], wanted);
    assert_eq!(events(text.as_bytes())[0], wanted);
    assert_eq!(to_vec(&build(text.as_bytes()), OnLoss::Refuse).unwrap(), text.as_bytes());
}

#[test]
fn rounded_numbers_are_counted() {
    let options = ReadOptions { count_rounded: true, ..ReadOptions::default() };
    let input = b"[1.10, 0.1, 0.30000000000000000001, 1e2, 9007199254740993.0, 1e-400, 12]";
    let mut reader = Reader::from_slice(Parser::new(options, Limits::default()), input);
    let mut events = Events::default();
    assert!(reader.next(&mut events).unwrap());
    assert_eq!(reader.parser().rounded(), 3);
    let [loss] = events.fidelity.losses() else { panic!("{:?}", events.fidelity) };
    assert_eq!((loss.kind, loss.count), (LossKind::Rounded, 3));
    let shown: Vec<_> =
        loss.examples.iter().map(|e| (e.found.as_str(), e.written.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("0.30000000000000000001", "0.3"),
            ("9007199254740993.0", "9007199254740992.0"),
            ("1e-400", "0.0")
        ]
    );
}

#[test]
fn the_grammar_of_numbers() {
    for text in ["0", "-0", "10", "1.0", "1e1", "1E+1", "-1.5e-10", "0.0"] {
        assert!(is_number(text), "{text}");
    }
    for text in [
        "", "-", "+1", "01", "-01", "1.", ".1", "1e", "1e+", "1.e1", " 1", "1 ", "0x1", "NaN", "1,",
    ] {
        assert!(!is_number(text), "{text}");
    }
}
