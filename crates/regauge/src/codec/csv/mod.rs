//! CSV and TSV: tables of text, a row for each document.
//!
//! The grammar is RFC 4180's with a header: <https://www.rfc-editor.org/rfc/rfc4180>. A row is a map of
//! the columns' names to text; without a header it is an array. TSV is the same grammar with tabs, quotes
//! included, as spreadsheets write it.
//!
//! The scanner is our own, because the `csv` crate reads any bytes without an error: a quote in the middle
//! of a field, text after a closing quote, and a file that ends in quotes. What we read, that crate reads
//! as the same fields (`tests`, and the fuzz target).
//!
//! # Deviations
//! - Lines end in `\n` or `\r\n`, in any mixture; we write `\n`.
//! - A byte order mark is skipped, and so are blank lines between rows, unless the table has only one
//!   column: there, a blank line could be a row.
//! - The delimiter of CSV is recognised by the header if no option names it (`sniff`).
//! - Fields hold any characters of UTF-8, control characters included.
//! - The types of fields, and what else a field stands for, are in `docs/formats/csv.md`.
//!
//! # What a round trip loses
//! Which fields are in quotes, the end of lines, blank lines, the byte order mark.

mod faults;
mod flatten;
mod reader;
mod scan;
mod sniff;
mod table;
#[cfg(test)]
mod tests;
mod types;
mod writer;

pub use crate::options::csv::{Delimiter, Nested, Options, Types};
pub use reader::Parser;
pub use writer::Writer;

use crate::bytes::buffer::Out;
use crate::codec::contract::{Codec, Looks};
use crate::{Fidelity, Format, options};

/// Reads CSV or TSV.
pub type Reader<'a> = crate::bytes::reader::Reader<'a, Parser>;

crate::codec::grid::grid! {
    /// Returns the value, a map, as a header and a row. What the format cannot hold goes by `policy`.
    ///
    /// ```
    /// use regauge::{OnLoss, Value, csv};
    /// let text = |text: &str| Value::Text(text.to_owned());
    /// let value = Value::Map(vec![(text("name"), text("Ada")), (text("born"), text("1815"))]);
    /// let bytes = csv::to_vec(&value, OnLoss::Refuse)?;
    /// assert_eq!(bytes, b"name,born\nAda,1815\n");
    /// assert_eq!(csv::from_slice(&bytes)?, value);
    /// # Ok::<(), regauge::Error>(())
    /// ```
    Csv, "row"
}

/// CSV, with a comma unless the options say otherwise.
#[derive(Clone, Copy, Debug)]
pub enum Csv {}

/// CSV with tabs.
#[derive(Clone, Copy, Debug)]
pub enum Tsv {}

/// Implements [`Codec`] for a format that differs only in its delimiter.
macro_rules! codec {
    ($codec:ident, $format:expr) => {
        impl Codec for $codec {
            const FORMAT: Format = $format;
            type Parser = Parser;
            type Writer<'o> = Writer<'o>;

            fn parser(options: &options::Options) -> Parser {
                Parser::new($format, options.csv, options.limits).unwrapping(options.unwraps())
            }

            fn writer<'o>(
                out: Out<'o>,
                options: &options::Options,
                fidelity: Fidelity,
            ) -> Writer<'o> {
                Writer::new(out, $format, options.csv, fidelity).with_limits(&options.limits)
            }

            fn into_out<'o>(writer: Self::Writer<'o>) -> Out<'o> {
                writer.into_out()
            }

            /// Nearly any text is a table, and a header can look like TOML or YAML.
            fn is_contradicted(looks: Looks, _: &[u8]) -> bool {
                match looks {
                    Looks::Like(other) => !matches!(other, Format::Toml | Format::Yaml),
                    Looks::Other(_) => true,
                    Looks::Text => false,
                }
            }
        }
    };
}

codec!(Csv, Format::Csv);
codec!(Tsv, Format::Tsv);

/// Returns the byte between two fields.
fn delimiter(format: Format, options: &Options) -> u8 {
    match options.delimiter {
        Some(delimiter) if format == Format::Csv => delimiter.byte(),
        _ if format == Format::Tsv => Delimiter::Tab.byte(),
        _ => Delimiter::Comma.byte(),
    }
}
