//! How Ruby's Marshal is read and written.

/// Options for reading and writing Ruby Marshal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How a string without an encoding is read.
    pub binary: Binary,
    /// Read everything that is needed to write the same bytes again. Set this if the target is
    /// Marshal too.
    pub exact: bool,
    /// Read everything that Ruby itself needs to recreate the same objects: those of Ruby's
    /// standard library stay types, text keeps its encoding, and a string shared between several
    /// places stays one string, except for keys.
    pub inert: bool,
    /// Keep a DateTime as an object, instead of converting it to a time with an offset. The wrapped
    /// notation needs this to give back the class.
    pub date_times: bool,
    /// Read objects as their data (`--objects data`): keys that are symbols become text, and the
    /// default values and instance variables of hashes and text are omitted. Each such change is
    /// counted as a loss.
    pub data: bool,
}

impl Options {
    /// Returns whether objects of Ruby's standard library stay types.
    pub(crate) fn keeps_objects(&self) -> bool {
        self.exact || self.inert
    }
}

/// How to read a string without an encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binary {
    /// As bytes, like Ruby (`ASCII-8BIT`).
    #[default]
    Bytes,
    /// As text if its bytes are UTF-8, for files of Ruby 1.8, which had no encodings.
    Text,
}
