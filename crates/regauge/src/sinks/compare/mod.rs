//! Compares a document with its converted copy: what was lost, and what is wrong.
//!
//! A library that reads bytes and writes them again should give the same document. If it does not,
//! the difference is either a *loss*, which leaves the data usable and is inherent in the format or
//! the library's model (key order, the sign of a zero, NaN as null), or it is *wrong*: a value that
//! nobody would take for the original. Each difference is counted by kind, and the first few of
//! each kind are kept with their path.
//!
//! Losses are a closed list, [`ChangeKind`]; everything else is wrong. When in doubt, it is wrong.

use std::collections::{HashMap, HashSet};

use crate::model::ext::{Origin, TypeBuf};
use crate::model::path::{Path, Step};
use crate::model::value::Value;
use crate::policy::event::Ext;

mod kinds;
mod scalars;
#[cfg(test)]
mod tests;

pub use kinds::ChangeKind;
use scalars::{epoch_change, key_text, scalar_change};

/// All differences of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The kind of difference.
    pub kind: ChangeKind,
    /// How many.
    pub count: u64,
    /// The first few, at most [`Comparison::EXAMPLES`].
    pub examples: Vec<Difference>,
}

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The number of the document, from 1.
    pub document: u64,
    /// The path in the document.
    pub path: Path,
    /// The original value, shortened.
    pub before: String,
    /// The new value, shortened; empty if there is none.
    pub after: String,
}

/// Compares documents pair by pair and counts the differences.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    changes: Vec<Change>,
    documents: u64,
    wrong_documents: u64,
    path: Vec<Step>,
    marc: bool,
}

impl Comparison {
    /// The number of examples kept of each kind.
    pub const EXAMPLES: usize = 5;

    /// Creates a comparison of plain documents.
    pub fn new() -> Comparison {
        Comparison::default()
    }

    /// Creates a comparison of MARC records in the shape of MARC-in-JSON. The record length
    /// (leader/00-04) and the base address (leader/12-16) are computed by each writer and not
    /// compared; a difference elsewhere in the leader is a loss, not a wrong value.
    pub fn of_marc() -> Comparison {
        Comparison { marc: true, ..Comparison::default() }
    }

    /// Compares the next pair of documents. `None` stands for a missing document.
    pub fn next(&mut self, before: Option<&Value>, after: Option<&Value>) {
        self.documents += 1;
        let wrong = self.wrong();
        match (before, after) {
            (Some(before), Some(after)) => {
                Walk { to: self, roots: (before, after), anchors: None, seen: HashSet::new() }
                    .value(before, after);
            }
            (Some(before), None) => self.note(ChangeKind::Missing, shown(before), String::new()),
            (None, Some(after)) => self.note(ChangeKind::Added, String::new(), shown(after)),
            (None, None) => self.documents -= 1,
        }
        if self.wrong() > wrong {
            self.wrong_documents += 1;
        }
    }

    /// Returns the differences so far, losses first, each in the order of its kind.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns how many pairs were compared.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// Returns how many pairs differ in more than losses.
    pub fn wrong_documents(&self) -> u64 {
        self.wrong_documents
    }

    /// Returns how many differences make the result wrong.
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
}

/// A walk over one pair of documents, side by side.
struct Walk<'c, 'v> {
    to: &'c mut Comparison,
    /// The documents in which anchors are looked up.
    roots: (&'v Value, &'v Value),
    /// The anchors of both, collected at the first alias.
    anchors: Option<(Anchors<'v>, Anchors<'v>)>,
    /// Pairs of references whose values were compared: stops at cycles.
    seen: HashSet<(u64, u64)>,
}

type Anchors<'v> = HashMap<u64, &'v Value>;

impl<'v> Walk<'_, 'v> {
    fn value(&mut self, before: &'v Value, after: &'v Value) {
        if let Some(kind) = epoch_change(before, after) {
            return self.note(kind, shown(before), shown(after));
        }
        match (before, after) {
            (Value::Map(before), Value::Map(after)) => self.map(before, after),
            (Value::Array(before), Value::Array(after)) => self.array(before, after),
            // The number of an anchor has no meaning, and neither has an anchor without an alias.
            (Value::Anchor(_, before), Value::Anchor(_, after)) => self.value(before, after),
            (Value::Alias(one), Value::Alias(other)) => {
                let pair = (self.anchor(true, *one), self.anchor(false, *other));
                if self.seen.insert((*one, *other))
                    && let (Some(before), Some(after)) = pair
                {
                    self.value(before, after);
                }
            }
            (Value::Anchor(_, before), after) => self.value(before, after),
            (before, Value::Anchor(_, after)) => self.value(before, after),
            (Value::Alias(id), _) => match self.anchor(true, *id) {
                Some(value) => {
                    self.note(ChangeKind::Sharing, format!("*{id}"), shown(after));
                    self.value(value, after);
                }
                None => self.note(ChangeKind::Value, format!("*{id}"), shown(after)),
            },
            (_, Value::Alias(id)) => match self.anchor(false, *id) {
                Some(value) => self.value(before, value),
                None => self.note(ChangeKind::Value, shown(before), format!("*{id}")),
            },
            (Value::Typed(type_before, before), Value::Typed(type_after, after))
                if type_before == type_after =>
            {
                match (before.as_ref(), after.as_ref()) {
                    // A set has no order.
                    (Value::Array(before), Value::Array(after))
                        if is_set(type_before)
                            && before.len() == after.len()
                            && is_permutation(before, after) => {}
                    (before, after) => self.value(before, after),
                }
            }
            (Value::Typed(t, inside), after) => {
                let kind = match t.kind.as_str() {
                    "tuple" => ChangeKind::TupleToList,
                    _ if is_set(t) => ChangeKind::SetToList,
                    _ => ChangeKind::Type,
                };
                let (inside, after) = match after {
                    Value::Typed(_, after) => (inside.as_ref(), after.as_ref()),
                    after => (inside.as_ref(), after),
                };
                // YAML writes a set as a map of its members to null.
                self.note(kind, shown(before), shown(after));
                self.value(inside, after);
            }
            _ => {
                if let Some(kind) = scalar_change(before, after) {
                    self.note(kind, shown(before), shown(after));
                }
            }
        }
    }

    fn note(&mut self, kind: ChangeKind, before: String, after: String) {
        self.to.note(kind, before, after);
    }

    /// Returns the value of an alias in the document before (or after).
    fn anchor(&mut self, of_before: bool, id: u64) -> Option<&'v Value> {
        let roots = self.roots;
        let (before, after) = self.anchors.get_or_insert_with(|| {
            let mut both = (HashMap::new(), HashMap::new());
            collect_anchors(roots.0, &mut both.0);
            collect_anchors(roots.1, &mut both.1);
            both
        });
        if of_before { before.get(&id).copied() } else { after.get(&id).copied() }
    }

    fn map(&mut self, before: &'v [(Value, Value)], after: &'v [(Value, Value)]) {
        let same_keys = before.len() == after.len()
            && before.iter().zip(after).all(|((one, _), (other, _))| one == other);
        if same_keys {
            for ((key, before), (_, after)) in before.iter().zip(after) {
                self.member(key, before, after);
            }
            return;
        }
        // Keys are matched by their text, which is what a non-text key may become; those that share
        // their text in both maps, as `1` and `"1"`, by their notation.
        let shared = shared_texts(before, after);
        let name = |key: &Value| match key_text(key) {
            text if shared.contains(&text) => key.to_string(),
            text => text,
        };
        let mut found: HashMap<String, (usize, bool)> = HashMap::with_capacity(after.len());
        for (index, (key, _)) in after.iter().enumerate() {
            found.insert(name(key), (index, false));
        }
        let mut last = HashMap::with_capacity(before.len());
        for (index, (key, _)) in before.iter().enumerate() {
            last.insert(name(key), index);
        }
        let mut order = Vec::with_capacity(before.len());
        for (index, (key, value)) in before.iter().enumerate() {
            let text = name(key);
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
                    let is_symbol = |key: &Value| match key {
                        Value::Ext(ext) => matches!(ext.as_ext(), Ext::Symbol(_)),
                        _ => false,
                    };
                    let kind = match (key, key_after) {
                        (before, Value::Text(_)) if is_symbol(before) => ChangeKind::SymbolToText,
                        (_, Value::Text(_)) => ChangeKind::KeyToText,
                        // The width of a float is the writer's choice in a key, too.
                        _ => return this.value(key, key_after),
                    };
                    this.note(kind, shown(key), shown(key_after));
                });
            }
            self.member(key, value, value_after);
        }
        for (index, (key, value)) in after.iter().enumerate() {
            if found.get(&name(key)) == Some(&(index, false)) {
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

    fn member(&mut self, key: &Value, before: &'v Value, after: &'v Value) {
        // Most members are equal: building their path would be a waste.
        if same(before, after) {
            return;
        }
        self.at(key, |this| match (before, after) {
            (Value::Text(before), Value::Text(after))
                if this.to.marc && this.to.path == [Step::Key("leader".into())] =>
            {
                this.leader(before, after);
            }
            _ => this.value(before, after),
        });
    }

    /// Compares two leaders of 24 ASCII characters (ISO 2709 §4.3), except the computed 00-04 and 12-16.
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

    fn array(&mut self, before: &'v [Value], after: &'v [Value]) {
        let common = before.len().min(after.len());
        let changed = (0..common).any(|index| !same(&before[index], &after[index]));
        if changed && before.len() == after.len() && is_permutation(before, after) {
            // The first element that moved is more informative than the head of two long lists.
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

    fn at(&mut self, key: &Value, work: impl FnOnce(&mut Self)) {
        self.to.path.push(Step::Key(key_text(key).into()));
        work(self);
        self.to.path.pop();
    }

    fn at_index(&mut self, index: usize, work: impl FnOnce(&mut Self)) {
        self.to.path.push(Step::Index(index as u64));
        work(self);
        self.to.path.pop();
    }
}

/// Returns whether two values are equal in every bit. `==` would equate -0.0 with 0.0, and
/// distinguish NaN from itself.
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

/// Returns the texts that keys of different kinds share in each of the two maps.
fn shared_texts(before: &[(Value, Value)], after: &[(Value, Value)]) -> HashSet<String> {
    let of = |pairs: &[(Value, Value)]| -> HashSet<String> {
        let is_text = |key: &Value| matches!(key, Value::Text(_));
        // Nearly all maps have keys of text alone.
        if pairs.iter().all(|(key, _)| is_text(key)) {
            return HashSet::new();
        }
        let mut first: HashMap<String, &Value> = HashMap::with_capacity(pairs.len());
        let others = pairs.iter().filter_map(|(key, _)| {
            let text = key_text(key);
            match first.get(&text) {
                Some(other) => {
                    let [one, other] = [key, *other].map(Value::to_string);
                    (one != other).then_some(text)
                }
                None => {
                    first.insert(text, key);
                    None
                }
            }
        });
        others.collect()
    };
    let shared = of(before);
    if shared.is_empty() {
        return shared;
    }
    let also = of(after);
    shared.into_iter().filter(|text| also.contains(text)).collect()
}

/// Returns whether two arrays of equal length hold the same values in another order. Values are
/// matched by their notation, so that long arrays do not take quadratic time. If the notations are
/// in the same order, nothing has moved: a single and the double of its value look alike.
fn is_permutation(before: &[Value], after: &[Value]) -> bool {
    let notations = |values: &[Value]| values.iter().map(Value::to_string).collect::<Vec<_>>();
    let (mut one, mut other) = (notations(before), notations(after));
    if one == other {
        return false;
    }
    one.sort_unstable();
    other.sort_unstable();
    one == other
}

/// Returns whether the type is a set, in which order has no meaning.
fn is_set(t: &TypeBuf) -> bool {
    matches!(t.origin, Origin::Python | Origin::Ruby)
        && matches!(t.kind.as_str(), "set" | "frozenset")
}

/// Collects every anchor of a document. Recurses as deep as the reader allowed the document to
/// nest.
fn collect_anchors<'v>(value: &'v Value, into: &mut HashMap<u64, &'v Value>) {
    match value {
        Value::Anchor(id, inside) => {
            into.insert(*id, inside);
            collect_anchors(inside, into);
        }
        Value::Array(values) => values.iter().for_each(|value| collect_anchors(value, into)),
        Value::Map(pairs) => pairs.iter().for_each(|(_, value)| collect_anchors(value, into)),
        Value::Typed(_, inside) => collect_anchors(inside, into),
        _ => {}
    }
}

/// Formats a value for reports.
fn shown(value: &Value) -> String {
    match value {
        // Reports have one line per difference: the head of a large container is enough.
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
