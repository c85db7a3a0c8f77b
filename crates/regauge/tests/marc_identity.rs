//! Which share of real records comes back byte for byte.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regauge::marc::{Options, iso2709};
use regauge::out::Out;
use regauge::{Fidelity, Format, Limits, OnLoss, Source, Writer};

fn data() -> Option<PathBuf> {
    let root = std::env::var_os("REGAUGE_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    let root = root.join("marc/binary");
    if root.is_dir() {
        return Some(root);
    }
    println!("skipped: no data at {}", root.display());
    None
}

fn files(root: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(root).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn identity() {
    let Some(root) = data() else { return };
    let mut found = Vec::new();
    files(&root, &mut found);
    let mut shares: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for path in found {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        let mut reader = iso2709::Reader::from_slice(
            iso2709::Parser::new(Options::default(), Limits::default()),
            &bytes,
        );
        reader.keep_records(true);
        loop {
            let start = reader.offset() as usize;
            let mut writer = iso2709::Writer::new(
                Out::in_memory(),
                Options::default(),
                Fidelity::new(OnLoss::Refuse, Format::Marc),
            );
            match reader.next(&mut writer) {
                Ok(true) => {
                    let raw = &bytes[start..reader.offset() as usize];
                    let raw = raw.trim_ascii_start();
                    let ascii = raw.is_ascii() && !raw.contains(&0x1B);
                    let kind = if ascii {
                        "ascii"
                    } else if raw[9] == b'a' {
                        "utf-8"
                    } else {
                        "marc-8"
                    };
                    let notes = format!(
                        "{:?}",
                        regauge::Sink::fidelity(&mut writer)
                            .losses()
                            .iter()
                            .flat_map(|l| l.examples.iter().map(|e| e.found.clone()))
                            .collect::<Vec<_>>()
                    );
                    let share = shares.entry(kind.to_string()).or_default();
                    share.1 += 1;
                    if let Err(e) = writer.end_document() {
                        println!("WRITE {name} {start} {e}");
                        continue;
                    }
                    let out = writer.into_out().into_vec();
                    if out == raw {
                        share.0 += 1
                    } else {
                        println!("DIFF {kind} {name} {start} {notes}");
                        if kind == "marc-8" {
                            let at =
                                out.iter().zip(raw).skip(24).position(|(a, b)| a != b).unwrap_or(0)
                                    + 24;
                            println!(
                                "   {}\n   {}",
                                raw[at.saturating_sub(10)..(at + 40).min(raw.len())].escape_ascii(),
                                out[at.saturating_sub(10).min(out.len())..(at + 40).min(out.len())]
                                    .escape_ascii()
                            );
                        }
                    }
                }
                Ok(false) => break,
                Err(e) => match reader.skip_bad(e) {
                    Ok(bad) => println!("BAD {name} {} [{}]", bad.error, bad.bytes.len()),
                    Err(e) => {
                        println!("FATAL {name} {e}");
                        break;
                    }
                },
            }
        }
    }
    println!("{shares:?}");
}
