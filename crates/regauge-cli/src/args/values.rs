//! The values of options, and how they are parsed.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use regauge::convert::{Rule, Selection};
use regauge::documents::Documents;
use regauge::options::Envelopes;
use regauge::{Format, Limits, Objects, OnLoss};

use crate::tables::Form;
use regauge_packing::files::Compression;

/// The value of `--compress` and `--decompress`: `none`, or a compression.
#[derive(Clone, Copy, Debug)]
pub struct Packing(pub Option<Compression>);

/// The value of `--compress` of `convert`.
#[derive(Clone, Copy, Debug)]
pub enum Packed {
    /// Of the whole file, or of the pages of a table.
    Whole(Packing),
    /// Of the pages of a table.
    Snappy,
}

/// The value of `--on-loss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Loss {
    /// Stop, naming the path, the value and the option that would continue
    Refuse,
    /// Write a reversible notation, which --unwrap reads
    Wrap,
    /// Write the nearest value, and count it
    Approximate,
}

impl From<Loss> for OnLoss {
    fn from(loss: Loss) -> OnLoss {
        match loss {
            Loss::Refuse => OnLoss::Refuse,
            Loss::Wrap => OnLoss::Wrap,
            Loss::Approximate => OnLoss::Approximate,
        }
    }
}

/// The value of `--objects`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ObjectsArg {
    /// Stop, naming the class
    Refuse,
    /// Write an object as its data, a symbol as its text
    Data,
    /// Write a reversible notation with class and kind
    Wrap,
}

impl From<ObjectsArg> for Objects {
    fn from(objects: ObjectsArg) -> Objects {
        match objects {
            ObjectsArg::Refuse => Objects::Refuse,
            ObjectsArg::Data => Objects::Data,
            ObjectsArg::Wrap => Objects::Wrap,
        }
    }
}

/// The value of `--envelope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EnvelopeArg {
    /// Take it off if the bytes can be nothing else
    Auto,
    /// Leave it
    None,
    /// Take off what is recognised
    Open,
    /// Take it off, and put it back around the output
    Keep,
}

impl From<EnvelopeArg> for Envelopes {
    fn from(envelope: EnvelopeArg) -> Envelopes {
        match envelope {
            EnvelopeArg::Auto => Envelopes::Auto,
            EnvelopeArg::None => Envelopes::Never,
            EnvelopeArg::Open => Envelopes::Open,
            EnvelopeArg::Keep => Envelopes::Keep,
        }
    }
}

/// The value of `--numbers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Numbers {
    /// The nearest double
    Double,
    /// The digits as written
    Exact,
}

/// The value of `--duplicate-keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DuplicateKeys {
    /// Write both
    Keep,
    /// Stop at the second
    Refuse,
}

impl From<DuplicateKeys> for regauge::convert::DuplicateKeys {
    fn from(keys: DuplicateKeys) -> Self {
        match keys {
            DuplicateKeys::Keep => regauge::convert::DuplicateKeys::Keep,
            DuplicateKeys::Refuse => regauge::convert::DuplicateKeys::Refuse,
        }
    }
}

/// The value of `--documents`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DocumentsArg {
    /// Split for a stream of records, join for a format that holds one document, otherwise keep
    Auto,
    /// One document per document
    Keep,
    /// The elements of an array become documents
    Split,
    /// All documents become elements of one array
    Join,
}

impl From<DocumentsArg> for Documents {
    fn from(documents: DocumentsArg) -> Documents {
        match documents {
            DocumentsArg::Auto => Documents::Auto,
            DocumentsArg::Keep => Documents::Keep,
            DocumentsArg::Split => Documents::Split,
            DocumentsArg::Join => Documents::Join,
        }
    }
}

/// When to show a progress bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal only
    Auto,
    /// Never
    Never,
    /// Always, even when output goes to a file
    Always,
}

/// How a measurement shows its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StageDisplay {
    /// A bar on a terminal, otherwise a line per stage
    Auto,
    /// Nothing
    Never,
    /// As auto
    Always,
}

impl From<StageDisplay> for When {
    fn from(stages: StageDisplay) -> When {
        match stages {
            StageDisplay::Auto => When::Auto,
            StageDisplay::Never => When::Never,
            StageDisplay::Always => When::Always,
        }
    }
}

/// The value of `--bad`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bad {
    Stop,
    Skip,
    Keep(PathBuf),
}

pub(super) fn bad(text: &str) -> Result<Bad, String> {
    match text {
        "stop" => Ok(Bad::Stop),
        "skip" => Ok(Bad::Skip),
        "-" | "" => Err("expected stop, skip or the name of a file".into()),
        file => Ok(Bad::Keep(file.into())),
    }
}

/// One `--limit`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit {
    All,
    One(String, Option<u64>),
}

impl Limit {
    /// Applies the options' limits in order.
    pub fn apply(settings: &[Limit]) -> Limits {
        let mut limits = Limits::default();
        for setting in settings {
            match setting {
                Limit::All => limits = Limits::NONE,
                // It was checked when it was parsed.
                Limit::One(name, value) => _ = limits.set(name, *value),
            }
        }
        limits
    }

    /// Returns how long a filter may take for a document, if there is a limit.
    pub fn time(settings: &[Limit]) -> Option<Duration> {
        let seconds = Limit::apply(settings).time;
        (seconds < u64::MAX).then(|| Duration::from_secs(seconds))
    }
}

pub fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit::All);
    }
    let (name, value) = text.split_once('=').ok_or_else(|| {
        format!("expected NAME=VALUE or none; names are {}", Limits::NAMES.join(", "))
    })?;
    let name = name.replace('-', "_");
    let known = Limits::default().set(&name, None);
    known.map_err(|unknown| unknown + &near(&name, Limits::NAMES))?;
    let value = if value == "none" { None } else { Some(size(value)?) };
    Limits::default().set(&name, value)?;
    Ok(Limit::One(name, value))
}

/// Parses a number with an optional unit: `64MiB`, `10k`.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'_').count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        "t" | "tib" => 40,
        _ => return Err(not_a_size(text)),
    };
    let number: u64 = number.replace('_', "").parse().map_err(|_| not_a_size(text))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` exceeds 2^64; use none"))
}

fn not_a_size(text: &str) -> String {
    format!(
        "found `{text}`, expected none or a number such as 1000, or 64MiB where it counts bytes"
    )
}

/// Returns the end of a message about an unknown name: the known one of which it seems to be a
/// misspelling, if there is one.
pub fn near<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> String {
    match regauge_measure::nearest(name, known) {
        Some(nearest) => format!("; the nearest is {nearest}"),
        None => String::new(),
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds from 0, such as 14.8".to_owned())
}

pub(super) fn interpreter(text: &str) -> Result<(String, PathBuf), String> {
    let (runtime, file) =
        text.split_once('=').ok_or_else(|| format!("found \"{text}\", expected RUNTIME=FILE"))?;
    Ok((runtime.to_owned(), file.into()))
}

pub fn format(text: &str) -> Result<Format, String> {
    let names = Format::ALL.iter().map(|one| one.name());
    text.parse().map_err(|error| format!("{error}{}", near(text, names)))
}

pub(super) fn form(text: &str) -> Result<Form, String> {
    text.parse()
}

pub(super) fn compression(text: &str) -> Result<Packing, String> {
    if text == "none" {
        return Ok(Packing(None));
    }
    Compression::parse(text).map(|one| Packing(Some(one))).ok_or_else(|| {
        let names: Vec<_> = Compression::ALL.iter().map(|one| one.name()).collect();
        format!("unknown compression `{text}`, expected one of none, {}", names.join(", "))
    })
}

pub(super) fn packed(text: &str) -> Result<Packed, String> {
    match text {
        "snappy" => Ok(Packed::Snappy),
        other => compression(other).map(Packed::Whole),
    }
}

/// Parses a selection of one rule.
fn rule(
    text: &str,
    add: impl FnOnce(&mut Selection, &str) -> Result<(), String>,
) -> Result<Rule, String> {
    let mut selection = Selection::new();
    add(&mut selection, text)?;
    Ok(selection.rules()[0].clone())
}

pub(super) fn only(text: &str) -> Result<Rule, String> {
    rule(text, Selection::only)
}

pub(super) fn drop(text: &str) -> Result<Rule, String> {
    rule(text, Selection::drop)
}

pub(super) fn rename(text: &str) -> Result<Rule, String> {
    rule(text, Selection::rename_to)
}

/// Returns the number of threads that may run at once: as asked for, or one per core.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

pub fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs @ 1..=256) => Ok(jobs),
        _ => Err("expected a number from 1 to 256".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits() {
        assert_eq!(limit("none"), Ok(Limit::All));
        assert_eq!(limit("depth=10"), Ok(Limit::One("depth".into(), Some(10))));
        assert_eq!(
            limit("record-bytes=2MiB"),
            Ok(Limit::One("record_bytes".into(), Some(2 << 20)))
        );
        assert_eq!(limit("nodes=none"), Ok(Limit::One("nodes".into(), None)));
        for wrong in ["depth", "width=1", "depth=", "depth=x", "nodes=1 apple", "nodes=99999999TiB"]
        {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
        let limits = Limit::apply(&[Limit::All, Limit::One("depth".into(), Some(3))]);
        assert_eq!((limits.depth, limits.nodes), (3, u64::MAX));
    }
}
