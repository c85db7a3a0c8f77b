//! What is written to Parquet is read as the values that it was written from.
#![cfg(feature = "parquet")]

mod common;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use common::{how, map, read, written};
use regauge::{BigInt, Ext, Limits, OnLoss, Timestamp, Value};
use regauge_arrow::Losses;
use regauge_arrow::parquet::Compression;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn ext(ext: Ext<'_>) -> Value {
    Value::Ext(ext.into())
}

fn list<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

#[track_caller]
fn check(documents: &[Value]) {
    let losses = Losses::strict();
    let bytes = written(documents, &how(), &losses).unwrap();
    assert_eq!(read(bytes, &Limits::default()).unwrap(), documents);
    assert!(losses.counts().is_empty(), "{:?}", losses.counts());
}

/// A value in a column with a null, in a list, and in a map in a list.
#[track_caller]
fn comes_back(value: Value) {
    let inside = || map([("x", value.clone())]);
    check(&[
        map([
            ("v", value.clone()),
            ("l", list([value.clone(), Value::Null])),
            ("m", list([inside()])),
        ]),
        map([("v", Value::Null), ("l", Value::Null), ("m", list([]))]),
    ]);
}

#[test]
fn numbers() {
    for value in [0, 1, -1, i64::MIN, i64::MAX] {
        comes_back(Value::Int(value));
    }
    comes_back(Value::UInt(u64::MAX));
    for value in [0.0, -0.0, 0.1, f64::MAX, f64::MIN_POSITIVE, f64::INFINITY] {
        comes_back(Value::F64(value));
    }
    comes_back(Value::F32(0.1));
    // An integer beyond 64 bits, and one of each sign in a column.
    let big = Value::BigInt { negative: true, magnitude: vec![0, 0, 0, 0, 0, 0, 0, 0, 1] };
    comes_back(big.clone());
    check(&[map([("n", big)]), map([("n", Value::UInt(u64::MAX))]), map([("n", Value::Int(-1))])]);
    let nan = f64::from_bits(0x7FF8_0000_0000_0001);
    let bytes = written(&[map([("n", Value::F64(nan))])], &how(), &Losses::strict()).unwrap();
    let found = read(bytes, &Limits::default()).unwrap();
    let Value::F64(found) = found[0]["n"] else { panic!("{found:?}") };
    assert_eq!(found.to_bits(), nan.to_bits());
}

#[test]
fn decimals_have_the_digits_of_their_column() {
    for digits in ["0.5", "-12.50", "0.000", "99999999999999999999999999999999999.999"] {
        comes_back(Value::Decimal(digits.into()));
    }
    let column = |digits: [&str; 2]| {
        digits.map(|digits| map([("d", Value::Decimal(digits.into()))])).to_vec()
    };
    let bytes = written(&column(["1.5", "0.125"]), &how(), &Losses::strict()).unwrap();
    assert_eq!(read(bytes, &Limits::default()).unwrap(), column(["1.500", "0.125"]));
    let long = Value::Decimal("1.000000000000000000000000000000000000001".into());
    let error = written(&[map([("d", long)])], &how(), &Losses::strict()).unwrap_err();
    assert!(error.to_string().contains("record 1, at $.d: found a decimal"), "{error}");
}

#[test]
fn text_bytes_and_truth() {
    for value in [text(""), text("é\0𝄞"), Value::Bytes(vec![0, 255]), Value::Bytes(vec![])] {
        comes_back(value);
    }
    comes_back(Value::Bool(true));
}

#[test]
fn times() {
    for (seconds, nanoseconds) in
        [(0, 0), (-1, 999_999_000), (1_795_262_400, 5_000), (1_795_262_400, 7)]
    {
        comes_back(Value::Timestamp(Timestamp { seconds, nanoseconds }));
    }
    // Beyond what nanoseconds of 64 bits count, but not microseconds.
    comes_back(Value::Timestamp(Timestamp { seconds: -62_167_219_200, nanoseconds: 0 }));
    comes_back(ext(Ext::Date("0001-02-28")));
    for clock in ["00:00:00", "23:59:59.000001", "12:00:00.123456789"] {
        comes_back(ext(Ext::Time(clock)));
    }
    for local in ["2026-11-21T12:00:00", "1969-12-31T23:59:59.5", "2026-11-21T12:00:00.000000007"] {
        comes_back(ext(Ext::DateTime(local)));
    }
    comes_back(ext(Ext::Duration { seconds: -2, nanoseconds: 500_000_000 }));
    // Other text of the same time would not come back.
    let error = written(&[map([("t", ext(Ext::Time("12:00:00.50")))])], &how(), &Losses::strict());
    assert!(error.unwrap_err().to_string().contains("found a time of day"));
}

#[test]
fn lists_and_maps_nest() {
    comes_back(list([list([]), Value::Null, list([text("a"), Value::Null])]));
    comes_back(map([("a", Value::Int(1)), ("b", map([("c", Value::Null), ("d", list([]))]))]));
    let mut deep = Value::Int(1);
    for _ in 0..49 {
        deep = list([deep]);
    }
    check(&[map([("deep", deep.clone())])]);
    let error = written(&[map([("deep", list([deep.clone()]))])], &how(), &Losses::strict());
    assert!(error.unwrap_err().to_string().contains("51 levels, expected at most 50"));
    for _ in 0..60 {
        deep = list([deep]);
    }
    let error = written(&[map([("deep", deep)])], &how(), &Losses::strict()).unwrap_err();
    assert!(error.to_string().contains("more than 100"), "{error}");
}

#[test]
fn documents_that_are_no_maps() {
    check(&[Value::Int(1), Value::Null, Value::Int(3)]);
    check(&[list([Value::Int(1)]), list([])]);
    // A column of that name is a column.
    check(&[map([("value", Value::Int(1))])]);
}

#[test]
fn many_rows_in_every_compression() {
    let row = |n: i64| map([("n", Value::Int(n)), ("t", text(&format!("text {}", n % 7)))]);
    let rows: Vec<_> = (0..20_000).map(row).collect();
    for compression in [
        Compression::None,
        Compression::Snappy,
        Compression::Zstd(3),
        Compression::Gzip(6),
        Compression::Lz4,
    ] {
        let how = regauge_arrow::parquet::How { compression, ..how() };
        let bytes = written(&rows, &how, &Losses::strict()).unwrap();
        assert_eq!(read(bytes, &Limits::default()).unwrap(), rows);
    }
}

#[test]
fn a_document_that_does_not_fit_is_named() {
    let rows = [map([("a", Value::Int(1))]), map([("a", text("x"))])];
    let how = regauge_arrow::parquet::How { sample: 1, ..how() };
    let error = written(&rows, &how, &Losses::strict()).unwrap_err().to_string();
    assert!(
        error.starts_with("record 2, at $.a: found the text \"x\", expected an integer"),
        "{error}"
    );
    assert!(error.contains("--parquet-sample to look at more documents first"), "{error}");
    let more = [map([("a", Value::Int(1))]), map([("b", Value::Int(1))])];
    let error = written(&more, &how, &Losses::strict()).unwrap_err().to_string();
    assert!(
        error.starts_with("record 2, at $.b: found the integer 1, expected only fields"),
        "{error}"
    );
    let error = written(&rows, &common::how(), &Losses::strict()).unwrap_err().to_string();
    assert!(
        error.starts_with("record 2, at $.a: found the text \"x\", expected an integer as before"),
        "{error}"
    );
    assert!(error.contains("--on-loss wrap"), "{error}");
    for (value, message) in [
        (
            Value::Decimal("1e50".into()),
            "at $.a: found the decimal 1e50, expected one of at most 38 digits",
        ),
        (
            Value::Map(vec![(Value::Int(1), text("x"))]),
            "at $.a: found a map with the integer 1 as a key, expected text",
        ),
    ] {
        let error = written(&[map([("a", value)])], &common::how(), &Losses::strict()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    let twice = Value::Map(vec![(text("a"), Value::Int(1)), (text("a"), Value::Int(2))]);
    let error = written(&[twice], &common::how(), &Losses::strict()).unwrap_err().to_string();
    assert!(error.contains("at $.a: ") && error.contains("each key once"), "{error}");
    assert!(error.contains("pass --on-loss approximate to keep the last one"), "{error}");
    let error = written(&[map([])], &common::how(), &Losses::strict()).unwrap_err().to_string();
    assert!(error.contains("no document with a field"), "{error}");
}

#[test]
fn policies() {
    let rows = [map([("a", Value::Int(1))]), map([("a", list([text("x")]))]), map([])];
    let wrap = regauge_arrow::parquet::How { on_loss: OnLoss::Wrap, ..how() };
    let bytes = written(&rows, &wrap, &Losses::strict()).unwrap();
    let found = read(bytes, &Limits::default()).unwrap();
    assert_eq!(
        found,
        [map([("a", text("1"))]), map([("a", text("[\"x\"]"))]), map([("a", Value::Null)])]
    );
    let near = regauge_arrow::parquet::How { on_loss: OnLoss::Approximate, sample: 1, ..how() };
    let losses = Losses::strict();
    let bytes = written(&rows, &near, &losses).unwrap();
    let found = read(bytes, &Limits::default()).unwrap();
    assert_eq!(found[1], map([("a", Value::Null)]));
    assert_eq!(losses.counts(), [("absent", 1), ("value", 1)].into());
    let uuid = [map([("id", ext(Ext::Uuid([7; 16])))])];
    let losses = Losses::strict();
    let bytes = written(&uuid, &how(), &losses).unwrap();
    let found = read(bytes, &Limits::default()).unwrap();
    assert_eq!(found[0]["id"], text("07070707-0707-0707-0707-070707070707"));
    let fidelity = losses.fidelity();
    let example = &fidelity.losses()[0].examples[0];
    assert_eq!((example.record, example.found.as_str()), (Some(1), "a UUID"));
    assert_eq!(example.path.as_ref().map(ToString::to_string).as_deref(), Some("$.id"));
}

#[test]
fn integers_beyond_a_decimal() {
    let digits = "9".repeat(38);
    let (mut builder, limits) =
        (regauge::tree::Builder::new(&Limits::default()), Limits::default());
    regauge::Sink::big_int(&mut builder, BigInt::Decimal { negative: false, digits: &digits })
        .unwrap();
    let value = builder.take().unwrap();
    let bytes = written(&[map([("n", value.clone())])], &how(), &Losses::strict()).unwrap();
    assert_eq!(read(bytes, &limits).unwrap(), [map([("n", value)])]);
}

/// Types that no document is inferred as, but that the files of others have.
#[test]
fn a_schema_of_others() {
    let fixed =
        |of, length| DataType::FixedSizeList(Arc::new(Field::new("item", of, true)), length);
    let schema = Schema::new(vec![
        Field::new("pair", fixed(DataType::Int16, 2), true),
        Field::new("none", fixed(DataType::Int16, 0), true),
        Field::new("day", DataType::Date64, true),
        Field::new("cents", DataType::Decimal32(9, 2), true),
        Field::new("more", DataType::Decimal64(18, 3), true),
        Field::new("text", DataType::Utf8View, true),
        Field::new("bytes", DataType::BinaryView, true),
        Field::new("id", DataType::FixedSizeBinary(16), true),
    ]);
    let how = regauge_arrow::parquet::How { schema: Some(Arc::new(schema)), ..how() };
    let row = |pair: Value, id: Value| {
        map([
            ("pair", pair),
            ("none", list([])),
            ("day", ext(Ext::Date("1969-12-31"))),
            ("cents", Value::Decimal("-12.50".into())),
            ("more", Value::Decimal("123456789012345.678".into())),
            ("text", text("longer than the twelve bytes of a view")),
            ("bytes", Value::Bytes(vec![0, 255])),
            ("id", id),
        ])
    };
    let bytes = |id: [u8; 16]| Value::Bytes(id.to_vec());
    let nulls = map(["pair", "none", "day", "cents", "more", "text", "bytes", "id"]
        .map(|name| (name, Value::Null)));
    let rows = [
        row(list([Value::Int(1), Value::Int(-2)]), bytes([1; 16])),
        nulls,
        row(list([Value::Null, Value::Int(3)]), ext(Ext::Uuid([7; 16]))),
    ];
    let losses = Losses::strict();
    let file = written(&rows, &how, &losses).unwrap();
    let found = read(file, &Limits::default()).unwrap();
    let [first, second, mut third] = rows;
    if let Value::Map(pairs) = &mut third {
        pairs[7].1 = bytes([7; 16]);
    }
    assert_eq!(found, [first, second, third]);
    assert_eq!(losses.counts(), [("type", 1)].into());

    for (name, value, expected) in [
        ("pair", list([Value::Int(1)]), "found an array, expected an array of 2 items"),
        (
            "pair",
            list([Value::Int(1), Value::Int(40_000)]),
            "the integer 40000, expected an integer of 16 bits",
        ),
        ("day", text("1969-12-31"), "found the text \"1969-12-31\", expected a date"),
        (
            "cents",
            Value::Decimal("12345678.90".into()),
            "found the decimal 12345678.90, expected a decimal of",
        ),
        ("more", Value::Decimal("0.0001".into()), "expected a decimal of the column's digits"),
        ("id", Value::Bytes(vec![1; 15]), "expected binary data of the column's length"),
    ] {
        let error = written(&[map([(name, value)])], &how, &Losses::strict()).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    // A null among lists of one length is as long as they are.
    let near = regauge_arrow::parquet::How { on_loss: OnLoss::Approximate, ..how };
    let pairs = [list([Value::Int(1)]), list([Value::Int(1), Value::Int(2)])];
    let rows = pairs.map(|pair| map([("pair", pair)]));
    let found = read(written(&rows, &near, &Losses::new()).unwrap(), &Limits::default()).unwrap();
    assert_eq!((&found[0]["pair"], &found[1]["pair"]), (&Value::Null, &rows[1]["pair"]));
}

/// A null takes as much as any value in a column of one length, and a schema may ask for any.
#[test]
fn nulls_of_any_length_are_bounded() {
    let bytes = |width| DataType::FixedSizeBinary(width);
    let items =
        |of, length| DataType::FixedSizeList(Arc::new(Field::new("item", of, true)), length);
    let list = |of| DataType::List(Arc::new(Field::new("item", of, true)));
    let inside = |of| DataType::Struct(vec![Field::new("in", of, true)].into());
    let nulls = |count| Value::Array(vec![Value::Null; count]);
    let write = |of: DataType, value: Option<Value>| {
        let schema = Schema::new(vec![Field::new("a", of, true)]);
        let how = regauge_arrow::parquet::How { schema: Some(Arc::new(schema)), ..how() };
        let row = value.map_or_else(|| map([]), |value| map([("a", value)]));
        written(&[row.clone(), row], &how, &Losses::new())
    };
    for (of, value) in [
        (bytes(i32::MAX), None),
        (bytes(i32::MAX), Some(Value::Null)),
        (items(DataType::Int8, i32::MAX), None),
        (items(items(DataType::Int8, 1 << 20), 1 << 20), Some(Value::Null)),
        (inside(items(bytes(1 << 10), 1 << 20)), None),
        (list(bytes(1 << 20)), Some(nulls(600))),
    ] {
        let error = write(of.clone(), value).unwrap_err();
        assert_eq!(error.kind(), regauge::ErrorKind::Limit, "{of}: {error}");
        assert!(error.to_string().contains("found nulls in columns of one length"), "{error}");
    }
    for (of, value) in [
        (bytes(1 << 20), None),
        (inside(items(bytes(8), 3)), Some(Value::Null)),
        (list(items(DataType::Int8, 3)), Some(nulls(600))),
    ] {
        write(of.clone(), value).unwrap_or_else(|error| panic!("{of}: {error}"));
    }
}
