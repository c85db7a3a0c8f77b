//! Encodes objects as Marshal, with exactly the bytes of Ruby's own.
//!
//! This handles what most documents consist of: plain data, objects with instance variables,
//! structs, all with the links and symbol links that `marshal.c` writes. Anything else (a class
//! with a `_dump`, a string in another encoding, a singleton, an object of a C extension) ends the
//! attempt, and Ruby writes the whole document itself: so the bytes are Ruby's in every case.
//!
//! If you change this file: nothing here may run a Ruby method or create an object while it writes,
//! because objects are identified by their addresses, which a collection could change. Everything
//! that Ruby counts as an object must call `remember`, in Ruby's order.

mod objects;
mod symbols;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use regauge::marshal::types::{
    ARRAY, BIGNUM, FALSE, FIXNUM, FLOAT, HASH, HASH_DEFAULT, IVARS, LINK, NIL, STRING, SYMBOL,
    SYMLINK, TRUE, long_bytes,
};

use crate::names::names;
use crate::numbers::{Addresses, Numbers};
use crate::ruby::{self, Jump, Text, VALUE};
use crate::scratch;

use self::symbols::Symbols;

const T_OBJECT: u32 = 1;
const T_FLOAT: u32 = 4;
const T_STRING: u32 = 5;
const T_ARRAY: u32 = 7;
const T_HASH: u32 = 8;
const T_STRUCT: u32 = 9;
const T_BIGNUM: u32 = 10;
const T_SYMBOL: u32 = 20;

/// Ruby itself allows deeper nesting.
const DEPTH: u32 = 500;

/// Unsupported here: Ruby has to write it.
#[derive(Debug)]
pub struct Unusual;

type Written = Result<(), Unusual>;

/// Encodes an object as a binary string, with the same bytes as Ruby's own.
///
/// # Errors
/// Whatever Ruby's own raises, and what methods raise.
pub fn dump(object: VALUE) -> Result<VALUE, Jump> {
    let scratch = scratch::take();
    let mut dumper = scratch.dumper.take().unwrap_or_else(|| Box::new(Dumper::new()));
    let string = dumper.document(object).map(ruby::binary);
    let jump = dumper.jump;
    scratch.dumper.set(Some(dumper));
    drop(scratch);
    match (string, jump) {
        (_, Some(jump)) => Err(jump),
        (Ok(string), None) => Ok(string),
        (Err(Unusual), None) => {
            let names = names();
            ruby::call(names.ruby_marshal, names.id_own_dump, &[object])
        }
    }
}

/// Whether an integer between 31 and 63 bits always counts as a new object.
static WORDS_ARE_OBJECTS: AtomicBool = AtomicBool::new(false);

/// Determines how this Ruby counts integers between 31 and 63 bits.
///
/// # Errors
/// Whatever Ruby raises.
pub fn learn_words() -> Result<(), Jump> {
    let names = names();
    let (word, text) = (ruby::integer(1 << 40), ruby::binary(b"s"));
    let list = ruby::array(&[word, word, text, text]);
    let dumped = ruby::call(names.ruby_marshal, names.id_own_dump, &[list])?;
    let expected = b"\x04\x08[\x09l+\x08\0\0\0\0\0\x01l+\x08\0\0\0\0\0\x01\"\x06s@\x08";
    WORDS_ARE_OBJECTS.store(ruby::bytes_of(dumped) == expected, Relaxed);
    ruby::keep(dumped);
    ruby::keep(list);
    Ok(())
}

/// Writes consecutive documents.
pub struct Dumper {
    out: Vec<u8>,
    /// The numbers of objects by their address, and those of immediate floats by their bits.
    objects: Addresses,
    floats: Numbers,
    /// The number of the next object.
    next: u32,
    symbols: Symbols,
    /// The numbers of symbols by the ID of an instance variable, or by the address of a class.
    names: Numbers,
    /// Classes known to have no custom serialisation.
    plain: Vec<VALUE>,
    /// Classes that were found under their name, with the name: looking one up is half the cost of
    /// a small document. A name counts only as long as it is still the class's name.
    found: Vec<(VALUE, Box<[u8]>)>,
    /// The number of the symbol `E`; `None` before it was written.
    encoding: Option<u32>,
    /// The remaining depth.
    depth: u32,
    /// An interrupt that arrived meanwhile.
    pub jump: Option<Jump>,
}

impl Dumper {
    /// Creates a writer.
    pub fn new() -> Dumper {
        Dumper {
            out: Vec::new(),
            objects: Addresses::new(),
            floats: Numbers::new(),
            next: 0,
            symbols: Symbols::new(),
            names: Numbers::new(),
            plain: Vec::new(),
            found: Vec::new(),
            encoding: None,
            depth: DEPTH,
            jump: None,
        }
    }

    /// Returns the bytes of a document, which are valid until the next one.
    ///
    /// # Errors
    /// [`Unusual`] if Ruby has to write it.
    pub fn document(&mut self, value: VALUE) -> Result<&[u8], Unusual> {
        const KEPT: usize = 4 << 20;
        self.out.clear();
        self.out.shrink_to(KEPT);
        self.objects.clear();
        self.floats.clear();
        self.next = 0;
        self.symbols.clear();
        self.names.clear();
        self.plain.clear();
        self.encoding = None;
        self.depth = DEPTH;
        self.jump = None;
        self.out.extend_from_slice(&[4, 8]);
        self.value(value)?;
        Ok(&self.out)
    }

    #[inline(always)]
    fn long(&mut self, v: i64) -> Written {
        if (1..=122).contains(&v) {
            self.out.push(v as u8 + 5);
            return Ok(());
        }
        let v = i32::try_from(v).map_err(|_| Unusual)?;
        let (bytes, count) = long_bytes(v);
        self.out.extend_from_slice(&bytes[..count]);
        Ok(())
    }

    #[inline(always)]
    fn sized(&mut self, bytes: &[u8]) -> Written {
        self.long(bytes.len() as i64)?;
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    /// Gives an object its number; returns `true` if it already had one and a link was written.
    #[inline(always)]
    fn remember(&mut self, object: VALUE) -> Result<bool, Unusual> {
        let known = match ruby::is_heap(object) {
            true => self.objects.find_or_add(object, self.next),
            false => self.floats.find_or_add(object, self.next),
        };
        match known {
            None => {
                self.next += 1;
                Ok(false)
            }
            Some(number) => {
                self.out.push(LINK);
                self.long(number.into())?;
                Ok(true)
            }
        }
    }

    #[inline]
    fn value(&mut self, value: VALUE) -> Written {
        if let Some(v) = ruby::small_integer(value) {
            return self.integer(v);
        }
        if value & 3 == 2 {
            if !self.remember(value)? {
                self.float(ruby::float_value(value))?;
            }
            return Ok(());
        }
        if !ruby::is_heap(value) {
            match value {
                ruby::NIL => self.out.push(NIL),
                ruby::TRUE => self.out.push(TRUE),
                ruby::FALSE => self.out.push(FALSE),
                symbol => return self.symbol_value(symbol),
            }
            return Ok(());
        }
        let kind = ruby::heap_kind(value);
        if kind == T_SYMBOL {
            return self.symbol_value(value);
        }
        // An object gets its number before it is known whether it can be written here; if it
        // cannot, all of this is discarded.
        if self.remember(value)? {
            return Ok(());
        }
        self.is_plain(value)?;
        match kind {
            T_STRING => self.string(value),
            T_ARRAY => self.array(value),
            T_HASH => self.hash(value),
            T_FLOAT => self.float(ruby::float_value(value)),
            T_BIGNUM => {
                let (negative, magnitude) = ruby::big_parts(value);
                self.big_integer(negative, &magnitude)
            }
            T_OBJECT => self.object(value),
            T_STRUCT => self.structure(value),
            _ => Err(Unusual),
        }
    }

    #[inline]
    fn integer(&mut self, v: i64) -> Written {
        if (-(1 << 30)..1 << 30).contains(&v) {
            self.out.push(FIXNUM);
            return self.long(v);
        }
        self.word(v)
    }

    /// Writes an integer that Ruby writes as a bignum though it is not one: a new object each time,
    /// in the Rubies that [`learn_words`] detects.
    #[cold]
    fn word(&mut self, v: i64) -> Written {
        if !WORDS_ARE_OBJECTS.load(Relaxed) {
            return Err(Unusual);
        }
        self.next += 1;
        let bytes = v.unsigned_abs().to_le_bytes();
        let length = 8 - v.unsigned_abs().leading_zeros() as usize / 8;
        self.big_integer(v < 0, &bytes[..length])
    }

    #[inline(never)]
    fn float(&mut self, v: f64) -> Written {
        let mut buffer = [0; regauge::marshal::FLOAT_BYTES];
        let text = regauge::marshal::float_text(v, &mut buffer);
        self.out.push(FLOAT);
        self.sized(text)
    }

    fn big_integer(&mut self, negative: bool, magnitude: &[u8]) -> Written {
        self.out.push(BIGNUM);
        self.out.push(if negative { b'-' } else { b'+' });
        self.long(magnitude.len().div_ceil(2) as i64)?;
        self.out.extend_from_slice(magnitude);
        if magnitude.len() % 2 == 1 {
            self.out.push(0);
        }
        Ok(())
    }

    /// Checks that the object's class has no custom serialisation, and that nothing is attached to
    /// this object.
    #[inline]
    fn is_plain(&mut self, object: VALUE) -> Written {
        let class = ruby::heap_class(object);
        if self.plain.last() == Some(&class) || self.plain.contains(&class) {
            return Ok(());
        }
        self.learn(class, object)
    }

    #[cold]
    #[inline(never)]
    fn learn(&mut self, class: VALUE, object: VALUE) -> Written {
        let names = names();
        let kind = ruby::heap_kind(object);
        let core = match kind {
            T_STRING | T_ARRAY | T_HASH | T_FLOAT | T_BIGNUM => ruby::core_class(kind),
            T_OBJECT | T_STRUCT => class,
            _ => return Err(Unusual),
        };
        if class != core || ruby::class_of(object) != class {
            return Err(Unusual);
        }
        // Core classes do not get a custom serialisation while a program runs, so they are checked
        // once.
        static CORE: [AtomicBool; 16] = [const { AtomicBool::new(false) }; 16];
        let is_core = !matches!(kind, T_OBJECT | T_STRUCT);
        if is_core && CORE[kind as usize].load(Relaxed) {
            self.plain.push(class);
            return Ok(());
        }
        if class == names.object {
            self.plain.push(class);
            return Ok(());
        }
        let plain = !ruby::has_method(object, names.id_marshal_dump)
            && !ruby::has_method(object, names.id_dump)
            && (kind != T_STRUCT || ruby::is_a(object, ruby::struct_class()))
            && (kind != T_OBJECT || ruby::PlainClass::of(class).is_some());
        if !plain {
            return Err(Unusual);
        }
        if is_core {
            CORE[kind as usize].store(true, Relaxed);
        }
        self.plain.push(class);
        Ok(())
    }

    #[inline]
    fn string(&mut self, string: VALUE) -> Written {
        if ruby::has_extra_variables(string) {
            return Err(Unusual);
        }
        self.string_body(string)
    }

    fn string_body(&mut self, string: VALUE) -> Written {
        let utf8 = match ruby::raw_encoding(string) {
            Some(Text::Utf8) => TRUE,
            Some(Text::Other) => FALSE,
            Some(Text::Binary) => {
                self.out.push(STRING);
                return self.sized(ruby::bytes_of(string));
            }
            _ => return Err(Unusual),
        };
        let bytes = ruby::bytes_of(string);
        self.out.reserve(bytes.len() + 16);
        self.out.extend_from_slice(&[IVARS, STRING]);
        self.sized(bytes)?;
        self.out.push(6);
        self.encoding_symbol()?;
        self.out.push(utf8);
        Ok(())
    }

    #[inline(always)]
    fn encoding_symbol(&mut self) -> Written {
        match self.encoding {
            Some(number) => {
                self.out.push(SYMLINK);
                self.long(number.into())
            }
            None => {
                self.encoding = Some(self.symbol(b"E")?);
                Ok(())
            }
        }
    }

    fn symbol_value(&mut self, symbol: VALUE) -> Written {
        let text = ruby::symbol_text(symbol);
        if !ruby::is_ascii(text) {
            return Err(Unusual);
        }
        self.symbol(ruby::bytes_of(text)).map(drop)
    }

    /// Writes a symbol, or a link to it. Returns its number.
    fn symbol(&mut self, text: &[u8]) -> Result<u32, Unusual> {
        let hash = Symbols::hash(text);
        if let Some(number) = self.symbols.get(&self.out, text, hash) {
            self.symbol_link(number)?;
            return Ok(number);
        }
        let number = self.symbols.entries.len() as u32;
        self.out.push(SYMBOL);
        self.sized(text)?;
        self.symbols.add(self.out.len() - text.len(), text.len(), hash)?;
        Ok(number)
    }

    #[inline]
    fn symbol_link(&mut self, number: u32) -> Written {
        self.out.push(SYMLINK);
        self.long(number.into())
    }

    /// Writes the name of an instance variable or member.
    #[inline]
    fn name(&mut self, id: ruby::ID) -> Written {
        if let Some(number) = self.names.get(id) {
            return self.symbol_link(number);
        }
        let text = ruby::name_of(id);
        // Without a text it is an internal variable of the interpreter; and some have a special
        // meaning.
        if !ruby::is_heap(text) || !ruby::is_ascii(text) {
            return Err(Unusual);
        }
        let bytes = ruby::bytes_of(text);
        if matches!(bytes, b"E" | b"K" | b"encoding") {
            return Err(Unusual);
        }
        let number = self.symbol(bytes)?;
        self.names.find_or_add(id, number);
        Ok(())
    }

    fn deeper<R>(
        &mut self,
        act: impl FnOnce(&mut Dumper) -> Result<R, Unusual>,
    ) -> Result<R, Unusual> {
        self.depth = self.depth.checked_sub(1).ok_or(Unusual)?;
        let result = act(self);
        self.depth += 1;
        result
    }

    fn array(&mut self, array: VALUE) -> Written {
        if ruby::has_extra_variables(array) {
            return Err(Unusual);
        }
        self.deeper(|dumper| {
            let length = ruby::array_length(array);
            dumper.out.push(ARRAY);
            dumper.long(length as i64)?;
            for index in 0..length {
                dumper.value(ruby::array_get(array, index).ok_or(Unusual)?)?;
            }
            Ok(())
        })
    }

    fn hash(&mut self, hash: VALUE) -> Written {
        match ruby::is_unusual_hash(hash) {
            Ok(unusual) if !unusual && !ruby::has_extra_variables(hash) => {}
            Ok(_) => return Err(Unusual),
            Err(jump) => {
                self.jump = Some(jump);
                return Err(Unusual);
            }
        }
        self.deeper(|dumper| {
            let default = ruby::hash_default(hash).ok_or(Unusual)?;
            dumper.out.push(if default == ruby::NIL { HASH } else { HASH_DEFAULT });
            if let Some(mut pairs) = ruby::Pairs::of(hash) {
                dumper.long(pairs.count() as i64)?;
                while let Some((key, value)) = pairs.next() {
                    dumper.value(key)?;
                    dumper.value(value)?;
                }
                // No Ruby code runs in between, so it cannot change; but the count is already
                // written.
                if !pairs.are_whole() {
                    return Err(Unusual);
                }
            } else {
                dumper.long(ruby::hash_size(hash) as i64)?;
                let mut result = Ok(());
                ruby::each_pair(hash, |key, value| {
                    result = dumper.value(key).and_then(|()| dumper.value(value));
                    result.is_ok()
                });
                result?;
            }
            if default == ruby::NIL { Ok(()) } else { dumper.value(default) }
        })
    }
}
