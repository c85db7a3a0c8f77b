//! Strings: escapes, lengths, lone surrogates.

use super::{Events, build, check, check_pieces, events, run, write};
use crate::bytes::buffer::Out;
use crate::bytes::output::StreamOutput;
use crate::codec::json::{Parser, ReadOptions, Reader, WriteOptions, Writer, to_vec};
use crate::model::value::Value;
use crate::policy::event::{Ext, Source as _, Writer as _};
use crate::policy::fidelity::Fidelity;
use crate::{ErrorKind, Format, OnLoss};

#[test]
fn strings() {
    for (text, event, written) in [
        (r#""""#, "", r#""""#),
        (r#""a""#, "a", r#""a""#),
        (r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t", r#""\"\\/\b\f\n\r\t""#),
        (r#""\u0041\u00e9\u20AC\ud83d\uDE00""#, "Aé€😀", r#""Aé€😀""#),
        (r#""\u0000\u001f\u007f""#, "\0\u{1f}\u{7f}", "\"\\u0000\\u001f\u{7f}\""),
        ("\"é€😀\u{2028}\u{2029}\"", "é€😀\u{2028}\u{2029}", "\"é€😀\u{2028}\u{2029}\""),
        (r#""exactly sixteen!""#, "exactly sixteen!", r#""exactly sixteen!""#),
        (r#""fifteen letters""#, "fifteen letters", r#""fifteen letters""#),
    ] {
        check(text, &format!("{event:?}"), written);
    }
}

#[test]
fn strings_of_every_length_with_something_at_every_place() {
    for length in 0..70 {
        for (raw, escaped) in [
            ("x", "x"),
            ("é", "é"),
            ("\n", "\\n"),
            ("\"", "\\\""),
            ("😀", "😀"),
            ("\u{1}", "\\u0001"),
        ] {
            for place in 0..=length {
                let (head, tail) = ("a".repeat(place), "b".repeat(length - place));
                let text = format!("{head}{raw}{tail}");
                let json = format!("\"{head}{escaped}{tail}\"");
                assert_eq!(events(json.as_bytes())[0], format!("{text:?}"));
                assert_eq!(build(json.as_bytes()), Value::Text(text.clone()));
                assert_eq!(to_vec(&Value::Text(text), OnLoss::Refuse).unwrap(), json.as_bytes());
            }
        }
    }
}

#[test]
fn long_strings_go_through_a_small_buffer() {
    let text = "0123456789\n\"é😀\u{1}".repeat(9_000);
    let value = Value::Array(vec![Value::Text(text.clone()), Value::Text(text)]);
    let expected = write(&value, WriteOptions::default());
    for options in [
        WriteOptions::default(),
        WriteOptions { escape_non_ascii: true, ..WriteOptions::default() },
        WriteOptions { indent: Some(1), ..WriteOptions::default() },
    ] {
        let mut bytes = Vec::new();
        let out = Out::flushing_at(64, StreamOutput::new(&mut bytes), 1 << 20);
        let mut writer = Writer::new(out, options, Fidelity::new(OnLoss::Refuse, Format::Json));
        value.drive(&mut writer).unwrap();
        writer.end_document().unwrap();
        writer.finish().unwrap();
        drop(writer);
        assert_eq!(build(&bytes), value);
        assert!(options != WriteOptions::default() || bytes == expected.as_bytes());
        check_pieces(ReadOptions::default(), &bytes[..2_000]);
    }
}

#[test]
fn lone_surrogates_are_kept() {
    for (text, bytes, written) in [
        (r#""\ud800""#, &b"\xED\xA0\x80"[..], r#""\ud800""#),
        (r#""a\udfffb""#, b"a\xED\xBF\xBFb", r#""a\udfffb""#),
        (r#""\uD83D\uD83D\uDE00\n""#, b"\xED\xA0\xBD\xF0\x9F\x98\x80\n", r#""\ud83d😀\n""#),
        (r#""\udc00\ud800""#, b"\xED\xB0\x80\xED\xA0\x80", r#""\udc00\ud800""#),
        (r#""\ud800A\"""#, b"\xED\xA0\x80A\"", r#""\ud800A\"""#),
    ] {
        check(text, &format!("{:?}", Ext::Surrogates(bytes)), written);
        let map = format!("{{{text}:1}}");
        let key = Value::Surrogates(bytes.to_vec());
        assert_eq!(build(map.as_bytes()), Value::Map(vec![(key, Value::Int(1))]));
        check_pieces(ReadOptions::default(), map.as_bytes());
        let again = to_vec(&build(map.as_bytes()), OnLoss::Refuse).unwrap();
        assert_eq!(again, format!("{{{written}:1}}").as_bytes());
    }
    // Two halves that would come back as one character, and bytes that are not surrogates.
    for bytes in [&b"\xED\xA0\xBD\xED\xB8\x80"[..], b"\xFF"] {
        let error = to_vec(&Value::Surrogates(bytes.to_vec()), OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused);
    }
}

#[test]
fn long_strings_are_read_to_their_end_before_they_are_copied() {
    // Escapes and pairs at every place around the bounds, and none at all.
    for (pattern, value) in [(r"x\n\u00e9\ud834\udd1e", "x\n\u{E9}\u{1D11E}"), ("xyz", "xyz")] {
        let text = format!("\"\\t{}", pattern.repeat(200_000));
        let value = format!("\t{}", value.repeat(200_000));
        let whole = format!("{text}\"");
        for reader in [
            Reader::from_slice(Parser::default(), whole.as_bytes()),
            Reader::from_read(Parser::default(), whole.as_bytes()),
        ] {
            let (events, error) = run(reader);
            assert_eq!(error, None);
            assert!(events == [format!("{value:?}"), "document".to_owned()]);
        }
        for (broken, at) in [(format!("{text}\\q\""), text.len()), (text.clone(), text.len())] {
            let mut reader = Reader::from_slice(Parser::default(), broken.as_bytes());
            let error = reader.next(&mut Events::default()).unwrap_err();
            assert_eq!(error.offset(), Some(at as u64));
        }
    }
}
