//! Writes events as Extended JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{ExtendedJson, NAMES};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::value::Value;
use crate::model::{decimal128, time};
use crate::policy::event::{BigInt, Ext, Origin, Sink, Timestamp, Type, Writer, forward};
use crate::policy::fidelity::{LossKind, OnLoss};
use crate::policy::notation;
use crate::{Error, ErrorKind, Result};

/// The last second that the relaxed form writes as text: the end of the year 9999.
const LAST_SECOND: i64 = 253_402_300_799;

/// Writes BSON's types as maps in the notation. Everything else passes unchanged.
pub struct ToExtended<S> {
    inner: S,
    form: ExtendedJson,
    /// Whether a map has begun and its first key is next.
    fresh: bool,
    /// For every open type, whether it is code with a scope, which the notation supports.
    types: Vec<bool>,
}

impl<S: Sink> ToExtended<S> {
    /// Creates an adapter in front of `inner`.
    pub fn new(inner: S, form: ExtendedJson) -> Self {
        ToExtended { inner, form, fresh: false, types: Vec::new() }
    }

    fn is_canonical(&self) -> bool {
        self.form == ExtendedJson::Canonical
    }

    /// Writes `{name: text}`.
    #[inline]
    fn text(&mut self, name: &str, text: &str) -> Result {
        self.fresh = false;
        self.inner.text_pair(name, text)
    }

    /// Writes an integer with its width.
    #[inline]
    fn integer(&mut self, name: &str, v: i64) -> Result {
        self.text(name, itoa::Buffer::new().format(v))
    }

    fn date(&mut self, at: Timestamp) -> Result {
        let milliseconds = i128::from(at.seconds) * 1000 + i128::from(at.nanoseconds / 1_000_000);
        let milliseconds = match i64::try_from(milliseconds) {
            Ok(milliseconds) if at.nanoseconds.is_multiple_of(1_000_000) => milliseconds,
            _ => return self.inner.ext(Ext::Timestamp(at)),
        };
        if !self.is_canonical() && (0..=LAST_SECOND).contains(&at.seconds) {
            let whole = Timestamp { nanoseconds: 0, ..at };
            let mut text = time::rfc3339(whole).expect("a year of four digits");
            if at.nanoseconds > 0 {
                // Three digits, if any.
                text.insert_str(text.len() - 1, &format!(".{:03}", at.nanoseconds / 1_000_000));
            }
            return self.text("$date", &text);
        }
        self.inner.begin_map(Some(1))?;
        self.inner.key("$date")?;
        self.integer("$numberLong", milliseconds)?;
        self.inner.end_map()
    }

    fn decimal(&mut self, v: [u8; 16]) -> Result {
        if let Some(text) = decimal128::to_text(&v) {
            return self.text("$numberDecimal", &text);
        }
        // For example, a NaN with a payload.
        let nearest = decimal128::nearest_text(&v);
        let found = format!("a decimal128 that no text can represent exactly ({nearest})");
        if self.inner.fidelity().policy() != OnLoss::Approximate {
            return Err(Error::new(ErrorKind::Refused, format!("found {found}"))
                .hint(Hint::set(Opt::OnLoss, "approximate").to("write the text")));
        }
        self.inner.fidelity().note(LossKind::Decimal, found, nearest.clone());
        self.text("$numberDecimal", &nearest)
    }

    /// Handles a NaN with a payload, for which the notation has no text.
    #[cold]
    fn payload(&mut self, v: f64) -> Result {
        let found = format!("a NaN with the bits {:016x}", v.to_bits());
        if self.inner.fidelity().policy() != OnLoss::Approximate {
            return Err(Error::new(ErrorKind::Refused, format!("found {found}"))
                .hint(Hint::set(Opt::OnLoss, "approximate").to("write NaN")));
        }
        self.inner.fidelity().note(LossKind::NonFinite, found, "NaN");
        Ok(())
    }

    /// Handles a user's own key that would be mistaken for the notation.
    #[cold]
    fn ambiguous(&mut self, k: &str) -> Result {
        if self.inner.fidelity().policy() != OnLoss::Approximate {
            return Err(Error::new(
                ErrorKind::Refused,
                format!("found a map whose first key is `{k}`, which Extended JSON reserves"),
            )
            .hint(
                Hint::without("convert", Opt::ExtendedJson).or(Hint::set(
                    Opt::OnLoss,
                    "approximate",
                )
                .to("write it")),
            ));
        }
        self.inner.fidelity().note(LossKind::Key, format!("the key `{k}`"), "the same");
        Ok(())
    }
}

impl<S: Sink> Sink for ToExtended<S> {
    forward!(fidelity);

    fn null(&mut self) -> Result {
        self.inner.null()
    }
    fn bool(&mut self, v: bool) -> Result {
        self.inner.bool(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        match (self.form, i32::try_from(v)) {
            (ExtendedJson::Relaxed, _) => self.inner.i64(v),
            (_, Ok(_)) => self.integer("$numberInt", v),
            (_, Err(_)) => self.integer("$numberLong", v),
        }
    }
    fn u64(&mut self, v: u64) -> Result {
        self.inner.u64(v)
    }
    fn f64(&mut self, v: f64) -> Result {
        if !v.is_finite() {
            if notation::has_payload(v) {
                self.payload(v)?;
            }
            return self.text("$numberDouble", notation::non_finite_name(v));
        }
        if self.is_canonical() {
            return self.text("$numberDouble", zmij::Buffer::new().format_finite(v));
        }
        self.inner.f64(v)
    }
    fn str(&mut self, v: &str) -> Result {
        self.inner.str(v)
    }
    fn short_str(&mut self, v: crate::policy::event::ShortText<'_>) -> Result {
        self.inner.short_str(v)
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.ext(Ext::Binary(0, v))
    }
    fn big_int(&mut self, v: BigInt<'_>) -> Result {
        self.inner.big_int(v)
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Timestamp(at) => self.date(at),
            Ext::Int64(v) if self.is_canonical() => self.integer("$numberLong", v),
            Ext::Int64(v) => self.inner.i64(v),
            Ext::Decimal128(v) => self.decimal(v),
            Ext::Uuid(v) => notation::write(&mut self.inner, Ext::Binary(4, &v)),
            Ext::Binary(subtype, payload) => {
                self.inner.begin_map(Some(1))?;
                self.inner.key("$binary")?;
                self.inner.begin_map(Some(2))?;
                self.inner.key("base64")?;
                self.inner.str(&BASE64.encode(payload))?;
                self.inner.key("subType")?;
                self.inner.str(&crate::model::text::hex(&[subtype]))?;
                self.inner.end_map()?;
                self.inner.end_map()
            }
            Ext::Symbol(_)
            | Ext::ObjectId(_)
            | Ext::Regex { .. }
            | Ext::BsonTimestamp { .. }
            | Ext::MinKey
            | Ext::MaxKey
            | Ext::Undefined
            | Ext::Code(_)
            | Ext::DbPointer { .. } => notation::write(&mut self.inner, v),
            _ => self.inner.ext(v),
        }
    }
    fn begin_array(&mut self, len: Option<u64>) -> Result {
        self.inner.begin_array(len)
    }
    fn end_array(&mut self) -> Result {
        self.inner.end_array()
    }
    fn begin_map(&mut self, len: Option<u64>) -> Result {
        self.fresh = true;
        self.inner.begin_map(len)
    }
    fn key(&mut self, k: &str) -> Result {
        if std::mem::take(&mut self.fresh) && NAMES.contains(&k) {
            self.ambiguous(k)?;
        }
        self.inner.key(k)
    }
    fn key_value(&mut self, k: &Value) -> Result {
        self.fresh = false;
        self.inner.key_value(k)
    }
    fn end_map(&mut self) -> Result {
        self.fresh = false;
        self.inner.end_map()
    }
    fn begin_typed(&mut self, t: &Type<'_>) -> Result {
        let is_scope = t.origin == Origin::Bson && t.kind == "scope";
        self.types.push(is_scope);
        if !is_scope {
            return self.inner.begin_typed(t);
        }
        self.inner.begin_map(Some(2))?;
        self.inner.key("$code")?;
        self.inner.str(t.name)?;
        self.inner.key("$scope")
    }
    fn end_typed(&mut self) -> Result {
        match self.types.pop() {
            Some(true) => self.inner.end_map(),
            _ => self.inner.end_typed(),
        }
    }
    fn holds_references(&mut self) -> bool {
        self.inner.holds_references()
    }
    fn begin_anchor(&mut self, id: u64) -> Result {
        self.inner.begin_anchor(id)
    }
    fn end_anchor(&mut self) -> Result {
        self.inner.end_anchor()
    }
    fn alias(&mut self, id: u64) -> Result {
        self.inner.alias(id)
    }
}

impl<S: Writer> Writer for ToExtended<S> {
    forward!(end_document finish checkpoint);

    fn rollback(&mut self) {
        self.types.clear();
        self.fresh = false;
        self.inner.rollback();
    }
    fn path(&self) -> Option<crate::model::path::Path> {
        self.inner.path()
    }
}
