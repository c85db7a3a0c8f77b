//! Every file under `corpus/`: the valid ones are read, the invalid ones refused with the message
//! recorded in `messages.txt` next to them.

mod checks;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regauge::codec::Framing;
use regauge::hint::Surface;
use regauge::matrix::same;
use regauge::values::read_values;
use regauge::{Format, Options, convert_bytes};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    // Notes about a file are text files next to it.
    files.retain(|path| path.extension().is_some_and(|suffix| suffix != "txt"));
    files.sort();
    files
}

/// Returns the format of a corpus file, by its suffix.
fn format_of(path: &Path) -> Format {
    let name = path.file_name().unwrap().to_str().unwrap();
    Format::from_name(name).unwrap_or_else(|| panic!("{name} has no known suffix"))
}

#[test]
fn valid_files_are_read_and_come_back() {
    let mut count = 0;
    for folder in fs::read_dir(corpus()).unwrap() {
        for path in files(&folder.unwrap().path().join("valid")) {
            let bytes = fs::read(&path).unwrap();
            let error = checks::check_reader(format_of(&path), &bytes);
            assert!(error.is_none(), "{}: {}", path.display(), error.unwrap());
            checks::check_cuts(format_of(&path), &bytes, 2000);
            if format_of(&path) == Format::Pickle {
                checks::check_pickle(&bytes);
            }
            count += 1;
        }
    }
    assert!(count > 0, "the corpus is empty");
}

/// Checks that A → B → A is the identity, for any B. (MARC has `marc_identity.rs`.)
#[test]
fn valid_files_come_back_through_every_format() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for folder in fs::read_dir(corpus()).unwrap() {
        for path in files(&folder.unwrap().path().join("valid")) {
            let from = format_of(&path);
            if from.is_marc() {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            // Text that is not UTF-8 is read from BSON and CBOR, and never written to them.
            if convert_bytes(&bytes, &Options::new(from, from)).is_err() {
                continue;
            }
            // The others hold every value, natively or in the notation, and one document as one: a file
            // of records becomes an array in JSON.
            let general = |through: &Format| through.framing() != Framing::Records;
            for through in Format::ALL.into_iter().filter(general).filter(|one| *one != from) {
                // Not every format can read a cycle.
                let Ok(there) = convert_bytes(&bytes, &checks::lossless(from, through)) else {
                    continue;
                };
                let told = format!("{} through {through}", path.display());
                let mut unwrapping = Options::new(through, from);
                unwrapping.unwrap = true;
                // A document that is not a map may nest one level deeper there.
                unwrapping.limits.depth += 1;
                // Calls are only written from a pickle unless this is set.
                unwrapping.pickle.calls = true;
                // Out-of-band buffers need it.
                unwrapping.pickle.protocol = Some(5);
                let values = |bytes| read_values(bytes, &checks::lossless(from, from)).unwrap();
                match convert_bytes(&there, &unwrapping) {
                    Err(error) => wrong.push(format!("{told}: {error}")),
                    Ok(back) if !same(&values(&bytes), &values(&back)) => wrong.push(told),
                    Ok(_) => {}
                }
                count += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 500, "only {count} ways");
}

#[test]
fn invalid_files_are_refused_with_their_message() {
    let bless = std::env::var_os("BLESS").is_some();
    for folder in fs::read_dir(corpus()).unwrap() {
        let folder = folder.unwrap().path().join("invalid");
        let mut messages = BTreeMap::new();
        for path in files(&folder) {
            let bytes = fs::read(&path).unwrap();
            let format = format_of(&path);
            assert!(checks::check_reader(format, &bytes).is_some(), "{} is read", path.display());
            let error = convert_bytes(&bytes, &checks::lossless(format, Format::Msgpack));
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let message = error.unwrap_err().display(&Surface::COMMAND).to_string();
            messages.insert(name, message);
        }
        if messages.is_empty() {
            continue;
        }
        let text: String =
            messages.iter().map(|(name, message)| format!("{name}\n  {message}\n")).collect();
        let expected = folder.join("messages.txt");
        if bless {
            fs::write(&expected, &text).unwrap();
        }
        let expected = fs::read_to_string(&expected).unwrap_or_default();
        assert!(text == expected, "messages have changed (BLESS=1 writes them):\n{text}");
    }
}
