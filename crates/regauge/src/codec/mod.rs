//! The table of codecs: the code of each format.
//!
//! A format is a row of facts in [`crate::model::format`], a folder whose `mod.rs` implements [`Codec`], and a
//! line in the table below. Everything that works on any format ([`crate::convert()`], the command, the
//! Python package, the Ruby gem, the store, the gateway, the measuring engine) goes through
//! [`Format::info`] for facts and through [`Format::visit`] for code.

pub mod bson;
pub mod cbor;
pub mod contract;
pub mod csv;
pub mod detect;
pub(crate) mod grid;
pub mod json;
pub mod marc;
pub mod marshal;
pub mod msgpack;
pub mod pickle;
#[cfg(test)]
mod tests;
pub mod toml;
pub mod yaml;

pub use crate::model::format::{Format, Framing, Info};
pub use contract::{Codec, Looks, Visitor};

use crate::options::Options;

/// Defines what [`Format`] does with code from the rows.
macro_rules! codecs {
    ($($format:ident = $codec:path;)*) => {
        impl Format {
            /// Runs generic code with the format's codec.
            #[doc(hidden)]
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $(Format::$format => visitor.visit::<$codec>(),)*
                }
            }

            /// The first format of the table whose text the first bytes of a file look like.
            pub(crate) fn likely(head: &[u8], is_whole: bool) -> Option<Format> {
                $(if <$codec as Codec>::is_likely(head, is_whole) {
                    return Some(Format::$format);
                })*
                None
            }

            pub(crate) fn is_contradicted(self, looks: Looks, head: &[u8]) -> bool {
                match self {
                    $(Format::$format => <$codec as Codec>::is_contradicted(looks, head),)*
                }
            }
        }

        $(const _: () = assert!(
            matches!(<$codec as Codec>::FORMAT, Format::$format),
            "a codec names another format than its row"
        );)*
    };
}

codecs! {
    Json = json::Json;
    Ndjson = json::Ndjson;
    Yaml = yaml::Yaml;
    Msgpack = msgpack::Msgpack;
    Bson = bson::Bson;
    Cbor = cbor::Cbor;
    Marshal = marshal::Marshal;
    Pickle = pickle::Pickle;
    Marc = marc::iso2709::Marc;
    MarcXml = marc::xml::MarcXml;
    MarcJson = marc::json::MarcJson;
    Mrk = marc::mrk::Mrk;
    AlephSeq = marc::aleph::AlephSeq;
    Toml = toml::Toml;
    Csv = csv::Csv;
    Tsv = csv::Tsv;
}

impl Format {
    /// The format that the first bytes of a (decompressed) file tell, if they do: `head` should
    /// hold 4 KiB, or the whole file if that is shorter.
    pub fn from_magic(head: &[u8]) -> Option<Format> {
        detect::from_magic(head)
    }
}

impl Options {
    /// Runs generic code with the codec of [`Options::to`], for a source that knows the length of every
    /// array and map before it writes it.
    #[doc(hidden)]
    pub fn visit_sized<V: Visitor>(&self, visitor: V) -> V::Output {
        // The escapes of the notation change how many pairs there are in a map.
        if self.to == Format::Msgpack && !self.wraps() {
            return visitor.visit::<msgpack::Sized>();
        }
        self.to.visit(visitor)
    }
}
