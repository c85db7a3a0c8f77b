//! A value in another format, in the same envelope.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use regauge::convert::convert_counted;
use regauge::envelope::{self, Tools};
use regauge::fidelity::{Fidelity, LossKind};
use regauge::hint::Hint;
use regauge::policy::classes::{ByClass, Found, Rule};
use regauge::{Error, ErrorKind, Format, Objects, OnLoss, Options};
use regauge_packing::Values;
use regauge_sources::Item;

use crate::look::{Codec, Form, Looker};
use crate::reason::reason;
use crate::rules::Rules;
use crate::tally::Count;

/// How many reasons are told apart; the rest is counted together.
const REASONS_MAX: usize = 1000;
/// How many classes are counted beyond those that are named.
pub const LEFT_OUT_MAX: usize = 1_000_000;
/// The longest key that is kept as an example.
const KEY_BYTES: usize = 200;

/// What values become.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The format of the new values.
    pub to: Format,
    /// What happens to objects and symbols.
    pub objects: Objects,
    /// What happens to other values that the format lacks.
    pub on_loss: OnLoss,
    /// What happens to single classes, whatever the two policies say.
    pub rules: Rules,
    /// The limits of each value.
    pub limits: regauge::Limits,
}

/// What can be done with a value.
#[derive(Debug)]
pub enum Step {
    /// It is not in a format that runs code: nothing to do.
    Other,
    /// The new bytes, and what they do not keep exactly.
    Move(Vec<u8>, Fidelity),
    /// It stays as it is, because of this.
    Stay(Error),
    /// It stays as it is until its classes have a rule.
    Unruled(Error),
    /// It stays as it is, because a rule says so.
    Ruled,
}

impl Plan {
    /// Returns the new bytes of the value of an item, if it is Marshal or pickle, perhaps in an envelope. Adds the
    /// classes in it that have a rule, or need one, to `classes`.
    pub fn step_of(&self, item: &Item<'_>, classes: &mut Classes) -> Step {
        let Some(value) = item.value else { return Step::Other };
        let mut found = Found::default();
        let step = self.step(value, item.flags, &mut found);
        classes.add(item.key, found);
        match step {
            Step::Move(new, _) if item.is_text && !is_text(&new) => Step::Stay(no_text(self.to)),
            step => step,
        }
    }

    /// Returns the new bytes of a value, as [`Plan::step_of`] does, if bytes can be stored in its place. `flags` is
    /// what the client stored beside it; `found` gets the classes.
    pub fn step(&self, bytes: &[u8], flags: Option<u32>, found: &mut Found) -> Step {
        let look = Looker::new(self.limits).look(bytes);
        let Codec::Format(from) = look.form.codec else { return Step::Other };
        if !runs_code(from) {
            return Step::Other;
        }
        if let Some(error) = look.broken {
            return Step::Stay(with_advice(error));
        }
        let form = look.form;
        let moved = match flags.filter(|flags| *flags != 0) {
            Some(flags) => Err(flagged(flags, from)),
            None => self.moved(bytes, &form, from, found),
        };
        match moved {
            Ok((new, fidelity)) => Step::Move(new, fidelity),
            Err(_) if found.stays => Step::Ruled,
            Err(error) if !found.refused.is_empty() => Step::Unruled(error),
            Err(error) => Step::Stay(error),
        }
    }

    fn moved(
        &self,
        bytes: &[u8],
        form: &Form,
        from: Format,
        found: &mut Found,
    ) -> regauge::Result<(Vec<u8>, Fidelity)> {
        if !form.steps.is_empty() {
            return Err(compressed(form));
        }
        let tools = Tools { limits: &self.limits, packer: &Values, keys: None };
        match envelope::find_whole(bytes, Some(from)).filter(|_| !form.rows.is_empty()) {
            None => match self.converted(bytes, from, found)? {
                // Caches of pickles hold numbers as text, and these bytes would be read as one of them.
                (new, _) if !self.to.is_text() && new.iter().all(u8::is_ascii_digit) => {
                    Err(digits(&new, self.to))
                }
                new => Ok(new),
            },
            Some(row) => {
                let opened = envelope::open(bytes.to_vec(), row, false, &tools)?;
                let (new, fidelity) = self.converted(&opened.bytes, from, found)?;
                envelope::close(&opened, self.to, new, &tools).map(|new| (new, fidelity))
            }
        }
    }

    fn converted(
        &self,
        bytes: &[u8],
        from: Format,
        found: &mut Found,
    ) -> regauge::Result<(Vec<u8>, Fidelity)> {
        let mut options = Options::new(from, self.to);
        options.limits = self.limits;
        options.objects = Some(self.objects);
        options.on_loss = self.on_loss;
        let by = Arc::new(ByClass::new(Arc::clone(&self.rules.0), from));
        if !self.rules.is_empty() {
            options.stage = Some(by.clone());
        }
        let converted = convert_counted(bytes, &options);
        *found = by.found();
        if let Err(error) = &converted
            && error.kind() == ErrorKind::Refused
            && !found.stays
        {
            self.survey(bytes, options, found);
        }
        let (mut new, summary) = converted?;
        let documents = summary.documents;
        if documents != 1 {
            let found = format!("found {documents} documents, expected the only one of a value");
            return Err(Error::unrepresentable(found));
        }
        // The newline at the end of a JSON file is no part of the value.
        if self.to == Format::Json && new.ends_with(b"\n") {
            new.pop();
        }
        Ok((new, summary.fidelity))
    }
}

impl Plan {
    /// Adds all classes of a refused value that need a rule, not only the first.
    #[cold]
    fn survey(&self, bytes: &[u8], mut options: Options, found: &mut Found) {
        let by = ByClass::new(Arc::clone(&self.rules.0), options.from);
        let by = Arc::new(by.surveying(self.on_loss, self.objects));
        options.stage = Some(by.clone());
        (options.on_loss, options.objects) = (OnLoss::Approximate, Some(Objects::Data));
        // The first conversion has said what was refused.
        let _ = convert_counted(bytes, &options);
        *found = by.found();
    }
}

/// The classes that were met.
#[derive(Debug, Default)]
pub struct Classes {
    /// Those that have a rule.
    pub ruled: BTreeSet<String>,
    /// Those that need one: how many values, the key of the first, and the rule that fits.
    pub needed: BTreeMap<String, Need>,
    /// The hashes of others that need one, of which there are too many to be named.
    pub left_out: BTreeSet<u64>,
}

/// What needs a rule.
#[derive(Debug)]
pub struct Need {
    /// How many values hold the class.
    pub values: u64,
    /// The key of the first.
    pub example: Vec<u8>,
    /// The rule that keeps most of it.
    pub fits: Rule,
}

impl Classes {
    fn add(&mut self, key: &[u8], found: Found) {
        self.ruled.extend(found.ruled);
        for (class, fits) in found.refused {
            if self.needed.len() >= REASONS_MAX && !self.needed.contains_key(&class) {
                if self.left_out.len() < LEFT_OUT_MAX {
                    self.left_out.insert(hash(&class));
                }
                continue;
            }
            let example = || key[..key.len().min(KEY_BYTES)].to_vec();
            let need = self.needed.entry(class);
            need.or_insert_with(|| Need { values: 0, example: example(), fits }).values += 1;
        }
    }
}

fn hash(name: &str) -> u64 {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// Returns whether loading a format can run code.
pub fn runs_code(format: Format) -> bool {
    matches!(format, Format::Marshal | Format::Pickle)
}

/// Returns whether every text column holds these bytes: UTF-8 without zero bytes.
fn is_text(bytes: &[u8]) -> bool {
    str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}

#[cold]
fn no_text(to: Format) -> Error {
    let to = to.title();
    Error::unrepresentable(format!("found a column of text, which cannot hold {to}"))
        .hint(Hint::say("move it to json, or make the column binary"))
}

/// Adds what to do to the error of a value that its language loads, but that is not whole.
#[cold]
fn with_advice(error: Error) -> Error {
    match error.kind() {
        // Its own advice is to raise the limit.
        ErrorKind::Limit => error,
        _ => error.hint(Hint::say(
            "it is cut off, or other bytes follow it; let the application write it again",
        )),
    }
}

#[cold]
fn compressed(form: &Form) -> Error {
    let steps = form.steps.join(", ");
    Error::unrepresentable(format!(
        "found {} in {steps}, expected it bare or in an envelope",
        form.codec.title()
    ))
    .hint(Hint::say("let the application write it again"))
}

#[cold]
fn digits(new: &[u8], to: Format) -> Error {
    Error::unrepresentable(format!(
        "found an integer whose bytes in {} are the digits {}, expected one that is not taken for a number in text",
        to.title(),
        new.escape_ascii()
    ))
    .hint(Hint::say("let the application write it again"))
}

#[cold]
fn flagged(flags: u32, from: Format) -> Error {
    Error::unrepresentable(format!(
        "found the flags {flags} beside it, by which its client knows that it is {}",
        from.title()
    ))
    .hint(Hint::say("let the application write it again"))
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
    /// Values that stay by a rule.
    pub ruled: Count,
    /// The classes in all values.
    pub classes: Classes,
    /// Values that changed, or were deleted, between reading and writing.
    pub changed: u64,
    /// What values that move do not keep exactly.
    pub losses: BTreeMap<LossKind, Lost>,
}

/// What is not kept of one kind.
#[derive(Debug)]
pub struct Lost {
    /// In how many values.
    pub values: u64,
    /// How many times.
    pub times: u64,
    /// The key of the first value.
    pub example: Vec<u8>,
    /// What it had, and what was written instead.
    pub first: Option<(String, String)>,
}

/// Why values stay.
#[derive(Debug)]
pub struct Reason {
    /// How many.
    pub count: Count,
    /// The key of the first.
    pub example: Vec<u8>,
    /// What can be done about it.
    pub hint: Option<String>,
}

impl Outcome {
    /// Counts what a value that moves does not keep.
    pub fn lose(&mut self, key: &[u8], fidelity: &Fidelity) {
        for loss in fidelity.losses() {
            let lost = self.losses.entry(loss.kind).or_insert_with(|| Lost {
                values: 0,
                times: 0,
                example: key[..key.len().min(KEY_BYTES)].to_vec(),
                first: loss.examples.first().map(|one| (one.found.clone(), one.written.clone())),
            });
            lost.values += 1;
            lost.times += loss.count;
        }
    }

    /// Counts a value that stays. `hint` gives what can be done about the error.
    pub fn stay(
        &mut self,
        key: &[u8],
        bytes: u64,
        error: &Error,
        hint: impl FnOnce() -> Option<String>,
    ) {
        let (mut reason, mut is_told) = (reason(error), true);
        if self.staying.len() >= REASONS_MAX && !self.staying.contains_key(&reason) {
            reason = "other reasons".to_owned();
            is_told = false;
        }
        let entry = self.staying.entry(reason);
        let reason = entry.or_insert_with(|| Reason {
            count: Count::default(),
            example: key[..key.len().min(KEY_BYTES)].to_vec(),
            hint: if is_told { hint() } else { None },
        });
        reason.count.values += 1;
        reason.count.bytes += bytes;
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
        Plan {
            to,
            objects,
            on_loss: OnLoss::Refuse,
            rules: Rules::default(),
            limits: Limits::default(),
        }
    }

    fn step(plan: &Plan, bytes: &[u8], flags: Option<u32>) -> Step {
        plan.step(bytes, flags, &mut Found::default())
    }

    fn made(path: &str) -> Vec<u8> {
        let corpus =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
        std::fs::read(corpus.join(path)).unwrap()
    }

    #[test]
    fn what_runs_code_moves_and_the_rest_is_left() {
        let plan = plan(Format::Msgpack, Objects::Refuse);
        let moved = |bytes: &[u8]| match step(&plan, bytes, None) {
            Step::Move(new, _) => new,
            other => panic!("{other:?}"),
        };
        assert_eq!(moved(b"\x04\x08[\x06i\x06"), b"\x91\x01");
        assert_eq!(moved(b"\x80\x04]\x94K\x01a."), b"\x91\x01");
        for other in [&b"{\"a\":1}"[..], b"text", b"17", b"", b"\x81\xA1a\x01"] {
            assert!(matches!(step(&plan, other, Some(1)), Step::Other), "{}", other.escape_ascii());
        }
        let Step::Stay(error) = step(&plan, b"\x80\x04K\x01.tail", None) else { panic!() };
        assert!(error.to_string().contains("other bytes follow it"));
        let Step::Unruled(error) = step(&plan, b"\x04\x08[\x06o:\x08Foo\0", None) else { panic!() };
        assert!(reason(&error).starts_with("at $[*]: found "), "{}", reason(&error));
    }

    #[test]
    fn an_envelope_stays_around_it() {
        let plan = plan(Format::Msgpack, Objects::Data);
        let old = made("rails-7.1.6/7.1-hash.bin");
        let Step::Move(new, _) = step(&plan, &old, Some(0)) else { panic!() };
        assert_eq!(new[..2], old[..2]);
        let row = envelope::find_whole(&new, None).unwrap();
        let tools = Tools { limits: &plan.limits, packer: &Values, keys: None };
        let opened = envelope::open(new, row, false, &tools).unwrap();
        assert_eq!(
            (opened.layers[0].row.name, opened.format),
            ("rails-cache-7.1", Format::Msgpack)
        );
        // Django reads only pickle there.
        let Step::Stay(error) = step(&plan, &made("django-5.2.19/table-dict.txt"), None) else {
            panic!()
        };
        assert!(error.message().contains("expected"), "{error}");
    }

    #[test]
    fn what_cannot_move_is_told_and_never_taken_for_something_else() {
        use regauge::envelope::{Packer as _, Packing};
        let as_msgpack = plan(Format::Msgpack, Objects::Refuse);
        let pickle = b"\x80\x04]\x94K\x01a.";
        let packed = Values.pack(Packing::Gzip, pickle).unwrap();
        for (bytes, flags, reason) in [
            (&packed[..], None, "found Python pickle in gzip, expected it bare or in an envelope"),
            (
                pickle,
                Some(1),
                "found the flags 1 beside it, by which its client knows that it is Python pickle",
            ),
            (
                b"\x04\x08i\x06\x04\x08i\x07",
                None,
                "found 2 documents, expected the only one of a value",
            ),
        ] {
            let Step::Stay(error) = step(&as_msgpack, bytes, flags) else { panic!("{reason}") };
            assert_eq!(error.message(), reason);
        }
        // As pickles of integers, for whose bytes readers would find the numbers 0, 9 and 85.
        let as_cbor = plan(Format::Cbor, Objects::Refuse);
        for (plan, number) in [(&as_msgpack, 48), (&as_msgpack, 57), (&as_cbor, -54i32)] {
            let pickle = [b"\x80\x04J", &number.to_le_bytes()[..], b"."].concat();
            let Step::Stay(error) = step(plan, &pickle, None) else { panic!("{number}") };
            assert!(error.message().contains("are the digits"), "{error}");
        }
        assert!(
            matches!(step(&as_msgpack, b"\x80\x04K:.", None), Step::Move(new, _) if new == b":")
        );
        // Without the newline of a file.
        let as_json = plan(Format::Json, Objects::Refuse);
        let Step::Move(new, _) = step(&as_json, pickle, Some(0)) else { panic!() };
        assert_eq!(new, b"[1]");
    }
}
