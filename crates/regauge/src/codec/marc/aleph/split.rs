//! Long fields: Aleph holds 2,000 bytes in a field, and splits a longer one into several lines.
//!
//! "When the text in one field is longer than 2000 bytes it is split into several fields beginning with $$9.
//! The first fields are around 1000 bytes. Separators are ` -- `, blanks or full stop." (Ex Libris Knowledge
//! Center, "Long MARC Fields, Limits and Splitting".) A line that goes on with another subfield begins with
//! `$$9^`; one that goes on within a subfield begins with `$$9^^`, `$$` and its code, and a blank before the
//! cut is a caret, as the files of the Finnish union catalogue Melinda show.

/// The longest content of a line.
const CONTENT_BYTES_MAX: usize = 2000;
/// The longest part of a subfield that is cut, with the mark before it.
const PART_BYTES_MAX: usize = 1000;

/// What a line continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// The field, with another subfield.
    New,
    /// The subfield of this code.
    Same(char),
}

/// Returns what a line with this content continues, and the content that it adds.
pub(super) fn marker(content: &str) -> Option<(Marker, &str)> {
    let rest = content.strip_prefix("$$9^")?;
    if rest.is_empty() || rest.starts_with("$$") {
        return Some((Marker::New, rest));
    }
    let mut rest = rest.strip_prefix("^$$")?.chars();
    let code = rest.next()?;
    Some((Marker::Same(code), rest.as_str()))
}

/// The subfields of a field to be written.
#[derive(Debug, Default)]
pub(super) struct Subfields {
    /// Each as `$$`, code and value.
    text: String,
    /// Where each begins.
    starts: Vec<usize>,
}

impl Subfields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.starts.clear();
    }

    pub(super) fn push(&mut self, code: &str, value: &str) {
        self.starts.push(self.text.len());
        self.text.push_str("$$");
        self.text.push_str(code);
        self.text.push_str(value);
    }

    /// Returns whether they would be read as a line that continues another.
    pub(super) fn is_marked(&self) -> bool {
        marker(&self.text).is_some()
    }

    /// Calls `line` with the content of each line.
    pub(super) fn lines(&self, mut line: impl FnMut(&str)) {
        if self.text.len() <= CONTENT_BYTES_MAX {
            return line(&self.text);
        }
        let mut current = String::new();
        for (index, start) in self.starts.iter().enumerate() {
            let end = self.starts.get(index + 1).map_or(self.text.len(), |next| *next);
            let subfield = &self.text[*start..end];
            if !current.is_empty() && current.len() + subfield.len() > CONTENT_BYTES_MAX {
                line(&current);
                current.clear();
            }
            let mark = if index > 0 && current.is_empty() { "$$9^" } else { "" };
            current.push_str(mark);
            add(&mut current, subfield, &mut line);
        }
        line(&current);
    }
}

/// Adds a subfield to a line. If that is too long, the line has no other, and is cut; its end stays.
fn add(current: &mut String, mut subfield: &str, line: &mut impl FnMut(&str)) {
    let code = subfield[2..].chars().next().unwrap_or_default();
    while current.len() + subfield.len() > CONTENT_BYTES_MAX
        && let Some(end) = cut(subfield, PART_BYTES_MAX - current.len())
    {
        let (part, rest) = subfield.split_at(end);
        current.push_str(part);
        if part.ends_with(' ') {
            current.pop();
            current.push('^');
        }
        line(current);
        *current = format!("$$9^^$${code}");
        subfield = rest;
    }
    current.push_str(subfield);
}

/// Returns the code of the last subfield that begins in a text.
pub(super) fn last_code(content: &str) -> Option<char> {
    // From the left, as the content is read: the code may be a dollar sign.
    let (_, mut rest) = content.split_once("$$")?;
    loop {
        let mut chars = rest.chars();
        let code = chars.next()?;
        match chars.as_str().split_once("$$") {
            Some((_, next)) if !next.is_empty() => rest = next,
            _ => return Some(code),
        }
    }
}

/// Returns where to cut a text that has room for so many bytes in a line: after the last separator, or else
/// between two characters, the first of them no caret, which would be read as a blank. `None` if there is no
/// such place.
fn cut(text: &str, room: usize) -> Option<usize> {
    // A part is never less than this: dollar signs and a code may come first.
    const LEAST: usize = 8;
    let end = (0..=room).rev().find(|at| text.is_char_boundary(*at))?;
    let part = &text[..end];
    let after = |separator: &str| {
        part.rfind(separator).map(|at| at + separator.len()).filter(|at| *at > LEAST)
    };
    let between = || {
        let is_place =
            |at: &usize| text.is_char_boundary(*at) && !text[..*at].ends_with(['^', '$']);
        (LEAST..=end).rev().find(is_place)
    };
    after(" -- ").or_else(|| after(". ")).or_else(|| after(" ")).or_else(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks() {
        for (content, found) in [
            ("$$9^$$aText", Some((Marker::New, "$$aText"))),
            ("$$9^", Some((Marker::New, ""))),
            ("$$9^^$$aText", Some((Marker::Same('a'), "Text"))),
            ("$$9^^$$a", Some((Marker::Same('a'), ""))),
            ("$$9^^$$éx", Some((Marker::Same('é'), "x"))),
            ("$$9^^", None),
            ("$$9^x", None),
            ("$$9x", None),
            ("$$a", None),
        ] {
            assert_eq!(marker(content), found, "{content}");
        }
    }

    #[test]
    fn codes() {
        for (content, code) in [
            ("$$aText", Some('a')),
            ("$$aText$$bMore", Some('b')),
            ("$$$yy", Some('$')),
            ("$$a$$$x", Some('$')),
            ("$$", None),
            ("Text", None),
        ] {
            assert_eq!(last_code(content), code, "{content}");
        }
    }
}
