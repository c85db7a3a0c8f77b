//! The lines and comments of a text.

use std::ops::Range;

use crate::codec::json;
use crate::model::format::Format;
use crate::model::place::{Form, Place};

/// A text that is edited. If it is not empty, it ends in a line break.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub bytes: &'s [u8],
    pub format: Format,
    /// What ends its lines.
    pub newline: &'static str,
    /// Where the scalars stand that have several lines, in order.
    pub tall: &'s [Range<usize>],
}

impl<'s> Source<'s> {
    pub fn new(bytes: &'s [u8], format: Format) -> Source<'s> {
        let first = memchr::memchr(b'\n', bytes);
        let is_crlf = first.is_some_and(|at| bytes[..at].ends_with(b"\r"));
        Source { bytes, format, newline: if is_crlf { "\r\n" } else { "\n" }, tall: &[] }
    }

    /// Returns where the scalars stand that have several lines, in order. Block scalars of YAML are left out:
    /// they are indented, so that none of their lines looks like a comment about an entry beside them.
    pub fn tall_scalars(&self, places: &[Place]) -> Vec<Range<usize>> {
        let is_block = |form| self.format == Format::Yaml && form == Form::Lines;
        let mut found = Vec::new();
        let mut due: Vec<_> = places.iter().collect();
        while let Some(place) = due.pop() {
            due.extend(place.entries.iter().map(|entry| &entry.value));
            let is_scalar = !place.form.is_collection() && !is_block(place.form);
            if is_scalar && !self.on_one_line(place.span.start, place.span.end) {
                found.push(place.span.clone());
            }
        }
        found.sort_by_key(|span| span.start);
        found
    }

    /// Returns whether a byte stands in a scalar that began on another line.
    fn is_in_scalar(&self, line: usize) -> bool {
        let at = self.tall.partition_point(|span| span.end <= line);
        self.tall.get(at).is_some_and(|span| span.start < line)
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns a part of the text, as far as there is one.
    pub fn text(&self, start: usize, end: usize) -> &'s str {
        let part = self.bytes.get(start..end).unwrap_or_default();
        std::str::from_utf8(part).unwrap_or_default()
    }

    /// Returns a value of YAML that is to be written at a byte, without a tag that stands before it already.
    pub fn without_tag<'v>(&self, at: usize, value: &'v str) -> &'v str {
        let Some((tag, rest)) = value.split_once(' ').filter(|_| value.starts_with("!!")) else {
            return value;
        };
        let before = self.text(self.line_start(at), at).trim_end();
        let stands = before.strip_suffix(tag).is_some_and(|before| {
            before.is_empty() || before.ends_with([' ', '\t', '[', '{', ','])
        });
        if stands { rest } else { value }
    }

    /// Returns where the line of a byte begins.
    pub fn line_start(&self, at: usize) -> usize {
        let before = &self.bytes[..at.min(self.len())];
        let start = memchr::memrchr(b'\n', before).map_or(0, |found| found + 1);
        start.max(self.start().min(before.len()))
    }

    /// Returns where the line break after a byte begins, or the end of the text.
    pub fn line_end(&self, at: usize) -> usize {
        let at = at.min(self.len());
        match memchr::memchr(b'\n', &self.bytes[at..]) {
            Some(found) if found > 0 && self.bytes[at + found - 1] == b'\r' => at + found - 1,
            Some(found) => at + found,
            None => self.len(),
        }
    }

    /// Returns where the line after a byte begins, or the end of the text.
    pub fn next_line(&self, at: usize) -> usize {
        let at = at.min(self.len());
        memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.len(), |found| at + found + 1)
    }

    /// Returns where the text begins, after a byte order mark.
    pub fn start(&self) -> usize {
        if self.bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }
    }

    /// Returns where the line begins that follows what stands before a byte.
    pub fn after_content(&self, at: usize) -> usize {
        let end = self.bytes[..at.min(self.len())].trim_ascii_end().len();
        if end <= self.start() { self.start() } else { self.next_line(end) }
    }

    /// Returns the index after white space and line breaks.
    pub fn content_start(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        self.len() - rest.trim_ascii_start().len()
    }

    /// Returns whether nothing but white space follows.
    pub fn ends_at(&self, at: usize) -> bool {
        self.content_start(at) == self.len()
    }

    /// Returns whether a part is white space.
    pub fn is_blank(&self, start: usize, end: usize) -> bool {
        let part = self.bytes.get(start..end).unwrap_or_default();
        part.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
    }

    /// Returns whether two bytes stand on the same line.
    pub fn on_one_line(&self, start: usize, end: usize) -> bool {
        !self.bytes.get(start..end).unwrap_or_default().contains(&b'\n')
    }

    /// Returns whether only white space precedes a byte on its line.
    pub fn is_first(&self, at: usize) -> bool {
        self.is_blank(self.line_start(at), at)
    }

    /// Returns what a line below has to begin with to reach the column of a byte.
    pub fn indent(&self, at: usize) -> String {
        let before = self.text(self.line_start(at), at);
        match self.is_first(at) {
            true => before.to_owned(),
            false => " ".repeat(before.chars().count()),
        }
    }

    /// Returns the white space that the line of a byte begins with.
    pub fn line_indent(&self, at: usize) -> &'s str {
        let line = self.text(self.line_start(at), self.line_end(at));
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Returns whether a comment begins here.
    pub fn is_comment(&self, at: usize) -> bool {
        let rest = self.bytes.get(at..).unwrap_or_default();
        match self.format {
            Format::Yaml | Format::Toml => rest.starts_with(b"#"),
            _ => rest.starts_with(b"//") || rest.starts_with(b"/*"),
        }
    }

    /// Returns the index after white space, line breaks and comments.
    pub fn skip(&self, mut at: usize) -> usize {
        loop {
            match self.bytes.get(at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(_) if self.is_comment(at) => {
                    at = match self.bytes[at] {
                        b'#' => self.line_end(at),
                        _ => json::places::comment_end(self.bytes, at),
                    };
                }
                _ => return at,
            }
        }
    }

    /// Returns whether nothing but white space and a comment follows on the line.
    pub fn ends_line(&self, at: usize) -> bool {
        let end = self.line_end(at);
        self.is_blank(at, end) || self.skip(at) >= end
    }

    /// Returns the beginning of the comment lines directly above a line, which are about it; of the
    /// line itself if there are none, or if they begin the file and are about all of it.
    pub fn with_comments(&self, line: usize) -> usize {
        let indent = self.line_indent(line);
        let mut start = line;
        while start > self.start() {
            let above = self.line_start(start - 1);
            let is_like = self.line_indent(above) == indent
                && self.is_comment(above + indent.len())
                && !self.is_in_scalar(above);
            if !is_like || above >= start {
                return start;
            }
            start = above;
            if above == self.start() {
                return line;
            }
        }
        start
    }

    /// Returns the whole lines from one byte to another. One of two blank lines around them goes with
    /// them.
    pub fn lines(&self, start: usize, end: usize) -> Range<usize> {
        let next = self.next_line(end);
        let is_blank_above = start == 0 || self.is_blank(self.line_start(start - 1), start);
        let after = self.next_line(next);
        match is_blank_above && next < self.len() && self.is_blank(next, after) {
            true => start..after,
            false => start..next,
        }
    }
}
