//! Makes values of events.

use std::rc::Rc;

use num_bigint::Sign;
use regauge::{BigInt, Error, Ext, Fidelity, Format, OnLoss, Result, Sink, Type, TypeBuf, Value};

use crate::guard;
use crate::val::{List, Map, Rare, Val};

/// Builds one value after the other.
///
/// The values of all open containers are on one stack, so that a container is allocated once, in its
/// final size. In a map, keys and values alternate.
pub(crate) struct Builder {
    values: Vec<Val>,
    open: Vec<Open>,
    keys: Keys,
    /// Never asked: a value holds everything.
    fidelity: Fidelity,
}

/// A container that has begun: what it is, and where its values begin.
enum Open {
    Container(usize),
    Typed(TypeBuf),
}

impl Builder {
    pub fn new() -> Builder {
        Builder {
            values: Vec::new(),
            open: Vec::new(),
            keys: Keys::new(),
            fidelity: Fidelity::new(OnLoss::Refuse, Format::Json),
        }
    }

    /// Returns the finished value; `None` if none has begun.
    pub fn take(&mut self) -> Option<Val> {
        debug_assert!(self.open.is_empty(), "a container is still open");
        self.values.pop()
    }

    /// Drops a value that was not finished.
    pub fn clear(&mut self) {
        self.values.clear();
        self.open.clear();
    }

    #[inline]
    fn add(&mut self, val: Val) -> Result {
        self.values.push(val);
        if self.values.len() > guard::VALUES_MAX {
            return too_large();
        }
        Ok(())
    }

    fn begin(&mut self) -> Result {
        self.open.push(Open::Container(self.values.len()));
        Ok(())
    }

    fn end(&mut self, make: impl FnOnce(&mut Vec<Val>, usize) -> Val) -> Result {
        let Some(Open::Container(start)) = self.open.pop() else {
            unreachable!("an end follows its beginning")
        };
        let values = &mut self.values;
        let val = guard::run(|| Ok(make(values, start)))?;
        self.add(val)
    }
}

#[cold]
fn too_large() -> Result {
    Err(Error::limit(format!(
        "found a document of more than {} values, too many for a filter",
        guard::VALUES_MAX
    )))
}

impl Sink for Builder {
    fn null(&mut self) -> Result {
        self.add(Val::Null)
    }
    fn bool(&mut self, v: bool) -> Result {
        self.add(Val::Bool(v))
    }
    fn i64(&mut self, v: i64) -> Result {
        self.add(Val::Int(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.add(Val::big(v.into()))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.add(Val::Float(v))
    }
    fn f32(&mut self, v: f32) -> Result {
        self.add(Val::rare(Rare::Single(v)))
    }
    fn str(&mut self, v: &str) -> Result {
        self.add(Val::Text(v.into()))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.add(Val::bytes(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        let big = match v {
            BigInt::Binary { negative, magnitude } => {
                let sign = if negative { Sign::Minus } else { Sign::Plus };
                num_bigint::BigInt::from_bytes_le(sign, magnitude)
            }
            BigInt::Decimal { negative, digits } => {
                let digits: num_bigint::BigInt =
                    digits.parse().map_err(|_| Error::syntax("found an integer without digits"))?;
                if negative { -digits } else { digits }
            }
        };
        self.add(Val::big(big))
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        self.add(Val::rare(match v {
            Ext::Decimal(text) => Rare::Decimal(text.into()),
            Ext::Timestamp(v) => Rare::Other(Value::Timestamp(v)),
            Ext::MsgpackExt(kind, v) => Rare::Other(Value::MsgpackExt(kind, v.to_vec())),
            Ext::Surrogates(v) => Rare::Other(Value::Surrogates(v.to_vec())),
            Ext::BrokenText(v) => Rare::Other(Value::BrokenText(v.to_vec())),
            v => Rare::Other(Value::Ext(v.into())),
        }))
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.begin()
    }
    fn end_array(&mut self) -> Result {
        self.end(|values, start| Val::Array(Rc::new(List::new(values.split_off(start)))))
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.begin()
    }
    fn key(&mut self, k: &str) -> Result {
        let key = self.keys.get(k);
        self.add(Val::Text(key))
    }
    fn key_value(&mut self, k: &Value) -> Result {
        let key = guard::run(|| Ok(Val::from(k)))?;
        self.add(key)
    }
    fn end_map(&mut self) -> Result {
        self.end(|values, start| {
            let mut pairs = Vec::with_capacity((values.len() - start) / 2);
            let mut rest = values.drain(start..);
            while let (Some(key), Some(value)) = (rest.next(), rest.next()) {
                pairs.push((key, value));
            }
            drop(rest);
            Val::Map(Rc::new(Map::new(pairs)))
        })
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        self.open.push(Open::Typed(t.into()));
        Ok(())
    }
    fn end_typed(&mut self) -> Result {
        let (Some(Open::Typed(class)), Some(inside)) = (self.open.pop(), self.values.pop()) else {
            unreachable!("an end follows its beginning and a value")
        };
        self.add(Val::rare(Rare::Typed(class, inside)))
    }
    // A filter takes values apart, so an alias could refer to nothing.
    fn holds_references(&mut self) -> bool {
        false
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// The keys that were seen last: the documents of a stream have the same ones, and sharing them saves
/// an allocation for each.
struct Keys(Vec<Option<Rc<str>>>);

const KEYS: usize = 256;

impl Keys {
    fn new() -> Keys {
        Keys(vec![None; KEYS])
    }

    #[inline]
    fn get(&mut self, key: &str) -> Rc<str> {
        let bytes = key.as_bytes();
        let ends = match bytes {
            [first, .., last] => usize::from(*first) * 31 + usize::from(*last) * 7,
            _ => 0,
        };
        let middle = bytes.get(bytes.len() / 2).copied().unwrap_or_default();
        let slot = &mut self.0[(ends + usize::from(middle) * 3 + bytes.len()) % KEYS];
        match slot {
            Some(known) if **known == *key => Rc::clone(known),
            _ => Rc::clone(slot.insert(key.into())),
        }
    }
}
