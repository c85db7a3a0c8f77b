//! Times that one format can write and another cannot.

use regauge::{ErrorKind, Format, OnLoss, Options, convert_bytes};

fn converted(from: Format, to: Format, bytes: &[u8], on_loss: OnLoss) -> regauge::Result<Vec<u8>> {
    let mut options = Options::new(from, to);
    options.on_loss = on_loss;
    // Times in JSON are in the notation.
    options.unwrap = from == Format::Json;
    convert_bytes(bytes, &options)
}

/// Text under tag 0, with milliseconds as encoders write them: always three digits.
#[test]
fn zeros_at_the_end_of_a_fraction_say_nothing() {
    for (text, yaml) in [
        ("2026-01-01T00:00:00.120Z", "!!timestamp 2026-01-01T00:00:00.12Z\n"),
        ("2026-01-01T00:00:00.000Z", "!!timestamp 2026-01-01T00:00:00Z\n"),
        ("2026-01-01T00:00:00.120000000000Z", "!!timestamp 2026-01-01T00:00:00.12Z\n"),
        ("2026-01-01T00:00:00.500+02:00", "!!timestamp 2026-01-01T00:00:00.5+02:00\n"),
    ] {
        let cbor = [&[0xC0, 0x78, text.len() as u8], text.as_bytes()].concat();
        let written = converted(Format::Cbor, Format::Yaml, &cbor, OnLoss::Refuse).unwrap();
        assert_eq!(String::from_utf8(written.clone()).unwrap(), yaml);
        let back = converted(Format::Yaml, Format::Cbor, &written, OnLoss::Refuse).unwrap();
        let again = converted(Format::Cbor, Format::Yaml, &back, OnLoss::Refuse).unwrap();
        assert_eq!(again, written);
        // CBOR itself keeps every byte.
        assert_eq!(converted(Format::Cbor, Format::Cbor, &cbor, OnLoss::Refuse).unwrap(), cbor);
    }
    for text in ["2026-01-01T00:00:00.1234567891Z", "2026-01-01T00:00:00.Z"] {
        let cbor = [&[0xC0, 0x78, text.len() as u8], text.as_bytes()].concat();
        let error = converted(Format::Cbor, Format::Yaml, &cbor, OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{text}: {error}");
    }
}

/// RFC 3339 and YAML have offsets in minutes, Python and Ruby in seconds.
#[test]
fn an_offset_with_seconds_is_refused_by_who_cannot_write_it() {
    let json = br#"[{"$offsetDateTime":"1930-01-01T00:00:00+00:19:32"}]"#;
    for to in [Format::Yaml, Format::Cbor] {
        let error = converted(Format::Json, to, json, OnLoss::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(error.message().contains("1930-01-01T00:00:00+00:19:32"), "{error}");
        let wrapped = converted(Format::Json, to, json, OnLoss::Wrap).unwrap();
        let mut back = Options::new(to, Format::Json);
        (back.unwrap, back.on_loss) = (true, OnLoss::Wrap);
        assert_eq!(convert_bytes(&wrapped, &back).unwrap().trim_ascii(), json);
    }
    let near = converted(Format::Json, Format::Yaml, json, OnLoss::Approximate).unwrap();
    let near = String::from_utf8(near).unwrap();
    assert!(near.contains("1930-01-01T00:00:00+00:19:32") && !near.contains('!'), "{near}");
}
