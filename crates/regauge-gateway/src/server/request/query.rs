//! The parts of an address: keys and parameters.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use regauge::OnLoss;

use crate::server::http::{Answer, Problem};

/// The longest key, in bytes.
pub(crate) const KEY_MAX: usize = 1_024;

/// Parameters of a request.
pub(crate) struct Query(HashMap<String, Vec<u8>>);

impl Query {
    /// Parses the text after the `?`; only these parameters are known.
    pub fn parse(text: &str, known: &[&str]) -> Answer<Query> {
        let mut values = HashMap::new();
        for pair in text.split('&') {
            if pair.is_empty() {
                continue;
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !known.contains(&name) {
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(Problem::request(format!(
                    "found parameter \"{}\", expected {known}",
                    name.escape_debug()
                )));
            }
            let value = decoded(&value.replace('+', " "))?;
            if values.insert(name.to_owned(), value).is_some() {
                return Err(Problem::request(format!("found parameter {name} twice")));
            }
        }
        Ok(Query(values))
    }

    /// Returns a parameter's bytes.
    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// Returns a parameter's text.
    pub fn text(&self, name: &str) -> Answer<Option<&str>> {
        let text = self.bytes(name).map(std::str::from_utf8).transpose();
        text.map_err(|_| Problem::request(format!("parameter {name} is not UTF-8")))
    }

    /// Returns the bytes of a key, or of a key prefix.
    pub fn key_bytes(&self, name: &str) -> Answer<Option<&[u8]>> {
        let bytes = self.bytes(name);
        match bytes {
            Some(bytes) if bytes.len() > KEY_MAX => Err(Problem::request(format!(
                "parameter {name}: found {} bytes, expected at most {KEY_MAX}",
                bytes.len()
            ))),
            _ => Ok(bytes),
        }
    }

    /// Returns a whole number between 1 and `most`.
    pub fn number(&self, name: &str, most: usize) -> Answer<Option<usize>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let digits = !text.is_empty() && text.bytes().all(|one| one.is_ascii_digit());
        let number = text.parse::<usize>().ok().filter(|one| digits && (1..=most).contains(one));
        number.map(Some).ok_or_else(|| {
            let found = text.escape_debug();
            Problem::request(format!(
                "parameter {name}: found \"{found}\", expected a number from 1 to {most}"
            ))
        })
    }

    /// Returns one of a few words; `None` if the parameter is missing.
    pub fn word<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Answer<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let found = known.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
        found.map(Some).ok_or_else(|| {
            let words: Vec<_> = known.iter().map(|(word, _)| *word).collect();
            Problem::request(format!(
                "parameter {name}: found \"{}\", expected {}",
                text.escape_debug(),
                words.join(", ")
            ))
        })
    }

    /// Returns the policy for values that a format cannot hold.
    pub fn on_loss(&self) -> Answer<OnLoss> {
        let known = [
            ("refuse", OnLoss::Refuse),
            ("wrap", OnLoss::Wrap),
            ("approximate", OnLoss::Approximate),
        ];
        Ok(self.word("on_loss", &known)?.unwrap_or_default())
    }

    /// Returns whether the input, a body or a stored document, is in the wrapped notation.
    pub fn unwrap(&self) -> Answer<bool> {
        let known = [("true", true), ("false", false)];
        Ok(self.word("unwrap", &known)?.unwrap_or_default())
    }
}

/// Decodes percent-encoded text; every % must be followed by two digits.
pub(crate) fn decoded(raw: &str) -> Answer<Vec<u8>> {
    let bytes = raw.as_bytes();
    for (place, _) in raw.match_indices('%') {
        let digits = bytes.get(place + 1..place + 3);
        if !digits.is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit)) {
            return Err(Problem::request(format!(
                "found % without two hexadecimal digits after it, in \"{}\"",
                raw.escape_debug()
            )));
        }
    }
    Ok(percent_decode_str(raw).collect())
}

/// Validates a key.
pub(crate) fn checked_key(key: Vec<u8>) -> Answer<Vec<u8>> {
    match key.len() {
        1..=KEY_MAX => Ok(key),
        length => {
            Err(Problem::request(format!("found a key of {length} bytes, expected 1 to {KEY_MAX}")))
        }
    }
}
