//! The grammar of YAML 1.2.2 as a state machine over a window of text.
//!
//! Advice for editors:
//!
//! - [`Run::at`] is the position up to which everything has been consumed. A step looks ahead as
//!   far as it must, and only then sends events, changes the state and moves `at`. So it can stop
//!   anywhere with [`Stop::More`], and is run again from `at` with more of the input. If a step
//!   sends several events, each of them must leave a state from which the rest can continue.
//! - Nothing may depend on where a window ends: [`Run::peek`] asks for bytes past its end, which
//!   must never be mistaken for the end of the input.
//! - There is no token queue and no recursion. Open collections are on [`Machine::stack`].
//! - An implicit key (`key: value`) is recognised by the colon after it, so a scalar is scanned
//!   before the mapping that it opens begins; a flow collection is scanned to its end
//!   ([`Run::is_flow_key`]), within the 1,024 characters and the single line that §7.4.2 allows.

mod documents;

use super::breaks::after_kept;
use super::event::{Handler, Props, Span, Style};
use super::fault;
use super::simd::skip_spaces;
use crate::bytes::reader::Status;
use crate::model::limits::Limits;
use crate::{Error, Result};

/// Why a step ended before it was complete.
pub(super) enum Stop {
    /// The window is too short.
    More,
    Fault(Error),
}

impl From<Error> for Stop {
    #[cold]
    fn from(error: Error) -> Stop {
        Stop::Fault(error)
    }
}

pub(super) type Step<T = ()> = std::result::Result<T, Stop>;

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The stream begins.
    Start,
    /// No document is open.
    Between,
    /// A node of a block collection, or the root.
    Node,
    /// A node in block style is complete; another entry follows, or the collection ends.
    Entry,
    /// The properties of a block mapping's key have been read; the key follows.
    Key,
    /// A flow collection that is an implicit key is complete; its colon follows.
    Colon,
    /// In a flow collection: an entry, or the end.
    FlowEntry,
    /// In a flow collection: a node, or nothing.
    FlowNode,
    /// In a flow collection: a key is complete, and a colon may follow.
    FlowColon,
    /// In a flow collection: a comma or the end.
    FlowAfter,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Sequence,
    Mapping,
    FlowSequence,
    FlowMapping,
    /// The single-pair mapping that a colon or a `?` makes in a flow sequence.
    FlowPair,
}

/// The role of the current node in the mapping around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// The key of a pair, without `?`.
    Key,
    /// The key after a `?`.
    Explicit,
    Value,
}

/// An open collection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) phase: Phase,
    /// In block style, the column of its entries.
    pub(super) indent: i32,
}

/// The state that persists between windows.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) limits: Limits,
    pub(super) depth_max: usize,
    pub(super) state: State,
    pub(super) stack: Vec<Frame>,
    /// The column of `at`.
    column: isize,
    /// How many bytes must be available before the current token is scanned again.
    cut: usize,
    /// Offset of the window's start in the whole input.
    base: u64,
    /// Whether the next token is the first on its line.
    pub(super) fresh: bool,
    /// Whether a tab separates it from the token before (or from the line's start).
    pub(super) tab: bool,
    /// Whether whitespace precedes it.
    pub(super) space: bool,
    /// The number of spaces at the beginning of the line, if a tab follows them.
    indent: i32,
    /// Whether a block collection may begin here although it is not first on its line.
    pub(super) compact: bool,
    /// Anchor and tag on lines before the node: those of a collection, if one begins.
    pub(super) outer: Props,
    /// Those on the current line: of the key, if it is one.
    pub(super) inner: Props,
    pub(super) any_props: bool,
    /// The column of the first of `inner`, and whether a block collection may begin there.
    pub(super) key_column: i32,
    pub(super) key_may: bool,
    /// The number of open flow collections; their lines are indented more than `flow_indent`.
    pub(super) flow: u32,
    pub(super) flow_indent: i32,
    /// Whether the last key in a flow collection was quoted or a collection, so that its colon
    /// needs no space after it (§7.4.2).
    pub(super) json_key: bool,
    /// For flow collections that a look-ahead passed: whether they are keys, by their offsets.
    pub(super) flow_keys: Vec<(u64, bool)>,
    /// The document's `%TAG` handles with their prefixes.
    pub(super) handles: Vec<(String, String)>,
    /// Whether a `%YAML` directive was read; whether any directive was.
    pub(super) version: bool,
    pub(super) directives: bool,
    /// A byte order mark ended the previous document: only `---` or `...` may follow.
    explicit: bool,
    /// After `...`, only a comment may follow on the line.
    after_dots: bool,
    /// The text of a scalar that differs from its form in the input.
    pub(super) scratch: String,
}

impl Machine {
    pub(super) fn new(limits: Limits) -> Machine {
        Machine {
            limits,
            depth_max: limits.depth.min(Limits::DEPTH_CEILING) as usize,
            state: State::Start,
            stack: Vec::new(),
            column: 0,
            cut: 0,
            base: 0,
            fresh: true,
            tab: false,
            space: true,
            indent: 0,
            compact: false,
            outer: Props::default(),
            inner: Props::default(),
            any_props: false,
            key_column: 0,
            key_may: false,
            flow: 0,
            flow_indent: -1,
            json_key: false,
            flow_keys: Vec::new(),
            handles: Vec::new(),
            version: false,
            directives: false,
            explicit: false,
            after_dots: false,
            scratch: String::new(),
        }
    }

    /// Returns the column that a node's lines must be indented past.
    #[inline(always)]
    pub(super) fn block_indent(&self) -> i32 {
        match self.stack.last() {
            Some(frame) => frame.indent,
            None => -1,
        }
    }

    /// Returns whether the current node is a key after `?`, or a flow collection as a key.
    #[inline(always)]
    pub(super) fn is_key(&self) -> bool {
        self.stack.last().is_some_and(|frame| frame.phase != Phase::Value)
    }

    pub(super) fn is_at_start(&self) -> bool {
        self.state == State::Start
    }

    /// Checks the encoding by the first bytes of the stream (§5.2); returns `false` if there are
    /// too few.
    ///
    /// # Errors
    /// `Unsupported` for UTF-16 and UTF-32.
    pub(super) fn check_encoding(&mut self, bytes: &[u8], last: bool) -> Result<bool> {
        if bytes.len() < 4 && !last && bytes.iter().all(|byte| matches!(byte, 0 | 0xFE | 0xFF)) {
            return Ok(false);
        }
        let name = match bytes {
            [0, 0, 0xFE, 0xFF, ..] | [0, 0, 0, 1..=0xFF, ..] => "UTF-32BE",
            [0xFF, 0xFE, 0, 0, ..] => "UTF-32LE",
            [0xFE, 0xFF, ..] | [0, 1..=0xFF, ..] => "UTF-16BE",
            [0xFF, 0xFE, ..] => "UTF-16LE",
            // The first character of a stream is ASCII.
            [1..=0x7F, 0, ..] if bytes.len() < 4 && !last => return Ok(false),
            [1..=0x7F, 0, 0, 0, ..] => "UTF-32LE",
            [1..=0x7F, 0, ..] => "UTF-16LE",
            [1..=0x7F] if !last => return Ok(false),
            _ => {
                self.state = State::Between;
                return Ok(true);
            }
        };
        Err(fault::encoding(name).at(0))
    }

    /// Returns how many of `have` bytes a cut-off token needs before it is scanned again.
    pub(super) fn wanted(&mut self, have: usize, last: bool) -> usize {
        if last || self.cut <= have {
            self.cut = 0;
        }
        self.cut
    }

    /// Records that the current token does not end within `have` bytes. A long one is scanned again
    /// only when twice as much is available, so the total work is linear.
    pub(super) fn note_cut(&mut self, have: usize) {
        const LONG: usize = 64 << 10;
        self.cut = if have > LONG { have * 2 } else { 0 };
    }

    /// Starts again at a line this many bytes further on.
    pub(super) fn restart(&mut self, skipped: usize) {
        let base = self.base.wrapping_add(skipped as u64);
        *self = Machine::new(self.limits);
        (self.base, self.state) = (base, State::Between);
    }

    pub(super) fn set_phase(&mut self, phase: Phase) {
        if let Some(frame) = self.stack.last_mut() {
            frame.phase = phase;
        }
    }
}

/// A machine running on one window.
pub(super) struct Run<'r, 'a, H: ?Sized> {
    pub(super) m: &'r mut Machine,
    pub(super) h: &'r mut H,
    pub(super) text: &'a str,
    /// The same, except for the line breaks of YAML 1.1.
    pub(super) bytes: &'a [u8],
    /// Whether nothing follows the window.
    pub(super) last: bool,
    pub(super) at: usize,
    /// The start of the line of `at`; negative if it is before the window.
    pub(super) line: isize,
}

/// Stands for the byte after the last one.
pub(super) const END: u8 = 0;

/// Returns whether a byte ends an indicator: whitespace, or the end of the input.
#[inline(always)]
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\t' | b'\r' | END)
}

#[inline(always)]
pub(super) fn is_flow_indicator(byte: u8) -> bool {
    matches!(byte, b',' | b'[' | b']' | b'{' | b'}')
}

impl<'r, 'a, H: Handler + ?Sized> Run<'r, 'a, H> {
    /// Continues in `text` at `*pos` until a document, the input or the window ends. Sets `*pos` to
    /// the end of what was consumed.
    pub(super) fn go(
        m: &'r mut Machine,
        h: &'r mut H,
        text: &'a str,
        copy: Option<&'a [u8]>,
        pos: &mut usize,
        last: bool,
    ) -> Result<Status> {
        let bytes = copy.map_or(text.as_bytes(), |copy| &copy[..text.len()]);
        let line = *pos as isize - m.column;
        m.base = m.base.wrapping_sub(*pos as u64);
        let mut run = Run { m, h, text, bytes, last, at: *pos, line };
        let status = run.steps();
        *pos = run.at;
        run.m.column = run.at as isize - run.line;
        run.m.base = run.m.base.wrapping_add(run.at as u64);
        match status {
            Ok(status) => Ok(status),
            Err(Stop::More) => Ok(Status::More),
            Err(Stop::Fault(error)) => Err(error),
        }
    }

    fn steps(&mut self) -> Step<Status> {
        loop {
            match self.m.state {
                State::Node => self.node()?,
                State::Entry => {
                    if let Some(status) = self.entry()? {
                        return Ok(status);
                    }
                }
                State::FlowEntry => self.flow_entry()?,
                State::FlowNode => self.flow_node()?,
                State::FlowColon => self.flow_colon()?,
                State::FlowAfter => self.flow_after()?,
                State::Colon => self.colon()?,
                State::Key => self.key()?,
                State::Between => {
                    if let Some(status) = self.between()? {
                        return Ok(status);
                    }
                }
                State::Start => self.m.state = State::Between,
            }
        }
    }

    /// Returns the offset of an index in the whole input.
    pub(super) fn offset(&self, at: usize) -> u64 {
        self.m.base.wrapping_add(at as u64)
    }

    /// Returns the byte at an index; [`END`] at the end of the input.
    #[inline(always)]
    pub(super) fn peek(&self, at: usize) -> Step<u8> {
        match self.bytes.get(at) {
            Some(byte) => Ok(*byte),
            None if self.last => Ok(END),
            None => Err(Stop::More),
        }
    }

    #[inline(always)]
    pub(super) fn is_end(&self, at: usize) -> bool {
        at >= self.bytes.len()
    }

    /// Marks the token up to `to` as consumed.
    #[inline(always)]
    pub(super) fn took(&mut self, to: usize) {
        self.at = to;
        (self.m.fresh, self.m.tab, self.m.space) = (false, false, false);
    }

    /// Marks everything before the line that begins at `to` as consumed.
    #[inline(always)]
    pub(super) fn took_line(&mut self, to: usize) {
        self.at = to;
        self.line = to as isize;
        (self.m.fresh, self.m.tab, self.m.space) = (true, false, true);
    }

    /// Skips whitespace, line breaks and comments.
    #[inline(always)]
    pub(super) fn skip(&mut self) -> Step {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b'#' => Ok(()),
            _ => self.skip_on(),
        }
    }

    fn skip_on(&mut self) -> Step {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ') => {
                    self.at = skip_spaces(self.bytes, self.at);
                    self.m.space = true;
                }
                Some(b'\n') => self.took_line(self.at + 1),
                Some(b'\r') => {
                    self.took_line(after_kept(self.bytes, self.at).unwrap_or(self.at + 1));
                }
                Some(b'\t') => {
                    if !self.m.tab {
                        self.m.indent = (self.at as isize - self.line) as i32;
                    }
                    self.at += 1;
                    (self.m.tab, self.m.space) = (true, true);
                }
                Some(b'#') if self.m.space => self.at = self.comment_end(self.at)?,
                Some(_) => return Ok(()),
                None if self.last => return Ok(()),
                None => return Err(Stop::More),
            }
        }
    }

    /// Returns the number of spaces at the beginning of the line, whose first token must be at
    /// `at`.
    #[inline(always)]
    pub(super) fn indent(&self) -> i32 {
        if self.m.tab { self.m.indent } else { self.column() }
    }

    #[inline(always)]
    pub(super) fn column(&self) -> i32 {
        (self.at as isize - self.line) as i32
    }

    /// Returns whether a line begins at `at` with `---` or `...` followed by whitespace.
    #[inline(always)]
    pub(super) fn is_marker(&self, at: usize) -> Step<bool> {
        match self.bytes.get(at) {
            Some(b'-' | b'.') => self.is_marker_on(at),
            _ => Ok(false),
        }
    }

    /// Returns whether the line that begins at `at` ends a document: with a marker, or with the
    /// byte order mark of another file that was appended.
    #[inline(always)]
    pub(super) fn is_document_end(&self, at: usize) -> Step<bool> {
        match self.bytes.get(at) {
            Some(b'-' | b'.') => self.is_marker_on(at),
            Some(0xEF) => Ok(self.is_byte_order_mark(at)),
            _ => Ok(false),
        }
    }

    fn is_byte_order_mark(&self, at: usize) -> bool {
        self.text[at..].starts_with('\u{FEFF}')
    }

    fn is_marker_on(&self, at: usize) -> Step<bool> {
        let first = self.bytes[at];
        Ok(self.peek(at + 1)? == first
            && self.peek(at + 2)? == first
            && is_space(self.peek(at + 3)?))
    }

    /// Opens a collection.
    pub(super) fn push(&mut self, kind: Kind, phase: Phase, indent: i32) {
        self.m.stack.push(Frame { kind, phase, indent });
    }

    /// Checks whether one more collection may be opened at `at`.
    #[inline(always)]
    pub(super) fn check_depth(&self, at: usize) -> Step {
        if self.m.stack.len() < self.m.depth_max {
            return Ok(());
        }
        Err(fault::too_deep(self.m.depth_max).at(at as u64).into())
    }

    /// Handles a complete node: decides what comes next.
    #[inline(always)]
    pub(super) fn node_done(&mut self) -> Step {
        self.m.state = match self.m.stack.last() {
            None => State::Entry,
            Some(frame) => match (frame.kind, frame.phase) {
                (Kind::Mapping, Phase::Key) => State::Colon,
                (Kind::Sequence | Kind::Mapping, _) => State::Entry,
                (Kind::FlowMapping | Kind::FlowPair, Phase::Key | Phase::Explicit) => {
                    State::FlowColon
                }
                (Kind::FlowSequence | Kind::FlowMapping, _) => State::FlowAfter,
                (Kind::FlowPair, Phase::Value) => {
                    // The end of the pair is sent only with the next step, because the state must
                    // be right if the sink fails.
                    self.h.end_mapping()?;
                    self.m.stack.pop();
                    State::FlowAfter
                }
            },
        };
        Ok(())
    }

    /// Moves the properties of the current line to those of earlier lines, or combines both for a
    /// node that is not a key.
    pub(super) fn join_props(&mut self) -> Step {
        let (outer, inner) = (&mut self.m.outer, &mut self.m.inner);
        if inner.has_anchor && outer.has_anchor || inner.has_tag && outer.has_tag {
            let what = if inner.has_anchor && outer.has_anchor { "anchor" } else { "tag" };
            return Err(fault::twice(what).at(self.at as u64).into());
        }
        if inner.has_anchor {
            std::mem::swap(&mut inner.anchor, &mut outer.anchor);
            (outer.has_anchor, outer.offset) = (true, inner.offset);
        }
        if inner.has_tag {
            std::mem::swap(&mut inner.tag, &mut outer.tag);
            outer.has_tag = true;
        }
        inner.clear();
        Ok(())
    }

    /// Clears the properties after they were sent with their node.
    #[inline(always)]
    pub(super) fn clear_props(&mut self) {
        if self.m.any_props {
            self.m.outer.clear();
            self.m.inner.clear();
            self.m.any_props = false;
        }
    }

    /// Sends a node without content: an empty plain scalar, with the current properties.
    pub(super) fn empty_node(&mut self) -> Step {
        let key = self.m.is_key();
        self.empty_scalar(key)?;
        self.node_done()
    }

    pub(super) fn empty_scalar(&mut self, key: bool) -> Step {
        if self.m.any_props {
            self.join_props()?;
        }
        self.h.scalar(&self.m.outer, Style::Plain, "", key)?;
        self.clear_props();
        Ok(())
    }

    /// Tells the handler where the token of the next event stands.
    #[inline(always)]
    pub(super) fn token(&mut self, start: usize, end: usize) {
        let (start, end) = (self.offset(start), self.offset(end));
        self.h.token(start, end);
    }

    /// Tells the handler where the dash of the next item stands.
    #[inline(always)]
    pub(super) fn dash(&mut self, at: usize) {
        let at = self.offset(at);
        self.h.dash(at);
    }

    /// Returns the text of `start..end` together with the bytes after it.
    #[inline(always)]
    pub(super) fn span(&self, start: usize, end: usize) -> Span<'a> {
        Span { window: self.text, start, end }
    }
}
