//! A value in another format, in the same envelope.

use std::collections::BTreeMap;

use regauge::detect::HEAD_BYTES;
use regauge::envelope::{self, Opened, Tools};
use regauge::{Error, Format, Objects, OnLoss, Options, convert_bytes};
use regauge_packing::Values;
use regauge_sources::Item;

use crate::look;
use crate::tally::Count;

/// How many reasons and prefixes are told apart; the rest is counted together.
const REASONS_MAX: usize = 1000;

/// What values become.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The format of the new values.
    pub to: Format,
    /// What happens to objects and symbols.
    pub objects: Objects,
    /// What happens to other values that the format lacks.
    pub on_loss: OnLoss,
    /// The limits of each value.
    pub limits: regauge::Limits,
}

/// What can be done with a value.
#[derive(Debug)]
pub enum Step {
    /// It is not in a format that runs code: nothing to do.
    Other,
    /// The new bytes.
    Move(Vec<u8>),
    /// It stays as it is, because of this.
    Stay(Error),
}

impl Plan {
    /// Returns the new bytes of a value, if it is Marshal or pickle, perhaps in an envelope.
    pub fn step(&self, bytes: &[u8]) -> Step {
        let told = Format::from_magic(&bytes[..bytes.len().min(HEAD_BYTES)]);
        // The first protocols of pickle have no mark.
        let told = match told {
            None if look::is_bare_pickle(bytes, &self.limits) => Some(Format::Pickle),
            told => told,
        };
        let tools = Tools { limits: &self.limits, packer: &Values };
        let opened = envelope::find_whole(bytes, told)
            .and_then(|row| envelope::open(bytes.to_vec(), row, false, &tools).ok());
        match opened {
            Some(opened) if runs_code(opened.format) => match self.inside(&opened, &tools) {
                Ok(new) => Step::Move(new),
                Err(error) => Step::Stay(error),
            },
            None if told.is_some_and(runs_code) => match self.converted(bytes, told) {
                Ok(new) => Step::Move(new),
                Err(error) => Step::Stay(error),
            },
            _ => Step::Other,
        }
    }

    fn inside(&self, opened: &Opened, tools: &Tools<'_>) -> regauge::Result<Vec<u8>> {
        let new = self.converted(&opened.bytes, Some(opened.format))?;
        envelope::close(opened, self.to, new, tools)
    }

    fn converted(&self, bytes: &[u8], from: Option<Format>) -> regauge::Result<Vec<u8>> {
        let mut options = Options::new(from.unwrap_or(self.to), self.to);
        options.limits = self.limits;
        options.objects = Some(self.objects);
        options.on_loss = self.on_loss;
        convert_bytes(bytes, &options)
    }
}

fn runs_code(format: Format) -> bool {
    matches!(format, Format::Marshal | Format::Pickle)
}

/// What a migration did, or would do.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Values that are not in a format that runs code.
    pub others: Count,
    /// Values that move: their bytes before.
    pub moved: Count,
    /// The bytes of these values afterwards.
    pub moved_bytes: u64,
    /// Values that stay, by the reason.
    pub staying: BTreeMap<String, Reason>,
    /// Values that changed, or were deleted, between reading and writing.
    pub changed: u64,
}

/// Returns why a value stays, in words that are the same for the same cause in another value.
fn reason(error: &Error) -> String {
    let Some(path) = error.path() else { return error.message().to_owned() };
    let mut place = String::new();
    let mut is_index = false;
    for c in path.to_string().chars() {
        match c {
            '[' => is_index = true,
            ']' => is_index = false,
            '0'..='9' if is_index => {
                if !place.ends_with('*') {
                    place.push('*');
                }
                continue;
            }
            _ => {}
        }
        place.push(c);
    }
    format!("at {place}: {}", error.message())
}

/// Why values stay.
#[derive(Debug)]
pub struct Reason {
    /// How many.
    pub count: Count,
    /// The key of the first.
    pub example: Vec<u8>,
}

impl Outcome {
    /// Counts a value that stays.
    pub fn stay(&mut self, item: &Item<'_>, error: &Error) {
        let mut reason = reason(error);
        if self.staying.len() >= REASONS_MAX && !self.staying.contains_key(&reason) {
            reason = "other reasons".to_owned();
        }
        let entry = self.staying.entry(reason);
        let reason =
            entry.or_insert_with(|| Reason { count: Count::default(), example: item.key.to_vec() });
        reason.count.values += 1;
        reason.count.bytes += item.bytes;
    }

    /// Returns how many values stay.
    pub fn stays(&self) -> Count {
        self.staying.values().fold(Count::default(), |sum, reason| Count {
            values: sum.values + reason.count.values,
            bytes: sum.bytes + reason.count.bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use regauge::Limits;

    fn plan(to: Format, objects: Objects) -> Plan {
        Plan { to, objects, on_loss: OnLoss::Refuse, limits: Limits::default() }
    }

    fn made(path: &str) -> Vec<u8> {
        let corpus =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
        std::fs::read(corpus.join(path)).unwrap()
    }

    #[test]
    fn what_runs_code_moves_and_the_rest_is_left() {
        let plan = plan(Format::Msgpack, Objects::Refuse);
        let moved = |bytes: &[u8]| match plan.step(bytes) {
            Step::Move(new) => new,
            other => panic!("{other:?}"),
        };
        assert_eq!(moved(b"\x04\x08[\x06i\x06"), b"\x91\x01");
        assert_eq!(moved(b"\x80\x04]\x94K\x01a."), b"\x91\x01");
        for other in [&b"{\"a\":1}"[..], b"text", b"17", b"", b"\x81\xA1a\x01"] {
            assert!(matches!(plan.step(other), Step::Other), "{}", other.escape_ascii());
        }
        let Step::Stay(error) = plan.step(b"\x04\x08[\x06o:\x08Foo\0") else { panic!() };
        assert!(reason(&error).starts_with("at $[*]: found "), "{}", reason(&error));
    }

    #[test]
    fn an_envelope_stays_around_it() {
        let plan = plan(Format::Msgpack, Objects::Data);
        let old = made("rails-7.1.6/7.1-hash.bin");
        let Step::Move(new) = plan.step(&old) else { panic!() };
        assert_eq!(new[..2], old[..2]);
        let row = envelope::find_whole(&new, None).unwrap();
        let tools = Tools { limits: &plan.limits, packer: &Values };
        let opened = envelope::open(new, row, false, &tools).unwrap();
        assert_eq!(
            (opened.layers[0].row.name, opened.format),
            ("rails-cache-7.1", Format::Msgpack)
        );
        // Django reads only pickle there.
        let Step::Stay(error) = plan.step(&made("django-5.2.19/table-dict.txt")) else { panic!() };
        assert!(error.message().contains("expected"), "{error}");
    }
}
