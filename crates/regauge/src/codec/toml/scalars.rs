//! Numbers, text, dates and times: from their spelling to their value.

use std::borrow::Cow;

use toml_parser::decoder::ScalarKind;
use toml_parser::{Raw, Span};

use super::faults::{self, Faults};
use super::moment;
use super::tree::Tree;
use super::types::Item;
use crate::model::text::shorten;
use crate::{Error, Result};

/// The value that a scalar says, its text kept in `tree`. Faults of the grammar go to `faults`, and
/// the value is then of no use.
pub(super) fn decode<'i>(
    tree: &mut Tree<'i, Item>,
    input: &'i str,
    raw: Raw<'i>,
    span: Span,
    mut faults: &Faults<'_>,
) -> Result<Item> {
    let mut text = Cow::Borrowed("");
    let kind = raw.decode_scalar(&mut text, &mut faults);
    let at = span.start() as u64;
    Ok(match kind {
        _ if faults.is_some() => Item::Bool(false),
        ScalarKind::String => Item::Text(tree.keep(text)),
        ScalarKind::Boolean(v) => Item::Bool(v),
        ScalarKind::DateTime => {
            moment::parse(raw.as_str()).map_err(|fault| {
                let at = span.start() + fault.at;
                let found = match fault.at == raw.len() {
                    true => "the end of a date or time".to_owned(),
                    false => faults::found(input, at, at),
                };
                Error::syntax(format!("found {found}, expected {}", fault.expected)).at(at as u64)
            })?;
            Item::Moment(tree.keep(Cow::Borrowed(raw.as_str())))
        }
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
            Item::Integer(v.to_ne_bytes())
        }
        ScalarKind::Float => match float(&text) {
            Some(v) if v.is_infinite() && !text.ends_with("inf") => {
                return Err(faults::beyond_f64(&text).at(at));
            }
            Some(_) => Item::Float(tree.keep(text)),
            None => {
                let shown = shorten(&text);
                let message = format!("found `{shown}`, expected a float");
                return Err(Error::syntax(message).at(at));
            }
        },
    })
}

/// The double that its digits say, `inf` or `nan`.
pub(super) fn float(text: &str) -> Option<f64> {
    match text.trim_start_matches(['+', '-']) {
        // Its sign says nothing (IEEE 754-2019, §6.3).
        "nan" => Some(f64::NAN),
        _ => text.parse().ok(),
    }
}
