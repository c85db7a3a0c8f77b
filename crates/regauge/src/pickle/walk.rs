//! From the arena to events: the walk knows the lengths of all containers, and which objects are
//! referred to more than once.
//!
//! Advice for those who change this file: nothing here recurses on the depth of the pickle. What is
//! still to be done lies on a stack of [`Task`]s; `run` takes the topmost, and works through the
//! nodes of a list or a dict in one loop. Only keys that are themselves containers are built by
//! another walk, and those may nest [`Value::KEY_NESTING`] deep.

use std::borrow::Cow;

use super::arena::{Arena, Kind, NOTHING, Node, Span, Step};
use super::known::{self, Meaning};
use super::numpy::{Ndarray, Number};
use super::text;
use super::{Options, Strings};
use crate::event::{BigInt, Ext, Origin, Sink, Type};
use crate::fidelity::LossKind;
use crate::limits::Limits;
use crate::utf8::{ShortText, from_utf8};
use crate::value::{Builder, Value};
use crate::{Error, ErrorKind, Result};

/// Text that is longer counts against what repeated text may add up to.
const LONG_TEXT: usize = 64;

/// What is to be done, the innermost last.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    /// The values of an array that is open.
    Items(Run),
    /// The keys and values of a map that is open.
    Pairs(Run),
    /// A value.
    Value(Node),
    /// A description that leaves out what was done later.
    Bare(u32),
    /// A key of a description.
    Key(&'static str),
    /// An array of so many values begins.
    BeginArray(u64),
    BeginMap(u64),
    EndArray,
    EndMap,
    EndTyped,
    EndAnchor,
    /// The object is not stood in any more.
    Leave(u32),
    /// A second place of a shared value ends.
    EndExpansion,
}

/// Nodes still to come: some that are neighbours, and the chunk that goes on with them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    next: u32,
    end: u32,
    chunk: u32,
    step: Step,
}

impl Run {
    /// The nodes from `start` on, and no more.
    pub fn of(start: u32, end: u32) -> Run {
        Run { next: start, end, chunk: NOTHING, step: Step::Append }
    }

    /// All nodes of a list, a dict, a tuple or a set.
    fn all(arena: &Arena, index: u32, step: Step) -> Run {
        let object = arena.object(index);
        Run { next: object.start, end: object.end, chunk: arena.first_chunk(index), step }
    }

    /// All nodes of this chunk, and of those behind it that do the same.
    pub fn chunks(number: u32, step: Step) -> Run {
        Run { next: 0, end: 0, chunk: number, step }
    }

    /// The next node's place.
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
    /// Whether the sink takes anchors and aliases.
    references: bool,
    /// Whether Python's own types are kept: tuples, dtypes.
    pub exact: bool,
    anchors: u32,
    /// How many second places of shared values the walk stands in.
    expanding: u32,
    aliases_left: u64,
    text_left: u64,
    /// How many keys the walk stands in.
    keys: usize,
    /// Where the value at hand stands in the input.
    at: u32,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun.
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
            // Text that stands in the input once, and may come again: as much as all aliases
            // together may add, at 64 bytes each.
            text_left: (input.len() as u64).saturating_add(limits.aliases.saturating_mul(64)),
            keys: 0,
            at: 0,
        }
    }

    /// Where the walk stands, and so where an error belongs that has no place: bytes from the
    /// beginning of the pickle.
    pub fn at(&self) -> u64 {
        u64::from(self.at)
    }

    /// Gives the events of `root`.
    ///
    /// # Errors
    /// The walk's own, with their place, and the sink's.
    pub fn run<S: Sink + ?Sized>(&mut self, root: Node, sink: &mut S) -> Result {
        if self.arena.shares || self.arena.drops {
            self.arena.count_references(root);
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

    /// Works off all tasks above the lowest `floor`.
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

    /// The values of an array, to its end or to the next container.
    #[inline]
    fn items<S: Sink + ?Sized>(&mut self, mut run: Run, sink: &mut S) -> Result {
        loop {
            let Some(node) = run.advance(self.arena) else { return self.end_array(sink) };
            if let Node::Object(at, index) = node {
                // A plain list in a list, which is what matrices are, does without the task.
                let object = self.arena.object(index);
                if object.kind == Kind::List && object.references < 2 && !self.is_expanding() {
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

    /// The pairs of a map, to its end or to the next container.
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

    /// One level deeper: an array, a map, a type or an anchor.
    #[inline]
    pub fn enter(&mut self) -> Result {
        if self.depth == self.depth_max {
            return Err(self.too_deep());
        }
        self.depth += 1;
        Ok(())
    }

    /// One level less deep.
    #[inline]
    pub fn leave(&mut self) {
        self.depth -= 1;
    }

    #[cold]
    fn too_deep(&self) -> Error {
        let error = Error::limit(format!(
            "found values nested more than {} deep, the limit of depth",
            self.depth_max
        ))
        .at(self.at());
        if self.depth_max < Limits::DEPTH_CEILING {
            return error.hint("pass --limit depth=… to raise it");
        }
        error
    }

    #[inline]
    fn leaf<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        self.at = node.at();
        match node {
            Node::Text(_, span) => self.text(span, sink),
            Node::Int(_, v) => sink.i64(v),
            Node::Float(_, v) => sink.f64(v),
            Node::None(_) => sink.null(),
            Node::Bool(_, v) => sink.bool(v),
            other => self.rare_leaf(other, sink),
        }
    }

    #[inline]
    fn text<S: Sink + ?Sized>(&mut self, span: Span, sink: &mut S) -> Result {
        let (at, length) = (span.at as usize, span.length as usize);
        if let Some(window) = self.input.get(at..).and_then(|rest| rest.first_chunk())
            && let Some(short) = ShortText::ascii(window, length)
        {
            return sink.short_str(short);
        }
        self.long_text(span.of(self.input), sink)
    }

    fn long_text<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result {
        self.spend_text(bytes.len())?;
        match from_utf8(bytes) {
            Some(text) => sink.str(text),
            None => sink.ext(Ext::Surrogates(self.surrogates(bytes)?)),
        }
    }

    /// The bytes, if they are what Python writes for text with surrogates.
    fn surrogates<'b>(&self, bytes: &'b [u8]) -> Result<&'b [u8]> {
        if text::is_utf8_with_surrogates(bytes) {
            return Ok(bytes);
        }
        Err(Error::syntax("found text that is not UTF-8").at(self.at()))
    }

    /// Text that comes once costs nothing: all of it together is no longer than the input.
    #[inline]
    fn spend_text(&mut self, length: usize) -> Result {
        if length <= LONG_TEXT {
            return Ok(());
        }
        match self.text_left.checked_sub(length as u64) {
            Some(left) => {
                self.text_left = left;
                Ok(())
            }
            None => Err(self.too_many_aliases("long text that repeats")),
        }
    }

    #[cold]
    fn too_many_aliases(&self, what: &str) -> Error {
        Error::limit(format!(
            "found {what}, written out more often than {}, the limit of aliases, allows",
            self.limits.aliases
        ))
        .hint("a target that holds references (pickle, YAML) keeps it; pass --limit aliases=… to raise it")
        .at(self.at())
    }

    #[inline]
    fn key<S: Sink + ?Sized>(&mut self, at: u32, span: Span, sink: &mut S) -> Result {
        self.at = at;
        let (start, length) = (span.at as usize, span.length as usize);
        if let Some(window) = self.input.get(start..).and_then(|rest| rest.first_chunk())
            && let Some(short) = ShortText::ascii(window, length)
        {
            return sink.short_key(short);
        }
        self.long_key(span.of(self.input), sink)
    }

    fn long_key<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result {
        self.spend_text(bytes.len())?;
        match from_utf8(bytes) {
            Some(text) => sink.key(text),
            None => sink.key_value(&Value::Surrogates(self.surrogates(bytes)?.to_vec())),
        }
    }

    /// A key that is not plain text.
    #[cold]
    #[inline(never)]
    fn key_value<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        self.at = node.at();
        self.check_hashable(node)?;
        let mut builder = Builder::new(self.limits);
        if self.keys == Value::KEY_NESTING {
            return Err(Error::limit(format!(
                "found maps nested more than {} deep in one another's keys",
                Value::KEY_NESTING
            ))
            .at(self.at()));
        }
        let (references, floor) = (self.references, self.tasks.len());
        self.references = false;
        self.keys += 1;
        self.value(node, &mut builder)?;
        self.work(floor, &mut builder)?;
        self.keys -= 1;
        self.references = references;
        self.at = node.at();
        match builder.take().expect("a whole value") {
            Value::Text(text) => sink.key(&text),
            key => sink.key_value(&key),
        }
    }

    /// Whether Python could use it as a key: a tuple can be one if all that is in it can.
    fn check_hashable(&self, node: Node) -> Result {
        let mut todo = vec![node];
        let mut left = self.limits.nodes;
        while let Some(node) = todo.pop() {
            let Node::Object(at, index) = node else { continue };
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return Err(self.too_many_aliases("a key of tuples")),
            };
            let kind = self.arena.object(index).kind;
            match kind {
                Kind::List | Kind::Dict | Kind::Set | Kind::ByteArray => {
                    return Err(Error::syntax(format!(
                        "found {} as a key, expected something that Python can hash",
                        kind.name()
                    ))
                    .at(u64::from(at)));
                }
                Kind::Tuple => {
                    let objects = self.arena.made_of(index).iter();
                    todo.extend(objects.filter(|node| matches!(node, Node::Object(..))));
                }
                _ => {}
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn rare_leaf<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        match node {
            Node::Bytes(_, span) => {
                self.spend_text(span.length as usize)?;
                sink.bytes(span.of(self.input))
            }
            Node::Escaped(_, span) => {
                let bytes = text::unescape_unicode(span.of(self.input))
                    .map_err(|what| Error::syntax(format!("found {what}")).at(self.at()))?;
                self.long_text(&bytes, sink)
            }
            Node::Old(..) | Node::OldEscaped(..) => self.old_text(node, sink),
            Node::Long(_, span) => long(span.of(self.input), sink),
            Node::LongText(_, span) => {
                let digits = std::str::from_utf8(span.of(self.input)).unwrap_or_default();
                match (digits.parse::<u64>(), digits.strip_prefix('-')) {
                    (Ok(v), _) => sink.u64(v),
                    (_, Some(digits)) => sink.big_int(BigInt::Decimal { negative: true, digits }),
                    _ => sink.big_int(BigInt::Decimal { negative: false, digits }),
                }
            }
            Node::Hole | Node::Object(..) => unreachable!("neither is a leaf"),
            other => self.leaf(other, sink),
        }
    }

    /// An 8-bit string of Python 2: text or bytes, nobody knows.
    fn old_text<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        let input = self.input;
        let bytes = Arena::old_bytes(node, input).unwrap_or_default();
        self.spend_text(bytes.len())?;
        match self.options.strings {
            Strings::Bytes => return sink.bytes(&bytes),
            Strings::Latin1 => return sink.str(&text::latin1_text(&bytes)),
            Strings::Utf8 => {
                if let Some(text) = from_utf8(&bytes) {
                    return sink.str(text);
                }
            }
            Strings::Ascii => {
                if let Some(text) = from_utf8(&bytes).filter(|text| text.is_ascii()) {
                    return sink.str(text);
                }
            }
        }
        let shown: String = text::latin1_text(&bytes).chars().take(40).collect();
        Err(Error::syntax(format!(
            "found the 8-bit string {shown:?} of Python 2, expected {}",
            if self.options.strings == Strings::Utf8 { "UTF-8" } else { "ASCII" }
        ))
        .hint("pass --pickle-strings utf8, latin1 or bytes, whichever it is")
        .at(self.at()))
    }

    /// A container or a description.
    fn object<S: Sink + ?Sized>(&mut self, at: u32, index: u32, sink: &mut S) -> Result {
        self.at = at;
        let object = self.arena.object(index);
        let kind = object.kind;
        if kind == Kind::Global && self.arena.first_chunk(index) == NOTHING {
            return self.describe(index, sink);
        }
        if object.references > 1 && self.is_shareable(index) {
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
                self.typed("set", "", sink)?;
                self.array(index, Step::Add, sink)
            }
            Kind::FrozenSet => {
                self.typed("frozenset", "", sink)?;
                self.array(index, Step::Add, sink)
            }
            Kind::ByteArray => {
                let bytes = self.arena.made_of(index)[0];
                self.typed("bytearray", "", sink)?;
                self.value(bytes, sink)
            }
            Kind::Call | Kind::New => match known::understand(self.arena, index, self.input) {
                Some(meaning) => self.meaning(index, meaning, sink),
                None => self.describe(index, sink),
            },
            _ => self.describe(index, sink),
        }
    }

    /// Whether it matters that an object is referred to twice. It does not for what cannot change
    /// and holds nothing else: a tuple of scalars, a date.
    fn is_shareable(&self, index: u32) -> bool {
        let is_leaf = |node: &Node| !matches!(node, Node::Object(..));
        match self.arena.object(index).kind {
            Kind::Tuple | Kind::FrozenSet => !self.arena.made_of(index).iter().all(is_leaf),
            Kind::Call | Kind::New => !matches!(
                known::understand(self.arena, index, self.input),
                Some(
                    Meaning::Bytes(_)
                        | Meaning::Date(_)
                        | Meaning::Time { .. }
                        | Meaning::DateTime { .. }
                        | Meaning::Timestamp(_)
                        | Meaning::OffsetDateTime { .. }
                        | Meaning::Duration { .. }
                        | Meaning::Decimal(_)
                        | Meaning::NoDecimal(_)
                        | Meaning::Fraction(_)
                        | Meaning::Uuid(_)
                        | Meaning::Complex(..)
                        | Meaning::Range(_)
                        | Meaning::Slice(_)
                        | Meaning::Path { .. }
                        | Meaning::Scalar(_)
                )
            ),
            _ => true,
        }
    }

    /// An object that is referred to more than once. Tells whether its value has to come now.
    fn shared<S: Sink + ?Sized>(&mut self, at: u32, index: u32, sink: &mut S) -> Result<bool> {
        let object = *self.arena.object(index);
        if self.references {
            if object.anchor != NOTHING {
                sink.alias(u64::from(object.anchor))?;
                return Ok(false);
            }
            self.enter()?;
            self.anchors += 1;
            self.arena.object_mut(index).anchor = self.anchors;
            sink.begin_anchor(u64::from(self.anchors))?;
            self.tasks.push(Task::EndAnchor);
            return Ok(true);
        }
        if object.open {
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                format!(
                    "found {} from byte {} in itself, which only a format with references can hold",
                    object.kind.name(),
                    object.at
                ),
            )
            .hint("pass --on-loss wrap, or convert to pickle or YAML")
            .at(u64::from(at)));
        }
        if object.seen || object.anchor != NOTHING {
            if !self.is_expanding() {
                let found = format!("{} in several places", object.kind.name());
                sink.fidelity().note(LossKind::Reference, found, "it again");
            }
            self.expanding += 1;
            self.tasks.push(Task::EndExpansion);
            self.spend(1 + self.arena.count(index))?;
        }
        let object = self.arena.object_mut(index);
        (object.seen, object.open) = (true, true);
        self.tasks.push(Task::Leave(index));
        Ok(true)
    }

    /// Values that stand in a second place.
    fn spend(&mut self, values: u64) -> Result {
        match self.aliases_left.checked_sub(values) {
            Some(left) => {
                self.aliases_left = left;
                Ok(())
            }
            None => Err(self.too_many_aliases("a shared value")),
        }
    }

    /// Opens a type, whose end is put off.
    pub fn typed<S: Sink + ?Sized>(&mut self, kind: &str, name: &str, sink: &mut S) -> Result {
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

    /// Opens a map of the pairs that were added to an object.
    fn added_pairs<S: Sink + ?Sized>(&mut self, index: u32, sink: &mut S) -> Result {
        self.enter()?;
        sink.begin_map(Some(self.added(index) / 2))?;
        let first = self.arena.first_chunk(index);
        self.tasks.push(Task::Pairs(Run::chunks(first, Step::SetItems)));
        Ok(())
    }

    /// How many nodes were added to an object.
    fn added(&self, index: u32) -> u64 {
        self.arena.chunks(index).map(|chunk| u64::from(chunk.end - chunk.start)).sum()
    }

    /// A call that is understood.
    fn meaning<S: Sink + ?Sized>(
        &mut self,
        index: u32,
        meaning: Meaning<'_>,
        sink: &mut S,
    ) -> Result {
        match meaning {
            Meaning::Bytes(bytes) => {
                self.spend_text(bytes.len())?;
                sink.bytes(&bytes)
            }
            Meaning::ByteArray(bytes) => {
                self.typed("bytearray", "", sink)?;
                self.spend_text(bytes.len())?;
                sink.bytes(&bytes)
            }
            Meaning::Date(text) => sink.ext(Ext::Date(&text)),
            Meaning::Time { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::Time(&text))
            }
            Meaning::DateTime { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::DateTime(&text))
            }
            Meaning::OffsetDateTime { text, fold } => {
                self.fold(fold, sink)?;
                sink.ext(Ext::OffsetDateTime(&text))
            }
            Meaning::Timestamp(at) => sink.ext(Ext::Timestamp(at)),
            Meaning::Duration { seconds, nanoseconds } => {
                sink.ext(Ext::Duration { seconds, nanoseconds })
            }
            Meaning::Decimal(text) => sink.ext(Ext::Decimal(&text)),
            Meaning::NoDecimal(text) => {
                self.typed("decimal", "", sink)?;
                sink.str(&text)
            }
            Meaning::Fraction(text) => {
                self.typed("fraction", "", sink)?;
                sink.str(&text)
            }
            Meaning::Uuid(bytes) => sink.ext(Ext::Uuid(bytes)),
            Meaning::Complex(real, imaginary) => sink.ext(Ext::Complex(real, imaginary)),
            Meaning::Range(three) => self.three("range", three, sink),
            Meaning::Slice(three) => self.three("slice", three, sink),
            Meaning::Path { class, text } => {
                self.typed("path", &class, sink)?;
                sink.str(&text)
            }
            Meaning::Set { frozen, list } => {
                self.typed(if frozen { "frozenset" } else { "set" }, "", sink)?;
                match list {
                    Some(list) => self.array(list, Step::Append, sink),
                    None => self.empty_array(sink),
                }
            }
            Meaning::Deque { maxlen } => {
                let name = maxlen.map(|maxlen| maxlen.to_string()).unwrap_or_default();
                self.typed("deque", &name, sink)?;
                self.enter()?;
                sink.begin_array(Some(self.added(index)))?;
                let first = self.arena.first_chunk(index);
                self.tasks.push(Task::Items(Run::chunks(first, Step::Append)));
                Ok(())
            }
            Meaning::OrderedDict => {
                self.typed("ordered_dict", "", sink)?;
                self.added_pairs(index, sink)
            }
            Meaning::DefaultDict { factory } => {
                self.typed("defaultdict", factory.as_deref().unwrap_or_default(), sink)?;
                self.added_pairs(index, sink)
            }
            Meaning::Counter { dict } => {
                self.typed("counter", "", sink)?;
                self.enter()?;
                let Some(dict) = dict else {
                    sink.begin_map(Some(0))?;
                    return self.end_map(sink);
                };
                sink.begin_map(Some(self.arena.count(dict) / 2))?;
                self.tasks.push(Task::Pairs(Run::all(self.arena, dict, Step::SetItems)));
                Ok(())
            }
            // What the target does not keep as an array of NumPy comes as numbers.
            Meaning::Ndarray(_) | Meaning::Scalar(_) if self.exact => self.describe(index, sink),
            Meaning::Ndarray(array) => self.numbers(&array, sink),
            Meaning::Scalar(array) => self.number(array.number(0), sink),
            Meaning::TimeZone { .. } => self.describe(index, sink),
        }
    }

    fn fold<S: Sink + ?Sized>(&mut self, fold: bool, sink: &mut S) -> Result {
        if fold { self.typed("fold", "", sink) } else { Ok(()) }
    }

    fn empty_array<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        self.enter()?;
        sink.begin_array(Some(0))?;
        self.end_array(sink)
    }

    fn three<S: Sink + ?Sized>(&mut self, kind: &str, three: [Node; 3], sink: &mut S) -> Result {
        self.typed(kind, "", sink)?;
        self.enter()?;
        sink.begin_array(Some(3))?;
        for node in three {
            self.leaf(node, sink)?;
        }
        self.end_array(sink)
    }

    /// Nested arrays.
    fn numbers<S: Sink + ?Sized>(&mut self, array: &Ndarray<'_>, sink: &mut S) -> Result {
        if array.shape.is_empty() {
            return self.number(array.number(0), sink);
        }
        if self.is_expanding() {
            self.spend(array.count() as u64)?;
        }
        self.spend_text(array.data.len())?;
        let dimensions = array.shape.len();
        for length in &array.shape {
            self.enter()?;
            sink.begin_array(Some(*length as u64))?;
            if *length == 0 {
                break;
            }
        }
        for place in 0..array.count() {
            self.number(array.number(place), sink)?;
            // Whichever dimensions are full end, and begin again while there is more.
            let mut full = 0;
            let mut rest = place + 1;
            while full < dimensions && rest % array.shape[dimensions - 1 - full] == 0 {
                rest /= array.shape[dimensions - 1 - full];
                full += 1;
            }
            for _ in 0..full {
                sink.end_array()?;
            }
            if full < dimensions {
                for length in &array.shape[dimensions - full..] {
                    sink.begin_array(Some(*length as u64))?;
                }
            }
        }
        if array.count() == 0 {
            sink.end_array()?;
        }
        self.depth -= dimensions as u32;
        Ok(())
    }

    fn number<S: Sink + ?Sized>(&mut self, number: Number, sink: &mut S) -> Result {
        match number {
            Number::Bool(v) => sink.bool(v),
            Number::Int(v) => sink.i64(v),
            Number::UInt(v) => sink.u64(v),
            Number::F32(v) => sink.f32(v),
            Number::F64(v) => sink.f64(v),
            Number::Complex(real, imaginary) => sink.ext(Ext::Complex(real, imaginary)),
        }
    }

    /// A call whose result was thrown away leaves nothing in the document, but loading would make
    /// it: that is no data, and not to be dropped in silence.
    fn check_dropped(&self) -> Result {
        for (index, object) in self.arena.objects.iter().enumerate() {
            let index = index as u32;
            if object.references > 0
                || !object.kind.is_call()
                || known::understand(self.arena, index, self.input).is_some()
            {
                continue;
            }
            let callee = self.arena.made_of(index)[0];
            let name = match self.arena.global(callee, self.input) {
                Some((module, name)) => Cow::Owned(format!("{module}.{name}")),
                None => Cow::Borrowed("something computed"),
            };
            return Err(Error::new(
                ErrorKind::Refused,
                format!("found a call of {name} whose result is not part of the value"),
            )
            .hint("nothing was called; `regauge inspect` lists all that loading would do")
            .at(u64::from(object.at)));
        }
        Ok(())
    }
}

/// An integer in two's complement, of more than eight bytes without those that repeat the sign.
fn long<S: Sink + ?Sized>(bytes: &[u8], sink: &mut S) -> Result {
    let negative = bytes.last().is_some_and(|top| *top >= 0x80);
    if !negative {
        let magnitude = match bytes {
            [magnitude @ .., 0] => magnitude,
            magnitude => magnitude,
        };
        if let Ok(eight) = magnitude.try_into() {
            return sink.u64(u64::from_le_bytes(eight));
        }
        return sink.big_int(BigInt::Binary { negative, magnitude });
    }
    let mut carry = true;
    let mut magnitude: Vec<u8> = bytes
        .iter()
        .map(|byte| {
            let (sum, over) = (!byte).overflowing_add(u8::from(carry));
            carry = over;
            sum
        })
        .collect();
    while magnitude.last() == Some(&0) {
        magnitude.pop();
    }
    sink.big_int(BigInt::Binary { negative, magnitude: &magnitude })
}
