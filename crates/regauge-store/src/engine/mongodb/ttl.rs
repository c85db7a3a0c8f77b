//! When documents expire: by the TTL indexes of their collection.

use mongodb::IndexModel;
use mongodb::bson::{RawBsonRef, RawDocument};

use super::fields::at_path;
use crate::error::Result;

/// The TTL indexes of a collection.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Expiry {
    /// The fields with dates, and how many milliseconds after these a document expires.
    rules: Vec<(String, i64)>,
    /// Whether an index applies only to some documents, by conditions that are not evaluated here.
    is_partial: bool,
}

impl Expiry {
    pub(super) fn new(indexes: &[IndexModel]) -> Expiry {
        let mut expiry = Expiry::default();
        for index in indexes {
            let Some(options) = &index.options else { continue };
            let (Some(after), [path]) =
                (options.expire_after, &Vec::from_iter(index.keys.keys())[..])
            else {
                continue;
            };
            expiry.is_partial |= options.partial_filter_expression.is_some();
            let milliseconds = i64::try_from(after.as_millis()).unwrap_or(i64::MAX);
            expiry.rules.push(((*path).clone(), milliseconds));
        }
        expiry
    }

    /// Returns whether the indexes say for every document when it expires.
    pub(super) fn is_known(&self) -> bool {
        !self.rules.is_empty() && !self.is_partial
    }

    /// Returns the fields with dates.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let rules = if self.is_known() { &self.rules[..] } else { &[] };
        rules.iter().map(|(path, _)| path.as_str())
    }

    /// Returns when a document expires, in milliseconds since 1970, UTC; `None` for never.
    ///
    /// # Errors
    /// `Engine` if the document is not valid BSON.
    pub(super) fn of(&self, document: &RawDocument) -> Result<Option<i64>> {
        let mut first: Option<i64> = None;
        for (path, after) in &self.rules {
            if let Some(date) = date(at_path(document, path)?) {
                let end = date.saturating_add(*after);
                first = Some(first.map_or(end, |first| first.min(end)));
            }
        }
        Ok(first.filter(|_| self.is_known()))
    }
}

/// Returns a date, or the earliest in an array, in milliseconds since 1970.
fn date(found: Option<RawBsonRef<'_>>) -> Option<i64> {
    match found? {
        RawBsonRef::DateTime(date) => Some(date.timestamp_millis()),
        RawBsonRef::Array(dates) => {
            let dates = dates.into_iter().filter_map(|one| one.ok()?.as_datetime());
            dates.map(|date| date.timestamp_millis()).min()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mongodb::bson::{Bson, DateTime, Document, RawDocumentBuf, doc};
    use mongodb::options::IndexOptions;

    use super::*;

    fn index(keys: Document, seconds: Option<u64>, partial: Option<Document>) -> IndexModel {
        let mut options = IndexOptions::default();
        options.expire_after = seconds.map(Duration::from_secs);
        options.partial_filter_expression = partial;
        IndexModel::builder().keys(keys).options(options).build()
    }

    fn expires(expiry: &Expiry, document: &Document) -> Option<i64> {
        expiry.of(&RawDocumentBuf::try_from(document).unwrap()).unwrap()
    }

    #[test]
    fn a_ttl_index_says_when() {
        let at = |seconds: i64| Bson::from(DateTime::from_millis(seconds * 1000));
        let indexes =
            [index(doc! { "_id": 1 }, None, None), index(doc! { "meta.at": 1 }, Some(60), None)];
        let expiry = Expiry::new(&indexes);
        assert!(expiry.is_known());
        assert_eq!(Vec::from_iter(expiry.paths()), ["meta.at"]);
        assert_eq!(expires(&expiry, &doc! { "meta": { "at": at(7) } }), Some(67_000));
        let several = doc! { "meta": { "at": ["no", at(9), at(8)] } };
        assert_eq!(expires(&expiry, &several), Some(68_000));
        for never in [doc! {}, doc! { "meta": 1 }, doc! { "meta": { "at": 7_i64 } }] {
            assert_eq!(expires(&expiry, &never), None);
        }
        let both = [index(doc! { "a": 1 }, Some(0), None), index(doc! { "b": -1 }, Some(5), None)];
        assert_eq!(expires(&Expiry::new(&both), &doc! { "a": at(9), "b": at(3) }), Some(8_000));
    }

    #[test]
    fn without_one_nothing_is_known() {
        assert!(!Expiry::new(&[index(doc! { "at": 1 }, None, None)]).is_known());
        let some = [index(doc! { "at": 1 }, Some(1), Some(doc! { "kind": "temporary" }))];
        let expiry = Expiry::new(&some);
        assert!(!expiry.is_known() && expiry.paths().next().is_none());
        assert_eq!(expires(&expiry, &doc! { "at": DateTime::from_millis(0) }), None);
    }
}
