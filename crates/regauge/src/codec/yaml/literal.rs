//! Block scalars: `|` and `>` (YAML 1.2.2 §8.1).

use super::breaks::Fold;
use super::event::{Handler, Style};
use super::fault;
use super::machine::{END, Run, Step};
use super::simd::skip_spaces;

/// What happens to the line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomp {
    Strip,
    Clip,
    Keep,
}

impl<H: Handler + ?Sized> Run<'_, '_, H> {
    /// Reads the block scalar whose indicator is `byte`.
    #[inline(never)]
    pub(super) fn block_scalar(&mut self, byte: u8) -> Step {
        let start = self.at;
        let (chomp, given, header_end) = self.block_header(start + 1)?;
        let least = self.m.block_indent();
        if self.m.any_props {
            self.join_props()?;
        }
        let mut at = header_end;
        self.m.scratch.clear();
        if !self.is_end(header_end) {
            at = self.after_break(header_end)?;
            let indent = match given {
                // The root's own indentation counts as none here, as in every implementation.
                Some(given) => least.max(0) as usize + given,
                None => self.detect_indent(at, least)?,
            };
            at = self.block_lines(at, indent, byte == b'>', chomp)?;
        }
        self.check_length(start, at)?;
        let style = if byte == b'|' { Style::Literal } else { Style::Folded };
        let key = self.m.is_key();
        self.token(start, at);
        self.h.scalar(&self.m.outer, style, &self.m.scratch, key)?;
        self.clear_props();
        self.took_line(at);
        self.node_done()
    }

    /// Reads the header after the indicator: chomping, indentation, and where its line ends.
    fn block_header(&self, mut at: usize) -> Step<(Chomp, Option<usize>, usize)> {
        let (mut chomp, mut indent) = (None, None);
        loop {
            match self.peek(at)? {
                b'+' if chomp.is_none() => chomp = Some(Chomp::Keep),
                b'-' if chomp.is_none() => chomp = Some(Chomp::Strip),
                digit @ b'1'..=b'9' if indent.is_none() => indent = Some(usize::from(digit - b'0')),
                _ => break,
            }
            at += 1;
        }
        let after = at;
        while let b' ' | b'\t' = self.peek(at)? {
            at += 1;
        }
        let end = match self.peek(at)? {
            b'\n' | b'\r' => at,
            END if self.is_end(at) => at,
            b'#' if at > after => self.line_end(at)?,
            _ => {
                let found = self.found(at)?;
                return Err(fault::block_header(&found).at(at as u64).into());
            }
        };
        Ok((chomp.unwrap_or(Chomp::Clip), indent, end))
    }

    /// Returns the indentation of the first line that is not blank.
    fn detect_indent(&self, mut at: usize, least: i32) -> Step<usize> {
        let mut most = 0;
        let floor = (least + 1) as usize;
        loop {
            let text = skip_spaces(self.bytes, at);
            let spaces = text - at;
            match self.peek(text)? {
                b'\n' | b'\r' => {
                    most = most.max(spaces);
                    at = self.after_break(text)?;
                }
                END if self.is_end(text) => return Ok(most.max(spaces).max(floor)),
                _ if spaces < floor => return Ok(most.max(floor)),
                _ if most > spaces => {
                    return Err(fault::blank_lines_indented(most, spaces).at(text as u64).into());
                }
                _ => return Ok(spaces),
            }
        }
    }

    /// Reads the lines from `at` on into the scratch buffer; returns the index of the first line
    /// that does not belong to them.
    fn block_lines(
        &mut self,
        mut at: usize,
        indent: usize,
        folded: bool,
        chomp: Chomp,
    ) -> Step<usize> {
        // Line breaks that wait for what follows them, and the position of the first.
        let (mut breaks, mut broken) = (0, at);
        let mut first = true;
        let mut spaced = false;
        let end = loop {
            let text = skip_spaces(self.bytes, at).min(at + indent);
            let byte = self.peek(text)?;
            if matches!(byte, b'\n' | b'\r') {
                breaks += 1;
                at = self.after_break(text)?;
                continue;
            }
            if self.is_end(text) {
                // A last line of spaces counts, even though no break ends it.
                breaks += usize::from(text > at);
                break text;
            }
            if text - at < indent {
                if byte == b'\t' {
                    return Err(fault::tab().at(text as u64).into());
                }
                break at;
            }
            if indent == 0 && self.is_document_end(at)? {
                break at;
            }
            let line_end = self.line_end(text)?;
            let is_spaced = matches!(byte, b' ' | b'\t');
            let fold = folded && !first && !spaced && !is_spaced;
            let fold = if fold { Fold::Lines } else { Fold::Keep };
            let between = self.breaks_between(broken, text, breaks);
            let scratch = &mut self.m.scratch;
            between.add(scratch, fold);
            scratch.push_str(&self.text[text..line_end]);
            (first, spaced) = (false, is_spaced);
            // The end of the input counts as the end of a line.
            (breaks, broken) = (1, line_end);
            if self.is_end(line_end) {
                break line_end;
            }
            at = self.after_break(line_end)?;
        };
        let kept = match chomp {
            Chomp::Strip => 0,
            Chomp::Clip => usize::from(!first),
            Chomp::Keep => breaks,
        };
        self.breaks_between(broken, end, kept).add(&mut self.m.scratch, Fold::Keep);
        Ok(end)
    }
}
