//! How Python's pickle is read and written.

/// Options for reading and writing pickle.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// How 8-bit strings of Python 2 are read.
    pub strings: Strings,
    /// The protocol to write, 0 to 5; `None` is 4, which Python 3.4 and later read.
    pub protocol: Option<u8>,
    /// Whether types with no use in most targets are kept: tuples, the dtypes of NumPy. A
    /// conversion sets this if the target is a pickle or the reversible notation.
    pub exact: bool,
    /// Whether to write calls of functions that are not in the table of harmless ones: loading the
    /// result runs them. A conversion from pickle sets this.
    pub calls: bool,
}

/// How to read the 8-bit strings of Python 2 (`STRING`, `BINSTRING`), like the argument `encoding`
/// of `pickle.loads`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strings {
    /// As ASCII text; anything else is an error, as in Python.
    #[default]
    Ascii,
    /// As UTF-8 text.
    Utf8,
    /// As Latin-1 text.
    Latin1,
    /// As bytes.
    Bytes,
}
