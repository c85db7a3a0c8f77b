//! What a file contains outside of records, for the message about a file without records.

use crate::{Error, ErrorKind, Result};

/// The beginnings of namespaces of other catalogue formats.
const OTHERS: [(&str, &str); 2] =
    [("http://www.loc.gov/mods/", "MODS"), ("http://www.indexdata.com/turbomarc", "TurboMARC")];

/// Which elements were found outside of records.
#[derive(Debug, Default)]
pub(super) struct Contents {
    has_record: bool,
    /// The very first element, with its namespace.
    root: Option<String>,
    /// The first one that is not a MARCXML collection.
    other: Option<String>,
    known: Option<&'static str>,
    /// Something broken was passed over, and has been reported.
    has_fault: bool,
    failed: bool,
}

impl Contents {
    pub(super) fn note_record(&mut self) {
        self.has_record = true;
    }

    pub(super) fn note_fault(&mut self) {
        self.has_fault = true;
    }

    /// Notes an element that is not a record; `uri` is the namespace that it declares for itself.
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

    /// Checks that a file that ends here is MARCXML: it has a record, or is an empty collection.
    ///
    /// # Errors
    /// `Unsupported`, naming what the file is instead; `Truncated` if it has no element.
    pub(super) fn check(&mut self) -> Result {
        if self.has_record {
            return Ok(());
        }
        let Some(root) = &self.root else {
            if self.has_fault {
                return Ok(());
            }
            self.failed = true;
            let message = "found the end of the input and no element, expected MARCXML";
            return Err(Error::truncated(message));
        };
        let Some(other) = &self.other else { return Ok(()) };
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

    /// Returns whether the file has turned out to be something else, so that it has no record to
    /// skip.
    pub(super) fn failed(&self) -> bool {
        self.failed
    }
}
