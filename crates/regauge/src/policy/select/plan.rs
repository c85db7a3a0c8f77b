//! The rules of a selection, compiled: a state for each set of rules that can match below a value.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Action, Rule, Selection};
use crate::model::path::Selector;

/// What happens to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// It is left out.
    Skip,
    /// It is kept as it is.
    Copy,
    /// It depends on what is in it: the index of a state.
    Walk(u32),
}

/// The step from a container to a value in it.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub to: Target,
    /// The rules whose paths end here.
    pub ends: Box<[u32]>,
    /// The new name of the key.
    pub name: Option<Box<str>>,
    /// If the key, or its new name, is one that a rename in this map produces: the number of that
    /// name, and a number for the key in the input.
    pub claim: Option<(u32, u32)>,
}

/// A value that some rules lead through.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// Whether the value is kept even if nothing in it is.
    pub inside: bool,
    /// Whether something below may be kept if the value is a map, if it is an array.
    pub leads_by_key: bool,
    pub leads_by_index: bool,
    /// Whether any rule continues with an index.
    pub has_indexes: bool,
    /// Whether every pair, every element is kept.
    pub keeps_pairs: bool,
    pub keeps_elements: bool,
    /// How many different names the renames in this map produce.
    pub claims: u32,
    keys: Vec<(Box<str>, Move)>,
    /// Which lengths of names occur in `keys`: bits by the length, modulo 64.
    lengths: u64,
    /// The places in `keys`, if there are many.
    index: HashMap<Box<str>, u32>,
    other_key: Move,
    indexes: Vec<(u64, Move)>,
    other_index: Move,
}

/// Up to this many keys, comparing one after the other is faster than hashing.
const LIST_KEYS: usize = 8;

/// Returns the bit for a name in [`State::lengths`].
fn length_bit(key: &str) -> u64 {
    1 << (key.len() % 64)
}

impl State {
    #[inline]
    pub fn by_key(&self, key: &str) -> &Move {
        if self.lengths & length_bit(key) == 0 {
            return &self.other_key;
        }
        if self.keys.len() > LIST_KEYS {
            return match self.index.get(key) {
                Some(place) => &self.keys[*place as usize].1,
                None => &self.other_key,
            };
        }
        let found = self.keys.iter().find(|(name, _)| **name == *key);
        found.map_or(&self.other_key, |(_, step)| step)
    }

    #[inline]
    pub fn by_index(&self, index: u64) -> &Move {
        if self.indexes.is_empty() {
            return &self.other_index;
        }
        match self.indexes.binary_search_by_key(&index, |(at, _)| *at) {
            Ok(place) => &self.indexes[place].1,
            Err(_) => &self.other_index,
        }
    }
}

/// The states of a selection.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(super) states: Vec<State>,
    pub(super) root: Move,
    /// How many rules the user gave.
    pub(super) rules: usize,
    /// Whether an element of an array that loses everything in it is left out: in MARC records, a
    /// field is a map of one pair, and so is a subfield.
    pub(super) prunes: bool,
}

/// States that a selection may have. Several stars in each of many paths can need a state for every
/// combination of them.
const STATES_MAX: usize = 4096;

/// Rules that can still match, each with the number of steps taken, and whether an `only` rule has
/// matched.
type Live = (Vec<(u32, u32)>, bool);

struct Compiler {
    rules: Vec<Rule>,
    /// How many of them the user gave.
    given: usize,
    states: Vec<State>,
    known: HashMap<Live, u32>,
    /// States whose moves are to be determined.
    open: Vec<Live>,
}

impl Plan {
    /// Compiles the rules; with `marc`, for a writer of MARC: what it needs of a record is kept.
    ///
    /// # Errors
    /// Too many combinations of paths with stars, or two names for one key.
    pub(crate) fn new(selection: &Selection, marc: bool) -> Result<Plan, String> {
        let mut rules = selection.rules.clone();
        let given = rules.len();
        if marc {
            rules.extend(selection.rules.iter().flat_map(needed_by_marc));
        }
        let mut compiler =
            Compiler { rules, given, states: Vec::new(), known: HashMap::new(), open: Vec::new() };
        let all = (0..compiler.rules.len() as u32).map(|rule| (rule, 0)).collect();
        let keeps_all = !compiler.rules.iter().any(|rule| rule.action == Action::Only);
        let root = compiler.enter(all, keeps_all)?;
        let mut next = 0;
        while next < compiler.open.len() {
            let live = compiler.open[next].clone();
            let state = compiler.state(&live)?;
            compiler.states.push(state);
            next += 1;
        }
        let mut plan = Plan { states: compiler.states, root, rules: given, prunes: false };
        plan.settle();
        Ok(plan)
    }

    /// The same for MARC records: see [`Plan::prunes`].
    pub(crate) fn pruning(mut self) -> Plan {
        self.prunes = true;
        self
    }

    /// Determines which containers keep their length.
    fn settle(&mut self) {
        let is_kept: Vec<bool> = self.states.iter().map(|state| state.inside).collect();
        let keeps = |step: &Move| match step.to {
            Target::Skip => false,
            Target::Copy => true,
            Target::Walk(state) => is_kept[state as usize],
        };
        for state in &mut self.states {
            state.keeps_pairs =
                keeps(&state.other_key) && state.keys.iter().all(|(_, step)| keeps(step));
            state.keeps_elements =
                keeps(&state.other_index) && state.indexes.iter().all(|(_, step)| keeps(step));
        }
    }
}

impl Compiler {
    /// Returns the move to a value at which these rules have arrived.
    fn enter(&mut self, arrived: Vec<(u32, u32)>, mut inside: bool) -> Result<Move, String> {
        let (mut live, mut ends, mut name) = (Vec::new(), Vec::new(), None);
        let mut is_dropped = false;
        for (index, taken) in arrived {
            let rule = &self.rules[index as usize];
            if (taken as usize) < rule.path.0.len() {
                live.push((index, taken));
                continue;
            }
            if (index as usize) < self.given {
                ends.push(index);
            }
            match &rule.action {
                Action::Only => inside = true,
                Action::Drop => is_dropped = true,
                Action::Rename(new) => match &name {
                    Some(first) if first != new => {
                        let path = &rule.path;
                        return Err(format!("found the names {first} and {new} for {path}"));
                    }
                    _ => name = Some(new.clone()),
                },
            }
        }
        let to = if is_dropped || !inside && !self.leads_on(&live) {
            Target::Skip
        } else if live.is_empty() {
            Target::Copy
        } else {
            Target::Walk(self.number((live, inside))?)
        };
        Ok(Move { to, ends: ends.into(), name, claim: None })
    }

    /// Returns whether something below may be kept.
    fn leads_on(&self, live: &[(u32, u32)]) -> bool {
        live.iter().any(|(rule, _)| self.rules[*rule as usize].action == Action::Only)
    }

    fn number(&mut self, live: Live) -> Result<u32, String> {
        if let Some(number) = self.known.get(&live) {
            return Ok(*number);
        }
        if self.open.len() >= STATES_MAX {
            return Err("found too many paths with stars that overlap, expected fewer".to_owned());
        }
        let number = self.open.len() as u32;
        self.known.insert(live.clone(), number);
        self.open.push(live);
        Ok(number)
    }

    fn state(&mut self, (live, inside): &Live) -> Result<State, String> {
        let mut names: BTreeMap<Box<str>, Vec<(u32, u32)>> = BTreeMap::new();
        let mut places: BTreeMap<u64, Vec<(u32, u32)>> = BTreeMap::new();
        let (mut each_key, mut each, mut claims) = (Vec::new(), Vec::new(), BTreeSet::new());
        for &(rule, taken) in live {
            let Rule { action, path } = &self.rules[rule as usize];
            let next = (rule, taken + 1);
            match &path.0[taken as usize] {
                Selector::Key(name) => names.entry(name.clone()).or_default().push(next),
                Selector::Index(index) => places.entry(*index).or_default().push(next),
                Selector::EachKey => each_key.push(next),
                Selector::Each => each.push(next),
            }
            if let Action::Rename(new) = action
                && taken as usize + 1 == path.0.len()
            {
                claims.insert(new.clone());
            }
        }
        let has_indexes = !places.is_empty() || !each.is_empty();
        let leads_by = |is_key: bool| {
            live.iter().any(|&(rule, taken)| {
                let Rule { action, path } = &self.rules[rule as usize];
                let step = &path.0[taken as usize];
                let is_key_step = matches!(step, Selector::Key(_) | Selector::EachKey);
                *action == Action::Only && is_key_step == is_key
            })
        };
        let (leads_by_key, leads_by_index) = (leads_by(true), leads_by(false));
        let claims: Vec<Box<str>> = claims.into_iter().collect();
        for new in &claims {
            names.entry(new.clone()).or_default();
        }
        let mut keys = Vec::with_capacity(names.len());
        for (source, (name, mut arrived)) in names.into_iter().enumerate() {
            arrived.extend(&each_key);
            arrived.sort_unstable();
            let mut step = self.enter(arrived, *inside)?;
            let written = step.name.as_ref().unwrap_or(&name);
            let claim = claims.binary_search(written).ok();
            step.claim = claim.map(|claim| (claim as u32, source as u32));
            keys.push((name, step));
        }
        let mut indexes = Vec::with_capacity(places.len());
        for (place, mut arrived) in places {
            arrived.extend(&each);
            arrived.sort_unstable();
            indexes.push((place, self.enter(arrived, *inside)?));
        }
        let is_long = keys.len() > LIST_KEYS;
        let index = keys.iter().enumerate().filter(|_| is_long);
        Ok(State {
            inside: *inside,
            leads_by_key,
            leads_by_index,
            has_indexes,
            keeps_pairs: false,
            keeps_elements: false,
            claims: claims.len() as u32,
            lengths: keys.iter().fold(0, |bits, (name, _)| bits | length_bit(name)),
            index: index.map(|(place, (name, _))| (name.clone(), place as u32)).collect(),
            other_key: self.enter(each_key, *inside)?,
            other_index: self.enter(each, *inside)?,
            keys,
            indexes,
        })
    }
}

/// Returns the rules that keep what a writer of MARC needs besides what a rule keeps: the leader of a
/// record whose fields are kept, the indicators of a field whose subfields are.
fn needed_by_marc(rule: &Rule) -> Vec<Rule> {
    let mut needed = Vec::new();
    if rule.action != Action::Only {
        return needed;
    }
    for (place, step) in rule.path.0.iter().enumerate() {
        let names: &[&str] = match step {
            Selector::Key(key) if **key == *"fields" => &["leader", "charset"],
            Selector::Key(key) if **key == *"subfields" => &["ind1", "ind2"],
            _ => continue,
        };
        needed.extend(names.iter().map(|name| {
            let mut path = rule.path.clone();
            path.0.truncate(place);
            path.0.push(Selector::Key((*name).into()));
            Rule { action: Action::Only, path }
        }));
    }
    needed
}
