//! Events to opcodes.
//!
//! A pickle needs no length in advance: a list is `EMPTY_LIST`, then batches of `MARK … APPENDS`.
//! From protocol 4 on, output goes into frames of about 64 KiB, whose length is filled in when they
//! are full; only that much waits in memory.
//!
//! Advice for those who change this file: every value goes through [`Writer::begin_value`] (which
//! checks that the enclosing item accepts it) and, once it is on the loader's stack, through
//! [`Writer::end_value`]. The enclosing item is the topmost [`Open`].

mod equal;
mod held;
mod keys;
mod ops;
mod python;
mod scalars;
mod times;

use std::collections::HashMap;

use super::Options;
use super::types::*;
use crate::bytes::buffer::Out;
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type};
use crate::policy::fidelity::{self, Fidelity};
use crate::policy::notation;
use crate::{Error, OnLoss, Result};

use equal::{Clash, EqualKeys, KEYS_MAX};
use held::{Held, Slot};
use keys::Keys;

/// Number of values in a batch of `APPENDS` or `SETITEMS`, as in CPython: the loader keeps a batch
/// on its stack.
const BATCH: u32 = 1000;

/// The form of the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Null,
    Integer,
    Text,
    Bytes,
    Array,
    Map,
    /// A value with a type, or a reference.
    Other,
    Scalar,
    /// A time of day that occurs twice when a clock is set back.
    Time,
}

impl Form {
    fn name(self) -> &'static str {
        match self {
            Form::Null => "null",
            Form::Integer => "an integer",
            Form::Text => "text",
            Form::Bytes => "bytes",
            Form::Array => "an array",
            Form::Map => "a map",
            Form::Other => "a value with a type or a reference",
            Form::Scalar => "a scalar",
            Form::Time => "a time",
        }
    }
}

/// What is open.
#[derive(Clone, Debug)]
enum Shape {
    /// Values are added to the object below the mark.
    List,
    Dict,
    Set,
    /// Values between a mark and `TUPLE`.
    Tuple,
    /// Up to three values without a mark.
    ShortTuple,
    FrozenSet,
    /// Values that only have to be on the stack, this many if the number matters.
    Inline(Option<u32>),
    /// A key that is not text.
    Key,
    /// A type of Python.
    Typed(Held),
    /// The map that describes a call or an object.
    Description(Slot),
    /// The steps of an object, and one of them.
    Steps,
    Step(Slot),
}

/// An open container or type.
#[derive(Clone, Debug)]
struct Open {
    shape: Shape,
    /// Values so far, in the current batch if there are batches.
    count: u32,
    /// Values are added in batches after a mark, not one by one.
    batches: bool,
    /// Python must be able to hash it: arrays in it become tuples.
    hashed: bool,
    /// The anchor that waits until the object is created.
    anchor: Option<u64>,
}

impl Open {
    fn new(shape: Shape) -> Open {
        Open { shape, count: 0, batches: true, hashed: false, anchor: None }
    }
}

/// Writes pickle.
pub struct Writer<'a> {
    out: Out<'a>,
    protocol: u8,
    calls: bool,
    fidelity: Fidelity,
    stack: Vec<Open>,
    /// Where the current frame begins; `u64::MAX` outside a frame.
    frame: u64,
    /// The position at which it is long enough.
    frame_full: u64,
    /// Whether the current document has begun.
    begun: bool,
    /// The next number of the memo.
    memo: u32,
    anchors: HashMap<u64, u32>,
    globals: HashMap<String, u32>,
    keys: Keys,
    equal_keys: EqualKeys,
    /// The anchor of the next value.
    anchor: Option<u64>,
    mark: Checkpoint,
}

/// The state that [`rollback`](crate::Writer::rollback) returns to.
#[derive(Clone, Debug, Default)]
struct Checkpoint {
    depth: usize,
    top: Option<Open>,
    begun: bool,
    memo: u32,
}

impl<'a> Writer<'a> {
    /// Creates a writer to `out`.
    pub fn new(out: Out<'a>, options: Options, fidelity: Fidelity) -> Writer<'a> {
        let protocol = options.protocol.unwrap_or(DEFAULT_PROTOCOL).min(HIGHEST_PROTOCOL);
        Writer {
            out,
            protocol,
            calls: options.calls,
            fidelity,
            stack: Vec::new(),
            frame: u64::MAX,
            frame_full: u64::MAX,
            begun: false,
            memo: 0,
            anchors: HashMap::new(),
            globals: HashMap::new(),
            keys: Keys::default(),
            equal_keys: EqualKeys::default(),
            anchor: None,
            mark: Checkpoint::default(),
        }
    }

    /// Creates a writer into memory, using the default protocol.
    pub fn in_memory(policy: OnLoss) -> Writer<'static> {
        let fidelity = Fidelity::new(policy, crate::Format::Pickle);
        Writer::new(Out::in_memory(), Options::default(), fidelity)
    }

    /// Returns the buffer with what was written.
    #[inline]
    pub fn into_out(self) -> Out<'a> {
        self.out
    }

    /// Returns the bytes written by a writer into memory.
    pub fn into_vec(self) -> Vec<u8> {
        self.out.into_vec()
    }

    /// Begins a value: checks that the enclosing item accepts it, and writes the mark of a batch.
    #[inline]
    fn begin_value(&mut self, form: Form) -> Result {
        self.room(32)?;
        let Some(open) = self.stack.last_mut() else { return Ok(()) };
        match open.shape {
            Shape::Dict | Shape::Tuple => Ok(()),
            Shape::List | Shape::Set => {
                if open.count == 0 && open.batches {
                    self.out.push(MARK);
                }
                Ok(())
            }
            _ => self.begin_in_python(form),
        }
    }

    /// Ends a value that is now on the stack: adds it to the enclosing item.
    #[inline]
    fn end_value(&mut self) -> Result {
        if self.anchor.is_some() {
            let anchor = self.anchor.take();
            self.remember(anchor)?;
        }
        let Some(open) = self.stack.last_mut() else { return Ok(()) };
        let (one, many) = match open.shape {
            Shape::List => (APPEND, APPENDS),
            Shape::Dict => (SETITEM, SETITEMS),
            Shape::Set => (ADDITEMS, ADDITEMS),
            _ => {
                open.count += 1;
                return self.end_in_python();
            }
        };
        open.count += 1;
        if !open.batches {
            self.out.push(one);
        } else if open.count == BATCH {
            open.count = 0;
            self.out.push(many);
        }
        Ok(())
    }

    /// Writes the end of an open list, dict or set.
    fn end_batches(&mut self, open: &Open) {
        if open.count > 0 && open.batches {
            self.out.push(match open.shape {
                Shape::List => APPENDS,
                Shape::Set => ADDITEMS,
                _ => SETITEMS,
            });
        }
    }

    /// Puts the top of the stack into the memo under this anchor.
    fn remember(&mut self, anchor: Option<u64>) -> Result {
        if let Some(anchor) = anchor {
            let number = self.put()?;
            self.anchors.insert(anchor, number);
        }
        Ok(())
    }

    /// Returns the item that encloses the current value.
    #[inline]
    fn is_hashed(&self) -> bool {
        self.stack.last().is_some_and(|open| open.hashed)
    }

    /// Ends an array or a map.
    fn end_container(&mut self) -> Result {
        self.room(32)?;
        let open = self.stack.pop().expect("begin before end");
        match open.shape {
            Shape::List | Shape::Dict | Shape::Set => {
                self.end_batches(&open);
                self.end_value()
            }
            Shape::Tuple => {
                self.out.push(TUPLE);
                self.remember(open.anchor)?;
                self.end_value()
            }
            Shape::ShortTuple => {
                match open.count {
                    0 => self.out.push(EMPTY_TUPLE),
                    count => self.out.push(TUPLE1 - 1 + count as u8),
                }
                self.remember(open.anchor)?;
                self.end_value()
            }
            Shape::FrozenSet => {
                self.out.push(FROZENSET);
                self.remember(open.anchor)?;
                self.end_value()
            }
            shape => self.end_python_container(shape, open.count),
        }
    }

    /// Prepares for a document, discarding the state of the previous one.
    fn reset(&mut self) {
        self.stack.clear();
        self.begun = false;
        self.memo = 0;
        self.anchors.clear();
        self.globals.clear();
        self.keys.clear();
        self.equal_keys.close(0);
        self.anchor = None;
        self.frame = u64::MAX;
        self.frame_full = u64::MAX;
    }
}

impl Writer<'_> {
    /// Applies the policy to a key that Python takes for another one of its map: as text it is a key of its own.
    #[cold]
    fn equal_key(&mut self, k: &Value, clash: Clash) -> Result {
        if self.fidelity.policy() != OnLoss::Refuse {
            return fidelity::key_value(self, k);
        }
        let message = match clash {
            Clash::Equal => format!(
                "found the key {k}, which equals another key of the map in Python: a dict keeps only one of them"
            ),
            Clash::Unknown => format!(
                "found the key {k} after {KEYS_MAX} others, expected fewer: Python may take it for one of them"
            ),
        };
        let wrap = Hint::set(Opt::OnLoss, "wrap").to("write it as text (reversible)");
        Err(Error::new(crate::ErrorKind::Refused, message).hint(wrap))
    }

    /// Returns whether a key can be written natively. Python cannot hash a key that would be a map
    /// in the reversible notation, so its text becomes the key.
    fn holds(&self, k: &Value) -> bool {
        match k {
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) | Value::F64(_) => true,
            Value::Text(_) | Value::Bytes(_) => true,
            _ => {
                let options = Options {
                    protocol: Some(self.protocol),
                    calls: self.calls,
                    ..Options::default()
                };
                let strict = Fidelity::new(OnLoss::Refuse, crate::Format::Pickle);
                k.drive(&mut Writer::new(Out::in_memory(), options, strict)).is_ok()
            }
        }
    }
}

impl Sink for Writer<'_> {
    #[inline]
    fn null(&mut self) -> Result {
        self.begin_value(Form::Null)?;
        if self.is_python_leaf() {
            return self.python_null();
        }
        self.write_none();
        self.end_value()
    }
    #[inline]
    fn bool(&mut self, v: bool) -> Result {
        self.begin_value(Form::Scalar)?;
        match (self.protocol, v) {
            (0 | 1, false) => self.line(INT, b"00")?,
            (0 | 1, true) => self.line(INT, b"01")?,
            (_, v) => self.out.push(if v { NEWTRUE } else { NEWFALSE }),
        }
        self.end_value()
    }
    #[inline]
    fn constant(&mut self, v: Option<bool>) -> Result {
        let is_plain =
            matches!(self.stack.last(), Some(Open { shape: Shape::List | Shape::Dict, .. }));
        if !is_plain || self.protocol < 2 {
            return match v {
                None => self.null(),
                Some(v) => self.bool(v),
            };
        }
        self.begin_value(Form::Scalar)?;
        self.out.push([NEWFALSE, NEWTRUE, NONE][v.map_or(2, usize::from)]);
        self.end_value()
    }
    #[inline]
    fn i64(&mut self, v: i64) -> Result {
        self.begin_value(Form::Integer)?;
        if self.is_python_leaf() {
            return self.python_integer(v);
        }
        self.write_int(v)?;
        self.end_value()
    }
    fn u64(&mut self, v: u64) -> Result {
        if let Ok(v) = i64::try_from(v) {
            return self.i64(v);
        }
        self.begin_value(Form::Scalar)?;
        let mut nine = [0; 9];
        nine[..8].copy_from_slice(&v.to_le_bytes());
        self.write_long(&nine)?;
        self.end_value()
    }
    #[inline]
    fn f64(&mut self, v: f64) -> Result {
        // Protocol 0 writes numbers as text.
        if self.protocol == 0 && notation::has_payload(v) && fidelity::nan_payload(self, v)? {
            return Ok(());
        }
        self.begin_value(Form::Scalar)?;
        self.write_float(v)?;
        self.end_value()
    }
    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.begin_value(Form::Text)?;
        if self.is_python_leaf() {
            return self.python_text(v);
        }
        self.write_text(v.as_bytes())?;
        self.end_value()
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.begin_value(Form::Bytes)?;
        if self.is_python_leaf() {
            return self.python_bytes(v);
        }
        self.write_bytes(v)?;
        self.end_value()
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.begin_value(Form::Scalar)?;
        self.write_big_int(v)?;
        self.end_value()
    }
    #[inline]
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.begin_value(Form::Array)?;
        if self.in_python() {
            return self.begin_python_array(len);
        }
        if self.is_hashed() {
            return self.begin_tuple(len);
        }
        self.begin_list(len)
    }
    #[inline]
    fn end_array(&mut self) -> Result {
        self.end_container()
    }
    #[inline]
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.begin_value(Form::Map)?;
        if self.in_python() {
            return self.begin_python_map(len);
        }
        if self.is_hashed() {
            return Err(python::unhashable("a map"));
        }
        self.begin_dict(len)
    }
    #[inline]
    fn key(&mut self, k: &str) -> Result {
        self.room(32)?;
        match self.stack.last() {
            Some(Open { shape: Shape::Dict, count, batches, .. }) => {
                if *count == 0 && *batches {
                    self.out.push(MARK);
                }
            }
            _ => return self.python_key(k),
        }
        self.write_key(k)
    }
    #[inline]
    fn end_map(&mut self) -> Result {
        self.equal_keys.close(self.stack.len());
        self.end_container()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        if self.ext_held(v)? {
            return Ok(());
        }
        fidelity::ext(self, v)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        if !held::is_hashable(k) || !self.holds(k) {
            return fidelity::key_value(self, k);
        }
        if let Some(clash) = self.equal_keys.add(self.stack.len(), k) {
            return self.equal_key(k, clash);
        }
        self.room(32)?;
        match self.stack.last() {
            Some(Open { shape: Shape::Dict, count, batches, .. }) => {
                if *count == 0 && *batches {
                    self.out.push(MARK);
                }
            }
            _ => return Err(python::bad_key(&k.to_string())),
        }
        let mut open = Open::new(Shape::Key);
        open.hashed = true;
        self.stack.push(open);
        k.drive(self)?;
        self.stack.pop();
        Ok(())
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        match Held::of(t, self.calls, self.protocol) {
            Some(held) => self.begin_held(held),
            None => fidelity::begin_typed(self, t),
        }
    }
    fn end_typed(&mut self) -> Result {
        if self.fidelity.end_held() { self.end_typed_held() } else { fidelity::end_typed(self) }
    }
    fn holds_references(&mut self) -> bool {
        true
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        if self.anchor.is_some() {
            return Err(Error::unrepresentable("found two anchors around one value"));
        }
        self.fidelity.hold_typed();
        self.anchor = Some(id);
        Ok(())
    }
    fn end_anchor(&mut self) -> Result {
        if self.fidelity.end_held() { Ok(()) } else { fidelity::end_anchor(self) }
    }
    fn alias(&mut self, id: u64) -> Result {
        let Some(&number) = self.anchors.get(&id) else {
            return Err(Error::unrepresentable(format!(
                "found the value of anchor {id} inside itself, through a tuple or the arguments of a \
                 call, which can only be created after their contents"
            )));
        };
        self.begin_value(Form::Other)?;
        self.get(number)?;
        self.end_value()
    }
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        self.room(1)?;
        self.out.push(STOP);
        self.close_frame();
        self.reset();
        Ok(())
    }
    fn finish(&mut self) -> Result {
        if self.begun || !self.stack.is_empty() {
            return Err(Error::unrepresentable("the last document is incomplete"));
        }
        self.out.finish()
    }
    fn checkpoint(&mut self) {
        self.close_frame();
        self.mark = Checkpoint {
            depth: self.stack.len(),
            top: self.stack.last().cloned(),
            begun: self.begun,
            memo: self.memo,
        };
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.out.rollback();
        let mark = self.mark.clone();
        self.stack.truncate(mark.depth);
        self.equal_keys.close(mark.depth + 1);
        if let (Some(top), Some(saved)) = (self.stack.last_mut(), mark.top) {
            *top = saved;
        }
        (self.begun, self.memo) = (mark.begun, mark.memo);
        (self.frame, self.frame_full) = (u64::MAX, u64::MAX);
        self.anchor = None;
        self.keys.clear();
        self.anchors.retain(|_, number| *number < mark.memo);
        self.globals.retain(|_, number| *number < mark.memo);
    }
}
