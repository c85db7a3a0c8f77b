//! Replaces a value, by a script that the server runs in one step.

use regauge::{Error, ErrorKind, Result};

use super::link::{Link, bytes, command, number};
use super::url::Target;
use crate::feed::shown;
use crate::source::At;
use crate::{Kind, Part, Replaced};

const SCRIPT: &str = include_str!("replace.lua");

/// How often a cluster may send us to another node.
const MOVES_MAX: usize = 3;

/// Replaces a value on the server that holds it.
pub(super) fn replace(
    links: &mut [Link],
    target: &Target,
    at: &At<'_>,
    old: &[u8],
    new: &[u8],
) -> Result<Replaced> {
    let mut place = 0;
    for _ in 0..MOVES_MAX {
        let link = links.get_mut(place).ok_or_else(no_server)?;
        link.select(at.database)?;
        let answer = run(link, at, old, new)?;
        let redis::Value::ServerError(error) = answer else {
            return outcome(link, &answer);
        };
        if error.code() != "MOVED" {
            return Err(super::link::failed(&link.name, "replace a value", &error.into()));
        }
        place = moved(links, target, error.details().unwrap_or_default())?;
    }
    let message = format!("redis: key \"{}\": found another node each time", shown(at.key));
    Err(Error::new(ErrorKind::Io, message)
        .hint("the cluster is moving its slots; try again when that is done"))
}

#[cold]
fn no_server() -> Error {
    Error::new(ErrorKind::Io, "redis: found no server to write to")
}

/// Runs the script, which is loaded first.
fn run(link: &mut Link, at: &At<'_>, old: &[u8], new: &[u8]) -> Result<redis::Value> {
    let digits = match at.part {
        Some(Part::Index(index)) => index.to_string(),
        Some(Part::Score(score)) => score.to_string(),
        _ => String::new(),
    };
    let (kind, part) = match at.part {
        None => (Kind::String, digits.as_bytes()),
        Some(Part::Member) => (Kind::Set, digits.as_bytes()),
        Some(Part::Index(_)) => (Kind::List, digits.as_bytes()),
        Some(Part::Score(_)) => (Kind::SortedSet, digits.as_bytes()),
        Some(Part::Field(field)) => (Kind::Hash, field),
    };
    // A server that has restarted knows no scripts any more.
    for _ in 0..2 {
        let digest = match link.script.take() {
            Some(digest) => digest,
            None => load(link)?,
        };
        let asked =
            command("EVALSHA", &[&digest, b"1", at.key, kind.name().as_bytes(), old, new, part]);
        let answer = link.ask_all("replace a value", &[asked])?.remove(0);
        match &answer {
            redis::Value::ServerError(error) if error.code() == "NOSCRIPT" => {}
            _ => {
                link.script = Some(digest);
                return Ok(answer);
            }
        }
    }
    Err(link.unexpected("replace a value", "a server that forgets scripts"))
}

fn load(link: &mut Link) -> Result<Vec<u8>> {
    let doing = "load the script that replaces values";
    let answer = link.ask(doing, &command("SCRIPT", &[b"LOAD", SCRIPT.as_bytes()]))?;
    bytes(answer).ok_or_else(|| link.unexpected(doing, "no digest"))
}

fn outcome(link: &Link, answer: &redis::Value) -> Result<Replaced> {
    match number(answer) {
        Some(0) => Ok(Replaced::Gone),
        Some(1) => Ok(Replaced::Changed),
        Some(2) => Ok(Replaced::Done),
        Some(3) => {
            let message = format!(
                "redis {}: found the new value among the members of the key, expected to add it",
                link.name
            );
            Err(Error::unrepresentable(message)
                .hint("two members would become one; remove one of them first"))
        }
        _ => Err(link.unexpected("replace a value", "an answer that is not a number")),
    }
}

/// Returns the place of the node that an answer names, `1234 host:port`, after connecting to it.
fn moved(links: &mut [Link], target: &Target, details: &str) -> Result<usize> {
    let address = details.split(' ').nth(1).unwrap_or_default();
    if let Some(place) = links.iter().position(|link| link.name == address) {
        return Ok(place);
    }
    let parsed = address.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let (Some((host, port)), Some(first)) = (parsed, links.first_mut()) else {
        let message = format!("redis: found no address of a node in \"MOVED {details}\"");
        return Err(Error::new(ErrorKind::Io, message));
    };
    *first = Link::open(target.at(host, port))?;
    Ok(0)
}
