//! What the writer does beyond a value's bytes: late heads, sorted keys, breaks, losses.

use super::feeding::Values;
use super::*;
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;

/// Drives `value` without giving any length.
struct Unknown<S>(S);

impl<S: Sink> Sink for Unknown<S> {
    fn null(&mut self) -> Result {
        self.0.null()
    }
    fn bool(&mut self, v: bool) -> Result {
        self.0.bool(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        self.0.i64(v)
    }
    fn u64(&mut self, v: u64) -> Result {
        self.0.u64(v)
    }
    fn f64(&mut self, v: f64) -> Result {
        self.0.f64(v)
    }
    fn f32(&mut self, v: f32) -> Result {
        self.0.f32(v)
    }
    fn str(&mut self, v: &str) -> Result {
        self.0.str(v)
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.0.bytes(v)
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.0.big_int(v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.0.ext(v)
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.0.begin_array(None)
    }
    fn end_array(&mut self) -> Result {
        self.0.end_array()
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.0.begin_map(None)
    }
    fn key(&mut self, k: &str) -> Result {
        self.0.key(k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.0.key_value(k)
    }
    fn end_map(&mut self) -> Result {
        self.0.end_map()
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.0.begin_typed(t)
    }
    fn end_typed(&mut self) -> Result {
        self.0.end_typed()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        self.0.fidelity()
    }
}

fn with(value: &Value, options: &Options) -> Vec<u8> {
    let mut writer = Writer::in_memory(options.clone(), OnLoss::Refuse);
    value.drive(&mut Unknown(&mut writer)).unwrap();
    writer.end_document().unwrap();
    writer.into_vec()
}

fn deterministic() -> Options {
    Options { deterministic: true, ..Options::default() }
}

#[test]
fn unknown_lengths_give_the_same_bytes() {
    let mut random = Values::new(11);
    for _ in 0..1000 {
        let value = random.value(5);
        assert_eq!(with(&value, &Options::default()), written(&value));
    }
    for count in [0, 23, 24, 255, 256, 65_535, 65_536] {
        let value = Value::Array(vec![Value::Array(vec![Value::Int(0); count]); 2]);
        assert_eq!(with(&value, &Options::default()), written(&value));
    }
}

/// Writes through a small buffer into a stream, with containers that are committed.
#[test]
fn containers_that_do_not_fit_into_memory() {
    let mut random = Values::new(12);
    let mut wide = 0;
    for _ in 0..300 {
        let value = Value::Array((0..20).map(|_| random.value(4)).collect());
        let mut bytes = Vec::new();
        let out = Out::flushing_at(64, StreamOutput::new(&mut bytes), 1 << 20);
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Cbor);
        let mut writer = Writer::new(out, Options::default(), fidelity);
        writer.set_hold_bytes(200);
        value.drive(&mut Unknown(&mut writer)).unwrap();
        writer.end_document().unwrap();
        writer.finish().unwrap();
        drop(writer);
        assert_eq!(from_slice(&bytes).unwrap(), value);
        wide += usize::from(bytes.len() > written(&value).len());
    }
    assert!(wide > 100, "{wide}");
}

#[test]
fn indefinite_lengths_on_demand() {
    let options = Options { indefinite: true, ..Options::default() };
    let value = Value::Array(vec![Value::Map(vec![(text("a"), Value::Array(vec![]))])]);
    assert_eq!(with(&value, &options), hex("9f bf 6161 9f ff ff ff"));
    // A known length is written.
    assert_eq!(to_vec_with(&value, &options, OnLoss::Refuse).unwrap(), written(&value));
    let mut random = Values::new(13);
    for _ in 0..300 {
        let value = random.value(4);
        assert_eq!(from_slice(&with(&value, &options)).unwrap(), value);
    }
}

#[test]
fn the_deterministic_encoding() {
    // The order of RFC 8949 §4.2.1.
    let keys = [
        ("0a", Value::Int(10)),
        ("1864", Value::Int(100)),
        ("20", Value::Int(-1)),
        ("617a", text("z")),
        ("626161", text("aa")),
        ("811864", Value::Array(vec![Value::Int(100)])),
        ("8120", Value::Array(vec![Value::Int(-1)])),
        ("f4", Value::Bool(false)),
    ];
    let expected: String = keys.iter().map(|(bytes, _)| format!("{bytes} f6")).collect();
    let mut pairs: Vec<_> = keys.into_iter().map(|(_, key)| (key, Value::Null)).collect();
    for turn in [0, 3, 5] {
        pairs.rotate_left(turn);
        let map = Value::Map(pairs.clone());
        assert_eq!(with(&map, &deterministic()), hex(&format!("a8 {expected}")));
        assert_eq!(
            to_vec_with(&map, &deterministic(), OnLoss::Refuse).unwrap(),
            with(&map, &deterministic())
        );
    }
    for (bytes, value) in [
        ("f93e00", Value::F64(1.5)),
        ("fa47c35000", Value::F64(100_000.0)),
        ("fb3ff199999999999a", Value::F64(1.1)),
        ("f97c00", Value::F64(f64::INFINITY)),
        ("c1f93800", time(0, 500_000_000)),
        (
            "a2 6161 01 6161 02",
            Value::Map(vec![(text("a"), Value::Int(1)), (text("a"), Value::Int(2))]),
        ),
    ] {
        assert_eq!(with(&value, &deterministic()), hex(bytes));
    }
    assert_eq!(with(&Value::F64(f64::NAN), &deterministic()), hex("f97e00"));
    let inner = Value::Map(vec![(text("b"), Value::Int(1)), (text("a"), Value::Int(2))]);
    let outer =
        Value::Map(vec![(inner.clone(), inner.clone()), (text("c"), Value::Array(vec![inner]))]);
    let sorted = "a2 6161 02 6162 01";
    assert_eq!(
        with(&outer, &deterministic()),
        hex(&format!("a2 6163 81 {sorted} {sorted} {sorted}"))
    );
    // Deterministic output stays the same when it is encoded again.
    let mut random = Values::new(14);
    for _ in 0..500 {
        let bytes = with(&random.value(4), &deterministic());
        let again = from_slice(&bytes).unwrap();
        assert_eq!(with(&again, &deterministic()), bytes);
    }
}

#[test]
fn a_document_that_is_too_large_to_sort() {
    let mut writer = Writer::in_memory(deterministic(), OnLoss::Refuse);
    writer.begin_map(None).unwrap();
    let long = "a".repeat(1 << 20);
    let error = (0..100)
        .find_map(|n| writer.key(&n.to_string()).and_then(|()| writer.str(&long)).err())
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error
            .hint_for(&crate::model::hint::Surface::COMMAND)
            .unwrap()
            .contains("--cbor-deterministic")
    );
}

#[test]
fn a_record_is_rolled_back() {
    for options in
        [Options::default(), deterministic(), Options { indefinite: true, ..Options::default() }]
    {
        let mut writer = Writer::in_memory(options.clone(), OnLoss::Refuse);
        writer.begin_array(None).unwrap();
        writer.i64(1).unwrap();
        writer.checkpoint();
        writer.begin_map(None).unwrap();
        writer.key("a").unwrap();
        writer.begin_array(None).unwrap();
        writer.i64(2).unwrap();
        writer.rollback();
        writer.i64(3).unwrap();
        writer.end_array().unwrap();
        writer.end_document().unwrap();
        let expected = if options.indefinite { "9f 01 03 ff" } else { "82 01 03" };
        assert_eq!(writer.into_vec(), hex(expected));
    }
}

#[test]
fn what_cbor_cannot_hold() {
    for value in [
        Value::MsgpackExt(1, vec![]),
        Value::Surrogates(vec![0xED, 0xA0, 0x80]),
        Value::Decimal("-0.0".into()).clone(),
        ext(Ext::ObjectId([0; 12])),
        ext(Ext::Date("today")),
        ext(Ext::OffsetDateTime("now")),
        ext(Ext::Time("12:00:00")),
        ext(Ext::Regex { pattern: "a", options: "i" }),
        ext(Ext::MinKey),
        Value::Typed(
            Box::new(TypeBuf { origin: Origin::Yaml, kind: "tag".into(), name: "!a".into() }),
            Box::new(Value::Null),
        ),
        tagged(28, Value::Null),
        tagged(29, Value::Int(0)),
    ] {
        let refused = to_vec(&value, OnLoss::Refuse);
        // A decimal that a double prints with the same digits is held as a double.
        if let Value::Decimal(text) = &value
            && text == "-0.0"
        {
            assert_eq!(from_slice(&refused.unwrap()).unwrap(), Value::F64(-0.0));
            continue;
        }
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Refused, "{value}");
        let mut writer = Writer::in_memory(Options::default(), OnLoss::Wrap);
        value.drive(&mut writer).unwrap();
        let mut builder = Builder::new(&Limits::default());
        let bytes = writer.into_vec();
        let mut unwrap = crate::policy::notation::Unwrap::new(&mut builder, &Limits::default());
        Reader::from_slice(Parser::default(), &bytes).next(&mut unwrap).unwrap();
        assert_eq!(builder.take().unwrap(), value);
    }
}
