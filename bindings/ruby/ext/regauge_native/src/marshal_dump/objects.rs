//! Objects and structs: their classes and their fields.

use regauge::marshal::types::{OBJECT, STRUCT, USER_MARSHAL};

use super::{Dumper, T_HASH, T_STRING, Unusual, Written};
use crate::names::names;
use crate::ruby::{self, VALUE};

impl Dumper {
    pub(super) fn object(&mut self, object: VALUE) -> Written {
        if ruby::heap_class(object) == names().object {
            return self.inert(object);
        }
        self.class(OBJECT, object)?;
        self.variables(object)
    }

    /// Writes an inert object in its original form.
    #[cold]
    fn inert(&mut self, object: VALUE) -> Written {
        let names = names();
        let name = ruby::variable(object, names.id_class_name);
        let kind = ruby::variable(object, names.id_kind);
        let value = ruby::variable(object, names.id_value);
        let is_string = ruby::is_heap(name) && ruby::heap_kind(name) == T_STRING;
        if !is_string || !ruby::is_ascii(name) {
            return Err(Unusual);
        }
        let kind = crate::options::word(kind).unwrap_or_default();
        match kind.as_str() {
            "object" | "struct" if ruby::is_heap(value) && ruby::heap_kind(value) == T_HASH => {
                self.out.push(if kind == "object" { OBJECT } else { STRUCT });
                self.symbol(ruby::bytes_of(name))?;
                self.long(ruby::hash_size(value) as i64)?;
                self.deeper(|dumper| {
                    let mut result = Ok(());
                    ruby::each_pair(value, |key, value| {
                        let is_text = ruby::is_heap(key) && ruby::heap_kind(key) == T_STRING;
                        result = match is_text && ruby::is_ascii(key) {
                            true => dumper.symbol(ruby::bytes_of(key)).map(drop),
                            false => Err(Unusual),
                        };
                        result = std::mem::replace(&mut result, Ok(()))
                            .and_then(|()| dumper.value(value));
                        result.is_ok()
                    });
                    result
                })
            }
            "marshal_dump" => {
                self.out.push(USER_MARSHAL);
                self.symbol(ruby::bytes_of(name))?;
                self.deeper(|dumper| dumper.value(value))
            }
            _ => Err(Unusual),
        }
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
