//! Containers of unknown length: predicted, moved, spliced, committed.

use std::io::{Read as _, Seek as _};

use super::feeding::Values;
use super::*;
use crate::bytes::buffer::Out;
use crate::bytes::output::{FileOutput, StreamOutput};
use crate::policy::event::{ShortText, forward};

/// Hides lengths, as JSON does.
struct Unsized<S> {
    inner: S,
}

impl<S: Sink> Sink for Unsized<S> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext end_array key key_value end_map fidelity);

    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.inner.begin_array(None)
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.inner.begin_map(None)
    }
}

fn write_unsized(value: &Value, writer: &mut Writer<'_>) {
    value.drive(&mut Unsized { inner: &mut *writer }).unwrap();
    writer.end_document().unwrap();
}

/// Writes through `script` to a pipe and to a file, with tiny bounds; checks that both get the same
/// bytes.
fn through_outputs(flush: usize, hold: u64, script: impl Fn(&mut Writer<'_>)) -> Vec<u8> {
    let mut pipe = Vec::new();
    let mut writer = Writer::new(
        Out::flushing_at(flush, StreamOutput::new(&mut pipe), u64::MAX),
        Fidelity::new(OnLoss::Refuse, Format::Msgpack),
    );
    writer.set_hold_bytes(hold);
    script(&mut writer);
    writer.finish().unwrap();
    drop(writer);

    let mut file = tempfile::tempfile().unwrap();
    let output = FileOutput::new(file.try_clone().unwrap()).unwrap();
    let mut writer = Writer::new(
        Out::flushing_at(flush, output, u64::MAX),
        Fidelity::new(OnLoss::Refuse, Format::Msgpack),
    );
    writer.set_hold_bytes(hold);
    script(&mut writer);
    writer.finish().unwrap();
    drop(writer);
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    assert!(bytes == pipe, "file and pipe differ");
    bytes
}

#[test]
fn unknown_lengths_give_the_same_bytes() {
    let mut random = Values::new(11);
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    let mut expected = Vec::new();
    for _ in 0..1000 {
        // One writer for all, so that predictions carry over between documents.
        let value = random.value(5);
        write_unsized(&value, &mut writer);
        expected.extend(to_vec(&value, OnLoss::Refuse).unwrap());
    }
    assert!(writer.into_vec() == expected);
}

/// Sends short text with more bytes after it, as readers do.
struct Windowed<S> {
    inner: S,
}

fn window(text: &str) -> [u8; 32] {
    let mut window = [0xA5; 32];
    let count = text.len().min(32);
    window[..count].copy_from_slice(&text.as_bytes()[..count]);
    window
}

impl<S: Sink> Sink for Windowed<S> {
    forward!(null bool i64 u64 f64 f32 bytes big_int ext begin_array end_array begin_map key_value
        end_map fidelity);

    fn str(&mut self, v: &str) -> Result {
        match ShortText::ascii(&window(v), v.len()) {
            Some(short) => self.inner.short_str(short),
            None => self.inner.str(v),
        }
    }
    fn key(&mut self, k: &str) -> Result {
        match ShortText::ascii(&window(k), k.len()) {
            Some(short) => self.inner.short_key(short),
            None => self.inner.key(k),
        }
    }
}

#[test]
fn kept_promises_give_the_same_bytes() {
    let mut random = Values::new(17);
    let fidelity = || Fidelity::new(OnLoss::Refuse, Format::Msgpack);
    let text = |length: usize| Value::Text("text ".repeat(14).split_at(length).0.into());
    let texts = Value::Array((0..70).map(text).collect());
    let counts = [15, 16, 65_535, 65_536].map(ints);
    let pairs = |count| Value::Map((0..count).map(|n| (Value::Int(n), Value::Null)).collect());
    let maps = [15, 16, 65_536].map(pairs);
    let integers = (0..64).flat_map(|bits| {
        let v = 1i64 << bits;
        [v.wrapping_sub(1), v, v.wrapping_add(1), v.wrapping_neg()].map(Value::Int)
    });
    let integers = Value::Array(integers.chain([Value::UInt(u64::MAX)]).collect());
    let mut values: Vec<Value> = (0..1000).map(|_| random.value(5)).collect();
    values.extend(counts.into_iter().chain(maps).chain([texts, integers]));
    for value in values {
        let expected = to_vec(&value, OnLoss::Refuse).unwrap();
        for windowed in [false, true] {
            let mut writer = Promised::new(Out::in_memory(), fidelity());
            let mut plain = Writer::in_memory(OnLoss::Refuse);
            if windowed {
                value.drive(&mut Windowed { inner: &mut writer }).unwrap();
                value.drive(&mut Windowed { inner: &mut plain }).unwrap();
            } else {
                value.drive(&mut writer).unwrap();
                value.drive(&mut plain).unwrap();
            }
            writer.end_document().unwrap();
            writer.finish().unwrap();
            assert!(writer.into_out().into_vec() == expected, "{value:?}");
            assert!(plain.into_vec() == expected, "{value:?}");
        }
    }
    let mut writer = Promised::new(Out::in_memory(), fidelity());
    assert!(writer.begin_array(None).is_err());
}

#[test]
fn unknown_lengths_at_every_width() {
    for count in [0, 1, 15, 16, 17, 65_535, 65_536, 70_000] {
        for around in [0, 1, 15, 16] {
            let inner = ints(count);
            let value = Value::Array(
                std::iter::once(inner.clone())
                    .chain((0..around).map(Value::Int))
                    .chain([Value::Map(vec![(text("k"), inner)])])
                    .collect(),
            );
            let mut writer = Writer::in_memory(OnLoss::Refuse);
            write_unsized(&value, &mut writer);
            write_unsized(&value, &mut writer);
            let expected = to_vec(&value, OnLoss::Refuse).unwrap();
            assert!(writer.into_vec() == expected.repeat(2), "{count} {around}");
        }
    }
}

#[test]
fn outputs_with_tiny_bounds_hold_the_same_documents() {
    let mut random = Values::new(12);
    let mut committed = 0;
    for round in 0..600 {
        let values: Vec<Value> = (0..1 + random.0.below(3)).map(|_| random.value(5)).collect();
        let (flush, hold) = (1 + random.0.below(300), random.0.below(400) as u64);
        let bytes = through_outputs(flush, hold, |writer| {
            for value in &values {
                write_unsized(value, writer);
            }
        });
        let canonical: Vec<Vec<u8>> =
            values.iter().map(|value| to_vec(value, OnLoss::Refuse).unwrap()).collect();
        committed += usize::from(bytes != canonical.concat());
        let mut at = 0;
        for (value, canonical) in values.iter().zip(&canonical) {
            let end = at + documents_end(&bytes[at..], 1);
            let document = &bytes[at..end];
            assert_eq!(from_slice(document).unwrap(), *value, "round {round}");
            // Room for one more token: a writer asks for it before it knows its size.
            if canonical.len() as u64 + 600 < hold {
                assert_eq!(document, canonical);
            }
            at = end;
        }
        assert_eq!(at, bytes.len());
    }
    assert!(committed > 100, "{committed} documents had a committed container");
}

#[test]
fn what_fits_the_bound_has_shortest_headers() {
    let value = Value::Array((0..50).map(ints).collect());
    let expected = to_vec(&value, OnLoss::Refuse).unwrap();
    let bytes = through_outputs(64, 4 * expected.len() as u64, |writer| {
        write_unsized(&value, writer);
        write_unsized(&value, writer);
    });
    assert!(bytes == expected.repeat(2));
}

#[test]
fn a_large_array_is_not_held() {
    const FLUSH: usize = 4 << 10;
    const HOLD: u64 = 64 << 10;
    let mut pipe = Vec::new();
    let mut writer = Writer::new(
        Out::flushing_at(FLUSH, StreamOutput::new(&mut pipe), u64::MAX),
        Fidelity::new(OnLoss::Refuse, Format::Msgpack),
    );
    writer.set_hold_bytes(HOLD);
    writer.begin_array(None).unwrap();
    let mut most = 0;
    for i in 0..200_000 {
        writer.begin_map(None).unwrap();
        writer.key("number").unwrap();
        writer.i64(i).unwrap();
        writer.end_map().unwrap();
        most = most.max(writer.held() as u64);
    }
    writer.end_array().unwrap();
    writer.end_document().unwrap();
    writer.i64(7).unwrap();
    writer.end_document().unwrap();
    writer.finish().unwrap();
    assert!(most <= HOLD + 64, "{most} bytes were held");
    drop(writer);
    // Only this one header is wide.
    assert_eq!(pipe[..5], hex("dd00030d40"));
    let expected = Value::Array(
        (0..200_000).map(|i| Value::Map(vec![(text("number"), Value::Int(i))])).collect(),
    );
    let canonical = to_vec(&expected, OnLoss::Refuse).unwrap();
    assert!(pipe[5..pipe.len() - 1] == canonical[5..]);
    assert_eq!(pipe.last(), Some(&7));
}

#[test]
fn everything_open_is_committed_at_once() {
    // Three open containers of unknown length around a long text, followed by two more documents.
    let script = |writer: &mut Writer<'_>| {
        writer.begin_array(None).unwrap();
        writer.begin_map(None).unwrap();
        writer.key("a").unwrap();
        writer.begin_array(Some(2)).unwrap();
        writer.begin_array(None).unwrap();
        for _ in 0..20 {
            writer.str("0123456789").unwrap();
        }
        writer.end_array().unwrap();
        writer.null().unwrap();
        writer.end_array().unwrap();
        writer.end_map().unwrap();
        writer.begin_array(None).unwrap();
        writer.end_array().unwrap();
        writer.end_array().unwrap();
        writer.end_document().unwrap();
    };
    let bytes = through_outputs(16, 100, |writer| {
        script(writer);
        script(writer);
    });
    let strings = "aa30313233343536373839".repeat(20);
    let document = hex(&format!("dd00000002 df00000001 a161 92 dd00000014 {strings} c0 90"));
    assert_eq!(bytes.escape_ascii().to_string(), document.repeat(2).escape_ascii().to_string());
}

#[test]
fn records_that_are_rolled_back_leave_no_trace() {
    let mut random = Values::new(13);
    for round in 0..400 {
        // Records in an open array, or separate documents.
        let in_array = round % 2 == 0;
        let records: Vec<(Value, bool)> =
            (0..random.0.below(20)).map(|_| (random.value(4), random.0.below(3) == 0)).collect();
        let (flush, hold) = (1 + random.0.below(200), random.0.below(300) as u64);
        let bytes = through_outputs(flush, hold, |writer| {
            if in_array {
                writer.begin_array(None).unwrap();
            }
            for (value, broken) in &records {
                writer.checkpoint();
                if *broken {
                    // Interrupted deep inside.
                    writer.begin_map(None).unwrap();
                    writer.key("record").unwrap();
                    writer.begin_array(None).unwrap();
                    value.drive(&mut Unsized { inner: &mut *writer }).unwrap();
                    writer.begin_array(Some(3)).unwrap();
                    writer.rollback();
                } else {
                    value.drive(&mut Unsized { inner: &mut *writer }).unwrap();
                    if !in_array {
                        writer.end_document().unwrap();
                    }
                }
            }
            if in_array {
                writer.end_array().unwrap();
                writer.end_document().unwrap();
            }
        });
        let good = records.iter().filter(|(_, broken)| !broken).map(|(value, _)| value.clone());
        let read = match in_array {
            true => from_slice(&bytes).unwrap(),
            false => {
                let mut reader = Reader::from_slice(Parser::default(), &bytes);
                let mut read = Vec::new();
                let mut builder = Builder::new(&Limits::default());
                while reader.next(&mut builder).unwrap() {
                    read.push(builder.take().unwrap());
                }
                Value::Array(read)
            }
        };
        assert_eq!(read, Value::Array(good.collect()), "round {round}");
    }
}

/// Writes `levels` nested arrays of `elements` values, the last of which is the next level, around
/// `core`.
fn nest(writer: &mut Writer<'_>, levels: usize, elements: impl Fn(usize) -> usize, core: &str) {
    for level in 0..levels {
        writer.begin_array(None).unwrap();
        for _ in 1..elements(level) {
            writer.null().unwrap();
        }
    }
    writer.str(core).unwrap();
    for _ in 0..levels {
        writer.end_array().unwrap();
    }
    writer.end_document().unwrap();
}

#[test]
fn hostile_nesting_moves_each_byte_a_few_times() {
    let core = "x".repeat(10 << 20);
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    nest(&mut writer, 1000, |_| 17, &core);
    let (moved, length) = (writer.moved(), writer.into_vec().len() as u64);
    assert_eq!(length, 5 + (10 << 20) + 1000 * (3 + 16));
    assert!(moved <= 2 * length + (1 << 20), "{moved} bytes moved for {length}");
}

#[test]
fn hostile_alternation_moves_each_byte_a_few_times() {
    // Bodies small enough to be moved, and widths that are never predicted correctly.
    let core = "x".repeat(50 << 10);
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    let mut expected = Writer::in_memory(OnLoss::Refuse);
    for round in 0..40 {
        let elements = |level: usize| if (level + round).is_multiple_of(2) { 15 } else { 17 };
        nest(&mut writer, 300, elements, &core);
        let mut value = text(&core);
        for level in (0..300).rev() {
            let mut values = vec![Value::Null; elements(level) - 1];
            values.push(value);
            value = Value::Array(values);
        }
        value.drive(&mut expected).unwrap();
    }
    let (moved, bytes) = (writer.moved(), writer.into_vec());
    assert!(bytes == expected.into_vec());
    let bound = 6 * bytes.len() as u64 + (64 << 10);
    assert!(moved <= bound, "{moved} bytes moved for {}", bytes.len());
}

#[test]
fn counts_that_no_header_holds() {
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    assert!(writer.begin_array(Some(u32::MAX.into())).is_ok());
    let error = writer.begin_array(Some(1 << 32)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unrepresentable);
    assert_eq!(
        error.to_string(),
        "found an array of 4294967296 values, which MessagePack cannot hold: its largest count is \
         4294967295"
    );
    assert!(writer.begin_map(Some(1 << 32)).is_err());
}

#[test]
fn a_broken_promise_is_an_error() {
    for (promised, given) in [(2, 1), (1, 2), (0, 1)] {
        let mut writer = Writer::in_memory(OnLoss::Refuse);
        writer.begin_array(Some(promised)).unwrap();
        for _ in 0..given {
            writer.null().unwrap();
        }
        let error = writer.end_array().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unrepresentable);
        let mut writer = Writer::in_memory(OnLoss::Refuse);
        writer.begin_map(Some(promised)).unwrap();
        for _ in 0..given {
            writer.key_value(&Value::Int(5)).unwrap();
            writer.null().unwrap();
        }
        assert!(writer.end_map().is_err());
    }
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    writer.begin_array(None).unwrap();
    assert!(writer.finish().is_err());
}

#[test]
fn a_writer_works_as_a_trait_object() {
    let value = Value::Array(vec![pairs(3), ints(20)]);
    let mut writer = Writer::in_memory(OnLoss::Refuse);
    let sink: &mut dyn crate::Writer = &mut writer;
    value.drive(sink).unwrap();
    sink.end_document().unwrap();
    assert_eq!(writer.into_vec(), to_vec(&value, OnLoss::Refuse).unwrap());
}
