//! Objects that are referenced more than once, and objects that are not referenced at all.

use super::{Task, Walk};
use crate::codec::pickle::arena::{Kind, NOTHING, Node, Step};
use crate::codec::pickle::known;
use crate::codec::pickle::understand::{self, Meaning};
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::policy::event::Sink;
use crate::policy::fidelity::LossKind;
use crate::{Error, ErrorKind, Result};

impl Walk<'_> {
    /// Counts how often each object occurs in the value `root`, as the walk will visit it: objects
    /// that are only part of a recognised call or of a key have no references.
    ///
    /// # Errors
    /// `Limit` if shared parts would be expanded beyond the limit.
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

    /// Lists the nodes visited under an object, and whether they are keys or inside one.
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

    /// Marks the nodes of an object as visited on behalf of another: a call, a set. A second time
    /// counts as an expansion.
    pub(in crate::codec::pickle) fn consume(&mut self, index: u32) -> Result {
        let count = self.arena.count(index);
        if self.arena.object(index).consumed {
            return self.spend(1 + count);
        }
        self.arena.object_mut(index).consumed = true;
        Ok(())
    }

    /// Returns whether it matters that an object is referenced twice. It does not if the object
    /// cannot change and contains no other object: a tuple of scalars, a date.
    pub(super) fn is_shareable(&self, index: u32) -> bool {
        // Bytes and dates are calls in some protocols but not in others.
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

    /// Emits an object that is referenced more than once. Returns whether its value comes next.
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
            let (why, hint) = sink.fidelity().no_cycles();
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                format!(
                    "found {} at byte {} that contains itself; {why}",
                    object.kind.name(),
                    object.at
                ),
            )
            .hint(hint)
            .at(u64::from(at)));
        }
        if object.seen || object.anchor != NOTHING {
            if !self.is_expanding() {
                let found = format!("{} referenced more than once", object.kind.name());
                sink.fidelity().note(LossKind::Reference, found, "a copy");
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

    /// Charges the values of a copy to the limit.
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
            "found {what} that expands to more than {} values, the limit of aliases",
            self.limits.aliases
        ))
        .hint(
            Hint::say("a target with references (pickle, YAML) keeps it unexpanded")
                .then(Hint::raise(Limit::Aliases)),
        )
        .at(self.at())
    }

    /// Refuses discarded objects that loading would import or call: they leave nothing in the
    /// document, and must not be dropped in silence.
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
            let found = match name {
                Some((module, name)) => format!("{what} {module}.{name}"),
                None if object.kind.is_call() => "a call of what another call gave".to_owned(),
                None => what.to_owned(),
            };
            return Err(Error::new(
                ErrorKind::Refused,
                format!("found {found} that is not part of the value"),
            )
            .hint(
                Hint::say("nothing was imported or called").then(Hint::command(
                    "`regauge inspect` lists everything that loading would do",
                )),
            )
            .at(u64::from(object.at)));
        }
        Ok(())
    }
}

/// Adds alternating keys and values.
fn pairs(nodes: &[Node], in_key: bool, children: &mut Vec<(Node, bool)>) {
    children.extend(nodes.iter().enumerate().map(|(at, node)| (*node, in_key || at % 2 == 0)));
}
