//! JSON text for the samples: compact, members in the order written.
//!
//! Not the writer of the library, because a sample must stay the same bytes even if that one
//! comes to spell something differently.

/// Builds one document.
#[derive(Default)]
pub(super) struct Json {
    text: String,
    /// The next item needs a comma before it.
    comma: bool,
}

impl Json {
    /// Forgets the document built so far.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.comma = false;
    }

    /// Returns the text so far.
    pub(super) fn as_bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// Ends the line.
    pub(super) fn newline(&mut self) {
        self.text.push('\n');
        self.comma = false;
    }

    /// Opens a map or list: `{` or `[`.
    pub(super) fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    /// Closes it: `}` or `]`.
    pub(super) fn close(&mut self, bracket: char) {
        self.text.push(bracket);
        self.comma = true;
    }

    /// The key of the member that comes next.
    pub(super) fn key(&mut self, key: &str) {
        self.string(key);
        self.text.push(':');
        self.comma = false;
    }

    /// A string.
    pub(super) fn string(&mut self, text: &str) {
        self.separate();
        self.text.push('"');
        for letter in text.chars() {
            match letter {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                '\t' => self.text.push_str("\\t"),
                _ => {
                    debug_assert!(!letter.is_control(), "no sample holds {letter:?}");
                    self.text.push(letter);
                }
            }
        }
        self.text.push('"');
    }

    /// A number or a name (`true`, `null`) as it stands.
    pub(super) fn plain(&mut self, text: impl std::fmt::Display) {
        use std::fmt::Write;
        self.separate();
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{text}");
    }

    /// A member with a string.
    pub(super) fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        self.string(text);
    }

    /// A member with a number or name.
    pub(super) fn member(&mut self, key: &str, value: impl std::fmt::Display) {
        self.key(key);
        self.plain(value);
    }

    fn separate(&mut self) {
        if self.comma {
            self.text.push(',');
        }
        self.comma = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_compact_json() {
        let mut json = Json::default();
        json.open('{');
        json.text("a", "tea \"x\" \\ \n\té");
        json.key("b");
        json.open('[');
        json.plain(1);
        json.plain("null");
        json.open('[');
        json.close(']');
        json.close(']');
        json.member("c", 2.5);
        json.close('}');
        let expected = "{\"a\":\"tea \\\"x\\\" \\\\ \\n\\té\",\"b\":[1,null,[]],\"c\":2.5}";
        assert_eq!(std::str::from_utf8(json.as_bytes()), Ok(expected));
    }
}
