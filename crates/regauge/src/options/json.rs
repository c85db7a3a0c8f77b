//! How JSON is read and written.

pub use crate::model::number::float::FloatStyle;

/// How documents are separated in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One document, as in RFC 8259.
    #[default]
    Single,
    /// NDJSON: any number of documents, each on its own line. Blank lines are skipped.
    Lines,
    /// Any number of documents, with any or no whitespace between them.
    Concatenated,
}

/// What the reader accepts, and how it represents numbers. By default exactly RFC 8259.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// How documents are separated in the input.
    pub framing: Framing,
    /// Accept `// …` to the end of the line and `/* … */` wherever whitespace is allowed.
    pub comments: bool,
    /// Accept a comma before a closing bracket.
    pub trailing_commas: bool,
    /// Accept `NaN`, `Infinity` and `-Infinity` as numbers.
    pub non_finite: bool,
    /// Represent a number with a fraction or an exponent as [`Ext::Decimal`](crate::Ext::Decimal), with its digits.
    pub exact_numbers: bool,
    /// Count the numbers whose digits a double does not keep
    /// ([`LossKind::Rounded`](crate::policy::fidelity::LossKind::Rounded)).
    pub count_rounded: bool,
}

/// How JSON is written. By default compact: no whitespace at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Put every value on its own line, indented by this many spaces per level. Not allowed with
    /// `lines`: the first value then fails as
    /// [`Unrepresentable`](crate::ErrorKind::Unrepresentable).
    pub indent: Option<u8>,
    /// Put a space after each comma and each colon. Has no effect with an indentation.
    pub spaced: bool,
    /// NDJSON: any number of documents, each on its own line.
    pub lines: bool,
    /// Any number of documents one after the other, each followed by a line feed, even with an
    /// indentation.
    pub sequence: bool,
    /// Write a document that is a text without quotes and escapes.
    pub raw_text: bool,
    /// Write characters outside ASCII as `\u` escapes.
    pub escape_non_ascii: bool,
    /// How doubles are written.
    pub float_style: FloatStyle,
    /// The output's reader keeps the digits of numbers ([`ReadOptions::exact_numbers`]), so a
    /// decimal is written as a number even under [`OnLoss::Wrap`](crate::OnLoss::Wrap), which would otherwise wrap it.
    pub exact_numbers: bool,
}
