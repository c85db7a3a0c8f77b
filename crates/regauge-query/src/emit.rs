//! A filter's outputs as events.

use num_bigint::Sign;
use num_traits::ToPrimitive as _;
use regauge::model::path::Step;
use regauge::{BigInt, Error, Result, Sink, Value};

use crate::val::{Rare, Val};

impl Val {
    /// Sends the value's events, with the keys of maps in their order, or sorted.
    ///
    /// # Errors
    /// Those of the sink, with the path in this value.
    pub(crate) fn drive<S: Sink + ?Sized>(&self, sink: &mut S, sorted: bool) -> Result {
        match self {
            Val::Null => sink.null(),
            Val::Bool(v) => sink.bool(*v),
            Val::Int(v) => sink.i64(*v),
            Val::Float(v) => sink.f64(*v),
            Val::Text(text) => sink.str(text),
            Val::Array(list) => {
                sink.begin_array(Some(list.values.len() as u64))?;
                for (at, value) in list.values.iter().enumerate() {
                    value
                        .drive(sink, sorted)
                        .map_err(|error| below(error, Step::Index(at as u64)))?;
                }
                sink.end_array()
            }
            Val::Map(map) => {
                sink.begin_map(Some(map.pairs().len() as u64))?;
                if sorted {
                    let mut pairs: Vec<_> = map.pairs().iter().collect();
                    pairs.sort_by(|a, b| a.0.cmp(&b.0));
                    pairs.into_iter().try_for_each(|pair| drive_pair(pair, sink, sorted))?;
                } else {
                    map.pairs().iter().try_for_each(|pair| drive_pair(pair, sink, sorted))?;
                }
                sink.end_map()
            }
            Val::Rare(rare) => match &**rare {
                Rare::Big(v) => match v.to_u64() {
                    Some(v) => sink.u64(v),
                    None => sink.big_int(BigInt::Binary {
                        negative: v.sign() == Sign::Minus,
                        magnitude: &v.magnitude().to_bytes_le(),
                    }),
                },
                Rare::Single(v) => sink.f32(*v),
                Rare::Decimal(text) => sink.ext(regauge::Ext::Decimal(text)),
                Rare::Bytes(bytes) => sink.bytes(bytes),
                Rare::Typed(class, inside) => {
                    sink.begin_typed(&class.as_type())?;
                    inside.drive(sink, sorted)?;
                    sink.end_typed()
                }
                Rare::Other(value) => value.drive(sink),
            },
        }
    }
}

#[inline]
fn drive_pair<S: Sink + ?Sized>((key, value): &(Val, Val), sink: &mut S, sorted: bool) -> Result {
    let sent = match key {
        Val::Text(key) => sink.key(key),
        key => sink.key_value(&Value::from(key)),
    };
    sent.and_then(|()| value.drive(sink, sorted)).map_err(|error| below(error, step_of(key)))
}

/// Returns the step to what is at a key.
pub(crate) fn step_of(key: &Val) -> Step {
    let text = key.text().map_or_else(|| key.to_string(), str::to_owned);
    Step::Key(text.into())
}

/// Returns an error of a value as one of the container that has it at this step.
#[cold]
fn below(error: Error, step: Step) -> Error {
    let mut path = error.path().cloned().unwrap_or_default();
    path.0.insert(0, step);
    error.at_path(path)
}

impl Val {
    /// Returns the value with the keys of all maps sorted.
    pub(crate) fn sorted(self) -> Val {
        match &self {
            Val::Array(list) => list.values.iter().cloned().map(Val::sorted).collect(),
            Val::Map(map) => {
                let mut pairs: Vec<_> = map.pairs().to_vec();
                pairs.sort_by(|a, b| a.0.cmp(&b.0));
                Val::map(pairs.into_iter().map(|(key, value)| (key, value.sorted())).collect())
            }
            _ => self,
        }
    }
}
