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
use crate::plain::{Plain, Refuses, Symbols};
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
/// booleans, numbers, text, arrays and hashes (`:symbols`, `:symbols_without_to_json`), restricts it (`:bare_text`,
/// `:filled`, `:no_minus_zero`), names documents that are refused (see [`Refuses`]: `:no_marks` and so
/// on), or asks for an array of all documents (`:documents`). After the words may come a module that converts
/// other values ([`Plain::values`]) and a class of hashes.
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
    if other(1) != NIL && !ruby::is_plain_hash_class(other(1)) {
        return Err(ruby::type_error("dialect takes a class of hashes with Hash's allocator"));
    }
    let symbols = match (has("symbols"), has("symbols_without_to_json")) {
        (true, _) => Symbols::Yes,
        (_, true) => Symbols::WithoutToJson,
        _ => Symbols::No,
    };
    settings.plain = Some(Plain {
        symbols,
        bare_text: has("bare_text"),
        filled: has("filled"),
        no_minus_zero: has("no_minus_zero"),
        documents: has("documents"),
        refuses: Refuses {
            marks: has("no_marks"),
            encodings: has("no_encodings"),
            dbrefs: has("no_dbrefs"),
            differences: has("no_differences"),
        },
        values: other(0),
        hash: other(1),
    });
    Ok(DIALECT.wrap(names().dialect_class, Dialect { settings }))
}

/// `dialect.load(string, head = nil)`: the object of the single document; the dialect itself if the string
/// is in another encoding, is no document, or has anything but plain data; also for anything but a string. The
/// head is an integer of 32 bits, little-endian, which precedes the string: the length of a document of BSON.
pub fn load(arguments: &[VALUE], receiver: VALUE) -> Result<VALUE, Raise> {
    let (source, head) = match *arguments {
        [source] => (source, NIL),
        [source, head] => (source, head),
        _ => return Err(ruby::argument_error("load takes a string and perhaps its head")),
    };
    let settings = &DIALECT.look(receiver)?.settings;
    if !ruby::is_string(source) {
        return Ok(receiver);
    }
    let Some(encoding) = ruby::raw_encoding(source) else { return Ok(receiver) };
    let head = ruby::small_integer(head).map(|head| (head as u32).to_le_bytes());
    let whole = head.map(|head| [&head, ruby::bytes_of(source)].concat());
    let string = if whole.is_some() { source } else { ruby::frozen_string(source) };
    let bytes = whole.as_deref().unwrap_or_else(|| ruby::bytes_of(string));
    if settings.plain.is_some_and(|plain| plain.refuses.takes(bytes, encoding)) {
        return Ok(receiver);
    }
    let value = load_plain(bytes, settings)?;
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
