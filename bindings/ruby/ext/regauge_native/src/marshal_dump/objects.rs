//! Objects and structs: their classes and their fields.

use regauge::marshal::types::{
    CLASS, DATA, EXTENDED, FALSE, HASH_DEFAULT, IVARS, LINK, MODULE, MODULE_OLD, OBJECT, REGEXP,
    STRING, STRUCT, TRUE, USER_CLASS, USER_DUMP, USER_MARSHAL,
};

use super::{DEPTH, Dumper, T_ARRAY, T_HASH, T_STRING, Unusual, Written};
use crate::names::names;
use crate::ruby::{self, Text, VALUE};

fn is_inert(value: VALUE) -> bool {
    ruby::is_heap(value) && ruby::heap_class(value) == names().object
}

/// Returns the string of an inert object that its `_dump` returned, if it has instance variables.
fn dumped_with_variables(object: VALUE) -> Option<VALUE> {
    let kind = crate::options::word(ruby::variable(object, names().id_kind))?;
    let string = ruby::variable(object, names().id_value);
    let has_variables = ruby::is_string(string) && ruby::has_extra_variables(string);
    (kind == "dump" && has_variables).then_some(string)
}

impl Dumper {
    pub(super) fn object(&mut self, object: VALUE) -> Written {
        if is_inert(object) {
            return self.inert(object);
        }
        self.class(OBJECT, object)?;
        self.variables(object)
    }

    /// Writes an inert object in its original form.
    #[cold]
    fn inert(&mut self, object: VALUE) -> Written {
        if let Some(string) = dumped_with_variables(object) {
            return self.dumped(object, string);
        }
        match self.encoding_of(object)? {
            None => self.inert_body(object),
            Some(utf8) => {
                self.out.push(IVARS);
                self.inert_body(object)?;
                self.long(1)?;
                self.encoding_symbol()?;
                self.out.push(utf8);
                Ok(())
            }
        }
    }

    /// Returns what an inert object has as the value of `E` after it, if it is text or around text.
    fn encoding_of(&self, object: VALUE) -> Result<Option<u8>, Unusual> {
        let mut value = object;
        for _ in 0..DEPTH {
            if ruby::is_string(value) {
                return match ruby::raw_encoding(value) {
                    Some(Text::Utf8) => Ok(Some(TRUE)),
                    Some(Text::Other) => Ok(Some(FALSE)),
                    Some(Text::Binary) => Ok(None),
                    _ => Err(Unusual),
                };
            }
            if !is_inert(value) {
                return Ok(None);
            }
            let kind = crate::options::word(ruby::variable(value, names().id_kind));
            match kind.as_deref() {
                Some("dump" | "subclass" | "extended" | "regexp") => {
                    value = ruby::variable(value, names().id_value);
                }
                _ => return Ok(None),
            }
        }
        Err(Unusual)
    }

    /// Writes what a `_dump` returned, with instance variables: the object gets its number after them.
    #[cold]
    fn dumped(&mut self, object: VALUE, string: VALUE) -> Written {
        self.next -= 1;
        let name = ruby::variable(object, names().id_class_name);
        let encoding = self.encoding_of(string)?;
        self.out.push(IVARS);
        self.named(USER_DUMP, name)?;
        self.sized(ruby::bytes_of(string))?;
        self.long(ruby::variable_count(string) as i64 + i64::from(encoding.is_some()))?;
        if let Some(utf8) = encoding {
            self.encoding_symbol()?;
            self.out.push(utf8);
        }
        let mut result = Ok(());
        ruby::each_variable(string, |name, value| {
            result = self.name(name).and_then(|()| self.value(value));
            result.is_ok()
        });
        self.objects.renumber(object, self.next);
        self.next += 1;
        result
    }

    /// Writes an inert object without the encoding after it.
    #[cold]
    fn inert_body(&mut self, object: VALUE) -> Written {
        let names = names();
        let name = ruby::variable(object, names.id_class_name);
        let value = ruby::variable(object, names.id_value);
        let kind = crate::options::word(ruby::variable(object, names.id_kind)).unwrap_or_default();
        self.deeper(|dumper| match kind.as_str() {
            "object" => dumper.fields(OBJECT, name, value),
            "struct" => dumper.fields(STRUCT, name, value),
            "marshal_dump" | "data" => {
                dumper.named(if kind == "data" { DATA } else { USER_MARSHAL }, name)?;
                dumper.value(value)
            }
            "dump" => {
                dumper.named(USER_DUMP, name)?;
                dumper.plain_bytes(value)
            }
            "subclass" | "extended" => {
                dumper.named(if kind == "subclass" { USER_CLASS } else { EXTENDED }, name)?;
                dumper.inside(value)
            }
            "regexp" => {
                let options = crate::options::word(name).ok_or(Unusual)?;
                dumper.out.push(REGEXP);
                dumper.plain_bytes(value)?;
                dumper.out.push(regauge::marshal::regexp_bits(&options).ok_or(Unusual)?);
                Ok(())
            }
            "class" | "module" | "class_or_module" => {
                dumper.out.push(match kind.as_str() {
                    "class" => CLASS,
                    "module" => MODULE,
                    _ => MODULE_OLD,
                });
                dumper.plain_bytes(value)
            }
            "set" => {
                dumper.named(OBJECT, name)?;
                dumper.set(value)
            }
            "ivars" => dumper.inert_variables(value),
            _ => Err(Unusual),
        })
    }

    /// Writes a value inside a type, which has no number of its own.
    fn inside(&mut self, value: VALUE) -> Written {
        if is_inert(value) {
            return self.inert_body(value);
        }
        if !ruby::is_heap(value) || !ruby::is_of_core_class(value, ruby::heap_kind(value)) {
            return Err(Unusual);
        }
        match ruby::heap_kind(value) {
            T_STRING => {
                self.out.push(STRING);
                self.plain_bytes(value)
            }
            T_ARRAY | T_HASH => {
                // The number of what is around it, by calling `value`: with a second caller, writing
                // arrays and hashes is not compiled into it, which is a tenth slower.
                self.next -= 1;
                let start = self.out.len();
                self.value(value)?;
                if self.out[start] == LINK { Err(Unusual) } else { Ok(()) }
            }
            _ => Err(Unusual),
        }
    }

    /// Writes the bytes of a string that has nothing else.
    fn plain_bytes(&mut self, string: VALUE) -> Written {
        if !ruby::is_string(string) || ruby::has_extra_variables(string) {
            return Err(Unusual);
        }
        self.sized(ruby::bytes_of(string))
    }

    /// Writes a value with instance variables: `value`, the value, `ivars`, a hash.
    fn inert_variables(&mut self, parts: VALUE) -> Written {
        if !ruby::is_hash(parts) {
            return Err(Unusual);
        }
        let mut found = Vec::new();
        ruby::each_pair(parts, |_, part| {
            found.push(part);
            true
        });
        let [value, variables] = found[..] else { return Err(Unusual) };
        if !ruby::is_hash(variables) {
            return Err(Unusual);
        }
        let encoding = self.encoding_of(value)?;
        self.out.push(IVARS);
        self.inside(value)?;
        self.long(ruby::hash_size(variables) as i64 + i64::from(encoding.is_some()))?;
        if let Some(utf8) = encoding {
            self.encoding_symbol()?;
            self.out.push(utf8);
        }
        self.pairs(variables)
    }

    fn named(&mut self, kind: u8, name: VALUE) -> Written {
        if !ruby::is_string(name) || !ruby::is_ascii(name) {
            return Err(Unusual);
        }
        self.out.push(kind);
        self.symbol(ruby::bytes_of(name)).map(drop)
    }

    /// Writes the only variable of a Set: a hash whose keys are the elements.
    fn set(&mut self, elements: VALUE) -> Written {
        if !ruby::is_heap(elements) || ruby::heap_kind(elements) != T_ARRAY {
            return Err(Unusual);
        }
        self.long(1)?;
        self.symbol(b"@hash")?;
        self.next += 1;
        self.out.push(HASH_DEFAULT);
        let length = ruby::array_length(elements);
        self.long(length as i64)?;
        for index in 0..length {
            self.value(ruby::array_get(elements, index).ok_or(Unusual)?)?;
            self.out.push(TRUE);
        }
        self.out.push(FALSE);
        Ok(())
    }

    fn fields(&mut self, kind: u8, name: VALUE, fields: VALUE) -> Written {
        if !ruby::is_hash(fields) {
            return Err(Unusual);
        }
        self.named(kind, name)?;
        self.long(ruby::hash_size(fields) as i64)?;
        self.pairs(fields)
    }

    /// Writes names and values.
    fn pairs(&mut self, fields: VALUE) -> Written {
        let mut result = Ok(());
        ruby::each_pair(fields, |key, value| {
            result = match ruby::is_string(key) && ruby::is_ascii(key) {
                true => self.symbol(ruby::bytes_of(key)).and_then(|_| self.value(value)),
                false => Err(Unusual),
            };
            result.is_ok()
        });
        result
    }

    /// Returns how it is written, and the class's name.
    fn class(&mut self, kind: u8, object: VALUE) -> Written {
        self.out.push(kind);
        let class = ruby::heap_class(object);
        // Classes are cached together with the names, whose IDs are smaller.
        if let Some(number) = self.names.get(class) {
            return self.symbol_link(number);
        }
        let name = ruby::class_name(class).ok_or(Unusual)?;
        if !self.found.iter().any(|(known, text)| *known == class && **text == *name) {
            if !ruby::is_found_under(class) {
                return Err(Unusual);
            }
            if self.found.len() >= 64 {
                self.found.clear();
            }
            self.found.push((class, name.into()));
        }
        let number = self.symbol(name)?;
        self.names.find_or_add(class, number);
        Ok(())
    }

    fn variables(&mut self, object: VALUE) -> Written {
        let count = ruby::variable_count(object);
        self.long(count as i64)?;
        self.deeper(|dumper| {
            let (mut result, mut written) = (Ok(()), 0);
            ruby::each_variable(object, |name, value| {
                written += 1;
                result = dumper.name(name).and_then(|()| dumper.value(value));
                result.is_ok()
            });
            result?;
            if written == count { Ok(()) } else { Err(Unusual) }
        })
    }

    pub(super) fn structure(&mut self, structure: VALUE) -> Written {
        if ruby::has_extra_variables(structure) {
            return Err(Unusual);
        }
        self.class(STRUCT, structure)?;
        let members = ruby::struct_members(structure);
        let length = ruby::array_length(members);
        self.long(length as i64)?;
        self.deeper(|dumper| {
            for index in 0..length {
                dumper.symbol_value(ruby::array_get(members, index).ok_or(Unusual)?)?;
                dumper.value(ruby::struct_value(structure, index))?;
            }
            Ok(())
        })
    }
}
