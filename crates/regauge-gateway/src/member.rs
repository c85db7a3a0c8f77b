//! Members of JSON objects, read the way JSON Schema defines them: a number without a fraction is
//! an integer however it is written (`418.0`), and an optional member may not be null.

use std::fmt;
use std::marker::PhantomData;

#[cfg(any(test, feature = "server"))]
use serde::Deserialize;
use serde::{Deserializer, de};

/// Reads a whole number; `None` for null.
pub(crate) fn whole<'d, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'d>,
    T: TryFrom<u64>,
{
    input.deserialize_any(Whole(PhantomData))
}

/// Reads a value that is not null.
#[cfg(any(test, feature = "server"))]
pub(crate) fn present<'d, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'d>,
    T: Deserialize<'d>,
{
    T::deserialize(input).map(Some)
}

/// Reads an object. The derived implementation would also accept an array of its members.
#[cfg(any(test, feature = "server"))]
pub(crate) fn object<'d, D, T>(input: D) -> Result<T, D::Error>
where
    D: Deserializer<'d>,
    T: Deserialize<'d>,
{
    input.deserialize_map(Object(PhantomData))
}

/// Reads an optional object.
#[cfg(any(test, feature = "server"))]
pub(crate) fn present_object<'d, D, T>(input: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'d>,
    T: Deserialize<'d>,
{
    object(input).map(Some)
}

#[cfg(any(test, feature = "server"))]
struct Object<T>(PhantomData<T>);

#[cfg(any(test, feature = "server"))]
impl<'d, T: Deserialize<'d>> de::Visitor<'d> for Object<T> {
    type Value = T;

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: de::MapAccess<'d>>(self, members: A) -> Result<T, A::Error> {
        T::deserialize(de::value::MapAccessDeserializer::new(members))
    }
}

struct Whole<T>(PhantomData<T>);

impl<T: TryFrom<u64>> de::Visitor<'_> for Whole<T> {
    type Value = Option<T>;

    fn expecting(&self, to: &mut fmt::Formatter) -> fmt::Result {
        write!(to, "a whole number of at most {} bits, or null", 8 * size_of::<T>())
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Option<T>, E> {
        let wrong = || E::invalid_value(de::Unexpected::Unsigned(number), &self);
        T::try_from(number).map(Some).map_err(|_| wrong())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Option<T>, E> {
        // 2^64 is the first number that is too large.
        let whole = number.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&number);
        if !whole {
            return Err(E::invalid_value(de::Unexpected::Float(number), &self));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        self.visit_u64(number as u64)
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Members {
        #[serde(default, deserialize_with = "whole")]
        number: Option<u32>,
        #[serde(default, deserialize_with = "present")]
        text: Option<String>,
        #[serde(default, deserialize_with = "present_object")]
        inner: Option<Inner>,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Inner {
        #[serde(default)]
        one: u8,
    }

    #[test]
    fn a_number_may_be_written_with_a_point_and_a_text_may_not_be_null() {
        let read = |text: &str| serde_json::from_str::<Members>(text);
        let number = |text: &str| read(&format!("{{\"number\": {text}}}")).map(|one| one.number);
        assert_eq!(number("418").unwrap(), Some(418));
        assert_eq!(number("418.0").unwrap(), Some(418));
        assert_eq!(number("4.294967295e9").unwrap(), Some(u32::MAX));
        assert_eq!(number("null").unwrap(), None);
        for wrong in ["-1", "-1.0", "0.5", "4294967296", "4294967296.0", "1e300", "\"1\"", "true"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
        assert_eq!(read("{}").unwrap(), Members { number: None, text: None, inner: None });
        assert_eq!(read("{\"text\": \"a\"}").unwrap().text.as_deref(), Some("a"));
        assert!(read("{\"text\": null}").is_err());
        assert_eq!(read("{\"inner\": {\"one\": 1}}").unwrap().inner, Some(Inner { one: 1 }));
        for wrong in ["null", "[]", "[1]", "1"] {
            assert!(read(&format!("{{\"inner\": {wrong}}}")).is_err(), "{wrong}");
        }
    }
}
