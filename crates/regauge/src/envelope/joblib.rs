//! Compressed files of joblib before 0.9.3, which later versions still read.
//!
//! Read from joblib 1.6.0 (`joblib/numpy_pickle_compat.py`, `read_zfile` and `write_zfile`):
//!
//! ```text
//! 5A 46        ZF
//! 19 bytes     the length of the pickle: 0x, hexadecimal digits, and blanks
//! 20           one more blank, from Python 2 and joblib until 0.8.4
//! …            zlib of the pickle
//! ```
//!
//! Later files are a pickle, or a pickle in zlib ([`super::django::ZLIB`]), gzip, bzip2, xz, LZMA or LZ4. The arrays of
//! such an old file are in other files, which its objects name.

use super::packing::{self, Packing};
use super::{Inside, Row, Taken, Tools, entry};
use crate::model::format::Format;
use crate::sinks::memory::read_values;
use crate::{Error, Options, Result};

/// A file in zlib.
pub(super) const ZFILE: Row = Row {
    name: "joblib-zfile",
    title: "a compressed file of joblib",
    is_certain: true,
    // Of a file that is named `.pkl`, the name says that it is a pickle.
    looks_like: &[None, Some(Format::Pickle)],
    holds: &[Format::Pickle],
    looks: |bytes, _| head(bytes).is_some_and(|(_, at)| packing::is_zlib(&bytes[at..])),
    open,
    close: Some(close),
};

const MARK: &[u8] = b"ZF0x";
/// Of the length: that of `hex(2**64)`.
const LENGTH_BYTES: usize = 19;
const HEAD_BYTES: usize = 2 + LENGTH_BYTES;

/// Returns the length of the pickle, and where its zlib begins.
fn head(bytes: &[u8]) -> Option<(u64, usize)> {
    let length = bytes.get(..HEAD_BYTES)?.strip_prefix(MARK)?;
    let digits = std::str::from_utf8(length.trim_ascii_end()).ok()?;
    let is_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let length = u64::from_str_radix(digits, 16).ok().filter(|_| is_digits)?;
    // zlib begins with no blank.
    Some((length, HEAD_BYTES + usize::from(bytes.get(HEAD_BYTES) == Some(&b' '))))
}

fn open(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let Some((length, at)) = head(bytes) else {
        return Err(Error::syntax("found no ZF and a length, expected the head of joblib").at(0));
    };
    let plain = tools.packer.unpack(Packing::Zlib, &bytes[at..], tools.limits);
    let bytes = plain.map_err(|error| error.at(at as u64))?;
    if bytes.len() as u64 != length {
        let found = bytes.len();
        let message = format!("found {found} bytes, expected the {length} that the head says");
        return Err(Error::syntax(message).at(2));
    }
    let steps = vec![Packing::Zlib.name()];
    Ok(Taken { facts: Vec::new(), steps, format: Format::Pickle, bytes, is_checked: false })
}

fn close(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    let mut options = Options::new(inside.format, inside.format);
    options.limits = *tools.limits;
    match read_values(inside.bytes, &options)?.len() {
        1 => {}
        others => return Err(entry::not_single(others)),
    }
    let length = format!("{:#x}", inside.bytes.len());
    let mut bytes = format!("ZF{length:<LENGTH_BYTES$}").into_bytes();
    if head(around).is_some_and(|(_, at)| at > HEAD_BYTES) {
        bytes.push(b' ');
    }
    bytes.extend(tools.packer.pack(Packing::Zlib, inside.bytes)?);
    Ok(bytes)
}
