//! What frameworks put around a value in a cache, a session or a queue: recognised, named, taken off, and
//! put back.
//!
//! An envelope is a row of [`ROWS`]: its name, how it is recognised, the reader of its head, and what it
//! can hold. What is inside is a document of one of the formats, which [`mod@crate::convert`] reads as usual.
//! `docs/envelopes.md` lists what is recognised, with versions, and what is lost.
//!
//! - **Nothing is executed.** Marshal and pickle inside are bytes of their format.
//! - **Nothing is verified without a secret.** With one, a signature is checked, and encrypted data is decrypted;
//!   [`Ciphers`] brings the cryptography.
//! - **Compression is the caller's.** The library has none; a [`Packer`] brings it, with its bounds.
//! - **An envelope is in memory**, within [`Limits::record_bytes`], because its parts are named by lengths and
//!   ends. Envelopes may be in one another, [`LAYERS_MAX`] deep.
//!
//! If you add a row, also add fixtures that the framework made (`tools/envelopes_*`), and a row to the page.

mod active_job;
mod cachelib;
mod django;
mod entry;
mod fact;
mod itsdangerous;
mod joblib;
mod keys;
mod message;
mod packing;
mod paquito;
mod rails;
mod verifier;

use std::io::Read;

pub use fact::{Fact, Layer, Opened, summary};
pub use keys::{Ciphers, Hash, Keys};
pub use packing::{Packer, Packing};

use crate::bytes::output::StreamOutput;
use crate::codec::detect::HEAD_BYTES;
use crate::convert::{self, Input, OnBad, Summary};
use crate::model::format::Format;
use crate::model::hint::Hint;
use crate::model::limits::{Limit, Limits};
use crate::model::option::Opt;
use crate::options::Envelopes;
use crate::{Error, ErrorKind, Options, Result};

/// How many envelopes may be in one another. A message in a message in a cache is three.
pub const LAYERS_MAX: usize = 8;

/// The largest document that is searched for the keys of a message: JSON has no mark, so that all of it is
/// read. Brokers keep messages far smaller.
pub const LOOK_BYTES: usize = 1 << 20;

/// Makes the envelope of the bytes around another value.
type Close = fn(&[u8], &Inside<'_>, &Tools<'_>) -> Result<Vec<u8>>;

/// An envelope: a row of the table.
pub struct Row {
    /// The name in reports: `rails-cache-7.1`.
    pub name: &'static str,
    /// The name in prose: `Rails.cache 7.1`.
    pub title: &'static str,
    /// Whether such bytes can be nothing else: no format is detected in them, or the one that is cannot read
    /// them.
    pub is_certain: bool,
    /// The formats that such bytes are, or that detection takes them for; `None` stands for no format.
    pub looks_like: &'static [Option<Format>],
    /// The formats that the framework reads back from it; none if it is signed or encrypted, so that it is not
    /// made again.
    pub holds: &'static [Format],
    /// Whether these are such bytes: the first ones, or all of them.
    looks: fn(&[u8], is_whole: bool) -> bool,
    open: fn(&[u8], &Tools<'_>) -> Result<Taken>,
    /// Makes the envelope of these bytes around another value; `None` if it is signed or encrypted.
    close: Option<Close>,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What envelopes are opened and closed with.
#[derive(Clone, Copy)]
pub struct Tools<'t> {
    /// The bounds of everything that is read and decompressed.
    pub limits: &'t Limits,
    /// Compresses and decompresses.
    pub packer: &'t dyn Packer,
    /// Checks signatures and decrypts; `None` without the secret of the application.
    pub keys: Option<Keys<'t>>,
}

/// What an envelope held.
struct Taken {
    facts: Vec<Fact>,
    /// What was undone on the way: `zlib`, `base64`.
    steps: Vec<&'static str>,
    format: Format,
    bytes: Vec<u8>,
    /// Whether the secret made the signature, or encrypted the bytes.
    is_checked: bool,
}

/// What an envelope is made around.
struct Inside<'i> {
    format: Format,
    bytes: &'i [u8],
    /// The format that was inside before.
    was: Format,
}

/// Every envelope, in the order in which they are tried.
pub static ROWS: [Row; 17] = [
    rails::CODER,
    rails::PACKED,
    entry::ENTRY,
    django::FILE,
    django::TABLE,
    django::SIGNED,
    itsdangerous::FLASK,
    cachelib::CACHELIB,
    joblib::ZFILE,
    paquito::COMMENT,
    paquito::BYTE,
    // What is encrypted with AES-CBC is signed as well.
    verifier::ENCRYPTED,
    verifier::SIGNED,
    django::ZLIB,
    message::CELERY,
    message::SIDEKIQ,
    active_job::ACTIVE_JOB,
];

/// Returns the first row that recognises these bytes: all of a file, or its first ones. `format` is what
/// [`crate::detect`] takes them for.
pub fn find(bytes: &[u8], is_whole: bool, format: Option<Format>) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.looks_like.contains(&format) && (row.looks)(bytes, is_whole))
}

/// Bytes without what was asked to be taken off.
#[derive(Debug)]
pub enum Peeled {
    /// Nothing was taken off.
    Bare(Vec<u8>),
    /// The value, and its envelopes.
    Opened(Opened),
}

/// Returns whether [`peel`] may take something off of an input that begins with `head`, so that all of it
/// has to be in memory. `named` is its format, if a caller or a file's name says it: then nothing is taken off
/// that was not asked for. With a secret, all that is signed or encrypted is asked for.
pub fn may_peel(
    head: &[u8],
    is_whole: bool,
    named: Option<Format>,
    envelopes: Envelopes,
    has_secret: bool,
) -> bool {
    match envelopes {
        _ if has_secret => true,
        Envelopes::Never => false,
        Envelopes::Open | Envelopes::Keep => true,
        Envelopes::Auto => {
            named.is_none() && find(head, is_whole, seen(head)).is_some_and(|row| row.is_certain)
        }
    }
}

/// Returns all of an input.
///
/// # Errors
/// Those of `read`, and `Limit` if there are more than [`Limits::record_bytes`].
pub fn read_all(read: impl Read, limits: &Limits) -> Result<Vec<u8>> {
    let most = limits.record_bytes;
    let mut bytes = Vec::new();
    read.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let found =
            format!("found more than {most} bytes, the limit of record_bytes, in an envelope");
        return Err(Error::limit(found).hint(Hint::raise(Limit::RecordBytes)));
    }
    Ok(bytes)
}

/// Takes off what is asked for. `told` is the format that the bytes are known or detected to be.
///
/// # Errors
/// Those of [`open`], `Unsupported` if an envelope is asked for and there is none, and `Data` if there is a secret
/// and nothing to check with it.
pub fn peel(
    bytes: Vec<u8>,
    told: Option<Format>,
    envelopes: Envelopes,
    tools: &Tools<'_>,
) -> Result<Peeled> {
    let is_asked = matches!(envelopes, Envelopes::Open | Envelopes::Keep);
    let row = match envelopes {
        Envelopes::Never => None,
        _ => find_whole(&bytes, told).filter(|row| row.is_certain || is_asked),
    };
    let has_secret = tools.keys.is_some();
    match row {
        Some(row) => {
            let opened = open(bytes, row, !is_asked, tools)?;
            let is_checked = opened.layers.iter().any(|layer| layer.is_checked);
            if has_secret && !is_checked {
                return Err(keys::nothing_checked());
            }
            Ok(Peeled::Opened(opened))
        }
        None if has_secret => Err(keys::nothing_checked()),
        None if is_asked => Err(no_envelope()),
        None => Ok(Peeled::Bare(bytes)),
    }
}

/// Returns the row that recognises all of an input: in its known format, in the one that its first bytes look
/// like, or in none.
pub fn find_whole(bytes: &[u8], told: Option<Format>) -> Option<&'static Row> {
    [told, seen(bytes), None].into_iter().find_map(|format| find(bytes, true, format))
}

#[cold]
fn no_envelope() -> Error {
    let titles: Vec<_> = ROWS.iter().map(|row| row.title).collect();
    let found = format!("found no envelope, expected one of {}", titles.join(", "));
    Error::new(ErrorKind::Unsupported, found).hint(Hint::without("read it", Opt::Envelope))
}

/// Takes off `row`, and the envelopes that are inside: all that are recognised, or only those that can be
/// nothing else.
///
/// # Errors
/// `Truncated`, `Syntax` or `Unsupported` if the bytes are no whole envelope of this kind, `Limit` if a
/// limit is exceeded or if envelopes nest more than [`LAYERS_MAX`] deep, `Data` if the secret is not that of a
/// signature.
pub fn open(
    bytes: Vec<u8>,
    row: &'static Row,
    certain_only: bool,
    tools: &Tools<'_>,
) -> Result<Opened> {
    let (mut row, mut around) = (row, bytes);
    let (mut layers, mut held) = (Vec::new(), 0);
    loop {
        // What was around stays, so that it can be put back: within the limit all together, because each
        // layer of zlib may be a thousand times larger than the one before.
        held += around.len() as u64;
        if held > tools.limits.record_bytes {
            let most = tools.limits.record_bytes;
            let message =
                format!("found envelopes of more than {most} bytes, the limit of record_bytes");
            return Err(Error::limit(message).hint(Hint::raise(Limit::RecordBytes)));
        }
        let Taken { facts, steps, format, bytes, is_checked } =
            (row.open)(&around, tools).map_err(|error| named(error, row))?;
        layers.push(Layer { row, facts, steps, format, is_checked, around });
        let next = find(&bytes, true, Some(format)).or_else(|| find(&bytes, true, None));
        match next.filter(|next| next.is_certain || !certain_only) {
            None => return Ok(Opened { layers, format, bytes }),
            Some(_) if layers.len() == LAYERS_MAX => return Err(too_deep()),
            Some(next) => (row, around) = (next, bytes),
        }
    }
}

#[cold]
fn too_deep() -> Error {
    Error::limit(format!(
        "found an envelope in {LAYERS_MAX} others, expected a value; frameworks nest three at most"
    ))
    .hint(Hint::set(Opt::Envelope, "none").to("read the outermost as it is"))
}

/// Converts a value that was in envelopes, and puts them around the output with [`Envelopes::Keep`]. `on_bad`
/// is called for each record that is skipped.
///
/// # Errors
/// Those of [`convert`](fn@crate::convert::convert) and [`close`].
pub fn convert(
    opened: &Opened,
    options: &Options,
    packer: &dyn Packer,
    on_bad: &mut OnBad<'_>,
) -> Result<(Vec<u8>, Summary)> {
    let mut bytes = Vec::new();
    let output = StreamOutput::new(&mut bytes);
    let summary = convert::convert(Input::Bytes(&opened.bytes), output, options, on_bad)?;
    if options.envelope == Envelopes::Keep {
        let tools = Tools { limits: &options.limits, packer, keys: None };
        bytes = close(opened, options.to, bytes, &tools)?;
    }
    Ok((bytes, summary))
}

/// Puts the layers that [`open`] took off around `inside`, a document of `format`.
///
/// # Errors
/// `Refused` if the framework would not read that format in such an envelope, or if it is signed or encrypted.
pub fn close(
    opened: &Opened,
    format: Format,
    inside: Vec<u8>,
    tools: &Tools<'_>,
) -> Result<Vec<u8>> {
    let (mut new, mut bytes) = (Some(format), inside);
    for Layer { row, format, around, .. } in opened.layers.iter().rev() {
        // Only the innermost may hold another format than before.
        let format_now = new.take().unwrap_or(*format);
        let Some(make) = row.close.filter(|_| row.holds.contains(&format_now)) else {
            return Err(not_held(row, format_now));
        };
        let inside = Inside { format: format_now, bytes: &bytes, was: *format };
        bytes = make(around, &inside, tools).map_err(|error| named(error, row))?;
    }
    Ok(bytes)
}

#[cold]
fn not_held(row: &Row, format: Format) -> Error {
    let found = format.title();
    let error = match row.holds {
        [] => Error::new(
            ErrorKind::Refused,
            format!(
                "{} cannot be made around the output, because regauge neither signs nor encrypts",
                row.title
            ),
        ),
        held => {
            let held: Vec<_> = held.iter().map(|format| format.title()).collect();
            let expected = held.join(" or ");
            Error::new(
                ErrorKind::Refused,
                format!(
                    "found {found} to put into {}, expected {expected}, which is read there",
                    row.title
                ),
            )
        }
    };
    let plain = Hint::set(Opt::Envelope, "open").to("write the value without it");
    error.hint(match row.holds {
        [first, ..] => Hint::into(*first).or(plain),
        [] => plain,
    })
}

/// Returns the format that bytes begin like.
fn seen(bytes: &[u8]) -> Option<Format> {
    Format::from_magic(&bytes[..bytes.len().min(HEAD_BYTES)])
}

/// Adds the name of the envelope to an error about it.
#[cold]
fn named(error: Error, row: &Row) -> Error {
    error.within(row.title)
}
