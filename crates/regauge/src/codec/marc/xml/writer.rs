//! Records to MARCXML, written as their parts arrive.
//!
//! Keys may be in any order, so a leader or an indicator can arrive late; it is then inserted into
//! what is already written. No part of a record leaves memory before the record is complete.

use super::scan::first_special;
use super::{INSTRUCTION, NAMESPACE, is_forbidden};
use crate::bytes::buffer::Out;
use crate::codec::marc::shape::{Shape, TakeRecord};
use crate::codec::marc::{Charset, Options};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::policy::event::{Sink, forward};
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};
use crate::{Error, ErrorKind, Limits, Result};

/// How much room is reserved before a record; the buffer grows for a larger one.
const ROOM_BYTES: usize = 16 << 10;

/// A writer of MARCXML: a sink for documents in the shape of MARC-in-JSON. The file is one
/// collection, which is empty if there are no records.
pub struct Writer<'o> {
    inner: Shape<Body<'o>>,
}

/// What is written between the elements.
#[derive(Debug)]
struct Layout {
    record: &'static [u8],
    leader: &'static [u8],
    text_field: &'static [u8],
    data_field: &'static [u8],
    subfield: &'static [u8],
    end_data: &'static [u8],
    end_record: &'static [u8],
    field: &'static [u8],
}

const INDENTED: Layout = Layout {
    record: b"  <record>",
    leader: b"\n    <leader>",
    text_field: b"\n    <controlfield tag=\"",
    data_field: b"\n    <datafield tag=\"",
    subfield: b"\n      <subfield code=\"",
    end_data: b"\n    </datafield>",
    end_record: b"\n  </record>\n",
    field: b"\n    ",
};

const COMPACT: Layout = Layout {
    record: b"<record>",
    leader: b"<leader>",
    text_field: b"<controlfield tag=\"",
    data_field: b"<datafield tag=\"",
    subfield: b"<subfield code=\"",
    end_data: b"</datafield>",
    end_record: b"</record>\n",
    field: b"",
};

impl<'o> Writer<'o> {
    /// Creates a writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let layout = if options.compact { &COMPACT } else { &INDENTED };
        let body = Body {
            out,
            layout,
            begun: false,
            record_at: 0,
            tag: FieldTag::None,
            code: None,
            attributes: None,
            instructions: Vec::new(),
            weight: 0,
            fault: None,
            fidelity,
        };
        Writer { inner: Shape::new(body, &Limits::default()) }
    }

    /// Bounds the text of a record by [`Limits::record_bytes`]; the default limit applies
    /// otherwise.
    #[must_use]
    pub fn with_limits(mut self, limits: &Limits) -> Writer<'o> {
        self.inner.set_limits(limits);
        self
    }

    /// Returns the buffer, with whatever is still in memory.
    pub fn into_out(self) -> Out<'o> {
        self.inner.target.out
    }

    /// Accepts the parts of a record in place of its events;
    /// [`end_document`](crate::Writer::end_document) then ends it.
    pub fn parts(&mut self) -> &mut (impl TakeRecord + use<'o>) {
        self.inner.parts()
    }
}

/// The current record, as far as it is written.
struct Body<'o> {
    out: Out<'o>,
    layout: &'static Layout,
    /// The collection is open.
    begun: bool,
    /// Where the record's content begins.
    record_at: u64,
    /// The tag of the current field.
    tag: FieldTag,
    /// The first character of the code of the current subfield.
    code: Option<char>,
    /// The data field's tag, if it was written last or attributes came late.
    attributes: Option<AttributesPlace>,
    /// Values that attributes could not hold, to be written inside their element.
    instructions: Vec<u8>,
    /// About how much text the record has.
    weight: u64,
    /// The first fault of the record.
    fault: Option<Error>,
    fidelity: Fidelity,
}

/// A tag. Nearly all have three characters that need no special handling.
#[derive(Clone, Debug, Default)]
enum FieldTag {
    /// There is no field yet.
    #[default]
    None,
    Plain([u8; 3]),
    Other(String),
}

impl FieldTag {
    #[inline]
    fn of(tag: &str) -> FieldTag {
        match tag.as_bytes() {
            [a @ b'0'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] => FieldTag::Plain([*a, *b, *c]),
            _ => FieldTag::Other(tag.to_owned()),
        }
    }
}

/// The position of the current data field's indicators in the output.
#[derive(Clone, Copy, Debug)]
struct AttributesPlace {
    /// After the attribute `tag`.
    start: u64,
    /// After the last attribute, where `>` is or will be.
    end: u64,
    closed: bool,
}

impl Body<'_> {
    fn begin_collection(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.out.extend(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<collection xmlns=\"");
        self.out.extend(NAMESPACE.as_bytes());
        self.out.extend(b"\">\n");
    }

    /// Inserts bytes at an earlier position, or at the end.
    fn insert(&mut self, place: u64, bytes: &[u8]) {
        if place == self.out.position() {
            return self.out.extend_short(bytes);
        }
        let at = (place - self.out.base()) as usize;
        self.out.held_mut().insert(at, bytes);
    }

    /// Writes the text of an element.
    #[inline]
    fn content(&mut self, text: &str) {
        if first_special(text.as_bytes()) == text.len() {
            return self.out.extend_short(text.as_bytes());
        }
        self.escape(text, false);
    }

    /// Writes the value of the attribute `name`. Whatever it cannot hold goes to `instructions`.
    #[inline]
    fn attribute(&mut self, name: &str, value: &str) {
        if first_special(value.as_bytes()) == value.len() && !value.contains('"') {
            return self.out.extend_short(value.as_bytes());
        }
        self.escape(value, true);
        if self.fidelity.policy() == OnLoss::Wrap && value.contains(is_forbidden) {
            let codes: String = value.chars().map(|c| format!(" u+{:04X}", u32::from(c))).collect();
            let instruction = format!("<?{INSTRUCTION} {name}{codes}?>");
            self.instructions.extend_from_slice(instruction.as_bytes());
        }
    }

    #[cold]
    #[inline(never)]
    fn escape(&mut self, text: &str, attribute: bool) {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            let mut run = first_special(&bytes[at..]);
            if attribute && let Some(quote) = memchr::memchr(b'"', &bytes[at..at + run]) {
                run = quote;
            }
            self.out.extend_short(&bytes[at..at + run]);
            at += run;
            let Some(byte) = bytes.get(at) else { return };
            match byte {
                b'&' => self.out.extend(b"&amp;"),
                b'<' => self.out.extend(b"&lt;"),
                b'>' => self.out.extend(b"&gt;"),
                b'"' if attribute => self.out.extend(b"&quot;"),
                // A reader would turn it into a line feed if it were written literally (XML 1.0
                // §2.11), and all three into a blank in an attribute (§3.3.3).
                b'\r' => self.out.extend(b"&#13;"),
                b'\n' if attribute => self.out.extend(b"&#10;"),
                b'\t' if attribute => self.out.extend(b"&#9;"),
                _ => {
                    let c = text[at..].chars().next().expect("a byte is there");
                    if is_forbidden(c) {
                        self.forbidden(c, attribute);
                    } else {
                        self.out.extend_short(&bytes[at..at + c.len_utf8()]);
                    }
                    at += c.len_utf8();
                    continue;
                }
            }
            at += 1;
        }
    }

    /// Handles a character that XML does not allow, as the policy says.
    #[cold]
    fn forbidden(&mut self, c: char, attribute: bool) {
        let mut place = match &self.tag {
            FieldTag::None => "the leader".to_owned(),
            FieldTag::Plain(tag) => tag.escape_ascii().to_string(),
            FieldTag::Other(tag) => tag.escape_debug().to_string(),
        };
        if let Some(code) = self.code {
            place += &format!(" ${}", code.escape_debug());
        }
        let number = u32::from(c);
        match self.fidelity.policy() {
            OnLoss::Refuse => {
                self.fault.get_or_insert_with(|| {
                    Error::new(
                        ErrorKind::Refused,
                        format!(
                            "found the character U+{number:04X} in {place}, which XML cannot hold"
                        ),
                    )
                    .hint(
                        Hint::set(Opt::OnLoss, "wrap")
                            .to("write a processing instruction (reversible)")
                            .or(Hint::set(Opt::OnLoss, "approximate").to("write U+FFFD")),
                    )
                });
            }
            OnLoss::Wrap if attribute => self.out.extend("\u{FFFD}".as_bytes()),
            OnLoss::Wrap => {
                let instruction = format!("<?{INSTRUCTION} u+{number:04X}?>");
                self.out.extend(instruction.as_bytes());
            }
            OnLoss::Approximate => {
                let found = format!("the character U+{number:04X} in {place}");
                self.fidelity.note(LossKind::Marc, found, "U+FFFD");
                self.out.extend("\u{FFFD}".as_bytes());
            }
        }
    }

    /// Writes an element at the end, and moves it to `place`.
    fn at_place(&mut self, place: u64, write: impl FnOnce(&mut Self)) -> u64 {
        let before = self.out.position();
        write(self);
        let length = self.out.position() - before;
        if place != before {
            let at = (place - self.out.base()) as usize;
            self.out.held_mut()[at..].rotate_right(length as usize);
        }
        length
    }

    /// Writes the attribute `tag` and the quote that ends it.
    #[inline]
    fn write_tag(&mut self) {
        match std::mem::take(&mut self.tag) {
            FieldTag::Plain(tag) => {
                self.out.push_array([tag[0], tag[1], tag[2], b'"']);
                self.tag = FieldTag::Plain(tag);
            }
            FieldTag::Other(tag) => {
                self.tag = FieldTag::Other(tag.clone());
                self.attribute("tag", &tag);
                self.out.push_array([b'"']);
            }
            FieldTag::None => {}
        }
    }

    #[inline]
    fn indicator(&mut self, number: u8, value: &str) {
        let Some(place) = &mut self.attributes else { return };
        if let [byte @ (b' ' | b'0'..=b'9')] = value.as_bytes()
            && !place.closed
            && (number == b'2' || place.start == place.end)
        {
            place.end += 9;
            let [i, n, d] = *b"ind";
            return self.out.push_array([b' ', i, n, d, number, b'=', b'"', *byte, b'"']);
        }
        self.indicator_anywhere(number, value);
    }

    /// Writes an indicator that arrives late, or is not a blank or a digit.
    #[cold]
    fn indicator_anywhere(&mut self, number: u8, value: &str) {
        self.weight += value.len() as u64;
        let Some(place) = self.attributes else { return };
        let (name, at) = match number {
            b'1' => ("ind1", place.start),
            _ => ("ind2", place.end),
        };
        let length = self.at_place(at, |body| {
            body.out.push_array([b' ']);
            body.out.extend_short(name.as_bytes());
            body.out.push_array(*b"=\"");
            body.attribute(name, value);
            body.out.push_array([b'"']);
        });
        let end = place.end + length;
        self.attributes = Some(AttributesPlace { end, ..place });
        if place.closed && !self.instructions.is_empty() {
            let instructions = std::mem::take(&mut self.instructions);
            self.insert(end + 1, &instructions);
        }
    }

    /// Ends the data field's tag.
    #[inline]
    fn close_tag(&mut self) {
        if let Some(place) = &mut self.attributes
            && !place.closed
        {
            place.closed = true;
            self.out.push_array([b'>']);
            self.write_instructions();
        }
    }

    #[inline]
    fn write_instructions(&mut self) {
        if !self.instructions.is_empty() {
            self.out.extend(&self.instructions);
            self.instructions.clear();
        }
    }
}

impl TakeRecord for Body<'_> {
    fn begin(&mut self) -> Result {
        self.out.room(ROOM_BYTES, u64::MAX)?;
        self.begin_collection();
        self.out.extend(self.layout.record);
        self.record_at = self.out.position();
        self.tag = FieldTag::None;
        self.code = None;
        self.attributes = None;
        self.instructions.clear();
        self.weight = 0;
        self.fault = None;
        Ok(())
    }

    fn leader(&mut self, text: &str) {
        self.weight += text.len() as u64;
        self.tag = FieldTag::None;
        self.code = None;
        self.at_place(self.record_at, |body| {
            body.out.extend(body.layout.leader);
            body.content(text);
            body.out.extend(b"</leader>");
        });
    }

    fn charset(&mut self, charset: Charset) {
        self.out.extend(self.layout.field);
        let instruction = format!("<?{INSTRUCTION} charset=\"{}\"?>", charset.name());
        self.out.extend(instruction.as_bytes());
    }

    #[inline]
    fn tag(&mut self, tag: &str) {
        self.weight += 32 + tag.len() as u64;
        self.tag = FieldTag::of(tag);
        self.code = None;
    }

    fn text(&mut self, text: &str) {
        self.weight += text.len() as u64;
        self.out.extend_short(self.layout.text_field);
        self.write_tag();
        self.out.push_array([b'>']);
        self.write_instructions();
        self.content(text);
        self.out.extend_short(b"</controlfield>");
    }

    #[inline]
    fn begin_data(&mut self) {
        self.out.extend_short(self.layout.data_field);
        self.write_tag();
        let place = self.out.position();
        self.attributes = Some(AttributesPlace { start: place, end: place, closed: false });
    }

    #[inline]
    fn ind1(&mut self, text: &str) {
        self.indicator(b'1', text);
    }

    #[inline]
    fn ind2(&mut self, text: &str) {
        self.indicator(b'2', text);
    }

    #[inline]
    fn code(&mut self, code: &str) {
        self.weight += 16 + code.len() as u64;
        self.close_tag();
        self.out.extend_short(self.layout.subfield);
        if let [byte @ (b'a'..=b'z' | b'0'..=b'9')] = code.as_bytes() {
            self.code = Some(char::from(*byte));
            return self.out.push_array([*byte, b'"', b'>']);
        }
        self.code = code.chars().next();
        self.attribute("code", code);
        self.out.push_array(*b"\">");
        self.write_instructions();
    }

    #[inline]
    fn value(&mut self, text: &str) {
        self.weight += text.len() as u64;
        self.content(text);
        self.out.extend_short(b"</subfield>");
    }

    #[inline]
    fn end_data(&mut self) {
        self.close_tag();
        self.out.extend_short(self.layout.end_data);
    }

    #[inline]
    fn weight(&self) -> u64 {
        self.weight
    }

    fn fidelity(&mut self) -> &mut Fidelity {
        &mut self.fidelity
    }
}

impl Sink for Writer<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map text_pair fidelity);
}

impl crate::policy::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        self.inner.end_parts()?;
        let body = &mut self.inner.target;
        body.out.extend(body.layout.end_record);
        match body.fault.take() {
            Some(fault) => Err(fault),
            None => Ok(()),
        }
    }
    fn finish(&mut self) -> Result {
        let body = &mut self.inner.target;
        body.begin_collection();
        body.out.extend(b"</collection>\n");
        body.out.finish()
    }
    fn checkpoint(&mut self) {
        // Anything before the first record is not part of it.
        self.inner.target.begin_collection();
        self.inner.target.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.inner.reset();
        self.inner.target.out.rollback();
    }
}
