//! What the sources on databases have in common: columns of SQL and of Cassandra, and fields of MongoDB.

use regauge::{Error, ErrorKind, Result};
use regauge_store::Error as StoreError;
use regauge_store::cells::Swapped;

use crate::Replaced;
#[cfg(any(feature = "cassandra", feature = "mongodb"))]
use crate::feed::{Feed, Head};
use crate::feed::{percent_decoded, shown};
use crate::source::At;
#[cfg(any(feature = "cassandra", feature = "mongodb"))]
use crate::source::Flow;

/// Returns the text of a name in a URL; `None` if it is empty, has a NUL or is not percent-encoded UTF-8.
pub(crate) fn name_in_url(name: &str) -> Option<String> {
    let text = String::from_utf8(percent_decoded(name.as_bytes())?).ok()?;
    (!text.is_empty() && !text.contains('\0')).then_some(text)
}

/// Splits `SCHEME://HOST/DATABASE.PLACE?…`. Returns the address of the database, what follows the first dot after it, and
/// the parameters; `None` if it has no such dot.
#[cfg(any(feature = "cassandra", feature = "mongodb"))]
pub(crate) fn place_in_url(url: &str) -> Option<(&str, &str, impl Iterator<Item = &str>)> {
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let host = base.find("://").map_or(0, |at| at + 3);
    let name = host + base[host..].rfind('/')? + 1;
    let dot = name + base[name..].find('.').filter(|dot| *dot > 0)?;
    Some((&base[..dot], &base[dot + 1..], query.split('&').filter(|one| !one.is_empty())))
}

/// Returns the text of a name in a URL, or what `wrong` makes of the reason why it has none.
#[cfg(any(feature = "cassandra", feature = "mongodb"))]
pub(crate) fn required_name(name: &str, what: &str, wrong: fn(&str) -> Error) -> Result<String> {
    name_in_url(name)
        .ok_or_else(|| wrong(&format!("its {what} is missing, or not percent-encoded UTF-8")))
}

/// Returns an address with these parameters.
pub(crate) fn with_parameters(base: &str, parameters: &[&str]) -> String {
    match parameters {
        [] => base.to_owned(),
        some => format!("{base}?{}", some.join("&")),
    }
}

/// Hands out the value of a key that has only one, if it is wanted.
#[cfg(any(feature = "cassandra", feature = "mongodb"))]
pub(crate) fn hand_out(head: &Head<'_>, value: &[u8], feed: &mut Feed<'_>) -> Result<Flow> {
    if !feed.takes(head.database, head.key, head.kind) {
        return Ok(Flow::Continue);
    }
    let (bytes, most) = (value.len() as u64, feed.wanted.value_bytes_max);
    if !feed.wanted.values {
        return feed.whole(head, bytes, Some(1));
    }
    if bytes > most {
        return Err(too_long(head.key, bytes, most));
    }
    feed.begin(head, Some(1));
    feed.value(head, None, None, value)
}

/// Replaces the value of a key that begins with `prefix` by a function of the store, which gets what follows.
/// Messages call the place of the values `what`.
pub(crate) fn replace(
    at: &At<'_>,
    prefix: &[u8],
    what: &str,
    swap: impl FnOnce(&str) -> regauge_store::Result<Swapped>,
) -> Result<Replaced> {
    let key = at.key.strip_prefix(prefix).and_then(|key| str::from_utf8(key).ok());
    let Some(key) = key.filter(|_| at.part.is_none() && at.database == 0) else {
        return Ok(Replaced::Elsewhere);
    };
    match swap(key).map_err(failed)? {
        Swapped::Done => Ok(Replaced::Done),
        Swapped::Changed => Ok(Replaced::Changed),
        Swapped::Gone => Ok(Replaced::Gone),
        Swapped::Unfit(why) => {
            Err(Error::unrepresentable(format!("found a {what} that refuses the new value: {why}")))
        }
    }
}

/// Passes an error of the store on.
pub(crate) fn failed(error: StoreError) -> Error {
    let kind = match error {
        StoreError::Engine { .. } | StoreError::Full { .. } => ErrorKind::Io,
        _ => ErrorKind::Refused,
    };
    Error::new(kind, error.to_string())
}

#[cold]
pub(crate) fn too_long(key: &[u8], length: u64, most: u64) -> Error {
    let key = shown(key);
    Error::limit(format!("key \"{key}\": found a value of {length} bytes, expected at most {most}"))
        .hint("raise the limit, or read the keys without their values")
}
