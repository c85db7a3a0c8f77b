//! Between a source and its caller: chooses the keys, hands out the items, and counts both.

use regauge::{Error, Result};

use crate::item::{Item, Kind, Part};
use crate::source::{Flow, Sample, Summary, Wanted};

/// The function that a caller reads with.
pub(crate) type Each<'f> = &'f mut dyn FnMut(&Item<'_>) -> Result<Flow>;

/// What all items of a key have in common.
#[derive(Clone, Copy)]
pub(crate) struct Head<'k> {
    pub database: u64,
    pub key: &'k [u8],
    pub kind: Kind,
    pub expires_at: Option<i64>,
    pub knows_expiry: bool,
    pub idle: Option<u64>,
    pub frequency: Option<u8>,
    pub flags: Option<u32>,
    pub is_text: bool,
}

impl<'k> Head<'k> {
    pub fn new(database: u64, key: &'k [u8], kind: Kind) -> Head<'k> {
        Head {
            database,
            key,
            kind,
            expires_at: None,
            knows_expiry: true,
            idle: None,
            frequency: None,
            flags: None,
            is_text: false,
        }
    }
}

/// The caller of a source.
pub(crate) struct Feed<'f> {
    pub wanted: &'f Wanted<'f>,
    pub summary: Summary,
    each: Each<'f>,
    /// How many keys were wanted, sampled or not.
    admitted: u64,
    /// Whether `each` failed: the error is the caller's own.
    has_failed: bool,
    is_first: bool,
    parts: Option<u64>,
}

impl<'f> Feed<'f> {
    pub fn new(wanted: &'f Wanted<'f>, each: Each<'f>) -> Feed<'f> {
        Feed {
            wanted,
            summary: Summary::default(),
            each,
            admitted: 0,
            has_failed: false,
            is_first: true,
            parts: None,
        }
    }

    /// Returns whether no further key will be taken.
    pub fn is_full(&self) -> bool {
        matches!(self.wanted.sample, Sample::First(most) if self.admitted >= most)
    }

    /// Returns whether a key is to be handed out, and counts it if not.
    pub fn takes(&mut self, database: u64, key: &[u8], kind: Kind) -> bool {
        let admits = self.wanted.admits(database, key, kind);
        let takes = admits && self.samples();
        self.summary.passed_over += u64::from(!takes);
        takes
    }

    /// Counts a wanted key; returns whether it is in the sample.
    fn samples(&mut self) -> bool {
        let number = self.admitted;
        self.admitted += 1;
        match self.wanted.sample {
            Sample::All => true,
            Sample::EveryNth(step) => number.is_multiple_of(step.max(1)),
            Sample::First(most) => number < most,
        }
    }

    /// Begins a key that was taken.
    pub fn begin(&mut self, head: &Head<'_>, parts: Option<u64>) {
        self.summary.keys += 1;
        self.summary.item_bytes += head.key.len() as u64;
        self.is_first = true;
        self.parts = parts;
    }

    /// Hands out a value of the key.
    #[inline]
    pub fn value(
        &mut self,
        head: &Head<'_>,
        part: Option<Part<'_>>,
        part_expires_at: Option<i64>,
        value: &[u8],
    ) -> Result<Flow> {
        self.item(head, part, part_expires_at, Some(value), value.len() as u64)
    }

    /// Hands out a key without its value, which takes so many bytes.
    pub fn whole(&mut self, head: &Head<'_>, bytes: u64, parts: Option<u64>) -> Result<Flow> {
        self.begin(head, parts);
        self.item(head, None, None, None, bytes)
    }

    fn item(
        &mut self,
        head: &Head<'_>,
        part: Option<Part<'_>>,
        part_expires_at: Option<i64>,
        value: Option<&[u8]>,
        bytes: u64,
    ) -> Result<Flow> {
        let Head { database, key, kind, expires_at, knows_expiry, idle, frequency, flags, is_text } =
            *head;
        let field = if let Some(Part::Field(field)) = part { field.len() as u64 } else { 0 };
        self.summary.items += 1;
        self.summary.item_bytes += field + if value.is_some() { bytes } else { 0 };
        let is_first = std::mem::replace(&mut self.is_first, false);
        let parts = self.parts;
        let item = Item {
            database,
            key,
            kind,
            part,
            value,
            bytes,
            expires_at,
            knows_expiry,
            part_expires_at,
            idle,
            frequency,
            flags,
            is_text,
            is_first,
            parts,
        };
        (self.each)(&item).inspect_err(|_| self.has_failed = true)
    }

    /// Adds the key to an error of the source; one of the caller's stays as it is.
    #[cold]
    pub fn named(&self, error: Error, key: &[u8]) -> Error {
        use regauge::model::path::{Path, Step};
        if self.has_failed || error.path().is_some() {
            return error;
        }
        error.at_path(Path(vec![Step::Key(shown(key).into())]))
    }
}

/// Returns what is percent-encoded; `None` if it is not.
#[cfg(any(feature = "memcached", feature = "sql"))]
pub(crate) fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        out.push(match byte {
            b'%' => {
                let mut digit = || char::from(*rest.next()?).to_digit(16);
                (digit()? << 4 | digit()?) as u8
            }
            byte => *byte,
        });
    }
    Some(out)
}

/// Returns a key as text: as it is, or in hexadecimal digits.
pub(crate) fn shown(key: &[u8]) -> String {
    use std::fmt::Write as _;
    match std::str::from_utf8(key) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let mut out = "0x".to_owned();
            // A path shows no more characters.
            for byte in key.iter().take(32) {
                let _ = write!(out, "{byte:02x}");
            }
            out + if key.len() > 32 { "…" } else { "" }
        }
    }
}
