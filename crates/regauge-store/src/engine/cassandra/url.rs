//! Parses `cassandra://[user:password@]host[:port][,host…]/keyspace[?…]`.

use std::time::Duration;

use percent_encoding::percent_decode_str;

use crate::engine::runtime::CALL_TIMEOUT;
use crate::engine::shown_url;
use crate::error::{Error, Result};

/// The default port.
const PORT: u16 = 9042;
/// Numbered partitions of a new collection: at 100 MB each, about 3 GB of plain keys.
const BUCKETS: u16 = 32;
/// Their maximum number: a range is read from all of them.
const BUCKETS_MAX: u16 = 1_024;
/// The longest name of a keyspace or a table.
const NAME_MAX: usize = 48;

/// A parsed URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub hosts: Vec<String>,
    pub user: Option<(String, String)>,
    pub keyspace: String,
    /// Replication factor for creating a missing keyspace; with `None` it is not created.
    pub replication: Option<u8>,
    /// Numbered partitions of new collections.
    pub buckets: u16,
    /// Whether connections are encrypted.
    pub tls: bool,
    /// A file of trusted certificates, instead of the system's.
    pub ca: Option<String>,
    /// The preferred data centre.
    pub datacenter: Option<String>,
    /// Timeout of a call.
    pub timeout: Duration,
}

impl Place {
    /// # Errors
    /// `Usage`.
    pub(super) fn parse(url: &str) -> Result<Place> {
        let wrong = |what: &str| {
            Error::usage(format!(
                "found {}, expected cassandra://[USER:PASSWORD@]HOST[:PORT][,HOST…]/KEYSPACE: {what}",
                shown_url(url)
            ))
        };
        let rest =
            url.strip_prefix("cassandra://").ok_or_else(|| wrong("it has another scheme"))?;
        let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, keyspace) =
            rest.split_once('/').ok_or_else(|| wrong("it names no keyspace"))?;
        let decoded = |text: &str| {
            let text = percent_decode_str(text).decode_utf8();
            text.map(String::from).map_err(|_| wrong("a part of it is not UTF-8"))
        };
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => {
                let (user, password) = user.split_once(':').unwrap_or((user, ""));
                (Some((decoded(user)?, decoded(password)?)), hosts)
            }
            None => (None, authority),
        };
        let hosts: Vec<String> = hosts.split(',').map(with_port).collect();
        if hosts.iter().any(|host| host.starts_with(':')) {
            return Err(wrong("a host has no name"));
        }
        if !is_name(keyspace) {
            return Err(wrong("a keyspace has up to 48 letters, digits and _"));
        }
        let mut place = Place {
            hosts,
            user,
            keyspace: keyspace.to_owned(),
            replication: None,
            buckets: BUCKETS,
            tls: false,
            ca: None,
            datacenter: None,
            timeout: CALL_TIMEOUT,
        };
        for parameter in parameters.split('&').filter(|one| !one.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = decoded(value)?;
            match name {
                "replication" => {
                    let number = value.parse().ok().filter(|number| *number > 0);
                    place.replication =
                        Some(number.ok_or_else(|| wrong("replication is a number from 1"))?);
                }
                "buckets" => {
                    let number = value.parse().ok();
                    let number = number.filter(|number| (1..=BUCKETS_MAX).contains(number));
                    place.buckets =
                        number.ok_or_else(|| wrong("buckets is a number from 1 to 1024"))?;
                }
                "tls" => {
                    place.tls = match value.as_str() {
                        "true" => true,
                        "false" => false,
                        _ => return Err(wrong("tls is true or false")),
                    }
                }
                "ca" => place.ca = Some(value),
                "datacenter" => place.datacenter = Some(value),
                "timeout" => {
                    let seconds = value.parse().ok().filter(|one| (1..=86_400).contains(one));
                    let seconds = seconds.ok_or_else(|| wrong("timeout is seconds, 1 to 86400"))?;
                    place.timeout = Duration::from_secs(seconds);
                }
                _ => {
                    return Err(wrong(
                        "its parameters are replication, buckets, tls, ca, datacenter and timeout",
                    ));
                }
            }
        }
        Ok(place)
    }
}

fn with_port(host: &str) -> String {
    // An IPv6 address in brackets contains colons of its own.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match after.contains(':') {
        true => host.to_owned(),
        false => format!("{host}:{PORT}"),
    }
}

/// Returns whether this is a valid name for a keyspace or a table.
pub(super) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls() {
        let place = Place::parse("cassandra://h/k").unwrap();
        assert_eq!(place.hosts, ["h:9042"]);
        assert_eq!((place.keyspace.as_str(), place.user, place.buckets), ("k", None, 32));
        let url = "cassandra://u%40:p%2Fq@a:1,[::1],[::2]:3/ks?replication=3&buckets=8&tls=true&ca=%2Fx.pem&datacenter=d&timeout=9";
        let place = Place::parse(url).unwrap();
        assert_eq!(place.hosts, ["a:1", "[::1]:9042", "[::2]:3"]);
        assert_eq!(place.user, Some(("u@".into(), "p/q".into())));
        assert_eq!((place.replication, place.buckets, place.tls), (Some(3), 8, true));
        assert_eq!(place.timeout, Duration::from_secs(9));
        assert_eq!((place.ca.as_deref(), place.datacenter.as_deref()), (Some("/x.pem"), Some("d")));
        for (wrong, why) in [
            ("cassandra:h/k", "it has another scheme"),
            ("cassandra://h", "it names no keyspace"),
            ("cassandra:///k", "a host has no name"),
            ("cassandra://h/", "48 letters"),
            ("cassandra://h/a-b", "48 letters"),
            ("cassandra://u:secret@h/k?buckets=0", "from 1 to 1024"),
            ("cassandra://u:secret@h/k?replication=x", "from 1"),
            ("cassandra://u:secret@h/k?tls=1", "true or false"),
            ("cassandra://u:secret@h/k?timeout=soon", "1 to 86400"),
            ("cassandra://u:secret@h/k?speed=1", "its parameters"),
        ] {
            let told = Place::parse(wrong).unwrap_err().to_string();
            assert!(told.contains(why) && !told.contains("secret"), "{told}");
        }
    }
}
