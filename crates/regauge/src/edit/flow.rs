//! Edits of collections in brackets: those of JSON, flow style in YAML, arrays and inline tables in
//! TOML.

use super::align::{Alignment, Part, is_same_key, step_of};
use super::{Editor, is_leaf, same_types};
use crate::model::error::Result;
use crate::model::format::Format;
use crate::model::path::Step;
use crate::model::place::{Entry, Form, Place};
use crate::model::value::Value;

/// A collection in brackets, and what becomes of it.
struct Flow<'p> {
    place: &'p Place,
    /// The comma after each entry.
    commas: Vec<Option<usize>>,
    aligned: Alignment,
}

impl Editor<'_> {
    /// Changes what is in a collection in brackets. Neither the old nor the new one is empty.
    pub(super) fn change_flow(&mut self, place: &Place, old: &Value, new: &Value) -> Result {
        let aligned = self.align(place, old, new)?;
        if aligned.is_all_new() {
            return self.replace_in_flow(place, false, new);
        }
        self.change_kept(place, &aligned, old, new, &mut |it, entry, is| {
            let is_first = it.source.is_first(entry.start);
            it.replace_in_flow(&entry.value, is_first, is)
        })?;
        if aligned.kept.len() != place.entries.len() {
            return Ok(());
        }
        let comma_after = |entry: &Entry| {
            let at = self.source.skip(entry.value.end());
            (self.source.bytes.get(at) == Some(&b',')).then_some(at)
        };
        let commas = place.entries.iter().map(comma_after).collect();
        let flow = Flow { place, commas, aligned };
        self.remove_from_flow(&flow);
        self.add_to_flow(&flow, new)
    }

    /// Aligns the parts of two collections of the same kind, and checks them against their places.
    pub(super) fn align(&self, place: &Place, old: &Value, new: &Value) -> Result<Alignment> {
        let mut aligned = match (old, new) {
            (Value::Map(old), Value::Map(new)) => {
                let own: Vec<_> = place.own().collect();
                let mut aligned = Alignment::of_maps(old, new);
                aligned.keep_renamed(old, new, |at| {
                    own.get(at).is_some_and(|entry| !self.key_spans(entry).is_empty())
                });
                aligned
            }
            (Value::Array(old), Value::Array(new)) => Alignment::of_arrays(old, new),
            _ => return self.refuse("its places are not those of a collection"),
        };
        if !aligned.is_in_order() {
            return self.refuse("its keys would stand in another order");
        }
        let own = place.own().count();
        if own < place.entries.len() {
            if aligned.parts().iter().any(|part| matches!(part, Part::Added(_)))
                || aligned.kept.iter().any(Option::is_none)
            {
                return self.refuse("a merge key brings a part of it");
            }
            // What merge keys bring comes last, and changes with what they name.
            aligned.kept.truncate(own);
        }
        if aligned.kept.len() != own || place.own().any(|one| one.start > self.source.len()) {
            return self.refuse("the places of what is in it are not known");
        }
        Ok(aligned)
    }

    /// Changes the parts of a collection that are kept; `replace` puts a value in the place of another.
    pub(super) fn change_kept(
        &mut self,
        place: &Place,
        aligned: &Alignment,
        old: &Value,
        new: &Value,
        replace: &mut dyn FnMut(&mut Self, &Entry, &Value) -> Result,
    ) -> Result {
        for (at, entry) in place.own().enumerate() {
            let Some(to) = aligned.kept[at] else { continue };
            let ((step, old_key, was), (_, new_key, is)) = (part(old, at), part(new, to));
            if let (Some(old_key), Some(new_key)) = (old_key, new_key)
                && !is_same_key(old_key, new_key)
            {
                self.rename(entry, new_key, place.form == Form::Flow)?;
            }
            self.steps.push(step);
            if !self.inside(&entry.value, was, is)? {
                replace(self, entry, same_types(was, is).1)?;
            }
            self.steps.pop();
        }
        Ok(())
    }

    /// Puts a value in the place of another between brackets, or of one that is the whole document.
    /// `is_first`: it stands on a line of its own.
    pub(super) fn replace_in_flow(&mut self, place: &Place, is_first: bool, new: &Value) -> Result {
        if place.span.start > self.source.len() {
            return self.refuse("there is no place for a value");
        }
        let is_tall = match place.form {
            Form::Flow => !self.source.on_one_line(place.span.start, place.span.end),
            _ => is_first && self.source.format == Format::Json,
        };
        let indent = self.source.line_indent(place.span.start);
        let lines = (is_tall && !is_leaf(new)).then_some(indent);
        let text = self.style.flow(new, Some(place.form), lines)?;
        match place.form {
            Form::Missing => self.patch.insert(place.span.start, format!(" {text}")),
            _ => {
                let text = self.source.without_tag(place.span.start, &text).to_owned();
                self.patch.replace(place.span.clone(), text);
            }
        }
        Ok(())
    }

    /// Returns whether a comment begins what is in brackets.
    pub(super) fn holds_comment(&self, place: &Place) -> bool {
        self.source.is_comment(self.source.content_start(place.span.start + 1))
    }

    /// Adds the first parts to brackets that hold only comments, after these.
    pub(super) fn fill_flow(&mut self, place: &Place, new: &Value) -> Result {
        let source = self.source;
        let (open, close) = (place.span.start, place.span.end - 1);
        let comment = source.content_start(open + 1);
        let is_tall = source.is_first(close);
        let mut indent = match source.on_one_line(open, comment) {
            true => self.style.inner(source.line_indent(open)),
            false => source.line_indent(comment).to_owned(),
        };
        // YAML wants values to be indented more than the key or the dash before the bracket. Comments need not
        // be, but the closing bracket is.
        if is_tall && source.line_indent(close).len() > indent.len() {
            indent = source.line_indent(close).to_owned();
        }
        let lines = is_tall.then_some(&*indent);
        let parts = (0..count(new)).map(|to| self.flow_part(new, to, None, lines));
        let parts: Vec<_> = parts.collect::<Result<_>>()?;
        match is_tall {
            true => {
                let separator = format!(",{}{indent}", source.newline);
                let text = format!("{indent}{}{}", parts.join(&separator), source.newline);
                self.patch.insert(source.line_start(close), text);
            }
            false => {
                let end = open + source.text(open, close).trim_end().len();
                let separator = format!(",{}", self.style.comma());
                self.patch.insert(end, format!(" {}", parts.join(&separator)));
            }
        }
        Ok(())
    }

    /// Removes the entries that are gone, each with its comma and, if it has lines of its own, with
    /// these and the comments on them and directly above.
    fn remove_from_flow(&mut self, flow: &Flow<'_>) {
        let (entries, source) = (&flow.place.entries, self.source);
        for (at, entry) in entries.iter().enumerate() {
            if flow.aligned.kept[at].is_some() {
                continue;
            }
            let end = flow.commas[at].map_or(entry.value.end(), |comma| comma + 1);
            let next = entries
                .get(at + 1)
                .map_or(flow.place.span.end.saturating_sub(1), |next| next.start);
            if source.is_first(entry.start) && source.ends_line(end) && source.line_end(end) <= next
            {
                let start = source.with_comments(source.line_start(entry.start));
                self.patch.remove(source.lines(start, end));
            } else if at + 1 < entries.len() {
                self.patch.remove(entry.start..next);
            } else {
                let before = at.checked_sub(1).and_then(|at| flow.commas[at]);
                self.patch.remove(before.map_or(entry.start, |comma| comma + 1)..end);
            }
        }
    }

    /// Adds the new entries, each after the one that it follows, and puts the commas right.
    fn add_to_flow(&mut self, flow: &Flow<'_>, new: &Value) -> Result {
        let (entries, source) = (&flow.place.entries, self.source);
        let parts = flow.aligned.parts();
        let is_tall = entries.iter().all(|entry| source.is_first(entry.start));
        let is_open = flow.commas.last().is_some_and(Option::is_some);
        let first = flow.aligned.kept.iter().position(Option::is_some).unwrap_or(0);
        let mut after = None;
        for (index, part) in parts.iter().enumerate() {
            let needs_comma = is_open || index + 1 < parts.len();
            let to = match *part {
                Part::Kept(at) => {
                    after = Some(at);
                    match flow.commas[at] {
                        None if needs_comma => self.patch.insert(entries[at].value.end(), ","),
                        Some(comma) if !needs_comma => self.patch.remove(comma..comma + 1),
                        _ => {}
                    }
                    continue;
                }
                Part::Added(to) => to,
            };
            let near = &entries[after.unwrap_or(first)];
            let indent = is_tall.then(|| source.line_indent(near.start));
            let text = self.flow_part(new, to, Some(near.value.form), indent)?;
            let comma = if needs_comma { "," } else { "" };
            let separator = match indent {
                Some(indent) => format!("{}{indent}", source.newline),
                None => self.style.comma().to_owned(),
            };
            let Some(after) = after else {
                match indent {
                    Some(indent) => {
                        let line = source.with_comments(source.line_start(near.start));
                        self.patch.insert(line, format!("{indent}{text}{comma}{}", source.newline));
                    }
                    None => self.patch.insert(near.start, format!("{text}{comma}{separator}")),
                }
                continue;
            };
            let end = flow.commas[after].map_or(near.value.end(), |comma| comma + 1);
            let is_line = is_tall && source.ends_line(end);
            let at = if is_line { source.line_end(end) } else { end };
            self.patch.insert(at, format!("{separator}{text}{comma}"));
        }
        Ok(())
    }

    /// Writes a part of a collection between brackets; `indent` if it stands on lines of its own.
    fn flow_part(
        &self,
        new: &Value,
        to: usize,
        quotes: Option<Form>,
        indent: Option<&str>,
    ) -> Result<String> {
        let lines = indent.filter(|_| self.source.format == Format::Json);
        match part(new, to) {
            (_, Some(key), value) => self.style.flow_pair(key, value, quotes, lines),
            (_, None, value) => self.style.flow(value, quotes, lines),
        }
    }
}

/// Returns how many parts a collection has.
pub(super) fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.len(),
        Value::Map(pairs) => pairs.len(),
        _ => 0,
    }
}

/// Returns a part of a collection: the step to it, its key in a map, and its value.
pub(super) fn part(value: &Value, at: usize) -> (Step, Option<&Value>, &Value) {
    match value {
        Value::Map(pairs) if at < pairs.len() => {
            (step_of(&pairs[at].0), Some(&pairs[at].0), &pairs[at].1)
        }
        Value::Array(values) if at < values.len() => (Step::Index(at as u64), None, &values[at]),
        other => (Step::Index(at as u64), None, other),
    }
}
