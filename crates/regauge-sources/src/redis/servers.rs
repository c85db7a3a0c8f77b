//! Which servers to read: the one at the address, the master that a Sentinel knows, or all masters of a cluster.

use redis::Value;
use regauge::{Error, ErrorKind, Result};

use super::link::{Link, Mode, bytes, command, elements, number};
use super::url::Target;

/// Connects to every server that is to be read.
pub(super) fn connect(target: &Target) -> Result<Vec<Link>> {
    let mut first = first(target)?;
    match first.about.mode {
        Mode::Alone if target.master.is_some() => {
            let message =
                format!("redis {}: found a server of data, expected a Sentinel", first.name);
            Err(Error::new(ErrorKind::Refused, message).hint("leave `master` out of the URL"))
        }
        Mode::Alone => Ok(vec![first]),
        Mode::Cluster => masters(&mut first, target),
        Mode::Sentinel => {
            let (host, port) = watched(&mut first, target.master.as_deref())?;
            Ok(vec![Link::open(target.at(&host, port))?])
        }
    }
}

fn first(target: &Target) -> Result<Link> {
    if target.master.is_none() {
        return Link::open(target.info.clone());
    }
    // A Sentinel has no databases, and often no password either.
    let settings = target.info.redis_settings().clone().set_db(0);
    match Link::open(target.info.clone().set_redis_settings(settings)) {
        Err(error) if error.kind() == ErrorKind::Refused => {
            let settings = redis::RedisConnectionInfo::default();
            Link::open(target.info.clone().set_redis_settings(settings)).map_err(|_| error)
        }
        opened => opened,
    }
}

/// Asks a Sentinel for the address of a master.
fn watched(sentinel: &mut Link, name: Option<&str>) -> Result<(String, u16)> {
    let doing = "ask for the master";
    let name = match name {
        Some(name) => name.to_owned(),
        None => only_master(sentinel)?,
    };
    let asked = command("SENTINEL", &[b"GET-MASTER-ADDR-BY-NAME", name.as_bytes()]);
    match elements(sentinel.ask(doing, &asked)?) {
        Some(parts) => {
            address(parts, "").ok_or_else(|| sentinel.unexpected(doing, "no address of a master"))
        }
        None => {
            let known = names(sentinel)?.join(", ");
            let message =
                format!("redis {}: found no master \"{name}\" at this Sentinel", sentinel.name);
            Err(Error::new(ErrorKind::Refused, message).hint(format!("it watches: {known}")))
        }
    }
}

fn only_master(sentinel: &mut Link) -> Result<String> {
    let known = names(sentinel)?;
    match &known[..] {
        [only] => Ok(only.clone()),
        _ => {
            let message = format!(
                "redis {}: found a Sentinel of {} masters, expected the name of one",
                sentinel.name,
                known.len()
            );
            let hint = format!("add ?master=NAME to the URL, of {}", known.join(", "));
            Err(Error::new(ErrorKind::Refused, message).hint(hint))
        }
    }
}

fn names(sentinel: &mut Link) -> Result<Vec<String>> {
    let answer = sentinel.ask("ask for the masters", &command("SENTINEL", &[b"MASTERS"]))?;
    let mut names = Vec::new();
    for master in elements(answer).unwrap_or_default() {
        let facts: Vec<Value> = match master {
            Value::Map(pairs) => {
                pairs.into_iter().flat_map(|(name, value)| [name, value]).collect()
            }
            other => elements(other).unwrap_or_default(),
        };
        let mut facts = facts.into_iter().filter_map(bytes);
        while let (Some(fact), Some(value)) = (facts.next(), facts.next()) {
            if fact == b"name" {
                names.push(String::from_utf8_lossy(&value).into_owned());
            }
        }
    }
    Ok(names)
}

/// Connects to all masters of a cluster, in the order of their addresses.
fn masters(first: &mut Link, target: &Target) -> Result<Vec<Link>> {
    use redis::ConnectionAddr::{Tcp, TcpTls};
    let doing = "ask for the nodes of the cluster";
    let own = match target.info.addr() {
        Tcp(host, _) | TcpTls { host, .. } => host.clone(),
        _ => "localhost".to_owned(),
    };
    let mut found = Vec::new();
    for slots in elements(first.ask(doing, &command("CLUSTER", &[b"SLOTS"]))?).unwrap_or_default() {
        // First and last slot, the master, its replicas.
        let master = elements(slots).unwrap_or_default().into_iter().nth(2).and_then(elements);
        let Some(address) = master.and_then(|parts| address(parts, &own)) else {
            return Err(first.unexpected(doing, "a node without an address"));
        };
        if !found.contains(&address) {
            found.push(address);
        }
    }
    if found.is_empty() {
        return Err(first.unexpected(doing, "a cluster that serves no slots"));
    }
    found.sort();
    found.iter().map(|(host, port)| Link::open(target.at(host, *port))).collect()
}

/// Returns host and port. A node that does not know its own host is where we are connected to.
fn address(parts: Vec<Value>, own: &str) -> Option<(String, u16)> {
    let mut parts = parts.into_iter();
    let host = bytes(parts.next()?).filter(|host| !host.is_empty() && host != b"?");
    let host =
        host.map_or_else(|| own.to_owned(), |host| String::from_utf8_lossy(&host).into_owned());
    let port = u16::try_from(number(&parts.next()?)?).ok()?;
    (!host.is_empty()).then_some((host, port))
}

/// Returns the numbers of the databases to read.
pub(super) fn databases(link: &mut Link, only: Option<u64>) -> Result<Vec<u64>> {
    if let Some(only) = only {
        return Ok(vec![only]);
    }
    if link.about.mode == Mode::Cluster {
        return Ok(vec![0]);
    }
    let asked = [command("INFO", &[b"keyspace"])];
    let answer = link.ask_all("ask for the databases", &asked)?.remove(0);
    // A user who may not ask for it sees the first one.
    let Some(text) = bytes(answer) else { return Ok(vec![0]) };
    let text = String::from_utf8_lossy(&text);
    let numbers =
        text.lines().filter_map(|line| line.strip_prefix("db")?.split_once(':')?.0.parse().ok());
    Ok(numbers.collect())
}
