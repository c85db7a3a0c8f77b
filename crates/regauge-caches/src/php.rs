//! PHP's `serialize`, which regauge has no reader for: recognised, not read.
//!
//! The grammar is that of `ext/standard/var_unserializer.re` in PHP 8.2: `a:2:{…}`, `s:3:"abc";`, `i:7;`,
//! `d:0.5;`, `b:1;`, `N;`, `O:3:"Foo":1:{…}`, `r:1;`. A session has `name|` in front of each value.

/// How deep containers may be in one another.
const DEPTH_MAX: usize = 512;

/// Returns the classes in one value that fills all of `bytes`; `None` if this is something else.
pub fn classes(bytes: &[u8]) -> Option<Vec<String>> {
    let mut read = Read { bytes, at: 0, classes: Vec::new() };
    read.value()?;
    (read.at == bytes.len()).then_some(read.classes)
}

/// Returns the classes in a session: one or more values, each after its name and `|`.
pub fn session(bytes: &[u8]) -> Option<Vec<String>> {
    let mut read = Read { bytes, at: 0, classes: Vec::new() };
    while read.at < bytes.len() {
        let rest = &bytes[read.at..];
        let end = rest.iter().take(256).position(|byte| *byte == b'|')?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.\\".contains(byte);
        if end == 0 || !rest[..end].iter().all(is_name) {
            return None;
        }
        read.at += end + 1;
        read.value()?;
    }
    (!bytes.is_empty()).then_some(read.classes)
}

struct Read<'b> {
    bytes: &'b [u8],
    at: usize,
    classes: Vec<String>,
}

impl<'b> Read<'b> {
    /// Passes over one value, with all that is in it.
    fn value(&mut self) -> Option<()> {
        // The values that are still to be read in each container.
        let mut open: Vec<u64> = Vec::new();
        loop {
            match self.token()? {
                0 => {}
                values if open.len() < DEPTH_MAX => open.push(values - 1),
                _ => return None,
            }
            loop {
                match open.last_mut() {
                    None => return Some(()),
                    Some(0) => {
                        self.literal(b"}")?;
                        open.pop();
                    }
                    Some(left) => {
                        *left -= 1;
                        break;
                    }
                }
            }
        }
    }

    /// Passes over a scalar, or the beginning of a container. Returns how many values are in that, and one
    /// more; 0 for a scalar.
    fn token(&mut self) -> Option<u64> {
        let kind = *self.bytes.get(self.at)?;
        self.at += 1;
        match kind {
            b'N' => self.literal(b";")?,
            b'i' | b'r' | b'R' => {
                self.literal(b":")?;
                self.until(b';', |byte| byte.is_ascii_digit() || byte == b'-')?;
            }
            b'b' => {
                self.literal(b":")?;
                self.until(b';', |byte| byte == b'0' || byte == b'1')?;
            }
            b'd' => {
                self.literal(b":")?;
                self.until(b';', |byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))?;
            }
            b's' => {
                self.literal(b":")?;
                self.text()?;
                self.literal(b";")?;
            }
            b'E' => {
                self.literal(b":")?;
                let class = self.text()?;
                self.class(class.split(|byte| *byte == b':').next()?);
                self.literal(b";")?;
            }
            b'a' => {
                self.literal(b":")?;
                return self.opening();
            }
            b'O' => {
                self.literal(b":")?;
                let class = self.text()?;
                self.class(class);
                self.literal(b":")?;
                return self.opening();
            }
            b'C' => {
                self.literal(b":")?;
                let class = self.text()?;
                self.class(class);
                self.literal(b":")?;
                let length = self.length(b':')?;
                self.literal(b"{")?;
                self.skip(length)?;
                self.literal(b"}")?;
            }
            _ => return None,
        }
        Some(0)
    }

    /// Passes over `2:{`; returns how many values follow, and one more.
    fn opening(&mut self) -> Option<u64> {
        let pairs = self.length(b':')?;
        self.literal(b"{")?;
        (pairs as u64).checked_mul(2)?.checked_add(1)
    }

    /// Passes over `3:"abc"`, and returns the text.
    fn text(&mut self) -> Option<&'b [u8]> {
        let length = self.length(b':')?;
        self.literal(b"\"")?;
        let text = self.skip(length)?;
        self.literal(b"\"")?;
        Some(text)
    }

    /// Passes over a length and what ends it.
    fn length(&mut self, end: u8) -> Option<usize> {
        let digits = self.until(end, |byte| byte.is_ascii_digit())?;
        str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Passes over the bytes of a number and its end.
    fn until(&mut self, end: u8, is_inside: impl Fn(u8) -> bool) -> Option<&'b [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = rest.iter().take(32).position(|byte| *byte == end)?;
        let inside = &rest[..length];
        (length > 0 && inside.iter().all(|byte| is_inside(*byte))).then(|| {
            self.at += length + 1;
            inside
        })
    }

    fn skip(&mut self, length: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(length)?;
        let skipped = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(skipped)
    }

    fn literal(&mut self, expected: &[u8]) -> Option<()> {
        (self.skip(expected.len())? == expected).then_some(())
    }

    fn class(&mut self, name: &[u8]) {
        let name = String::from_utf8_lossy(name).into_owned();
        if !self.classes.contains(&name) {
            self.classes.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_kind() {
        for text in [
            "N;",
            "i:-7;",
            "b:1;",
            "d:0.5;",
            "d:-INF;",
            "s:0:\"\";",
            "s:3:\"a\"b\";",
            "a:0:{}",
            "a:2:{i:0;s:1:\"a\";s:1:\"k\";a:1:{i:0;N;}}",
        ] {
            assert_eq!(classes(text.as_bytes()), Some(vec![]), "{text}");
            for end in 0..text.len() {
                assert_eq!(classes(&text.as_bytes()[..end]), None, "{text} cut at {end}");
            }
        }
        let object = b"a:2:{i:0;O:3:\"Foo\":1:{s:1:\"x\";i:1;}i:1;C:3:\"Bar\":4:{a;b}}";
        assert_eq!(classes(object), None, "C has 4 bytes");
        let object = b"a:2:{i:0;O:3:\"Foo\":1:{s:1:\"x\";i:1;}i:1;C:3:\"Bar\":3:{a;b}}";
        assert_eq!(classes(object), Some(vec!["Foo".to_owned(), "Bar".to_owned()]));
        assert_eq!(classes(b"E:9:\"Suit:Club\";"), Some(vec!["Suit".to_owned()]));
    }

    #[test]
    fn a_session_has_names() {
        assert_eq!(session(b"name|s:3:\"Ada\";cart|a:1:{i:0;i:7;}"), Some(vec![]));
        assert_eq!(session(b"s:3:\"Ada\";"), None);
        assert_eq!(session(b""), None);
    }

    #[test]
    fn hostile_values_end() {
        assert_eq!(classes(b"a:99999999999999999999:{"), None);
        assert_eq!(classes(b"a:18446744073709551615:{"), None);
        assert_eq!(classes("a:1:{i:0;".repeat(100_000).as_bytes()), None);
        assert_eq!(classes(b"s:18446744073709551615:\"\";"), None);
    }
}
