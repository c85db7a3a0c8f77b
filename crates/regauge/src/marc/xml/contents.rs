//! What a file holds outside of records, for the message about one that has none.

use crate::{Error, ErrorKind, Result};

/// What namespaces of other formats for catalogues begin with.
const OTHERS: [(&str, &str); 2] =
    [("http://www.loc.gov/mods/", "MODS"), ("http://www.indexdata.com/turbomarc", "TurboMARC")];

/// Which elements stood outside of records.
#[derive(Debug, Default)]
pub(super) struct Contents {
    has_record: bool,
    /// The first element of all, with its namespace.
    root: Option<String>,
    /// The first one that is no collection of MARCXML.
    other: Option<String>,
    known: Option<&'static str>,
    failed: bool,
}

impl Contents {
    pub(super) fn note_record(&mut self) {
        self.has_record = true;
    }

    /// Notes an element that is no record, `uri` being the namespace that it declares for itself.
    pub(super) fn note_element(&mut self, name: &str, uri: Option<&str>, is_collection: bool) {
        if let Some(uri) = uri.map(str::trim) {
            let known = OTHERS.iter().find(|(begin, _)| uri.starts_with(begin));
            self.known = self.known.or(known.map(|(_, name)| *name));
        }
        if self.root.is_some() && (is_collection || self.other.is_some()) {
            return;
        }
        let shown = match uri.map(str::trim) {
            Some(uri) if !uri.is_empty() => format!("<{name}> in the namespace \"{uri}\""),
            _ => format!("<{name}>"),
        };
        if !is_collection {
            self.other.get_or_insert_with(|| shown.clone());
        }
        self.root.get_or_insert(shown);
    }

    /// Whether a file that ends here is one of MARCXML: it has a record, or is an empty collection.
    ///
    /// # Errors
    /// `Unsupported` with what it is.
    pub(super) fn check(&mut self) -> Result {
        let (Some(root), Some(other)) = (&self.root, &self.other) else { return Ok(()) };
        if self.has_record {
            return Ok(());
        }
        self.failed = true;
        let mut found = format!("found {root}");
        if root != other {
            found += &format!(" with {other}");
        }
        let message = match self.known {
            Some(known) => {
                format!("{found}, which is {known}, and no MARC record; expected MARCXML")
            }
            None => format!("{found} and no MARC record, expected MARCXML"),
        };
        Err(Error::new(ErrorKind::Unsupported, message))
    }

    /// Whether the file has turned out to be something else, which no record can be passed over for.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }
}
