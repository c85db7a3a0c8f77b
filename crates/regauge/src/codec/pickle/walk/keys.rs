//! The keys of maps.

use super::{Run, Walk};
use crate::codec::pickle::arena::{Kind, Node, Span, Step};
use crate::model::utf8::{ShortText, from_utf8};
use crate::model::value::Value;
use crate::policy::event::Sink;
use crate::policy::tree::Builder;
use crate::{Error, Result};

impl Walk<'_> {
    #[inline(always)]
    pub(super) fn key<S: Sink + ?Sized>(&mut self, at: u32, span: Span, sink: &mut S) -> Result {
        self.at = at;
        let (start, length) = (span.at as usize, span.length as usize);
        if let Some(window) = self.input.get(start..).and_then(|rest| rest.first_chunk())
            && let Some(short) = ShortText::ascii(window, length)
        {
            return sink.short_key(short);
        }
        self.long_key(span.of(self.input), sink)
    }

    #[inline(never)]
    pub(super) fn long_key<S: Sink + ?Sized>(&mut self, bytes: &[u8], sink: &mut S) -> Result {
        self.spend_text(bytes.len())?;
        match from_utf8(bytes) {
            Some(text) => sink.key(text),
            None => sink.key_value(&Value::Surrogates(self.surrogates(bytes)?.to_vec())),
        }
    }

    /// Emits a key that is not plain text.
    #[cold]
    #[inline(never)]
    pub(super) fn key_value<S: Sink + ?Sized>(&mut self, node: Node, sink: &mut S) -> Result {
        self.at = node.at();
        self.check_hashable(node, "a key")?;
        let mut builder = Builder::new(self.limits);
        Value::check_key_in(self.keys).map_err(|error| error.at(self.at()))?;
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

    /// Checks that Python could use the nodes of a list or a set as members of a set.
    pub(super) fn check_members(&self, index: u32, step: Step) -> Result {
        let mut members = Run::all(self.arena, index, step);
        while let Some(member) = members.advance(self.arena) {
            if matches!(member, Node::Object(..)) {
                self.check_hashable(member, "a member of a set")?;
            }
        }
        Ok(())
    }

    /// Checks that Python could use the node as a key or a member; a tuple can be one if all its
    /// items can.
    fn check_hashable(&self, node: Node, role: &str) -> Result {
        let mut todo = vec![node];
        let mut left = self.limits.nodes;
        while let Some(node) = todo.pop() {
            let Node::Object(at, index) = node else { continue };
            left = match left.checked_sub(1) {
                Some(left) => left,
                None => return Err(self.too_many_aliases("tuples in tuples")),
            };
            let kind = self.arena.object(index).kind;
            match kind {
                Kind::List | Kind::Dict | Kind::Set | Kind::ByteArray => {
                    return Err(Error::syntax(format!(
                        "found {} as {role}, expected a hashable value",
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
}
