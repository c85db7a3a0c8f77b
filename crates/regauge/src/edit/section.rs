//! Edits of TOML's tables, whose parts may be anywhere in a file.

use std::ops::Range;

use super::Editor;
use super::align::{Alignment, Part};
use super::flow::part;
use crate::model::error::Result;
use crate::model::path::Step;
use crate::model::place::{Entry, Form, Place};
use crate::model::value::Value;

impl Editor<'_> {
    /// Changes what is in a table that is not in braces, or in an array of tables.
    pub(super) fn change_section(&mut self, place: &Place, old: &Value, new: &Value) -> Result {
        let mut aligned = self.align(place, old, new)?;
        for (at, entry) in place.entries.iter().enumerate() {
            // What is no table any more goes, and comes back as a pair.
            if let Some(to) = aligned.kept[at]
                && place.form != Form::Sections
                && has_headers(entry.value.form)
                && is_other(entry.value.form, part(new, to).2)
            {
                aligned.kept[at] = None;
            }
        }
        self.change_kept(place, &aligned, old, new, &mut |it, entry, is| match has_headers(
            entry.value.form,
        ) {
            true => it.refuse("what stands in tables with headers cannot become something else"),
            false => it.replace_in_flow(&entry.value, false, is),
        })?;
        for (at, entry) in place.entries.iter().enumerate() {
            if aligned.kept[at].is_none() {
                self.remove_section(entry, false);
            }
        }
        self.add_to_section(place, &aligned, new)
    }

    /// Removes a pair, or a table with all its headers and pairs. `is_inside`: what is between the
    /// headers is removed already.
    fn remove_section(&mut self, entry: &Entry, is_inside: bool) {
        let source = self.source;
        if !has_headers(entry.value.form) {
            if is_inside {
                return;
            }
            let start = source.with_comments(source.line_start(entry.start));
            return self.patch.remove(source.lines(start, entry.value.span.end));
        }
        if entry.value.form == Form::Section {
            self.patch.remove(self.section_lines(entry.start, entry.value.span.end));
        }
        let is_inside = is_inside || entry.value.form == Form::Section;
        entry.value.entries.iter().for_each(|inner| self.remove_section(inner, is_inside));
    }

    /// Returns the lines of a header and of the pairs below it, which end at `end`, with the comments
    /// directly above and the blank lines after them; at the end of the file, with those before them.
    fn section_lines(&self, header: usize, end: usize) -> Range<usize> {
        let source = self.source;
        let start = source.with_comments(source.line_start(header));
        let next = source.next_line(end);
        match source.ends_at(next) {
            true => source.after_content(start)..next,
            false => start..source.line_start(source.content_start(next)),
        }
    }

    fn add_to_section(&mut self, place: &Place, aligned: &Alignment, new: &Value) -> Result {
        let mut after = None;
        let kept = place.entries.iter().zip(&aligned.kept).filter(|(_, kept)| kept.is_some());
        let end = kept.map(|(entry, _)| entry.value.end()).max().unwrap_or(0).max(place.span.end);
        // The pairs of a table that gets a header for them.
        let mut pairs = Vec::new();
        let mut first_lines = Vec::new();
        for added in aligned.parts() {
            let to = match added {
                Part::Kept(at) => {
                    after = Some(at);
                    continue;
                }
                Part::Added(to) => to,
            };
            let (step, key, value) = part(new, to);
            self.steps.push(step);
            match (place.form, key) {
                (Form::Sections, _) => {
                    let Some(after) = after else {
                        return self.refuse("it would stand before the first table of its array");
                    };
                    let document = Value::Array(vec![value.clone()]);
                    self.add_header(place.entries[after].value.end(), document)?;
                }
                (Form::Section | Form::Implied, _) if self.wants_header(place, value) => {
                    self.add_header(end, value.clone())?;
                }
                (Form::Section, Some(key)) if self.has_only_tables(place) => {
                    first_lines.push(self.style.flow_pair(key, value, None, None)?);
                }
                (Form::Section, Some(key)) => self.add_pair(place, key, value)?,
                (Form::Implied, Some(key)) => pairs.push((key.clone(), value.clone())),
                (_, Some(key)) => self.add_dotted_pair(place, key, value)?,
                (_, None) => return self.refuse("the table around it has no such place"),
            }
            self.steps.pop();
        }
        self.add_first_lines(&first_lines);
        let is_emptied = place.form == Form::Implied && aligned.parts().is_empty();
        match is_emptied || !pairs.is_empty() {
            true => self.add_own_header(place, Value::Map(pairs), is_emptied),
            false => Ok(()),
        }
    }

    /// Gives a header to a table that only headers of tables in it name, before the first of these.
    fn add_own_header(&mut self, place: &Place, table: Value, is_emptied: bool) -> Result {
        let (source, newline) = (self.source, self.source.newline);
        let Some(first) = headers(place).first().copied() else {
            return self.refuse("it has no header");
        };
        let line = source.with_comments(source.line_start(first));
        let text = self.with_headers(table)?;
        let before = source.after_content(line);
        match is_emptied && source.ends_at(source.next_line(place.end())) {
            // The blank lines before the last table go with it.
            true if before == source.start() => {
                self.patch.insert(before, format!("{text}{newline}"))
            }
            true => self.patch.insert(before, format!("{newline}{text}{newline}")),
            // Pairs of the table around it come first.
            false => self.patch.insert_last(line, format!("{text}{newline}{newline}")),
        }
        Ok(())
    }

    /// Writes a value at the path at hand as tables with headers.
    fn with_headers(&self, value: Value) -> Result<String> {
        let keys = self.steps.iter().rev().filter_map(|step| match step {
            Step::Key(key) => Some(Value::from(&**key)),
            Step::Index(_) => None,
        });
        let document = keys.fold(value, |inside, key| Value::Map(vec![(key, inside)]));
        Ok(self.style.written(&document)?.replace('\n', self.source.newline))
    }

    /// Returns whether a new value gets a header, like the tables beside it, or at the top.
    fn wants_header(&self, place: &Place, value: &Value) -> bool {
        let is_table = match value {
            Value::Map(_) => true,
            Value::Array(values) => {
                !values.is_empty() && values.iter().all(|value| matches!(value, Value::Map(_)))
            }
            _ => false,
        };
        let is_top = self.steps.len() == 1;
        let has_headers =
            |entry: &Entry| has_headers(entry.value.form) && entry.value.form != Form::Dotted;
        is_table && (is_top || place.entries.iter().any(has_headers))
    }

    /// Adds a table, or an array of tables, below the line of a byte.
    fn add_header(&mut self, after: usize, value: Value) -> Result {
        let text = self.with_headers(value)?;
        let lead = if after == 0 { "" } else { self.source.newline };
        self.add_lines(after, &format!("{lead}{text}"));
        Ok(())
    }

    /// Returns whether a table is the whole file, in which no pair stands before the first header.
    fn has_only_tables(&self, place: &Place) -> bool {
        place.span.end == 0 && !self.headers.is_empty()
    }

    /// Adds pairs to a file that has only tables.
    fn add_first_lines(&mut self, pairs: &[String]) {
        let Some(first) = self.headers.first().filter(|_| !pairs.is_empty()) else { return };
        let (source, newline) = (self.source, self.source.newline);
        let line = source.with_comments(source.line_start(*first));
        let text = format!("{}{newline}{newline}", pairs.join(newline));
        self.patch.insert(line, text);
    }

    /// Adds a pair to a table: after its last pair, or below its header.
    fn add_pair(&mut self, place: &Place, key: &Value, value: &Value) -> Result {
        let source = self.source;
        let pairs = place.entries.iter().filter(|entry| !has_headers(entry.value.form));
        let near = pairs.max_by_key(|entry| entry.start);
        let pair = self.style.flow_pair(key, value, near.map(|near| near.value.form), None)?;
        let indent = near.map_or("", |near| source.line_indent(near.start));
        let pair = format!("{indent}{pair}");
        match place.span.end {
            0 => self.add_lines(source.len(), &pair),
            end => self.add_lines(end, &pair),
        }
        Ok(())
    }

    /// Adds a pair to a table made by dotted keys: with the same parts before its key as the pair above it,
    /// below all that is in the table.
    fn add_dotted_pair(&mut self, place: &Place, key: &Value, value: &Value) -> Result {
        let source = self.source;
        let pairs = place.entries.iter().filter(|entry| !has_headers(entry.value.form));
        let Some(near) = pairs.max_by_key(|entry| entry.start) else {
            return self.refuse("the table around it is made by dotted keys of tables in it");
        };
        let has_header =
            |entry: &Entry| has_headers(entry.value.form) && entry.value.form != Form::Dotted;
        if place.entries.iter().any(has_header) {
            return self.refuse(
                "the table around it is made by dotted keys, and tables in it have headers",
            );
        }
        let name = source.text(near.start, near.value.span.start);
        let Some(parts) = parts_before_key(name) else {
            return self.refuse("the table around it is made by dotted keys");
        };
        let pair = self.style.flow_pair(key, value, Some(near.value.form), None)?;
        let indent = source.line_indent(near.start);
        self.add_lines(place.end(), &format!("{indent}{parts}{pair}"));
        Ok(())
    }
}

/// Returns the parts of a dotted key before its last, with the dot after them: `a."b.c".` of `a."b.c".d = `.
pub(super) fn parts_before_key(name: &str) -> Option<&str> {
    let (last, _) = outside_quotes(name).filter(|(_, char)| *char == '.').last()?;
    let rest = &name[last + 1..];
    Some(&name[..name.len() - rest.trim_start().len()])
}

/// Returns the characters of a dotted key that are outside quotes.
pub(super) fn outside_quotes(name: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut is_escaped) = (None, false);
    name.char_indices().filter(move |(_, char)| {
        let before = quote;
        match quote {
            None if matches!(char, '"' | '\'') => quote = Some(*char),
            Some(open) if *char == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = quote == Some('"') && *char == '\\' && !is_escaped;
        before.is_none() && quote.is_none()
    })
}

/// Returns whether a value is a table, or an array of tables, whose parts have lines of their own.
fn has_headers(form: Form) -> bool {
    matches!(form, Form::Section | Form::Implied | Form::Sections | Form::Dotted)
}

/// Returns whether a value is of another kind than the tables in its place, or no tables at all.
fn is_other(form: Form, value: &Value) -> bool {
    match value {
        Value::Map(_) => form == Form::Sections,
        Value::Array(values) => form != Form::Sections || values.is_empty(),
        _ => true,
    }
}

/// Returns where the headers stand, in order.
pub(super) fn headers(root: &Place) -> Vec<usize> {
    let mut found = Vec::new();
    let mut due = vec![root];
    while let Some(place) = due.pop() {
        for entry in &place.entries {
            if entry.value.form == Form::Section {
                found.push(entry.start);
            }
            if has_headers(entry.value.form) {
                due.push(&entry.value);
            }
        }
    }
    found.sort_unstable();
    found
}
