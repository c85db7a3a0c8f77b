//! Compares old and new values: what is the same, and which parts of a collection were kept, left out
//! and added.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::model::path::Step;
use crate::model::value::Value;

/// Returns whether two values are the same: types, the order of keys and the bits of doubles too.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::F64(a), Value::F64(b)) => a.to_bits() == b.to_bits(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(&a.0, &b.0) && same(&a.1, &b.1))
        }
        (Value::Typed(s, a), Value::Typed(t, b)) => s == t && same(a, b),
        (a, b) => a == b,
    }
}

/// Returns whether two values differ in more than the order of keys. `steps` then leads to the first
/// difference.
pub(super) fn difference(a: &Value, b: &Value, steps: &mut Vec<Step>) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).enumerate().any(|(index, (a, b))| {
                steps.push(Step::Index(index as u64));
                difference(a, b, steps) || steps.pop().is_none()
            })
        }
        (Value::Map(a), Value::Map(b)) if a.len() == b.len() => {
            let pairs = Alignment::of_maps(a, b);
            pairs.kept.iter().enumerate().any(|(at, kept)| {
                let Some(kept) = *kept else { return true };
                steps.push(step_of(&a[at].0));
                difference(&a[at].1, &b[kept].1, steps) || steps.pop().is_none()
            })
        }
        (Value::Typed(s, a), Value::Typed(t, b)) if s == t => difference(a, b, steps),
        (a, b) => !same(a, b),
    }
}

/// Returns the step of a path that a key is.
pub(super) fn step_of(key: &Value) -> Step {
    Step::Key(match key {
        Value::Text(text) => text.as_str().into(),
        key => key.to_string().into(),
    })
}

/// What became of the parts of a collection.
#[derive(Debug, PartialEq)]
pub(super) struct Alignment {
    /// For each old part, the new part that it became; `None` if it is gone.
    pub kept: Vec<Option<usize>>,
    /// How many new parts there are.
    count: usize,
}

/// A part of a new collection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// It was this part of the old one.
    Kept(usize),
    /// It is new, and this part of the new one.
    Added(usize),
}

impl Alignment {
    /// Aligns maps by their keys.
    pub fn of_maps(old: &[(Value, Value)], new: &[(Value, Value)]) -> Alignment {
        let mut places: HashMap<Step, VecDeque<usize>> = HashMap::new();
        for (at, (key, _)) in old.iter().enumerate() {
            places.entry(name_of(key)).or_default().push_back(at);
        }
        let mut kept = vec![None; old.len()];
        for (to, (key, _)) in new.iter().enumerate() {
            if let Some(at) = places.get_mut(&name_of(key)).and_then(VecDeque::pop_front) {
                kept[at] = Some(to);
            }
        }
        Alignment { kept, count: new.len() }
    }

    /// Keeps what has only got another key: it stands between the same parts as before, and has the same value.
    /// `is_possible` tells whether the key of an old part can be changed.
    pub fn keep_renamed(
        &mut self,
        old: &[(Value, Value)],
        new: &[(Value, Value)],
        is_possible: impl Fn(usize) -> bool,
    ) {
        if !self.is_in_order() {
            return;
        }
        let kept = self.kept.iter().enumerate().filter_map(|(at, kept)| Some((at, (*kept)?)));
        let ends: Vec<_> = kept.chain([(old.len(), new.len())]).collect();
        let (mut from, mut to) = (0, 0);
        for (next_old, next_new) in ends {
            if next_old - from == next_new - to {
                for (at, becomes) in (from..next_old).zip(to..next_new) {
                    if same(&old[at].1, &new[becomes].1) && is_possible(at) {
                        self.kept[at] = Some(becomes);
                    }
                }
            }
            (from, to) = (next_old + 1, next_new + 1);
        }
    }

    /// Aligns arrays, so that as much as possible is kept or changed in its place: what is the same,
    /// maps that begin with the same pair, such as a name, and collections of the same kind. What is
    /// left between those is changed one by one.
    pub fn of_arrays(old: &[Value], new: &[Value]) -> Alignment {
        let features = |values: &[Value]| values.iter().map(Features::of).collect::<Vec<_>>();
        let (old, new) = (features(old), features(new));
        let mut pairs = matches(&old, &new);
        // Items that change places are written in the places that there are, whose comments stay.
        if old.len() == new.len() && has_moved(&old, &new, &pairs) {
            pairs = (0..old.len()).map(|at| (at, at)).collect();
        }
        let mut kept = vec![None; old.len()];
        let (mut from, mut to) = (0, 0);
        for (next_old, next_new) in pairs.into_iter().chain([(old.len(), new.len())]) {
            while from < next_old && to < next_new {
                kept[from] = Some(to);
                (from, to) = (from + 1, to + 1);
            }
            if let Some(kept) = kept.get_mut(next_old) {
                *kept = Some(next_new);
            }
            (from, to) = (next_old + 1, next_new + 1);
        }
        Alignment { kept, count: new.len() }
    }

    /// Returns whether what is kept stands in the same order as before.
    pub fn is_in_order(&self) -> bool {
        self.kept.iter().flatten().is_sorted()
    }

    /// Returns whether there were parts, and none is kept.
    pub fn is_all_new(&self) -> bool {
        !self.kept.is_empty() && self.kept.iter().all(Option::is_none)
    }

    /// Returns the parts of the new collection, in order.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts: Vec<_> = (0..self.count).map(Part::Added).collect();
        for (at, kept) in self.kept.iter().enumerate() {
            if let Some(part) = kept.and_then(|to| parts.get_mut(to)) {
                *part = Part::Kept(at);
            }
        }
        parts
    }
}

/// Returns whether two keys are the same in a map.
pub(super) fn is_same_key(a: &Value, b: &Value) -> bool {
    name_of(a) == name_of(b)
}

/// Returns what tells a key from others.
fn name_of(key: &Value) -> Step {
    match key {
        Value::Text(text) => Step::Key(format!("'{text}").into()),
        key => step_of(key),
    }
}

fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.to_string().hash(&mut hasher);
    hasher.finish()
}

/// What tells how alike two items are.
struct Features {
    hash: u64,
    /// The hash of a map's first pair, if that is a text.
    name: Option<u64>,
    kind: Kind,
    /// How many values are in it.
    size: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Array,
    Map,
    Other,
}

impl Features {
    fn of(value: &Value) -> Features {
        let (kind, name) = match value.untyped() {
            Value::Array(_) => (Kind::Array, None),
            Value::Map(pairs) => match pairs.first() {
                Some((key, name @ Value::Text(_))) => {
                    (Kind::Map, Some(hash(key) ^ hash(name).rotate_left(1)))
                }
                _ => (Kind::Map, None),
            },
            _ => (Kind::Other, None),
        };
        Features { hash: hash(value), name, kind, size: size(value) }
    }

    /// Returns how much is gained by keeping one in the place of the other.
    fn gain(&self, other: &Features) -> u32 {
        let size = self.size.min(other.size);
        match () {
            () if self.hash == other.hash => 3 * size,
            () if self.kind != other.kind || self.kind == Kind::Other => 0,
            () if self.name.is_some() && self.name == other.name => 2 * size,
            () => size,
        }
    }
}

/// Returns how many values are in a value, itself included, up to a bound.
fn size(value: &Value) -> u32 {
    let inside: u32 = match value.untyped() {
        Value::Array(values) => values.iter().map(size).fold(0, u32::saturating_add),
        Value::Map(pairs) => pairs.iter().map(|pair| size(&pair.1)).fold(0, u32::saturating_add),
        _ => 0,
    };
    inside.saturating_add(1).min(1000)
}

/// How many pairs are compared for the best alignment of what differs.
const PAIRS_MAX: usize = 1 << 22;

/// Returns the pairs of indices that gain most; of long lists, only what is the same at both ends.
fn matches(old: &[Features], new: &[Features]) -> Vec<(usize, usize)> {
    let is_same = |(a, b): &(&Features, &Features)| a.hash == b.hash;
    let head = old.iter().zip(new).take_while(is_same).count();
    let (a, b) = (&old[head..], &new[head..]);
    let tail = a.iter().rev().zip(b.iter().rev()).take_while(is_same).count();
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);
    let mut pairs: Vec<_> = (0..head).map(|at| (at, at)).collect();
    if a.len().saturating_mul(b.len()) <= PAIRS_MAX {
        pairs.extend(best(a, b).into_iter().map(|(i, j)| (head + i, head + j)));
    }
    pairs.extend((0..tail).rev().map(|at| (old.len() - 1 - at, new.len() - 1 - at)));
    pairs
}

/// Returns whether an item that none of the pairs keeps stands in another place of the new list.
fn has_moved(old: &[Features], new: &[Features], pairs: &[(usize, usize)]) -> bool {
    let (mut left, mut came) = (HashSet::new(), HashSet::new());
    left.extend(old.iter().map(|one| one.hash));
    came.extend(new.iter().map(|one| one.hash));
    for (from, to) in pairs {
        left.remove(&old[*from].hash);
        came.remove(&new[*to].hash);
    }
    !left.is_disjoint(&came)
}

/// Finds the pairs that gain most by a table of the gains for all ends of the lists.
fn best(a: &[Features], b: &[Features]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut table = vec![0_u32; (a.len() + 1) * width];
    let skip = |table: &[u32], i: usize, j: usize| {
        table[(i + 1) * width + j].max(table[i * width + j + 1])
    };
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            let both = table[(i + 1) * width + j + 1].saturating_add(a[i].gain(&b[j]));
            table[i * width + j] = both.max(skip(&table, i, j));
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < a.len() && j < b.len() {
        let (here, gain) = (table[i * width + j], a[i].gain(&b[j]));
        if gain > 0 && here == table[(i + 1) * width + j + 1].saturating_add(gain) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if here == table[(i + 1) * width + j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
