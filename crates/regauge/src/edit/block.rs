//! Edits of YAML's block collections, whose parts stand on lines of their own.

use super::align::{Alignment, Part};
use super::flow::{count, part};
use super::{Editor, is_leaf, last_in};
use crate::model::error::Result;
use crate::model::place::{Entry, Form, Place};
use crate::model::value::Value;

impl Editor<'_> {
    /// Changes what is in a block collection. Neither the old nor the new one is empty.
    pub(super) fn change_block(&mut self, place: &Place, old: &Value, new: &Value) -> Result {
        let aligned = self.align(place, old, new)?;
        if aligned.is_all_new() {
            // What is added follows the first, which goes then.
            let text = self.block_lines(&place.entries[0], new)?;
            let start = place.entries[0].start;
            self.patch.replace(start..self.value_end(place), text);
            return Ok(());
        }
        self.change_kept(place, &aligned, old, new, &mut Self::replace_in_block)?;
        if aligned.kept.len() == place.entries.len() {
            self.remove_from_block(place, &aligned)?;
            self.add_to_block(place, &aligned, new)?;
        }
        Ok(())
    }

    /// Returns where the last line of a value ends in which something stands.
    fn value_end(&self, place: &Place) -> usize {
        let end = place.end().min(self.source.len());
        let lines = last_in(place);
        if lines.form != Form::Lines {
            return end;
        }
        let text = self.source.text(lines.span.start, end);
        let header = text.lines().next().unwrap_or_default().split('#').next().unwrap_or_default();
        match header.contains('+') {
            // Blank lines at its end are a part of it; the last line break stays where it is.
            true => lines.span.start + text.strip_suffix('\n').unwrap_or(text).len(),
            false => lines.span.start + text.trim_end().len(),
        }
    }

    /// Puts a value in the place of another in a block collection.
    fn replace_in_block(&mut self, entry: &Entry, new: &Value) -> Result {
        let (place, source) = (&entry.value, self.source);
        if place.span.start > source.len() {
            return self.refuse("there is no place for a value");
        }
        let old_end = self.value_end(place);
        let Some(mark) = entry.mark.filter(|_| place.form != Form::Flow || is_leaf(new)) else {
            return match place.form {
                Form::Block | Form::Lines => self.refuse("its key has lines of its own"),
                _ => self.replace_in_flow(place, false, new),
            };
        };
        let stays_inline = matches!(
            place.form,
            Form::Plain | Form::Single | Form::Double | Form::Flow | Form::Alias
        );
        if stays_inline && is_leaf(new) && !is_long(new) {
            let text = match new {
                Value::Array(_) | Value::Map(_) => self.style.flow(new, None, None)?,
                leaf => self.style.leaf(leaf, Some(place.form), false)?,
            };
            let text = source.without_tag(place.span.start, &text).to_owned();
            self.patch.replace(place.span.clone(), text);
            return Ok(());
        }
        let is_item = source.bytes.get(entry.start) == Some(&b'-') && mark == entry.start + 1;
        let is_inline = source.on_one_line(mark, place.span.start);
        let between = if is_inline { source.text(mark, place.span.start) } else { "" };
        let mut indent = source.indent(entry.start);
        if is_item && !is_leaf(new) {
            // The lines below begin in the column of the first.
            let spaces = between.len() - between.trim_start_matches(' ').len();
            indent += &" ".repeat(spaces.saturating_sub(1));
        }
        let (head, lines) = self.style.block(is_item, new, Some(place.form), &indent)?;
        if is_inline {
            let comment = self.header_comment(place);
            // An anchor or a tag stays, and so do several spaces.
            let head = match head.strip_prefix(' ') {
                Some(head) if !between.is_empty() => format!("{between}{head}"),
                Some(_) => head,
                None => format!("{}{head}", between.trim_end()),
            };
            self.patch.replace(mark..old_end, format!("{head}{comment}"));
        } else {
            self.patch.insert(mark, head);
            self.patch.remove(source.line_end(mark)..source.line_end(old_end));
        }
        if !lines.is_empty() {
            self.add_lines(old_end, &lines);
        }
        Ok(())
    }

    /// Returns the comment after the header of a block scalar.
    fn header_comment(&self, place: &Place) -> String {
        let header = self.source.text(place.span.start, self.source.line_end(place.span.start));
        match header.find(" #") {
            Some(at) if place.form == Form::Lines => header[at..].to_owned(),
            _ => String::new(),
        }
    }

    /// Puts a value in the place of a document in block style.
    pub(super) fn replace_block_root(&mut self, place: &Place, new: &Value) -> Result {
        let start = place.span.start;
        if !self.source.is_first(start) || start > self.source.len() {
            return self.refuse("the document begins on the line of its marker");
        }
        let text = self.style.written(new)?.replace('\n', self.source.newline);
        self.patch.replace(start..self.value_end(place), text);
        Ok(())
    }

    /// Removes the entries that are gone with their lines, the comments on these and directly above.
    fn remove_from_block(&mut self, place: &Place, aligned: &Alignment) -> Result {
        let source = self.source;
        for (at, entry) in place.entries.iter().enumerate() {
            if aligned.kept[at].is_some() {
                continue;
            }
            let end = self.value_end(&entry.value).max(entry.mark.unwrap_or(0));
            if source.is_first(entry.start) {
                let start = source.with_comments(source.line_start(entry.start));
                self.patch.remove(source.lines(start, end));
                continue;
            }
            let before = source.text(source.line_start(entry.start), entry.start);
            if at > 0 || entry.mark.is_none() || !before.trim_end().ends_with('-') {
                return self.refuse("it stands on the line of something else");
            }
            match self.moves_to_dash(place, aligned) {
                Some(next) => self.patch.remove(entry.start..next.start),
                None => {
                    let dash = entry.start - (before.len() - before.trim_end().len());
                    self.patch.remove(dash..source.line_end(end));
                }
            }
        }
        Ok(())
    }

    /// Returns the entry that moves to the line of a dash, because those before it go. It does not if
    /// comments stand above it.
    fn moves_to_dash<'p>(&self, place: &'p Place, aligned: &Alignment) -> Option<&'p Entry> {
        let first = place.entries.first().filter(|first| !self.source.is_first(first.start))?;
        let kept = aligned.kept.iter().position(Option::is_some).filter(|at| *at > 0)?;
        let next = &place.entries[kept];
        let gone = self.source.next_line(self.value_end(&first.value).max(first.mark.unwrap_or(0)));
        self.source.is_blank(gone, next.start).then_some(next)
    }

    /// Adds the new entries, each on lines of its own after the one that it follows.
    fn add_to_block(&mut self, place: &Place, aligned: &Alignment, new: &Value) -> Result {
        let source = self.source;
        let mut after = None;
        let first = aligned.kept.iter().position(Option::is_some).unwrap_or(0);
        for part in aligned.parts() {
            let to = match part {
                Part::Kept(at) => {
                    after = Some(at);
                    continue;
                }
                Part::Added(to) => to,
            };
            let near = &place.entries[after.unwrap_or(first)];
            let text = self.block_entry(near, new, to)?;
            let indent = source.indent(near.start);
            if after.is_some() {
                let end = self.value_end(&near.value).max(near.mark.unwrap_or(0));
                self.add_lines(end, &format!("{indent}{text}"));
            } else if source.is_first(near.start) && self.moves_to_dash(place, aligned).is_none() {
                let line = source.with_comments(source.line_start(near.start));
                self.patch.insert(line, format!("{indent}{text}{}", source.newline));
            } else {
                self.patch.insert(near.start, format!("{text}{}{indent}", source.newline));
            }
        }
        Ok(())
    }

    /// Writes a part of a collection as an entry beside another, without the indentation of its first
    /// line.
    fn block_entry(&self, near: &Entry, new: &Value, to: usize) -> Result<String> {
        let indent = self.source.indent(near.start);
        let (_, key, value) = part(new, to);
        let quotes = Some(near.value.form);
        let (head, lines) = self.style.block(key.is_none(), value, quotes, &indent)?;
        let start = match key {
            Some(key) => format!("{}:", self.style.key(key)?),
            None => "-".to_owned(),
        };
        Ok(match lines.is_empty() {
            true => format!("{start}{head}"),
            false => format!("{start}{head}{}{lines}", self.source.newline),
        })
    }

    /// Writes all parts of a collection as entries in the place of one.
    fn block_lines(&self, near: &Entry, new: &Value) -> Result<String> {
        let entries: Vec<String> =
            (0..count(new)).map(|to| self.block_entry(near, new, to)).collect::<Result<_>>()?;
        let indent = self.source.indent(near.start);
        Ok(entries.join(&format!("{}{indent}", self.source.newline)))
    }

    /// Adds whole lines below the line of a byte.
    pub(super) fn add_lines(&mut self, after: usize, lines: &str) {
        self.patch.insert(self.source.next_line(after), format!("{lines}{}", self.source.newline));
    }
}

/// Returns whether a value is text of several lines.
fn is_long(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.contains('\n'))
}
