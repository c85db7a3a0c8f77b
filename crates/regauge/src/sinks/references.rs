//! Shared values in a tree: written out as copies, or moved along with a part that is cut out of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::{Error, ErrorKind, Result};

/// Returns whether a value holds an anchor or an alias.
pub(crate) fn has_any(value: &Value) -> bool {
    match value {
        Value::Array(values) => values.iter().any(has_any),
        Value::Map(pairs) => pairs.iter().any(|(key, value)| has_any(key) || has_any(value)),
        Value::Typed(_, inside) => has_any(inside),
        Value::Anchor(..) | Value::Alias(_) => true,
        _ => false,
    }
}

/// The shared values of a document, for the parts that are cut out of it.
#[derive(Debug, Default)]
pub struct Anchors<'v> {
    values: HashMap<u64, &'v Value>,
}

impl<'v> Anchors<'v> {
    /// Finds the shared values of a document.
    #[must_use]
    pub fn of(document: &'v Value) -> Anchors<'v> {
        let mut anchors = Anchors::default();
        anchors.find(document);
        anchors
    }

    fn find(&mut self, value: &'v Value) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.find(value)),
            Value::Map(pairs) => {
                for (key, value) in pairs {
                    self.find(key);
                    self.find(value);
                }
            }
            Value::Typed(_, inside) => self.find(inside),
            Value::Anchor(id, inside) => {
                self.values.insert(*id, inside);
                self.find(inside);
            }
            _ => {}
        }
    }

    /// Returns a part of the document as a document of its own: the first alias of a value outside
    /// the part becomes that value.
    ///
    /// # Errors
    /// `Limit` if the values then nest deeper than [`Limits::depth`].
    pub fn cut_out<'p>(&self, part: &'p Value, limits: &Limits) -> Result<Cow<'p, Value>> {
        if self.values.is_empty() {
            return Ok(Cow::Borrowed(part));
        }
        let mut cut = Cut { anchors: self, placed: HashSet::new() };
        cut.of(part, limits.depth.min(Limits::DEPTH_CEILING)).map(Cow::Owned)
    }
}

struct Cut<'a, 'v> {
    anchors: &'a Anchors<'v>,
    /// The anchors that are in the part, each once: the part never has more values than its document.
    placed: HashSet<u64>,
}

impl Cut<'_, '_> {
    fn of(&mut self, value: &Value, depth_left: u32) -> Result<Value> {
        let Some(depth) = depth_left.checked_sub(1) else {
            return Err(Error::limit(
                "found references that nest too deeply in a part of a document",
            ));
        };
        Ok(match value {
            Value::Array(values) => {
                let values = values.iter().map(|value| self.of(value, depth));
                Value::Array(values.collect::<Result<_>>()?)
            }
            Value::Map(pairs) => {
                let pairs = pairs
                    .iter()
                    .map(|(key, value)| Ok((self.of(key, depth)?, self.of(value, depth)?)));
                Value::Map(pairs.collect::<Result<_>>()?)
            }
            Value::Typed(t, inside) => Value::Typed(t.clone(), Box::new(self.of(inside, depth)?)),
            Value::Anchor(id, inside) => self.shared(*id, inside, depth)?,
            Value::Alias(id) => match self.anchors.values.get(id) {
                Some(inside) => self.shared(*id, inside, depth)?,
                None => Value::Alias(*id),
            },
            leaf => leaf.clone(),
        })
    }

    /// Returns a shared value where it is first, and an alias everywhere else.
    fn shared(&mut self, id: u64, inside: &Value, depth: u32) -> Result<Value> {
        match self.placed.insert(id) {
            true => Ok(Value::Anchor(id, Box::new(self.of(inside, depth)?))),
            false => Ok(Value::Alias(id)),
        }
    }
}

/// Returns the value without references, with shared values repeated in each place, and the number
/// of references written out.
///
/// # Errors
/// `Refused` for a value that contains itself; `Limit` if the repeated values exceed
/// [`Limits::aliases`], or [`Limits::depth`].
pub fn without_references(value: &Value, limits: &Limits) -> Result<(Value, u64)> {
    let depth_left = limits.depth.min(Limits::DEPTH_CEILING);
    let mut expansion = Expansion {
        anchors: HashMap::new(),
        open: Vec::new(),
        values_left: limits.aliases,
        references: 0,
    };
    let value = expansion.of(value, depth_left)?;
    Ok((value, expansion.references))
}

struct Expansion<'v> {
    anchors: HashMap<u64, &'v Value>,
    /// The open anchors, and how many of them were opened for an alias.
    open: Vec<u64>,
    values_left: u64,
    references: u64,
}

impl<'v> Expansion<'v> {
    fn of(&mut self, value: &'v Value, depth_left: u32) -> Result<Value> {
        let Some(depth) = depth_left.checked_sub(1) else {
            return Err(Error::limit("found references that nest too deeply when written out"));
        };
        if self.references > 0 {
            self.values_left = self
                .values_left
                .checked_sub(1)
                .ok_or_else(|| Error::limit("found references that expand to too many values"))?;
        }
        Ok(match value {
            Value::Array(values) => {
                let values = values.iter().map(|value| self.of(value, depth));
                Value::Array(values.collect::<Result<_>>()?)
            }
            Value::Map(pairs) => {
                let pairs =
                    pairs.iter().map(|(key, value)| Ok((key.clone(), self.of(value, depth)?)));
                Value::Map(pairs.collect::<Result<_>>()?)
            }
            Value::Typed(t, inside) => Value::Typed(t.clone(), Box::new(self.of(inside, depth)?)),
            Value::Anchor(id, inside) => {
                self.anchors.insert(*id, inside);
                self.opened(*id, inside, depth)?
            }
            Value::Alias(id) => {
                if self.open.contains(id) {
                    return Err(Error::new(
                        ErrorKind::Refused,
                        "found a value that contains itself, which cannot be written out",
                    ));
                }
                let Some(inside) = self.anchors.get(id).copied() else {
                    return Err(Error::new(
                        ErrorKind::Syntax,
                        format!("found the reference {id}, which refers to no earlier value"),
                    ));
                };
                self.references += 1;
                self.opened(*id, inside, depth)?
            }
            leaf => leaf.clone(),
        })
    }

    fn opened(&mut self, id: u64, inside: &'v Value, depth: u32) -> Result<Value> {
        self.open.push(id);
        let value = self.of(inside, depth);
        self.open.pop();
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(values: Vec<Value>) -> Value {
        Value::Array(values)
    }

    #[test]
    fn references_are_written_out() {
        let shared = || list(vec![Value::Int(1)]);
        let value = list(vec![Value::Anchor(1, Box::new(shared())), Value::Alias(1)]);
        let limits = Limits::default();
        assert_eq!(
            without_references(&value, &limits).unwrap(),
            (list(vec![shared(), shared()]), 1)
        );
        let cycle = Value::Anchor(1, Box::new(list(vec![Value::Alias(1)])));
        let error = without_references(&cycle, &limits).unwrap_err();
        assert!(error.to_string().contains("contains itself"), "{error}");
    }

    #[test]
    fn references_cannot_grow_without_bound() {
        let mut values = vec![Value::Anchor(0, Box::new(list(vec![Value::Null; 9])))];
        for id in 1..9 {
            values.push(Value::Anchor(id, Box::new(list(vec![Value::Alias(id - 1); 9]))));
        }
        let error = without_references(&list(values), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }

    #[test]
    fn a_part_takes_along_what_it_refers_to() {
        let (text, anchor) =
            (|text: &str| Value::Text(text.into()), |id, value| Value::Anchor(id, Box::new(value)));
        let inner = anchor(1, list(vec![Value::Int(1)]));
        let document = list(vec![
            anchor(2, list(vec![inner.clone()])),
            list(vec![Value::Alias(1), Value::Alias(2), Value::Alias(1)]),
            anchor(3, text("own")),
        ]);
        let Value::Array(parts) = &document else { unreachable!() };
        let anchors = Anchors::of(&document);
        let cut = |part| anchors.cut_out(part, &Limits::default()).unwrap().into_owned();
        assert_eq!(
            cut(&parts[1]),
            list(vec![inner, anchor(2, list(vec![Value::Alias(1)])), Value::Alias(1)])
        );
        assert_eq!(cut(&parts[0]), parts[0]);
        assert_eq!(cut(&Value::Alias(3)), parts[2]);
    }

    #[test]
    fn a_part_cannot_nest_without_bound() {
        let mut values = vec![Value::Anchor(0, Box::new(Value::Null))];
        for id in 1..200 {
            values.push(Value::Anchor(id, Box::new(list(vec![Value::Alias(id - 1)]))));
        }
        let document = list(values);
        let limits = Limits { depth: 100, ..Limits::default() };
        let error = Anchors::of(&document).cut_out(&Value::Alias(199), &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
}
