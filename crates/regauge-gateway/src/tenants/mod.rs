//! Tenants, their tokens, and where their values are stored.

mod home;
mod prefix;
mod registry;
mod token;
mod transfer;

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

#[cfg(feature = "server")]
pub(crate) use home::PAGE_CACHE;
pub use home::{COLLECTION, Home, Lock};
pub use prefix::{Lanes, PREFIX_BYTES, Prefixed};
pub use regauge_store::{Error, Result};
pub use registry::{Registry, Snapshot};
pub use token::{Presented, Scope, Scopes, Token, TokenId, TokenText};
pub use transfer::{Moved, export};

/// A tenant's name: it is part of file names and addresses.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TenantId(String);

/// The longest name, in characters.
pub(crate) const ID_MAX: usize = 63;

impl TenantId {
    /// Returns the name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TenantId {
    type Err = Error;

    fn from_str(text: &str) -> Result<TenantId> {
        let plain = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit() || one == b'-';
        let fits = !text.is_empty()
            && text.len() <= ID_MAX
            && text.bytes().all(plain)
            && !text.starts_with('-')
            && !text.ends_with('-');
        match fits {
            true => Ok(TenantId(text.to_owned())),
            false => Err(Error::Usage(format!(
                "found \"{}\" as the name of a tenant, expected 1 to {ID_MAX} of a to z, 0 to 9 \
                 and -, with no - at either end",
                text.escape_debug()
            ))),
        }
    }
}

impl fmt::Display for TenantId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Where a tenant's values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In an SQLite file of its own.
    Own,
    /// In the shared file, under a prefix.
    Shared,
}

impl Place {
    /// Returns its name in the registry and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Place::Own => "own",
            Place::Shared => "shared",
        }
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Place> {
        [Place::Own, Place::Shared].into_iter().find(|one| one.name() == text).ok_or_else(|| {
            Error::Usage(format!(
                "found \"{}\" as a place, expected own or shared",
                text.escape_debug()
            ))
        })
    }
}

/// The state of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its tokens work.
    Active,
    /// Its tokens are refused, and its values are kept.
    Suspended,
    /// It is being dropped: first its values, then the tenant.
    Dropping,
}

impl State {
    /// Returns its name in the registry and in listings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Suspended => "suspended",
            State::Dropping => "dropping",
        }
    }

    fn parse(text: &str) -> Result<State> {
        [State::Active, State::Suspended, State::Dropping]
            .into_iter()
            .find(|one| one.name() == text)
            .ok_or_else(|| Error::Usage(format!("the registry has a tenant in state {text}")))
    }
}

/// A tenant in the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Its number, which is never reused.
    pub number: i64,
    /// Its name.
    pub id: TenantId,
    /// Where its values are stored.
    pub place: Place,
    /// Its state.
    pub state: State,
    /// The codec of its values.
    pub codec: regauge_store::Codec,
    /// When it was created: seconds since 1970-01-01 UTC.
    pub created: i64,
    /// Its own limits; missing ones come from the configuration.
    pub limits: Limits,
}

/// A tenant's own limits, which override the configuration's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The maximum size of a request body, in bytes.
    #[serde(
        default,
        deserialize_with = "crate::member::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub body_bytes: Option<u64>,
    /// The maximum nesting depth of a document.
    #[serde(
        default,
        deserialize_with = "crate::member::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub depth: Option<u32>,
    /// Requests per second, on average.
    #[serde(
        default,
        deserialize_with = "crate::member::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub rate: Option<u32>,
    /// Concurrent requests.
    #[serde(
        default,
        deserialize_with = "crate::member::whole",
        skip_serializing_if = "Option::is_none"
    )]
    pub concurrency: Option<u32>,
}

impl Limits {
    /// Refuses limits with which nothing works.
    ///
    /// # Errors
    /// `Usage`.
    pub fn check(&self) -> Result {
        let some = [
            ("body_bytes", self.body_bytes),
            ("rate", self.rate.map(u64::from)),
            ("concurrency", self.concurrency.map(u64::from)),
        ];
        match some.iter().find(|(_, limit)| *limit == Some(0)) {
            Some((name, _)) => {
                Err(Error::Usage(format!("limit {name}: found 0, expected at least 1")))
            }
            None => Ok(()),
        }
    }
}

/// Returns seconds since 1970-01-01 UTC.
#[must_use]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Converts a file or registry error into the store's type.
fn failed(doing: impl Into<String>, error: impl fmt::Display) -> Error {
    Error::Engine { doing: doing.into(), message: error.to_string(), passing: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_files_and_nothing_else() {
        for good in ["a", "0", "acme", "acme-2", "a--b", &"x".repeat(63)] {
            assert_eq!(good.parse::<TenantId>().unwrap().as_str(), good);
        }
        let bad = [
            "",
            "-a",
            "a-",
            "A",
            "a_b",
            "a.b",
            "..",
            ".",
            "a/b",
            "a\\b",
            "a\0",
            "a b",
            "é",
            "a\n",
            "%2e",
            "a:b",
            "~",
            "*",
            &"x".repeat(64),
        ];
        for bad in bad {
            assert!(bad.parse::<TenantId>().is_err(), "{bad:?}");
        }
    }
}
