//! What serde's model lacks, by the policy: refused, as the nearest value, or in the wrapped
//! notation.

use crate::model::format::Format;
use crate::model::limits::Limits;
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink, Type, forward};
use crate::policy::fidelity::{self, Fidelity, Objects, OnLoss};
use crate::policy::notation::Escape;
use crate::policy::tree::Builder;
use crate::sinks::tape::Tape;
use crate::{Options, Result};

/// What is done about values that serde's model lacks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) on_loss: OnLoss,
    pub(super) objects: Objects,
}

impl Policy {
    pub(super) const STRICT: Policy = Policy { on_loss: OnLoss::Refuse, objects: Objects::Refuse };

    pub(super) fn of(options: &Options) -> Policy {
        Policy { on_loss: options.on_loss, objects: options.resolved_objects() }
    }

    /// Whether anything is to be wrapped.
    pub(super) fn wraps(self) -> bool {
        self.on_loss == OnLoss::Wrap || self.objects == Objects::Wrap
    }

    /// Writes the wrapped notation for all that is to be wrapped, and guards what looks like it,
    /// as a conversion does. What is left is for [`lower`](Policy::lower).
    pub(super) fn wrap(self, tape: &Tape) -> Result<Tape> {
        let mut wrapped = Tape::new();
        tape.drive(&mut Escape::new(Lowered::new(&mut wrapped, self, true)))?;
        Ok(wrapped)
    }

    /// A value that serde's model lacks as one that it has.
    #[cold]
    pub(super) fn lower(self, value: &Value) -> Result<Value> {
        let mut builder = Builder::new(&Limits::NONE);
        value.drive(&mut Lowered::new(&mut builder, self, false))?;
        Ok(builder.take().expect("a whole value"))
    }
}

/// Applies the policy to what serde's model lacks, and passes everything else on.
struct Lowered<S> {
    inner: S,
    fidelity: Fidelity,
    /// Whether only what is to be wrapped is changed.
    only_wraps: bool,
}

impl<S: Sink> Lowered<S> {
    fn new(inner: S, policy: Policy, only_wraps: bool) -> Lowered<S> {
        // The format decides nothing here.
        let fidelity = Fidelity::new(policy.on_loss, Format::Json)
            .with_objects(policy.objects)
            .with_holder("serde's data model");
        Lowered { inner, fidelity, only_wraps }
    }

    fn passes(&self) -> bool {
        self.only_wraps && self.fidelity.policy() != OnLoss::Wrap
    }

    fn passes_objects(&self) -> bool {
        self.only_wraps && self.fidelity.objects() != Objects::Wrap
    }
}

impl<S: Sink> Sink for Lowered<S> {
    forward!(null bool i64 u64 f64 f32 str bytes);
    forward!(begin_array end_array begin_map key end_map);

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        if self.passes() || is_128_bits(v) {
            return self.inner.big_int(v);
        }
        fidelity::big_int(self, v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        let passes = match v {
            Ext::Symbol(_) => self.passes_objects(),
            _ => self.passes(),
        };
        if passes { self.inner.ext(v) } else { fidelity::ext(self, v) }
    }
    fn key_value(&mut self, k: &Value) -> Result {
        let passes = self.passes() && self.passes_objects();
        if passes || is_plain(k) { self.inner.key_value(k) } else { fidelity::key_value(self, k) }
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        if self.passes_objects() {
            self.fidelity.hold_typed();
            return self.inner.begin_typed(t);
        }
        fidelity::begin_typed(self, t)
    }
    fn end_typed(&mut self) -> Result {
        if self.fidelity.end_held() { self.inner.end_typed() } else { fidelity::end_typed(self) }
    }
}

/// Whether an integer fits 128 bits, which serde has.
fn is_128_bits(v: BigInt<'_>) -> bool {
    match v {
        BigInt::Binary { negative: false, magnitude } => number::to_u128(magnitude).is_some(),
        BigInt::Binary { negative, magnitude } => number::to_i128(negative, magnitude).is_some(),
        BigInt::Decimal { negative, digits } => {
            digits.len() <= 39 && {
                let magnitude = number::magnitude(digits);
                is_128_bits(BigInt::Binary { negative, magnitude: &magnitude })
            }
        }
    }
}

/// Whether serde's model has all that is in a key.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::UInt(_) => true,
        Value::F32(_) | Value::F64(_) | Value::Text(_) | Value::Bytes(_) => true,
        Value::BigInt { negative, magnitude } => {
            is_128_bits(BigInt::Binary { negative: *negative, magnitude })
        }
        Value::Array(values) => values.iter().all(is_plain),
        Value::Map(pairs) => pairs.iter().all(|(key, value)| is_plain(key) && is_plain(value)),
        _ => false,
    }
}
