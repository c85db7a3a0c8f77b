//! Keys to prefixes: `user:8123:session` to `user:*:session`.
//!
//! A key is cut at `:`, `/` and `|`. In each piece, what looks like an id (digits, hexadecimal digits, a UUID,
//! a long mix of letters and digits) becomes `*`. A piece that has too many values at its place becomes `*` as
//! well, except for the frequent ones: so names fold too, and memory is bounded. Where a `*` stood for one text
//! only, the report shows that text.

use std::collections::HashMap;

/// How many different pieces are kept at one place.
const FAN_MAX: usize = 200;
/// How many places are kept in all; beyond them, new pieces fold.
const NODES_MAX: usize = 1024;
/// How many pieces of a key are looked at: the rest folds.
const PIECES_MAX: usize = 8;
/// The longest piece that is kept as it is.
const PIECE_BYTES: usize = 64;

/// What can be put together when prefixes fold into one.
pub trait Merge: Default {
    /// Adds what `other` counted.
    fn merge(&mut self, other: Self);
}

/// What is kept per prefix.
#[derive(Default)]
struct Node<T> {
    children: HashMap<Box<str>, Node<T>>,
    /// Whether new pieces go to `*`.
    is_full: bool,
    /// The only text that this piece stood for so far.
    only: Option<Box<str>>,
    keys: u64,
    /// What is counted for keys that end here.
    found: Option<Box<T>>,
}

/// What is counted, by prefix.
pub struct Prefixes<T> {
    root: Node<T>,
    nodes: usize,
}

impl<T: Merge> Default for Prefixes<T> {
    fn default() -> Self {
        Prefixes::new()
    }
}

impl<T: Merge> Prefixes<T> {
    /// Creates an empty one.
    pub fn new() -> Prefixes<T> {
        Prefixes { root: Node::default(), nodes: 0 }
    }

    /// Returns what is counted for the prefix of this key. `is_new` if the key was not seen before.
    pub fn of(&mut self, key: &[u8], is_new: bool) -> &mut T {
        let counted = u64::from(is_new);
        let Prefixes { root, nodes } = self;
        root.keys += counted;
        let mut node = root;
        for (at, piece) in pieces(key).enumerate() {
            let folded = if at < PIECES_MAX { folded(piece) } else { "*".into() };
            node = node.child(folded, piece, nodes);
            node.keys += counted;
            if at == PIECES_MAX {
                break;
            }
        }
        node.found.get_or_insert_default()
    }

    /// Returns the prefixes and what was counted for each, in no order.
    pub fn into_list(self) -> Vec<(String, T)> {
        let mut list = Vec::new();
        let mut open = vec![(String::new(), self.root)];
        while let Some((prefix, node)) = open.pop() {
            list.extend(node.found.map(|found| (prefix.clone(), *found)));
            for (piece, child) in node.children {
                let shown = match &child.only {
                    Some(only) if piece.contains('*') => only,
                    _ => &piece,
                };
                open.push((format!("{prefix}{shown}"), child));
            }
        }
        list
    }
}

impl<T: Merge> Node<T> {
    fn child(&mut self, folded: String, piece: &[u8], nodes: &mut usize) -> &mut Node<T> {
        let mut name: Box<str> = folded.into();
        if !self.children.contains_key(&name) {
            if !self.is_full && (self.children.len() >= FAN_MAX || *nodes >= NODES_MAX) {
                self.fold(nodes);
            }
            if self.is_full {
                name = star(&name);
            }
        }
        let child = self.children.entry(name).or_insert_with(|| {
            *nodes += 1;
            Node { only: text(piece).map(Into::into), ..Node::new() }
        });
        if child.only.as_deref().is_some_and(|only| only.as_bytes() != piece) {
            child.only = None;
        }
        child
    }

    fn new() -> Node<T> {
        Node { children: HashMap::new(), is_full: false, only: None, keys: 0, found: None }
    }

    /// Folds all pieces into `*`, except for the frequent ones.
    fn fold(&mut self, nodes: &mut usize) {
        self.is_full = true;
        let average = self.keys / (self.children.len() as u64).max(1);
        let rare: Vec<_> = self
            .children
            .iter()
            .filter(|(_, child)| child.keys < 4 * average.max(1))
            .map(|(name, _)| name.clone())
            .collect();
        for name in rare {
            let Some(child) = self.children.remove(&name) else { continue };
            match self.children.get_mut(&star(&name)) {
                Some(into) => {
                    *nodes -= 1;
                    into.merge(child, nodes);
                }
                None => {
                    self.children.insert(star(&name), child);
                }
            }
        }
    }

    fn merge(&mut self, other: Node<T>, nodes: &mut usize) {
        let mut waiting = vec![(self, other)];
        while let Some((into, from)) = waiting.pop() {
            into.keys += from.keys;
            if into.only != from.only {
                into.only = None;
            }
            if let Some(found) = from.found {
                into.found.get_or_insert_default().merge(*found);
            }
            let mut known = Vec::new();
            for (name, child) in from.children {
                match into.children.contains_key(&name) {
                    true => {
                        *nodes -= 1;
                        known.push((name, child));
                    }
                    false => {
                        into.children.insert(name, child);
                    }
                }
            }
            let mut places: HashMap<_, _> =
                into.children.iter_mut().map(|(name, node)| (name.clone(), node)).collect();
            for (name, child) in known {
                if let Some(place) = places.remove(&name) {
                    waiting.push((place, child));
                }
            }
        }
    }
}

/// Returns `*`, with the separator that ends the piece.
fn star(piece: &str) -> Box<str> {
    match piece.as_bytes().last() {
        Some(b':') => "*:".into(),
        Some(b'/') => "*/".into(),
        Some(b'|') => "*|".into(),
        _ => "*".into(),
    }
}

/// Returns the pieces of a key, each with the separator that ends it.
fn pieces(key: &[u8]) -> impl Iterator<Item = &[u8]> {
    key.split_inclusive(|byte| matches!(byte, b':' | b'/' | b'|'))
}

fn text(piece: &[u8]) -> Option<&str> {
    str::from_utf8(piece)
        .ok()
        .filter(|text| text.len() <= PIECE_BYTES && !text.contains(char::is_control))
}

/// Returns a piece with `*` in place of what looks like an id.
fn folded(piece: &[u8]) -> String {
    let Some(text) = text(piece) else { return star_of(piece) };
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let is_word = |c: char| c.is_alphanumeric();
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match is_id(word) {
            // `*-*` says no more than `*`.
            true => {
                let cut = folded.trim_end_matches(['-', '_', '.']).len();
                if folded[..cut].ends_with('*') {
                    folded.truncate(cut);
                } else {
                    folded.push('*');
                }
            }
            false => folded.push_str(word),
        }
        let gap = after.find(is_word).unwrap_or(after.len());
        folded.push_str(&after[..gap]);
        rest = &after[gap..];
    }
    folded
}

fn star_of(piece: &[u8]) -> String {
    match piece.last() {
        Some(end @ (b':' | b'/' | b'|')) => format!("*{}", char::from(*end)),
        _ => "*".into(),
    }
}

/// Returns whether a word is a number, hexadecimal, or a long mix of letters and digits. Of 2,500 session keys
/// of Django, 32 letters and digits each, one has a single digit or none.
fn is_id(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = || word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let has_upper = || word.contains(char::is_uppercase);
    let has_lower = || word.contains(char::is_lowercase);
    match word.len() {
        0 => false,
        length if digits == length => true,
        4.. if digits > 0 && is_hex() => true,
        12.. if is_hex() => true,
        8.. if digits >= 2 => true,
        16.. if digits > 0 => true,
        32.. if !has_upper() || !has_lower() => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(u64);

    impl Merge for Count {
        fn merge(&mut self, other: Count) {
            self.0 += other.0;
        }
    }

    fn prefixes(keys: impl IntoIterator<Item = String>) -> Vec<(String, u64)> {
        let mut prefixes = Prefixes::<Count>::new();
        for key in keys {
            prefixes.of(key.as_bytes(), true).0 += 1;
        }
        let mut list: Vec<_> =
            prefixes.into_list().into_iter().map(|(prefix, count)| (prefix, count.0)).collect();
        list.sort();
        list
    }

    fn owned<const N: usize>(list: [(&str, u64); N]) -> Vec<(String, u64)> {
        list.map(|(prefix, count)| (prefix.to_owned(), count)).to_vec()
    }

    #[test]
    fn ids_fold() {
        for (key, expected) in [
            ("user:8123:session", "user:*:session"),
            ("views/products/123-20240101120000", "views/products/*"),
            ("celery-task-meta-d9b2d63d-a233-4123-847a-0a1b2c3d4e5f", "celery-task-meta-*"),
            ("_kombu.binding.celery", "_kombu.binding.celery"),
            ("session:0a1b2c3d4e5f", "session:*"),
            ("v2:posts", "v2:posts"),
            ("posts.list", "posts.list"),
            ("cache:x9Kd82hfkQpz01", "cache:*"),
            ("cache:qhwzkfoxmrtbnvypdsla3jgceuqhwzkf", "cache:*"),
            ("cache:qhwzkfoxmrtbnvypdslaxjgceuqhwzkf", "cache:*"),
            (
                "cache:passwordResetTokensByUserIdentifier",
                "cache:passwordResetTokensByUserIdentifier",
            ),
            ("oauth2:tokens", "oauth2:tokens"),
            ("", ""),
        ] {
            assert_eq!(
                String::from_utf8(
                    pieces(key.as_bytes()).flat_map(|piece| folded(piece).into_bytes()).collect()
                )
                .unwrap(),
                expected
            );
        }
        assert_eq!(folded(b"\xFF\xFE:"), "*:");
    }

    #[test]
    fn a_piece_that_never_changes_is_shown() {
        let keys = (0..50).map(|n| format!(":1:post:{n}"));
        assert_eq!(prefixes(keys), owned([(":1:post:*", 50)]));
        let keys = (0..50).map(|n| format!(":{}:post:{n}", n % 2));
        assert_eq!(prefixes(keys), owned([(":*:post:*", 50)]));
    }

    #[test]
    fn names_fold_if_there_are_many_and_frequent_ones_stay() {
        let names = (0..5000).map(|n| {
            let letters: String = [n / 625, n / 125 % 5, n / 25 % 5, n / 5 % 5, n % 5]
                .map(|d| char::from(b'g' + d as u8))
                .iter()
                .collect();
            format!("profile:{letters}:avatar")
        });
        let others = (0..5000).map(|_| "profile:main:avatar".to_owned());
        let mixed = names.zip(others).flat_map(|(one, other)| [one, other]);
        let found = prefixes(mixed);
        assert_eq!(found, owned([("profile:*:avatar", 5000), ("profile:main:avatar", 5000)]));
    }

    #[test]
    fn memory_is_bounded() {
        let mut prefixes = Prefixes::<Count>::new();
        for n in 0..200_000u64 {
            let word = |n: u64| -> String {
                (0..6)
                    .map(|at| char::from(b'g' + ((n * 2_654_435_761) >> (at * 4)) as u8 % 16))
                    .collect()
            };
            let key = format!("{}:{}/{}|{}", word(n), word(n / 3), word(n / 7), word(n / 11));
            prefixes.of(key.as_bytes(), true).0 += 1;
        }
        assert!(prefixes.nodes <= 2 * NODES_MAX, "{}", prefixes.nodes);
        let list = prefixes.into_list();
        assert_eq!(list.iter().map(|(_, count)| count.0).sum::<u64>(), 200_000);
    }
}
