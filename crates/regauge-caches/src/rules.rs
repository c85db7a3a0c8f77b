//! Rules for single classes, in a file: what becomes of their values when they move.
//!
//! ```toml
//! [class]
//! "Money" = "fields"
//! "Time" = "text"
//! "Session" = "stay"
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use regauge::policy::classes::Rule;
use regauge::{Error, ErrorKind, Format, Options, Value, read_values};

/// The rule of each class.
#[derive(Clone, Debug, Default)]
pub struct Rules(pub(crate) Arc<BTreeMap<String, Rule>>);

impl Rules {
    /// Reads the rules of a file in TOML or JSON: a map `class` from names to words.
    ///
    /// # Errors
    /// The format's; [`ErrorKind::Data`] for anything but such a map, with what was found.
    pub fn read(text: &[u8], format: Format) -> regauge::Result<Rules> {
        let document = read_values(text, &Options::new(format, format))?.pop();
        let Some(Value::Map(tables)) = document else { return Err(data("no map", EXPECTED)) };
        let mut rules = BTreeMap::new();
        for (name, table) in tables {
            let (Value::Text(name), Value::Map(classes)) = (&name, table) else {
                return Err(data(&format!("{name}"), EXPECTED));
            };
            if name != "class" {
                return Err(data(&format!("the table {name:?}"), EXPECTED));
            }
            for (class, word) in classes {
                let (class, rule) = rule(&class, &word)?;
                if rules.insert(class.clone(), rule).is_some() {
                    return Err(data(&format!("the class {class:?} twice"), "one rule for it"));
                }
            }
        }
        Ok(Rules(Arc::new(rules)))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the classes that have a rule.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

const EXPECTED: &str = "a table [class] with lines such as \"Money\" = \"fields\"";

fn rule(class: &Value, word: &Value) -> regauge::Result<(String, Rule)> {
    let Value::Text(class) = class else {
        return Err(data(&format!("{class}"), "the name of a class"));
    };
    let expected = || format!("fields, text or stay as the rule of {class:?}");
    let Value::Text(word) = word else {
        return Err(data(&format!("{word}"), &expected()));
    };
    match Rule::ALL.iter().find(|(known, _)| known == word) {
        Some((_, rule)) => Ok((class.clone(), *rule)),
        None => Err(data(&format!("the word {word:?}"), &expected())),
    }
}

/// Returns the word for a rule.
pub fn word(rule: Rule) -> &'static str {
    Rule::ALL.iter().find(|(_, known)| *known == rule).map_or("stay", |(word, _)| word)
}

#[cold]
fn data(found: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Data, format!("found {found}, expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_rules() {
        let rules =
            Rules::read(b"[class]\nMoney = \"fields\"\n\"shop.Cart\" = \"stay\"\n", Format::Toml)
                .unwrap();
        assert_eq!(rules.classes().collect::<Vec<_>>(), ["Money", "shop.Cart"]);
        let rules = Rules::read(b"{\"class\": {\"Time\": \"text\"}}", Format::Json).unwrap();
        assert_eq!(rules.0["Time"], Rule::Text);
        assert!(Rules::read(b"", Format::Toml).unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_in_one_is_named() {
        for (text, expected) in [
            (
                "[class]\nMoney = \"field\"",
                "found the word \"field\", expected fields, text or stay as the rule of \"Money\"",
            ),
            (
                "[class]\nMoney = 1",
                "found 1, expected fields, text or stay as the rule of \"Money\"",
            ),
            (
                "[classes]\nMoney = \"fields\"",
                "found the table \"classes\", expected a table [class] with lines such as \"Money\" = \"fields\"",
            ),
            (
                "Money = \"fields\"",
                "found \"Money\", expected a table [class] with lines such as \"Money\" = \"fields\"",
            ),
            ("[class]\nMoney =", "toml: "),
        ] {
            let error = Rules::read(text.as_bytes(), Format::Toml).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let twice = b"{\"class\": {\"A\": \"text\", \"A\": \"stay\"}}";
        let error = Rules::read(twice, Format::Json).unwrap_err();
        assert_eq!(error.message(), "found the class \"A\" twice, expected one rule for it");
    }
}
