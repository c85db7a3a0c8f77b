//! Anchors, tags and directives (YAML 1.2.2 §6.8 and §6.9).

use super::event::Handler;
use super::fault;
use super::machine::{END, Run, Step, is_flow_indicator, is_space};

/// The prefix that `!!` stands for, unless `%TAG` redefines it.
pub(super) const CORE: &str = "tag:yaml.org,2002:";

impl<'a, H: Handler + ?Sized> Run<'_, 'a, H> {
    /// Reads the anchor or alias at `start`: returns the index after its name, and the name.
    pub(super) fn anchor_name(&self, start: usize) -> Step<(usize, &'a str)> {
        let mut end = start + 1;
        loop {
            let byte = self.peek(end)?;
            if is_space(byte) || is_flow_indicator(byte) {
                break;
            }
            if !(0x20..0x7F).contains(&byte) {
                self.check_printable(end)?;
            }
            end += 1;
        }
        self.check_length(start, end)?;
        if end == start + 1 {
            return Err(fault::no_name(self.bytes[start]).at(end as u64).into());
        }
        Ok((end, &self.text[start + 1..end]))
    }

    /// Reads the next anchor or tag into the inner properties; returns the index after it.
    #[inline(never)]
    pub(super) fn property(&mut self) -> Step<usize> {
        let start = self.at;
        let anchor = self.bytes[start] == b'&';
        let end = if anchor {
            let (end, name) = self.anchor_name(start)?;
            self.check_behind(end)?;
            if self.m.inner.has_anchor {
                return Err(fault::twice("anchor").at(start as u64).into());
            }
            let name = name.to_owned();
            let offset = self.offset(start);
            let inner = &mut self.m.inner;
            (inner.anchor, inner.has_anchor, inner.offset) = (name, true, offset);
            end
        } else {
            let (end, tag) = self.tag(start)?;
            self.check_behind(end)?;
            if self.m.inner.has_tag {
                return Err(fault::twice("tag").at(start as u64).into());
            }
            (self.m.inner.tag, self.m.inner.has_tag) = (tag, true);
            end
        };
        Ok(end)
    }

    /// Checks that whitespace, or the end of an entry of a flow collection, follows a property.
    fn check_behind(&self, at: usize) -> Step {
        let byte = self.peek(at)?;
        if is_space(byte) || self.m.flow > 0 && matches!(byte, b',' | b']' | b'}') {
            return Ok(());
        }
        let found = self.found(at)?;
        Err(fault::behind_property(&found).at(at as u64).into())
    }

    /// Reads the tag at `start`; returns the index after it, and the tag.
    fn tag(&self, start: usize) -> Step<(usize, String)> {
        if self.peek(start + 1)? == b'<' {
            let end = self.uri_end(start + 2, true)?;
            if self.peek(end)? != b'>' {
                let found = self.found(end)?;
                return Err(fault::verbatim_tag(&found).at(end as u64).into());
            }
            let tag = &self.text[start + 2..end];
            if tag.is_empty() || tag == "!" {
                return Err(fault::empty_tag().at(start as u64).into());
            }
            return Ok((end + 1, self.unescaped(start + 2, end)?));
        }
        // The handle ends with the second exclamation mark, if there is one.
        let mut at = start + 1;
        while matches!(self.peek(at)?, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'-') {
            at += 1;
        }
        let handle_end = if self.peek(at)? == b'!' { at + 1 } else { start + 1 };
        let end = self.uri_end(handle_end, false)?;
        self.check_length(start, end)?;
        let suffix = self.unescaped(handle_end, end)?;
        let handle = &self.text[start..handle_end];
        if suffix.is_empty() && handle != "!" {
            return Err(fault::tag_without_suffix(handle).at(start as u64).into());
        }
        if suffix.is_empty() {
            return Ok((end, "!".to_owned()));
        }
        let given = self.m.handles.iter().find(|(name, _)| name == handle);
        let prefix = match (given, handle) {
            (Some((_, prefix)), _) => prefix.as_str(),
            (None, "!") => "!",
            (None, "!!") => CORE,
            (None, _) => return Err(fault::unknown_handle(handle).at(start as u64).into()),
        };
        Ok((end, format!("{prefix}{suffix}")))
    }

    /// Returns the end of the URI characters (§5.6 ns-uri-char) from `at` on; in a shorthand, those
    /// that would end an entry of a flow collection do not count.
    fn uri_end(&self, mut at: usize, verbatim: bool) -> Step<usize> {
        while is_uri(self.peek(at)?, verbatim) {
            at += 1;
        }
        Ok(at)
    }

    /// Returns the text of a URI with its `%xx` decoded.
    fn unescaped(&self, start: usize, end: usize) -> Step<String> {
        match unescape(&self.text[start..end]) {
            Ok(text) => Ok(text),
            Err(index) => Err(fault::percent().at((start + index) as u64).into()),
        }
    }

    /// Reads the directive whose line begins here (§6.8).
    #[inline(never)]
    pub(super) fn directive(&mut self) -> Step {
        let start = self.at;
        let end = self.line_end(start)?;
        if !self.last && self.is_end(end) {
            return Err(super::machine::Stop::More);
        }
        let line = &self.text[start + 1..end];
        // A comment begins after whitespace.
        let comment = line.char_indices().find(|&(index, char)| {
            char == '#' && index > 0 && matches!(line.as_bytes()[index - 1], b' ' | b'\t')
        });
        let line = comment.map_or(line, |(index, _)| &line[..index]);
        let mut words = line.split([' ', '\t']).filter(|word| !word.is_empty());
        let name = words.next().filter(|name| line.starts_with(name)).unwrap_or_default();
        let words: Vec<&str> = words.collect();
        let fault = match (name, &words[..]) {
            ("", _) => Some(fault::directive_name()),
            ("YAML", _) if self.m.version => Some(fault::directive_twice("%YAML")),
            ("YAML", [version]) => match version.split_once('.') {
                Some(("1", minor)) if is_number(minor) => {
                    self.m.version = true;
                    None
                }
                Some((major, minor)) if is_number(major) && is_number(minor) => {
                    Some(fault::version(version))
                }
                _ => Some(fault::directive_words("%YAML", "a version such as 1.2")),
            },
            ("YAML", _) => Some(fault::directive_words("%YAML", "a version such as 1.2")),
            ("TAG", [handle, prefix]) => self.tag_directive(handle, prefix),
            ("TAG", _) => Some(fault::directive_words("%TAG", "a handle and a prefix")),
            // Reserved: to be skipped.
            _ => None,
        };
        if let Some(fault) = fault {
            return Err(fault.at(start as u64).into());
        }
        self.m.directives = true;
        self.took(end);
        Ok(())
    }

    fn tag_directive(&mut self, handle: &str, prefix: &str) -> Option<crate::Error> {
        let inner = handle.strip_prefix('!').map(|rest| rest.strip_suffix('!').unwrap_or(rest));
        let is_handle = handle == "!"
            || handle.len() > 1
                && handle.ends_with('!')
                && inner.is_some_and(|name| {
                    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                });
        if !is_handle {
            return Some(fault::handle(handle));
        }
        if self.m.handles.iter().any(|(name, _)| name == handle) {
            return Some(fault::directive_twice(&format!("%TAG {handle}")));
        }
        let fits = prefix.bytes().all(|byte| is_uri(byte, true));
        let (true, Ok(prefix)) = (fits && !prefix.starts_with([',', '[', ']']), unescape(prefix))
        else {
            return Some(fault::tag_prefix());
        };
        // Hostile input could define an unbounded number of handles.
        if self.m.handles.len() >= 1000 {
            return Some(fault::many_handles());
        }
        self.m.handles.push((handle.to_owned(), prefix));
        None
    }

    /// Describes what is at `at`, as messages name it.
    pub(super) fn found(&self, at: usize) -> Step<String> {
        let byte = self.peek(at)?;
        Ok(match byte {
            END if self.is_end(at) => "the end of the input".to_owned(),
            b'\n' | b'\r' => "the end of the line".to_owned(),
            b' ' => "a space".to_owned(),
            b'\t' => "a tab".to_owned(),
            0x21..=0x7E => format!("`{}`", char::from(byte)),
            _ => {
                let char = self.text[at..].chars().next().unwrap_or('\0');
                format!("`{}` (U+{:04X})", char.escape_debug(), u32::from(char))
            }
        })
    }
}

/// Returns the text of a URI with its `%xx` decoded, or the index of one that is invalid or breaks
/// UTF-8.
fn unescape(text: &str) -> Result<String, usize> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let mut byte = byte;
        if byte == b'%' {
            let digits = after.first_chunk::<2>().and_then(|digits| {
                let high = char::from(digits[0]).to_digit(16)?;
                let low = char::from(digits[1]).to_digit(16)?;
                Some((high << 4 | low) as u8)
            });
            byte = digits.ok_or(text.len() - rest.len())?;
            rest = &after[2..];
        } else {
            rest = after;
        }
        bytes.push(byte);
    }
    String::from_utf8(bytes).map_err(|_| 0)
}

/// Returns whether a byte may occur in a URI, or in the part of it that a shorthand keeps.
fn is_uri(byte: u8, verbatim: bool) -> bool {
    match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => true,
        b'-' | b'#' | b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' => true,
        b'_' | b'.' | b'~' | b'*' | b'\'' | b'(' | b')' | b'%' => true,
        b',' | b'[' | b']' | b'!' => verbatim,
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() < 10 && text.bytes().all(|byte| byte.is_ascii_digit())
}
