//! MARCXML to events.
//!
//! A record is built whole before its first event is emitted, so that a broken one leaves no trace.
//!
//! Advice for those who change this file: parsing may stop after any token and resume in the next
//! window, so all state must be in the [`Parser`].

mod instruction;

use quick_xml::XmlVersion;
use quick_xml::events::BytesStart;

use super::attributes::Attributes;
use super::contents::Contents;
use super::encoding::begin;
use super::find::{Tag, record_tag};
use super::scope::{Namespace, Scope, split_name};
use super::text::{append, append_literally};
use super::token::{Token, token};
use super::usual::{plain_text, usual_data_field, white_space};
use crate::bytes::reader::{Parse, Resync, Status};
use crate::codec::marc::Options;
use crate::codec::marc::leader::NO_LEADER;
use crate::codec::marc::shape::record_limit;
use crate::model::hint::Hint;
use crate::model::limits::Limit;
use crate::model::option::Opt;
use crate::model::record::{Part, Record};
use crate::policy::event::Sink;
use crate::policy::fidelity::{LossKind, OnLoss};
use crate::{Error, Format, Limits, Result};

/// A reader of MARCXML.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

/// The state machine of MARCXML: see [`Parse`].
#[derive(Debug, Default)]
pub struct Parser {
    limits: Limits,
    place: Place,
    scope: Scope,
    record: Record,
    has_leader: bool,
    /// How many elements are open around the current record.
    outside: usize,
    /// Where the current text begins in the record's buffer.
    text_start: usize,
    /// The attributes of the current tag.
    attributes: Attributes,
    /// What is lost from the current record, and what replaces it.
    losses: Vec<(String, &'static str)>,
    /// How many elements are open around the foreign one.
    foreign: usize,
    id: Option<String>,
    begun: bool,
    contents: Contents,
}

/// Which element is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Outside,
    Record,
    Leader,
    Control,
    Data,
    Subfield,
    /// An element in a record that MARCXML does not define.
    Foreign,
}

impl Place {
    /// Describes what is allowed there, in words.
    fn expected(self) -> &'static str {
        match self {
            Place::Outside => "a collection or a record",
            Place::Record => "leader, controlfield, datafield or the end of the record",
            Place::Leader | Place::Control | Place::Subfield => "text",
            Place::Data => "subfield or the end of the datafield",
            Place::Foreign => "anything",
        }
    }

    fn holds_text(self) -> bool {
        matches!(self, Place::Leader | Place::Control | Place::Subfield)
    }
}

impl Parser {
    /// Creates a parser with these options and limits.
    pub fn new(options: Options, limits: Limits) -> Parser {
        let _ = options;
        Parser { limits, ..Parser::default() }
    }

    /// Reads the start of `rest` if it is in the usual form: white space between elements, a
    /// subfield or a control field that is whole and without references, the tag of a data field.
    /// Returns its length, or 0. This covers nine tenths of a file, in a third of the time that
    /// [`take`](Parser::take) would need.
    #[inline]
    fn take_usual(&mut self, rest: &[u8]) -> usize {
        match self.place {
            Place::Data => {
                let blank = white_space(rest);
                if blank > 0 {
                    return blank;
                }
                let Some((code, inside)) = rest
                    .strip_prefix(b"<subfield code=\"")
                    .and_then(|rest| rest.split_first_chunk::<3>())
                else {
                    return 0;
                };
                let [code @ (b'a'..=b'z' | b'0'..=b'9'), b'"', b'>'] = code else { return 0 };
                let Some(text) = plain_text(inside, b"</subfield>") else { return 0 };
                if self.record.weight() + text.len() as u64 > self.bytes_max() {
                    return 0;
                }
                self.record.add_subfield(char::from(*code).encode_utf8(&mut [0; 1]), text);
                16 + 3 + text.len() + 11
            }
            Place::Record => {
                let blank = white_space(rest);
                if blank > 0 {
                    return blank;
                }
                if let Some(head) = rest.first_chunk::<39>()
                    && let Some((tag, ind1, ind2)) = usual_data_field(head)
                {
                    self.record.add_data(tag, ind1, ind2);
                    self.scope.open("datafield");
                    self.text_start = self.record.open_piece();
                    self.place = Place::Data;
                    return 39;
                }
                let Some((head, inside)) = rest
                    .strip_prefix(b"<controlfield tag=\"")
                    .and_then(|rest| rest.split_first_chunk::<5>())
                else {
                    return 0;
                };
                let [b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b'"', b'>'] = head else { return 0 };
                let Some(text) = plain_text(inside, b"</controlfield>") else { return 0 };
                let Ok(tag) = std::str::from_utf8(&head[..3]) else { return 0 };
                if self.record.weight() + text.len() as u64 > self.bytes_max() {
                    return 0;
                }
                self.record.add_text(tag, text);
                19 + 5 + text.len() + 15
            }
            _ => 0,
        }
    }

    fn bytes_max(&self) -> u64 {
        record_limit(&self.limits)
    }

    /// Handles one token.
    fn take<S: Sink + ?Sized>(&mut self, token: Token<'_>, sink: &mut S) -> Result<bool> {
        match token {
            Token::Text(text) => self.text(text, sink)?,
            Token::Start { content, name, empty } => {
                self.start(content, name, sink)?;
                if empty {
                    return self.end(name, sink);
                }
            }
            Token::End(name) => return self.end(name, sink),
            Token::CData(text) if self.place.holds_text() => {
                append_literally(text, self.record.buffer())?;
                self.check_size()?;
            }
            Token::CData(text) => self.text(text, sink)?,
            Token::Instruction(content) => self.instruction(content)?,
            Token::Nothing => {}
        }
        Ok(false)
    }

    #[inline]
    fn text<S: Sink + ?Sized>(&mut self, text: &[u8], sink: &mut S) -> Result {
        if self.place.holds_text() {
            append(text, self.record.buffer(), false)?;
            return self.check_size();
        }
        let blank = text.trim_ascii();
        if blank.is_empty() || self.place == Place::Foreign {
            return Ok(());
        }
        let shown = blank[..blank.len().min(40)].escape_ascii();
        if self.place != Place::Outside || self.scope.depth() == 0 {
            return Err(Error::syntax(format!(
                "found the text \"{shown}\", expected {}",
                self.place.expected()
            ))
            .at((text.len() - text.trim_ascii_start().len()) as u64));
        }
        let element = self.scope.innermost().unwrap_or_default();
        let found = format!("text outside of records: {shown} in <{element}>");
        sink.fidelity().note(LossKind::Marc, found, "nothing");
        Ok(())
    }

    fn check_size(&self) -> Result {
        if self.record.weight() > self.bytes_max() {
            return Err(Error::limit(format!(
                "found a record of more than {} bytes, the limit of record_bytes",
                self.limits.record_bytes
            ))
            .hint(Hint::raise(Limit::RecordBytes)));
        }
        Ok(())
    }

    #[inline]
    fn start<S: Sink + ?Sized>(&mut self, content: &[u8], name: &[u8], sink: &mut S) -> Result {
        let Some(text) = crate::model::utf8::from_utf8(content) else {
            return Err(Error::syntax("found a tag that is not UTF-8").at(0));
        };
        let name_text = &text[..name.len()];
        let (_, local) = split_name(name_text);
        let next = match (self.place, local) {
            (Place::Data, "subfield") => Place::Subfield,
            (Place::Record, "datafield") => Place::Data,
            (Place::Record, "controlfield") => Place::Control,
            (Place::Record, "leader") => Place::Leader,
            (Place::Outside, _) => return self.start_outside(text, name_text, sink),
            (Place::Record | Place::Foreign, _) => return self.start_foreign(name_text, sink),
            (place, _) => {
                return Err(Error::syntax(format!(
                    "found <{name_text}>, expected {}",
                    place.expected()
                ))
                .at(0));
            }
        };
        self.attributes.clear();
        self.read_attributes(text, name.len(), next)?;
        let required = |value: &Option<String>, attribute: &str| match value {
            Some(_) => Ok(()),
            None => Err(Error::syntax(format!(
                "found <{name_text}> without {attribute}, expected that attribute"
            ))
            .at(0)),
        };
        if next == Place::Data {
            let Attributes { tag, ind1, ind2, spare, .. } = &mut self.attributes;
            for (indicator, which) in [(ind1, "ind1"), (ind2, "ind2")] {
                if indicator.is_none() {
                    let place = tag.as_deref().unwrap_or_default();
                    self.losses.push((format!("no {which} in {place}"), "a blank"));
                    let mut blank = spare.pop().unwrap_or_default();
                    blank.push(' ');
                    *indicator = Some(blank);
                }
            }
        }
        let Attributes { tag, ind1, ind2, code, .. } = &self.attributes;
        fn value(attribute: &Option<String>) -> &str {
            attribute.as_deref().unwrap_or_default()
        }
        match next {
            Place::Subfield => {
                required(code, "code")?;
                self.record.add_subfield(value(code), "");
            }
            Place::Data => {
                required(tag, "tag")?;
                self.record.add_data(value(tag), value(ind1), value(ind2));
            }
            Place::Control => {
                required(tag, "tag")?;
                self.record.add_text(value(tag), "");
            }
            Place::Leader if self.has_leader => {
                return Err(Error::syntax("found a second leader, expected one").at(0));
            }
            _ => {}
        }
        self.check_size()?;
        self.scope.open(name_text);
        self.text_start = self.record.open_piece();
        self.place = next;
        Ok(())
    }

    /// Handles an element around the records, or a record.
    #[cold]
    fn start_outside<S: Sink + ?Sized>(
        &mut self,
        content: &str,
        name: &str,
        sink: &mut S,
    ) -> Result {
        self.check_depth()?;
        self.outside = self.scope.depth();
        self.scope.open(name);
        let mut others = Vec::new();
        let (prefix, local) = split_name(name);
        let mut own = None;
        let tag = BytesStart::from_content(content, name.len());
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| bad_attribute(name, &error))?;
            let key = attribute.key.0;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| bad_attribute(name, &error))?;
            let binds =
                key.strip_prefix("xmlns").map(|rest| rest.strip_prefix(':').unwrap_or(rest));
            if binds == Some(prefix) {
                own = Some(value.to_string());
            }
            match split_name(key) {
                ("", "xmlns") => self.scope.bind("", Namespace::of(&value)),
                ("xmlns", prefix) => self.scope.bind(prefix, Namespace::of(&value)),
                ("xml" | "xsi", _) | ("", "type" | "id") => {}
                _ => others.push(format!("the attribute {key}=\"{value}\" of <{name}>")),
            }
        }
        let is_marc = self.scope.resolve(prefix) != Namespace::Other;
        if local == "record" && is_marc {
            self.contents.note_record();
            self.place = Place::Record;
            self.record.clear();
            self.has_leader = false;
            self.losses.clear();
        } else if matches!(local, "leader" | "controlfield" | "datafield" | "subfield") && is_marc {
            let message = format!("found <{name}> outside of a record, expected a record");
            return Err(Error::syntax(message).at(0));
        } else {
            let is_collection = local == "collection" && is_marc;
            self.contents.note_element(name, own.as_deref(), is_collection);
        }
        for found in others {
            sink.fidelity().note(LossKind::Marc, found, "nothing");
        }
        Ok(())
    }

    /// Handles an element in a record that MARCXML does not define: skips it if that is allowed.
    #[cold]
    fn start_foreign<S: Sink + ?Sized>(&mut self, name: &str, sink: &mut S) -> Result {
        if self.place == Place::Record {
            if sink.fidelity().policy() != OnLoss::Approximate {
                return Err(Error::syntax(format!(
                    "found <{name}>, expected {}",
                    self.place.expected()
                ))
                .hint(Hint::set(Opt::OnLoss, "approximate").to("leave it out"))
                .at(0));
            }
            self.losses.push((format!("the element <{name}> in a record"), "nothing"));
            self.place = Place::Foreign;
            self.foreign = self.scope.depth();
        }
        self.check_depth()?;
        self.scope.open(name);
        Ok(())
    }

    fn check_depth(&self) -> Result {
        if self.scope.depth() < self.limits.depth as usize {
            return Ok(());
        }
        let message = format!(
            "found elements nested more than {} deep, the limit of depth",
            self.limits.depth
        );
        Err(Error::limit(message).hint_depth(self.limits.depth).at(0))
    }

    /// Reads the attributes of a tag in a record.
    #[inline]
    fn read_attributes(&mut self, content: &str, name: usize, place: Place) -> Result {
        if self.attributes.read_simple(&content.as_bytes()[name..]) {
            return Ok(());
        }
        self.attributes.clear();
        let element = &content[..name];
        let tag = BytesStart::from_content(content, name);
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|error| bad_attribute(element, &error))?;
            let key = attribute.key.0;
            if memchr::memchr(b'<', attribute.value.as_bytes()).is_some() {
                return Err(Error::syntax(format!(
                    "found \"<\" in the attribute {key} of <{element}>, expected \"&lt;\""
                ))
                .at(0));
            }
            let mut value = self.attributes.spare.pop().unwrap_or_default();
            append(attribute.value.as_bytes(), &mut value, true).map_err(|error| error.at(0))?;
            match self.attributes.slot(key) {
                Some(slot) => *slot = Some(value),
                None => {
                    let (prefix, _) = split_name(key);
                    let silent = key == "xmlns" || matches!(prefix, "xml" | "xmlns" | "xsi");
                    if !(silent || key == "id" && place != Place::Subfield) {
                        let found = format!("the attribute {key}=\"{value}\" of <{element}>");
                        self.losses.push((found, "nothing"));
                    }
                }
            }
        }
        Ok(())
    }

    /// Handles an end tag; returns whether a record is complete.
    #[inline]
    fn end<S: Sink + ?Sized>(&mut self, name: &[u8], sink: &mut S) -> Result<bool> {
        if self.scope.innermost().map(str::as_bytes) != Some(name) {
            let found = name[..name.len().min(40)].escape_ascii();
            let expected = match self.scope.innermost() {
                Some(open) => format!("</{open}>"),
                None => "no end tag".to_owned(),
            };
            return Err(Error::syntax(format!("found </{found}>, expected {expected}")).at(0));
        }
        self.place = match self.place {
            Place::Subfield => {
                self.record.set(Part::Value, self.text_start);
                Place::Data
            }
            Place::Data => Place::Record,
            Place::Control => {
                self.record.set(Part::Text, self.text_start);
                Place::Record
            }
            Place::Leader => {
                self.record.set(Part::Leader, self.text_start);
                self.has_leader = true;
                Place::Record
            }
            Place::Record => {
                if !self.has_leader {
                    // The schema allows that (`minOccurs="0"`).
                    self.record.set_leader(NO_LEADER);
                    self.losses.push(("a record without a leader".to_owned(), NO_LEADER));
                }
                for (found, written) in self.losses.drain(..) {
                    sink.fidelity().note(LossKind::Marc, found, written);
                }
                self.record.hand_over(sink)?;
                self.scope.close();
                self.place = Place::Outside;
                return Ok(true);
            }
            Place::Foreign if self.scope.depth() == self.foreign + 1 => Place::Record,
            place => place,
        };
        self.scope.close();
        Ok(false)
    }
}

#[cold]
fn bad_attribute(element: &str, error: &dyn std::fmt::Display) -> Error {
    Error::syntax(format!("found an invalid attribute of <{element}> ({error})")).at(0)
}

impl Parse for Parser {
    const FORMAT: Format = Format::MarcXml;

    fn parse<S: Sink + ?Sized>(
        &mut self,
        bytes: &[u8],
        pos: &mut usize,
        last: bool,
        sink: &mut S,
    ) -> Result<Status> {
        self.id = None;
        if !self.begun {
            match begin(&bytes[*pos..], last)? {
                Some(length) => *pos += length,
                None => return Ok(Status::More),
            }
            self.begun = true;
        }
        while *pos < bytes.len() {
            let rest = &bytes[*pos..];
            let usual = self.take_usual(rest);
            if usual > 0 {
                *pos += usual;
                continue;
            }
            let place = *pos as u64;
            let taken = token(rest, last, self.place.holds_text()).and_then(|found| match found {
                None => Ok(None),
                Some((token, length)) => {
                    // An error's offset counts from the inside of the token.
                    let inside = match token {
                        Token::CData(_) => 9,
                        _ => 0,
                    };
                    match self.take(token, sink) {
                        Ok(whole) => Ok(Some((whole, length))),
                        Err(error) => Err(match error.offset() {
                            Some(offset) => error.at(offset + inside),
                            None => error,
                        }),
                    }
                }
            });
            match taken {
                Ok(Some((whole, length))) => {
                    *pos += length;
                    if whole {
                        return Ok(Status::Document);
                    }
                }
                Ok(None) => return Ok(Status::More),
                Err(error) => {
                    if self.place != Place::Outside {
                        self.id = self.record.id().filter(|id| !id.is_empty()).map(str::to_owned);
                    }
                    return Err(match error.offset() {
                        Some(offset) => error.at(place + offset),
                        None => error,
                    });
                }
            }
        }
        if !last {
            return Ok(Status::More);
        }
        match self.scope.innermost() {
            None => {
                self.contents.check().map_err(|error| error.at(bytes.len() as u64))?;
                Ok(Status::End)
            }
            Some(name) => {
                Err(Error::truncated(format!("found the end of the input, expected </{name}>"))
                    .at(bytes.len() as u64))
            }
        }
    }

    fn resync(&mut self, bytes: &[u8], start: usize, pos: usize, last: bool) -> Resync {
        if self.contents.failed() {
            return Resync::Never;
        }
        self.contents.note_fault();
        // A record in the wrong place is where to resume; any other token is the fault.
        let inside = self.place != Place::Outside;
        let mut at = pos;
        if !(inside && pos > start && record_tag(&bytes[pos..]) == Some(Tag::Start)) {
            at += 1;
        }
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
            at += found;
            let next = match record_tag(&bytes[at..]) {
                Some(Tag::Start) => Some(at),
                Some(Tag::End) if inside => {
                    memchr::memchr(b'>', &bytes[at..]).map(|end| at + end + 1)
                }
                // The search resumes after the index.
                Some(Tag::Cut) if !last => return Resync::Past(at - 1),
                _ => None,
            };
            if let Some(next) = next {
                self.scope.close_to(self.outside);
                self.place = Place::Outside;
                return Resync::At(next);
            }
            at += 1;
        }
        if !last {
            return Resync::Past(bytes.len().saturating_sub(1).max(pos));
        }
        self.scope.close_to(0);
        self.place = Place::Outside;
        Resync::At(bytes.len())
    }

    fn record_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
