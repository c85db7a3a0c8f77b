//! What is referred to more than once, and what is not referred to at all.

use super::{Task, Walk};
use crate::event::Sink;
use crate::fidelity::LossKind;
use crate::hint::Hint;
use crate::limits::Limit;
use crate::options::Opt;
use crate::pickle::arena::{Kind, NOTHING, Node, Step};
use crate::pickle::known;
use crate::pickle::understand::{self, Meaning};
use crate::{Error, ErrorKind, Result};

impl Walk<'_> {
    /// Counts how often each object stands in the value that `root` is, as the walk will come by:
    /// what is only a part of something that is understood, or of a key, has no references.
    ///
    /// # Errors
    /// `Limit` where parts are shared by more than may be written out.
    pub(super) fn count_references(&mut self, root: Node) -> Result {
        let mut left = (2 * self.arena.slots.len() as u64).saturating_add(self.limits.aliases);
        let mut todo = vec![(root, false)];
        let mut children = Vec::new();
        while let Some((node, in_key)) = todo.pop() {
            let Node::Object(_, index) = node else { continue };
            let object = self.arena.object_mut(index);
            let first = !object.reached;
            object.reached = true;
            if !in_key {
                object.references += 1;
            }
            let again = if in_key { !first } else { object.references > 1 };
            if again {
                continue;
            }
            children.clear();
            self.children(index, in_key, &mut children);
            left = match left.checked_sub(children.len() as u64) {
                Some(left) => left,
                None => return Err(self.too_many_aliases("shared arguments")),
            };
            let objects = children.iter().filter(|(node, _)| matches!(node, Node::Object(..)));
            todo.extend(objects);
        }
        Ok(())
    }

    /// The nodes that come where an object comes, and whether they are keys or stand in one.
    fn children(&self, index: u32, in_key: bool, children: &mut Vec<(Node, bool)>) {
        let arena = &*self.arena;
        let mut values = |nodes: &[Node]| children.extend(nodes.iter().map(|node| (*node, in_key)));
        let kind = arena.object(index).kind;
        match kind {
            Kind::Dict => {}
            Kind::Call | Kind::New | Kind::NewEx | Kind::Instance => {
                match understand::understand(arena, index, self.input) {
                    None => {
                        let made_of = arena.made_of(index);
                        values(&made_of[..1]);
                        if let Some(Node::Object(_, arguments)) = made_of.get(1) {
                            values(arena.made_of(*arguments));
                        }
                        values(made_of.get(2..).unwrap_or_default());
                    }
                    Some(Meaning::Set { list: Some(list), .. }) => {
                        values(arena.made_of(list));
                        for chunk in arena.chunks(list) {
                            values(arena.nodes(chunk));
                        }
                        return;
                    }
                    Some(Meaning::Counter { dict: Some(dict) }) => {
                        pairs(arena.made_of(dict), in_key, children);
                        for chunk in arena.chunks(dict) {
                            pairs(arena.nodes(chunk), in_key, children);
                        }
                        return;
                    }
                    Some(
                        Meaning::Deque { .. } | Meaning::OrderedDict | Meaning::DefaultDict { .. },
                    ) => {}
                    Some(Meaning::Ndarray(_) | Meaning::Scalar(_)) if self.exact => {
                        let made_of = arena.made_of(index);
                        if let Some(Node::Object(_, arguments)) = made_of.get(1) {
                            values(arena.made_of(*arguments));
                        }
                    }
                    Some(Meaning::TimeZone { .. }) => {
                        let made_of = arena.made_of(index);
                        if let Some(Node::Object(_, arguments)) = made_of.get(1) {
                            values(arena.made_of(*arguments));
                        }
                    }
                    Some(_) => return,
                }
            }
            _ => values(arena.made_of(index)),
        }
        if kind == Kind::Dict {
            pairs(arena.made_of(index), in_key, children);
        }
        for chunk in arena.chunks(index) {
            match chunk.step {
                Step::SetItems => pairs(arena.nodes(chunk), in_key, children),
                _ => children.extend(arena.nodes(chunk).iter().map(|node| (*node, in_key))),
            }
        }
    }

    /// The nodes of an object come as those of another: of a call, of a set. A second time counts
    /// as what is written out again.
    pub(in crate::pickle) fn consume(&mut self, index: u32) -> Result {
        let count = self.arena.count(index);
        if self.arena.object(index).consumed {
            return self.spend(1 + count);
        }
        self.arena.object_mut(index).consumed = true;
        Ok(())
    }

    /// Whether it matters that an object is referred to twice. It does not for what cannot change
    /// and holds nothing else: a tuple of scalars, a date.
    pub(super) fn is_shareable(&self, index: u32) -> bool {
        // Bytes and dates are calls in some protocols, and none in others.
        let is_leaf = |node: &Node| match node {
            Node::Object(_, inner) => {
                matches!(self.arena.object(*inner).kind, Kind::Call | Kind::New)
                    && !self.is_shareable(*inner)
            }
            _ => true,
        };
        match self.arena.object(index).kind {
            Kind::Tuple | Kind::FrozenSet => !self.arena.made_of(index).iter().all(is_leaf),
            Kind::Call | Kind::New => !matches!(
                understand::understand(self.arena, index, self.input),
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
                        | Meaning::TimeZone { .. }
                )
            ),
            _ => true,
        }
    }

    /// An object that is referred to more than once. Tells whether its value has to come now.
    #[inline(never)]
    pub(super) fn shared<S: Sink + ?Sized>(
        &mut self,
        at: u32,
        index: u32,
        sink: &mut S,
    ) -> Result<bool> {
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
            .hint(Hint::set(Opt::OnLoss, "wrap").or("convert to pickle or YAML"))
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
    pub(super) fn spend(&mut self, values: u64) -> Result {
        match self.aliases_left.checked_sub(values) {
            Some(left) => {
                self.aliases_left = left;
                Ok(())
            }
            None => Err(self.too_many_aliases("a shared value")),
        }
    }

    #[cold]
    pub(super) fn too_many_aliases(&self, what: &str) -> Error {
        Error::limit(format!(
            "found {what}, written out more often than {}, the limit of aliases, allows",
            self.limits.aliases
        ))
        .hint(
            Hint::say("a target that holds references (pickle, YAML) keeps it")
                .then(Hint::raise(Limit::Aliases)),
        )
        .at(self.at())
    }

    /// What was thrown away leaves nothing in the document, but loading would import or call it:
    /// that is not to be dropped in silence.
    pub(super) fn check_dropped(&self) -> Result {
        // Calls first: they say more than the names of what they call.
        let dropped = |calls: bool| {
            (0..)
                .zip(&self.arena.objects)
                .filter(move |(_, object)| !object.reached && object.kind.is_call() == calls)
        };
        for (index, object) in dropped(true).chain(dropped(false)) {
            let what = match object.kind {
                Kind::Global => "the global",
                Kind::Call | Kind::New | Kind::NewEx | Kind::Instance => "a call of",
                Kind::PersistentId | Kind::Extension | Kind::Buffer => object.kind.name(),
                _ => continue,
            };
            let named = match object.kind {
                Kind::Global => Some(Node::Object(object.at, index)),
                kind if kind.is_call() => self.arena.made_of(index).first().copied(),
                _ => None,
            };
            let name = named.and_then(|named| self.arena.global(named, self.input));
            let harmless = match (object.kind, &name) {
                (Kind::Global, Some((module, name))) => {
                    known::find(module, name).is_some() && self.arena.first_chunk(index) == NOTHING
                }
                _ => understand::is_harmless(self.arena, index, self.input),
            };
            if harmless {
                continue;
            }
            let name = match name {
                Some((module, name)) => format!(" {module}.{name}"),
                None => String::new(),
            };
            return Err(Error::new(
                ErrorKind::Refused,
                format!("found {what}{name} that is not part of the value"),
            )
            .hint(
                Hint::say("nothing was imported or called")
                    .then(Hint::command("`regauge inspect` lists all that loading would do")),
            )
            .at(u64::from(object.at)));
        }
        Ok(())
    }
}

/// Keys and values in turn.
fn pairs(nodes: &[Node], in_key: bool, children: &mut Vec<(Node, bool)>) {
    children.extend(nodes.iter().enumerate().map(|(at, node)| (*node, in_key || at % 2 == 0)));
}
