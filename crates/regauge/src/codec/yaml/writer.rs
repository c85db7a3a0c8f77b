//! Writes events as YAML, in block style.
//!
//! ```yaml
//! key: value
//! map:
//!   key: value
//! sequence:
//! - value
//! - - value in a sequence in a sequence
//! - key: value in a map in a sequence
//!   other: value
//! ```
//!
//! Items of a sequence are in the column of the key above them, as libyaml, PyYAML, Psych and
//! kubectl write them: files that went through one of these come back with few lines changed.
//!
//! A scalar ends its line, so every line is complete when the next event comes. [`At`] alone
//! determines what must be written before the next value. A container writes nothing until its
//! first item or key, or its end, which makes it `[]` or `{}`: so it needs neither a length nor
//! look-ahead. Advice for editors: a [`Frame`] is never changed while it is on the stack, and
//! nothing that was written is changed, so a rollback needs only the state of the top.
//!
//! Containers deeper than [`BLOCK_DEPTH`] are in flow style, on the line of the block around them:
//! otherwise, the indentation of each line could make a document as large as its depth times its
//! lines. The same goes for keys that are containers.

mod events;

use std::collections::BTreeMap;

use super::keys::KEY_BYTES;
use super::quote::{self, Place, Style};
use super::scalar::{self, room, spaces};
use super::tags;
use crate::Result;
use crate::bytes::buffer::Out;
use crate::options::yaml::{Schema, WriteOptions};
use crate::policy::event::{Origin, Sink, Type};
use crate::policy::fidelity::{self, Fidelity};

/// How deep containers nest in block style.
const BLOCK_DEPTH: usize = 64;

/// The room that one token needs besides text and indentation: what precedes it, the longest
/// number, and the reserve of [`spaces`].
const TOKEN_BYTES: usize = 96;

/// What precedes the next value or key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// At the beginning of the first document: nothing.
    Start,
    /// At the beginning of another document: `---`.
    Document,
    /// At the beginning of a line of a block sequence: its indentation and a dash.
    Item,
    /// At the beginning of a line of a block map: its indentation.
    Pair,
    /// After a key's colon, an anchor or a tag: a space before a scalar.
    Key,
    /// In an empty block container, on the line of what precedes it.
    FirstInline,
    /// In an empty block container, whose first line is the next.
    FirstBelow,
    /// In an empty flow container: nothing.
    FlowFirst,
    /// In a flow sequence: a comma.
    FlowItem,
    /// In a flow map: a comma.
    FlowPair,
    /// After a tag of YAML's own that waits for its value.
    OwnTag,
}

/// A container that is open.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The column where its items or keys begin.
    column: u32,
    /// The writer's state after one of its values.
    next: At,
}

impl Frame {
    /// Returns whether values are between brackets, or need the slow path for another reason.
    fn is_flow(self) -> bool {
        matches!(self.next, At::FlowItem | At::FlowPair | At::OwnTag)
    }
}

/// A tag of YAML's own that is not written yet, because its value decides whether it can be.
#[derive(Debug)]
struct OwnTag {
    name: String,
    /// The writer's state before the tag.
    at: At,
    frame: Frame,
}

/// The properties of a value, written before it.
#[derive(Debug, Default)]
struct Node {
    /// Where they end: the value is next only if nothing was written since.
    end: Option<u64>,
    anchor: Option<u64>,
    tagged: bool,
}

/// Turns events into bytes.
#[derive(Debug)]
pub struct Writer<'o> {
    out: Out<'o>,
    at: At,
    /// The anchor and the tag before the current value.
    node: Node,
    own_tag: Option<OwnTag>,
    /// Anchors of the document that were not written, and those that replace them.
    same: BTreeMap<u64, u64>,
    /// The innermost container.
    frame: Frame,
    /// The containers around it.
    stack: Vec<Frame>,
    /// The state that a rollback returns to.
    checkpoint: (At, Frame, usize),
    /// Columns that a map in a map is indented by, and a sequence in a map.
    map_indent: u32,
    sequence_indent: u32,
    exact_numbers: bool,
    schema: Schema,
    fidelity: Fidelity,
}

impl<'o> Writer<'o> {
    /// Creates a writer into `out`. Values that YAML cannot hold follow the policy of `fidelity`.
    pub fn new(out: Out<'o>, options: WriteOptions, fidelity: Fidelity) -> Writer<'o> {
        let at = if options.document_start { At::Document } else { At::Start };
        let frame = Frame { column: 0, next: At::Document };
        let map_indent = u32::from(options.indent.clamp(1, 16));
        Writer {
            out,
            at,
            node: Node::default(),
            own_tag: None,
            same: BTreeMap::new(),
            frame,
            stack: Vec::new(),
            checkpoint: (at, frame, 0),
            map_indent,
            sequence_indent: if options.indent_sequences { map_indent } else { 0 },
            exact_numbers: options.exact_numbers,
            schema: options.schema,
            fidelity,
        }
    }

    /// Returns the buffer, for the bytes that are in memory: see [`Out::into_vec`].
    pub fn into_out(self) -> Out<'o> {
        self.out
    }

    /// Makes room for a token of this many bytes, and writes what precedes a value.
    #[inline(always)]
    fn lead(&mut self, bytes: usize) -> Result {
        room(&mut self.out, bytes + TOKEN_BYTES + self.frame.column as usize)?;
        match self.at {
            At::Key => self.out.push(b' '),
            At::Item => {
                spaces(&mut self.out, self.frame.column as usize);
                self.out.push_array(*b"- ");
            }
            _ => return self.rare_lead(bytes),
        }
        Ok(())
    }

    fn rare_lead(&mut self, bytes: usize) -> Result {
        match self.at {
            At::Start | At::FlowFirst => {}
            At::Document => self.out.extend(b"---\n"),
            At::FirstInline => self.out.push_array(*b"- "),
            At::FirstBelow => {
                self.out.push(b'\n');
                spaces(&mut self.out, self.frame.column as usize);
                self.out.push_array(*b"- ");
            }
            At::FlowItem => self.out.push_array(*b", "),
            At::Key | At::Item => unreachable!("handled before"),
            At::OwnTag => {
                self.place_tag(tags::Node::Other)?;
                return self.lead(bytes);
            }
            At::Pair | At::FlowPair => debug_assert!(false, "a value without a key"),
        }
        Ok(())
    }

    /// Writes the tag that waits for this value, or applies the policy if it would not be read
    /// back.
    #[cold]
    fn place_tag(&mut self, node: tags::Node<'_>) -> Result {
        let tag = self.own_tag.take().expect("a tag waits");
        (self.at, self.frame) = (tag.at, tag.frame);
        if tags::is_kept(self.schema, &tag.name, node) {
            return self.write_tag(&tag.name);
        }
        fidelity::begin_typed(self, &Type { origin: Origin::Yaml, kind: "tag", name: &tag.name })
    }

    fn write_tag(&mut self, name: &str) -> Result {
        self.property()?;
        self.fidelity.hold_typed();
        scalar::tag(&mut self.out, name)?;
        self.node.tagged = true;
        self.node.end = Some(self.out.position());
        Ok(())
    }

    /// Makes room for a key of this many bytes, and writes what precedes it.
    #[inline(always)]
    fn lead_key(&mut self, bytes: usize) -> Result {
        room(&mut self.out, bytes + TOKEN_BYTES + self.frame.column as usize)?;
        match self.at {
            At::Pair => spaces(&mut self.out, self.frame.column as usize),
            At::FirstBelow => {
                self.out.push(b'\n');
                spaces(&mut self.out, self.frame.column as usize);
            }
            At::FlowPair => self.out.push_array(*b", "),
            _ => debug_assert!(matches!(self.at, At::FirstInline | At::FlowFirst)),
        }
        Ok(())
    }

    /// Ends the line after a scalar. There must be room.
    #[inline(always)]
    fn tail(&mut self) {
        if !self.frame.is_flow() {
            self.out.push(b'\n');
        }
        self.at = self.frame.next;
    }

    /// Writes a short scalar that needs no quotes.
    #[inline(always)]
    fn word(&mut self, word: &[u8]) -> Result {
        self.lead(word.len())?;
        self.out.extend_short(word);
        self.tail();
        Ok(())
    }

    /// Same as [`word`](Writer::word), for any length.
    fn token(&mut self, text: &str) -> Result {
        self.lead(0)?;
        scalar::raw(&mut self.out, text.as_bytes())?;
        room(&mut self.out, 1)?;
        self.tail();
        Ok(())
    }

    /// Writes a scalar after a tag of YAML's own. Its text is plain by nature, or quoted.
    fn tagged(&mut self, tag: &str, text: &str) -> Result {
        self.lead(tag.len() + 1)?;
        self.out.extend(tag.as_bytes());
        self.out.push(b' ');
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":+-.".contains(&byte);
        if !text.is_empty() && text.bytes().all(plain) && !text.ends_with(':') {
            scalar::raw(&mut self.out, text.as_bytes())?;
        } else {
            scalar::double(&mut self.out, text)?;
        }
        room(&mut self.out, 1)?;
        self.tail();
        Ok(())
    }

    /// Writes text that is not plain, or is between brackets.
    #[inline(never)]
    fn quoted_text(&mut self, text: &str) -> Result {
        if self.at == At::OwnTag {
            self.place_tag(tags::Node::Text(text))?;
            return self.str(text);
        }
        self.lead(0)?;
        let place = if self.frame.is_flow() { Place::Flow } else { Place::Value };
        match quote::style(text, place) {
            Style::Plain => scalar::raw(&mut self.out, text.as_bytes())?,
            Style::Single => scalar::single(&mut self.out, text)?,
            Style::Double => scalar::double(&mut self.out, text)?,
            Style::Literal => {
                let column = match self.frame.next {
                    At::Pair => self.frame.column + self.map_indent,
                    _ => self.frame.column + 2,
                };
                scalar::literal(&mut self.out, text, column as usize)?;
                self.at = self.frame.next;
                return Ok(());
            }
        }
        room(&mut self.out, 1)?;
        self.tail();
        Ok(())
    }

    /// Writes a key that is long, or not plain, or is between brackets.
    #[inline(never)]
    fn quoted_key(&mut self, key: &str) -> Result {
        self.lead_key(0)?;
        let place = if self.frame.is_flow() { Place::Flow } else { Place::Key };
        let style = quote::style(key, place);
        // An escape makes at most four characters of one byte.
        let most = if style == Style::Double { KEY_BYTES / 4 } else { KEY_BYTES };
        let explicit = key.len() > most;
        if explicit {
            self.out.push_array(*b"? ");
        }
        match style {
            Style::Plain => scalar::raw(&mut self.out, key.as_bytes())?,
            // Psych merges the value of this key, unless the key is tagged as text.
            Style::Single if key == "<<" => self.out.extend(b"!!str '<<'"),
            Style::Single => scalar::single(&mut self.out, key)?,
            Style::Double | Style::Literal => scalar::double(&mut self.out, key)?,
        }
        self.end_key(explicit)
    }

    /// Writes what follows a key.
    fn end_key(&mut self, explicit: bool) -> Result {
        room(&mut self.out, TOKEN_BYTES + self.frame.column as usize)?;
        if explicit && self.frame.is_flow() {
            self.out.push(b' ');
        } else if explicit {
            self.out.push(b'\n');
            spaces(&mut self.out, self.frame.column as usize);
        }
        self.out.push(b':');
        self.at = At::Key;
        Ok(())
    }

    /// Opens a container; `block` or `flow` says what precedes its further values.
    #[inline(always)]
    fn begin(&mut self, block: At, flow: At, bracket: u8) -> Result {
        if self.stack.len() >= BLOCK_DEPTH || self.frame.is_flow() {
            return self.begin_flow(block, flow, bracket);
        }
        let first = match self.at {
            At::Key => At::FirstBelow,
            _ => {
                self.lead(0)?;
                At::FirstInline
            }
        };
        let column = match self.frame.next {
            At::Item => self.frame.column + 2,
            At::Pair if block == At::Pair => self.frame.column + self.map_indent,
            At::Pair => self.frame.column + self.sequence_indent,
            _ => 0,
        };
        self.stack.push(self.frame);
        self.frame = Frame { column, next: block };
        self.at = first;
        Ok(())
    }

    #[inline(never)]
    fn begin_flow(&mut self, block: At, flow: At, bracket: u8) -> Result {
        if self.at == At::OwnTag {
            let mapping = bracket == b'{';
            self.place_tag(if mapping { tags::Node::Mapping } else { tags::Node::Sequence })?;
            return self.begin(block, flow, bracket);
        }
        self.lead(1)?;
        self.out.push(bracket);
        self.stack.push(self.frame);
        // The column of the surrounding block is used only to make room.
        self.frame = Frame { column: self.frame.column, next: flow };
        self.at = At::FlowFirst;
        Ok(())
    }

    /// Closes a container, and writes it if it is empty.
    #[inline(always)]
    fn end(&mut self, empty: [u8; 2]) -> Result {
        if matches!(self.at, At::Item | At::Pair) {
            self.pop();
            return Ok(());
        }
        self.rare_end(empty)
    }

    #[inline(never)]
    fn rare_end(&mut self, empty: [u8; 2]) -> Result {
        room(&mut self.out, TOKEN_BYTES)?;
        match self.at {
            At::FirstBelow => self.out.push_array([b' ', empty[0], empty[1]]),
            At::FirstInline => self.out.push_array(empty),
            _ => self.out.push(empty[1]),
        }
        self.pop();
        self.tail();
        Ok(())
    }

    #[inline(always)]
    fn pop(&mut self) {
        debug_assert!(!self.stack.is_empty(), "an end without a beginning");
        if let Some(frame) = self.stack.pop() {
            self.frame = frame;
        }
        self.at = self.frame.next;
    }

    /// Writes what precedes an anchor or a tag.
    fn property(&mut self) -> Result {
        if !self.has_property() {
            self.node = Node::default();
        }
        self.lead(32)?;
        self.at = At::Key;
        Ok(())
    }

    /// Returns whether an anchor or a tag directly precedes the current value.
    fn has_property(&self) -> bool {
        self.at == At::Key && self.node.end == Some(self.out.position())
    }

    /// Returns whether a tag directly precedes the current value, which then can neither have
    /// another nor be a scalar that only its tag or its digits distinguish from text.
    fn is_tagged(&self) -> bool {
        self.has_property() && self.node.tagged
    }

    /// Returns the anchor that directly precedes the current value.
    fn anchor(&self) -> Option<u64> {
        self.node.anchor.filter(|_| self.has_property())
    }

    /// Returns the position of the next byte in the buffer.
    #[inline(always)]
    fn out_place(&self) -> usize {
        self.out.held().len()
    }
}

#[cfg(test)]
#[path = "tests/writer.rs"]
mod tests;
