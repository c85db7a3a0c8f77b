//! The encoding of a file, which must be UTF-8.

use crate::{Error, ErrorKind, Result};

/// Skips a byte order mark; returns `None` if it may be cut off.
pub(super) fn begin(bytes: &[u8], last: bool) -> Result<Option<usize>> {
    if bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF") {
        return Err(Error::new(ErrorKind::Unsupported, "found UTF-16, expected UTF-8")
            .hint("convert the file with iconv -f UTF-16 -t UTF-8")
            .at(0));
    }
    match bytes {
        [0xEF, 0xBB, 0xBF, ..] => Ok(Some(3)),
        [] | [0xEF] | [0xEF, 0xBB] | [0xFF] | [0xFE] if !last => Ok(None),
        _ => Ok(Some(0)),
    }
}

/// Accepts UTF-8 and its subset ASCII.
pub(super) fn check_encoding(declaration: &str) -> Result {
    let Some((_, rest)) = declaration.split_once("encoding") else { return Ok(()) };
    let rest = rest.trim_start().trim_start_matches('=').trim_start();
    let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Err(Error::syntax("found an encoding without quotes in the XML declaration").at(0));
    };
    let name = rest[1..].split(quote).next().unwrap_or_default();
    if ["utf-8", "utf8", "us-ascii"].contains(&name.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    let message = format!("found the encoding {name:?}, expected UTF-8");
    let hint = "convert the file with iconv and change the XML declaration";
    Err(Error::new(ErrorKind::Unsupported, message).hint(hint).at(0))
}
