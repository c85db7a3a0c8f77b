//! Records to Aleph sequential: a line for the leader and for each field, more for a long one.

use std::borrow::Cow;

use super::split::Subfields;
use crate::bytes::buffer::Out;
use crate::codec::marc::body::{self, Body, FieldPlace, Indicators, Parts};
use crate::codec::marc::lines::split_first;
use crate::codec::marc::shape::Shape;
use crate::codec::marc::{Options, SUBFIELD_DELIMITER, is_control_tag};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::policy::fidelity::{Fidelity, LossKind, OnLoss};
use crate::{Error, ErrorKind, Limits, Result};

/// The largest system number.
const NUMBER_MAX: u64 = 999_999_999;

/// A writer of Aleph sequential: a sink for documents in the shape of MARC-in-JSON.
pub struct Writer<'o> {
    inner: Shape<Body>,
    out: Out<'o>,
    options: Options,
    /// How many records are written.
    count: u64,
    /// The system number of the last of them.
    previous: u64,
}

body::writer!(Writer);

impl<'o> Writer<'o> {
    /// Creates a writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let body = Body::new(fidelity, Indicators::Apart);
        let inner = Shape::new(body, &Limits::default());
        Writer { inner, out, options, count: 0, previous: 0 }
    }

    /// Returns the system number of the current record, which differs from that of the record before: its
    /// field 001 if that is one, or else how many records there are.
    fn number(&mut self) -> Result<u64> {
        let body = &mut self.inner.target;
        let mut running = self.count % NUMBER_MAX + 1;
        if running == self.previous {
            running = running % NUMBER_MAX + 1;
        }
        let Some(field) = body.fields.iter().find(|field| &field.tag == b"001") else {
            lose(&mut body.fidelity, "a record without 001", &format!("the number {running}"))?;
            return Ok(running);
        };
        let id = field.content(body.data()).trim_ascii();
        let is_number = (1..=9).contains(&id.len()) && id.iter().all(u8::is_ascii_digit);
        let id = std::str::from_utf8(id).ok().filter(|_| is_number);
        let number = id.and_then(|id| id.parse().ok()).filter(|id| *id > 0 && *id != self.previous);
        Ok(number.unwrap_or(running))
    }

    /// Writes the current record.
    fn write(&mut self) -> Result {
        self.inner.target.check()?;
        let number = self.number()?;
        let body = &mut self.inner.target;
        body.settle_declared(self.options.write_charset)?;
        let Parts { leader, fields, data, fidelity } = body.parts();
        self.out.room(2 * data.len(), u64::MAX)?;
        let mut lines = Lines {
            out: &mut self.out,
            number: format!("{number:09} "),
            fidelity,
            subfields: Subfields::default(),
        };
        let leader = lines.fixed(leader, "the leader")?;
        lines.put("LDR", "  ", &leader);
        for field in fields {
            // Texts were put together.
            let content = std::str::from_utf8(field.content(data)).unwrap_or_default();
            lines.put_field(field, content)?;
        }
        self.count += 1;
        self.previous = number;
        Ok(())
    }
}

/// Writes lines with the same system number.
struct Lines<'w, 'o> {
    out: &'w mut Out<'o>,
    number: String,
    fidelity: &'w mut Fidelity,
    subfields: Subfields,
}

impl Lines<'_, '_> {
    fn put(&mut self, tag: &str, indicators: &str, content: &str) {
        self.out.extend_short(self.number.as_bytes());
        self.out.extend_short(tag.as_bytes());
        self.out.extend_short(indicators.as_bytes());
        self.out.extend_short(b" L ");
        self.out.extend_short(content.as_bytes());
        self.out.push_array([b'\n']);
    }

    fn put_field(&mut self, field: &FieldPlace, content: &str) -> Result {
        let tag = field.name();
        if tag == "LDR" {
            return Err(Error::unrepresentable(
                "found the field LDR, whose tag stands for the leader in Aleph sequential",
            ));
        }
        if is_control_tag(&field.tag) {
            let content = self.fixed(content, &tag)?;
            self.put(&tag, "  ", &content);
            return Ok(());
        }
        if field.is_text {
            if content.is_empty() {
                return Err(Error::unrepresentable(format!(
                    "found no text in {tag}, expected some: it would be read as indicators"
                )));
            }
            let content = self.text(content, &tag, false)?;
            self.put(&tag, "  ", &content);
            return Ok(());
        }
        let (indicators, rest) = content.split_at(field.indicators.iter().sum::<u32>() as usize);
        check_indicators(field, indicators)?;
        let subfields = rest.split(char::from(SUBFIELD_DELIMITER)).skip(1);
        self.gather(&tag, subfields)?;
        let subfields = std::mem::take(&mut self.subfields);
        subfields.lines(|line| self.put(&tag, indicators, line));
        self.subfields = subfields;
        Ok(())
    }

    /// Collects the subfields of a field, each with its code.
    fn gather<'s>(&mut self, tag: &str, subfields: impl Iterator<Item = &'s str>) -> Result {
        self.subfields.clear();
        let mut subfields = subfields.peekable();
        while let Some(subfield) = subfields.next() {
            let (code, value) = split_first(subfield);
            if code.is_empty() {
                return Err(Error::unrepresentable(format!(
                    "found a subfield without a code in {tag}, expected a character"
                )));
            }
            let code = self.without_line_ends(code, tag)?;
            let value = self.text(value, tag, subfields.peek().is_some())?;
            self.subfields.push(&code, &value);
        }
        match self.subfields.is_marked() {
            true => Err(Error::unrepresentable(format!(
                "found \"^\" in the first subfield $9 of {tag}, which marks a field that continues another"
            ))),
            false => Ok(()),
        }
    }

    /// Returns text that holds no two dollar signs, and does not end in one if a subfield follows.
    fn text<'t>(&mut self, text: &'t str, tag: &str, is_followed: bool) -> Result<Cow<'t, str>> {
        let text = self.without_line_ends(text, tag)?;
        let begins = is_followed && text.ends_with('$');
        if !begins && !text.contains("$$") {
            return Ok(text);
        }
        let found = format!("dollar signs in {tag} that would begin a subfield");
        lose(self.fidelity, &found, "blanks between them")?;
        let mut apart = text.replace("$$", "$ $").replace("$$", "$ $");
        if begins {
            apart.push(' ');
        }
        Ok(Cow::Owned(apart))
    }

    /// Returns a fixed field, or the leader, with carets for blanks.
    fn fixed(&mut self, text: &str, tag: &str) -> Result<String> {
        let text = self.without_line_ends(text, tag)?;
        if text.contains('^') {
            lose(
                self.fidelity,
                &format!("\"^\" in {tag}, where it stands for a blank"),
                "a blank",
            )?;
        }
        Ok(text.replace(' ', "^"))
    }

    fn without_line_ends<'t>(&mut self, text: &'t str, tag: &str) -> Result<Cow<'t, str>> {
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
            return Ok(Cow::Borrowed(text));
        }
        lose(self.fidelity, &format!("a line end in {tag}"), "a blank")?;
        Ok(Cow::Owned(text.replace(['\n', '\r'], " ")))
    }
}

fn check_indicators(field: &FieldPlace, indicators: &str) -> Result {
    let is_printable = |byte: &u8| matches!(byte, 0x20..=0x7E);
    if field.indicators == [1, 1] && indicators.as_bytes().iter().all(is_printable) {
        return Ok(());
    }
    let (ind1, ind2) = indicators.split_at(field.indicators[0] as usize);
    Err(Error::unrepresentable(format!(
        "found the indicators {ind1:?} and {ind2:?} in {}, expected one printable ASCII character each",
        field.name()
    )))
}

/// Counts a loss, or refuses it.
#[cold]
fn lose(fidelity: &mut Fidelity, found: &str, written: &str) -> Result {
    if fidelity.policy() == OnLoss::Approximate {
        fidelity.note(LossKind::Marc, found, written);
        return Ok(());
    }
    let message = format!("found {found}, which Aleph sequential cannot hold");
    Err(Error::new(ErrorKind::Refused, message)
        .hint(Hint::set(Opt::OnLoss, "approximate").to(format!("write {written}"))))
}
