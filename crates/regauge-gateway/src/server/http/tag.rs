//! Entity tags, and conditional requests (RFC 9110 §13).

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use regauge::Format;
use xxhash_rust::xxh3::xxh3_128;

use super::problem::{Answer, Problem};

/// The tag of a stored value: a hash of its stored bytes, including the envelope and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(u128);

impl Tag {
    pub fn of(stored: &[u8]) -> Tag {
        Tag(xxh3_128(stored))
    }

    /// Returns the tag of its representation in a format. A strong tag: different bytes, different
    /// tag.
    pub fn text(self, format: Format) -> String {
        format!("\"{:032x}-{}\"", self.0, format.name())
    }

    pub fn header(self, format: Format) -> HeaderValue {
        HeaderValue::from_str(&self.text(format)).expect("hexadecimal digits and a name")
    }
}

/// Characters allowed around an element of a list.
const BLANK: [char; 2] = [' ', '\t'];

/// The state of the stored value that a request expects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conditions {
    if_match: Option<Tags>,
    if_none_match: Option<Tags>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Tags {
    Any,
    /// The format after the hash does not count: a client that has read the value in one format has
    /// seen it.
    These(Vec<u128>),
}

impl Tags {
    fn parse(headers: &HeaderMap, name: &HeaderName) -> Answer<Option<Tags>> {
        let mut tags = Vec::new();
        let mut found = false;
        for value in headers.get_all(name) {
            found = true;
            let wrong = || {
                Problem::request(format!(
                    "found a header {name} that is neither * nor a list of \"tags\" as ETag has \
                     them"
                ))
            };
            let text = value.to_str().map_err(|_| wrong())?;
            if text.trim() == "*" {
                return Ok(Some(Tags::Any));
            }
            let mut rest = text.trim_matches(BLANK);
            while !rest.is_empty() {
                // An element of a list may be empty (RFC 9110 §5.6.1.2).
                if let Some(after) = rest.strip_prefix(',') {
                    rest = after.trim_start_matches(BLANK);
                    continue;
                }
                let bare = rest.strip_prefix("W/").unwrap_or(rest).strip_prefix('"');
                let (bare, after) = bare.and_then(|bare| bare.split_once('"')).ok_or_else(wrong)?;
                rest = after.trim_start_matches(BLANK);
                if !rest.is_empty() && !rest.starts_with(',') {
                    return Err(wrong());
                }
                // A tag of another form was never ours, so it cannot match.
                if let Some((hash, _)) = bare.split_once('-')
                    && hash.len() == 32
                    && let Ok(hash) = u128::from_str_radix(hash, 16)
                {
                    tags.push(hash);
                }
            }
        }
        Ok(found.then_some(Tags::These(tags)))
    }

    fn fit(&self, tag: Option<Tag>) -> bool {
        match (self, tag) {
            (_, None) => false,
            (Tags::Any, Some(_)) => true,
            (Tags::These(tags), Some(tag)) => tags.contains(&tag.0),
        }
    }
}

impl Conditions {
    pub fn of(headers: &HeaderMap) -> Answer<Conditions> {
        Ok(Conditions {
            if_match: Tags::parse(headers, &header::IF_MATCH)?,
            if_none_match: Tags::parse(headers, &header::IF_NONE_MATCH)?,
        })
    }

    pub fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }

    /// Returns whether a change may be made, given this value or none.
    pub fn allow(&self, tag: Option<Tag>) -> bool {
        self.if_match.as_ref().is_none_or(|tags| tags.fit(tag))
            && !self.if_none_match.as_ref().is_some_and(|tags| tags.fit(tag))
    }

    /// Returns whether If-Match is present and fails.
    pub fn refuse_read(&self, tag: Tag) -> bool {
        self.if_match.as_ref().is_some_and(|tags| !tags.fit(Some(tag)))
    }

    /// Returns whether a reader has the value already.
    pub fn is_fresh(&self, tag: Tag) -> bool {
        self.if_none_match.as_ref().is_some_and(|tags| tags.fit(Some(tag)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conditions(name: HeaderName, value: &str) -> Answer<Conditions> {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        Conditions::of(&headers)
    }

    #[test]
    fn conditions_hold_or_not() {
        let (one, two) = (Tag::of(b"one"), Tag::of(b"two"));
        assert!(Conditions::default().allow(None) && Conditions::default().allow(Some(one)));
        let is = conditions(header::IF_MATCH, &one.text(Format::Json)).unwrap();
        assert!(is.allow(Some(one)) && !is.allow(Some(two)) && !is.allow(None));
        let other = conditions(header::IF_MATCH, &one.text(Format::Cbor)).unwrap();
        assert!(other.allow(Some(one)), "a tag of another format is of the same value");
        let new = conditions(header::IF_NONE_MATCH, "*").unwrap();
        assert!(new.allow(None) && !new.allow(Some(one)) && new.is_fresh(one));
        let list = format!("{}, W/{}", two.text(Format::Json), one.text(Format::Json));
        let none = conditions(header::IF_NONE_MATCH, &list).unwrap();
        assert!(!none.allow(Some(one)) && none.allow(Some(Tag::of(b"three"))));
        assert!(!conditions(header::IF_MATCH, "\"else\"").unwrap().allow(Some(one)));
        let odd = format!(" , \"a,b\" ,,{},", one.text(Format::Json));
        assert!(conditions(header::IF_MATCH, &odd).unwrap().allow(Some(one)));
        assert!(!conditions(header::IF_MATCH, "").unwrap().allow(Some(one)));
        for wrong in ["bare", "\"open", "\"a\"b", "\"a\" \"b\"", "W/", "\"a\", *"] {
            assert!(conditions(header::IF_MATCH, wrong).is_err(), "{wrong}");
        }
    }
}
