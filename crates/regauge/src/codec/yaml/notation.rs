//! Writes the events as text, in the notation of yaml-test-suite's `test.event` files.

use super::event::{Handler, Props, Span, Style};
use super::machine::{Machine, Run};
use super::view::View;
use crate::bytes::reader::Status;
use crate::{Limits, Result};

/// Writes one line per event.
struct Notation {
    text: String,
}

impl Notation {
    fn props(&mut self, props: &Props) {
        if let Some(anchor) = props.anchor() {
            self.text.push_str(" &");
            self.text.push_str(anchor);
        }
        if let Some(tag) = props.tag() {
            self.text.push_str(" <");
            self.text.push_str(tag);
            self.text.push('>');
        }
    }
}

impl Handler for Notation {
    fn begin_document(&mut self, explicit: bool) -> Result {
        self.text.push_str(if explicit { "+DOC ---\n" } else { "+DOC\n" });
        Ok(())
    }
    fn end_document(&mut self, explicit: bool) -> Result {
        self.text.push_str(if explicit { "-DOC ...\n" } else { "-DOC\n" });
        Ok(())
    }
    fn begin_sequence(&mut self, props: &Props, flow: bool, _key: bool) -> Result {
        self.text.push_str(if flow { "+SEQ []" } else { "+SEQ" });
        self.props(props);
        self.text.push('\n');
        Ok(())
    }
    fn end_sequence(&mut self) -> Result {
        self.text.push_str("-SEQ\n");
        Ok(())
    }
    fn begin_mapping(&mut self, props: &Props, flow: bool, _key: bool) -> Result {
        self.text.push_str(if flow { "+MAP {}" } else { "+MAP" });
        self.props(props);
        self.text.push('\n');
        Ok(())
    }
    fn end_mapping(&mut self) -> Result {
        self.text.push_str("-MAP\n");
        Ok(())
    }
    fn plain(&mut self, span: Span<'_>, key: bool) -> Result {
        self.scalar(Props::NONE, Style::Plain, span.text(), key)
    }
    fn scalar(&mut self, props: &Props, style: Style, text: &str, _key: bool) -> Result {
        self.text.push_str("=VAL");
        self.props(props);
        self.text.push_str(match style {
            Style::Plain => " :",
            Style::Single => " '",
            Style::Double => " \"",
            Style::Literal => " |",
            Style::Folded => " >",
        });
        for char in text.chars() {
            match char {
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                '\r' => self.text.push_str("\\r"),
                '\x08' => self.text.push_str("\\b"),
                char => self.text.push(char),
            }
        }
        self.text.push('\n');
        Ok(())
    }
    fn alias(&mut self, name: &str, _key: bool) -> Result {
        self.text.push_str("=ALI *");
        self.text.push_str(name);
        self.text.push('\n');
        Ok(())
    }
}

/// Returns the events of a YAML stream before any schema is applied, in the notation of
/// yaml-test-suite's `test.event` files: one line per event, with anchors, full tags and the styles
/// of scalars and collections. For tests.
///
/// # Errors
/// `Syntax`, `Truncated`, `Limit` and `Unsupported` as in reading, with their offset. Aliases are
/// not resolved.
pub fn events(bytes: &[u8]) -> Result<String> {
    let mut machine = Machine::new(Limits::default());
    let mut notation = Notation { text: "+STR\n".to_owned() };
    let mut pos = 0;
    while drive(&mut machine, &mut notation, bytes, None, &mut pos, true)? != Status::End {}
    notation.text.push_str("-STR\n");
    Ok(notation.text)
}

/// Runs the machine over a window of bytes: see [`Parse::parse`](crate::bytes::reader::Parse::parse). If
/// there is a `copy`, it is read instead from `*pos` on: see [`Breaks`](super::breaks::Breaks).
#[inline]
pub(super) fn drive<H: Handler + ?Sized>(
    machine: &mut Machine,
    handler: &mut H,
    bytes: &[u8],
    copy: Option<&[u8]>,
    pos: &mut usize,
    last: bool,
) -> Result<Status> {
    let start = *pos;
    if machine.is_at_start() && !machine.check_encoding(&bytes[start..], last)? {
        return Ok(Status::More);
    }
    let mut view = View::new(&bytes[start..]);
    let mut at = 0;
    // If a token did not end in everything available, scanning it again is worthwhile only when
    // there is twice as much.
    let mut least = machine.wanted(bytes.len() - start, last);
    if least > bytes.len() - start {
        return Ok(Status::More);
    }
    loop {
        let grown = view.extend(least);
        let whole = view.is_whole();
        if !grown && !whole && (view.is_broken() || last) {
            // Everything before has been read: the fault is next.
            *pos = start + at;
            let index = start + view.text().len();
            return Err(super::fault::utf8(bytes[index]).at(index as u64));
        }
        if !(grown || whole && last) {
            *pos = start + at;
            machine.note_cut(bytes.len() - *pos);
            return Ok(Status::More);
        }
        let status = Run::go(machine, handler, view.text(), copy, &mut at, last && whole);
        match status {
            Ok(Status::More) => least = at + 2 * (view.text().len() - at),
            Ok(status) => {
                *pos = start + at;
                return Ok(status);
            }
            Err(error) => {
                *pos = start + at;
                return Err(match error.offset() {
                    Some(offset) => error.at(start as u64 + offset),
                    None => error,
                });
            }
        }
    }
}
