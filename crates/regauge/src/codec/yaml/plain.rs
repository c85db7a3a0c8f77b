//! Plain scalars (YAML 1.2.2 §7.3.3), and what all kinds of lines share.

use super::breaks::{Fold, after_kept};
use super::event::{Handler, Style};
use super::fault;
use super::machine::{END, Run, Step, is_flow_indicator, is_space};
use super::simd::{Block, sixteen, skip_spaces};

/// What ended a line of a plain scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// A colon that makes it a key.
    Colon,
    /// The end of the line, or of the input.
    Break,
    /// A comment.
    Comment,
    /// An indicator of flow collections.
    Flow,
}

/// A line of a plain scalar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The index after its last character that is not whitespace.
    pub(super) end: usize,
    /// The index of what ended it.
    pub(super) stop: usize,
    pub(super) by: LineEnd,
}

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Scans the line of a plain scalar that begins at `start`.
    #[inline(always)]
    pub(super) fn plain_line(&self, start: usize, flow: bool) -> Step<Line> {
        let mut at = start;
        while let Some(block) = sixteen(self.bytes, at) {
            let block = Block::load(block);
            let mut stops = block.plain_stops();
            if stops != 0 {
                stops &= !block.printable_high();
            }
            if flow {
                stops |= block.flow_indicators();
            }
            while stops != 0 {
                let index = at + stops.trailing_zeros() as usize;
                if let Some(by) = self.plain_stop(start, index, flow)? {
                    return Ok(self.line(start, index, by));
                }
                stops &= stops - 1;
            }
            at += 16;
        }
        self.plain_tail(start, at, flow)
    }

    /// Same, for the last bytes of the window.
    #[cold]
    #[inline(never)]
    fn plain_tail(&self, start: usize, mut at: usize, flow: bool) -> Step<Line> {
        loop {
            if self.peek(at)? == END && self.is_end(at) {
                return Ok(self.line(start, at, LineEnd::Break));
            }
            if let Some(by) = self.plain_stop(start, at, flow)? {
                return Ok(self.line(start, at, by));
            }
            at += 1;
        }
    }

    #[inline(always)]
    fn line(&self, start: usize, stop: usize, by: LineEnd) -> Line {
        let mut end = stop;
        while end > start && matches!(self.bytes[end - 1], b' ' | b'\t') {
            end -= 1;
        }
        Line { end, stop, by }
    }

    /// Returns how the byte at `at` ends the line, if it does.
    #[inline(always)]
    fn plain_stop(&self, start: usize, at: usize, flow: bool) -> Step<Option<LineEnd>> {
        Ok(match self.bytes[at] {
            b':' => {
                let next = self.peek(at + 1)?;
                (is_space(next) || flow && is_flow_indicator(next)).then_some(LineEnd::Colon)
            }
            b'\n' | b'\r' => Some(LineEnd::Break),
            b'#' => (at > start && matches!(self.bytes[at - 1], b' ' | b'\t'))
                .then_some(LineEnd::Comment),
            byte if is_flow_indicator(byte) => flow.then_some(LineEnd::Flow),
            _ => {
                self.check_printable(at)?;
                None
            }
        })
    }

    /// Checks that the character whose byte is at `at` is allowed in unquoted text (§5.1
    /// c-printable): no control characters except the tab, no byte order mark, no U+FFFE and
    /// U+FFFF.
    #[inline]
    pub(super) fn check_printable(&self, at: usize) -> Step {
        let allowed = match self.bytes[at] {
            b'\t' | 0x20..=0x7E | 0x80..=0xC1 | 0xC3..=0xEE | 0xF0.. => true,
            // Text consists of whole characters, so their other bytes are present.
            0xC2 => self.bytes[at + 1] >= 0xA0 || self.bytes[at + 1] == 0x85,
            0xEF => !matches!(self.bytes[at + 1..at + 3], [0xBF, 0xBE | 0xBF] | [0xBB, 0xBF]),
            _ => false,
        };
        if allowed {
            return Ok(());
        }
        let char = self.text[at..].chars().next().unwrap_or('\0');
        Err(fault::unprintable(char).at(at as u64).into())
    }

    /// Returns the end of the line that continues at `at`, whose characters must all be printable.
    #[inline]
    pub(super) fn line_end(&self, mut at: usize) -> Step<usize> {
        while let Some(block) = sixteen(self.bytes, at) {
            let block = Block::load(block);
            let mut stops = block.unusual();
            if stops != 0 {
                stops &= !block.printable_high();
            }
            while stops != 0 {
                let index = at + stops.trailing_zeros() as usize;
                if matches!(self.bytes[index], b'\n' | b'\r') {
                    return Ok(index);
                }
                self.check_printable(index)?;
                stops &= stops - 1;
            }
            at += 16;
        }
        loop {
            match self.peek(at)? {
                b'\n' | b'\r' => return Ok(at),
                END if self.is_end(at) => return Ok(at),
                _ => self.check_printable(at)?,
            }
            at += 1;
        }
    }

    /// Returns the end of the comment at `at`.
    #[inline(never)]
    pub(super) fn comment_end(&self, at: usize) -> Step<usize> {
        self.line_end(at)
    }

    /// Returns the index after the line break at `at`.
    #[inline(always)]
    pub(super) fn after_break(&self, at: usize) -> Step<usize> {
        if self.bytes[at] == b'\r' {
            if self.peek(at + 1)? == b'\n' {
                return Ok(at + 2);
            }
            if let Some(after) = after_kept(self.bytes, at) {
                return Ok(after);
            }
        }
        Ok(at + 1)
    }

    /// Returns, after a line that broke at `at`: the number of breaks before the next line that is
    /// not blank, where that line begins, how many spaces it begins with, and where its text begins.
    pub(super) fn next_line(&self, mut at: usize) -> Step<NextLine> {
        let mut breaks = 0;
        loop {
            let start = self.after_break(at)?;
            breaks += 1;
            let mut text = skip_spaces(self.bytes, start);
            let indent = (text - start) as i32;
            while let b' ' | b'\t' = self.peek(text)? {
                text += 1;
            }
            if !matches!(self.peek(text)?, b'\n' | b'\r') {
                return Ok(NextLine { breaks, start, indent, text });
            }
            at = text;
        }
    }

    /// Reads a plain scalar in block style, whose first line was scanned, and which is not a key.
    #[inline(always)]
    pub(super) fn plain_value(&mut self, start: usize, line: Line) -> Step {
        let least = self.m.block_indent();
        // The common case: the next line is neither blank nor a comment, and not indented further.
        if !self.m.any_props && self.bytes.get(line.stop) == Some(&b'\n') {
            let next = line.stop + 1;
            let text = skip_spaces(self.bytes, next);
            if self.bytes.get(text).is_some_and(|byte| *byte > b'#')
                && (text - next) as i32 <= least
            {
                let key = self.m.is_key();
                self.check_length(start, line.end)?;
                self.token(start, line.end);
                let span = self.span(start, line.end);
                self.h.plain(span, key)?;
                self.at = text;
                self.line = next as isize;
                (self.m.fresh, self.m.tab, self.m.space) = (true, false, true);
                return self.node_done();
            }
        }
        self.plain_value_on(start, line, least)
    }

    #[inline(never)]
    fn plain_value_on(&mut self, start: usize, line: Line, least: i32) -> Step {
        let (last, several) = self.plain_lines(start, line, least, false)?;
        if last.by == LineEnd::Colon {
            return Err(fault::key_on_lines().at(start as u64).into());
        }
        self.plain_done(start, last, several)
    }

    /// Sends the scalar from `start` to the end of `last`; if it has `several` lines, its text is
    /// in the scratch buffer.
    pub(super) fn plain_done(&mut self, start: usize, last: Line, several: bool) -> Step {
        let key = self.m.is_key();
        self.plain_out(start, last, several, key)?;
        self.node_done()
    }

    pub(super) fn plain_out(&mut self, start: usize, last: Line, several: bool, key: bool) -> Step {
        self.check_length(start, last.end)?;
        if self.m.any_props {
            self.join_props()?;
        }
        self.token(start, last.end);
        if several || self.m.outer.any() {
            let text = if several { &self.m.scratch } else { &self.text[start..last.end] };
            self.h.scalar(&self.m.outer, Style::Plain, text, key)?;
        } else {
            let span = self.span(start, last.end);
            self.h.plain(span, key)?;
        }
        self.clear_props();
        self.took(last.stop);
        self.m.space = last.stop > last.end;
        Ok(())
    }

    /// Reads the lines of a plain scalar whose first line was scanned. Returns the last one, and
    /// whether there are several, whose text is then in the scratch buffer. A line that ends with a
    /// colon is a key, which is a fault in block style.
    pub(super) fn plain_lines(
        &mut self,
        start: usize,
        first: Line,
        least: i32,
        flow: bool,
    ) -> Step<(Line, bool)> {
        let mut last = first;
        let mut several = false;
        while last.by == LineEnd::Break && !self.is_end(last.stop) {
            let next = self.next_line(last.stop)?;
            let byte = self.peek(next.text)?;
            if byte == b'#'
                || self.is_end(next.text)
                || next.indent <= least
                || next.start == next.text && self.is_document_end(next.start)?
            {
                break;
            }
            let line = self.plain_line(next.text, flow)?;
            if line.end == next.text {
                // Only an indicator.
                if !flow {
                    last.by = LineEnd::Colon;
                }
                break;
            }
            if !several {
                self.m.scratch.clear();
                self.m.scratch.push_str(&self.text[start..last.end]);
                several = true;
            }
            let between = self.breaks_between(last.stop, next.start, next.breaks);
            between.add(&mut self.m.scratch, Fold::Lines);
            self.m.scratch.push_str(&self.text[next.text..line.end]);
            last = line;
        }
        Ok((last, several))
    }

    /// Checks that a scalar is within the length limit.
    #[inline(always)]
    pub(super) fn check_length(&self, start: usize, end: usize) -> Step {
        if (end - start) as u64 <= self.m.limits.token_bytes {
            return Ok(());
        }
        Err(fault::too_long(self.m.limits.token_bytes).at(start as u64).into())
    }
}

/// A line that is not blank: see [`Run::next_line`].
pub(super) struct NextLine {
    pub(super) breaks: usize,
    pub(super) start: usize,
    pub(super) indent: i32,
    pub(super) text: usize,
}
