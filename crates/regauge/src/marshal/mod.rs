//! Ruby's Marshal 4.8, read as inert data: no class is looked up, nothing is made, nothing is
//! called.
//!
//! There is no specification but `marshal.c` of CRuby and its documentation
//! (`doc/marshal.rdoc`); what is here was checked against Ruby 3.1. A file is any number of
//! documents, one behind the other. See `docs/formats/marshal.md` for what becomes of objects.

mod classes;
mod counted;
mod direct;
mod encoding;
mod float;
mod keys;
mod known;
mod leaves;
mod links;
mod moment;
mod objects;
mod read;
mod reader;
mod scan;
mod skip;
mod survey;
#[cfg(test)]
mod tests;
mod typed;
pub mod types;
mod walk;
mod writer;

pub use float::{TEXT_BYTES as FLOAT_BYTES, read_at as float_at, text as float_text};
pub use reader::Parser;
pub use survey::{Call, Class, Risk, Survey, Verdict, survey};
pub use writer::Writer;

/// Reads Ruby Marshal.
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;

/// How Ruby Marshal is read and written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What a string without an encoding is.
    pub binary: Binary,
    /// Everything is read that is needed to write the same bytes again: for a target that is
    /// Marshal too.
    pub exact: bool,
    /// Everything is read that Ruby itself needs to make the same objects: those of Ruby's own
    /// library stay the types that they are, text keeps its encoding, and a string that stands in
    /// several places is one, but for keys.
    pub inert: bool,
    /// A DateTime stays the object that it is, though others have a time with an offset for it: for
    /// the wrapped notation, which gives back the class.
    pub date_times: bool,
    /// Objects are wanted as their data (`--objects data`): symbols that are keys come as text, and
    /// default values and instance variables of hashes and text do not come. All that is counted as
    /// lost.
    pub data: bool,
}

impl Options {
    /// Whether objects of Ruby's own library stay the types that they are.
    fn keeps_objects(&self) -> bool {
        self.exact || self.inert
    }
}

/// What a string without an encoding is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binary {
    /// Bytes, as Ruby says (`ASCII-8BIT`).
    #[default]
    Bytes,
    /// Text where its bytes are UTF-8, as in files of Ruby 1.8, which knew no encodings.
    Text,
}
