//! Numbers, text, dates and times: from their spelling to their value.

use std::borrow::Cow;

use toml_parser::decoder::ScalarKind;
use toml_parser::{Raw, Span};

use super::faults::{self, Faults};
use super::moment;
use super::types::Item;
use crate::model::text::shorten;
use crate::{Error, Result};

/// The value that a scalar says. Faults of the grammar go to `faults`, and the value is then of no use.
pub(super) fn decode<'i>(
    input: &'i str,
    raw: Raw<'i>,
    span: Span,
    mut faults: &Faults<'_>,
) -> Result<Item<'i>> {
    let mut text = Cow::Borrowed("");
    let kind = raw.decode_scalar(&mut text, &mut faults);
    let at = span.start() as u64;
    Ok(match kind {
        _ if faults.is_some() => Item::Bool(false),
        ScalarKind::String => Item::Text(text),
        ScalarKind::Boolean(v) => Item::Bool(v),
        ScalarKind::DateTime => Item::Moment(moment::parse(raw.as_str()).map_err(|fault| {
            let at = span.start() + fault.at;
            let found = match fault.at == raw.len() {
                true => "the end of a date or time".to_owned(),
                false => faults::found(input, at, at),
            };
            Error::syntax(format!("found {found}, expected {}", fault.expected)).at(at as u64)
        })?),
        ScalarKind::Integer(radix) => {
            let v = i64::from_str_radix(&text, radix.value()).map_err(|error| {
                use std::num::IntErrorKind::{NegOverflow, PosOverflow};
                match error.kind() {
                    PosOverflow | NegOverflow => faults::beyond_i64(raw.as_str()).at(at),
                    _ => {
                        Error::syntax(format!("found `{}`, expected digits", shorten(raw.as_str())))
                            .at(at)
                    }
                }
            })?;
            Item::Integer(v)
        }
        ScalarKind::Float => {
            let v = match text.trim_start_matches(['+', '-']) {
                "inf" if text.starts_with('-') => f64::NEG_INFINITY,
                "inf" => f64::INFINITY,
                // Its sign says nothing (IEEE 754-2019, §6.3).
                "nan" => f64::NAN,
                _ => match text.parse::<f64>() {
                    Ok(v) if v.is_finite() => v,
                    Ok(_) => return Err(faults::beyond_f64(&text).at(at)),
                    Err(_) => {
                        let shown = shorten(&text);
                        let message = format!("found `{shown}`, expected a float");
                        return Err(Error::syntax(message).at(at));
                    }
                },
            };
            Item::Float(v, text)
        }
    })
}
