//! Keys of a hash that are written as the same text.

use std::collections::HashSet;

use regauge::{Error, Result};

use crate::options::word;
use crate::ruby::{self, VALUE};

/// A key that is text.
pub(super) const TEXT: u8 = 1;
/// A key that is a symbol, written as text.
pub(super) const SYMBOL: u8 = 2;

/// Refuses a hash with a symbol and the same text as keys.
#[cold]
#[inline(never)]
pub(super) fn check(hash: VALUE) -> Result {
    let (mut names, mut twice) = (HashSet::new(), None);
    ruby::each_pair(hash, |key, _| {
        let text = ruby::text_of_key(key);
        if let Some(text) = text.filter(|text| *text != key) {
            names.insert(ruby::bytes_of(text).to_vec());
        }
        true
    });
    ruby::each_pair(hash, |key, _| {
        if ruby::is_string(key) && names.contains(ruby::bytes_of(key)) {
            twice = word(key);
        }
        twice.is_none()
    });
    let Some(name) = twice else { return Ok(()) };
    let message = format!(
        "found the keys :{name} and {name:?} in one Hash, which are written as the same text"
    );
    Err(Error::unrepresentable(message).hint("rename one of the two"))
}
