//! Parses the comment lines at the top of adapters and runners: `# key: value`, `// key: value`.

/// Comment markers of the supported languages.
const MARKS: [&str; 4] = ["#", "//", "--", ";"];

/// The values of the comment lines, in the order of the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'t>(&'t str);

impl<'t> Head<'t> {
    pub(crate) fn of(text: &'t str) -> Head<'t> {
        let starts = text.starts_with("#!") || text.starts_with("<?");
        Head(if starts { text.split_once('\n').map_or("", |(_, rest)| rest) } else { text })
    }

    /// Returns every key with its value, in the order of the file.
    fn lines(self) -> impl Iterator<Item = (&'t str, &'t str)> {
        self.0
            .lines()
            .map_while(|line| MARKS.iter().find_map(|mark| line.strip_prefix(mark)))
            .filter_map(|line| line.split_once(':'))
            .map(|(key, value)| (key.trim(), value.trim()))
    }

    /// Returns the first value of a key.
    pub(crate) fn get(self, key: &str) -> Option<&'t str> {
        self.all(key).next()
    }

    /// Returns every value of a key that may be repeated.
    pub(crate) fn all(self, key: &str) -> impl Iterator<Item = &'t str> {
        self.lines().filter(move |(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Returns the words of a value, or none if the key is missing.
    pub(crate) fn words(self, key: &str) -> Vec<String> {
        self.get(key).unwrap_or("").split_whitespace().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_several_languages() {
        for mark in MARKS {
            let text = format!("{mark} name: one: two\n{mark}words:a  b\n\n{mark} late: no\n");
            let head = Head::of(&text);
            assert_eq!(head.get("name"), Some("one: two"), "{mark}");
            assert_eq!(head.words("words"), ["a", "b"]);
            assert_eq!(head.get("late"), None, "the head ends with the first other line");
        }
    }

    #[test]
    fn the_line_that_starts_an_interpreter_is_passed_over() {
        for first in ["#!/usr/bin/env lua", "<?php"] {
            let text = format!("{first}\n// name: mine\n// name: again\n");
            assert_eq!(Head::of(&text).get("name"), Some("mine"));
            assert_eq!(Head::of(&text).all("name").count(), 2);
        }
        assert_eq!(Head::of("<?php").get("name"), None);
    }
}
