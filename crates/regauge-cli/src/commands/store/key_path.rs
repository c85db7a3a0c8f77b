//! The place of the key within each document: `--key id.bioguide`.

use regauge::Value;
use regauge::path::{Path, Step};

/// The names of nested members, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Parses names with dots between them. A backslash escapes a dot or a backslash in a name.
    ///
    /// # Errors
    /// An empty name, or a backslash before any other character.
    pub fn parse(text: &str) -> Result<KeyPath, String> {
        let mut names = vec![String::new()];
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            let name = names.last_mut().expect("there is always one");
            match c {
                '.' => names.push(String::new()),
                '\\' => match chars.next() {
                    Some(c @ ('.' | '\\')) => name.push(c),
                    _ => {
                        return Err("found a backslash before neither a dot nor a backslash; \
                                    write \\\\ for a backslash in a name"
                            .to_owned());
                    }
                },
                c => name.push(c),
            }
        }
        match names.iter().any(String::is_empty) {
            true => Err("found an empty name, expected names with a dot between them; \
                         write \\. for a dot in a name"
                .to_owned()),
            false => Ok(KeyPath(names)),
        }
    }

    /// Returns the path of one top-level member, whatever its name.
    pub fn of_member(name: &str) -> KeyPath {
        KeyPath(vec![name.to_owned()])
    }

    /// Returns the key of a document.
    ///
    /// # Errors
    /// What was found instead of a member or of the key, and where.
    pub fn find(&self, document: &Value) -> Result<Vec<u8>, String> {
        let mut value = document;
        for (depth, name) in self.0.iter().enumerate() {
            let place = self.place(depth);
            if !matches!(value, Value::Map(_)) {
                return Err(format!(
                    "found {} at {place}, expected a map that holds the key",
                    value.type_name()
                ));
            }
            value = member(value, name).ok_or_else(|| {
                format!(
                    "found no member {name} at {place}, expected the key{}",
                    self.hint(document)
                )
            })?;
            while let Value::Anchor(_, shared) = value {
                value = shared;
            }
        }
        match value {
            Value::Text(text) => Ok(text.clone().into_bytes()),
            Value::Bytes(bytes) => Ok(bytes.clone()),
            Value::Int(number) => Ok(number.to_string().into_bytes()),
            Value::UInt(number) => Ok(number.to_string().into_bytes()),
            other => Err(format!(
                "found {} at {}, expected text, bytes or a whole number as the key",
                other.type_name(),
                self.place(self.0.len())
            )),
        }
    }

    /// Returns the path of the first N names.
    fn place(&self, depth: usize) -> Path {
        Path(self.0[..depth].iter().map(|name| Step::Key(name.as_str().into())).collect())
    }

    /// Returns a hint for a path that is the name of one member, dots included.
    fn hint(&self, document: &Value) -> String {
        let whole = self.0.join(".");
        match self.0.len() > 1 && member(document, &whole).is_some() {
            true => format!(
                "; pass --key '{}' for the member of that name",
                whole.replace('\\', "\\\\").replace('.', "\\.")
            ),
            false => String::new(),
        }
    }
}

/// Returns the member of a map under this name.
pub fn member<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    let Value::Map(members) = value else { return None };
    let is = |one: &Value| matches!(one, Value::Text(text) if text == name);
    members.iter().find(|(key, _)| is(key)).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_written() {
        let names = |text: &str| KeyPath::parse(text).map(|path| path.0.join("|"));
        assert_eq!(names("id").unwrap(), "id");
        assert_eq!(names("id.bioguide").unwrap(), "id|bioguide");
        assert_eq!(names(r"a\.b.c\\d").unwrap(), r"a.b|c\d");
        assert_eq!(names("two words. x").unwrap(), "two words| x");
        for wrong in ["", ".", "a.", ".a", "a..b"] {
            assert!(names(wrong).unwrap_err().contains("empty name"), "{wrong}");
        }
        for wrong in [r"a\", r"a\b"] {
            assert!(names(wrong).unwrap_err().contains("backslash"), "{wrong}");
        }
    }
}
