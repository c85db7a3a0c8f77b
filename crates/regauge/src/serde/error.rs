//! What serde says is wrong, in our words and as our error.

use std::fmt;

use ::serde::de::{Expected, Unexpected};
use ::serde::{de, ser};

use crate::{Error, ErrorKind};

impl ser::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::new(ErrorKind::Data, message.to_string())
    }
}

impl de::Error for Error {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Error {
        Error::new(ErrorKind::Data, message.to_string())
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Error {
        mismatch(&Found(found), expected)
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Error {
        mismatch(&Found(found), expected)
    }

    #[cold]
    fn invalid_length(length: usize, expected: &dyn Expected) -> Error {
        mismatch(&counted(length, "value"), expected)
    }

    #[cold]
    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Error {
        mismatch(&format_args!("the variant `{}`", shown(variant)), &OneOf(expected))
    }

    #[cold]
    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Error {
        mismatch(&format_args!("the field `{}`", shown(field)), &OneOf(expected))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Error {
        Error::new(ErrorKind::Data, format!("found no field `{field}`"))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Error {
        Error::new(ErrorKind::Data, format!("found the field `{field}` a second time"))
    }
}

#[cold]
fn mismatch(found: &dyn fmt::Display, expected: &dyn Expected) -> Error {
    Error::new(ErrorKind::Data, format!("found {found}, expected {expected}"))
}

/// "1 byte", "2 bytes".
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn shown(text: &str) -> String {
    crate::model::text::shorten(text)
}

/// The names that a type knows.
struct OneOf(&'static [&'static str]);

impl Expected for OneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("none"),
            [one] => write!(f, "`{one}`"),
            [names @ .., last] => {
                names.iter().try_for_each(|name| write!(f, "`{name}`, "))?;
                write!(f, "or `{last}`")
            }
        }
    }
}

/// What was found, as the other messages of the library name it.
struct Found<'a>(Unexpected<'a>);

impl fmt::Display for Found<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Unexpected::Bool(v) => write!(f, "{v}"),
            Unexpected::Unsigned(v) => write!(f, "the integer {v}"),
            Unexpected::Signed(v) => write!(f, "the integer {v}"),
            Unexpected::Float(v) => write!(f, "the number {v:?}"),
            Unexpected::Char(v) => write!(f, "the text {v:?}"),
            Unexpected::Str(v) => write!(f, "the text {:?}", shown(v)),
            Unexpected::Bytes(v) => write!(f, "{} of binary data", counted(v.len(), "byte")),
            Unexpected::Unit | Unexpected::Option => f.write_str("null"),
            Unexpected::Seq => f.write_str("an array"),
            Unexpected::Map => f.write_str("a map"),
            // serde's own words for an integer beyond 64 bits: "integer `1` as i128".
            Unexpected::Other(text) => match text.strip_prefix("integer `") {
                Some(rest) => write!(f, "the integer {}", rest.split('`').next().unwrap_or(rest)),
                None => f.write_str(text),
            },
            other => write!(f, "{other}"),
        }
    }
}
