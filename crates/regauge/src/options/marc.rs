//! How MARC is read and written.

use crate::model::record::Charset;

/// The charset for a reader or a writer to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CharsetChoice {
    /// The one that the record declares.
    #[default]
    Auto,
    /// This one, whatever the record declares.
    Always(Charset),
}

impl std::str::FromStr for CharsetChoice {
    type Err = String;

    /// Returns the choice of this name: `auto`, `utf8`, `marc8`.
    fn from_str(name: &str) -> std::result::Result<CharsetChoice, String> {
        match name.to_ascii_lowercase().as_str() {
            "auto" => Ok(CharsetChoice::Auto),
            "utf8" | "utf-8" => Ok(CharsetChoice::Always(Charset::Utf8)),
            "marc8" | "marc-8" => Ok(CharsetChoice::Always(Charset::Marc8)),
            _ => Err(format!("unknown charset `{name}`: known are auto, utf8, marc8")),
        }
    }
}

/// Options for reading and writing MARC.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The charset for reading ISO 2709: by default the one that the record declares.
    pub charset: CharsetChoice,
    /// The charset for writing ISO 2709: by default the one that the record had, or that its leader
    /// declares. Another choice changes leader/09 along with the bytes.
    pub write_charset: CharsetChoice,
    /// Read a record whose directory is wrong by its field terminators, if there are as many as
    /// directory entries. Each such record is counted as a loss.
    pub repair: bool,
    /// Write fields above 9,999 bytes and records above 99,999 to ISO 2709 anyway, with nines in
    /// place of a number that does not fit. Most readers cope, though the standard does not allow
    /// it.
    pub oversize: bool,
    /// When reading MARC-8, turn the references of the lossless technique (`&#x4E2D;`) into the
    /// characters they represent, unless MARC-8 has those characters. This is part of the wrapped
    /// notation: [`OnLoss::Wrap`](crate::OnLoss::Wrap) writes the references, and
    /// [`Options::unwrap`](crate::Options::unwrap) turns this on.
    pub references: bool,
    /// Write MARCXML without line breaks and indentation.
    pub compact: bool,
}
