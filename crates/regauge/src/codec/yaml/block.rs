//! Block style: nodes, sequences and mappings by indentation (YAML 1.2.2 §8).

use super::event::{Handler, Props, Style};
use super::fault;
use super::machine::{END, Frame, Kind, Phase, Run, State, Step, is_flow_indicator, is_space};
use super::plain::{Line, LineEnd};
use super::simd::skip_spaces;
use crate::bytes::reader::Status;

/// How a node can begin with a byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// A plain scalar, whatever follows.
    Plain,
    /// `-`, `?`, `:`: a plain scalar, unless whitespace follows.
    Maybe,
    /// Anything else.
    Other,
}

pub(super) static CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte <= b' ' {
        classes[byte as usize] = Class::Other;
        byte += 1;
    }
    let others = b",[]{}#&*!|>'\"%@`\x7F";
    let mut index = 0;
    while index < others.len() {
        classes[others[index] as usize] = Class::Other;
        index += 1;
    }
    classes[b'-' as usize] = Class::Maybe;
    classes[b'?' as usize] = Class::Maybe;
    classes[b':' as usize] = Class::Maybe;
    classes
};

/// How long an implicit key may be, in characters (§7.4.2).
pub(super) const KEY_CHARS: usize = 1024;

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Reads a node of a block collection, or the root.
    #[inline(always)]
    pub(super) fn node(&mut self) -> Step {
        self.skip()?;
        let byte = self.peek(self.at)?;
        if !self.m.fresh {
            if byte == END && self.is_end(self.at) {
                return self.empty_node();
            }
            let may = self.m.compact && !self.m.tab;
            return self.content(byte, may, false);
        }
        if self.m.any_props {
            self.join_props()?;
        }
        let indent = self.indent();
        let least = self.m.block_indent();
        if indent <= least {
            // A sequence may be indented no further than the key whose value it is.
            let dash = byte == b'-'
                && indent == least
                && self.m.stack.last().is_some_and(|frame| frame.kind == Kind::Mapping)
                && is_space(self.peek(self.at + 1)?);
            if !dash {
                return self.empty_node();
            }
        } else if byte == END && self.is_end(self.at)
            || indent == 0 && self.line == self.at as isize && self.is_document_end(self.at)?
        {
            return self.empty_node();
        }
        let may = !self.m.tab;
        self.content(byte, may, false)
    }

    /// Reads the most common lines: `key: value`, `- value`, `- key: value` and `key:` with plain
    /// or quoted text, and the collections that they open. Stops before anything else, which
    /// [`entry`](Run::entry) and [`node`](Run::node) handle; they also handle these lines, but take
    /// 1.5 times as long. Wherever this stops, the next token is an entry of the innermost
    /// collection, or what the state says.
    #[inline(always)]
    fn common_lines(&mut self) -> Step {
        let Some(mut frame) = self.m.stack.last().copied() else { return Ok(()) };
        if !self.m.fresh || self.m.tab || frame.phase != Phase::Value {
            return Ok(());
        }
        // The current key, if it was scanned.
        let mut scanned = None;
        while self.column() == frame.indent {
            let start = self.at;
            let (key, value) = if frame.kind == Kind::Mapping {
                let Some(line) = scanned.take().or_else(|| self.common_key(start)) else { break };
                match self.bytes.get(line.stop + 1) {
                    Some(b' ') => {}
                    Some(b'\n') => {
                        let Some((line_start, text)) = self.next_content(line.stop + 1) else {
                            break;
                        };
                        self.token(start, line.end);
                        let span = self.span(start, line.end);
                        self.h.plain(span, true)?;
                        (self.at, self.line) = (text, line_start as isize);
                        self.m.space = true;
                        let deeper = self.column() - frame.indent;
                        if self.m.stack.len() < self.m.depth_max {
                            if deeper > 0
                                && let Some(line) = self.common_key(text)
                            {
                                scanned = Some(line);
                                frame = self.common_begin(true)?;
                                continue;
                            }
                            if deeper >= 0 && self.bytes[text..].starts_with(b"- ") {
                                frame = self.common_begin(false)?;
                                continue;
                            }
                        }
                        (self.m.compact, self.m.state) = (false, State::Node);
                        return Ok(());
                    }
                    _ => break,
                }
                (Some(line), line.stop + 2)
            } else {
                if !self.bytes[start..].starts_with(b"- ") {
                    break;
                }
                (None, start + 2)
            };
            let Some(&first) = self.bytes.get(value) else { break };
            let (from, end, stop) = match first {
                b'"' | b'\'' => match self.quoted_run(value + 1, first) {
                    Ok(stop) if self.bytes.get(stop) == Some(&first) => (value + 1, stop, stop + 1),
                    _ => break,
                },
                _ if CLASSES[usize::from(first)] == Class::Plain => {
                    match self.plain_line(value, false) {
                        Ok(Line { end, stop, by: LineEnd::Break }) => (value, end, stop),
                        Ok(line)
                            if line.by == LineEnd::Colon
                                && key.is_none()
                                && line.end - value <= KEY_CHARS
                                && self.m.stack.len() < self.m.depth_max =>
                        {
                            self.dash(start);
                            self.at = value;
                            scanned = Some(line);
                            frame = self.common_begin(true)?;
                            continue;
                        }
                        _ => break,
                    }
                }
                _ => break,
            };
            if self.bytes.get(stop) != Some(&b'\n')
                || (end - from) as u64 > self.m.limits.token_bytes
            {
                break;
            }
            // A line that is indented further would continue a plain scalar.
            let Some((line, text)) = self.next_content(stop) else { break };
            if (text - line) as i32 > frame.indent {
                break;
            }
            if let Some(key) = key {
                self.token(start, key.end);
                let span = self.span(start, key.end);
                self.h.plain(span, true)?;
                self.at = value;
            } else {
                self.dash(start);
            }
            self.token(value, if from == value { end } else { stop });
            let span = self.span(from, end);
            match first {
                b'"' => self.h.quoted(span, Style::Double, false)?,
                b'\'' => self.h.quoted(span, Style::Single, false)?,
                _ => self.h.plain(span, false)?,
            }
            (self.at, self.line) = (text, line as isize);
            self.m.space = true;
        }
        Ok(())
    }

    /// Reads the plain key at `at`.
    #[inline(always)]
    fn common_key(&self, at: usize) -> Option<Line> {
        let byte = *self.bytes.get(at)?;
        // A dot may begin the marker `...`.
        if CLASSES[usize::from(byte)] != Class::Plain || byte == b'.' {
            return None;
        }
        match self.plain_line(at, false) {
            Ok(line) if line.by == LineEnd::Colon && line.end - at <= KEY_CHARS => Some(line),
            _ => None,
        }
    }

    /// Opens the collection whose first entry is next, as a value.
    #[inline(always)]
    fn common_begin(&mut self, mapping: bool) -> Step<Frame> {
        let kind = if mapping {
            self.h.begin_mapping(Props::NONE, false, false)?;
            Kind::Mapping
        } else {
            self.h.begin_sequence(Props::NONE, false, false)?;
            Kind::Sequence
        };
        let frame = Frame { kind, phase: Phase::Value, indent: self.column() };
        self.m.stack.push(frame);
        Ok(frame)
    }

    /// Returns where the line after the line break at `at` and its text begin, unless it is blank, a
    /// comment, or begins with a tab.
    #[inline(always)]
    fn next_content(&self, at: usize) -> Option<(usize, usize)> {
        let text = skip_spaces(self.bytes, at + 1);
        self.bytes.get(text).is_some_and(|byte| *byte > b'#').then_some((at + 1, text))
    }

    /// Reads an entry of the current block collection, or its end.
    #[inline(always)]
    pub(super) fn entry(&mut self) -> Step<Option<Status>> {
        self.skip()?;
        self.common_lines()?;
        if self.m.state != State::Entry {
            return Ok(None);
        }
        let end = self.is_end(self.at)
            || self.m.fresh && self.line == self.at as isize && self.is_document_end(self.at)?;
        let indent = if end {
            -1
        } else if self.m.fresh {
            self.indent()
        } else {
            return Err(self.trailing()?);
        };
        let byte = self.peek(self.at)?;
        let innermost = self.m.block_indent();
        let open = self.m.stack.len();
        loop {
            let Some(frame) = self.m.stack.last().copied() else {
                if end {
                    return self.end_document().map(Some);
                }
                return Err(self.after_root()?);
            };
            match frame.kind {
                Kind::Mapping if frame.phase == Phase::Explicit => {
                    if indent == frame.indent && byte == b':' && is_space(self.peek(self.at + 1)?) {
                        if self.m.tab {
                            return Err(fault::tab().at(self.at as u64).into());
                        }
                        self.m.set_phase(Phase::Value);
                        self.took(self.at + 1);
                        (self.m.compact, self.m.state) = (true, State::Node);
                        return Ok(None);
                    }
                    self.h.scalar(Props::NONE, Style::Plain, "", false)?;
                    self.m.set_phase(Phase::Value);
                }
                // Collections have ended, and lines of an outer one continue.
                _ if indent == frame.indent && self.m.stack.len() < open => return Ok(None),
                Kind::Mapping if indent == frame.indent => {
                    if self.m.tab {
                        return Err(fault::tab().at(self.at as u64).into());
                    }
                    self.content(byte, true, true)?;
                    return Ok(None);
                }
                Kind::Sequence if indent == frame.indent => {
                    if byte == b'-' && is_space(self.peek(self.at + 1)?) {
                        if self.m.tab {
                            return Err(fault::tab().at(self.at as u64).into());
                        }
                        self.dash(self.at);
                        self.took(self.at + 1);
                        (self.m.compact, self.m.state) = (true, State::Node);
                        return Ok(None);
                    }
                    // The sequence may be indented no further than the mapping around it.
                    let depth = self.m.stack.len();
                    if depth < 2 || self.m.stack[depth - 2].indent != indent {
                        return Err(self.no_dash()?);
                    }
                    self.h.end_sequence()?;
                    self.m.stack.pop();
                }
                _ if indent > frame.indent => return Err(self.misplaced(indent, innermost)?),
                Kind::Mapping => {
                    self.h.end_mapping()?;
                    self.m.stack.pop();
                }
                _ => {
                    self.h.end_sequence()?;
                    self.m.stack.pop();
                }
            }
        }
    }

    /// Reads a node that begins with `byte`. `may`: a block collection may begin here. `key`: it
    /// must be a key of the current mapping.
    #[inline(always)]
    fn content(&mut self, byte: u8, may: bool, key: bool) -> Step {
        match CLASSES[usize::from(byte)] {
            Class::Plain => self.plain_node(may, key),
            Class::Maybe => {
                if is_space(self.peek(self.at + 1)?) {
                    self.indicator(byte, may, key)
                } else {
                    self.plain_node(may, key)
                }
            }
            Class::Other => self.other(byte, may, key),
        }
    }

    /// Reads a plain scalar, which may be a key.
    #[inline(always)]
    fn plain_node(&mut self, may: bool, key: bool) -> Step {
        let start = self.at;
        let line = self.plain_line(start, false)?;
        if line.by == LineEnd::Colon {
            self.check_key(start, line.stop)?;
            self.open_key(may, key)?;
            self.token(start, line.end);
            let span = self.span(start, line.end);
            if self.m.any_props {
                self.h.scalar(&self.m.inner, Style::Plain, span.text(), true)?;
                self.clear_props();
            } else {
                self.h.plain(span, true)?;
            }
            return self.key_done(line.stop + 1);
        }
        if key {
            return Err(self.no_colon(line.stop)?);
        }
        self.plain_value(start, line)
    }

    /// Opens the mapping of the current implicit key, unless it is open. The properties on earlier
    /// lines are the mapping's.
    #[inline(always)]
    fn open_key(&mut self, may: bool, key: bool) -> Step {
        if key {
            return Ok(());
        }
        let (may, column) = match self.m.any_props && self.m.inner.any() {
            true => (self.m.key_may, self.m.key_column),
            false => (may, self.column()),
        };
        if !may {
            return Err(self.no_mapping_here()?);
        }
        self.check_depth(self.at)?;
        let is_key = self.m.is_key();
        self.h.begin_mapping(&self.m.outer, false, is_key)?;
        if self.m.any_props {
            self.m.outer.clear();
        }
        self.push(Kind::Mapping, Phase::Value, column);
        Ok(())
    }

    /// Marks the key and its colon as consumed.
    #[inline(always)]
    fn key_done(&mut self, to: usize) -> Step {
        self.m.set_phase(Phase::Value);
        self.took(to);
        (self.m.compact, self.m.state) = (false, State::Node);
        Ok(())
    }

    /// Reads the colon after a flow collection that is a key.
    pub(super) fn colon(&mut self) -> Step {
        match self.colon_after(self.at)? {
            Some(to) => self.key_done(to),
            None => Err(self.no_colon(self.at)?),
        }
    }

    /// Returns the index after the colon if a colon and whitespace follow on the line.
    pub(super) fn colon_after(&self, mut at: usize) -> Step<Option<usize>> {
        while let b' ' | b'\t' = self.peek(at)? {
            at += 1;
        }
        let colon = self.peek(at)? == b':' && is_space(self.peek(at + 1)?);
        Ok(colon.then_some(at + 1))
    }

    /// Checks that an implicit key is not too long.
    #[inline(always)]
    pub(super) fn check_key(&self, start: usize, end: usize) -> Step {
        if end - start <= KEY_CHARS || self.text[start..end].chars().count() <= KEY_CHARS {
            return Ok(());
        }
        Err(fault::long_key().at(start as u64).into())
    }

    /// Reads `- `, `? ` or `: `.
    #[inline(never)]
    fn indicator(&mut self, byte: u8, may: bool, key: bool) -> Step {
        let at = self.at;
        if byte == b':' {
            // An empty key, which may have properties.
            self.open_key(may, key)?;
            self.h.scalar(&self.m.inner, Style::Plain, "", true)?;
            self.clear_props();
            return self.key_done(at + 1);
        }
        if self.m.any_props && self.m.inner.any() {
            return Err(fault::props_before_indicator(byte).at(at as u64).into());
        }
        if !may || key && byte == b'-' {
            let fault = match () {
                () if self.m.tab => fault::tab(),
                () if key => fault::sequence_in_mapping(),
                () => fault::no_collection_here(byte),
            };
            return Err(fault.at(at as u64).into());
        }
        if !key {
            self.check_depth(at)?;
            let (is_key, column) = (self.m.is_key(), self.column());
            if byte == b'-' {
                self.h.begin_sequence(&self.m.outer, false, is_key)?;
                self.push(Kind::Sequence, Phase::Value, column);
            } else {
                self.h.begin_mapping(&self.m.outer, false, is_key)?;
                self.push(Kind::Mapping, Phase::Value, column);
            }
            self.clear_props();
        }
        if byte == b'?' {
            self.m.set_phase(Phase::Explicit);
        } else {
            self.dash(at);
        }
        self.took(at + 1);
        (self.m.compact, self.m.state) = (true, State::Node);
        Ok(())
    }

    /// Reads a node that does not begin with a letter or a digit.
    #[inline(never)]
    fn other(&mut self, byte: u8, may: bool, key: bool) -> Step {
        let start = self.at;
        match byte {
            b'&' | b'!' => {
                if !self.m.inner.any() {
                    (self.m.key_column, self.m.key_may) = (self.column(), may);
                }
                let to = self.property()?;
                self.m.any_props = true;
                if key {
                    self.m.state = State::Key;
                }
                self.took(to);
                Ok(())
            }
            b'*' => {
                let (end, name) = self.anchor_name(start)?;
                let colon = self.colon_after(end)?;
                if self.m.any_props && (self.m.inner.any() || colon.is_none()) {
                    return Err(fault::props_of_alias().at(start as u64).into());
                }
                match colon {
                    Some(to) => {
                        self.check_key(start, end)?;
                        self.open_key(may, key)?;
                        self.token(start, end);
                        self.h.alias(name, true)?;
                        self.clear_props();
                        self.key_done(to)
                    }
                    None if key => Err(self.no_colon(end)?),
                    None => {
                        let is_key = self.m.is_key();
                        self.token(start, end);
                        self.h.alias(name, is_key)?;
                        self.took(end);
                        self.node_done()
                    }
                }
            }
            b'"' | b'\'' => {
                let least = self.m.block_indent();
                let quoted = self.quoted(start, least)?;
                let style = if byte == b'"' { Style::Double } else { Style::Single };
                match self.colon_after(quoted.end)? {
                    Some(to) => {
                        if quoted.lines {
                            return Err(fault::key_on_lines().at(start as u64).into());
                        }
                        self.check_key(start, quoted.end)?;
                        self.open_key(may, key)?;
                        self.token(start, quoted.end);
                        let text = quoted.text(self.text, &self.m.scratch);
                        self.h.scalar(&self.m.inner, style, text, true)?;
                        self.clear_props();
                        self.key_done(to)
                    }
                    None if key => Err(self.no_colon(quoted.end)?),
                    None => {
                        if self.m.any_props {
                            self.join_props()?;
                        }
                        let is_key = self.m.is_key();
                        self.token(start, quoted.end);
                        let text = quoted.text(self.text, &self.m.scratch);
                        self.h.scalar(&self.m.outer, style, text, is_key)?;
                        self.clear_props();
                        self.took(quoted.end);
                        self.node_done()
                    }
                }
            }
            b'[' | b'{' => {
                let own = self.m.any_props && self.m.inner.any();
                let could = key || if own { self.m.key_may } else { may };
                if could && self.is_flow_key(start, true)? {
                    self.check_depth(start)?;
                    self.open_key(may, key)?;
                    self.m.set_phase(Phase::Key);
                    return self.begin_flow(byte);
                }
                if key {
                    return Err(fault::flow_no_key().at(start as u64).into());
                }
                if self.m.any_props {
                    self.join_props()?;
                    std::mem::swap(&mut self.m.inner, &mut self.m.outer);
                }
                self.begin_flow(byte)
            }
            b'|' | b'>' if !key => self.block_scalar(byte),
            _ => Err(self.no_node(byte)?),
        }
    }

    /// Reads the rest of a key whose properties were read, on the same line.
    pub(super) fn key(&mut self) -> Step {
        self.skip()?;
        let byte = self.peek(self.at)?;
        if self.m.fresh || self.is_end(self.at) {
            return Err(self.no_colon(self.at)?);
        }
        self.content(byte, true, true)
    }

    /// Returns whether `byte` at `at` begins a plain scalar in a flow collection.
    pub(super) fn is_plain_in_flow(&self, at: usize, byte: u8) -> Step<bool> {
        Ok(match CLASSES[usize::from(byte)] {
            Class::Plain => true,
            Class::Other => false,
            Class::Maybe => {
                let next = self.peek(at + 1)?;
                !is_space(next) && !is_flow_indicator(next)
            }
        })
    }
}
