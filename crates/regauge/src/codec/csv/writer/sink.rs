//! What the writer does with each event.

use super::Writer;
use crate::Result;
use crate::codec::csv::Types;
use crate::codec::csv::types::{self, Inferred, VALUE_PREFIX, infer};
use crate::model::number;
use crate::model::value::Value;
use crate::policy::event::{BigInt, Ext, Sink};
use crate::policy::fidelity::{self, Fidelity, LossKind, OnLoss};

impl Sink for Writer<'_> {
    fn null(&mut self) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.null();
        }
        self.begin_single("null")?;
        match self.policy() {
            OnLoss::Refuse => Err(self.fidelity.refusal("null", "`$value:null`", "an empty field")),
            OnLoss::Wrap => self.field("$value:null", false),
            OnLoss::Approximate => {
                self.fidelity.note(LossKind::Null, "null", "an empty field");
                self.field("", false)
            }
        }
    }
    fn bool(&mut self, v: bool) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.bool(v);
        }
        self.scalar("a truth value", if v { "true" } else { "false" })
    }
    fn i64(&mut self, v: i64) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.i64(v);
        }
        self.scalar("an integer", itoa::Buffer::new().format(v))
    }
    fn u64(&mut self, v: u64) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.u64(v);
        }
        self.scalar("an integer", itoa::Buffer::new().format(v))
    }
    fn f64(&mut self, v: f64) -> Result {
        if !v.is_finite() {
            return fidelity::non_finite(self, v);
        }
        if let Some((builder, _)) = &mut self.held {
            return builder.f64(v);
        }
        self.scalar("a double", &types::spelled(v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.big_int(v);
        }
        self.scalar("an integer", &number::big_int_text(v))
    }
    fn str(&mut self, v: &str) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.str(v);
        }
        self.begin_single("text")?;
        if self.policy() == OnLoss::Wrap && v.starts_with(VALUE_PREFIX) {
            let json = Value::Text(v.to_owned());
            return self.field(&format!("{VALUE_PREFIX}{json}"), false);
        }
        let is_taken = self.options.types == Types::Infer && infer(v) != Inferred::Text;
        self.field(v, is_taken)
    }
    fn begin_array(&mut self, _: Option<u64>) -> Result {
        self.begin(true)
    }
    fn end_array(&mut self) -> Result {
        self.end(true)
    }
    fn begin_map(&mut self, _: Option<u64>) -> Result {
        self.begin(false)
    }
    fn key(&mut self, k: &str) -> Result {
        if let Some((builder, _)) = &mut self.held {
            return builder.key(k);
        }
        if self.flattens() {
            self.flatten.key(k);
            return self.check_name();
        }
        self.column = Some(self.locate(k)?);
        Ok(())
    }
    fn end_map(&mut self) -> Result {
        self.end(false)
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            // A number by another name: its digits are what the field has room for.
            Ext::Decimal(text)
                if self.held.is_none()
                    && self.options.types == Types::Text
                    && self.policy() != OnLoss::Wrap =>
            {
                self.scalar("a decimal", text)
            }
            v => fidelity::ext(self, v),
        }
    }
}
