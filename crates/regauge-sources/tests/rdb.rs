//! Dumps that servers wrote, and dumps with a fault each, from `tools/rdb_fixtures.py`.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use regauge::ErrorKind;
use regauge_sources::rdb::{Rdb, is_rdb};
use regauge_sources::{At, Flow, Item, Kind, Part, Result, Sample, Source, Summary, Wanted};

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(folder);
    let mut found: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|suffix| suffix == "rdb"));
    found.sort();
    assert!(found.len() > 15);
    found
}

fn valid(name: &str) -> Vec<u8> {
    let path = files("valid").into_iter().find(|path| path.file_stem().unwrap() == name);
    fs::read(path.unwrap()).unwrap()
}

/// One byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(buffer.len()).min(1);
        self.0.read(&mut buffer[..count])
    }
}

/// Bytes as the files have them: many of them as their number and a hash (FNV-1a).
fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= 100 {
        return bytes.escape_ascii().to_string();
    }
    let hash = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3)
    });
    format!("{} bytes, {hash:016x}", bytes.len())
}

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

fn line(item: &Item<'_>) -> String {
    let part = match item.part {
        None => "-".into(),
        Some(Part::Index(index)) => format!("index {index}"),
        Some(Part::Member) => "member".into(),
        Some(Part::Score(score)) => format!("score {:016x}", score.to_bits()),
        Some(Part::Field(field)) => format!("field {}", shown(field)),
    };
    [
        item.database.to_string(),
        item.kind.name().into(),
        shown(item.key),
        part,
        or_dash(item.value.map(shown)),
        or_dash(item.expires_at),
        or_dash(item.part_expires_at),
        or_dash(item.idle),
        or_dash(item.frequency),
    ]
    .join("\t")
}

/// Reads a dump. Returns its items, sorted, as far as it could be read.
fn read(dump: impl Read, wanted: &Wanted<'_>) -> (Vec<String>, Result<Summary>) {
    let mut lines = Vec::new();
    let result = Rdb::new(dump).read(wanted, &mut |item| {
        lines.push(line(item));
        Ok(Flow::Continue)
    });
    lines.sort();
    (lines, result)
}

#[test]
fn servers_and_the_reader_agree() {
    for path in files("valid") {
        let dump = fs::read(&path).unwrap();
        let expected = fs::read_to_string(path.with_extension("txt")).unwrap();
        let (lines, summary) = read(&dump[..], &Wanted::default());
        let summary = summary.unwrap();
        assert_eq!(lines, expected.lines().collect::<Vec<_>>(), "{}", path.display());
        assert!(is_rdb(&dump) && summary.is_whole);
        assert_eq!(summary.items, lines.len() as u64);
        let is_appended = path.file_stem().unwrap() == "appended";
        assert_eq!(summary.has_tail, is_appended);
        assert_eq!(summary.bytes, dump.len() as u64 - if is_appended { 14 } else { 0 });
        assert_eq!(read(Slow(&dump), &Wanted::default()).0, lines, "{}", path.display());
    }
}

/// Without values, each key gives one item: as many bytes and parts as with them.
#[test]
fn keys_without_values_have_the_same_parts() {
    for path in files("valid") {
        let dump = fs::read(&path).unwrap();
        let mut parts = Vec::new();
        let mut keys = 0;
        Rdb::new(&dump[..])
            .read(&Wanted::default(), &mut |item| {
                keys += u64::from(item.is_first);
                if item.is_first {
                    parts.push((item.key.to_vec(), item.parts, 0));
                }
                parts.last_mut().unwrap().2 += 1;
                Ok(Flow::Continue)
            })
            .unwrap();
        let mut place = 0;
        let wanted = Wanted { values: false, ..Wanted::default() };
        let summary = Rdb::new(&dump[..]).read(&wanted, &mut |item| {
            let (key, count, found) = &parts[place];
            assert_eq!((item.key, item.value, item.is_first), (&key[..], None, true));
            assert!(item.bytes > 0 && item.bytes < dump.len() as u64);
            // A zipmap, and a list of several nodes, may not tell before they are read.
            if item.parts.is_some() {
                assert_eq!(item.parts, *count, "{}", path.display());
            }
            if let (Some(count), false) = (count, item.kind == Kind::Stream) {
                assert_eq!(count, found, "{}", path.display());
            }
            place += 1;
            Ok(Flow::Continue)
        });
        let summary = summary.unwrap();
        assert_eq!((summary.keys, summary.items, place as u64), (keys, keys, keys));
    }
}

#[test]
fn what_is_not_read_is_counted() {
    let skipped = |name| {
        let skipped = read(&valid(name)[..], &Wanted::default()).1.unwrap().skipped;
        [skipped.streams, skipped.modules, skipped.module_data, skipped.functions]
    };
    assert_eq!(skipped("server-strings"), [0, 0, 0, 0]);
    assert_eq!(skipped("server-streams"), [2, 0, 0, 1]);
    assert_eq!(skipped("new-11"), [1, 0, 0, 1]);
    assert_eq!(skipped("new-13"), [2, 1, 2, 0]);
    let title = |name| read(&valid(name)[..], &Wanted::default()).1.unwrap().title;
    assert_eq!(title("server-empty"), "RDB 10 of Redis 7.0.15");
    assert_eq!(title("valkey-80"), "RDB 80 of Valkey 9.0.0");
    assert_eq!(title("old-1"), "RDB 1");
}

#[test]
fn keys_are_chosen() {
    let keys = |wanted: &Wanted<'_>| {
        let (mut keys, mut passed_over, mut is_whole) = (Vec::new(), 0, false);
        for name in ["server-databases", "server-large"] {
            let summary = Rdb::new(&valid(name)[..]).read(wanted, &mut |item| {
                if item.is_first {
                    keys.push(format!("{} {}", item.database, shown(item.key)));
                }
                Ok(Flow::Continue)
            });
            let summary = summary.unwrap();
            passed_over += summary.passed_over;
            is_whole = summary.is_whole;
        }
        (keys, passed_over, is_whole)
    };
    let all = keys(&Wanted::default());
    assert_eq!((all.0.len(), all.1, all.2), (12, 0, true));
    for values in [true, false] {
        let wanted = Wanted { values, ..Wanted::default() };
        assert_eq!(keys(&wanted), all);
        assert_eq!(keys(&Wanted { prefix: b"set:", ..wanted }).0.len(), 3);
        let user = (vec!["3 user:1".to_owned()], 11, true);
        assert_eq!(keys(&Wanted { database: Some(3), ..wanted }), user);
        assert_eq!(keys(&Wanted { kind: Some(Kind::Hash), ..wanted }).0.len(), 2);
        // Of 3 keys the first and the last, of 9 the 1st, 3rd, 5th, 7th and 9th.
        let some = keys(&Wanted { sample: Sample::EveryNth(2), ..wanted });
        assert_eq!((some.0.len(), some.1, some.2), (7, 5, true));
        assert_eq!(some.0[2], all.0[3]);
        let some = keys(&Wanted { sample: Sample::First(2), ..wanted });
        assert_eq!((some.0.len(), some.2), (4, false));
    }
}

/// After any number of items, the rest of the key is skipped, or nothing more is read.
#[test]
fn the_caller_says_how_to_go_on() {
    for path in files("valid") {
        let dump = fs::read(&path).unwrap();
        let (all, summary) = read(&dump[..], &Wanted::default());
        let summary = summary.unwrap();
        let count = |flow: &mut dyn FnMut(&Item<'_>, u64) -> Flow| {
            let mut items = 0;
            let read = Rdb::new(&dump[..]).read(&Wanted::default(), &mut |item| {
                items += 1;
                Ok(flow(item, items))
            });
            (items, read.unwrap().keys)
        };
        let firsts = count(&mut |_, _| Flow::SkipKey);
        assert_eq!(firsts, (summary.keys, summary.keys), "{}", path.display());
        let mut in_key = 0;
        let twos = count(&mut |item, _| {
            in_key = if item.is_first { 1 } else { in_key + 1 };
            if in_key == 2 { Flow::SkipKey } else { Flow::Continue }
        });
        assert_eq!(twos.1, summary.keys, "{}", path.display());
        for most in 1..=all.len().min(60) as u64 {
            let stopped =
                count(&mut |_, items| if items == most { Flow::Stop } else { Flow::Continue });
            assert_eq!(stopped.0, most);
        }
    }
}

#[test]
fn the_callers_errors_are_its_own() {
    let bytes = valid("server-databases");
    let mut dump = Rdb::new(&bytes[..]);
    let error = dump
        .read(&Wanted::default(), &mut |_| Err(regauge::Error::syntax("mine").at(3)))
        .unwrap_err();
    assert_eq!((error.to_string().as_str(), error.path()), ("byte 3: mine", None));
    let error = dump.read(&Wanted::default(), &mut |_| Ok(Flow::Continue)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
    let at = At { database: 0, key: b"user:1", part: None };
    let error = dump.replace_if_unchanged(&at, b"a", b"b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Refused);
}

#[test]
fn messages_say_where_and_what() {
    let mut messages = String::new();
    for path in files("invalid") {
        let dump = fs::read(&path).unwrap();
        let (lines, result) = read(&dump[..], &Wanted::default());
        let error = result.unwrap_err();
        assert!(lines.len() <= 1);
        let name = path.file_stem().unwrap().to_str().unwrap();
        writeln!(messages, "{name}: {}: {error}", error.kind().name()).unwrap();
        let slow = read(Slow(&dump), &Wanted::default()).1.unwrap_err();
        assert_eq!(slow.to_string(), error.to_string());
        if let Err(skipping) = read(&dump[..], &Wanted { values: false, ..Wanted::default() }).1 {
            assert!(skipping.offset().is_some(), "{name}: {skipping}");
        }
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/invalid/messages.txt");
    if std::env::var_os("REGAUGE_KEEP_MESSAGES").is_some() {
        fs::write(&kept, &messages).unwrap();
    }
    assert_eq!(messages, fs::read_to_string(kept).unwrap());
}

/// What was read before the end is handed out, nothing else is, and the error says where the bytes end.
#[test]
fn a_dump_that_is_cut_anywhere_is_refused() {
    for path in files("valid") {
        let dump = fs::read(&path).unwrap();
        let (all, summary) = read(&dump[..], &Wanted::default());
        let end = summary.unwrap().bytes as usize;
        for cut in (0..end).filter(|cut| *cut < 2500 || cut % 397 == 0) {
            let (lines, result) = read(&dump[..cut], &Wanted::default());
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Truncated, "{} at {cut}: {error}", path.display());
            assert_eq!(error.offset(), Some(cut as u64), "{}: {error}", path.display());
            assert!(lines.iter().all(|line| all.binary_search(line).is_ok()));
            let wanted = Wanted { values: false, ..Wanted::default() };
            let error = read(&dump[..cut], &wanted).1.unwrap_err();
            assert_eq!((error.kind(), error.offset()), (ErrorKind::Truncated, Some(cut as u64)));
        }
    }
}

/// A changed byte gives an error, or is found by the checksum; never a panic.
#[test]
fn a_byte_that_has_changed_is_found() {
    for path in files("valid") {
        let dump = fs::read(&path).unwrap();
        let version: u32 = str::from_utf8(&dump[dump.len().min(6)..9]).unwrap().parse().unwrap();
        let is_checked = version >= 5 && path.file_stem().unwrap() != "server-unchecked";
        for place in (9..dump.len()).filter(|place| *place < 500 || place % 499 == 0) {
            for change in [1, 0x80, 0xFF] {
                let mut dump = dump.clone();
                dump[place] ^= change;
                let (_, result) = read(&dump[..], &Wanted::default());
                let is_tail = result.as_ref().is_ok_and(|summary| place as u64 >= summary.bytes);
                assert!(!is_checked || is_tail || result.is_err(), "{} at {place}", path.display());
                if let Err(error) = result {
                    assert!(error.offset().is_some(), "{error}");
                    assert_ne!(error.kind(), ErrorKind::Io, "{error}");
                }
                let _ = read(&dump[..], &Wanted { values: false, ..Wanted::default() });
            }
        }
    }
}

#[test]
fn values_over_the_limit_are_refused_and_can_be_skipped() {
    let dump = valid("server-strings");
    let limited = |most, values| {
        let wanted = Wanted { value_bytes_max: most, values, ..Wanted::default() };
        read(&dump[..], &wanted).1
    };
    assert!(limited(17_600, true).is_ok());
    let error = limited(17_599, true).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert!(
        error.to_string().contains("found a string of 17600 bytes, expected at most 17599"),
        "{error}"
    );
    assert!(limited(100, false).is_ok());
}
