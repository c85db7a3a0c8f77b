//! What a scalar means, as an event of the sink.

use super::schema::{self, Meaning, Time};
use super::tags::Content;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::model::time;
use crate::options::yaml::{Options, Schema};
use crate::policy::event::{BigInt, Ext, Origin, Sink, Type};
use crate::{Error, ErrorKind, Limits, Result};

/// Returns a scalar's content as the options want it: a time without a tag may be text.
pub(super) fn wanted<'t>(
    options: &Options,
    tag: Option<&str>,
    content: Content<'t>,
) -> Content<'t> {
    match content {
        Content::Meaning(Meaning::Time(_)) if options.text_times && tag.is_none() => {
            Content::Meaning(Meaning::Text)
        }
        content => content,
    }
}

/// Sends a scalar's content to a sink.
pub(super) fn give<T: Sink + ?Sized>(
    sink: &mut T,
    options: &Options,
    limits: &Limits,
    tag: Option<&str>,
    content: Content<'_>,
    text: &str,
) -> Result {
    match content {
        Content::Bytes(bytes) => sink.bytes(&bytes),
        Content::Meaning(meaning) => give_meaning(sink, options, limits, &meaning, text),
        Content::Typed(meaning) => {
            let name = tag.unwrap_or_default();
            sink.begin_typed(&Type { origin: Origin::Yaml, kind: "tag", name })?;
            give_meaning(sink, options, limits, &meaning, text)?;
            sink.end_typed()
        }
    }
}

fn give_meaning<T: Sink + ?Sized>(
    sink: &mut T,
    options: &Options,
    limits: &Limits,
    meaning: &Meaning<'_>,
    text: &str,
) -> Result {
    match meaning {
        Meaning::Text | Meaning::Merge => sink.str(text),
        Meaning::Symbol(name) => sink.ext(Ext::Symbol(name)),
        Meaning::Null => sink.null(),
        Meaning::Bool(value) => sink.bool(*value),
        Meaning::I64(value) => sink.i64(*value),
        Meaning::U64(value) => sink.u64(*value),
        Meaning::BigInt { negative, radix, digits } => {
            let (have, most) = (digits.len(), limits.integer_digits);
            if have > most as usize {
                return Err(Error::limit(format!(
                    "found an integer of {have} digits, more than {most}, the limit of \
                     integer_digits"
                ))
                .hint(Hint::raise(Limit::IntegerDigits)));
            }
            if *radix == 10 {
                return sink.big_int(BigInt::Decimal { negative: *negative, digits });
            }
            let magnitude = schema::magnitude(*radix, digits);
            sink.big_int(BigInt::Binary { negative: *negative, magnitude: &magnitude })
        }
        Meaning::Decimal(digits) if options.exact_numbers => {
            sink.ext(Ext::Decimal(&schema::json_decimal(digits)))
        }
        Meaning::Decimal(digits) => {
            let value: f64 = digits.parse().expect("the schemas' grammar is a subset of Rust's");
            if value.is_infinite() {
                let shown = crate::model::text::shorten(text);
                return Err(Error::new(
                    ErrorKind::Refused,
                    format!("found the number {shown}, which is beyond the range of a double"),
                )
                .hint(Hint::set(Opt::Numbers, "exact").to("keep its digits")));
            }
            sink.f64(value)
        }
        Meaning::Double(value) | Meaning::NonFinite(value) => sink.f64(*value),
        Meaning::Time(Time::Date(date)) => sink.ext(Ext::Date(date)),
        Meaning::Time(Time::Local(at)) => sink.ext(Ext::DateTime(at)),
        Meaning::Time(Time::Offset(at)) => sink.ext(Ext::OffsetDateTime(at)),
        Meaning::Time(Time::Utc(at)) => match time::parse_rfc3339(at) {
            Some(at) => sink.ext(Ext::Timestamp(at)),
            None => sink.str(text),
        },
        Meaning::Unknown if options.schema == Schema::Psych => Err(Error::syntax(format!(
            "found the plain scalar {}, which Psych refuses, or reads as another date",
            crate::model::text::shorten(text)
        ))
        .hint("quote it if it is text")),
        Meaning::Unknown => Err(Error::syntax(format!(
            "found the plain scalar {}, expected null, true, false, a number, or quotes \
             (YAML 1.2.2 §10.2)",
            crate::model::text::shorten(text)
        ))
        .hint(Hint::set(Opt::YamlSchema, "core").to("read it as text"))),
    }
}
