//! The adapter that follows the events of a document through the states of a [`Plan`].
//! `events` has its methods as a sink.

mod events;

use std::cell::Cell;

use super::Matches;
use super::plan::{Plan, State, Target};
use crate::model::value::Value;
use crate::policy::event::{Ext, ShortText, Sink, TypeBuf};
use crate::{Error, ErrorKind, Result};

/// Counts what matches during a run; any number of adapters may share one.
pub(crate) struct Marks {
    seen: Vec<Cell<bool>>,
    arrays: Cell<bool>,
}

impl Marks {
    pub(crate) fn new(plan: Option<&Plan>) -> Marks {
        let rules = plan.map_or(0, |plan| plan.rules);
        Marks { seen: vec![Cell::new(false); rules], arrays: Cell::new(false) }
    }

    pub(crate) fn matches(&self) -> Matches {
        Matches { seen: self.seen.iter().map(Cell::get).collect(), arrays: self.arrays.get() }
    }
}

/// What happens to the next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It belongs to a value that is kept as it is.
    Copy,
    /// It belongs to a value that is left out.
    Skip,
    /// It begins a value that is in this state.
    Walk(u32),
    /// It is a key, or ends a container.
    Between,
}

impl From<Target> for Mode {
    fn from(target: Target) -> Mode {
        match target {
            Target::Skip => Mode::Skip,
            Target::Copy => Mode::Copy,
            Target::Walk(state) => Mode::Walk(state),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Array,
    Map,
    /// A type or an anchor.
    Around,
}

/// No place among what is held back.
const NONE: u32 = u32::MAX;

/// An open container that is neither copied nor skipped as a whole.
#[derive(Debug)]
struct Frame<'p> {
    kind: Kind,
    state: u32,
    /// The index of the current element, and the rules whose paths end there.
    index: u64,
    ends: &'p [u32],
    /// The place of the beginning of this container among what is held back. It has been sent if
    /// fewer are held back.
    held: u32,
    /// The place of its current key.
    key_held: u32,
    /// Whether any pair of the map was left out.
    has_dropped: bool,
    /// Where the claims of the map begin.
    claims: u32,
}

/// An event that is sent when something that is kept follows in the value that it begins.
#[derive(Debug)]
enum Held {
    Map(Option<u64>),
    Key { key: Value, claim: Option<(u32, u32)>, claims: u32 },
    Typed(TypeBuf),
    Anchor(u64),
}

/// A key as it comes.
#[derive(Clone, Copy)]
enum Given<'k> {
    Text(&'k str),
    Short(ShortText<'k>),
    Other(&'k Value),
}

impl Given<'_> {
    #[inline]
    fn send<S: Sink>(self, sink: &mut S) -> Result {
        match self {
            Given::Text(key) => sink.key(key),
            Given::Short(key) => sink.short_key(key),
            Given::Other(key) => sink.key_value(key),
        }
    }

    /// Returns whether the key is neither text nor a symbol: `1` has the path of `"1"`, and becomes the same text.
    fn is_not_text(self) -> bool {
        matches!(self, Given::Other(key) if symbol(key).is_none())
    }

    /// Returns the key to write.
    fn renamed(self, name: Option<&str>) -> Value {
        match (self, name) {
            (Given::Text(key), None) => Value::Text(key.to_owned()),
            (Given::Short(key), None) => Value::Text(key.as_str().to_owned()),
            (Given::Other(key), None) => key.clone(),
            // Ruby's symbols stay symbols.
            (Given::Other(key), Some(name)) if symbol(key).is_some() => {
                Value::Ext(Ext::Symbol(name).into())
            }
            (_, Some(name)) => Value::Text(name.to_owned()),
        }
    }
}

fn symbol(key: &Value) -> Option<&str> {
    let Value::Ext(ext) = key else { return None };
    match ext.as_ext() {
        Ext::Symbol(name) => Some(name),
        _ => None,
    }
}

fn send_key<S: Sink>(sink: &mut S, key: &Value) -> Result {
    match key {
        Value::Text(key) => sink.key(key),
        other => sink.key_value(other),
    }
}

/// A sink adapter that keeps, leaves out and renames values by the states of a plan.
pub(crate) struct Select<'p, S> {
    inner: S,
    plan: &'p Plan,
    marks: &'p Marks,
    mode: Mode,
    /// The open containers within a value that is copied or skipped.
    depth: u64,
    frames: Vec<Frame<'p>>,
    held: Vec<Held>,
    /// For each name that a rename in an open map produces: 0, or one more than twice the number of the
    /// key that took it, and again one more if that is neither text nor a symbol.
    claims: Vec<u32>,
}

impl<'p, S: Sink> Select<'p, S> {
    /// Creates an adapter in front of `inner`.
    pub(crate) fn new(mut inner: S, plan: &'p Plan, marks: &'p Marks) -> Self {
        inner.fidelity().note_filter();
        Select {
            inner,
            plan,
            marks,
            mode: plan.root.to.into(),
            depth: 0,
            frames: Vec::new(),
            held: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Continues at the beginning of a document.
    fn reset(&mut self) {
        self.mode = self.plan.root.to.into();
        self.depth = 0;
        self.frames.clear();
        self.held.clear();
        self.claims.clear();
    }

    fn state(&self, state: u32) -> &'p State {
        &self.plan.states[state as usize]
    }

    /// Sends what was held back: what it begins is kept.
    #[inline]
    fn flush(&mut self) -> Result {
        if self.held.is_empty() { Ok(()) } else { self.flush_held() }
    }

    fn flush_held(&mut self) -> Result {
        let Select { inner, held, claims, .. } = self;
        held.drain(..).try_for_each(|one| match one {
            Held::Map(len) => inner.begin_map(len),
            Held::Key { key, claim, claims: first } => {
                take_claim(claims, first, claim)?;
                send_key(inner, &key)
            }
            Held::Typed(t) => inner.begin_typed(&t.as_type()),
            Held::Anchor(id) => inner.begin_anchor(id),
        })
    }

    /// Continues after a value of the innermost open container.
    #[inline]
    fn value_ended(&mut self) {
        self.mode = Mode::Between;
        let Some(frame) = self.frames.last_mut() else {
            self.marks.mark(&self.plan.root.ends);
            return;
        };
        match frame.kind {
            Kind::Around => {}
            Kind::Map if frame.key_held == NONE => {}
            Kind::Map => {
                // The key is still held back if its value was left out.
                if self.held.len() > frame.key_held as usize {
                    self.held.truncate(frame.key_held as usize);
                    frame.has_dropped = true;
                }
                frame.key_held = NONE;
            }
            Kind::Array => {
                self.marks.mark(frame.ends);
                frame.index += 1;
                let step = self.plan.states[frame.state as usize].by_index(frame.index);
                frame.ends = &step.ends;
                self.mode = step.to.into();
            }
        }
    }

    /// Processes a scalar where rules lead on.
    fn leaf(&mut self, state: u32, send: impl FnOnce(&mut S) -> Result) -> Result {
        if self.state(state).inside {
            self.flush()?;
            send(&mut self.inner)?;
        } else if self.is_at_root() {
            // A document is never left out.
            self.inner.null()?;
        }
        self.value_ended();
        Ok(())
    }

    fn is_at_root(&self) -> bool {
        self.frames.iter().all(|frame| frame.kind == Kind::Around)
    }

    /// Looks up a key, and sends it or holds it back.
    #[inline]
    fn pair(&mut self, name: &str, given: Given<'_>) -> Result {
        let Some(frame) = self.frames.last_mut() else { return given.send(&mut self.inner) };
        let step = self.plan.states[frame.state as usize].by_key(name);
        self.mode = step.to.into();
        self.marks.mark(&step.ends);
        let waits = match step.to {
            Target::Skip => {
                frame.has_dropped = true;
                return Ok(());
            }
            Target::Copy => false,
            Target::Walk(state) => !self.plan.states[state as usize].inside,
        };
        let claims = frame.claims;
        let claim = step
            .claim
            .map(|(number, source)| (number, 2 * source + u32::from(given.is_not_text())));
        if waits {
            frame.key_held = self.held.len() as u32;
            let key = given.renamed(step.name.as_deref());
            self.held.push(Held::Key { key, claim, claims });
            return Ok(());
        }
        self.flush()?;
        take_claim(&mut self.claims, claims, claim)?;
        match (&step.name, given) {
            (None, given) => given.send(&mut self.inner),
            (Some(name), Given::Other(_)) => send_key(&mut self.inner, &given.renamed(Some(name))),
            (Some(name), _) => self.inner.key(name),
        }
    }

    /// Enters a container where rules lead on; `false` if none of them leads into this kind.
    fn enter(&mut self, kind: Kind, number: u32, len: Option<u64>) -> Result<bool> {
        let state = self.state(number);
        let (leads, keeps) = match kind {
            Kind::Map => (state.leads_by_key, state.keeps_pairs),
            Kind::Array | Kind::Around => (state.leads_by_index, state.keeps_elements),
        };
        if !leads && !state.inside && !self.is_at_root() {
            (self.mode, self.depth) = (Mode::Skip, 1);
            return Ok(false);
        }
        let is_element = self.frames.last().is_some_and(|frame| frame.kind == Kind::Array);
        let mut held = NONE;
        if kind == Kind::Map && self.plan.prunes && is_element && !keeps {
            held = self.held.len() as u32;
            self.held.push(Held::Map(None));
        } else {
            self.flush()?;
            match kind {
                Kind::Map => self.inner.begin_map(len.filter(|_| keeps))?,
                _ => self.inner.begin_array(len.filter(|_| keeps && !self.plan.prunes))?,
            }
        }
        let claims = self.claims.len() as u32;
        self.claims.resize(self.claims.len() + state.claims as usize, 0);
        self.push(kind, number, held, claims);
        Ok(true)
    }

    fn push(&mut self, kind: Kind, state: u32, held: u32, claims: u32) {
        let step = self.state(state).by_index(0);
        let (ends, mode) = match kind {
            Kind::Array => (&*step.ends, step.to.into()),
            Kind::Map => (&[][..], Mode::Between),
            Kind::Around => (&[][..], Mode::Walk(state)),
        };
        let has_dropped = false;
        self.mode = mode;
        self.frames.push(Frame {
            kind,
            state,
            index: 0,
            ends,
            held,
            key_held: NONE,
            has_dropped,
            claims,
        });
    }

    /// Leaves a container; returns whether its end is to be sent.
    fn leave(&mut self) -> Result<bool> {
        let Some(frame) = self.frames.pop() else { return Ok(true) };
        self.claims.truncate(frame.claims as usize);
        let is_held = frame.held != NONE && self.held.len() > frame.held as usize;
        if !is_held {
            return Ok(true);
        }
        if frame.kind == Kind::Map && !frame.has_dropped {
            self.flush()?;
            return Ok(true);
        }
        self.held.truncate(frame.held as usize);
        Ok(false)
    }

    /// Begins a type or an anchor.
    fn around(
        &mut self,
        hold: impl FnOnce() -> Held,
        send: impl FnOnce(&mut S) -> Result,
    ) -> Result {
        let Mode::Walk(number) = self.mode else {
            self.depth += 1;
            return if self.mode == Mode::Skip { Ok(()) } else { send(&mut self.inner) };
        };
        let mut held = NONE;
        if self.state(number).inside {
            self.flush()?;
            send(&mut self.inner)?;
        } else {
            held = self.held.len() as u32;
            self.held.push(hold());
        }
        self.push(Kind::Around, number, held, self.claims.len() as u32);
        Ok(())
    }

    /// Ends a container that is copied, skipped or walked through.
    #[inline]
    fn end(&mut self, send: impl FnOnce(&mut S) -> Result) -> Result {
        if self.depth == 0 {
            if self.leave()? {
                send(&mut self.inner)?;
            }
            self.value_ended();
            return Ok(());
        }
        self.depth -= 1;
        if self.mode != Mode::Skip {
            send(&mut self.inner)?;
        }
        if self.depth == 0 {
            self.value_ended();
        }
        Ok(())
    }

    /// Sends a value of one event, unless it is left out.
    #[inline]
    fn one(&mut self, send: impl FnOnce(&mut S) -> Result) -> Result {
        match self.mode {
            Mode::Copy | Mode::Between => send(&mut self.inner)?,
            Mode::Skip => {}
            Mode::Walk(state) => return self.leaf(state, send),
        }
        if self.depth == 0 {
            self.value_ended();
        }
        Ok(())
    }

    /// Returns whether the rules lead on from the next value, so that all its events are needed.
    #[inline]
    fn walks(&self) -> bool {
        matches!(self.mode, Mode::Walk(_))
    }
}

impl Marks {
    #[inline]
    fn mark(&self, ends: &[u32]) {
        for rule in ends {
            self.seen[*rule as usize].set(true);
        }
    }
}

/// Gives a name in a map to a key of the input.
///
/// # Errors
/// `Refused` if another key has it.
#[inline]
fn take_claim(claims: &mut [u32], first: u32, claim: Option<(u32, u32)>) -> Result {
    let Some((number, source)) = claim else { return Ok(()) };
    let taken = &mut claims[(first + number) as usize];
    if *taken != 0 && *taken != source + 1 {
        return Err(Error::new(
            ErrorKind::Refused,
            "found a map in which a renamed key has the name of another key",
        )
        .hint("rename it to a name that is free, or drop one of the two"));
    }
    *taken = source + 1;
    Ok(())
}
