//! The place of the key within each document: `--key id.bioguide`.

use regauge::Value;
use regauge::path::{Path, Pattern, Selector, Step};

/// The names of nested members, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPath(Vec<String>);

impl KeyPath {
    /// Parses the path of nested members, in the grammar of all paths.
    ///
    /// # Errors
    /// A fault in the path, or a step that names no member.
    pub fn parse(text: &str) -> Result<KeyPath, String> {
        let Pattern(steps) = Pattern::parse(text)?;
        let names = steps.into_iter().map(|step| match step {
            Selector::Key(name) => Ok(String::from(name)),
            Selector::EachKey | Selector::Index(_) | Selector::Each => Err(format!(
                "found the step {} in a path to one key, expected names with dots between them",
                Pattern(vec![step]).to_string().trim_start_matches(['$', '.'])
            )),
        });
        let names = names.collect::<Result<Vec<_>, _>>()?;
        match names.is_empty() {
            true => Err("found $, the whole document, expected the name of a member".to_owned()),
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
            Value::BigInt { .. } => Err(format!(
                "found an integer beyond 64 bits at {}, expected text, bytes or a whole number of at \
                 most 64 bits as the key",
                self.place(self.0.len())
            )),
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
            true => format!("; pass --key '{}' for the member of that name", escaped(&whole)),
            false => String::new(),
        }
    }
}

/// Returns a name as it is written in a path.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if matches!(c, '.' | '\\' | '[' | ']') {
            text.push('\\');
        }
        text.push(c);
    }
    text
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
        assert_eq!(names(".id.bioguide").unwrap(), "id|bioguide");
        for wrong in ["", ".", "a.", "..a", "a..b"] {
            assert!(names(wrong).unwrap_err().contains("empty name"), "{wrong}");
        }
        assert_eq!(names("$.id[\"k y\"]").unwrap(), "id|k y");
        for wrong in ["a[0]", "a[*].b", "*", "$"] {
            assert!(names(wrong).unwrap_err().starts_with("found"), "{wrong}");
        }
        for wrong in [r"a\", r"a\b"] {
            assert!(names(wrong).unwrap_err().contains("backslash"), "{wrong}");
        }
    }
}
