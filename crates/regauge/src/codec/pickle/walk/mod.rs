//! From the arena to events: the walk knows the lengths of all containers, and which objects are
//! referenced more than once.
//!
//! Advice for those who change this file: nothing here recurses with the depth of the pickle.
//! Pending work is on a stack of [`Task`]s; `run` takes the topmost, and processes the nodes of a
//! list or a dict in one loop. Only keys that are themselves containers are built by another walk,
//! and those may nest [`KEY_NESTING`](crate::Value::KEY_NESTING) deep.

mod flat;
mod keys;
mod leaves;
mod meaning;
mod shared;

use super::Options;
use super::arena::{Arena, Kind, NOTHING, Node, Step};
use super::understand;
use crate::model::limits::Limits;
use crate::policy::event::{Origin, Sink, Type};
use crate::{Error, Result};

/// Pending work, the innermost last.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// The values of an open array.
    Items(Run),
    /// The keys and values of an open map.
    Pairs(Run),
    /// A value.
    Value(Node),
    /// A description without later steps.
    Bare(u32),
    /// A key of a description.
    Key(&'static str),
    /// The beginning of an array of this many values.
    BeginArray(u64),
    BeginMap(u64),
    EndArray,
    EndMap,
    EndTyped,
    EndAnchor,
    /// The walk leaves an object.
    Leave(u32),
    /// The end of a copy of a shared value.
    EndExpansion,
}

/// Nodes still to come: a run of adjacent ones, and the chunk that continues them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    next: u32,
    end: u32,
    chunk: u32,
    step: Step,
}

impl Run {
    /// Covers the nodes from `start` to `end` only.
    pub fn of(start: u32, end: u32) -> Run {
        Run { next: start, end, chunk: NOTHING, step: Step::Append }
    }

    /// Covers all nodes of a list, a dict, a tuple or a set.
    fn all(arena: &Arena, index: u32, step: Step) -> Run {
        let object = arena.object(index);
        Run { next: object.start, end: object.end, chunk: arena.first_chunk(index), step }
    }

    /// Covers all nodes of this chunk, and of the following chunks of the same kind.
    pub fn chunks(number: u32, step: Step) -> Run {
        Run { next: 0, end: 0, chunk: number, step }
    }

    /// Returns the next node.
    #[inline]
    fn advance(&mut self, arena: &Arena) -> Option<Node> {
        if self.next == self.end {
            loop {
                let chunk = arena.chunk(self.chunk).filter(|chunk| chunk.step == self.step)?;
                (self.next, self.end, self.chunk) = (chunk.start, chunk.end, chunk.next);
                if self.next < self.end {
                    break;
                }
            }
        }
        let node = arena.slots[self.next as usize];
        self.next += 1;
        Some(node)
    }
}

/// One walk over one pickle.
pub(super) struct Walk<'a> {
    pub arena: &'a mut Arena,
    pub input: &'a [u8],
    options: &'a Options,
    limits: &'a Limits,
    pub tasks: Vec<Task>,
    depth: u32,
    depth_max: u32,
    /// Whether the sink accepts anchors and aliases.
    references: bool,
    /// Whether Python's own types are kept: tuples, dtypes.
    pub exact: bool,
    anchors: u32,
    /// Number of copies of shared values that enclose the current place.
    expanding: u32,
    aliases_left: u64,
    text_left: u64,
    /// Number of keys that enclose the current place.
    keys: usize,
    /// The place of the current value in the input.
    at: u32,
}

impl<'a> Walk<'a> {
    /// Creates a walk that has not begun.
    pub fn new(
        arena: &'a mut Arena,
        input: &'a [u8],
        options: &'a Options,
        limits: &'a Limits,
    ) -> Walk<'a> {
        Walk {
            arena,
            input,
            options,
            limits,
            tasks: Vec::new(),
            depth: 0,
            depth_max: limits.depth.min(Limits::DEPTH_CEILING),
            references: false,
            exact: options.exact,
            anchors: 0,
            expanding: 0,
            aliases_left: limits.aliases,
            // Text that occurs once in the input, plus repeats: as much as all aliases together may
            // add, at 64 bytes each.
            text_left: (input.len() as u64).saturating_add(limits.aliases.saturating_mul(64)),
            keys: 0,
            at: 0,
        }
    }

    /// Returns the current place, for errors without a place of their own, in bytes from the
    /// beginning of the pickle.
    pub fn at(&self) -> u64 {
        u64::from(self.at)
    }

    /// Emits the events of `root`.
    ///
    /// # Errors
    /// The walk's own, with their place, and the sink's.
    pub fn run<S: Sink + ?Sized>(&mut self, root: Node, sink: &mut S) -> Result {
        if self.arena.shares || self.arena.drops {
            self.count_references(root)?;
        }
        if self.arena.drops {
            self.check_dropped()?;
        }
        if self.arena.shares {
            self.references = sink.holds_references();
        }
        self.value(root, sink)?;
        self.work(0, sink)
    }

    /// Runs all tasks above the lowest `floor`.
    fn work<S: Sink + ?Sized>(&mut self, floor: usize, sink: &mut S) -> Result {
        while self.tasks.len() > floor {
            match self.tasks.pop().expect("there are more") {
                Task::Items(run) => self.items(run, sink)?,
                Task::Pairs(run) => self.pairs(run, sink)?,
                Task::Value(node) => self.value(node, sink)?,
                Task::Bare(index) => self.bare(index, sink)?,
                Task::Key(name) => sink.key(name)?,
                Task::BeginArray(count) => {
                    self.enter()?;
                    sink.begin_array(Some(count))?;
                }
                Task::BeginMap(count) => {
                    self.enter()?;
                    sink.begin_map(Some(count))?;
                }
                Task::EndArray => self.end_array(sink)?,
                Task::EndMap => self.end_map(sink)?,
                Task::EndTyped => {
                    self.depth -= 1;
                    sink.end_typed()?;
                }
                Task::EndAnchor => {
                    self.depth -= 1;
                    sink.end_anchor()?;
                }
                Task::Leave(index) => self.arena.object_mut(index).open = false,
                Task::EndExpansion => self.expanding -= 1,
            }
        }
        Ok(())
    }

    /// Emits the values of an array, up to its end or the next container.
    #[inline]
    fn items<S: Sink + ?Sized>(&mut self, mut run: Run, sink: &mut S) -> Result {
        loop {
            let Some(node) = run.advance(self.arena) else { return self.end_array(sink) };
            if let Node::Object(at, index) = node {
                // A plain list in a list, as in a matrix, needs no task.
                let object = self.arena.object(index);
                if object.kind == Kind::List && object.references < 2 && self.is_plain() {
                    self.at = at;
                    self.enter()?;
                    sink.begin_array(Some(self.arena.count(index)))?;
                    self.tasks.push(Task::Items(run));
                    run = Run::all(self.arena, index, Step::Append);
                    continue;
                }
                self.tasks.push(Task::Items(run));
                return self.object(at, index, sink);
            }
            self.leaf(node, sink)?;
        }
    }

    /// Emits the pairs of a map, up to its end or the next container.
    #[inline]
    fn pairs<S: Sink + ?Sized>(&mut self, mut run: Run, sink: &mut S) -> Result {
        loop {
            let Some(key) = run.advance(self.arena) else { return self.end_map(sink) };
            match key {
                Node::Text(at, span) => self.key(at, span, sink)?,
                other => self.key_value(other, sink)?,
            }
            let Some(node) = run.advance(self.arena) else {
                return Err(Error::syntax("found a key without a value").at(self.at()));
            };
            if let Node::Object(at, index) = node {
                self.tasks.push(Task::Pairs(run));
                return self.object(at, index, sink);
            }
            self.leaf(node, sink)?;
        }
    }

    fn value<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        match node {
            Node::Object(at, index) => self.object(at, index, sink),
            leaf => self.leaf(leaf, sink),
        }
    }

    /// Returns whether a value referenced once can be emitted directly.
    #[inline]
    fn is_plain(&self) -> bool {
        self.expanding == 0 && self.keys == 0
    }

    #[inline]
    fn is_expanding(&self) -> bool {
        self.expanding > 0
    }

    #[inline]
    fn end_array<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        self.depth -= 1;
        sink.end_array()
    }

    #[inline]
    fn end_map<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        self.depth -= 1;
        sink.end_map()
    }

    /// Enters a level: an array, a map, a type or an anchor.
    #[inline]
    pub fn enter(&mut self) -> Result {
        if self.depth == self.depth_max {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    /// Leaves a level.
    #[inline]
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let most = self.depth_max;
        Error::limit(format!("found values nested more than {most} deep, the limit of depth"))
            .hint_depth(most)
            .at(self.at())
    }

    /// Emits a container or a description.
    fn object<S: Sink + ?Sized>(&mut self, at: u32, index: u32, sink: &mut S) -> Result {
        self.at = at;
        let object = self.arena.object(index);
        let kind = object.kind;
        if kind == Kind::Global && self.arena.first_chunk(index) == NOTHING {
            return self.describe(index, sink);
        }
        // Keys have no anchors, and have not been counted.
        if (object.references > 1 || self.keys > 0) && self.is_shareable(index) {
            if !self.shared(at, index, sink)? {
                return Ok(());
            }
        } else if self.is_expanding() {
            self.spend(1 + self.arena.count(index))?;
        }
        match kind {
            Kind::List => self.array(index, Step::Append, sink),
            Kind::Tuple => {
                if self.exact {
                    self.typed("tuple", "", sink)?;
                }
                self.array(index, Step::Append, sink)
            }
            Kind::Dict => {
                self.enter()?;
                sink.begin_map(Some(self.arena.count(index) / 2))?;
                self.tasks.push(Task::Pairs(Run::all(self.arena, index, Step::SetItems)));
                Ok(())
            }
            Kind::Set => {
                self.check_members(index, Step::Add)?;
                self.typed("set", "", sink)?;
                self.array(index, Step::Add, sink)
            }
            Kind::FrozenSet => {
                self.check_members(index, Step::Add)?;
                self.typed("frozenset", "", sink)?;
                self.array(index, Step::Add, sink)
            }
            Kind::ByteArray => {
                let bytes = self.arena.made_of(index)[0];
                self.typed("bytearray", "", sink)?;
                self.value(bytes, sink)
            }
            Kind::Call | Kind::New => match understand::understand(self.arena, index, self.input) {
                Some(meaning) => self.meaning(index, meaning, sink),
                None => self.describe(index, sink),
            },
            _ => self.describe(index, sink),
        }
    }

    /// Opens a type, to be ended by a later task.
    pub fn typed<S: Sink + ?Sized>(&mut self, kind: &str, name: &str, sink: &mut S) -> Result {
        self.spend_text(name.len())?;
        self.enter()?;
        sink.begin_typed(&Type { origin: Origin::Python, kind, name })?;
        self.tasks.push(Task::EndTyped);
        Ok(())
    }

    /// Opens an array of all nodes of an object.
    fn array<S: Sink + ?Sized>(&mut self, index: u32, step: Step, sink: &mut S) -> Result {
        self.enter()?;
        sink.begin_array(Some(self.arena.count(index)))?;
        self.tasks.push(Task::Items(Run::all(self.arena, index, step)));
        Ok(())
    }
}
