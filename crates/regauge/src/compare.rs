//! What differs between a document and what became of it elsewhere: lost, or wrong.
//!
//! A library that reads bytes and writes them again should give the same document. Where it does
//! not, the difference is either a *loss*, which leaves the data usable and belongs to the format
//! or the library's model (a key order, the sign of a zero, NaN as null), or it is *wrong*: a
//! value that nobody would take for the original. Each difference is counted by kind, and the
//! first of each kind are kept with their path.
//!
//! What counts as a loss is a closed list, [`ChangeKind`]; everything else is wrong. In doubt it
//! is wrong.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use unicode_normalization::UnicodeNormalization;

use crate::event::{BigInt, Ext};
use crate::number;
use crate::path::{Path, Step};
use crate::value::Value;

/// What sort of difference it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The same keys and values in another order.
    KeyOrder,
    /// A key stood twice, and one of the two is left.
    DuplicateKey,
    /// The same elements of an array in another order.
    ItemOrder,
    /// An integer became the double nearest to it.
    IntegerToDouble,
    /// A double became the integer of the same value.
    DoubleToInteger,
    /// A double became one that agrees with it in 15 significant digits, which is what every
    /// double promises (C's `DBL_DIG`).
    DoubleRounded,
    /// -0.0 became 0.
    NegativeZero,
    /// NaN or an infinity became null.
    NonFinite,
    /// Bytes became text: their Base64, or themselves.
    BytesToText,
    /// A key that is not text became its text.
    KeyToText,
    /// Text changed its Unicode normalization form.
    Normalization,
    /// A MARC leader differs, outside of the lengths that every writer computes.
    Leader,
    /// A value is another one.
    Value,
    /// A value, a key or a document is gone.
    Missing,
    /// A value, a key or a document appeared.
    Added,
}

impl ChangeKind {
    /// The name in reports: `"key order"`, `"value"`, …
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::KeyOrder => "key order",
            ChangeKind::DuplicateKey => "duplicate key",
            ChangeKind::ItemOrder => "item order",
            ChangeKind::IntegerToDouble => "integer to double",
            ChangeKind::DoubleToInteger => "double to integer",
            ChangeKind::DoubleRounded => "double rounded",
            ChangeKind::NegativeZero => "negative zero",
            ChangeKind::NonFinite => "non-finite",
            ChangeKind::BytesToText => "bytes to text",
            ChangeKind::KeyToText => "key to text",
            ChangeKind::Normalization => "normalization",
            ChangeKind::Leader => "leader",
            ChangeKind::Value => "value",
            ChangeKind::Missing => "missing",
            ChangeKind::Added => "added",
        }
    }

    /// Whether the difference makes the result wrong, rather than poorer.
    pub fn is_wrong(self) -> bool {
        matches!(self, ChangeKind::Value | ChangeKind::Missing | ChangeKind::Added)
    }
}

/// All differences of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What sort.
    pub kind: ChangeKind,
    /// How many.
    pub count: u64,
    /// The first of them, [`Comparison::EXAMPLES`] at most.
    pub examples: Vec<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The document, from 1.
    pub document: u64,
    /// Where in the document.
    pub path: Path,
    /// What stood there, shortened.
    pub before: String,
    /// What stands there now, shortened; empty where nothing does.
    pub after: String,
}

/// Compares documents pair by pair and keeps count.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    changes: Vec<Change>,
    documents: u64,
    wrong_documents: u64,
    path: Vec<Step>,
    marc: bool,
}

impl Comparison {
    /// Examples kept of each kind.
    pub const EXAMPLES: usize = 5;

    /// A comparison of plain documents.
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// A comparison of MARC records in the shape of MARC-in-JSON. The record length (leader/00-04)
    /// and the base address (leader/12-16) are what each writer computes and are not compared; a
    /// difference elsewhere in the leader is a loss, not a wrong value.
    pub fn of_marc() -> Comparison {
        Comparison { marc: true, ..Comparison::default() }
    }

    /// Compares the next pair of documents. `None` stands for a document that is not there.
    pub fn next(&mut self, before: Option<&Value>, after: Option<&Value>) {
        self.documents += 1;
        let wrong = self.wrong();
        match (before, after) {
            (Some(before), Some(after)) => self.value(before, after),
            (Some(before), None) => self.note(ChangeKind::Missing, shown(before), String::new()),
            (None, Some(after)) => self.note(ChangeKind::Added, String::new(), shown(after)),
            (None, None) => self.documents -= 1,
        }
        if self.wrong() > wrong {
            self.wrong_documents += 1;
        }
    }

    /// The differences so far, losses first, each in the order of its kind.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How many pairs were compared.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// How many pairs differ in more than losses.
    pub fn wrong_documents(&self) -> u64 {
        self.wrong_documents
    }

    /// How many differences make the result wrong.
    fn wrong(&self) -> u64 {
        self.changes.iter().filter(|change| change.kind.is_wrong()).map(|change| change.count).sum()
    }

    fn note(&mut self, kind: ChangeKind, before: String, after: String) {
        let place = match self.changes.binary_search_by_key(&kind, |change| change.kind) {
            Ok(place) => place,
            Err(place) => {
                self.changes.insert(place, Change { kind, count: 0, examples: Vec::new() });
                place
            }
        };
        let change = &mut self.changes[place];
        change.count += 1;
        if change.examples.len() < Comparison::EXAMPLES {
            let path = Path(self.path.clone());
            change.examples.push(Difference { document: self.documents, path, before, after });
        }
    }

    fn value(&mut self, before: &Value, after: &Value) {
        match (before, after) {
            (Value::Map(before), Value::Map(after)) => self.map(before, after),
            (Value::Array(before), Value::Array(after)) => self.array(before, after),
            // The number of an anchor says nothing.
            (Value::Anchor(_, before), Value::Anchor(_, after)) => self.value(before, after),
            (Value::Typed(type_before, before), Value::Typed(type_after, after))
                if type_before == type_after =>
            {
                self.value(before, after);
            }
            _ => {
                if let Some(kind) = scalar_change(before, after) {
                    self.note(kind, shown(before), shown(after));
                }
            }
        }
    }

    fn map(&mut self, before: &[(Value, Value)], after: &[(Value, Value)]) {
        let same_keys = before.len() == after.len()
            && before.iter().zip(after).all(|((one, _), (other, _))| one == other);
        if same_keys {
            for ((key, before), (_, after)) in before.iter().zip(after) {
                self.member(key, before, after);
            }
            return;
        }
        // Keys are matched by their text: that is what becomes of a key that is none.
        let mut found: HashMap<String, (usize, bool)> = HashMap::with_capacity(after.len());
        for (index, (key, _)) in after.iter().enumerate() {
            found.insert(key_text(key), (index, false));
        }
        let mut last = HashMap::with_capacity(before.len());
        for (index, (key, _)) in before.iter().enumerate() {
            last.insert(key_text(key), index);
        }
        let mut order = Vec::with_capacity(before.len());
        for (index, (key, value)) in before.iter().enumerate() {
            let text = key_text(key);
            if last[&text] != index {
                self.at(key, |this| {
                    this.note(ChangeKind::DuplicateKey, shown(value), String::new());
                });
                continue;
            }
            let Some((place, used)) = found.get_mut(&text) else {
                self.at(key, |this| this.note(ChangeKind::Missing, shown(value), String::new()));
                continue;
            };
            *used = true;
            order.push(*place);
            let (key_after, value_after) = &after[*place];
            if key != key_after {
                self.at(key, |this| {
                    this.note(ChangeKind::KeyToText, shown(key), shown(key_after));
                });
            }
            self.member(key, value, value_after);
        }
        for (index, (key, value)) in after.iter().enumerate() {
            if found.get(&key_text(key)) == Some(&(index, false)) {
                self.at(key, |this| this.note(ChangeKind::Added, String::new(), shown(value)));
            }
        }
        if !order.is_sorted() {
            let keys = |pairs: &[(Value, Value)]| {
                shorten(&pairs.iter().map(|(key, _)| key_text(key)).collect::<Vec<_>>().join(", "))
            };
            self.note(ChangeKind::KeyOrder, keys(before), keys(after));
        }
    }

    fn member(&mut self, key: &Value, before: &Value, after: &Value) {
        // Most members are equal: their path is not worth building.
        if same(before, after) {
            return;
        }
        self.at(key, |this| match (before, after) {
            (Value::Text(before), Value::Text(after))
                if this.marc && this.path == [Step::Key("leader".into())] =>
            {
                this.leader(before, after);
            }
            _ => this.value(before, after),
        });
    }

    /// Leaders are ASCII of 24 characters (ISO 2709 §4.3): 00-04 and 12-16 are computed.
    fn leader(&mut self, before: &str, after: &str) {
        let kept = |leader: &str| -> Vec<u8> {
            let mut bytes = leader.as_bytes().to_vec();
            for place in (0..5).chain(12..17) {
                if let Some(byte) = bytes.get_mut(place) {
                    *byte = b'0';
                }
            }
            bytes
        };
        if kept(before) != kept(after) {
            self.note(ChangeKind::Leader, format!("{before:?}"), format!("{after:?}"));
        }
    }

    fn array(&mut self, before: &[Value], after: &[Value]) {
        let common = before.len().min(after.len());
        let changed = (0..common).any(|index| !same(&before[index], &after[index]));
        if changed && before.len() == after.len() && is_permutation(before, after) {
            // The first element that moved says more than the head of two long lists.
            let first = (0..common).find(|index| !same(&before[*index], &after[*index]));
            let first = first.expect("an element has changed");
            self.at_index(first, |this| {
                this.note(ChangeKind::ItemOrder, shown(&before[first]), shown(&after[first]));
            });
            return;
        }
        if changed {
            for index in 0..common {
                if !same(&before[index], &after[index]) {
                    self.at_index(index, |this| this.value(&before[index], &after[index]));
                }
            }
        }
        for (index, value) in before.iter().enumerate().skip(common) {
            self.at_index(index, |this| {
                this.note(ChangeKind::Missing, shown(value), String::new());
            });
        }
        for (index, value) in after.iter().enumerate().skip(common) {
            self.at_index(index, |this| this.note(ChangeKind::Added, String::new(), shown(value)));
        }
    }

    fn at(&mut self, key: &Value, work: impl FnOnce(&mut Comparison)) {
        self.path.push(Step::Key(key_text(key).into()));
        work(self);
        self.path.pop();
    }

    fn at_index(&mut self, index: usize, work: impl FnOnce(&mut Comparison)) {
        self.path.push(Step::Index(index as u64));
        work(self);
        self.path.pop();
    }
}

/// Equal in every bit. `==` would take -0.0 for 0.0, and NaN for different from itself.
fn same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::F64(one), Value::F64(other)) => {
            one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
        }
        (Value::F32(one), Value::F32(other)) => {
            one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same(&one.0, &other.0) && same(&one.1, &other.1))
        }
        (Value::Typed(type_one, one), Value::Typed(type_other, other)) => {
            type_one == type_other && same(one, other)
        }
        (Value::Anchor(id_one, one), Value::Anchor(id_other, other)) => {
            id_one == id_other && same(one, other)
        }
        (Value::Ext(one), Value::Ext(other)) => match (one.as_ext(), other.as_ext()) {
            (Ext::Complex(real, imaginary), Ext::Complex(other_real, other_imaginary)) => {
                same(&Value::F64(real), &Value::F64(other_real))
                    && same(&Value::F64(imaginary), &Value::F64(other_imaginary))
            }
            (one, other) => one == other,
        },
        _ => before == after,
    }
}

/// How two values differ that are not both containers of one sort.
fn scalar_change(before: &Value, after: &Value) -> Option<ChangeKind> {
    if same(before, after) {
        return None;
    }
    Some(match (before, after) {
        // Writers choose the width of floats; a single that became its double lost nothing.
        (Value::F32(one), Value::F64(other)) => {
            return scalar_change(&Value::F64(f64::from(*one)), &Value::F64(*other));
        }
        (Value::F64(one), Value::F32(other)) => {
            return scalar_change(&Value::F64(*one), &Value::F64(f64::from(*other)));
        }
        (Value::F64(one), Value::F64(other)) => double_change(*one, *other),
        (Value::F64(one), Value::Null) if !one.is_finite() => ChangeKind::NonFinite,
        (Value::F32(one), Value::Null) if !one.is_finite() => ChangeKind::NonFinite,
        (Value::F64(one), Value::Int(0)) if *one == 0.0 && one.is_sign_negative() => {
            ChangeKind::NegativeZero
        }
        (Value::F64(double), integer) if nearest_double(integer) == Some(*double) => {
            // 2^53 + 1 is no double: it cannot be what became of one.
            match integer_text(integer).is_some_and(|text| number::is_value_kept(&text, *double)) {
                true => ChangeKind::DoubleToInteger,
                false => ChangeKind::Value,
            }
        }
        (integer, Value::F64(double)) if nearest_double(integer) == Some(*double) => {
            ChangeKind::IntegerToDouble
        }
        (Value::Bytes(bytes), Value::Text(text)) if is_text_of(bytes, text) => {
            ChangeKind::BytesToText
        }
        (Value::Text(one), Value::Text(other)) if one.nfc().eq(other.nfc()) => {
            ChangeKind::Normalization
        }
        _ => ChangeKind::Value,
    })
}

fn double_change(before: f64, after: f64) -> ChangeKind {
    if before == after {
        return ChangeKind::NegativeZero;
    }
    let digits = |double: f64| format!("{double:.14e}");
    if digits(before) == digits(after) { ChangeKind::DoubleRounded } else { ChangeKind::Value }
}

fn integer_text(value: &Value) -> Option<String> {
    match value {
        Value::Int(integer) => Some(integer.to_string()),
        Value::UInt(integer) => Some(integer.to_string()),
        Value::BigInt { negative, magnitude } => {
            Some(number::big_int_text(BigInt::Binary { negative: *negative, magnitude }))
        }
        _ => None,
    }
}

fn nearest_double(value: &Value) -> Option<f64> {
    integer_text(value)?.parse().ok()
}

/// Whether the text is the bytes themselves or one of their Base64 forms.
fn is_text_of(bytes: &[u8], text: &str) -> bool {
    text.as_bytes() == bytes
        || [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD]
            .iter()
            .any(|engine| engine.encode(bytes) == text)
}

/// Whether two arrays of one length hold the same values in another order. Values are matched by
/// their notation, so that long arrays take no square of their length.
fn is_permutation(before: &[Value], after: &[Value]) -> bool {
    let notations = |values: &[Value]| {
        let mut list: Vec<String> = values.iter().map(Value::to_string).collect();
        list.sort_unstable();
        list
    };
    notations(before) == notations(after)
}

fn key_text(key: &Value) -> String {
    match key {
        Value::Text(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as reports show it.
fn shown(value: &Value) -> String {
    match value {
        // Reports are one line a difference: the head of a large container says enough.
        Value::Array(values) if values.len() > 8 => {
            format!("an array of {} values", values.len())
        }
        Value::Map(pairs) if pairs.len() > 8 => format!("a map of {} pairs", pairs.len()),
        other => shorten(&other.to_string()),
    }
}

fn shorten(text: &str) -> String {
    const CHARS: usize = 120;
    match text.char_indices().nth(CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.into())
    }

    fn map(pairs: Vec<(&str, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
    }

    fn kinds(before: &Value, after: &Value) -> Vec<(ChangeKind, u64)> {
        let mut comparison = Comparison::new();
        comparison.next(Some(before), Some(after));
        comparison.changes().iter().map(|change| (change.kind, change.count)).collect()
    }

    #[test]
    fn scalars() {
        use ChangeKind as C;
        let big =
            |digits: &str| Value::BigInt { negative: false, magnitude: number::magnitude(digits) };
        let next = f64::from_bits(1.5_f64.to_bits() + 1);
        for (before, after, expected) in [
            (Value::Null, Value::Null, None),
            (Value::F64(f64::NAN), Value::F64(f64::NAN), None),
            (Value::F32(0.5), Value::F64(0.5), None),
            (Value::Int(1), Value::F64(1.0), Some(C::IntegerToDouble)),
            (Value::Int(1), Value::F64(2.0), Some(C::Value)),
            (Value::UInt(u64::MAX), Value::F64(18446744073709551616.0), Some(C::IntegerToDouble)),
            (big("100000000000000000000"), Value::F64(1e20), Some(C::IntegerToDouble)),
            (
                Value::Int(9007199254740993),
                Value::F64(9007199254740992.0),
                Some(C::IntegerToDouble),
            ),
            (Value::F64(9007199254740992.0), Value::Int(9007199254740993), Some(C::Value)),
            (Value::F64(3.0), Value::Int(3), Some(C::DoubleToInteger)),
            (Value::F64(3.5), Value::Int(3), Some(C::Value)),
            (Value::F64(-0.0), Value::F64(0.0), Some(C::NegativeZero)),
            (Value::F64(-0.0), Value::Int(0), Some(C::NegativeZero)),
            (Value::F64(f64::INFINITY), Value::Null, Some(C::NonFinite)),
            (Value::F64(1.5), Value::Null, Some(C::Value)),
            (Value::F64(1.5), Value::F64(next), Some(C::DoubleRounded)),
            (Value::F64(-65.61361699999998), Value::F64(-65.613617), Some(C::DoubleRounded)),
            (Value::F64(0.12345678901234), Value::F64(0.12345678901233), Some(C::Value)),
            (Value::F64(0.1), Value::F64(f64::from(0.1_f32)), Some(C::Value)),
            (Value::Bytes(vec![1, 2]), text("AQI="), Some(C::BytesToText)),
            (Value::Bytes(b"ab".to_vec()), text("ab"), Some(C::BytesToText)),
            (Value::Bytes(vec![1, 2]), text("AQM="), Some(C::Value)),
            (text("e\u{301}"), text("\u{e9}"), Some(C::Normalization)),
            (text("e"), text("\u{e9}"), Some(C::Value)),
            (text("1"), Value::Int(1), Some(C::Value)),
            (Value::Int(1), Value::Array(vec![]), Some(C::Value)),
        ] {
            let found = kinds(&before, &after);
            let expected: Vec<_> = expected.into_iter().map(|kind| (kind, 1)).collect();
            assert_eq!(found, expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn maps() {
        use ChangeKind as C;
        let before = map(vec![("a", Value::Int(1)), ("b", Value::Int(2))]);
        let turned = map(vec![("b", Value::Int(2)), ("a", Value::Int(1))]);
        assert_eq!(kinds(&before, &turned), [(C::KeyOrder, 1)]);
        let poorer = map(vec![("a", Value::Int(1))]);
        assert_eq!(kinds(&before, &poorer), [(C::Missing, 1)]);
        assert_eq!(kinds(&poorer, &before), [(C::Added, 1)]);
        let twice = map(vec![("a", Value::Int(0)), ("a", Value::Int(1))]);
        assert_eq!(kinds(&twice, &poorer), [(C::DuplicateKey, 1)]);
        let numbered = Value::Map(vec![(Value::Int(1), Value::Null), (text("x"), Value::Null)]);
        let named = map(vec![("1", Value::Null), ("x", Value::Null)]);
        assert_eq!(kinds(&numbered, &named), [(C::KeyToText, 1)]);
        let both = map(vec![("b", Value::Int(3)), ("a", Value::Int(1))]);
        assert_eq!(kinds(&before, &both), [(C::KeyOrder, 1), (C::Value, 1)]);
    }

    #[test]
    fn arrays() {
        use ChangeKind as C;
        let list = |values: &[i64]| Value::Array(values.iter().map(|v| Value::Int(*v)).collect());
        assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[1, 2, 3])), []);
        assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[3, 1, 2])), [(C::ItemOrder, 1)]);
        assert_eq!(kinds(&list(&[1, 2, 2]), &list(&[1, 1, 2])), [(C::Value, 1)]);
        assert_eq!(kinds(&list(&[1, 2, 3]), &list(&[1])), [(C::Missing, 2)]);
        assert_eq!(kinds(&list(&[1]), &list(&[2, 3])), [(C::Value, 1), (C::Added, 1)]);
    }

    #[test]
    fn a_difference_has_its_document_path_and_values() {
        let mut comparison = Comparison::new();
        let document = |value| {
            map(vec![("items", Value::Array(vec![Value::Null, map(vec![("when", value)])]))])
        };
        comparison.next(Some(&document(Value::Int(1))), Some(&document(Value::Int(1))));
        comparison.next(Some(&document(Value::F64(-0.0))), Some(&document(Value::F64(0.0))));
        comparison.next(Some(&document(text("x"))), Some(&document(text("y"))));
        comparison.next(Some(&Value::Null), None);
        assert_eq!(comparison.documents(), 4);
        assert_eq!(comparison.wrong_documents(), 2);
        let told: Vec<String> = comparison
            .changes()
            .iter()
            .flat_map(|change| &change.examples)
            .map(|one| format!("{} {}: {} {}", one.document, one.path, one.before, one.after))
            .collect();
        assert_eq!(
            told,
            ["2 $.items[1].when: -0.0 0.0", "3 $.items[1].when: \"x\" \"y\"", "4 $: null "]
        );
    }

    #[test]
    fn leaders_of_marc_records() {
        let record = |leader: &str| map(vec![("leader", text(leader))]);
        let compared = |before: &str, after: &str| {
            let mut comparison = Comparison::of_marc();
            comparison.next(Some(&record(before)), Some(&record(after)));
            comparison.changes().iter().map(|change| change.kind).collect::<Vec<_>>()
        };
        let leader = "00714cam a2200205 a 4500";
        assert_eq!(compared(leader, "00999cam a2200300 a 4500"), []);
        assert_eq!(compared(leader, "00714cam  2200205 a 4500"), [ChangeKind::Leader]);
        // Elsewhere a text is a text.
        assert_eq!(
            kinds(&record(leader), &record("00999cam a2200300 a 4500")),
            [(ChangeKind::Value, 1)]
        );
    }

    #[test]
    fn many_differences_keep_the_first_few() {
        let mut comparison = Comparison::new();
        for _ in 0..100 {
            comparison.next(Some(&Value::Int(1)), Some(&Value::Int(2)));
        }
        let change = &comparison.changes()[0];
        assert_eq!((change.count, change.examples.len()), (100, Comparison::EXAMPLES));
    }
}
