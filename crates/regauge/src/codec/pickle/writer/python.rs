//! Python's own types, as the reader describes them: sets, deques, calls, objects.
//!
//! Which events are valid here depends on the enclosing type: anybody can write
//! `{"$python:set": "", "value": 5}`. Each [`Held`] says which form of value it accepts.

use super::held::{Description, Held, Slot};
use super::{Form, Open, Shape, Writer};
use crate::codec::pickle::types::*;
use crate::{Error, Result};

#[cold]
pub(super) fn bad_key(key: &str) -> Error {
    Error::unrepresentable(format!(
        "found the key {key:?} in the description of a Python object, which does not belong there"
    ))
}

#[cold]
fn misplaced(found: &str, what: &str) -> Error {
    Error::unrepresentable(format!(
        "found {found} in the description of a Python {what}, where it does not belong"
    ))
}

#[cold]
pub(super) fn unhashable(found: &str) -> Error {
    Error::unrepresentable(format!(
        "found {found} as a member of a Python set, expected a hashable value"
    ))
    .hint(
        "a value that Python lacks becomes a map in the reversible notation, which no set can hold",
    )
}

impl Writer<'_> {
    /// Returns whether the value is directly in a type of Python.
    #[inline]
    pub(super) fn in_python(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(Open {
                shape: Shape::Typed(_) | Shape::Description(_) | Shape::Steps | Shape::Step(_),
                ..
            })
        )
    }

    /// Returns the same for a leaf, which only some types handle specially.
    #[inline]
    pub(super) fn is_python_leaf(&self) -> bool {
        matches!(self.stack.last(), Some(Open { shape: Shape::Typed(_), .. }))
    }

    /// Checks that the enclosing type or description accepts this value.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_in_python(&mut self, form: Form) -> Result {
        let open = self.stack.last().expect("something is open");
        let (fits, what) = match &open.shape {
            Shape::Typed(held) => (held.takes(form) && open.count == 0, held.name()),
            Shape::Description(slot) | Shape::Step(slot) => {
                let fits = match slot {
                    Slot::Callable => form == Form::Other,
                    Slot::Arguments | Slot::Items | Slot::Members | Slot::Steps => {
                        form == Form::Array
                    }
                    Slot::Keywords | Slot::Pairs => matches!(form, Form::Map | Form::Other),
                    Slot::State => true,
                    _ => false,
                };
                // Keyword arguments may be shared; pairs are only added.
                (fits && (*slot != Slot::Pairs || form == Form::Map), "object")
            }
            Shape::Steps => (form == Form::Map, "object"),
            Shape::Inline(_) => (true, ""),
            Shape::Key => (open.count == 0, "key"),
            _ => (true, ""),
        };
        if fits { Ok(()) } else { Err(misplaced(form.name(), what)) }
    }

    /// Ends a value in a type or a description, now that it is on the stack.
    #[cold]
    #[inline(never)]
    pub(super) fn end_in_python(&mut self) -> Result {
        let depth = self.stack.len();
        let Some(Open { shape: Shape::Description(slot) | Shape::Step(slot), .. }) =
            self.stack.last()
        else {
            return Ok(());
        };
        let slot = *slot;
        self.room(8)?;
        let next = match slot {
            Slot::Callable => {
                if self.described(depth - 1) == Some(Description::Changed) {
                    self.made(depth - 1)?
                } else {
                    Slot::Called
                }
            }
            Slot::Arguments => {
                let opcode = match self.described(depth - 1) {
                    Some(Description::NewEx) => None,
                    Some(Description::New) => Some(NEWOBJ),
                    Some(Description::Instance) => Some(OBJ),
                    _ => Some(REDUCE),
                };
                match opcode {
                    None => Slot::Argued,
                    Some(opcode) => {
                        self.out.push(opcode);
                        self.made(depth - 1)?
                    }
                }
            }
            Slot::Keywords => {
                self.out.push(NEWOBJ_EX);
                self.made(depth - 1)?
            }
            Slot::State => {
                self.out.push(BUILD);
                Slot::Made
            }
            _ => Slot::Made,
        };
        if let Some(Open { shape: Shape::Description(slot) | Shape::Step(slot), .. }) =
            self.stack.last_mut()
        {
            *slot = next;
        }
        Ok(())
    }

    /// Returns whether the next global is one that is changed in place.
    pub(super) fn is_changed_global(&self) -> bool {
        let at = match self.stack.as_slice() {
            [.., Open { shape: Shape::Typed(Held::Global(_)), .. }] => {
                self.stack.len().wrapping_sub(2)
            }
            _ => self.stack.len().wrapping_sub(1),
        };
        let starts = matches!(
            self.stack.get(at),
            Some(Open { shape: Shape::Description(Slot::Start | Slot::Callable), .. })
        );
        starts && self.described(at) == Some(Description::Changed)
    }

    /// Returns what the description at this position of the stack describes.
    fn described(&self, at: usize) -> Option<Description> {
        match self.stack.get(at.checked_sub(1)?)?.shape {
            Shape::Typed(Held::Described(description, _)) => Some(description),
            _ => None,
        }
    }

    /// Records that the object of the description at this position is on the pickle's stack.
    fn made(&mut self, at: usize) -> Result<Slot> {
        let anchor = self.stack.get_mut(at - 1).and_then(|open| open.anchor.take());
        self.remember(anchor)?;
        Ok(Slot::Made)
    }

    /// Handles a key of a description.
    #[cold]
    #[inline(never)]
    pub(super) fn python_key(&mut self, k: &str) -> Result {
        let depth = self.stack.len();
        let Some(Open { shape: Shape::Description(slot) | Shape::Step(slot), .. }) =
            self.stack.last()
        else {
            return Err(bad_key(k));
        };
        let mut slot = *slot;
        let is_step = matches!(self.stack.last(), Some(Open { shape: Shape::Step(_), .. }));
        let description = self.described(depth - 1);
        if slot == Slot::Start && k != "callable" {
            self.name_callable(depth - 1)?;
            slot = match description {
                Some(Description::Changed) => self.made(depth - 1)?,
                _ => Slot::Called,
            };
        }
        let next = match (k, slot, description) {
            ("callable", Slot::Start, Some(description)) => {
                if description == Description::Instance {
                    self.out.push(MARK);
                }
                Slot::Callable
            }
            ("args", Slot::Called, Some(_)) => Slot::Arguments,
            ("kwargs", Slot::Argued, Some(Description::NewEx)) => Slot::Keywords,
            ("items", Slot::Made, _) => Slot::Items,
            ("pairs", Slot::Made, _) => Slot::Pairs,
            ("members", Slot::Made, _) => Slot::Members,
            ("state", Slot::Made, _) => Slot::State,
            ("steps", Slot::Made, _) if !is_step => Slot::Steps,
            _ => return Err(bad_key(k)),
        };
        if let Some(Open { shape: Shape::Description(slot) | Shape::Step(slot), .. }) =
            self.stack.last_mut()
        {
            *slot = next;
        }
        Ok(())
    }

    /// Writes the callable that the type names.
    fn name_callable(&mut self, at: usize) -> Result {
        let Some(Open { shape: Shape::Typed(Held::Described(description, name)), .. }) =
            self.stack.get(at - 1)
        else {
            return Err(misplaced("a key", "object"));
        };
        let Some((module, name)) = name.rsplit_once('.').filter(|(_, name)| !name.is_empty())
        else {
            return Err(misplaced("no callable", "call"));
        };
        let (module, name) = (module.to_owned(), name.to_owned());
        if *description == Description::Instance {
            self.out.push(MARK);
        }
        self.global(&module, &name)
    }

    /// Begins an array in a type or a description.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_python_array(&mut self, len: Option<u64>) -> Result {
        let hashed = self.is_hashed();
        let depth = self.stack.len();
        match &self.stack.last().expect("a type is open").shape {
            Shape::Typed(held) => match held.clone() {
                Held::Tuple => {
                    let anchor = self.take_typed_anchor();
                    self.anchor = anchor;
                    self.begin_tuple(len)
                }
                Held::Set if self.protocol >= 4 => {
                    self.out.push(EMPTY_SET);
                    self.anchor = self.take_typed_anchor();
                    self.begin_adding(Shape::Set, None)
                }
                Held::FrozenSet if self.protocol >= 4 => {
                    self.out.push(MARK);
                    let mut open = Open::new(Shape::FrozenSet);
                    open.hashed = true;
                    open.anchor = self.take_typed_anchor();
                    self.stack.push(open);
                    Ok(())
                }
                // The list passed to `set`; its members are hashed.
                Held::Set | Held::FrozenSet => {
                    self.begin_list(len)?;
                    self.stack.last_mut().expect("just pushed").hashed = true;
                    Ok(())
                }
                Held::Deque(_) => self.begin_adding(Shape::List, len),
                Held::Range | Held::Slice => {
                    let mut open = Open::new(Shape::Inline(Some(3)));
                    open.hashed = hashed;
                    self.stack.push(open);
                    Ok(())
                }
                _ if hashed => self.begin_tuple(len),
                _ => self.begin_list(len),
            },
            Shape::Description(slot) | Shape::Step(slot) => match slot {
                Slot::Arguments => match self.described(depth - 1) {
                    Some(Description::Instance) => {
                        self.stack.push(Open::new(Shape::Inline(None)));
                        Ok(())
                    }
                    _ => self.begin_tuple(len),
                },
                Slot::Items => self.begin_adding(Shape::List, len),
                Slot::Members => {
                    self.begin_adding(Shape::Set, len)?;
                    self.stack.last_mut().expect("just pushed").hashed = false;
                    Ok(())
                }
                Slot::Steps => {
                    self.stack.push(Open::new(Shape::Steps));
                    Ok(())
                }
                _ => self.begin_list(len),
            },
            _ => Err(misplaced("an array", "object")),
        }
    }

    /// Begins a map in a type or a description.
    #[cold]
    #[inline(never)]
    pub(super) fn begin_python_map(&mut self, len: Option<u64>) -> Result {
        match &self.stack.last().expect("a type is open").shape {
            Shape::Typed(Held::Described(..)) => {
                self.stack.push(Open::new(Shape::Description(Slot::Start)));
                Ok(())
            }
            Shape::Typed(Held::OrderedDict | Held::DefaultDict(_)) => {
                self.begin_adding(Shape::Dict, len)
            }
            Shape::Description(Slot::Pairs) | Shape::Step(Slot::Pairs) => {
                self.begin_adding(Shape::Dict, len)
            }
            Shape::Steps => {
                self.stack.push(Open::new(Shape::Step(Slot::Made)));
                Ok(())
            }
            _ => self.begin_dict(len),
        }
    }

    /// Ends an array or a map that is not one in the pickle.
    #[cold]
    #[inline(never)]
    pub(super) fn end_python_container(&mut self, shape: Shape, count: u32) -> Result {
        match shape {
            Shape::Inline(Some(expected)) if count != expected => {
                Err(misplaced(&format!("{count} values"), "range or slice"))
            }
            Shape::Description(slot) => match slot {
                Slot::Made => self.end_value_in_type(),
                _ => Err(misplaced("no arguments", "call")),
            },
            Shape::Step(slot) if slot != Slot::Made => Err(misplaced("an empty step", "object")),
            Shape::Step(_) => Ok(()),
            _ => self.end_value_in_type(),
        }
    }

    /// Ends a value in a type that is not a value of its own.
    fn end_value_in_type(&mut self) -> Result {
        if let Some(open) = self.stack.last_mut() {
            open.count += 1;
        }
        self.end_in_python()
    }

    /// Begins a type of Python.
    pub(super) fn begin_held(&mut self, held: Held) -> Result {
        self.begin_value(Form::Other)?;
        let hashed = self.is_hashed();
        if hashed && !held.is_hashable() {
            return Err(unhashable(&format!("a {}", held.name())));
        }
        self.fidelity.hold_typed();
        let anchor = self.anchor.take();
        match &held {
            Held::Set | Held::FrozenSet if self.protocol < 4 => {
                self.builtin(if matches!(held, Held::Set) { "set" } else { "frozenset" })?;
                self.begin_arguments()?;
            }
            Held::Deque(maxlen) => {
                self.global("collections", "deque")?;
                self.begin_arguments()?;
                match maxlen {
                    None => self.call(0)?,
                    Some(maxlen) => {
                        self.begin_arguments()?;
                        self.end_arguments(0)?;
                        self.room(16)?;
                        self.write_int(*maxlen)?;
                        self.call(2)?;
                    }
                }
            }
            Held::OrderedDict => {
                self.global("collections", "OrderedDict")?;
                self.begin_arguments()?;
                self.call(0)?;
            }
            Held::DefaultDict(factory) => {
                self.global("collections", "defaultdict")?;
                self.begin_arguments()?;
                match factory {
                    None => self.call(0)?,
                    Some((module, name)) => {
                        self.global(module, name)?;
                        self.call(1)?;
                    }
                }
            }
            Held::Counter => {
                self.global("collections", "Counter")?;
                self.begin_arguments()?;
            }
            Held::Range | Held::Slice => {
                self.builtin(if matches!(held, Held::Range) { "range" } else { "slice" })?;
                self.begin_arguments()?;
            }
            Held::Object(module, name) => {
                if self.protocol < 2 {
                    // As `copyreg` does if there is no opcode for it.
                    self.global("copyreg", "__newobj__")?;
                    self.begin_arguments()?;
                    self.global(module, name)?;
                    self.call(1)?;
                } else {
                    self.global(module, name)?;
                    self.room(8)?;
                    self.out.push_array([EMPTY_TUPLE, NEWOBJ]);
                }
            }
            Held::Instance(module, name) => {
                self.out.push(MARK);
                self.global(module, name)?;
                self.room(8)?;
                self.out.push(OBJ);
            }
            Held::Reconstructed(module, name) => {
                self.global("copyreg", "_reconstructor")?;
                self.begin_arguments()?;
                self.global(module, name)?;
                self.builtin("object")?;
                self.room(8)?;
                self.write_none();
                self.call(3)?;
            }
            _ => {}
        }
        let is_made = matches!(
            held,
            Held::Deque(_)
                | Held::OrderedDict
                | Held::DefaultDict(_)
                | Held::Object(..)
                | Held::Instance(..)
                | Held::Reconstructed(..)
        );
        // How an object is hashed is up to its class, so its state may be anything; so may the id
        // of an object that the loading program has.
        let is_foreign = held.is_object() || matches!(held, Held::PersistentId);
        let mut open = Open::new(Shape::Typed(held));
        open.hashed = hashed && !is_foreign;
        if is_made {
            self.remember(anchor)?;
        } else {
            open.anchor = anchor;
        }
        self.stack.push(open);
        Ok(())
    }

    /// Ends a type of Python.
    pub(super) fn end_typed_held(&mut self) -> Result {
        self.room(16)?;
        let Some(Open { shape: Shape::Typed(held), count, anchor, .. }) = self.stack.pop() else {
            return Err(misplaced("an end", "type"));
        };
        match held {
            Held::Set | Held::FrozenSet if self.protocol < 4 => self.call(1)?,
            Held::Counter => self.call(1)?,
            Held::Range | Held::Slice => self.call(3)?,
            // Null means no state.
            Held::Object(..) | Held::Instance(..) | Held::Reconstructed(..) if count > 0 => {
                self.out.push(BUILD);
            }
            Held::PersistentId => self.out.push(BINPERSID),
            Held::ReadonlyBuffer => self.out.push(READONLY_BUFFER),
            _ => {}
        }
        self.remember(anchor)?;
        self.end_value()
    }

    /// Takes the anchor of the type that the current value is in.
    fn take_typed_anchor(&mut self) -> Option<u64> {
        let inner = self.anchor.take();
        let outer = self.stack.last_mut().and_then(|open| open.anchor.take());
        outer.or(inner)
    }

    /// Writes null in a type; it means no state if a state is allowed.
    #[cold]
    pub(super) fn python_null(&mut self) -> Result {
        if let Some(Open { shape: Shape::Typed(held), .. }) = self.stack.last()
            && matches!(held, Held::Object(..) | Held::Instance(..) | Held::Reconstructed(..))
        {
            return Ok(());
        }
        self.write_none();
        self.end_value()
    }

    /// Writes an integer in a type.
    #[cold]
    pub(super) fn python_integer(&mut self, v: i64) -> Result {
        match self.stack.last().map(|open| &open.shape) {
            Some(Shape::Typed(Held::Extension)) => {
                match u32::try_from(v) {
                    Ok(code @ 1..=0xFF) => self.out.push_array([EXT1, code as u8]),
                    Ok(code @ 1..=0xFFFF) => {
                        self.out.push_array([EXT2, code as u8, (code >> 8) as u8]);
                    }
                    Ok(code @ 1..=0x7FFF_FFFF) => {
                        let [a, b, c, d] = code.to_le_bytes();
                        self.out.push_array([EXT4, a, b, c, d]);
                    }
                    _ => return Err(misplaced(&format!("the code {v}"), "extension")),
                }
                self.end_value()
            }
            Some(Shape::Typed(Held::Buffer)) => {
                // Buffers are taken in order, so the number carries no further information.
                self.out.push(NEXT_BUFFER);
                self.end_value()
            }
            _ => {
                self.write_int(v)?;
                self.end_value()
            }
        }
    }

    /// Writes text in a type.
    #[cold]
    pub(super) fn python_text(&mut self, v: &str) -> Result {
        let held = match self.stack.last().map(|open| &open.shape) {
            Some(Shape::Typed(held)) => held.clone(),
            _ => Held::PersistentId,
        };
        match held {
            Held::Decimal => {
                self.global("decimal", "Decimal")?;
                self.call_with_text(v)?;
            }
            Held::Fraction => {
                self.global("fractions", "Fraction")?;
                self.call_with_text(v)?;
            }
            Held::Path(module, name) => {
                self.global(&module, &name)?;
                self.call_with_text(v)?;
            }
            Held::Global(name) => match module_and_name(v, &name) {
                Some((module, qualified)) => self.global(module, qualified)?,
                None => return Err(misplaced(&format!("the name {v:?}"), "global")),
            },
            _ => self.write_text(v.as_bytes())?,
        }
        self.end_value()
    }

    fn call_with_text(&mut self, text: &str) -> Result {
        self.begin_arguments()?;
        self.write_text(text.as_bytes())?;
        self.call(1)
    }

    /// Writes bytes in a type.
    #[cold]
    pub(super) fn python_bytes(&mut self, v: &[u8]) -> Result {
        match self.stack.last().map(|open| &open.shape) {
            Some(Shape::Typed(Held::ByteArray)) => self.write_bytearray(v)?,
            _ => self.write_bytes(v)?,
        }
        self.end_value()
    }
}

/// Splits `module:name` where `dotted` says `module.name`: a colon may occur in both parts.
fn module_and_name<'t>(text: &'t str, dotted: &str) -> Option<(&'t str, &'t str)> {
    let at = text.bytes().zip(dotted.bytes()).position(|(one, other)| one != other)?;
    let (module, rest) = text.split_at_checked(at)?;
    let name = rest.strip_prefix(':')?;
    (dotted.get(at..)?.strip_prefix('.')? == name).then_some((module, name))
}
