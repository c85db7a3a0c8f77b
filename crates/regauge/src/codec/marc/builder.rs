//! Records and events: the sink that builds a record from the events of MARC-in-JSON, and a record's
//! way back to events.

use super::shape::{Shape, TakeRecord};
use crate::model::record::{Charset, Field, Part, Record};
use crate::policy::event::{Sink, forward};
use crate::policy::fidelity::Fidelity;
use crate::{Limits, Result};

impl Record {
    /// Passes the record's parts to `target` in order.
    ///
    /// # Errors
    /// `Io` from the output.
    pub fn give<T: TakeRecord + ?Sized>(&self, target: &mut T) -> Result {
        target.begin()?;
        target.leader(self.leader());
        if let Some(charset) = self.charset_key() {
            target.charset(charset);
        }
        for field in self.fields() {
            target.tag(field.tag());
            match field {
                Field::Text { text, .. } => target.text(text),
                Field::Data { ind1, ind2, subfields, .. } => {
                    target.begin_data();
                    target.ind1(ind1);
                    target.ind2(ind2);
                    for (code, value) in subfields {
                        target.code(code);
                        target.value(value);
                    }
                    target.end_data();
                }
            }
        }
        Ok(())
    }

    /// Gives the record to `sink`: whole if it keeps records, or else as events. The record is empty, or
    /// anything, afterwards.
    ///
    /// # Errors
    /// The sink's.
    pub(super) fn hand_over<S: Sink + ?Sized>(&mut self, sink: &mut S) -> Result {
        match sink.whole_record(self.weight()) {
            // Its old memory is reused for the next record.
            Some(target) => {
                std::mem::swap(target, self);
                Ok(())
            }
            None => self.drive(sink),
        }
    }

    /// Emits the record's events to `sink`, in the customary order of MARC-in-JSON: leader, charset
    /// if there is one, fields; ind1, ind2, subfields.
    ///
    /// # Errors
    /// The sink's.
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        sink.begin_map(Some(2 + u64::from(self.charset_key().is_some())))?;
        sink.key("leader")?;
        sink.str(self.leader())?;
        if let Some(charset) = self.charset_key() {
            sink.key("charset")?;
            sink.str(charset.name())?;
        }
        sink.key("fields")?;
        sink.begin_array(Some(self.fields().len() as u64))?;
        for field in self.fields() {
            match field {
                Field::Text { tag, text } => sink.text_pair(tag, text)?,
                Field::Data { tag, ind1, ind2, subfields } => {
                    sink.begin_map(Some(1))?;
                    sink.key(tag)?;
                    sink.begin_map(Some(3))?;
                    sink.key("ind1")?;
                    sink.str(ind1)?;
                    sink.key("ind2")?;
                    sink.str(ind2)?;
                    sink.key("subfields")?;
                    sink.begin_array(Some(subfields.len() as u64))?;
                    for (code, value) in subfields {
                        sink.text_pair(code, value)?;
                    }
                    sink.end_array()?;
                    sink.end_map()?;
                    sink.end_map()?;
                }
            }
        }
        sink.end_array()?;
        sink.end_map()
    }
}

/// Builds a record from its parts.
#[derive(Debug)]
struct Builder {
    record: Record,
    fidelity: Fidelity,
}

impl TakeRecord for Builder {
    fn begin(&mut self) -> Result {
        self.record.clear();
        Ok(())
    }
    fn leader(&mut self, text: &str) {
        self.record.set_leader(text);
    }
    fn charset(&mut self, charset: Charset) {
        self.record.set_charset(Some(charset));
    }
    fn tag(&mut self, tag: &str) {
        self.record.add_text(tag, "");
    }
    fn text(&mut self, text: &str) {
        self.record.put(Part::Text, text);
    }
    fn begin_data(&mut self) {
        self.record.begin_data();
    }
    fn ind1(&mut self, text: &str) {
        self.record.put(Part::Ind1, text);
    }
    fn ind2(&mut self, text: &str) {
        self.record.put(Part::Ind2, text);
    }
    fn code(&mut self, code: &str) {
        self.record.add_subfield(code, "");
    }
    fn value(&mut self, text: &str) {
        self.record.put(Part::Value, text);
    }
    fn weight(&self) -> u64 {
        self.record.weight()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// A sink that builds a [`Record`] from the events of one document in the shape of MARC-in-JSON,
/// with its keys in any order. Anything that does not fit the shape is an error, so nothing gets
/// lost.
#[derive(Debug)]
pub struct RecordBuilder {
    inner: Shape<Builder>,
}

impl RecordBuilder {
    /// Creates an empty builder. [`Limits::record_bytes`] bounds the text of a record;
    /// [`Sink::fidelity`] returns `fidelity`.
    pub fn new(limits: &Limits, fidelity: Fidelity) -> RecordBuilder {
        RecordBuilder { inner: Shape::new(Builder { record: Record::new(), fidelity }, limits) }
    }

    /// Returns whether a record is complete.
    pub fn is_done(&self) -> bool {
        self.inner.is_done()
    }

    /// Returns the current record.
    pub fn record(&self) -> &Record {
        &self.inner.target.record
    }

    /// Takes the current record, in no more memory than it needs, and leaves the builder empty.
    pub fn take(&mut self) -> Record {
        let record = &mut self.inner.target.record;
        if record.is_tight() {
            return std::mem::take(record);
        }
        // The memory is reused for the next record.
        let taken = record.clone();
        record.clear();
        taken
    }

    /// Takes the current record, in at most twice the memory that it needs. The builder continues
    /// with the memory of `spare`, whatever its contents, and has no record.
    pub fn exchange(&mut self, mut spare: Record) -> Record {
        let record = &mut self.inner.target.record;
        let most = 2 * record.memory_used() + 256;
        if record.memory() <= most {
            spare.clear();
            return std::mem::replace(record, spare);
        }
        if spare.memory() > most {
            return self.take();
        }
        spare.copy(record);
        record.clear();
        spare
    }

    /// Discards the current record, complete or not.
    pub fn reset(&mut self) {
        self.inner.target.record.clear();
        self.inner.reset();
    }
}

impl Sink for RecordBuilder {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);

    fn whole_record(&mut self, bytes: u64) -> Option<&mut Record> {
        self.inner.whole(bytes).map(|target| &mut target.record)
    }
}

#[cfg(test)]
mod tests;
