use super::lookup::{code_of, is_mark_character};
use super::*;
use std::path::PathBuf;

fn decoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    decode(bytes, &mut State::default(), &mut text).unwrap_or_else(|e| panic!("{bytes:02X?}: {e}"));
    text
}

fn encoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(text, &mut bytes).unwrap_or_else(|e| panic!("{text:?}: {e}"));
    bytes
}

/// Real data, where it is there.
fn data(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("REGAUGE_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let path = root.join(path);
    if !path.exists() {
        println!("skipped: no {path:?}; set REGAUGE_DATA");
        return None;
    }
    Some(path)
}

fn files(path: PathBuf, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(&path).unwrap() {
            files(entry.unwrap().path(), out);
        }
    } else {
        out.push(path);
    }
}

/// The bodies (control and data fields without their terminators) of the records in `bytes` whose
/// leader/09 is blank, taken by record length and directory.
fn marc8_records(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let number = |b: &[u8]| std::str::from_utf8(b).ok()?.parse::<usize>().ok();
    let mut records = Vec::new();
    let mut at = 0;
    while bytes.len() - at > 26 {
        let rest = &bytes[at..];
        let record = number(&rest[..5])
            .and_then(|length| rest.get(..length))
            .filter(|r| r.len() > 25 && r.ends_with(b"\x1D"));
        let Some(record) = record else {
            match memchr::memchr(0x1D, rest) {
                Some(end) => at += end + 1,
                None => break,
            }
            continue;
        };
        at += record.len();
        at += bytes[at..].iter().take_while(|b| b" \r\n".contains(b)).count();
        let Some(base) = number(&record[12..17]).filter(|base| *base > 24 && *base < record.len())
        else {
            continue;
        };
        if record[9] == b' ' {
            records.push(record[base..].split(|b| *b == 0x1E).collect());
        }
    }
    records
}

#[derive(Debug, Default)]
struct Shares {
    records: usize,
    identical: usize,
    same_text: usize,
    faulty: usize,
}

#[test]
fn real_records_come_back_to_identical_bytes() {
    let Some(root) = data("marc/binary") else { return };
    let mut paths = Vec::new();
    files(root, &mut paths);
    paths.sort();
    let mut shares = Shares::default();
    for path in paths {
        let bytes = std::fs::read(&path).unwrap();
        for record in marc8_records(&bytes) {
            if record.iter().all(|field| is_plain(field)) {
                continue;
            }
            // A record in UTF-8 whose leader says MARC-8: no field of it is MARC-8.
            let high = record.iter().filter(|field| !field.is_ascii());
            if high.clone().count() > 0
                && high.clone().all(|field| std::str::from_utf8(field).is_ok())
            {
                continue;
            }
            shares.records += 1;
            let (mut identical, mut same_text, mut faulty) = (true, true, false);
            for field in &record {
                let mut text = String::new();
                if let Err(error) = decode(field, &mut State::default(), &mut text) {
                    faulty = true;
                    if std::env::var_os("MARC8_SHOW").is_some() {
                        println!(
                            "FAULT {} {error} {}",
                            path.file_name().unwrap().to_string_lossy(),
                            field.escape_ascii()
                        );
                    }
                    continue;
                }
                let mut back = Vec::new();
                match encode(&text, &mut back) {
                    Err(error) => panic!("{error}: {text:?}"),
                    Ok(_) if back != *field => {
                        identical = false;
                        if std::env::var_os("MARC8_SHOW").is_some() {
                            println!(
                                "DIFF {}\n  {}\n  {}",
                                path.file_name().unwrap().to_string_lossy(),
                                field.escape_ascii(),
                                back.escape_ascii()
                            );
                        }
                        same_text &= decoded(&back) == text;
                    }
                    Ok(_) => {}
                }
            }
            if faulty {
                shares.faulty += 1;
            } else {
                shares.identical += identical as usize;
                shares.same_text += same_text as usize;
            }
        }
    }
    println!("{shares:?}");
    let sound = shares.records - shares.faulty;
    println!("{:.2} % of sound records identical", 100.0 * shares.identical as f64 / sound as f64);
    assert_eq!(shares.same_text, sound, "text changed on the way");
    assert!(shares.identical * 100 >= sound * 97);
}
