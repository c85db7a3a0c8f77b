//! Documents that look like the reversible notation, through all ordered pairs of formats: plain
//! data is never touched, and `unwrap` restores whatever `wrap` writes.
//!
//! `REGAUGE_DOCUMENTS` sets the total number of documents.

use std::slice;

use regauge::documents::Documents;
use regauge::matrix::{kinds, same};
use regauge::values::{read_values, write_values};
use regauge::{
    ErrorKind, Ext, Format, OnLoss, Options, Origin, Timestamp, Type, Value, convert_bytes,
};
use regauge_testdata::Random;

/// Number of documents without `REGAUGE_DOCUMENTS`.
const DOCUMENTS: u64 = 5_000;

/// Random documents.
struct Values(Random);

impl Values {
    fn key(&mut self, depth: usize) -> Value {
        match self.0.below(12) {
            0 => Value::Int(1),
            1 if depth > 0 => self.value(depth - 1),
            2 => Value::Text(format!("$key:{}", self.0.of(NOTATIONS))),
            3 => Value::Text(self.0.of(&["a", "value", "base64", "subType", "bits"]).into()),
            _ => Value::Text(self.0.of(NAMES).into()),
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.0.below(if depth == 0 { 3 } else { 10 }) {
            0 => Value::Int(1),
            1 => Value::Text(self.0.of(&["NaN", "1", "AQI=", "Foo", "$literal", "00"]).into()),
            2 => plain(self.0.of(NOTATIONS)),
            3 => Value::Array((0..self.0.below(3)).map(|_| self.value(depth - 1)).collect()),
            _ => self.map(depth),
        }
    }

    fn map(&mut self, depth: usize) -> Value {
        let pairs = (0..self.0.below(4)).map(|_| (self.key(depth - 1), self.value(depth - 1)));
        Value::Map(pairs.collect())
    }
}

/// Every name of the notation, and near misses.
const NAMES: &[&str] = &[
    "$literal",
    "$binary",
    "$numberDouble",
    "$integer",
    "$decimal",
    "$time",
    "$ext",
    "$surrogates",
    "$text",
    "$alias",
    "$anchor",
    "$symbol",
    "$localDate",
    "$oid",
    "$uuid",
    "$minKey",
    "$simple",
    "$complex",
    "$null",
    "$value",
    "$ruby:object",
    "$yaml:tag",
    "$cbor:tag",
    "$python:set",
    "$other:tag",
    "$key:",
    "$key:1",
    "$key:\"$key:1\"",
    "$key:x",
    "$q",
    "$",
    "$$literal",
];

/// Values in the notation, as plain JSON.
const NOTATIONS: &[&str] = &[
    r#"{"$numberDouble":"NaN"}"#,
    r#"{"$numberDouble":{"bits":"7ff8000000000001"}}"#,
    r#"{"$binary":{"base64":"AQI=","subType":"00"}}"#,
    r#"{"$integer":"18446744073709551616"}"#,
    r#"{"$decimal":"1.10"}"#,
    r#"{"$time":"2026-11-21T12:00:00Z"}"#,
    r#"{"$ext":{"type":5,"base64":"AQI="}}"#,
    r#"{"$literal":{"$binary":1}}"#,
    r#"{"$literal":{}}"#,
    r#"{"$key:1":2}"#,
    r#"{"$symbol":"a"}"#,
    r#"{"$cbor:tag":"0","value":"x"}"#,
    r#"{"$anchor":1,"value":[]}"#,
    r#"{"$alias":1}"#,
    r#"{"$minKey":1}"#,
    r#"{"$null":true}"#,
    r#"{"$value":[1]}"#,
    "1",
    "[1]",
];

/// Returns the value of a JSON text, none of it read as notation.
fn plain(json: &str) -> Value {
    let options = Options::new(Format::Json, Format::Json);
    read_values(json.as_bytes(), &options).unwrap().pop().unwrap()
}

fn formats() -> Vec<Format> {
    Format::ALL.into_iter().filter(|format| !format.is_marc()).collect()
}

fn options(from: Format, to: Format) -> Options {
    let mut options = Options::new(from, to);
    options.documents = Documents::Keep;
    options
}

/// Returns whether two files mean the same, none of it read as notation.
fn alike(one: &[u8], other: &[u8], format: Format) -> bool {
    let read = |bytes: &[u8]| {
        let mut options = options(format, format);
        options.json_read.exact_numbers = true;
        options.yaml.exact_numbers = true;
        read_values(bytes, &options).unwrap()
    };
    one == other || same(&read(one), &read(other))
}

/// Converts to the other format in the notation, and back out of it.
fn wrapped_and_back(bytes: &[u8], from: Format, to: Format) -> regauge::Result<Vec<u8>> {
    // If numbers are text, their digits are data.
    let is_text = matches!(from, Format::Json | Format::Ndjson | Format::Yaml);
    let exact = |from, to| {
        let mut options = options(from, to);
        options.json_read.exact_numbers = is_text;
        options.yaml.exact_numbers = is_text;
        options
    };
    let mut there = exact(from, to);
    there.on_loss = OnLoss::Wrap;
    let mut back = exact(to, from);
    back.unwrap = true;
    convert_bytes(&convert_bytes(bytes, &there)?, &back)
}

#[test]
fn look_alikes_come_back_through_every_pair() {
    let documents = std::env::var("REGAUGE_DOCUMENTS").ok().and_then(|text| text.parse().ok());
    let documents: u64 = documents.unwrap_or(DOCUMENTS);
    let formats = formats();
    let mut through = 0;
    for seed in 0..documents {
        let mut random = Values(Random::new(seed));
        let document = random.map(4);
        let from = formats[random.0.below(formats.len())];
        // JSON and BSON only have text keys.
        let Ok((source, _)) = write_values(slice::from_ref(&document), &options(from, from)) else {
            continue;
        };
        for &to in &formats {
            let back = wrapped_and_back(&source, from, to).unwrap_or_else(|error| {
                panic!("{from} → {to}, seed {seed}: {error}\n{document:?}")
            });
            assert!(
                alike(&back, &source, from),
                "{from} → {to}, seed {seed}: wrapped\n{document:?}"
            );
            match convert_bytes(&source, &options(from, to)) {
                // A table holds less than this, and turns numbers into text: see `pairs.rs`.
                _ if to.is_table() => {}
                Ok(there) => {
                    let back = convert_bytes(&there, &options(to, from)).unwrap();
                    assert!(
                        alike(&back, &source, from),
                        "{from} → {to}, seed {seed}: plain\n{document:?}"
                    );
                    through += 1;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
                    assert!(error.message().contains("key"), "{error}");
                }
            }
        }
    }
    assert!(through > documents, "only {through} went through unchanged");
}

/// Applies the notation twice, through three formats: each application is undone separately.
#[test]
fn the_notation_nests() {
    let formats = formats();
    for seed in 0..300 {
        let mut random = Values(Random::new(seed << 20));
        let document = random.map(4);
        let pick = |random: &mut Values| formats[random.0.below(formats.len())];
        let (a, b, c) = (pick(&mut random), pick(&mut random), pick(&mut random));
        let Ok((source, _)) = write_values(&[document], &options(a, a)) else { continue };
        let mut wrap = options(a, b);
        wrap.on_loss = OnLoss::Wrap;
        let once = convert_bytes(&source, &wrap).unwrap();
        let again = wrapped_and_back(&once, b, c).unwrap();
        assert!(alike(&again, &once, b), "{a} → {b} → {c}, seed {seed}");
        let mut undo = options(b, a);
        undo.unwrap = true;
        let back = convert_bytes(&again, &undo).unwrap();
        assert!(alike(&back, &source, a), "{a} → {b} → {c}, seed {seed}");
    }
}

/// Returns one value of every kind that any format has.
fn every_kind() -> Vec<(String, Value)> {
    let map = |value| Value::Map(vec![(Value::Text("v".into()), value)]);
    let ext = |v: Ext<'_>| map(Value::Ext(v.into()));
    let tag = |number: &str, value| {
        let t = Type { origin: Origin::Cbor, kind: "tag", name: number };
        map(Value::Typed(Box::new((&t).into()), Box::new(value)))
    };
    let text = |text: &str| Value::Text(text.into());
    let at = |seconds, nanoseconds| map(Value::Timestamp(Timestamp { seconds, nanoseconds }));
    let mut all: Vec<(String, Value)> =
        kinds().into_iter().map(|kind| (kind.name.to_owned(), kind.example)).collect();
    let more = [
        ("a NaN with a payload", map(Value::F64(f64::from_bits(0x7FF8_0000_0000_0001)))),
        ("a signalling NaN", map(Value::F64(f64::from_bits(0x7FF0_0000_0000_0001)))),
        ("a single NaN with a payload", map(Value::F32(f32::from_bits(0x7F80_0001)))),
        ("an infinity", map(Value::F64(f64::NEG_INFINITY))),
        ("a decimal that a double has", map(Value::Decimal("1.5".into()))),
        ("a small integer of 64 bits", ext(Ext::Int64(5))),
        ("the first second", at(-62_167_219_200, 0)),
        ("a late second", at(253_402_300_800, 1)),
        ("an offset of zero", ext(Ext::OffsetDateTime("2026-11-21T12:00:00+00:00"))),
        ("an offset with seconds", ext(Ext::OffsetDateTime("1930-01-01T00:00:00+00:19:32"))),
        ("a date before the reform", ext(Ext::Date("1500-01-01"))),
        ("options of a regular expression", ext(Ext::Regex { pattern: "a", options: "" })),
        ("MaxKey", ext(Ext::MaxKey)),
        ("infinite complex number", ext(Ext::Complex(f64::NEG_INFINITY, -0.0))),
        ("tag 0 over what is no time", tag("0", text("yesterday"))),
        ("tag 1 over what is no time", tag("1", text("yesterday"))),
        ("tag 1 over NaN", tag("1", Value::F64(f64::NAN))),
        ("tag 4 over what is no decimal", tag("4", text("x"))),
        ("tag 37 over what is no UUID", tag("37", Value::Bytes(vec![1]))),
        ("tag 1004 over what is no date", tag("1004", text("x"))),
    ];
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    all
}

#[test]
fn every_kind_of_value_comes_back_through_every_pair() {
    let mut through = 0;
    for (name, value) in every_kind() {
        for from in formats() {
            let mut exact = options(from, from);
            exact.json_read.exact_numbers = true;
            exact.yaml.exact_numbers = true;
            let given = [value.clone()];
            // Skips values that the format cannot hold.
            let Ok((source, _)) = write_values(&given, &exact) else { continue };
            let before = read_values(&source, &exact).unwrap();
            if !same(&before, &given) {
                continue;
            }
            for to in formats() {
                match wrapped_and_back(&source, from, to) {
                    Ok(back) => assert!(
                        alike(&back, &source, from),
                        "{name}, {from} → {to}:\n{}\n{}",
                        back.escape_ascii(),
                        source.escape_ascii()
                    ),
                    // A BSON document is a map.
                    Err(error) if error.kind() == ErrorKind::Unrepresentable => {
                        assert!(to == Format::Bson, "{name}, {from} → {to}: {error}");
                    }
                    Err(error) => panic!("{name}, {from} → {to}: {error}"),
                }
                through += 1;
            }
        }
    }
    assert!(through > 1000, "only {through} kinds and pairs");
}

/// Objects of Ruby's standard library as Ruby wrote them.
#[test]
fn objects_of_ruby_come_back() {
    for (name, bytes) in [
        ("Date", &b"\x04\x08U:\tDate[\x0Bi\x00i\x03\xDA\x8D\x25i\x00i\x00i\x00f\x0C2299161"[..]),
        ("Date of 1500", b"\x04\x08U:\tDate[\x0Bi\x00i\x03\x56\x9D\x22i\x00i\x00i\x00f\x0C2299161"),
        ("DateTime", b"\x04\x08U:\rDateTime[\x0Bi\x00i\x03\xDA\x8D\x25i\x02\x30\x2Ai\x00i\x02\x20\x1Cf\x0C2299161"),
        ("BigDecimal", b"\x04\x08u:\x0FBigDecimal\x0E18:0.15e1"),
        ("BigDecimal with more digits", b"\x04\x08u:\x0FBigDecimal\x2127:0.12345678901234567895e19"),
    ] {
        for to in formats() {
            let given = match to {
                // A BSON document is a map.
                Format::Bson => [b"\x04\x08{\x06I\"\x06v\x06:\x06ET", &bytes[2..]].concat(),
                _ => bytes.to_vec(),
            };
            let back = wrapped_and_back(&given, Format::Marshal, to)
                .unwrap_or_else(|error| panic!("{name} → {to}: {error}"));
            assert!(
                back == given,
                "{name} → {to}:\n{}\n{}",
                back.escape_ascii(),
                given.escape_ascii()
            );
        }
    }
}
