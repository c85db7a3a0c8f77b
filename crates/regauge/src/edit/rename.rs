//! Changes of keys alone, whose values keep every byte.

use std::ops::Range;

use super::Editor;
use super::section::{headers, outside_quotes, parts_before_key};
use crate::model::error::Result;
use crate::model::format::Format;
use crate::model::path::Step;
use crate::model::place::{Entry, Form};
use crate::model::value::Value;

impl Editor<'_> {
    /// Changes the key of an entry of the map at hand.
    pub(super) fn rename(&mut self, entry: &Entry, key: &Value, in_flow: bool) -> Result {
        for span in self.key_spans(entry) {
            let was = self.source.text(span.start, span.end);
            let text = self.style.key_like(key, was, in_flow)?;
            let text = self.source.without_tag(span.start, &text).to_owned();
            self.patch.replace(span, text);
        }
        Ok(())
    }

    /// Returns where the key of an entry of the map at hand stands: for a TOML table with headers, in each of
    /// them. Returns nothing if the key cannot be changed alone.
    pub(super) fn key_spans(&self, entry: &Entry) -> Vec<Range<usize>> {
        match entry.value.form {
            Form::Section | Form::Implied | Form::Sections => self.header_spans(entry),
            // Each of its pairs names it, in a part of a dotted key.
            Form::Dotted => Vec::new(),
            _ => self.key_span(entry).into_iter().collect(),
        }
    }

    fn key_span(&self, entry: &Entry) -> Option<Range<usize>> {
        let source = self.source;
        let (before_sign, dotted) = match source.format {
            Format::Toml => {
                let before_value = source.text(entry.start, entry.value.span.start).trim_end();
                let key = before_value.strip_suffix('=')?.trim_end();
                (key, parts_before_key(key).map_or(0, str::len))
            }
            _ => (source.text(entry.start, entry.mark?.checked_sub(1)?).trim_end(), 0),
        };
        let key = &before_sign[dotted..];
        // A comment may follow a key of JSON.
        let is_whole = match key.chars().next()? {
            quote @ ('"' | '\'') => key.len() > 1 && key.ends_with(quote),
            _ => true,
        };
        let end = entry.start + before_sign.len();
        (is_whole && !key.contains('\n')).then_some(entry.start + dotted..end)
    }

    fn header_spans(&self, entry: &Entry) -> Vec<Range<usize>> {
        let source = self.source;
        let index = self.steps.iter().filter(|step| matches!(step, Step::Key(_))).count();
        let own = (entry.value.form == Form::Section).then_some(entry.start);
        let span = |start: usize| {
            let part = part_of_header(source.text(start, source.line_end(start)), index)?;
            Some(start + part.start..start + part.end)
        };
        let spans: Option<Vec<_>> =
            own.into_iter().chain(headers(&entry.value)).map(span).collect();
        spans.unwrap_or_default()
    }
}

/// Returns where a part of the key in a header stands.
fn part_of_header(header: &str, mut index: usize) -> Option<Range<usize>> {
    let mut start = header.len() - header.trim_start_matches('[').len();
    for (at, end) in outside_quotes(header).filter(|(_, char)| matches!(char, '.' | ']')) {
        let part = &header[start..at];
        if index == 0 {
            let blanks = part.len() - part.trim_start().len();
            return Some(start + blanks..start + part.trim_end().len());
        }
        if end == ']' {
            return None;
        }
        (index, start) = (index - 1, at + 1);
    }
    None
}
