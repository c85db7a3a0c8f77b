//! A record in memory, and the sink that builds one from the events of MARC-in-JSON.

use std::ops::Range;

use super::charset::Charset;
use super::leader::CHARSET_POSITION;
use crate::event::Sink;
use crate::fidelity::Fidelity;
use crate::{BigInt, Error, Ext, Limits, Result, Value};

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

    /// All text of the record in one piece, in no particular order.
    pub(crate) fn all_text(&self) -> &str {
        &self.text
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
            sink.begin_map(Some(1))?;
            sink.key(field.tag())?;
            match field {
                Field::Text { text, .. } => sink.str(text)?,
                Field::Data { ind1, ind2, subfields, .. } => {
                    sink.begin_map(Some(3))?;
                    sink.key("ind1")?;
                    sink.str(ind1)?;
                    sink.key("ind2")?;
                    sink.str(ind2)?;
                    sink.key("subfields")?;
                    sink.begin_array(Some(subfields.len() as u64))?;
                    for (code, value) in subfields {
                        sink.begin_map(Some(1))?;
                        sink.key(code)?;
                        sink.str(value)?;
                        sink.end_map()?;
                    }
                    sink.end_array()?;
                    sink.end_map()?;
                }
            }
            sink.end_map()?;
        }
        sink.end_array()?;
        sink.end_map()
    }
}

/// Where in the shape of MARC-in-JSON a [`RecordBuilder`] stands: what it waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Record,
    RecordKey,
    Leader,
    Charset,
    Fields,
    Field,
    Tag,
    FieldValue,
    FieldEnd,
    DataKey,
    Ind1,
    Ind2,
    Subfields,
    Subfield,
    Code,
    SubfieldValue,
    SubfieldEnd,
    Done,
}

impl State {
    /// What the builder waits for, in words.
    fn expected(self) -> &'static str {
        match self {
            State::Record | State::Done => "a MARC record: a map with leader and fields",
            State::RecordKey => "one of the keys leader, fields and charset",
            State::Leader => "the leader: text of 24 characters",
            State::Charset => "the charset: utf-8 or marc-8",
            State::Fields => "the fields: an array of maps",
            State::Field => "a field: a map from its tag to its content",
            State::Tag => "the tag of a field",
            State::FieldValue => "a control field's text or a data field's map",
            State::FieldEnd => "the end of the field's map, which has one tag",
            State::DataKey => "one of the keys ind1, ind2 and subfields",
            State::Ind1 | State::Ind2 => "an indicator: text of one character",
            State::Subfields => "the subfields: an array of maps",
            State::Subfield => "a subfield: a map from its code to its text",
            State::Code => "the code of a subfield",
            State::SubfieldValue => "a subfield's text",
            State::SubfieldEnd => "the end of the subfield's map, which has one code",
        }
    }
}

/// A sink that builds a [`Record`] from the events of one document in the shape of MARC-in-JSON,
/// its keys in any order. Whatever does not fit the shape is an error, so nothing gets lost.
#[derive(Debug)]
pub struct RecordBuilder {
    record: Record,
    state: State,
    has_leader: bool,
    has_fields: bool,
    has_charset: bool,
    /// Of the data field at hand: ind1, ind2, subfields.
    has: [bool; 3],
    bytes_max: u64,
    fidelity: Fidelity,
}

impl RecordBuilder {
    /// An empty builder. [`Limits::record_bytes`] bounds the text of a record; `fidelity` is what
    /// [`Sink::fidelity`] gives.
    pub fn new(limits: &Limits, fidelity: Fidelity) -> RecordBuilder {
        RecordBuilder {
            record: Record::new(),
            state: State::Record,
            has_leader: false,
            has_fields: false,
            has_charset: false,
            has: [false; 3],
            // Parts of the text are named by 32 bits.
            bytes_max: limits.record_bytes.min(u64::from(u32::MAX)),
            fidelity,
        }
    }

    /// Tells whether a record is whole.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The record at hand.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The record at hand, together with the losses.
    pub(crate) fn parts(&mut self) -> (&mut Record, &mut Fidelity) {
        (&mut self.record, &mut self.fidelity)
    }

    /// Forgets the record at hand, whole or not.
    pub fn reset(&mut self) {
        self.record.clear();
        self.state = State::Record;
        (self.has_leader, self.has_fields, self.has_charset) = (false, false, false);
    }

    #[cold]
    fn unexpected<T>(&self, found: impl std::fmt::Display) -> Result<T> {
        let expected = self.state.expected();
        Err(Error::unrepresentable(format!("found {found}, expected {expected}"))
            .hint("only MARC records can be written as MARC"))
    }

    #[cold]
    fn twice<T>(&self, key: &str) -> Result<T> {
        Err(Error::unrepresentable(format!("found the key {key} twice, expected it once")))
    }

    #[inline]
    fn spend(&self, text: &str) -> Result {
        if self.record.weight() + text.len() as u64 > self.bytes_max {
            return Err(too_long(self.bytes_max));
        }
        Ok(())
    }

    fn last(&mut self) -> &mut FieldEntry {
        self.record.fields.last_mut().expect("a field is open")
    }
}

#[cold]
fn too_long(bound: u64) -> Error {
    Error::limit(format!("found a record of more than {bound} bytes, the limit of record_bytes"))
        .hint("pass --limit record_bytes=… to raise it")
}

impl Sink for RecordBuilder {
    fn null(&mut self) -> Result {
        self.unexpected("null")
    }
    fn bool(&mut self, v: bool) -> Result {
        self.unexpected(v)
    }
    fn i64(&mut self, v: i64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn u64(&mut self, v: u64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn f64(&mut self, v: f64) -> Result {
        self.unexpected(format_args!("the number {v}"))
    }
    fn bytes(&mut self, v: &[u8]) -> Result {
        self.unexpected(format_args!("{} bytes of binary data", v.len()))
    }
    fn big_int(&mut self, _v: BigInt<'_>) -> Result {
        self.unexpected("a number")
    }
    fn ext(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Decimal(text) => self.unexpected(format_args!("the number {text}")),
            Ext::Surrogates(_) => self.unexpected("text with lone surrogates"),
            Ext::BrokenText(_) => self.unexpected("text that is not UTF-8"),
            Ext::Timestamp(_) => self.unexpected("a point in time"),
            Ext::MsgpackExt(..) => self.unexpected("a MessagePack extension"),
        }
    }

    #[inline]
    fn str(&mut self, v: &str) -> Result {
        self.spend(v)?;
        match self.state {
            State::SubfieldValue => {
                let value = self.record.push(v);
                self.record.subfields.last_mut().expect("a subfield is open").value = value;
                self.state = State::SubfieldEnd;
            }
            State::FieldValue => {
                let text = self.record.push(v);
                self.last().content = Content::Text(text);
                self.state = State::FieldEnd;
            }
            State::Ind1 | State::Ind2 => {
                let indicator = self.record.push(v);
                let first = self.state == State::Ind1;
                if let Content::Data { ind1, ind2, .. } = &mut self.last().content {
                    *(if first { ind1 } else { ind2 }) = indicator;
                }
                self.state = State::DataKey;
            }
            State::Leader => {
                self.record.set_leader(v);
                self.state = State::RecordKey;
            }
            State::Charset => {
                match Charset::from_name(v) {
                    Some(charset) => self.record.charset = Some(charset),
                    None => return self.unexpected(format_args!("the charset {v:?}")),
                }
                self.state = State::RecordKey;
            }
            _ => return self.unexpected("text"),
        }
        Ok(())
    }

    fn begin_array(&mut self, _len: Option<u64>) -> Result {
        self.state = match self.state {
            State::Fields => State::Field,
            State::Subfields => State::Subfield,
            _ => return self.unexpected("an array"),
        };
        Ok(())
    }

    fn end_array(&mut self) -> Result {
        self.state = match self.state {
            State::Field => State::RecordKey,
            State::Subfield => State::DataKey,
            _ => return self.unexpected("the end of an array"),
        };
        Ok(())
    }

    fn begin_map(&mut self, _len: Option<u64>) -> Result {
        self.state = match self.state {
            State::Record | State::Done => {
                self.reset();
                State::RecordKey
            }
            State::Field => State::Tag,
            State::FieldValue => {
                let at = self.record.subfields.len() as u32;
                let subfields = Span { start: at, end: at };
                let (ind1, ind2) = (Span::default(), Span::default());
                self.last().content = Content::Data { ind1, ind2, subfields };
                self.has = [false; 3];
                State::DataKey
            }
            State::Subfield => State::Code,
            _ => return self.unexpected("a map"),
        };
        Ok(())
    }

    fn key(&mut self, k: &str) -> Result {
        self.spend(k)?;
        self.state = match self.state {
            State::Code => {
                let code = self.record.push(k);
                self.record.subfields.push(SubfieldEntry { code, value: Span::default() });
                State::SubfieldValue
            }
            State::Tag => {
                let tag = self.record.push(k);
                let content = Content::Text(Span::default());
                self.record.fields.push(FieldEntry { tag, content });
                State::FieldValue
            }
            State::DataKey => {
                let (index, state) = match k {
                    "ind1" => (0, State::Ind1),
                    "ind2" => (1, State::Ind2),
                    "subfields" => (2, State::Subfields),
                    _ => return self.unexpected(format_args!("the key {k:?}")),
                };
                if std::mem::replace(&mut self.has[index], true) {
                    return self.twice(k);
                }
                state
            }
            State::RecordKey => {
                let (has, state) = match k {
                    "leader" => (&mut self.has_leader, State::Leader),
                    "fields" => (&mut self.has_fields, State::Fields),
                    "charset" => (&mut self.has_charset, State::Charset),
                    _ => return self.unexpected(format_args!("the key {k:?}")),
                };
                if std::mem::replace(has, true) {
                    return self.twice(k);
                }
                state
            }
            State::FieldEnd | State::SubfieldEnd => {
                return self.unexpected(format_args!("a second key {k:?}"));
            }
            _ => return self.unexpected(format_args!("the key {k:?}")),
        };
        Ok(())
    }

    fn key_value(&mut self, k: &Value) -> Result {
        self.unexpected(format_args!("a key that is {}", k.type_name()))
    }

    fn end_map(&mut self) -> Result {
        self.state = match self.state {
            State::SubfieldEnd => State::Subfield,
            State::FieldEnd => State::Field,
            State::DataKey => {
                let missing = ["ind1", "ind2", "subfields"].into_iter().zip(self.has);
                if let Some((name, _)) = missing.into_iter().find(|(_, has)| !has) {
                    return Err(Error::unrepresentable(format!(
                        "found a data field without {name}, expected ind1, ind2 and subfields"
                    )));
                }
                let end = self.record.subfields.len() as u32;
                if let Content::Data { subfields, .. } = &mut self.last().content {
                    subfields.end = end;
                }
                State::FieldEnd
            }
            State::RecordKey if self.has_leader && self.has_fields => State::Done,
            State::RecordKey => {
                let missing = if self.has_leader { "fields" } else { "leader" };
                return Err(Error::unrepresentable(format!(
                    "found a map without {missing}, expected a MARC record: \
                     a map with leader and fields"
                ))
                .hint("only MARC records can be written as MARC"));
            }
            _ => return self.unexpected("the end of a map"),
        };
        Ok(())
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Format, OnLoss};

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
