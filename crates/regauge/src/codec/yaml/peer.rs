//! Where other parsers of YAML 1.1 differ from the one here, which reads YAML 1.2 as well.
//!
//! The other parser is left every document with a text that may be such a place: a tab between tokens, the
//! end of a document, a block scalar at the margin, a merge (whose keys the others put first, or take in
//! order), a directive, a byte order mark. They are looked for by a character that is rare. A look at flow
//! collections, anchors and tags goes through the text once; only if it finds something, the document is
//! parsed, because most of these characters stand in text, where they mean nothing.
//!
//! If you add a place: no part of the text may be looked at from two others.

use std::collections::HashSet;

use memchr::{memchr, memchr_iter, memchr2, memchr2_iter, memchr3, memchr3_iter, memmem};

use super::marks::{Marks, marks};
use crate::Limits;
use crate::options::yaml::Schema;

/// Another parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// Python's PyYAML.
    PyYaml,
    /// libyaml, under Ruby's Psych, which does not get anchors and tags from here.
    Psych,
}

/// Returns whether another parser may refuse a document that this one reads, or read it differently.
#[doc(hidden)]
pub fn differs(text: &str, peer: Peer) -> bool {
    let schema = match peer {
        Peer::PyYaml if is_rare_for_pyyaml(text) => return true,
        Peer::PyYaml if !may_differ_for_pyyaml(text) => return false,
        Peer::PyYaml => Schema::Yaml11,
        Peer::Psych if is_rare_for_psych(text) => return true,
        Peer::Psych if !may_differ_for_psych(text) => return false,
        Peer::Psych => Schema::Psych,
    };
    let Ok(marks) = marks(text.as_bytes(), schema, Limits::default()) else { return true };
    let Marks { flow_lines, anchors, has_alias, has_tag, has_bare_tag } = marks;
    let is_odd = match peer {
        Peer::PyYaml => has_bare_tag || are_odd(anchors.iter().map(String::as_str)),
        Peer::Psych => has_alias || has_tag || !anchors.is_empty(),
    };
    is_odd || flow_lines.into_iter().any(|lines| is_odd_flow(&text[lines], peer))
}

impl Peer {
    /// As `\s` in the language.
    fn is_space(self, c: char) -> bool {
        match self {
            Peer::PyYaml => c.is_whitespace() || ('\x1C'..='\x1F').contains(&c),
            Peer::Psych => matches!(c, ' ' | '\t'..='\r'),
        }
    }
}

fn has(text: &str, part: &str) -> bool {
    memmem::find(text.as_bytes(), part.as_bytes()).is_some()
}

fn is_rare_for_pyyaml(text: &str) -> bool {
    let bytes = text.as_bytes();
    let begin = text.trim_start_matches(|c| Peer::PyYaml.is_space(c));
    if begin.starts_with(['|', '>', '.', '%']) {
        return true;
    }
    if memchr3(b'\t', b'%', b'<', bytes).is_some()
        && (has(text, "\t") || has(text, "\n%") || has(text, "<<"))
    {
        return true;
    }
    if memchr(0xEF, bytes).is_some() && has(text, "\u{feff}") || has(text, "\n...") {
        return true;
    }
    let has_scalars = memchr2(b'|', b'>', bytes).is_some();
    // A block scalar at the end gets a line break.
    if !text.ends_with('\n') && (has_scalars || text.ends_with([' ', '!'])) {
        return true;
    }
    let is_top = |line: &str| line.starts_with("---") && line.contains(['|', '>']);
    if has_scalars
        && (has(text, "\n|") || has(text, "\n>") || has(text, "---") && text.lines().any(is_top))
    {
        return true;
    }
    memchr_iter(b'=', bytes).any(|at| is_value(bytes, at))
}

fn is_rare_for_psych(text: &str) -> bool {
    let bytes = text.as_bytes();
    if text.ends_with(' ') || text.starts_with('%') || text.starts_with("...") {
        return true;
    }
    if memchr3(b'\t', b'%', b'<', bytes).is_some()
        && (has(text, "\t") || has(text, "\n%") || has(text, "<<"))
    {
        return true;
    }
    if has(text, "\n...") || memchr_iter(b'\r', bytes).any(|at| bytes.get(at + 1) != Some(&b'\n')) {
        return true;
    }
    // A byte order mark, and the line breaks of YAML 1.1.
    const RARE: [char; 4] = ['\u{FEFF}', '\u{85}', '\u{2028}', '\u{2029}'];
    if !text.is_ascii() && text.contains(RARE) {
        return true;
    }
    let is_at_margin = |line: &str| match line.starts_with("---") {
        true => line.contains(['|', '>']),
        false => line.trim_start_matches(' ').starts_with(['|', '>']),
    };
    memchr2(b'|', b'>', bytes).is_some()
        && (!text.ends_with('\n') || text.lines().any(is_at_margin))
}

/// Returns whether the equals sign here is a node, which is YAML 1.1's tag `value`.
fn is_value(bytes: &[u8], at: usize) -> bool {
    let is_space = |byte: &&u8| **byte == b' ';
    let after = bytes[at + 1..].iter().take_while(is_space).count();
    let ends = match bytes.get(at + 1 + after) {
        None | Some(b'\n' | b'\r' | b':' | b',' | b']' | b'}') => true,
        Some(b'#') => after > 0,
        Some(_) => false,
    };
    if !ends {
        return false;
    }
    let before = bytes[..at].iter().rev().take_while(is_space).count();
    match bytes[..at - before].last() {
        None | Some(b'\n' | b'\r' | b'[' | b'{' | b',') => true,
        Some(b'-' | b':' | b'?') => before > 0,
        Some(_) => false,
    }
}

/// Returns whether there is what may be a flow collection, an anchor or a tag that differs.
fn may_differ_for_pyyaml(text: &str) -> bool {
    let bytes = text.as_bytes();
    let peer = Peer::PyYaml;
    if memchr2(b'[', b'{', bytes).is_some() && is_odd_flow(text, peer) {
        return true;
    }
    let is_bare_tag = |at: usize| matches!(bytes.get(at + 1), Some(b' ' | b'\n'));
    if memchr_iter(b'!', bytes).any(is_bare_tag) {
        return true;
    }
    are_odd(memchr_iter(b'&', bytes).filter_map(|at| {
        let last = text[..at].chars().next_back();
        let is_anchor = last.is_none_or(|c| peer.is_space(c) || matches!(c, '[' | '{' | ','));
        let ends = |c: char| peer.is_space(c) || matches!(c, ',' | '[' | ']' | '{' | '}');
        is_anchor.then(|| text[at + 1..].split(ends).next().unwrap_or_default())
    }))
}

/// Returns whether there is what may be an anchor, an alias, a tag, or a flow collection that differs.
fn may_differ_for_psych(text: &str) -> bool {
    let bytes = text.as_bytes();
    let peer = Peer::Psych;
    let begins = |at: usize| match bytes[..at] {
        [] | [.., b'"' | b'\'', b':'] => true,
        [.., last] => peer.is_space(last.into()) || b"[{,".contains(&last),
    };
    let is_node = |at: usize| {
        let is_followed = text[at + 1..].chars().next().is_some_and(|c| !peer.is_space(c));
        begins(at) && (bytes[at] == b'!' || is_followed)
    };
    memchr3_iter(b'!', b'&', b'*', bytes).any(is_node)
        || memchr2_iter(b'[', b'{', bytes).any(begins) && is_odd_flow(text, peer)
}

/// Returns whether an anchor occurs twice, or has a name that PyYAML does not allow.
fn are_odd<'t>(anchors: impl Iterator<Item = &'t str>) -> bool {
    let mut seen = HashSet::new();
    let is_name = |name: &str| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    for name in anchors {
        if !is_name(name) || !seen.insert(name) {
            return true;
        }
    }
    false
}

/// Returns whether lines with flow collections have a question mark, an indicator before text, a key of
/// several lines, or a tag before a comma.
fn is_odd_flow(text: &str, peer: Peer) -> bool {
    let bytes = text.as_bytes();
    memchr(b'?', bytes).is_some()
        || memchr_iter(b':', bytes).any(|at| is_odd_colon(text, at, peer))
        || memchr(b'"', bytes).is_some() && text.split('\n').any(has_open_quote)
        || peer == Peer::PyYaml
            && memchr_iter(b'!', bytes).any(|at| is_tag_before_comma(text, at, peer))
        || memchr2_iter(b'[', b'{', bytes).any(|at| is_open_plain(text, at, peer))
        || memchr_iter(b'\n', bytes).any(|at| is_plain_after_comma(text, at, peer))
}

/// A colon before text that follows no text, one after a quote and before a colon, or one that begins a
/// line. For libyaml also any that follows no text, or that is followed by an indicator.
fn is_odd_colon(text: &str, at: usize, peer: Peer) -> bool {
    let (before, after) = (&text[..at], &text[at + 1..]);
    let (last, next) = (before.chars().next_back(), after.chars().next());
    let begins = |c: char| matches!(c, '[' | '{' | ',');
    let is_before_text = next.is_some_and(|c| !peer.is_space(c));
    if is_before_text && last.is_some_and(|c| peer.is_space(c) || begins(c)) {
        return true;
    }
    if next == Some(':') && matches!(last, Some('"' | '\'')) {
        return true;
    }
    if peer == Peer::Psych
        && (next.is_some_and(|c| begins(c) || matches!(c, ']' | '}'))
            || before.trim_end_matches(|c| peer.is_space(c)).ends_with(begins))
    {
        return true;
    }
    last.is_some_and(|c| peer.is_space(c))
        && before.trim_end_matches(|c| c != '\n' && peer.is_space(c)).ends_with('\n')
}

fn is_tag_before_comma(text: &str, at: usize, peer: Peer) -> bool {
    let ends = |c: char| peer.is_space(c) || matches!(c, '[' | '!' | '{');
    text[at + 1..].split(ends).next().is_some_and(|tag| tag.contains(','))
}

/// Returns whether a line has an odd number of double quotes.
fn has_open_quote(line: &str) -> bool {
    memchr_iter(b'"', line.as_bytes()).count() % 2 == 1
}

/// Returns whether the text after a bracket goes on in the next line.
fn is_open_plain(text: &str, at: usize, peer: Peer) -> bool {
    let rest = &text[at + 1..];
    let Some(end) = rest.find(['[', ']', '{', '}', '\n']) else { return false };
    rest[end..].starts_with('\n') && ends_with_text(&rest[..end], peer)
}

/// Returns whether the line that begins after this line break is text that follows a comma, and goes on in
/// the next line.
fn is_plain_after_comma(text: &str, at: usize, peer: Peer) -> bool {
    if !text[..at].trim_end_matches([' ', '\r']).ends_with(',') {
        return false;
    }
    let rest = &text[at + 1..];
    let Some(end) = rest.find([',', '[', ']', '{', '}', '\n']) else { return false };
    rest[end..].starts_with('\n') && ends_with_text(&rest[..end], peer)
}

fn ends_with_text(line: &str, peer: Peer) -> bool {
    let last = line.trim_end_matches([' ', '\r']).chars().next_back();
    last.is_some_and(|c| c != ',' && !peer.is_space(c))
}
