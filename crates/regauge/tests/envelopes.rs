//! Every file under `corpus/envelopes`, which the framework itself made: its layers, what they say, and the
//! value; cut at each byte; and nothing else that the corpus holds is taken for an envelope.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regauge::envelope::{self, Opened, Packer, Packing, ROWS, Tools};
use regauge::{Error, ErrorKind, Format, Limits, Objects, OnLoss, Options, Result, convert_bytes};
use serde_json::Value;

/// zlib alone, as most frameworks.
struct Zlib;

impl Packer for Zlib {
    fn unpack(&self, packing: Packing, packed: &[u8], limits: &Limits) -> Result<Vec<u8>> {
        assert_eq!(packing, Packing::Zlib);
        let mut plain = Vec::new();
        let most = limits.record_bytes.saturating_add(1);
        flate2::read::ZlibDecoder::new(packed)
            .take(most)
            .read_to_end(&mut plain)
            .map_err(|error| Error::truncated(error.to_string()))?;
        match plain.len() as u64 {
            bytes if bytes == most => Err(Error::limit("found more than a document may have")),
            _ => Ok(plain),
        }
    }

    fn pack(&self, packing: Packing, plain: &[u8]) -> Result<Vec<u8>> {
        assert_eq!(packing, Packing::Zlib);
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(plain)?;
        Ok(encoder.finish()?)
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Returns the files that frameworks made, each with what is expected.
fn cases() -> BTreeMap<PathBuf, Value> {
    let mut cases = BTreeMap::new();
    for folder in fs::read_dir(corpus().join("envelopes")).unwrap() {
        let folder = folder.unwrap().path();
        let Ok(index) = fs::read(folder.join("expected.json")) else { continue };
        let index: Value = serde_json::from_slice(&index).unwrap();
        assert!(index["made_by"].is_string(), "{}", folder.display());
        for (file, expected) in index["files"].as_object().unwrap() {
            cases.insert(folder.join(file), expected.clone());
        }
    }
    assert!(cases.len() > 90, "{}", cases.len());
    cases
}

fn with_limits<T>(limits: &Limits, act: impl FnOnce(&Tools<'_>) -> T) -> T {
    act(&Tools { limits, packer: &Zlib, keys: None })
}

/// Opens what is recognised; `None` if nothing is.
fn open(bytes: &[u8], limits: &Limits) -> Option<Result<Opened>> {
    let told = Format::from_magic(&bytes[..bytes.len().min(4096)]);
    let row = envelope::find(bytes, true, told)?;
    Some(with_limits(limits, |tools| envelope::open(bytes.to_vec(), row, false, tools)))
}

/// Returns the value in JSON, as data; in the notation if JSON cannot hold it.
fn json(bytes: &[u8], format: Format) -> Value {
    let mut options = Options::new(format, Format::Json);
    options.objects = Some(Objects::Data);
    let plain = convert_bytes(bytes, &options);
    options.on_loss = OnLoss::Wrap;
    let json = plain.or_else(|_| convert_bytes(bytes, &options)).unwrap();
    serde_json::from_slice(&json).unwrap()
}

#[test]
fn each_file_is_what_its_framework_made() {
    for (path, expected) in cases() {
        let name = path.display();
        let bytes = fs::read(&path).unwrap();
        let Some(layer) = expected["layer"].as_str() else {
            // A compressed file, which needs no envelope.
            assert!(envelope::find(&bytes, true, None).is_none(), "{name}");
            continue;
        };
        let opened = open(&bytes, &Limits::default()).unwrap_or_else(|| panic!("{name}"));
        if let Some(error) = expected["error"].as_str() {
            let found = opened.unwrap_err().to_string();
            assert!(found.contains(error), "{name}: {found}");
            continue;
        }
        let opened = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
        let names: Vec<_> = opened.layers.iter().map(|layer| layer.row.name).collect();
        let layers = expected.get("layers").cloned().unwrap_or_else(|| serde_json::json!([layer]));
        assert_eq!(serde_json::json!(names), layers, "{name}");
        let one = opened.layers.last().unwrap();
        assert_eq!(one.row.name, layer, "{name}");
        assert_eq!(serde_json::json!(one.steps), expected["steps"], "{name}");
        assert_eq!(opened.format.name(), expected["format"], "{name}");
        assert_eq!(json(&opened.bytes, opened.format), expected["value"], "{name}");
        if let Some(marshal) = expected["marshal"].as_str() {
            assert_eq!(STANDARD.encode(&opened.bytes), marshal, "{name}");
        }
        assert!(!one.is_checked, "{name}");
        for fact in ["expires", "version", "purpose", "signed", "task", "id"] {
            let found = one.facts.iter().find(|one| one.name == fact).map(envelope::Fact::words);
            let wanted = expected[fact].as_str().map(|wanted| format!("{fact} {wanted}"));
            assert_eq!(found, wanted, "{name}");
        }
        if let Some(facts) = expected["facts"].as_object() {
            let mut found: Vec<_> = one.facts.iter().map(envelope::Fact::words).collect();
            found.sort();
            let words = |(name, value): (&String, &Value)| match value.as_str() {
                Some(text) => format!("{name} {text}"),
                None => format!("{name} {value}"),
            };
            let mut wanted: Vec<_> = facts.iter().map(words).collect();
            wanted.sort();
            assert_eq!(found, wanted, "{name}");
        }
    }
}

#[test]
fn each_file_comes_back_around_the_same_value() {
    let limits = Limits::default();
    for (path, expected) in cases() {
        let Some(Ok(opened)) = open(&fs::read(&path).unwrap(), &limits) else { continue };
        let name = path.display();
        let inside = opened.bytes.clone();
        let closed =
            with_limits(&limits, |tools| envelope::close(&opened, opened.format, inside, tools));
        if opened.layers[0].row.holds.is_empty() {
            let error = closed.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Refused, "{name}");
            continue;
        }
        let closed = closed.unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = open(&closed, &limits).unwrap_or_else(|| panic!("{name}: {closed:?}")).unwrap();
        assert_eq!(again.format.name(), expected["format"], "{name}");
        assert_eq!(json(&again.bytes, again.format), expected["value"], "{name}");
        let facts = |opened: &Opened| -> Vec<_> {
            opened.layers.iter().map(|layer| layer.facts.clone()).collect()
        };
        assert_eq!(facts(&again), facts(&opened), "{name}");
        if expected["layer"] == "active-job" {
            // Nothing but the arguments is written anew, and they are the same.
            assert_eq!(closed, fs::read(&path).unwrap(), "{name}");
        }
    }
}

#[test]
fn a_file_that_is_cut_is_an_error_or_nothing() {
    let limits = Limits::default();
    for (path, expected) in cases() {
        let bytes = fs::read(&path).unwrap();
        for end in 0..bytes.len() {
            let Some(Ok(opened)) = open(&bytes[..end], &limits) else { continue };
            // Payloads of text have no end, as in Rails: `payload = dumped.byteslice(…)`; of the others, the
            // format finds it.
            let mut options = Options::new(opened.format, Format::Json);
            options.objects = Some(Objects::Data);
            options.on_loss = OnLoss::Wrap;
            let Ok(read) = convert_bytes(&opened.bytes, &options) else { continue };
            let is_text = expected["value"].is_string() || expected["value"].is_object();
            let is_prefix = is_text && opened.layers[0].row.name == "rails-cache-7.1";
            // So has YAML.
            let is_prefix = is_prefix || opened.format == Format::Yaml;
            let is_signature = opened.layers[0].row.holds.is_empty();
            // The data of a signed pickle alone is what Django's table holds.
            let is_data = expected["layer"] == "django-signed"
                && end == bytes.iter().position(|b| *b == b':').unwrap();
            assert!(is_prefix || is_signature || is_data, "{} at {end}: {read:?}", path.display());
        }
    }
}

/// A document that any format reads is opened only if asked for.
#[test]
fn documents_are_no_envelopes() {
    let mut count = 0;
    for folder in fs::read_dir(corpus()).unwrap() {
        for kind in ["valid", "invalid"] {
            let Ok(files) = fs::read_dir(folder.as_ref().unwrap().path().join(kind)) else {
                continue;
            };
            for file in files {
                let path = file.unwrap().path();
                let Ok(bytes) = fs::read(&path) else { continue };
                let told = Format::from_magic(&bytes[..bytes.len().min(4096)]);
                for is_whole in [true, false] {
                    let found = envelope::find(&bytes, is_whole, told);
                    assert!(
                        !found.is_some_and(|row| row.is_certain),
                        "{}: {found:?}",
                        path.display()
                    );
                }
                count += 1;
            }
        }
    }
    assert!(count > 300, "{count}");
}

#[test]
fn a_bomb_is_refused_within_the_limit() {
    let plain = [&b"\x04\x08\"\x04\x00\x00\x40\x00"[..], &vec![b'a'; 4 << 20]].concat();
    let packed = Zlib.pack(Packing::Zlib, &plain).unwrap();
    let mut limits = Limits::default();
    limits.record_bytes = 1 << 20;
    for bytes in [
        [b"\x01", packed.as_slice()].concat(),
        [b"\x00\x11\x81\0\0\0\0\0\0\xF0\xBF\xFF\xFF\xFF\xFF", packed.as_slice()].concat(),
        [b"\x80\x05N.", packed.as_slice()].concat(),
        packed.clone(),
    ] {
        let error = open(&bytes, &limits).unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    }
}

#[test]
fn envelopes_in_envelopes_end() {
    let mut bytes = b"[1]".to_vec();
    let wrap = |bytes: &[u8]| {
        let body = STANDARD.encode(bytes);
        format!(
            r#"{{"body":"{body}","content-type":"application/json","properties":{{"body_encoding":"base64"}}}}"#
        )
    };
    for depth in 1..=envelope::LAYERS_MAX + 1 {
        bytes = wrap(&bytes).into_bytes();
        let opened = open(&bytes, &Limits::default()).unwrap();
        match depth <= envelope::LAYERS_MAX {
            true => assert_eq!(opened.unwrap().layers.len(), depth),
            false => assert_eq!(opened.unwrap_err().kind(), ErrorKind::Limit),
        }
    }
}

#[test]
fn errors_say_what_to_do() {
    let message = |bytes: &[u8]| open(bytes, &Limits::default()).unwrap().unwrap_err().to_string();
    for (bytes, expected) in [
        (
            &b"\x00\x11\x01\x00"[..],
            "byte 4: in Rails.cache 7.1: found the end after 4 bytes, expected a head of 15; check that the \
             value was copied whole",
        ),
        (
            b"\x00\x11\x01\0\0\0\0\0\0\xF0\xBF\x09\0\0\0v1",
            "byte 11: in Rails.cache 7.1: found a version of 9 bytes, expected at most the 2 that follow; check \
             that the value was copied whole",
        ),
        (
            b"\x00\x11\x01\0\0\0\0\0\0\xF0\xBF\xFE\xFF\xFF\xFF",
            "byte 11: in Rails.cache 7.1: found -2 bytes as the length of the version, expected -1 for none",
        ),
        (
            b"\x00\x11\x01\0\0\0\0\0\0\xF8\x7F\xFF\xFF\xFF\xFF",
            "byte 3: in Rails.cache 7.1: found NaN as the time of expiry, expected seconds",
        ),
        (
            b"\x00\x11\x81\0\0\0\0\0\0\xF0\xBF\xFF\xFF\xFF\xFFBZh9",
            "byte 15: in Rails.cache 7.1: found compressed data that begins with `BZh9`, expected zlib, gzip, \
             zstd or LZ4; take it off with the compressor that the application sets",
        ),
        (
            b"\x00\x11\x01\0\0\0\0\0\0\xF0\xBF\xFF\xFF\xFF\xFF\x01\x02",
            "byte 15: in Rails.cache 7.1: found a payload that begins with `\\x01\\x02`, expected Marshal or \
             MessagePack; take it off with the serializer that the application sets",
        ),
    ] {
        assert_eq!(message(bytes), expected);
    }
}

/// The first two bytes of zlib begin a text in CBOR, whose length depends on the level.
#[test]
fn zlib_of_any_level_is_no_cbor() {
    let plain =
        br#"{"name": "Ada", "tags": ["a", "b"], "in": {"yes": true, "none": null}}"#.repeat(3);
    for level in 0..=9 {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(level));
        encoder.write_all(&plain).unwrap();
        let opened = open(&encoder.finish().unwrap(), &Limits::default());
        assert_eq!(opened.unwrap().unwrap().bytes, plain, "level {level}");
    }
    // A text of one letter, and another of two, are CBOR; so is one of 94 bytes.
    for bytes in [&b"\x78\x01a\x62\xC3\xA9"[..], &[b"\x78\x5E", "é".repeat(47).as_bytes()].concat()]
    {
        assert!(open(bytes, &Limits::default()).is_none(), "{bytes:?}");
    }
}

#[test]
fn names_are_unique() {
    for (index, row) in ROWS.iter().enumerate() {
        assert!(
            !ROWS[..index].iter().any(|other| other.name == row.name || other.title == row.title)
        );
    }
}

/// Every field of a job as every type, bare and in a job of Sidekiq: only the arguments have to be an array.
#[test]
fn a_job_with_fields_of_wrong_types_is_opened_without_them() {
    let job = serde_json::json!({
        "job_class": "ReportJob", "job_id": "j-1", "provider_job_id": null, "queue_name": "low", "priority": 5,
        "arguments": [7], "executions": 1, "exception_executions": {"[IOError]": 1}, "resumptions": 2,
        "locale": "en", "timezone": "UTC", "enqueued_at": "2026-11-27", "scheduled_at": "2026-11-28",
    });
    let bare = |job: &Value| job.to_string().into_bytes();
    let carried = |job: &Value| {
        let around = serde_json::json!({"class": "Wrapper", "wrapped": "ReportJob", "jid": "1", "args": [job]});
        around.to_string().into_bytes()
    };
    let whole = open(&bare(&job), &Limits::default()).unwrap().unwrap();
    assert_eq!(whole.layers[0].facts.len(), 11, "{:?}", whole.layers[0].facts);
    for field in job.as_object().unwrap().keys() {
        for value in
            ["null", "true", "-1", "1e999", "\"\\u0000\"", "[]", "[{}]", "{}", "{\"a\":{\"b\":[]}}"]
        {
            let mut job = job.clone();
            job[field] = serde_json::from_str(value).unwrap_or(Value::Null);
            let name = format!("{field} {value}");
            let is_array = job["arguments"].is_array();
            for (bytes, layers) in [(bare(&job), 1), (carried(&job), 2)] {
                let Some(opened) = open(&bytes, &Limits::default()) else { panic!("{name}") };
                match is_array {
                    true => {
                        let opened = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
                        assert_eq!(opened.layers.len(), layers, "{name}");
                        assert!(opened.names().ends_with("a job of Active Job"), "{name}");
                    }
                    false => {
                        let error = opened.unwrap_err();
                        assert_eq!(error.kind(), ErrorKind::Syntax, "{name}");
                        assert!(
                            error.to_string().ends_with(" as arguments, expected an array"),
                            "{name}: {error}"
                        );
                    }
                }
            }
        }
    }
}

/// Ruby writes equal floats once, though they are not one object to anybody: 60.0 is a rate and the expiry here.
#[test]
fn an_entry_whose_value_has_the_float_of_its_expiry_is_put_back() {
    let limits = Limits::default();
    // By Active Support 6.1.7 with Ruby 3.1.
    let entry = b"\x04\x08o: ActiveSupport::Cache::Entry\t:\x0B@value{\x06I\"\trate\x06:\x06ETf\x086e1:\r@version0\
                  :\x10@created_atf\x060:\x10@expires_in@\x08";
    let opened = open(entry, &limits).unwrap().unwrap();
    let words: Vec<_> = opened.layers[0].facts.iter().map(envelope::Fact::words).collect();
    assert_eq!(words, ["expires 1970-01-01T00:01:00Z"]);
    let put = b"\x04\x08f\x0760".to_vec();
    let closed =
        with_limits(&limits, |tools| envelope::close(&opened, Format::Marshal, put, tools));
    let again = open(&closed.unwrap(), &limits).unwrap().unwrap();
    assert_eq!(json(&again.bytes, Format::Marshal), serde_json::json!(60.0));
    assert_eq!(again.layers[0].facts, opened.layers[0].facts);
}

/// JSON in Ruby and in Python takes the last of two values at a key.
#[test]
fn of_a_key_that_stands_twice_the_last_value_counts() {
    let limits = Limits::default();
    let job = br#"{"class":"A","args":[1],"args":[2],"jid":"x"}"#;
    let opened = open(job, &limits).unwrap().unwrap();
    assert_eq!(opened.bytes, b"[2]");
    let put = b"[3]".to_vec();
    let closed = with_limits(&limits, |tools| envelope::close(&opened, Format::Json, put, tools));
    let expected = br#"{"class":"A","args":[1],"args":[3],"jid":"x"}"#;
    assert_eq!(closed.unwrap().escape_ascii().to_string(), expected.escape_ascii().to_string());
}

/// The keys of a message are looked for without reading all of it.
#[test]
fn a_message_is_one_map_with_its_keys() {
    for (json, is_job) in [
        (r#"{"class":"A","args":[1],"jid":"x"}"#, true),
        (" { \"jid\" : \"x\" ,\n\"args\"\t: [ ], \"class\":\"A\" }\n", true),
        (r#"{"n":"\\","o":"\"}{","class":"A","args":[{"a":"]"}],"jid":"x"}"#, true),
        (r#"{"class":"args","jid":"x","a":"args"}"#, false),
        (r#"{"class":"A","jid":"x","a":{"args":[]}}"#, false),
        (r#"{"class":"A","args":[],"jid":"x"} {"class":"A","args":[],"jid":"x"}"#, false),
        (r#"{"class":"A","args":[],"jid":"x""#, false),
        (r#"{"class":"A","args":[],"jid":"x\"#, false),
        (r#"{"class":"A","args":[],"jid":"x\""#, false),
        (r#"[{"class":"A","args":[],"jid":"x"}]"#, false),
    ] {
        let row = envelope::find(json.as_bytes(), true, Some(Format::Json));
        assert_eq!(row.map(|row| row.name), is_job.then_some("sidekiq-job"), "{json}");
    }
}

/// A job of Sidekiq's own keeps its arguments, whatever they look like.
#[test]
fn only_a_wrapped_job_is_one_of_active_job() {
    let job = r#"{"job_class":"A","job_id":"1","queue_name":"q","arguments":[7]}"#;
    for (fields, inside) in [
        (format!(r#""wrapped":"A","args":[{job}]"#), "[7]".to_owned()),
        (format!(r#""args":[{job}]"#), format!("[{job}]")),
        (format!(r#""wrapped":1,"args":[{job}]"#), format!("[{job}]")),
        (format!(r#""wrapped":"A","args":[{job},{job}]"#), format!("[{job},{job}]")),
        (r#""wrapped":"A","args":[{"job_class":"A"}]"#.into(), r#"[{"job_class":"A"}]"#.into()),
        (r#""wrapped":"A","args":[]"#.into(), "[]".into()),
    ] {
        let bytes = format!(r#"{{"class":"W","jid":"1",{fields}}}"#).into_bytes();
        let opened = open(&bytes, &Limits::default()).unwrap().unwrap();
        assert_eq!(String::from_utf8_lossy(&opened.bytes), inside);
        let close = |inside: &[u8]| {
            with_limits(&Limits::default(), |tools| {
                envelope::close(&opened, Format::Json, inside.to_vec(), tools)
            })
        };
        assert_eq!(close(&opened.bytes).unwrap(), bytes);
        let changed = String::from_utf8(close(b"[8]").unwrap()).unwrap();
        let expected = match opened.layers.len() {
            2 => String::from_utf8(bytes).unwrap().replace("[7]", "[8]"),
            _ => {
                let around = fields.split("\"args\":").next().unwrap();
                format!(r#"{{"class":"W","jid":"1",{around}"args":[8]}}"#)
            }
        };
        assert_eq!(changed, expected);
        assert_eq!(close(b"{}").unwrap_err().kind(), ErrorKind::Refused);
    }
    let mut nested = job.to_owned();
    for _ in 0..envelope::LAYERS_MAX {
        let args = format!(r#""wrapped":"A","args":[{nested}]"#);
        nested = format!(
            r#"{{"job_class":"A","job_id":"1","queue_name":"q","arguments":[],"class":"W","jid":"1",{args}}}"#
        );
    }
    let error = open(nested.as_bytes(), &Limits::default()).unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

/// `open` may be given a row that does not recognise the bytes.
#[test]
fn every_row_answers_to_any_bytes() {
    let limits = Limits::default();
    let tools = Tools { limits: &limits, packer: &Zlib, keys: None };
    for row in &ROWS {
        for bytes in [
            &b""[..],
            b"!",
            b"\0",
            b"\x80",
            b"{}",
            b"a:b:c",
            b"--",
            b"\x04\x08",
            b"{\"arguments\":[]}",
        ] {
            let opened = envelope::open(bytes.to_vec(), row, false, &tools);
            // Nothing is inside that was not given.
            let length = opened.map_or(0, |opened| opened.bytes.len());
            assert!(length <= bytes.len(), "{} {}", row.name, bytes.escape_ascii());
        }
    }
}

/// Found by the fuzzer: a character below the digits.
#[test]
fn a_comment_without_a_version_is_no_envelope() {
    for version in ["*", "a", "é", ""] {
        let bytes = format!("#☠{version}☢\nid: 1\n");
        assert!(envelope::find(bytes.as_bytes(), true, None).is_none(), "{version}");
    }
    assert!(envelope::find("#☠1☢\nid: 1\n".as_bytes(), true, None).is_some());
}
