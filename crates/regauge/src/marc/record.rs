//! A record in memory, and the sink that builds one from the events of MARC-in-JSON.

use std::ops::Range;

use super::charset::Charset;
use super::leader::CHARSET_POSITION;
use super::shape::{Shape, TakeRecord};
use crate::event::{Sink, forward};
use crate::fidelity::Fidelity;
use crate::{Limits, Result};

/// One MARC record. All its text lies in one buffer, so that a record that is cleared and filled
/// again allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Record {
    text: String,
    leader: Span,
    charset: Option<Charset>,
    fields: Vec<FieldEntry>,
    subfields: Vec<SubfieldEntry>,
}

/// A part of [`Record::text`].
#[derive(Clone, Copy, Debug, Default)]
struct Span {
    start: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
struct FieldEntry {
    tag: Span,
    content: Content,
}

#[derive(Clone, Copy, Debug)]
enum Content {
    Text(Span),
    Data { ind1: Span, ind2: Span, subfields: Span },
}

#[derive(Clone, Copy, Debug)]
struct SubfieldEntry {
    code: Span,
    value: Span,
}

/// A part of a record whose text is written in place: see [`Record::set`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Leader,
    Tag,
    Text,
    Ind1,
    Ind2,
    Code,
    Value,
}

/// One field of a record.
#[derive(Clone, Copy, Debug)]
pub enum Field<'a> {
    /// A control field, or another field that is text.
    Text {
        /// The tag: three characters.
        tag: &'a str,
        /// What stands in the field.
        text: &'a str,
    },
    /// A data field.
    Data {
        /// The tag: three characters.
        tag: &'a str,
        /// The first indicator.
        ind1: &'a str,
        /// The second indicator.
        ind2: &'a str,
        /// The subfields in their order.
        subfields: Subfields<'a>,
    },
}

impl<'a> Field<'a> {
    /// The tag.
    pub fn tag(&self) -> &'a str {
        match self {
            Field::Text { tag, .. } | Field::Data { tag, .. } => tag,
        }
    }
}

/// The subfields of a field: code and value of each.
#[derive(Clone, Copy, Debug)]
pub struct Subfields<'a> {
    text: &'a str,
    entries: &'a [SubfieldEntry],
}

impl<'a> Subfields<'a> {
    /// How many are still to come.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether none is still to come.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<'a> Iterator for Subfields<'a> {
    type Item = (&'a str, &'a str);

    #[inline]
    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let (first, rest) = self.entries.split_first()?;
        self.entries = rest;
        Some((&self.text[first.code.range()], &self.text[first.value.range()]))
    }
}

impl Span {
    #[inline]
    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl PartialEq for Record {
    /// Two records are the same when they hold the same text in the same places.
    fn eq(&self, other: &Record) -> bool {
        let same = |(a, b): (Field<'_>, Field<'_>)| match (a, b) {
            (Field::Text { tag: t, text: x }, Field::Text { tag: u, text: y }) => (t, x) == (u, y),
            (
                Field::Data { tag: t, ind1: i, ind2: j, subfields: x },
                Field::Data { tag: u, ind1: k, ind2: l, subfields: y },
            ) => (t, i, j) == (u, k, l) && x.eq(y),
            _ => false,
        };
        self.leader() == other.leader()
            && self.charset == other.charset
            && self.fields.len() == other.fields.len()
            && self.fields().zip(other.fields()).all(same)
    }
}

impl Record {
    /// A record without leader and fields.
    pub fn new() -> Record {
        Record::default()
    }

    /// Empties the record and keeps its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.leader = Span::default();
        self.charset = None;
        self.fields.clear();
        self.subfields.clear();
    }

    /// The leader.
    pub fn leader(&self) -> &str {
        &self.text[self.leader.range()]
    }

    /// The charset that the record carries because it is not the one that leader/09 says.
    pub fn charset_key(&self) -> Option<Charset> {
        self.charset
    }

    /// The charset of the record in ISO 2709: the one it carries, or what leader/09 says.
    pub fn charset(&self) -> Charset {
        let code = self.leader().as_bytes().get(CHARSET_POSITION).copied().unwrap_or(b' ');
        self.charset.unwrap_or(Charset::of_leader(code))
    }

    /// The fields in their order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Field<'_>> {
        self.fields.iter().map(|entry| {
            let tag = &self.text[entry.tag.range()];
            match entry.content {
                Content::Text(text) => Field::Text { tag, text: &self.text[text.range()] },
                Content::Data { ind1, ind2, subfields } => Field::Data {
                    tag,
                    ind1: &self.text[ind1.range()],
                    ind2: &self.text[ind2.range()],
                    subfields: Subfields {
                        text: &self.text,
                        entries: &self.subfields[subfields.range()],
                    },
                },
            }
        })
    }

    /// What field 001 says.
    pub fn id(&self) -> Option<&str> {
        self.fields().find_map(|field| match field {
            Field::Text { tag: "001", text } => Some(text),
            _ => None,
        })
    }

    #[inline]
    fn push(&mut self, text: &str) -> Span {
        let start = self.text.len() as u32;
        self.text.push_str(text);
        Span { start, end: self.text.len() as u32 }
    }

    /// The text buffer, for a reader that writes a piece of text in place: see
    /// [`open_piece`](Record::open_piece).
    pub(crate) fn buffer(&mut self) -> &mut String {
        &mut self.text
    }

    /// The place where a piece of text that is written to [`buffer`](Record::buffer) begins.
    pub(crate) fn open_piece(&self) -> usize {
        self.text.len()
    }

    /// Takes the text written since `start` as this part of the leader, field or subfield that was
    /// added last.
    pub(crate) fn set(&mut self, part: Part, start: usize) {
        let span = Span { start: start as u32, end: self.text.len() as u32 };
        let field = self.fields.last_mut();
        match (part, field) {
            (Part::Leader, _) => self.leader = span,
            (Part::Tag, Some(field)) => field.tag = span,
            (Part::Text, Some(FieldEntry { content: Content::Text(text), .. })) => *text = span,
            (Part::Ind1, Some(FieldEntry { content: Content::Data { ind1, .. }, .. })) => {
                *ind1 = span;
            }
            (Part::Ind2, Some(FieldEntry { content: Content::Data { ind2, .. }, .. })) => {
                *ind2 = span;
            }
            (Part::Code | Part::Value, _) => {
                if let Some(subfield) = self.subfields.last_mut() {
                    *(if part == Part::Code { &mut subfield.code } else { &mut subfield.value }) =
                        span;
                }
            }
            _ => debug_assert!(false, "no field has such a part"),
        }
    }

    /// About how many bytes of memory the record takes: the entries count, since a subfield can be
    /// empty.
    #[inline]
    pub(crate) fn weight(&self) -> u64 {
        (self.text.len() + 32 * self.fields.len() + 16 * self.subfields.len()) as u64
    }

    /// Sets the leader.
    pub fn set_leader(&mut self, leader: &str) {
        self.leader = self.push(leader);
    }

    /// Sets the charset that the record carries.
    pub fn set_charset(&mut self, charset: Option<Charset>) {
        self.charset = charset;
    }

    /// Adds a field that is text.
    pub fn add_text(&mut self, tag: &str, text: &str) {
        let tag = self.push(tag);
        let content = Content::Text(self.push(text));
        self.fields.push(FieldEntry { tag, content });
    }

    /// Adds a data field without subfields.
    pub fn add_data(&mut self, tag: &str, ind1: &str, ind2: &str) {
        let tag = self.push(tag);
        let (ind1, ind2) = (self.push(ind1), self.push(ind2));
        let at = self.subfields.len() as u32;
        let content = Content::Data { ind1, ind2, subfields: Span { start: at, end: at } };
        self.fields.push(FieldEntry { tag, content });
    }

    /// Adds a subfield to the data field that was added last.
    ///
    /// # Panics
    /// If the last field is no data field.
    pub fn add_subfield(&mut self, code: &str, value: &str) {
        let code = self.push(code);
        let value = self.push(value);
        self.subfields.push(SubfieldEntry { code, value });
        match self.fields.last_mut() {
            Some(FieldEntry { content: Content::Data { subfields, .. }, .. }) => subfields.end += 1,
            _ => panic!("a subfield needs a data field"),
        }
    }

    /// Gives the record's events to `sink`, in the customary order of MARC-in-JSON: leader,
    /// charset where there is one, fields; ind1, ind2, subfields.
    ///
    /// # Errors
    /// The sink's.
    pub fn drive<S: Sink + ?Sized>(&self, sink: &mut S) -> Result {
        sink.begin_map(Some(2 + u64::from(self.charset.is_some())))?;
        sink.key("leader")?;
        sink.str(self.leader())?;
        if let Some(charset) = self.charset {
            sink.key("charset")?;
            sink.str(charset.name())?;
        }
        sink.key("fields")?;
        sink.begin_array(Some(self.fields.len() as u64))?;
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
        self.record.charset = Some(charset);
    }
    fn tag(&mut self, tag: &str) {
        self.record.add_text(tag, "");
    }
    fn text(&mut self, text: &str) {
        let text = self.record.push(text);
        if let Some(field) = self.record.fields.last_mut() {
            field.content = Content::Text(text);
        }
    }
    fn begin_data(&mut self) {
        let at = self.record.subfields.len() as u32;
        let subfields = Span { start: at, end: at };
        let (ind1, ind2) = (Span::default(), Span::default());
        if let Some(field) = self.record.fields.last_mut() {
            field.content = Content::Data { ind1, ind2, subfields };
        }
    }
    fn ind1(&mut self, text: &str) {
        let start = self.record.open_piece();
        self.record.push(text);
        self.record.set(Part::Ind1, start);
    }
    fn ind2(&mut self, text: &str) {
        let start = self.record.open_piece();
        self.record.push(text);
        self.record.set(Part::Ind2, start);
    }
    fn code(&mut self, code: &str) {
        self.record.add_subfield(code, "");
    }
    fn value(&mut self, text: &str) {
        let value = self.record.push(text);
        if let Some(subfield) = self.record.subfields.last_mut() {
            subfield.value = value;
        }
    }
    fn weight(&self) -> u64 {
        self.record.weight()
    }
    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

/// A sink that builds a [`Record`] from the events of one document in the shape of MARC-in-JSON,
/// its keys in any order. Whatever does not fit the shape is an error, so nothing gets lost.
#[derive(Debug)]
pub struct RecordBuilder {
    inner: Shape<Builder>,
}

impl RecordBuilder {
    /// An empty builder. [`Limits::record_bytes`] bounds the text of a record; `fidelity` is what
    /// [`Sink::fidelity`] gives.
    pub fn new(limits: &Limits, fidelity: Fidelity) -> RecordBuilder {
        RecordBuilder { inner: Shape::new(Builder { record: Record::new(), fidelity }, limits) }
    }

    /// Tells whether a record is whole.
    pub fn is_done(&self) -> bool {
        self.inner.is_done()
    }

    /// The record at hand.
    pub fn record(&self) -> &Record {
        &self.inner.target.record
    }

    /// Forgets the record at hand, whole or not.
    pub fn reset(&mut self) {
        self.inner.target.record.clear();
        self.inner.reset();
    }
}

impl Sink for RecordBuilder {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, OnLoss, Value};

    fn map(pairs: Vec<(&str, Value)>) -> Value {
        Value::Map(pairs.into_iter().map(|(k, v)| (text(k), v)).collect())
    }
    fn text(v: &str) -> Value {
        Value::Text(v.into())
    }
    fn builder() -> RecordBuilder {
        RecordBuilder::new(&Limits::default(), Fidelity::new(OnLoss::Refuse, Format::Marc))
    }
    fn subfield(code: &str, value: &str) -> Value {
        map(vec![(code, text(value))])
    }

    #[test]
    fn keys_come_in_any_order() {
        let subfields = Value::Array(vec![subfield("a", "x"), subfield("b", "")]);
        let data = map(vec![("subfields", subfields), ("ind2", text("0")), ("ind1", text("1"))]);
        let fields = Value::Array(vec![map(vec![("001", text("id"))]), map(vec![("245", data)])]);
        let value =
            map(vec![("fields", fields), ("charset", text("utf-8")), ("leader", text("L"))]);
        let mut builder = builder();
        // Twice, to see that nothing of the first remains.
        value.drive(&mut builder).unwrap();
        value.drive(&mut builder).unwrap();
        assert!(builder.is_done());

        let mut expected = Record::new();
        expected.set_leader("L");
        expected.set_charset(Some(Charset::Utf8));
        expected.add_text("001", "id");
        expected.add_data("245", "1", "0");
        expected.add_subfield("a", "x");
        expected.add_subfield("b", "");
        assert_eq!(*builder.record(), expected);
        assert_eq!(builder.record().id(), Some("id"));

        // And what it gives is what it takes.
        let mut again = super::tests::builder();
        expected.drive(&mut again).unwrap();
        assert_eq!(*again.record(), expected);
    }

    #[test]
    fn what_is_no_record_is_refused_with_what_was_expected() {
        let check = |value: Value, message: &str| {
            let error = value.drive(&mut builder()).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Unrepresentable);
            assert_eq!(error.message(), message);
        };
        let fields = |field| map(vec![("leader", text("")), ("fields", Value::Array(vec![field]))]);
        let data = |pairs| fields(map(vec![("245", map(pairs))]));
        let record = "expected a MARC record: a map with leader and fields";
        check(Value::Int(1), &format!("found the number 1, {record}"));
        check(Value::Array(vec![]), &format!("found an array, {record}"));
        check(map(vec![]), &format!("found a map without leader, {record}"));
        check(map(vec![("leader", text(""))]), &format!("found a map without fields, {record}"));
        check(
            map(vec![("_id", text(""))]),
            "found the key \"_id\", expected one of the keys leader, fields and charset",
        );
        check(
            map(vec![("leader", text("")), ("leader", text(""))]),
            "found the key leader twice, expected it once",
        );
        check(
            map(vec![("charset", text("latin-1"))]),
            "found the charset \"latin-1\", expected the charset: utf-8 or marc-8",
        );
        check(fields(text("x")), "found text, expected a field: a map from its tag to its content");
        check(
            fields(map(vec![("001", text("x")), ("002", text("x"))])),
            "found a second key \"002\", expected the end of the field's map, which has one tag",
        );
        check(
            fields(map(vec![("001", Value::Null)])),
            "found null, expected a control field's text or a data field's map",
        );
        check(
            data(vec![("ind1", text(" ")), ("ind2", text(" "))]),
            "found a data field without subfields, expected ind1, ind2 and subfields",
        );
        check(
            data(vec![("ind1", Value::Bool(true))]),
            "found true, expected an indicator: text of one character",
        );
        check(
            data(vec![("subfields", Value::Array(vec![map(vec![("a", Value::Int(7))])]))]),
            "found the number 7, expected a subfield's text",
        );
        check(fields(map(vec![])), "found the end of a map, expected the tag of a field");
    }

    #[test]
    fn a_record_is_bounded() {
        let limits = Limits { record_bytes: 40, ..Limits::default() };
        let mut builder = RecordBuilder::new(&limits, Fidelity::new(OnLoss::Refuse, Format::Marc));
        let value = |n: usize| {
            map(vec![("leader", text(&"x".repeat(n))), ("fields", Value::Array(vec![]))])
        };
        value(34).drive(&mut builder).unwrap();
        value(41).drive(&mut builder).unwrap_err();
        builder.reset();
        value(34).drive(&mut builder).unwrap();
    }
}
