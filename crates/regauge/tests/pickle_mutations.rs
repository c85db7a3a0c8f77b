//! Mutated pickles from the corpus: bytes changed, removed, inserted, or taken from one another.
//! Each is read or refused, with the same result whole and in pieces, and whatever is read comes
//! back the same.
//!
//! `REGAUGE_MUTATIONS` sets the number of mutations.

mod checks;

use std::fs;
use std::path::Path;

use regauge::Format;
use regauge_testdata::Random;

/// Number of mutations without `REGAUGE_MUTATIONS`.
const MUTATIONS: u64 = 1000;

/// Longer files are skipped: a short one has as many ways to be broken.
const LENGTH_MAX: usize = 4096;

/// Returns a part of some bytes, of up to `most` bytes.
fn part<'a>(random: &mut Random, bytes: &'a [u8], most: usize) -> &'a [u8] {
    let start = random.below(bytes.len() + 1);
    let length = random.below(most + 1).min(bytes.len() - start);
    &bytes[start..start + length]
}

/// Opcodes that change what is on the stack; random bytes rarely do.
const OPCODES: &[u8] =
    b"(.012NRabdelostu]})h\0h\x01q\0\x81\x82\x01\x85\x86\x87\x8f\x90\x91\x92\x93\x94Q";

fn mutated(random: &mut Random, files: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = files[random.below(files.len())].clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        match random.below(6) {
            0 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            1 if at < bytes.len() => bytes[at] = OPCODES[random.below(OPCODES.len())],
            2 => {
                let end = (at + random.below(8)).min(bytes.len());
                bytes.drain(at..end);
            }
            3 => bytes.insert(at, OPCODES[random.below(OPCODES.len())]),
            4 => {
                let other = &files[random.below(files.len())];
                let part = part(random, other, 40).to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                let part = part(random, &bytes, 40).to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

#[test]
fn broken_pickles_are_read_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/pickle");
    let mut files = Vec::new();
    for folder in ["valid", "invalid"] {
        let mut paths: Vec<_> =
            fs::read_dir(corpus.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        files.extend(paths.iter().map(|path| fs::read(path).unwrap()));
    }
    files.retain(|bytes| (1..LENGTH_MAX).contains(&bytes.len()));
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let count = variable("REGAUGE_MUTATIONS").unwrap_or(MUTATIONS);
    let mut random = Random::new(variable("REGAUGE_SEED").unwrap_or(1));
    let mut read = 0;
    for _ in 0..count {
        let bytes = mutated(&mut random, &files);
        let checked = std::panic::catch_unwind(|| {
            let error = checks::check_reader(Format::Pickle, &bytes);
            checks::check_pickle(&bytes);
            error.is_none()
        });
        match checked {
            Ok(was_read) => read += u64::from(was_read),
            Err(_) => panic!("see above; the pickle is {}", bytes.escape_ascii()),
        }
    }
    println!("{count} mutations, {read} of them read");
    assert!(read > 0 && read < count);
}
