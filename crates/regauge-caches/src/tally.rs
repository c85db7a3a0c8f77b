//! What is counted for the keys with one prefix.

use std::collections::{BTreeMap, HashMap};

use regauge_sources::{Item, Kind};

use crate::look::{Danger, Form, Look, Risk};
use crate::prefix::Merge;

/// How many classes are counted by name, and how many bytes of a name.
const CLASSES_MAX: usize = 200;
const CLASS_BYTES: usize = 200;
/// How many first bytes of unknown values are told apart.
const BEGINS_MAX: usize = 64;
/// How many of the largest keys are kept.
const LARGEST: usize = 5;
/// The sample: how many values, and bytes in all.
const SAMPLE_VALUES: usize = 32;
const SAMPLE_BYTES: usize = 16 << 10;
/// The longest key that is kept.
const KEY_BYTES: usize = 200;

/// A number of values, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How many.
    pub values: u64,
    /// How many bytes, as they are stored.
    pub bytes: u64,
}

impl Count {
    /// Counts a value of this many bytes.
    pub fn add(&mut self, bytes: u64) {
        self.values += 1;
        self.bytes += bytes;
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: Count) {
        self.values += other.values;
        self.bytes += other.bytes;
    }
}

/// What is counted.
#[derive(Debug, Default)]
pub struct Tally {
    /// How many keys.
    pub keys: u64,
    /// Values and their bytes.
    pub all: Count,
    /// How many keys of each kind.
    pub kinds: BTreeMap<Kind, u64>,
    /// What the values are.
    pub forms: HashMap<Form, Count>,
    /// What loading them would do.
    pub dangers: BTreeMap<Danger, Count>,
    /// The classes and functions that values name.
    pub classes: BTreeMap<String, Class>,
    /// Whether more classes were there than are counted by name.
    pub has_more_classes: bool,
    /// Values that another one equals.
    pub repeated: Count,
    /// How unknown values begin, and how many do.
    pub begins: BTreeMap<[u8; 4], u64>,
    /// When keys expire: of those whose source knows it.
    pub expiry: Expiry,
    /// The largest values, with their keys.
    pub largest: Vec<(u64, Vec<u8>)>,
    /// Some of the values: what is inside their envelopes.
    pub sample: Sample,
}

/// A class or a function that values name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// How many values name it.
    pub values: u64,
    /// How dangerous it is to load.
    pub risk: Risk,
}

/// When keys expire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expiry {
    /// How many keys never expire.
    pub never: u64,
    /// How many do.
    pub expiring: u64,
    /// The earliest and the latest expiry, in Unix milliseconds.
    pub range: Option<(i64, i64)>,
}

/// Some values of a prefix: what is inside their envelopes, evenly over the keys that were read.
#[derive(Debug, Default)]
pub struct Sample {
    /// What they are, the bytes as they were stored, and what is inside.
    pub values: Vec<(Form, u64, Vec<u8>)>,
    bytes: usize,
    seen: u64,
    /// Only every n-th value is taken, n a power of two.
    shift: u32,
}

impl Tally {
    /// Counts an item.
    pub fn add(&mut self, item: &Item<'_>, looked: Option<&Look>, is_repeated: bool) {
        if item.is_first {
            self.keys += 1;
            *self.kinds.entry(item.kind).or_default() += 1;
            if item.knows_expiry {
                self.expiry.add(item.expires_at);
            }
        }
        self.all.add(item.bytes);
        self.enlist(item.bytes, item.key);
        let (Some(looked), Some(value)) = (looked, item.value) else { return };
        match self.forms.get_mut(&looked.form) {
            Some(count) => count.add(item.bytes),
            None => self.forms.entry(looked.form.clone()).or_default().add(item.bytes),
        }
        self.dangers.entry(looked.danger).or_default().add(item.bytes);
        for (class, risk) in &looked.classes {
            self.count_class(class, Class { values: 1, risk: *risk });
        }
        if is_repeated {
            self.repeated.add(item.bytes);
        }
        if let Some(begins) = looked.begins
            && (self.begins.len() < BEGINS_MAX || self.begins.contains_key(&begins))
        {
            *self.begins.entry(begins).or_default() += 1;
        }
        self.sample.take(&looked.form, item.bytes, looked.inside.as_deref().unwrap_or(value));
    }

    fn count_class(&mut self, name: &str, class: Class) {
        let end = (0..=name.len().min(CLASS_BYTES)).rfind(|end| name.is_char_boundary(*end));
        let name = &name[..end.unwrap_or(0)];
        let is_full = self.classes.len() >= CLASSES_MAX;
        match self.classes.get_mut(name) {
            Some(known) => {
                known.values += class.values;
                known.risk = known.risk.max(class.risk);
            }
            None if is_full => self.has_more_classes = true,
            None => {
                self.classes.insert(name.to_owned(), class);
            }
        }
    }

    fn enlist(&mut self, bytes: u64, key: &[u8]) {
        if self.largest.len() == LARGEST && self.largest[LARGEST - 1].0 >= bytes {
            return;
        }
        let at = self.largest.partition_point(|(more, _)| *more >= bytes);
        self.largest.insert(at, (bytes, key[..key.len().min(KEY_BYTES)].to_vec()));
        self.largest.truncate(LARGEST);
    }

    /// Returns the forms, the one with the most bytes first.
    pub fn forms(&self) -> Vec<(&Form, Count)> {
        let mut forms: Vec<_> = self.forms.iter().map(|(form, count)| (form, *count)).collect();
        forms.sort_by(|(one, a), (other, b)| b.bytes.cmp(&a.bytes).then_with(|| one.cmp(other)));
        forms
    }
}

impl Merge for Tally {
    fn merge(&mut self, other: Tally) {
        self.keys += other.keys;
        self.all.merge(other.all);
        for (kind, count) in other.kinds {
            *self.kinds.entry(kind).or_default() += count;
        }
        for (form, count) in other.forms {
            self.forms.entry(form).or_default().merge(count);
        }
        for (danger, count) in other.dangers {
            self.dangers.entry(danger).or_default().merge(count);
        }
        for (name, class) in other.classes {
            self.count_class(&name, class);
        }
        self.has_more_classes |= other.has_more_classes;
        self.repeated.merge(other.repeated);
        for (begins, count) in other.begins {
            if self.begins.len() < BEGINS_MAX || self.begins.contains_key(&begins) {
                *self.begins.entry(begins).or_default() += count;
            }
        }
        self.expiry.merge(other.expiry);
        for (bytes, key) in other.largest {
            self.enlist(bytes, &key);
        }
        self.sample.merge(other.sample);
    }
}

impl Expiry {
    /// Returns whether nothing is known.
    pub fn is_unknown(&self) -> bool {
        self.never + self.expiring == 0
    }

    fn add(&mut self, at: Option<i64>) {
        match at {
            None => self.never += 1,
            Some(at) => {
                self.expiring += 1;
                let (first, last) = self.range.unwrap_or((at, at));
                self.range = Some((first.min(at), last.max(at)));
            }
        }
    }

    fn merge(&mut self, other: Expiry) {
        self.never += other.never;
        self.expiring += other.expiring;
        for at in other.range.into_iter().flat_map(|(first, last)| [first, last]) {
            let (first, last) = self.range.unwrap_or((at, at));
            self.range = Some((first.min(at), last.max(at)));
        }
    }
}

impl Sample {
    fn take(&mut self, form: &Form, stored: u64, inside: &[u8]) {
        let turn = self.seen;
        self.seen += 1;
        if turn.trailing_zeros() < self.shift || inside.len() > SAMPLE_BYTES {
            return;
        }
        self.bytes += inside.len();
        self.values.push((form.clone(), stored, inside.to_vec()));
        self.thin();
    }

    /// Leaves out every second value until the rest fits.
    fn thin(&mut self) {
        while self.values.len() > SAMPLE_VALUES || self.bytes > SAMPLE_BYTES {
            let mut at = 0;
            self.values.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.bytes = self.values.iter().map(|(_, _, inside)| inside.len()).sum();
            self.shift += 1;
            if self.values.len() <= 1 {
                break;
            }
        }
    }

    fn merge(&mut self, other: Sample) {
        self.seen += other.seen;
        self.bytes += other.bytes;
        self.values.extend(other.values);
        self.shift = self.shift.max(other.shift);
        self.thin();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::look::{Codec, Looker};
    use regauge::Limits;

    #[test]
    fn a_sample_is_spread_evenly_and_bounded() {
        let form = Looker::new(Limits::default()).look(b"text").form;
        assert_eq!(form.codec, Codec::Text);
        let mut sample = Sample::default();
        for n in 0..10_000u32 {
            sample.take(&form, 4, &n.to_be_bytes());
        }
        assert!((SAMPLE_VALUES / 2..=SAMPLE_VALUES).contains(&sample.values.len()));
        let numbers: Vec<_> = sample
            .values
            .iter()
            .map(|(_, _, inside)| u32::from_be_bytes(inside[..].try_into().unwrap()))
            .collect();
        assert_eq!(numbers[0], 0);
        assert!(*numbers.last().unwrap() > 8_000, "{numbers:?}");
        let mut large = Sample::default();
        for _ in 0..100 {
            large.take(&form, 9000, &[b'x'; 9000]);
        }
        assert_eq!(large.values.len(), 1);
    }
}
