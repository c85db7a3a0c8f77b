//! Paths as a user writes them: `a.b`, `$.items[*].price`, `$["two words"][0]`.
//!
//! ```text
//! pattern = ["$" | "."] step*         the first name needs no dot
//! step    = "." name | ".*" | "[" index "]" | "[*]" | "[]" | "[" '"' text '"' "]"
//! name    = any characters but . [ ], which a backslash escapes
//! ```
//!
//! Every path that [`Path`](super::Path) displays, and every path of a
//! [`Shape`](crate::sinks::shape::Shape), is a pattern for itself, unless it was cut for a message.

use std::fmt;

use super::is_word;

/// One step of a [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// The value under this key of a map.
    Key(Box<str>),
    /// The values under all keys of a map.
    EachKey,
    /// The value at this index of an array, from 0.
    Index(u64),
    /// All elements of an array.
    Each,
}

/// A path that may stand for several places of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(pub Vec<Selector>);

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// What was found, where, and what was expected.
    pub fn parse(text: &str) -> Result<Pattern, String> {
        Pattern::parse_until(text, None).map(|(pattern, _)| pattern)
    }

    /// Parses a pattern up to a character outside quotes and brackets. Returns what follows that
    /// character too, or `None` if it does not occur.
    ///
    /// # Errors
    /// Same as [`parse`](Pattern::parse).
    pub fn parse_until(text: &str, end: Option<char>) -> Result<(Pattern, Option<&str>), String> {
        let mut parser = Parser { text, at: 0, end };
        let mut steps = Vec::new();
        let has_root = text.starts_with('$')
            && text[1..].chars().next().is_none_or(|c| matches!(c, '.' | '[') || Some(c) == end);
        // The jq language writes `.[0]`, and a dot before the first name.
        if has_root || text.starts_with(".[") {
            parser.at = 1;
        } else if parser.peek() != Some('[') && !parser.begins_with_dot() {
            steps.push(parser.name()?);
        }
        loop {
            match parser.peek() {
                None => return Ok((Pattern(steps), None)),
                Some(c) if Some(c) == end => {
                    return Ok((Pattern(steps), Some(&text[parser.at + c.len_utf8()..])));
                }
                Some('.') => {
                    parser.at += 1;
                    steps.push(parser.name()?);
                }
                Some('[') => steps.push(parser.bracket()?),
                Some(_) => return Err(parser.fault("the end, a dot or [")),
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    end: Option<char>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Returns whether a dot and a name come first.
    fn begins_with_dot(&self) -> bool {
        let mut chars = self.text.chars();
        chars.next() == Some('.') && chars.next().is_some_and(|c| c != '.' && Some(c) != self.end)
    }

    /// Describes what was found at the current place instead of what was expected.
    fn fault(&self, expected: &str) -> String {
        let place = self.text[..self.at].chars().count() + 1;
        match self.peek() {
            Some(c) => format!("found {c:?} at character {place}, expected {expected}"),
            None => format!("found the end after character {}, expected {expected}", place - 1),
        }
    }

    /// Parses a name without quotes, or the star.
    fn name(&mut self) -> Result<Selector, String> {
        let start = self.at;
        let mut name = String::new();
        loop {
            match self.peek() {
                Some('\\') => {
                    self.at += 1;
                    match self.peek() {
                        Some(c @ ('.' | '\\' | '[' | ']' | '*' | '=' | '$' | '"')) => name.push(c),
                        _ => {
                            self.at -= 1;
                            return Err(self.fault(
                                "no backslash except before one of . [ ] * = $ \" and another \
                                 backslash",
                            ));
                        }
                    }
                    self.at += 1;
                }
                Some(']') => {
                    return Err(self.fault("a name; write \\] for a bracket in it"));
                }
                Some(c) if !matches!(c, '.' | '[') && Some(c) != self.end => {
                    name.push(c);
                    self.at += c.len_utf8();
                }
                _ => break,
            }
        }
        match &self.text[start..self.at] {
            "" => {
                let expected = "a name; write [\"\"] for an empty name, \\. for a dot in a name";
                Err(format!("found an empty name: {}", self.fault(expected)))
            }
            "*" => Ok(Selector::EachKey),
            _ => Ok(Selector::Key(name.into())),
        }
    }

    /// Parses an index, a star or a quoted name in brackets.
    fn bracket(&mut self) -> Result<Selector, String> {
        self.at += 1;
        let selector = match self.peek() {
            Some(']') => Selector::Each,
            Some('*') => {
                self.at += 1;
                Selector::Each
            }
            Some('"') => self.quoted()?,
            Some('0'..='9') => {
                let digits = self.text[self.at..].bytes().take_while(u8::is_ascii_digit).count();
                let Ok(index) = self.text[self.at..self.at + digits].parse() else {
                    return Err(self.fault("an index below 2^64"));
                };
                self.at += digits;
                Selector::Index(index)
            }
            _ => return Err(self.fault("an index, a name in double quotes, or *")),
        };
        match self.peek() {
            Some(']') => self.at += 1,
            _ => return Err(self.fault("]")),
        }
        Ok(selector)
    }

    /// Parses a name in quotes, with the escapes of JSON and those that messages use.
    fn quoted(&mut self) -> Result<Selector, String> {
        self.at += 1;
        let mut name = String::new();
        loop {
            match self.take() {
                Some('"') => return Ok(Selector::Key(name.into())),
                Some('\\') => name.push(self.escape()?),
                Some(c) => name.push(c),
                None => return Err(self.fault("a closing quote")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let start = self.at;
        let simple = match self.take() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('0') => '\0',
            Some(c @ ('"' | '\'' | '\\' | '/')) => c,
            Some('u') => {
                let rest = &self.text[self.at..];
                let (digits, length) = match rest.strip_prefix('{').and_then(|in_| in_.find('}')) {
                    Some(close) => (&rest[1..=close], close + 2),
                    None => (rest.get(..4).unwrap_or_default(), 4),
                };
                let hex = !digits.starts_with('+');
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| hex);
                if let Some(c) = code.and_then(char::from_u32) {
                    self.at += length;
                    return Ok(c);
                }
                self.at = start;
                return Err(self.fault("the code of a character, such as u00e9 or u{1f600}"));
            }
            _ => {
                self.at = start;
                return Err(self.fault("one of \" \\ / n r t b f 0 u after a backslash"));
            }
        };
        Ok(simple)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        for step in &self.0 {
            match step {
                Selector::Key(key) if is_word(key) => write!(f, ".{key}")?,
                Selector::Key(key) => write!(f, "[\"{}\"]", key.escape_debug())?,
                Selector::EachKey => f.write_str(".*")?,
                Selector::Index(index) => write!(f, "[{index}]")?,
                Selector::Each => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::path::{Path, Step};

    fn shown(text: &str) -> String {
        Pattern::parse(text).unwrap().to_string()
    }

    #[test]
    fn patterns_as_written() {
        for (text, expected) in [
            ("$", "$"),
            ("a", "$.a"),
            ("$.a", "$.a"),
            ("a.b", "$.a.b"),
            (".a.b", "$.a.b"),
            (".[0].a", "$[0].a"),
            (".items[]", "$.items[*]"),
            ("$[0].a", "$[0].a"),
            ("[3]", "$[3]"),
            ("[]", "$[*]"),
            ("items[].price", "$.items[*].price"),
            ("items[*][18446744073709551615]", "$.items[*][18446744073709551615]"),
            ("*.x", "$.*.x"),
            (r"\*", "$[\"*\"]"),
            (r#"$["k y"].z"#, "$[\"k y\"].z"),
            ("two words.x", "$[\"two words\"].x"),
            ("_id.$oid", "$._id.$oid"),
            ("$oid", "$.$oid"),
            (r"a\.b\\c\[d\]", r#"$["a.b\\c[d]"]"#),
            (r#"["\u00e9\u{1f600}\"\n"]"#, r#"$["é😀\"\n"]"#),
            (r#"[""]"#, r#"$[""]"#),
            ("245", "$.245"),
            ("a=b", r#"$["a=b"]"#),
        ] {
            assert_eq!(shown(text), expected, "{text}");
            // What is displayed is a pattern, too.
            assert_eq!(shown(expected), expected, "{text}");
        }
    }

    #[test]
    fn paths_of_messages_are_patterns() {
        let keys = ["plain", "two words", "", "a.b", "quote\"", "é\u{200b}\0'", "$x", "*", "[0]"];
        for key in keys {
            let path = Path(vec![Step::Key(key.into()), Step::Index(3), Step::Key("x".into())]);
            let expected = Pattern(vec![
                Selector::Key(key.into()),
                Selector::Index(3),
                Selector::Key("x".into()),
            ]);
            assert_eq!(Pattern::parse(&path.to_string()), Ok(expected), "{path}");
        }
    }

    #[test]
    fn faults_say_where() {
        for (text, expected) in [
            ("", "found an empty name: found the end after character 0, expected a name"),
            ("a..b", "found an empty name: found '.' at character 3"),
            (".", "found an empty name: found '.' at character 1"),
            ("..a", "found an empty name: found '.' at character 1"),
            ("a.", "found an empty name: found the end after character 2"),
            ("a[x]", "found 'x' at character 3, expected an index"),
            ("é[3", "found the end after character 3, expected ]"),
            ("a[3]b", "found 'b' at character 5, expected the end, a dot or ["),
            ("a]", "found ']' at character 2, expected a name"),
            (r#"["a]"#, "found the end after character 4, expected a closing quote"),
            (r#"["\q"]"#, "found 'q' at character 4, expected one of"),
            (r#"["\u{110000}"]"#, "found 'u' at character 4, expected the code"),
            (r#"["\u12"]"#, "found 'u' at character 4, expected the code"),
            (r"a\b", "found '\\\\' at character 2, expected no backslash"),
            (r"a\", "found '\\\\' at character 2, expected no backslash"),
            ("[18446744073709551616]", "found '1' at character 2, expected an index below 2^64"),
            ("[-1]", "found '-' at character 2, expected an index"),
        ] {
            let fault = Pattern::parse(text).unwrap_err();
            assert!(fault.starts_with(expected), "{text}: {fault}");
        }
    }

    #[test]
    fn a_pattern_may_end_before_the_end() {
        let until = |text| {
            let (pattern, rest) = Pattern::parse_until(text, Some('=')).unwrap();
            format!("{pattern} {rest:?}")
        };
        assert_eq!(until("a.b=c=d"), r#"$.a.b Some("c=d")"#);
        assert_eq!(until(r#"["a=b"]=c"#), r#"$["a=b"] Some("c")"#);
        assert_eq!(until(r"a\=b=c"), r#"$["a=b"] Some("c")"#);
        assert_eq!(until("a.b"), "$.a.b None");
        assert_eq!(until("$=x"), r#"$ Some("x")"#);
    }
}
