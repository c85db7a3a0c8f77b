//! Plain documents, for the modules that stand in for other libraries: `Regauge::Native::Dialect`.
//!
//! A dialect holds keyword arguments that were parsed once. It reads and writes nothing but plain
//! data, and says with a value, not with an exception, that a document has anything else in it: the
//! other library then starts over, so that a result never differs.

use crate::data::{DataType, Held};
use crate::dump::dump_plain;
use crate::load::load_plain;
use crate::names::names;
use crate::options::{Settings, word};
use crate::plain::Plain;
use crate::ruby::{self, NIL, Raise, VALUE};

/// `Regauge::Native::Dialect`.
pub struct Dialect {
    settings: Settings,
}

impl Held for Dialect {
    const NAME: &'static std::ffi::CStr = c"Regauge::Native::Dialect";
    const SHAREABLE: bool = true;
    fn mark(&self) {
        ruby::mark(self.settings.permit);
        ruby::mark(self.settings.default);
        if let Some(plain) = self.settings.plain {
            ruby::mark(plain.values);
            ruby::mark(plain.hash);
        }
    }
}

static DIALECT: DataType<Dialect> = DataType::new();

/// `Native.dialect(format, plain, keywords)`: `plain` lists what counts as plain besides `nil`,
/// booleans, numbers, text, arrays and hashes (`:symbols`), restricts it (`:bare_text`, `:filled`), or asks for an
/// array of all documents (`:documents`). After the words may come a module that converts other values
/// ([`Plain::values`]) and a class of hashes.
pub fn open(arguments: &[VALUE], _: VALUE) -> Result<VALUE, Raise> {
    let &[format, plain, keywords] = arguments else {
        return Err(ruby::argument_error("dialect takes a format, an array and keywords"));
    };
    let format = crate::convert::format_of(format)?;
    let mut settings = Settings::loading(format, keywords)?;
    let words: Vec<String> = (0..ruby::array_length(plain))
        .filter_map(|index| word(ruby::array_at(plain, index)))
        .collect();
    let other = |index: usize| match words.len() + index {
        place if place < ruby::array_length(plain) => ruby::array_at(plain, place),
        _ => NIL,
    };
    let has = |name: &str| words.iter().any(|word| word == name);
    settings.plain = Some(Plain {
        symbols: has("symbols"),
        bare_text: has("bare_text"),
        filled: has("filled"),
        documents: has("documents"),
        values: other(0),
        hash: other(1),
    });
    Ok(DIALECT.wrap(names().dialect_class, Dialect { settings }))
}

/// `dialect.load(string)`: the object of the single document; the dialect itself if the string is in
/// another encoding, is no document, or has anything but plain data.
pub fn load(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[source] = arguments else {
        return Err(ruby::argument_error("load takes one argument"));
    };
    let settings = &DIALECT.look(receiver)?.settings;
    if !ruby::is_string(source) || ruby::raw_encoding(source).is_none() {
        return Ok(receiver);
    }
    let string = ruby::frozen_string(source);
    let value = load_plain(ruby::bytes_of(string), settings)?;
    ruby::keep(string);
    ruby::keep(receiver);
    Ok(value.unwrap_or(receiver))
}

/// `dialect.dump(object)`: a string; `nil` if anything in the object is not plain data.
pub fn dump(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let &[object] = arguments else {
        return Err(ruby::argument_error("dump takes one argument"));
    };
    let settings = &DIALECT.look(receiver)?.settings;
    let string = dump_plain(object, settings)?;
    ruby::keep(receiver);
    Ok(string.unwrap_or(NIL))
}
