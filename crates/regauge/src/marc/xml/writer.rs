//! Records to MARCXML.

use super::{INSTRUCTION, NAMESPACE, is_forbidden};
use crate::event::{Sink, forward};
use crate::fidelity::{Fidelity, LossKind, OnLoss};
use crate::marc::Options;
use crate::marc::record::{Field, RecordBuilder};
use crate::out::Out;
use crate::{Error, ErrorKind, Limits, Result};

/// A writer of MARCXML: a sink for documents in the shape of MARC-in-JSON. The file is one
/// collection; one without records is an empty collection.
pub struct Writer<'o> {
    inner: RecordBuilder,
    out: Out<'o>,
    layout: &'static Layout,
    begun: bool,
}

/// What stands between the elements.
struct Layout {
    collection: &'static str,
    record: &'static str,
    field: &'static str,
    subfield: &'static str,
    end: &'static str,
}

const INDENTED: Layout =
    Layout { collection: "\n", record: "  ", field: "\n    ", subfield: "\n      ", end: "\n" };

const COMPACT: Layout = Layout { collection: "\n", record: "", field: "", subfield: "", end: "\n" };

impl<'o> Writer<'o> {
    /// A writer into `out`.
    pub fn new(out: Out<'o>, options: Options, fidelity: Fidelity) -> Writer<'o> {
        let inner = RecordBuilder::new(&Limits::default(), fidelity);
        let layout = if options.compact { &COMPACT } else { &INDENTED };
        Writer { inner, out, layout, begun: false }
    }

    /// The buffer, for what is still in memory.
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    fn begin(&mut self) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        self.out.extend(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<collection xmlns=\"");
        self.out.extend(NAMESPACE.as_bytes());
        self.out.extend(b"\">");
        self.out.extend(self.layout.collection.as_bytes());
    }

    fn write(&mut self) -> Result {
        // Room for nearly every record; the buffer grows for the others.
        self.out.room(self.inner.record().weight() as usize * 3 + 256, u64::MAX)?;
        self.begin();
        let layout = self.layout;
        let (record, fidelity) = self.inner.parts();
        let mut body = Body {
            out: &mut self.out,
            // One look at all text spares one at each piece.
            clean: is_clean(record.all_text()),
            fidelity,
        };
        body.raw(layout.record);
        body.raw("<record>");
        if let Some(charset) = record.charset_key() {
            body.raw(layout.field);
            body.raw("<?");
            body.raw(INSTRUCTION);
            body.raw(" charset=\"");
            body.raw(charset.name());
            body.raw("\"?>");
        }
        body.raw(layout.field);
        body.raw("<leader>");
        body.text("the leader", "", record.leader())?;
        body.raw("</leader>");
        for field in record.fields() {
            body.raw(layout.field);
            match field {
                Field::Text { tag, text } => {
                    body.raw("<controlfield tag=\"");
                    body.attribute(tag, tag)?;
                    body.raw("\">");
                    body.whole("tag", tag)?;
                    body.text(tag, "", text)?;
                    body.raw("</controlfield>");
                }
                Field::Data { tag, ind1, ind2, subfields } => {
                    body.raw("<datafield tag=\"");
                    body.attribute(tag, tag)?;
                    body.raw("\" ind1=\"");
                    body.attribute(tag, ind1)?;
                    body.raw("\" ind2=\"");
                    body.attribute(tag, ind2)?;
                    body.raw("\">");
                    body.whole("tag", tag)?;
                    body.whole("ind1", ind1)?;
                    body.whole("ind2", ind2)?;
                    for (code, value) in subfields {
                        body.raw(layout.subfield);
                        body.raw("<subfield code=\"");
                        body.attribute(tag, code)?;
                        body.raw("\">");
                        body.whole("code", code)?;
                        body.text(tag, code, value)?;
                        body.raw("</subfield>");
                    }
                    body.raw(layout.field);
                    body.raw("</datafield>");
                }
            }
        }
        if !layout.record.is_empty() {
            body.raw("\n");
            body.raw(layout.record);
        }
        body.raw("</record>");
        body.raw(layout.end);
        Ok(())
    }
}

/// Tells whether no character of the text needs a thought, wherever it stands.
fn is_clean(text: &str) -> bool {
    // The lead byte of U+FFFE and U+FFFF is that of other characters too, which are just slower.
    text.bytes().all(|b| b >= b' ' && !matches!(b, b'&' | b'<' | b'>' | b'"' | 0xEF))
}

/// The elements of one record.
struct Body<'b, 'o> {
    out: &'b mut Out<'o>,
    clean: bool,
    fidelity: &'b mut Fidelity,
}

impl Body<'_, '_> {
    #[inline]
    fn raw(&mut self, text: &str) {
        self.out.extend(text.as_bytes());
    }

    /// Text of an element.
    #[inline]
    fn text(&mut self, tag: &str, code: &str, text: &str) -> Result {
        if self.clean {
            self.raw(text);
            return Ok(());
        }
        self.escape(tag, code, text, false)
    }

    /// The value of an attribute.
    #[inline]
    fn attribute(&mut self, tag: &str, value: &str) -> Result {
        if self.clean {
            self.raw(value);
            return Ok(());
        }
        self.escape(tag, "", value, true)
    }

    fn escape(&mut self, tag: &str, code: &str, text: &str, attribute: bool) -> Result {
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            let special = |b: &u8| *b < b' ' || matches!(b, b'&' | b'<' | b'>' | b'"' | 0xEF);
            let Some(run) = bytes[at..].iter().position(special) else {
                self.raw(&text[at..]);
                return Ok(());
            };
            self.raw(&text[at..at + run]);
            at += run;
            match bytes[at] {
                b'&' => self.raw("&amp;"),
                b'<' => self.raw("&lt;"),
                b'>' => self.raw("&gt;"),
                b'"' if attribute => self.raw("&quot;"),
                // A reader makes a line feed of it where it stands as it is (XML 1.0 §2.11), and a
                // blank of all three in an attribute (§3.3.3).
                b'\r' => self.raw("&#13;"),
                b'\n' if attribute => self.raw("&#10;"),
                b'\t' if attribute => self.raw("&#9;"),
                byte => {
                    let c = text[at..].chars().next().expect("a byte is there");
                    if is_forbidden(c) {
                        self.forbidden(tag, code, c, attribute)?;
                    } else {
                        self.raw(&text[at..at + c.len_utf8()]);
                    }
                    at += if byte < 0x80 { 1 } else { c.len_utf8() };
                    continue;
                }
            }
            at += 1;
        }
    }

    /// A character that XML has no place for: goes by the policy.
    #[cold]
    fn forbidden(&mut self, tag: &str, code: &str, c: char, attribute: bool) -> Result {
        let mut place = tag.to_owned();
        if !code.is_empty() {
            place += &format!(" ${}", code.escape_debug());
        }
        let number = u32::from(c);
        match self.fidelity.policy() {
            OnLoss::Refuse => Err(Error::new(
                ErrorKind::Refused,
                format!("found the character U+{number:04X} in {place}, which XML cannot hold"),
            )
            .hint(
                "pass --on-loss wrap to write a processing instruction (reversible), or \
                 --on-loss approximate to write U+FFFD",
            )),
            OnLoss::Wrap => {
                if attribute {
                    // The whole value follows as an instruction: see `whole`.
                    self.raw("\u{FFFD}");
                } else {
                    self.raw(&format!("<?{INSTRUCTION} u+{number:04X}?>"));
                }
                Ok(())
            }
            OnLoss::Approximate => {
                let found = format!("the character U+{number:04X} in {place}");
                self.fidelity.note(LossKind::Marc, found, "U+FFFD");
                self.raw("\u{FFFD}");
                Ok(())
            }
        }
    }

    /// The value of an attribute again, as an instruction, if the attribute could not hold it.
    #[inline]
    fn whole(&mut self, name: &str, value: &str) -> Result {
        if self.clean || self.fidelity.policy() != OnLoss::Wrap || !value.contains(is_forbidden) {
            return Ok(());
        }
        self.raw(&format!("<?{INSTRUCTION} {name}"));
        for c in value.chars() {
            self.raw(&format!(" u+{:04X}", u32::from(c)));
        }
        self.raw("?>");
        Ok(())
    }
}

impl Sink for Writer<'_> {
    forward!(null bool i64 u64 f64 f32 str bytes big_int ext begin_array end_array);
    forward!(begin_map key key_value end_map fidelity);
}

impl crate::event::Writer for Writer<'_> {
    fn end_document(&mut self) -> Result {
        self.write()
    }
    fn finish(&mut self) -> Result {
        self.begin();
        self.out.extend(b"</collection>\n");
        self.out.finish()
    }
    fn checkpoint(&mut self) {
        // What stands before the first record is no part of it.
        self.begin();
        self.out.checkpoint();
    }
    fn rollback(&mut self) {
        self.inner.reset();
        self.out.rollback();
    }
}
