//! Turns objects into events.
//!
//! If you change this file: Ruby methods run only in [`Walk::object`], and may change what is being
//! walked; so each element of an array is looked up again, and a hash is checked for changes. A
//! jump is held until everything owned by Rust is dropped. The walk recurses, within the limit on
//! depth.

mod keys;

use regauge::fidelity::LossKind;
use regauge::path::{Path, Step};
use regauge::{
    BigInt, Error, ErrorKind, Ext, Format, Origin, Result, Sink, Timestamp, Type, Value,
};

use crate::names::names;
use crate::options::{Settings, word};
use crate::plain::{Checks, not_plain};
use crate::ruby::{self, Jump, NIL, Text, VALUE};
use keys::{SYMBOL, TEXT};

const T_FLOAT: u32 = 4;
const T_STRING: u32 = 5;
const T_ARRAY: u32 = 7;
const T_HASH: u32 = 8;
const T_BIGNUM: u32 = 10;
const T_SYMBOL: u32 = 20;

/// Arrays of up to this many floats, all immediate, are one event.
const DOUBLES: usize = 8;

/// Returns the floats of an array that holds nothing else, if there are few or none; `None` for any
/// other array.
#[inline(always)]
fn doubles<'b>(values: &[VALUE], buffer: &'b mut [f64; DOUBLES]) -> Option<&'b [f64]> {
    if values.len() > DOUBLES {
        return None;
    }
    for (place, value) in buffer.iter_mut().zip(values) {
        if value & 3 != 2 {
            return None;
        }
        *place = ruby::float_value(*value);
    }
    Some(&buffer[..values.len()])
}

/// Emits the events of objects to a sink.
pub struct Walk<'a, S: ?Sized> {
    sink: &'a mut S,
    settings: &'a Settings,
    /// A non-local exit from a Ruby method.
    pub jump: Option<Jump>,
    /// How often Ruby code may have run.
    runs: u64,
    /// The steps to the value that failed, innermost first.
    steps: Vec<Step>,
    checks: Checks,
    /// Which kinds of keys the innermost hash has had: [`TEXT`] and [`SYMBOL`].
    kinds: u8,
}

impl<'a, S: Sink + ?Sized> Walk<'a, S> {
    /// Creates a walk with these settings.
    pub fn new(sink: &'a mut S, settings: &'a Settings) -> Walk<'a, S> {
        let checks = Checks::new(settings);
        Walk { sink, settings, jump: None, runs: 0, steps: Vec::new(), checks, kinds: 0 }
    }

    /// Walks one document.
    ///
    /// # Errors
    /// The sink's, with the path; a meaningless one if there is a [`jump`](Walk::jump).
    pub fn document(&mut self, value: VALUE) -> Result {
        let walked = self.value(value, self.settings.core.limits.depth);
        walked.and_then(|()| self.checks.finish()).map_err(|error| {
            self.steps.reverse();
            error.at_path(Path(std::mem::take(&mut self.steps)))
        })
    }

    #[inline]
    fn value(&mut self, value: VALUE, depth: u32) -> Result {
        if let Some(v) = ruby::small_integer(value) {
            return self.sink.i64(v);
        }
        if value & 3 == 2 {
            return self.float(value);
        }
        if !ruby::is_heap(value) {
            return match value {
                NIL if self.checks.is_bare() => Err(not_plain()),
                NIL => self.sink.null(),
                ruby::TRUE => self.sink.bool(true),
                ruby::FALSE => self.sink.bool(false),
                symbol => self.symbol(symbol),
            };
        }
        let kind = ruby::heap_kind(value);
        if let Err(error) = self.checks.value(value, kind) {
            return self.lowered(value, depth, error);
        }
        if !ruby::is_of_core_class(value, kind) && matches!(kind, T_STRING | T_ARRAY | T_HASH) {
            return self.of_subclass(value, kind, depth);
        }
        self.heaped(value, kind, depth)
    }

    /// Walks a value as its built-in type says.
    #[inline(always)]
    fn heaped(&mut self, value: VALUE, kind: u32, depth: u32) -> Result {
        match kind {
            T_STRING => self.string(value),
            T_ARRAY => self.array(value, depth),
            T_HASH => self.hash(value, depth),
            T_FLOAT => self.float(value),
            T_BIGNUM => self.big_integer(value),
            T_SYMBOL => self.symbol(value),
            _ => self.object(value, depth),
        }
    }

    /// Walks a string, an array or a hash whose class is not Ruby's own: it may be registered, or have
    /// a method of its own for this.
    #[inline(never)]
    fn of_subclass(&mut self, value: VALUE, kind: u32, depth: u32) -> Result {
        if self.settings.plain.is_some() || ruby::class_of(value) == ruby::core_class(kind) {
            return self.heaped(value, kind, depth);
        }
        self.runs += 1;
        let names = names();
        let arguments = [value, ruby::symbol(self.settings.core.to.name())];
        let own = match ruby::call(names.simplify_module, names.id_own, &arguments) {
            Ok(own) => own,
            Err(jump) => return self.jumped(jump),
        };
        if own == names.simplify_module || own == value {
            return self.heaped(value, kind, depth);
        }
        let depth = self.deeper(depth)?;
        let result = self.value(own, depth);
        ruby::keep(own);
        result
    }

    #[inline(always)]
    fn float(&mut self, float: VALUE) -> Result {
        let value = ruby::float_value(float);
        self.checks.float(value)?;
        self.sink.f64(value)
    }

    #[inline]
    fn string(&mut self, string: VALUE) -> Result {
        match ruby::text_kind(string) {
            Text::Utf8 => match ruby::short_of(string) {
                Some(text) => self.sink.short_str(text),
                None => self.sink.str(ruby::utf8_of(string)),
            },
            _ if self.checks.takes_text_only() => Err(not_plain()),
            Text::Binary => self.sink.bytes(ruby::bytes_of(string)),
            Text::Broken => self.sink.ext(Ext::BrokenText(ruby::bytes_of(string))),
            Text::Other => {
                let utf8 = self.transcoded(string)?;
                let result = self.sink.str(ruby::utf8_of(utf8));
                ruby::keep(utf8);
                result
            }
        }
    }

    #[cold]
    fn transcoded(&mut self, string: VALUE) -> Result<VALUE> {
        // An encoding may have to be loaded.
        self.runs += 1;
        match ruby::to_utf8(string) {
            Ok(utf8) if ruby::text_kind(utf8) == Text::Utf8 => Ok(utf8),
            Ok(_) => Err(not_utf8(string)),
            Err(jump) => {
                ruby::rescue(jump);
                Err(not_utf8(string))
            }
        }
    }

    fn symbol(&mut self, symbol: VALUE) -> Result {
        self.checks.symbol()?;
        let text = ruby::symbol_text(symbol);
        if self.settings.symbols && ruby::text_kind(text) == Text::Utf8 {
            return self.sink.ext(Ext::Symbol(ruby::utf8_of(text)));
        }
        if self.settings.plain.is_some() && ruby::text_kind(text) != Text::Utf8 {
            return Err(not_plain());
        }
        self.string(text)
    }

    fn big_integer(&mut self, value: VALUE) -> Result {
        let (negative, magnitude) = ruby::big_parts(value);
        if let Some(bytes) = magnitude.first_chunk::<8>().filter(|_| magnitude.len() == 8) {
            let v = u64::from_le_bytes(*bytes);
            match (negative, i64::try_from(v)) {
                (false, Ok(v)) => return self.sink.i64(v),
                (false, Err(_)) => return self.sink.u64(v),
                (true, _) if v <= 1 << 63 => return self.sink.i64((v as i64).wrapping_neg()),
                (true, _) => {}
            }
        }
        self.sink.big_int(BigInt::Binary { negative, magnitude: &magnitude })
    }

    fn deeper(&self, depth: u32) -> Result<u32> {
        depth.checked_sub(1).ok_or_else(|| {
            let most = self.settings.core.limits.depth;
            Error::limit(format!(
                "found values nested more than {most} deep, the limit of depth: perhaps one that \
                 contains itself"
            ))
            .hint_depth(most)
        })
    }

    fn array(&mut self, array: VALUE, depth: u32) -> Result {
        let depth = self.deeper(depth)?;
        let length = ruby::array_length(array);
        self.checks.enter(array, length == 0)?;
        let mut buffer = [0.0; DOUBLES];
        if let Some(values) = doubles(ruby::array_values(array), &mut buffer)
            && self.checks.floats(values)
        {
            return self.sink.f64_array(values);
        }
        self.sink.begin_array(Some(length as u64))?;
        for index in 0..length {
            let Some(value) = ruby::array_get(array, index) else { return Err(changed()) };
            // An array of coordinates, handled without recursing into it.
            let inner = if depth > 0
                && ruby::is_heap(value)
                && ruby::heap_kind(value) == T_ARRAY
                && ruby::is_of_core_class(value, T_ARRAY)
                && self.settings.plain.is_none()
            {
                doubles(ruby::array_values(value), &mut buffer)
            } else {
                None
            };
            let result = match inner {
                Some(values) => self.sink.f64_array(values),
                None => self.value(value, depth),
            };
            if let Err(error) = result {
                self.steps.push(Step::Index(index as u64));
                return Err(error);
            }
        }
        if ruby::array_length(array) != length {
            return Err(changed());
        }
        self.sink.end_array()
    }

    fn hash(&mut self, hash: VALUE, depth: u32) -> Result {
        let depth = self.deeper(depth)?;
        self.checks.enter(hash, ruby::hash_size(hash) == 0)?;
        let Some(mut pairs) = ruby::Pairs::of(hash) else { return self.asked_hash(hash, depth) };
        self.sink.begin_map(Some(pairs.count() as u64))?;
        let (runs, outer) = (self.runs, std::mem::take(&mut self.kinds));
        while let Some((key, value)) = pairs.next_after(self.runs != runs) {
            if let Err(error) = self.key(key, depth).and_then(|()| self.value(value, depth)) {
                return Err(self.failed_under(error, key));
            }
        }
        if !pairs.are_whole_after(self.runs != runs) {
            return Err(changed());
        }
        self.end_keys(hash, outer)?;
        self.sink.end_map()
    }

    /// Refuses a symbol as a key beside the same text; the hash around has had the keys `outer`.
    #[inline(always)]
    fn end_keys(&mut self, hash: VALUE, outer: u8) -> Result {
        let kinds = std::mem::replace(&mut self.kinds, outer);
        match kinds == TEXT | SYMBOL && self.settings.plain.is_none() {
            true => keys::check(hash),
            false => Ok(()),
        }
    }

    /// Walks a hash whose pairs only Ruby can enumerate.
    #[inline(never)]
    fn asked_hash(&mut self, hash: VALUE, depth: u32) -> Result {
        let count = ruby::hash_size(hash);
        self.sink.begin_map(Some(count as u64))?;
        let (mut result, mut found) = (Ok(()), 0);
        let outer = std::mem::take(&mut self.kinds);
        ruby::each_pair(hash, |key, value| {
            found += 1;
            if let Err(error) = self.key(key, depth).and_then(|()| self.value(value, depth)) {
                result = Err(self.failed_under(error, key));
            }
            result.is_ok()
        });
        result?;
        if found != count {
            return Err(changed());
        }
        self.end_keys(hash, outer)?;
        self.sink.end_map()
    }

    #[cold]
    fn failed_under(&mut self, error: Error, key: VALUE) -> Error {
        self.steps.push(Step::Key(word(key).unwrap_or_default().into()));
        error
    }

    #[inline(always)]
    fn key(&mut self, key: VALUE, depth: u32) -> Result {
        let mut text = key;
        if !ruby::is_heap(key) {
            if key & 0xFF != 0x0C {
                return self.rare_key(key, depth);
            }
            text = ruby::symbol_text(key);
        } else if ruby::heap_kind(key) == T_SYMBOL {
            text = ruby::symbol_text(key);
        } else if ruby::heap_kind(key) != T_STRING {
            return self.rare_key(key, depth);
        }
        if text != key && self.settings.symbols {
            return self.rare_key(key, depth);
        }
        self.kinds |= if text == key { TEXT } else { SYMBOL };
        self.checks.key(key, text)?;
        match ruby::text_kind(text) {
            Text::Utf8 => match ruby::short_of(text) {
                Some(text) => self.sink.short_key(text),
                None => self.sink.key(ruby::utf8_of(text)),
            },
            // The other libraries differ in what becomes of it.
            _ if text != key && self.settings.plain.is_some() => Err(not_plain()),
            _ => self.rare_key(text, depth),
        }
    }

    /// Handles a key that is not text: it is small, so it is buffered.
    #[cold]
    fn rare_key(&mut self, key: VALUE, depth: u32) -> Result {
        if self.checks.takes_text_only() {
            return Err(not_plain());
        }
        let mut builder = regauge::tree::Builder::new(&self.settings.core.limits);
        let mut walk = Walk::new(&mut builder, self.settings);
        let result = walk.value(key, depth);
        self.jump = walk.jump;
        self.runs += walk.runs;
        result?;
        match builder.take() {
            Some(Value::Text(text)) => self.sink.key(&text),
            Some(value) => {
                value.check_key()?;
                self.sink.key_value(&value)
            }
            None => Err(changed()),
        }
    }

    #[cold]
    fn jumped<T>(&mut self, jump: Jump) -> Result<T> {
        self.jump = Some(jump);
        Err(Error::new(ErrorKind::Io, "a method raised an exception"))
    }

    /// Writes what a dialect makes of an object that is not plain data.
    #[cold]
    fn lowered(&mut self, object: VALUE, depth: u32, error: Error) -> Result {
        let Some(plain) = self.settings.plain.filter(|plain| plain.converts()) else {
            return Err(error);
        };
        self.runs += 1;
        let lowered = match ruby::call(plain.values, names().id_lower, &[object]) {
            Ok(lowered) => lowered,
            Err(jump) => return self.jumped(jump),
        };
        if lowered == plain.values {
            return Err(error);
        }
        let result = self.object(lowered, depth);
        ruby::keep(lowered);
        result
    }

    /// Handles everything that is not plain data: times, the Ruby side's representation of a value
    /// that only some formats have, and anything it turns into plain data.
    #[inline(never)]
    fn object(&mut self, object: VALUE, depth: u32) -> Result {
        self.runs += 1;
        let names = names();
        let class = ruby::class_of(object);
        if class == names.special {
            return self.special(object);
        }
        if class == names.typed {
            return self.typed(object, depth);
        }
        if ruby::is_a(object, names.time) {
            return self.time(object);
        }
        let format = ruby::symbol(self.settings.core.to.name());
        let to_h = if self.settings.to_h { ruby::TRUE } else { ruby::FALSE };
        let arguments = [object, format, to_h, self.settings.default];
        let simple = match ruby::call(names.simplify_module, names.id_simplify, &arguments) {
            Ok(simple) => simple,
            Err(jump) => return self.jumped(jump),
        };
        if simple == ruby::UNDEF || simple == names.simplify_module {
            let name = word(ruby::module_name(class)).unwrap_or_else(|| "no name".to_owned());
            return Err(Error::new(
                ErrorKind::Refused,
                format!(
                    "found an object of the class {name}, which has no representation in {}",
                    { self.settings.core.to.title() }
                ),
            )
            .hint(
                "register the class with Regauge.register, give it a method to_regauge, or pass \
                 default: or to_h: true",
            ));
        }
        let depth = self.deeper(depth)?;
        let result = self.value(simple, depth);
        ruby::keep(simple);
        result
    }

    /// Writes a time as a point in time if the format has nothing else, and otherwise with its
    /// offset.
    fn time(&mut self, time: VALUE) -> Result {
        let names = names();
        let offset = match ruby::call(time, names.id_utc_offset, &[]) {
            Ok(offset) => ruby::small_integer(offset).unwrap_or(0),
            Err(jump) => return self.jumped(jump),
        };
        let (seconds, nanoseconds) = match ruby::time_parts(time) {
            Ok(parts) => parts,
            Err(jump) => return self.jumped(jump),
        };
        let at = Timestamp { seconds, nanoseconds };
        let points = matches!(self.settings.core.to, Format::Msgpack | Format::Bson);
        if offset != 0
            && !points
            && let Some(text) = with_offset(at, offset)
        {
            return self.sink.ext(Ext::OffsetDateTime(&text));
        }
        self.sink.ext(Ext::Timestamp(at))
    }

    /// Handles a typed value: `Regauge::Typed`.
    fn typed(&mut self, object: VALUE, depth: u32) -> Result {
        let names = names();
        let text = |name| word(ruby::variable(object, name)).unwrap_or_default();
        let (origin, kind, name) =
            (text(names.id_origin), text(names.id_kind), text(names.id_name));
        let Some(origin) = Origin::ALL.into_iter().find(|known| known.name() == origin) else {
            return Err(Error::new(
                ErrorKind::Unrepresentable,
                format!("found a type of the origin {origin:?}, expected ruby, python, yaml, …"),
            ));
        };
        let depth = self.deeper(depth)?;
        self.sink.begin_typed(&Type { origin, kind: &kind, name: &name })?;
        self.value(ruby::variable(object, names.id_value), depth)?;
        self.sink.end_typed()
    }

    /// Handles a value that only some formats have: `Regauge::Special`.
    fn special(&mut self, object: VALUE) -> Result {
        let names = names();
        let kind = word(ruby::variable(object, names.id_kind)).unwrap_or_default();
        let arguments = ruby::variable(object, names.id_arguments);
        if ruby::kind_of(arguments) != rb_sys::ruby_value_type::RUBY_T_ARRAY {
            return Err(changed());
        }
        let at = |index| ruby::array_get(arguments, index).unwrap_or(NIL);
        let bytes = |index| match ruby::kind_of(at(index)) {
            rb_sys::ruby_value_type::RUBY_T_STRING => ruby::bytes_of(at(index)).to_vec(),
            _ => Vec::new(),
        };
        let text = |index| String::from_utf8_lossy(&bytes(index)).into_owned();
        let number = |index| ruby::small_integer(at(index)).unwrap_or(0);
        let fixed = |index| bytes(index);
        let wrong = || {
            Error::new(
                ErrorKind::Unrepresentable,
                format!("found a Regauge::Special of the kind {kind} with other arguments"),
            )
        };
        let result = match kind.as_str() {
            "decimal" if regauge::json::is_number(&text(0)) => {
                self.sink.ext(Ext::Decimal(&text(0)))
            }
            "msgpack" => {
                let kind = i8::try_from(number(0)).map_err(|_| wrong())?;
                self.sink.ext(Ext::MsgpackExt(kind, &bytes(1)))
            }
            "date" => self.sink.ext(Ext::Date(&text(0))),
            "local_time" => self.sink.ext(Ext::Time(&text(0))),
            "local_date_time" => self.sink.ext(Ext::DateTime(&text(0))),
            "offset_date_time" => self.sink.ext(Ext::OffsetDateTime(&text(0))),
            "duration" => self.sink.ext(Ext::Duration {
                seconds: number(0),
                nanoseconds: u32::try_from(number(1)).map_err(|_| wrong())?,
            }),
            "decimal128" => {
                self.sink.ext(Ext::Decimal128(fixed(1).try_into().map_err(|_| wrong())?))
            }
            "object_id" => self.sink.ext(Ext::ObjectId(fixed(0).try_into().map_err(|_| wrong())?)),
            "uuid" => self.sink.ext(Ext::Uuid(fixed(0).try_into().map_err(|_| wrong())?)),
            "binary" => {
                let subtype = u8::try_from(number(0)).map_err(|_| wrong())?;
                self.sink.ext(Ext::Binary(subtype, &bytes(1)))
            }
            "regex" => self.sink.ext(Ext::Regex { pattern: &text(0), options: &text(1) }),
            "timestamp" => {
                let seconds = u32::try_from(number(0)).map_err(|_| wrong())?;
                let increment = u32::try_from(number(1)).map_err(|_| wrong())?;
                self.sink.ext(Ext::BsonTimestamp { seconds, increment })
            }
            "min_key" => self.sink.ext(Ext::MinKey),
            "max_key" => self.sink.ext(Ext::MaxKey),
            "undefined" => self.sink.ext(Ext::Undefined),
            "code" => self.sink.ext(Ext::Code(&text(0))),
            "db_pointer" => {
                let id = fixed(1).try_into().map_err(|_| wrong())?;
                self.sink.ext(Ext::DbPointer { namespace: &text(0), id })
            }
            "simple" => self.sink.ext(Ext::Simple(u8::try_from(number(0)).map_err(|_| wrong())?)),
            "complex" => {
                let part = |index| match ruby::kind_of(at(index)) {
                    rb_sys::ruby_value_type::RUBY_T_FLOAT => Ok(ruby::float_value(at(index))),
                    _ => Err(wrong()),
                };
                self.sink.ext(Ext::Complex(part(0)?, part(1)?))
            }
            // A value with its nearest equivalent, counted as lost: `[kind, value]`.
            "nearest" => {
                self.sink.fidelity().note(LossKind::Special, text(0), "the nearest value");
                self.value(at(1), 8)
            }
            _ => Err(wrong()),
        };
        ruby::keep(arguments);
        result
    }
}

#[cold]
fn changed() -> Error {
    Error::new(
        ErrorKind::Unrepresentable,
        "found a value that a method changed while it was being read",
    )
}

#[cold]
fn not_utf8(string: VALUE) -> Error {
    Error::new(
        ErrorKind::Refused,
        format!(
            "found text in the encoding {} that has no UTF-8 equivalent",
            ruby::encoding_name(string).to_string_lossy()
        ),
    )
}

/// Formats a time with its offset, as in RFC 3339; `None` for years without four digits.
fn with_offset(at: Timestamp, offset: i64) -> Option<String> {
    let seconds = at.seconds.checked_add(offset)?;
    let mut text = regauge::time::rfc3339(Timestamp { seconds, ..at })?;
    text.pop();
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.unsigned_abs() / 60;
    text.push_str(&format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60));
    if offset % 60 != 0 {
        text.push_str(&format!(":{:02}", offset.unsigned_abs() % 60));
    }
    Some(text)
}
