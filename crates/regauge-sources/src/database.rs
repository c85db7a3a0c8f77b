//! What the sources on databases have in common: columns of SQL, and fields of MongoDB.

use regauge::{Error, ErrorKind, Result};
use regauge_store::Error as StoreError;
use regauge_store::cells::Swapped;

use crate::Replaced;
use crate::feed::{percent_decoded, shown};
use crate::source::At;

/// Returns the text of a name in a URL; `None` if it is empty, has a NUL or is not percent-encoded UTF-8.
pub(crate) fn name_in_url(name: &str) -> Option<String> {
    let text = String::from_utf8(percent_decoded(name.as_bytes())?).ok()?;
    (!text.is_empty() && !text.contains('\0')).then_some(text)
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
        StoreError::Engine { .. } => ErrorKind::Io,
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
