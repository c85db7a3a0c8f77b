//! The default bodies of [`Sink`]'s methods: what happens to an event that a sink cannot hold.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::{Fidelity, LossKind, Objects, OnLoss, Opened};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::model::text::{self, shorten};
use crate::model::value::Value;
use crate::model::{decimal128, number, time};
use crate::policy::event::{BigInt, Ext, Origin, Sink, Type};
use crate::policy::notation;
use crate::{Error, ErrorKind, Result};

/// Handles bytes, for a sink without a type for them.
#[cold]
pub fn bytes<S: Sink + ?Sized>(sink: &mut S, v: &[u8]) -> Result {
    let found = || format!("{} bytes of binary data", v.len());
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$binary": …}"#, "Base64 text"))
        }
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key("$binary")?;
            sink.begin_map(Some(2))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(v))?;
            sink.key("subType")?;
            sink.str("00")?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::Bytes, found(), "Base64 text");
            sink.str(&BASE64.encode(v))
        }
    }
}

/// Handles NaN or an infinity, for a sink without them.
#[cold]
pub fn non_finite<S: Sink + ?Sized>(sink: &mut S, v: f64) -> Result {
    let name = notation::non_finite_name(v);
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the number {name}");
            Err(sink.fidelity().refusal(&found, r#"{"$numberDouble": …}"#, "null"))
        }
        OnLoss::Wrap => notation::write_non_finite(sink, v),
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::NonFinite, name, "null");
            sink.null()
        }
    }
}

/// Handles a NaN with a payload, for a sink with only one NaN. Returns whether the notation was
/// written; if not, the sink writes its NaN.
#[cold]
pub fn nan_payload<S: Sink + ?Sized>(sink: &mut S, v: f64) -> Result<bool> {
    let found = || format!("a NaN with the payload {:013x}", v.to_bits() & ((1 << 52) - 1));
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let wrapped = r#"{"$numberDouble": {"bits": …}}"#;
            Err(sink.fidelity().refusal(&found(), wrapped, "NaN without it"))
        }
        OnLoss::Wrap => notation::write_non_finite(sink, v).map(|()| true),
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::NonFinite, found(), "NaN");
            Ok(false)
        }
    }
}

/// Handles a big integer, for a sink with narrower integers.
#[cold]
pub fn big_int<S: Sink + ?Sized>(sink: &mut S, v: BigInt<'_>) -> Result {
    let text = number::big_int_text(v);
    let found = || format!("the integer {}", shorten(&text));
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$integer": …}"#, "the nearest double"))
        }
        OnLoss::Wrap => wrapped_text(sink, "$integer", &text),
        OnLoss::Approximate => {
            let nearest = finite(&text)?;
            sink.fidelity().note(LossKind::Integer, found(), format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

/// Handles a value that only some formats have, for a sink that does not support it.
#[cold]
pub fn ext<S: Sink + ?Sized>(sink: &mut S, v: Ext<'_>) -> Result {
    match v {
        Ext::Timestamp(at) => timestamp(sink, at),
        Ext::Decimal(text) => decimal(sink, text),
        Ext::MsgpackExt(kind, payload) => msgpack_ext(sink, kind, payload),
        Ext::Surrogates(wtf8) => {
            broken_text(sink, wtf8, "text with lone surrogates", "$surrogates")
        }
        Ext::BrokenText(raw) => broken_text(sink, raw, "text that is not UTF-8", "$text"),
        Ext::Int64(v) => sink.i64(v),
        Ext::Symbol(v) => symbol(sink, v),
        Ext::Decimal128(v) => decimal128(sink, v),
        _ => special(sink, v),
    }
}

/// Handles a symbol, for a sink without symbols.
fn symbol<S: Sink + ?Sized>(sink: &mut S, v: &str) -> Result {
    match sink.fidelity().objects {
        Objects::Refuse => {
            let found = format!("the symbol {}", shorten(v));
            Err(sink.fidelity().refuse_object(
                &found,
                (r#"{"$symbol": …}"#, REVERSIBLE),
                "its text",
            ))
        }
        Objects::Wrap => notation::write(sink, Ext::Symbol(v)),
        Objects::Data => {
            sink.fidelity().note(LossKind::Symbol, format!(":{}", shorten(v)), "text");
            sink.str(v)
        }
    }
}

fn decimal128<S: Sink + ?Sized>(sink: &mut S, v: [u8; 16]) -> Result {
    let text = decimal128::to_text(&v);
    match sink.fidelity().policy {
        OnLoss::Wrap => notation::write(sink, Ext::Decimal128(v)),
        OnLoss::Refuse => {
            let found = format!("the decimal128 {}", text.as_deref().unwrap_or("(not canonical)"));
            let wrapped = r#"{"$numberDecimal": …}"#;
            Err(sink.fidelity().refusal(&found, wrapped, "the nearest double"))
        }
        OnLoss::Approximate => {
            let text = text.unwrap_or_else(|| "0".to_owned());
            let nearest = match text.as_str() {
                "NaN" => f64::NAN,
                "Infinity" => f64::INFINITY,
                "-Infinity" => f64::NEG_INFINITY,
                digits => finite(digits)?,
            };
            let found = format!("the decimal128 {text}");
            sink.fidelity().note(LossKind::Decimal, found, format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

/// Handles a rare value that has a nearest text, for a sink that does not support it.
fn special<S: Sink + ?Sized>(sink: &mut S, v: Ext<'_>) -> Result {
    let (kind, text) = match v {
        Ext::Date(v) | Ext::Time(v) | Ext::DateTime(v) | Ext::OffsetDateTime(v) => {
            (LossKind::Timestamp, Some(v.to_owned()))
        }
        Ext::Duration { seconds, nanoseconds } => {
            (LossKind::Timestamp, Some(time::iso8601_duration(seconds, nanoseconds)))
        }
        Ext::ObjectId(v) => (LossKind::Special, Some(text::hex(&v))),
        Ext::Uuid(v) => (LossKind::Special, Some(text::uuid_text(&v))),
        Ext::Binary(_, v) => (LossKind::Bytes, Some(BASE64.encode(v))),
        Ext::Regex { pattern, options } => {
            (LossKind::Special, Some(format!("/{pattern}/{options}")))
        }
        Ext::Code(v) => (LossKind::Special, Some(v.to_owned())),
        Ext::DbPointer { namespace, id } => {
            (LossKind::Special, Some(format!("{namespace}/{}", text::hex(&id))))
        }
        Ext::BsonTimestamp { seconds, increment } => {
            (LossKind::Special, Some(format!("{seconds}.{increment}")))
        }
        Ext::Simple(v) => (LossKind::Special, Some(format!("simple({v})"))),
        Ext::Complex(real, imaginary) => {
            (LossKind::Special, Some(format!("{real:?}{imaginary:+?}i")))
        }
        _ => (LossKind::Special, None),
    };
    let nearest = if text.is_some() { "text" } else { "null" };
    match sink.fidelity().policy {
        OnLoss::Wrap => notation::write(sink, v),
        OnLoss::Refuse => {
            let found = match &text {
                Some(text) => format!("{} ({})", v.type_name(), shorten(text)),
                None => v.type_name().to_owned(),
            };
            let name = notation::name_of(v).unwrap_or("$…");
            Err(sink.fidelity().refusal(&found, &format!(r#"{{"{name}": …}}"#), nearest))
        }
        OnLoss::Approximate => {
            sink.fidelity().note(kind, v.type_name(), nearest);
            match text {
                Some(text) => sink.str(&text),
                None => sink.null(),
            }
        }
    }
}

/// Says what becomes of a type that is written in the notation. What a pickle loads by its name is
/// never taken from a document: docs/formats/pickle.md.
fn later(t: &Type<'_>) -> &'static str {
    match (t.origin, t.kind) {
        (
            Origin::Python,
            "object" | "instance" | "reconstructed" | "global" | "call" | "new" | "new_ex"
            | "instance_call" | "changed",
        ) => "data only: no pickle turns it back into the object",
        _ => REVERSIBLE,
    }
}

/// What is said of a notation that `unwrap` undoes.
const REVERSIBLE: &str = "reversible";

/// Handles the beginning of a type, for a sink that does not support it.
#[cold]
pub fn begin_typed<S: Sink + ?Sized>(sink: &mut S, t: &Type<'_>) -> Result {
    match sink.fidelity().objects {
        Objects::Refuse => {
            let wrapped = format!(r#"{{"{}": …}}"#, notation::type_key(t));
            let wrapped = (wrapped.as_str(), later(t));
            Err(sink.fidelity().refuse_object(&t.to_string(), wrapped, "its data without it"))
        }
        Objects::Wrap => {
            sink.fidelity().opened.push(Opened::Map);
            sink.begin_map(Some(2))?;
            sink.key(&notation::type_key(t))?;
            sink.str(t.name)?;
            sink.key("value")
        }
        Objects::Data => {
            sink.fidelity().note(LossKind::Type, t.to_string(), "its data");
            sink.fidelity().opened.push(Opened::Bare);
            Ok(())
        }
    }
}

/// Ends what [`begin_typed`] began.
#[cold]
pub fn end_typed<S: Sink + ?Sized>(sink: &mut S) -> Result {
    match sink.fidelity().opened.pop() {
        Some(Opened::Map) => sink.end_map(),
        _ => Ok(()),
    }
}

/// Handles the beginning of an anchor, for a sink without anchors.
#[cold]
pub fn begin_anchor<S: Sink + ?Sized>(sink: &mut S, id: u64) -> Result {
    if sink.fidelity().policy != OnLoss::Wrap {
        sink.fidelity().opened.push(Opened::Bare);
        return Ok(());
    }
    sink.fidelity().opened.push(Opened::Map);
    sink.begin_map(Some(2))?;
    sink.key("$anchor")?;
    number(sink, id)?;
    sink.key("value")
}

/// Ends what [`begin_anchor`] began.
#[cold]
pub fn end_anchor<S: Sink + ?Sized>(sink: &mut S) -> Result {
    end_typed(sink)
}

/// Handles an alias, for a sink without aliases.
#[cold]
pub fn alias<S: Sink + ?Sized>(sink: &mut S, id: u64) -> Result {
    if sink.fidelity().policy != OnLoss::Wrap {
        let found = "a shared value";
        return Err(sink.fidelity().refusal(found, r#"{"$alias": …}"#, "a copy"));
    }
    sink.begin_map(Some(1))?;
    sink.key("$alias")?;
    number(sink, id)?;
    sink.end_map()
}

fn number<S: Sink + ?Sized>(sink: &mut S, v: u64) -> Result {
    match i64::try_from(v) {
        Ok(v) => sink.i64(v),
        Err(_) => sink.u64(v),
    }
}

fn timestamp<S: Sink + ?Sized>(sink: &mut S, at: crate::policy::event::Timestamp) -> Result {
    let text = time::rfc3339(at);
    let plain = || match &text {
        Some(text) => text.clone(),
        None => format!("{}.{:09}", at.seconds, at.nanoseconds),
    };
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the point in time {}", plain());
            Err(sink.fidelity().refusal(&found, r#"{"$time": …}"#, "text (RFC 3339)"))
        }
        OnLoss::Wrap => match text {
            Some(text) => wrapped_text(sink, "$time", &text),
            None => {
                sink.begin_map(Some(1))?;
                sink.key("$time")?;
                sink.begin_map(Some(2))?;
                sink.key("seconds")?;
                sink.i64(at.seconds)?;
                sink.key("nanoseconds")?;
                sink.i64(i64::from(at.nanoseconds))?;
                sink.end_map()?;
                sink.end_map()
            }
        },
        OnLoss::Approximate => {
            let text = plain();
            sink.fidelity().note(LossKind::Timestamp, "a point in time", text.clone());
            sink.str(&text)
        }
    }
}

fn decimal<S: Sink + ?Sized>(sink: &mut S, text: &str) -> Result {
    // No digit is lost in a double that prints the same digits, but the type is, if it was one.
    if let Some(same) = number::double_of_same_digits(text) {
        let is_number = sink.fidelity().numbers_as_decimals;
        if is_number || sink.fidelity().policy != OnLoss::Wrap {
            if !is_number {
                let found = format!("the decimal {}", shorten(text));
                sink.fidelity().note(LossKind::Decimal, found, "the double of the same digits");
            }
            return sink.f64(same);
        }
    }
    let found = || format!("the decimal {}", shorten(text));
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            Err(sink.fidelity().refusal(&found(), r#"{"$decimal": …}"#, "the nearest double"))
        }
        OnLoss::Wrap => wrapped_text(sink, "$decimal", text),
        OnLoss::Approximate => {
            let nearest = finite(text)?;
            sink.fidelity().note(LossKind::Decimal, found(), format!("{nearest:e}"));
            sink.f64(nearest)
        }
    }
}

fn msgpack_ext<S: Sink + ?Sized>(sink: &mut S, kind: i8, payload: &[u8]) -> Result {
    let found = || format!("a MessagePack extension of type {kind}, {} bytes", payload.len());
    match sink.fidelity().policy {
        OnLoss::Refuse => Err(sink.fidelity().refusal(&found(), r#"{"$ext": …}"#, "Base64 text")),
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key("$ext")?;
            sink.begin_map(Some(2))?;
            sink.key("type")?;
            sink.i64(i64::from(kind))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(payload))?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            sink.fidelity().note(LossKind::MsgpackExt, found(), "Base64 text");
            sink.str(&BASE64.encode(payload))
        }
    }
}

fn broken_text<S: Sink + ?Sized>(sink: &mut S, raw: &[u8], what: &str, name: &str) -> Result {
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let shown: String = String::from_utf8_lossy(raw).chars().take(40).collect();
            let found = format!("{what} ({:?}, {} bytes)", shown, raw.len());
            let wrapped = format!(r#"{{"{name}": …}}"#);
            Err(sink.fidelity().refusal(&found, &wrapped, "U+FFFD for each broken part"))
        }
        OnLoss::Wrap => {
            sink.begin_map(Some(1))?;
            sink.key(name)?;
            sink.begin_map(Some(1))?;
            sink.key("base64")?;
            sink.str(&BASE64.encode(raw))?;
            sink.end_map()?;
            sink.end_map()
        }
        OnLoss::Approximate => {
            let text = String::from_utf8_lossy(raw);
            sink.fidelity().note(LossKind::Text, what, "text with U+FFFD");
            sink.str(&text)
        }
    }
}

/// Handles a key that is not text, for a sink whose keys are text.
#[cold]
pub fn key_value<S: Sink + ?Sized>(sink: &mut S, k: &Value) -> Result {
    let notation = k.to_string();
    // A symbol is a natural key; the policy for objects applies to it.
    if let Value::Ext(name) = k
        && let Ext::Symbol(name) = name.as_ext()
        && sink.fidelity().policy != OnLoss::Wrap
    {
        match sink.fidelity().objects {
            Objects::Refuse => {
                let found = format!("the symbol {} as a key", shorten(name));
                let wrapped = (r#"{"$key:…": …}"#, REVERSIBLE);
                return Err(sink.fidelity().refuse_object(&found, wrapped, "its text"));
            }
            Objects::Data => {
                sink.fidelity().note(
                    LossKind::Symbol,
                    format!("the key :{}", shorten(name)),
                    "text",
                );
                return sink.key(name);
            }
            Objects::Wrap => {
                return sink.key(&format!("{KEY_PREFIX}{}", k.notation()?));
            }
        }
    }
    match sink.fidelity().policy {
        OnLoss::Refuse => {
            let found = format!("the key {}, which is {}", shorten(&notation), k.type_name());
            Err(sink.fidelity().refusal(&found, r#"{"$key:…": …}"#, "its text"))
        }
        // [`Escape`](crate::policy::notation::Escape) has already guarded the maps in it.
        OnLoss::Wrap => {
            let notation = k.notation()?;
            sink.key(&format!("{KEY_PREFIX}{notation}"))
        }
        OnLoss::Approximate => {
            let text = key_text(k);
            sink.fidelity().note(LossKind::Key, k.type_name(), format!("{:?}", shorten(&text)));
            sink.key(&text)
        }
    }
}

/// Returns the text that [`key_value`] writes for this key under this policy; `None` for a key that it refuses or
/// writes in the notation.
pub fn nearest_key(fidelity: &Fidelity, k: &Value) -> Option<String> {
    let is_symbol = matches!(k, Value::Ext(ext) if matches!(ext.as_ext(), Ext::Symbol(_)));
    let is_written = match is_symbol {
        true => fidelity.policy != OnLoss::Wrap && fidelity.objects == Objects::Data,
        false => fidelity.policy == OnLoss::Approximate,
    };
    is_written.then(|| key_text(k))
}

/// Returns the text that a key becomes where keys are text.
pub(crate) fn key_text(k: &Value) -> String {
    match k {
        Value::Text(text) => text.clone(),
        Value::Bytes(raw) => BASE64.encode(raw),
        Value::Ext(ext) => match ext.as_ext() {
            Ext::Symbol(name) => name.to_owned(),
            _ => k.to_string(),
        },
        _ => k.to_string(),
    }
}

/// The prefix of a key that is not text in the wrapped notation.
pub const KEY_PREFIX: &str = "$key:";

fn wrapped_text<S: Sink + ?Sized>(sink: &mut S, name: &str, text: &str) -> Result {
    sink.begin_map(Some(1))?;
    sink.key(name)?;
    sink.str(text)?;
    sink.end_map()
}

/// Returns the nearest double, which must be finite: an infinity is not near anything.
fn finite(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => Err(Error::new(
            ErrorKind::Refused,
            format!("found the number {}, which is beyond the range of a double", shorten(text)),
        )
        .hint(Hint::set(Opt::OnLoss, "wrap").to("keep its digits"))),
    }
}
