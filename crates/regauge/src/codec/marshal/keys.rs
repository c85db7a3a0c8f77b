//! Keys of hashes and names of fields.

use super::links::LEAF_BYTES;
use super::read::Name;
use super::skip;
use super::types::*;
use super::walk::{Common, Step, Walk};
use crate::Result;
use crate::model::value::Value;
use crate::policy::event::{Ext, ExtBuf, Sink};
use crate::policy::fidelity::LossKind;
use crate::policy::tree::Builder;

impl<'d> Walk<'d> {
    /// Emits a key of a hash.
    #[inline]
    pub fn key<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let at = self.at;
        if self.expanding > 0 {
            self.spend(1)?;
        }
        if at == self.next_anchor && self.options.inert && self.document[at] == IVARS {
            // A key is never the same object as a value, in Ruby either.
            self.pass_anchor();
        }
        if at < self.next_anchor {
            let (text, end) = match self.document[at] {
                IVARS => (at, None),
                LINK if !self.options.exact => {
                    let (index, end) = skip::number(self.document, at + 1);
                    (self.scanned.tables.objects[index as usize] as usize, Some(end))
                }
                SYMLINK | SYMBOL => return self.symbol_key(sink),
                _ => return self.key_value(sink),
            };
            if self.document[text] == IVARS
                && let Some((text, after)) = self.common_text(text)
            {
                match text {
                    Common::Short(text) => sink.short_key(text)?,
                    Common::Long(text) => {
                        if end.is_some() {
                            self.spend(text.len() as u64 / LEAF_BYTES)?;
                        }
                        sink.key(text)?;
                    }
                }
                self.at = end.unwrap_or(after);
                return Ok(());
            }
        }
        self.key_value(sink)
    }

    /// Emits a symbol as a key.
    #[inline]
    pub fn symbol_key<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        let (symbol, end) = self.scanned.symbol(self.at);
        if self.options.data
            && let Some(text) = self.scanned.utf8(symbol)
        {
            self.note(sink, LossKind::Symbol, "a symbol as a key", "its text");
            sink.key(&text)?;
            self.at = end;
            return Ok(());
        }
        if self.document[self.at] != SYMLINK {
            let key = self.symbol_value(symbol)?;
            sink.key_value(&key)?;
            self.at = end;
            return Ok(());
        }
        let (index, _) = skip::number(self.document, self.at + 1);
        let index = index as usize;
        if self.room.keys.get(index).is_none_or(Option::is_none) {
            let key = self.symbol_value(symbol)?;
            if self.room.keys.len() <= index {
                self.room.keys.resize(index + 1, None);
            }
            self.room.keys[index] = Some(key);
        }
        sink.key_value(self.room.keys[index].as_ref().expect("just made"))?;
        self.at = end;
        Ok(())
    }

    pub fn symbol_value(&mut self, symbol: Name<'d>) -> Result<Value> {
        if let Some(text) = self.plain_symbol(symbol) {
            return Ok(Value::Ext(ExtBuf::from(Ext::Symbol(&text))));
        }
        let mut builder = Builder::new(self.limits);
        let base = self.room.steps.len();
        self.symbol(symbol, &mut builder)?;
        self.steps(base, &mut builder)?;
        Ok(builder.take().expect("a whole value"))
    }

    /// Emits the name of a field: an instance variable, a member of a struct.
    pub fn field<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        if self.expanding > 0 {
            self.spend(1)?;
        }
        let (symbol, end) = self.scanned.symbol(self.at);
        match self.plain_symbol(symbol) {
            Some(name) => sink.key(&name)?,
            None => {
                let key = self.symbol_value(symbol)?;
                sink.key_value(&key)?;
            }
        }
        self.at = end;
        Ok(())
    }

    /// Emits a key that is not simply text, built by a walk of its own.
    #[cold]
    #[inline(never)]
    pub fn key_value<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        Value::check_key_in(self.keys_open).map_err(|error| error.at(self.at as u64))?;
        let start = self.at;
        let mut builder = Builder::new(self.limits);
        let base = self.room.steps.len();
        self.push(Step::Value, 0);
        self.keys_open += 1;
        let built = self.steps(base, &mut builder);
        self.keys_open -= 1;
        built?;
        if self.keys_open == 0 {
            for (kind, found, written) in std::mem::take(&mut self.losses) {
                sink.fidelity().note(kind, found, written);
            }
        }
        let end = std::mem::replace(&mut self.at, start);
        match builder.take().expect("a whole value") {
            Value::Text(text) => sink.key(&text)?,
            Value::Ext(name) if self.options.data && matches!(name.as_ext(), Ext::Symbol(_)) => {
                let Ext::Symbol(name) = name.as_ext() else { unreachable!("just matched") };
                self.note(sink, LossKind::Symbol, "a symbol as a key", "its text");
                sink.key(name)?;
            }
            key => {
                key.check_key()?;
                sink.key_value(&key)?;
            }
        }
        self.at = end;
        Ok(())
    }
}
