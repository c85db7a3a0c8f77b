//! Flow style: `[a, b]` and `{a: b}` (YAML 1.2.2 §7.4).

use super::block::KEY_CHARS;
use super::event::{Handler, Props, Style};
use super::fault;
use super::machine::{END, Kind, Phase, Run, State, Step, is_flow_indicator, is_space};
use super::plain::LineEnd;

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Opens the flow collection whose bracket is next, with the inner properties.
    pub(super) fn begin_flow(&mut self, byte: u8) -> Step {
        let at = self.at;
        self.check_depth(at)?;
        let key = self.m.is_key();
        if self.m.flow == 0 {
            self.m.flow_indent = self.m.block_indent();
        }
        self.token(at, at + 1);
        if byte == b'[' {
            self.h.begin_sequence(&self.m.inner, true, key)?;
            self.push(Kind::FlowSequence, Phase::Value, -1);
        } else {
            self.h.begin_mapping(&self.m.inner, true, key)?;
            self.push(Kind::FlowMapping, Phase::Value, -1);
        }
        self.m.flow += 1;
        self.clear_props();
        self.took(at + 1);
        self.m.state = State::FlowEntry;
        Ok(())
    }

    /// Skips the separators between tokens in a flow collection; returns the next byte.
    #[inline(always)]
    fn skip_flow(&mut self) -> Step<u8> {
        if let Some(byte) = self.bytes.get(self.at)
            && *byte > b'#'
            && !self.m.fresh
        {
            return Ok(*byte);
        }
        self.skip_flow_on()
    }

    fn skip_flow_on(&mut self) -> Step<u8> {
        self.skip()?;
        let at = self.at;
        if self.is_end(at) {
            return Err(fault::open_flow(self.m.stack.last()).at(at as u64).into());
        }
        if self.m.fresh {
            if self.line == at as isize && self.is_marker(at)? {
                return Err(fault::marker_in_flow(self.m.stack.last()).at(at as u64).into());
            }
            // A bracket may close where the line with the opening one began. Most people write it
            // so and most parsers accept it, although the specification does not allow it.
            let closing = matches!(self.bytes[at], b']' | b'}');
            if self.indent() + i32::from(closing) <= self.m.flow_indent {
                let fault = fault::indent_in("a flow collection", self.m.flow_indent);
                return Err(fault.at(at as u64).into());
            }
        }
        Ok(self.bytes[at])
    }

    fn in_mapping(&self) -> bool {
        self.m.stack.last().is_some_and(|frame| frame.kind == Kind::FlowMapping)
    }

    /// Reads an entry of the current flow collection, or its end.
    pub(super) fn flow_entry(&mut self) -> Step {
        let byte = self.skip_flow()?;
        let mapping = self.in_mapping();
        match byte {
            b']' | b'}' => return self.end_flow(byte),
            b',' => return Err(fault::empty_entry().at(self.at as u64).into()),
            b'?' if is_space(self.peek(self.at + 1)?) => {
                if !mapping {
                    self.check_depth(self.at)?;
                    self.h.begin_mapping(Props::NONE, true, false)?;
                    self.push(Kind::FlowPair, Phase::Explicit, -1);
                } else {
                    self.m.set_phase(Phase::Explicit);
                }
                self.took(self.at + 1);
                self.m.json_key = false;
                self.m.state = State::FlowNode;
                return Ok(());
            }
            _ => {}
        }
        if mapping {
            self.m.set_phase(Phase::Key);
        }
        self.m.state = State::FlowNode;
        self.flow_content(byte)
    }

    /// Reads a node in a flow collection, or an empty one.
    pub(super) fn flow_node(&mut self) -> Step {
        let byte = self.skip_flow()?;
        self.flow_content(byte)
    }

    fn flow_content(&mut self, byte: u8) -> Step {
        let start = self.at;
        if self.m.fresh && self.m.any_props {
            self.join_props()?;
        }
        // An entry of a sequence may turn out to be the key of a pair.
        let entry = self.m.stack.last().is_some_and(|frame| frame.kind == Kind::FlowSequence);
        match byte {
            b',' | b']' | b'}' => {
                self.m.json_key = false;
                self.empty_node()
            }
            b':' if self.is_colon(false)? => {
                if entry {
                    self.check_colon(start + 1)?;
                    self.begin_pair(Phase::Value)?;
                    self.empty_scalar(true)?;
                    self.took(start + 1);
                    self.m.state = State::FlowNode;
                    return Ok(());
                }
                if self.m.is_key() {
                    self.m.json_key = false;
                    return self.empty_node();
                }
                Err(self.flow_unexpected()?)
            }
            b'&' | b'!' => {
                let to = self.property()?;
                self.m.any_props = true;
                self.took(to);
                Ok(())
            }
            b'*' => {
                let (end, name) = self.anchor_name(start)?;
                if self.m.any_props {
                    return Err(fault::props_of_alias().at(start as u64).into());
                }
                let pair = if entry { self.pair_colon(end, false)? } else { None };
                if let Some(to) = pair {
                    self.check_key(start, end)?;
                    self.check_colon(to)?;
                    self.begin_pair(Phase::Value)?;
                    self.token(start, end);
                    self.h.alias(name, true)?;
                    return self.pair_key_done(to);
                }
                let key = self.m.is_key();
                self.token(start, end);
                self.h.alias(name, key)?;
                self.m.json_key = false;
                self.took(end);
                self.node_done()
            }
            b'"' | b'\'' => self.flow_quoted(byte, entry),
            b'[' | b'{' => {
                if entry && self.is_flow_key(start, false)? {
                    self.check_depth(start)?;
                    self.begin_pair(Phase::Key)?;
                }
                if self.m.any_props && self.m.outer.any() {
                    self.join_props()?;
                    std::mem::swap(&mut self.m.inner, &mut self.m.outer);
                }
                self.begin_flow(byte)
            }
            _ if self.is_plain_in_flow(start, byte)? => self.flow_plain(entry),
            _ => Err(self.no_node(byte)?),
        }
    }

    fn flow_quoted(&mut self, byte: u8, entry: bool) -> Step {
        let start = self.at;
        let quoted = self.quoted(start, self.m.flow_indent)?;
        let style = if byte == b'"' { Style::Double } else { Style::Single };
        let pair = if entry { self.pair_colon(quoted.end, true)? } else { None };
        if pair.is_some() {
            if quoted.lines {
                return Err(fault::key_on_lines().at(start as u64).into());
            }
            self.check_key(start, quoted.end)?;
            self.begin_pair(Phase::Value)?;
        }
        if self.m.any_props {
            self.join_props()?;
        }
        let key = pair.is_some() || self.m.is_key();
        self.token(start, quoted.end);
        let text = quoted.text(self.text, &self.m.scratch);
        self.h.scalar(&self.m.outer, style, text, key)?;
        self.clear_props();
        if let Some(to) = pair {
            return self.pair_key_done(to);
        }
        self.m.json_key = true;
        self.took(quoted.end);
        self.node_done()
    }

    fn flow_plain(&mut self, entry: bool) -> Step {
        let start = self.at;
        let line = self.plain_line(start, true)?;
        let (last, several) = if line.by == LineEnd::Break {
            self.plain_lines(start, line, self.m.flow_indent, true)?
        } else {
            (line, false)
        };
        if entry && last.by == LineEnd::Colon {
            if several {
                return Err(fault::key_on_lines().at(start as u64).into());
            }
            self.check_key(start, last.end)?;
            self.check_colon(last.stop + 1)?;
            self.begin_pair(Phase::Value)?;
            self.plain_out(start, last, false, true)?;
            return self.pair_key_done(last.stop + 1);
        }
        self.m.json_key = false;
        let key = self.m.is_key();
        self.plain_out(start, last, several, key)?;
        self.node_done()
    }

    /// Returns whether the current colon is an indicator; after a quoted key it always is.
    fn is_colon(&self, json_key: bool) -> Step<bool> {
        let next = self.peek(self.at + 1)?;
        Ok(json_key || is_space(next) || is_flow_indicator(next))
    }

    /// Returns the index after a colon that follows on the line and turns the entry into a pair.
    fn pair_colon(&self, mut at: usize, json_key: bool) -> Step<Option<usize>> {
        while let b' ' | b'\t' = self.peek(at)? {
            at += 1;
        }
        if self.peek(at)? != b':' {
            return Ok(None);
        }
        let next = self.peek(at + 1)?;
        let colon = json_key || is_space(next) || is_flow_indicator(next);
        Ok(colon.then_some(at + 1))
    }

    /// Checks that no bracket directly follows the colon that ends at `at`: only a quoted or
    /// bracketed key needs no space there (§7.4.2).
    fn check_colon(&self, at: usize) -> Step {
        let byte = self.peek(at)?;
        if !matches!(byte, b'[' | b'{') {
            return Ok(());
        }
        Err(fault::bracket_behind_colon(byte).at(at as u64).into())
    }

    /// Opens the single-pair mapping. The current properties are its key's, and must be on the same
    /// line.
    fn begin_pair(&mut self, phase: Phase) -> Step {
        if self.m.any_props && self.m.outer.any() {
            return Err(fault::key_on_lines().at(self.at as u64).into());
        }
        self.check_depth(self.at)?;
        self.h.begin_mapping(Props::NONE, true, false)?;
        self.push(Kind::FlowPair, phase, -1);
        Ok(())
    }

    fn pair_key_done(&mut self, to: usize) -> Step {
        self.took(to);
        self.m.state = State::FlowNode;
        Ok(())
    }

    /// Handles a complete key: reads its colon, or gives it no value.
    pub(super) fn flow_colon(&mut self) -> Step {
        let byte = self.skip_flow()?;
        if byte == b':' && self.is_colon(self.m.json_key)? {
            if !self.m.json_key {
                self.check_colon(self.at + 1)?;
            }
            self.m.set_phase(Phase::Value);
            self.took(self.at + 1);
            self.m.state = State::FlowNode;
            return Ok(());
        }
        if !matches!(byte, b',' | b']' | b'}') {
            return Err(self.flow_unexpected()?);
        }
        self.h.scalar(Props::NONE, Style::Plain, "", false)?;
        self.m.set_phase(Phase::Value);
        self.node_done()
    }

    /// Reads a comma, or the end of the collection.
    pub(super) fn flow_after(&mut self) -> Step {
        match self.skip_flow()? {
            b',' => {
                self.took(self.at + 1);
                self.m.state = State::FlowEntry;
                Ok(())
            }
            byte @ (b']' | b'}') => self.end_flow(byte),
            _ => Err(self.flow_unexpected()?),
        }
    }

    fn end_flow(&mut self, byte: u8) -> Step {
        if self.in_mapping() != (byte == b'}') {
            let fault = fault::bracket(byte, self.m.stack.last());
            return Err(fault.at(self.at as u64).into());
        }
        self.token(self.at, self.at + 1);
        if byte == b'}' {
            self.h.end_mapping()?;
        } else {
            self.h.end_sequence()?;
        }
        self.m.stack.pop();
        self.m.flow -= 1;
        self.m.json_key = true;
        self.took(self.at + 1);
        self.node_done()
    }

    /// Returns whether the flow collection at `start` is an implicit key: on one line, within 1,024
    /// characters, and followed by a colon.
    ///
    /// The answers for the collections inside it are found on the way and remembered, so nothing is
    /// scanned again for each level of nesting.
    #[inline(never)]
    pub(super) fn is_flow_key(&mut self, start: usize, block: bool) -> Step<bool> {
        let offset = self.offset(start);
        if !block && let Ok(index) = self.m.flow_keys.binary_search_by_key(&offset, |(at, _)| *at) {
            return Ok(self.m.flow_keys[index].1);
        }
        let mut keys = std::mem::take(&mut self.m.flow_keys);
        keys.clear();
        let end = self.flow_end(start, &mut keys)?;
        // The first is the current one, about which the caller may ask again.
        keys.remove(0);
        self.m.flow_keys = keys;
        let Some(end) = end else { return Ok(false) };
        let colon = match block {
            true => self.colon_after(end)?,
            false => self.pair_colon(end, true)?,
        };
        Ok(colon.is_some() && self.check_key(start, end).is_ok())
    }

    /// Returns the index after the flow collection at `start`, if it ends on its line and near
    /// enough. For the collections inside it, `keys` receives whether they are keys, with their
    /// offsets.
    ///
    /// This follows the same tokens as the grammar; if it finds invalid YAML, the grammar will too.
    fn flow_end(&self, start: usize, keys: &mut Vec<(u64, bool)>) -> Step<Option<usize>> {
        // Characters have at most four bytes, so a collection that begins in the first half of this
        // and does not end in it has more than 1,024.
        let most = start + 8 * KEY_CHARS;
        // Open collections: where they begin, and their indices in `keys`.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        // Whether the previous token was quoted or a collection: a colon directly after it is an
        // indicator.
        let mut json = false;
        loop {
            if at > most {
                let known = self.offset(start + 4 * KEY_CHARS);
                keys.retain(|(offset, _)| *offset < known);
                return Ok(None);
            }
            let byte = self.peek(at)?;
            match byte {
                b'[' | b'{' => {
                    open.push((at, keys.len()));
                    keys.push((self.offset(at), false));
                    json = false;
                }
                b']' | b'}' => {
                    let Some((begin, index)) = open.pop() else { return Ok(None) };
                    if open.is_empty() {
                        return Ok(Some(at + 1));
                    }
                    keys[index].1 = self.pair_colon(at + 1, true)?.is_some()
                        && self.check_key(begin, at + 1).is_ok();
                    json = true;
                }
                b'"' | b'\'' => {
                    at += 1;
                    loop {
                        let inner = self.peek(at)?;
                        match inner {
                            b'\n' | b'\r' => return Ok(None),
                            END if self.is_end(at) => return Ok(None),
                            b'\\' if byte == b'"' => at += 1,
                            _ if inner == byte => break,
                            _ if at > most => break,
                            _ => {}
                        }
                        at += 1;
                    }
                    json = true;
                }
                b'\n' | b'\r' => return Ok(None),
                END if self.is_end(at) => return Ok(None),
                b'#' if matches!(self.bytes[at - 1], b' ' | b'\t') => return Ok(None),
                b' ' | b'\t' => {}
                b',' => json = false,
                b':' if json => json = false,
                b'!' if self.peek(at + 1)? == b'<' => {
                    while !matches!(self.peek(at)?, b'>' | b'\n' | b'\r') && at <= most {
                        if self.is_end(at) {
                            return Ok(None);
                        }
                        at += 1;
                    }
                    continue;
                }
                b'&' | b'*' | b'!' => {
                    while !is_space(self.peek(at)?) && !is_flow_indicator(self.bytes[at]) {
                        at += 1;
                        if at > most {
                            break;
                        }
                    }
                    json = false;
                    continue;
                }
                _ if self.is_plain_in_flow(at, byte)? => {
                    // A plain scalar, in which quotes have no meaning.
                    let line = self.plain_line(at, true)?;
                    at = line.stop;
                    json = false;
                    if matches!(line.by, LineEnd::Break | LineEnd::Comment) {
                        return Ok(None);
                    }
                    if line.by == LineEnd::Colon {
                        at += 1;
                    }
                    continue;
                }
                _ => json = false,
            }
            at += 1;
        }
    }
}
