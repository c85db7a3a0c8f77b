//! The store's errors as exceptions.

use regauge_store::{Error, shown};

use crate::errors::{Phase, exception, text};
use crate::names::names;
use crate::ruby::{self, NIL, Raise};

/// Returns the exception for an error: an error in a document is a `DecodeError`, an `EncodeError`
/// or a `LimitError`, everything else a `StoreError`.
#[cold]
pub fn exception_of(error: Error, phase: Phase) -> Raise {
    let names = names();
    let (class, kind, key, passing) = match &error {
        Error::Document { key, error } => return named(exception(error, phase), key),
        Error::Damaged { key, .. } => (names.damaged_error, "damaged", Some(key), false),
        Error::Conflict { key } => (names.conflict_error, "conflict", Some(key), true),
        Error::Engine { passing, .. } => (names.store_error, "engine", None, *passing),
        Error::Usage(_) => (names.store_error, "usage", None, false),
        Error::Stopped => (names.store_error, "stopped", None, true),
        _ => (names.store_error, "engine", None, false),
    };
    let exception = ruby::exception_text(class, "");
    let message = error.to_string();
    // A value sealed for an external column has no key.
    let message = message.strip_prefix("key \"\": ").unwrap_or(&message);
    ruby::set_variable(exception, names.id_value, ruby::text(message));
    ruby::set_variable(exception, names.id_kind, ruby::symbol(kind));
    ruby::set_variable(exception, names.id_key, key.map_or(NIL, |key| ruby::text(key)));
    let passing = if passing { ruby::TRUE } else { ruby::FALSE };
    ruby::set_variable(exception, names.id_passing, passing);
    Raise::Exception(exception)
}

/// Creates a `StoreError` with this message.
pub fn store_error(message: &str) -> Raise {
    exception_of(Error::Usage(message.to_owned()), Phase::Decode)
}

/// Returns the text of an error.
pub fn text_of(error: &Error) -> String {
    match error {
        Error::Document { key, error } => format!("key {key}: {}", text(error, Phase::Decode)),
        other => other.to_string(),
    }
}

/// Returns the exception, naming the key.
pub fn at_key(raise: Raise, key: &[u8]) -> Raise {
    if key.is_empty() { raise } else { named(raise, &shown(key)) }
}

#[cold]
fn named(raise: Raise, key: &str) -> Raise {
    let names = names();
    if let Raise::Exception(exception) = raise
        && ruby::is_a(exception, names.error)
    {
        let message = crate::options::word(ruby::variable(exception, names.id_value));
        let message = format!("key {key}: {}", message.unwrap_or_default());
        ruby::set_variable(exception, names.id_value, ruby::text(&message));
        ruby::set_variable(exception, names.id_key, ruby::text(key));
        ruby::keep(exception);
    }
    raise
}
