//! One connection: requests, lines and values, each within a time limit.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use regauge::{Error, ErrorKind, Result};

use crate::feed::shown;

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for sending a request, and for each piece of an answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);
/// The longest line: a key of 250 bytes, of which each takes three, and some numbers.
const LINE_BYTES_MAX: u64 = 2048;
/// The longest key that the server takes.
const KEY_BYTES_MAX: usize = 250;

/// A connection to a server.
pub(super) struct Link {
    stream: BufReader<TcpStream>,
    address: String,
    /// How many answers are due.
    due: usize,
}

/// What the server says of a key.
pub(super) enum Answer {
    Found(About),
    Missing,
}

/// The flags of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct About {
    /// The number that the client stored beside the value.
    pub flags: Option<u32>,
    /// The seconds that are left; -1 for a value that does not expire.
    pub left: Option<i64>,
    /// The seconds since it was used.
    pub idle: Option<u64>,
    pub cas: Option<u64>,
    /// The length of the value in bytes.
    pub size: Option<u64>,
}

/// Returns host and port of a URL.
pub(super) fn address(url: &str) -> Result<String> {
    let wrong = |reason: &str| {
        Error::new(ErrorKind::Refused, format!("found a URL that names no Memcached: {reason}"))
            .hint("it is of the form memcached://host:11211")
    };
    let rest = url.strip_prefix("memcached://").ok_or_else(|| wrong("it has another scheme"))?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.contains('@') {
        return Err(wrong("it has a user or a password, which are not supported"));
    }
    if rest.is_empty() || rest.contains(['/', '?', '#']) {
        return Err(wrong("it names no host, or more than a host"));
    }
    // The colons of an address of IPv6 are within brackets.
    let has_port = rest.rsplit_once(':').is_some_and(|(_, port)| !port.ends_with(']'));
    Ok(if has_port { rest.to_owned() } else { format!("{rest}:11211") })
}

/// Returns a key as a request names it, and the flag for that: as it is, or in base64.
pub(super) fn name(key: &[u8]) -> Result<(String, &'static str)> {
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        let message = format!(
            "found a key of {} bytes, expected 1 to {KEY_BYTES_MAX} as Memcached takes them",
            key.len()
        );
        return Err(Error::new(ErrorKind::Refused, message));
    }
    match str::from_utf8(key) {
        Ok(text) if text.bytes().all(|byte| byte > b' ' && byte != 0x7F) => {
            Ok((text.to_owned(), ""))
        }
        _ => Ok((base64(key), " b")),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for digit in 0..4 {
            let index = (group >> (18 - 6 * digit)) as usize & 63;
            out.push(if digit <= chunk.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    out
}

impl Link {
    pub fn open(address: &str) -> Result<Link> {
        let failed = |error| failed(address, "connect", error);
        let mut last = std::io::Error::from(std::io::ErrorKind::AddrNotAvailable);
        for place in address.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&place, CONNECT_TIMEOUT) {
                Ok(stream) => {
                    let set = || {
                        stream.set_read_timeout(Some(CALL_TIMEOUT))?;
                        stream.set_write_timeout(Some(CALL_TIMEOUT))?;
                        stream.set_nodelay(true)
                    };
                    set().map_err(failed)?;
                    let stream = BufReader::with_capacity(64 << 10, stream);
                    return Ok(Link { stream, address: address.to_owned(), due: 0 });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    /// Returns the version of the server.
    pub fn version(&mut self) -> Result<String> {
        self.send(b"version\r\n", 1)?;
        let line = self.line()?;
        self.done();
        let Some(version) = line.strip_prefix(b"VERSION ") else {
            return Err(self.refused("ask for the version", &line));
        };
        let version = String::from_utf8_lossy(version).into_owned();
        let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0_u32));
        if (parts.next(), parts.next()) < (Some(1), Some(6)) {
            let message =
                format!("memcached {}: found version {version}, expected 1.6", self.address);
            return Err(Error::new(ErrorKind::Unsupported, message)
                .hint("older servers cannot be read without changing what they evict"));
        }
        Ok(version)
    }

    /// Sends requests, to which so many answers are due then.
    pub fn send(&mut self, request: &[u8], answers: usize) -> Result<()> {
        self.due += answers;
        let sent = self.stream.get_mut().write_all(request);
        sent.map_err(|error| failed(&self.address, "send a request", error))
    }

    /// Returns whether answers are due.
    pub fn is_stale(&self) -> bool {
        self.due > 0
    }

    /// Takes a line, without its end. What ends an answer is counted by the caller.
    pub fn line(&mut self) -> Result<Vec<u8>> {
        let mut line = Vec::new();
        let read = (&mut self.stream).take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        read.map_err(|error| failed(&self.address, "read an answer", error))?;
        if line.pop() != Some(b'\n') {
            let message = if line.len() as u64 + 1 >= LINE_BYTES_MAX {
                format!(
                    "memcached {}: found a line of more than {LINE_BYTES_MAX} bytes",
                    self.address
                )
            } else {
                format!(
                    "memcached {}: found the end of the connection, expected an answer",
                    self.address
                )
            };
            return Err(Error::new(ErrorKind::Io, message).hint(LOST));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        Ok(line)
    }

    /// Notes that an answer was taken as a whole.
    pub fn done(&mut self) {
        self.due = self.due.saturating_sub(1);
    }

    /// Takes the answer to `mg`, and the value in it.
    pub fn value(&mut self, key: &[u8], bytes_max: u64) -> Result<(Answer, Option<Vec<u8>>)> {
        let line = self.line()?;
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        match words.next() {
            Some(b"EN") => {
                self.done();
                Ok((Answer::Missing, None))
            }
            Some(b"HD") => {
                self.done();
                Ok((Answer::Found(About::parse(words)), None))
            }
            Some(b"VA") => {
                let Some(length) = words.next().and_then(number::<u64>) else {
                    return Err(self.refused("read a value", &line));
                };
                let about = About::parse(words);
                if length > bytes_max {
                    return Err(self.too_long(key, length, bytes_max));
                }
                let value = self.body(length)?;
                self.done();
                Ok((Answer::Found(about), Some(value)))
            }
            _ => Err(self.refused("read a value", &line)),
        }
    }

    /// Takes a value, as its bytes arrive.
    fn body(&mut self, length: u64) -> Result<Vec<u8>> {
        let mut value = Vec::new();
        let read = (&mut self.stream).take(length + 2).read_to_end(&mut value);
        read.map_err(|error| failed(&self.address, "read a value", error))?;
        if value.len() as u64 != length + 2 || !value.ends_with(b"\r\n") {
            let message = format!(
                "memcached {}: found the end of the connection in a value of {length} bytes",
                self.address
            );
            return Err(Error::new(ErrorKind::Io, message).hint(LOST));
        }
        value.truncate(value.len() - 2);
        Ok(value)
    }

    /// An answer that says that the server will not, or that is none.
    #[cold]
    pub fn refused(&self, doing: &str, line: &[u8]) -> Error {
        let found = line[..line.len().min(120)].escape_ascii();
        let (kind, hint) = match line.split(|byte| *byte == b' ').next() {
            Some(b"BUSY") => {
                (ErrorKind::Io, "another client lists the keys; try again when it is done")
            }
            Some(b"SERVER_ERROR" | b"NS") => (ErrorKind::Refused, "the server says why"),
            Some(b"CLIENT_ERROR") => {
                (ErrorKind::Refused, "does the server ask for a password, or forbid this?")
            }
            Some(b"ERROR") => (
                ErrorKind::Unsupported,
                "Memcached 1.6 is needed, with its crawler (`-o lru_crawler`)",
            ),
            _ => (ErrorKind::Unsupported, "is a server there that speaks as Memcached does?"),
        };
        let message = format!("memcached {}: cannot {doing}: found \"{found}\"", self.address);
        Error::new(kind, message).hint(hint)
    }

    #[cold]
    fn too_long(&self, key: &[u8], length: u64, most: u64) -> Error {
        let message = format!(
            "memcached {}: key \"{}\": found a value of {length} bytes, expected at most {most}",
            self.address,
            shown(key)
        );
        Error::limit(message).hint("raise the limit, or read the keys without their values")
    }
}

const LOST: &str = "what was read before is right; check that the server runs, and try again";

#[cold]
fn failed(address: &str, doing: &str, error: std::io::Error) -> Error {
    let message = format!("memcached {address}: cannot {doing}: {error}");
    Error::new(ErrorKind::Io, message).hint("check that the server runs there, and try again")
}

fn number<T: std::str::FromStr>(word: &[u8]) -> Option<T> {
    str::from_utf8(word).ok()?.parse().ok()
}

impl About {
    fn parse<'w>(words: impl Iterator<Item = &'w [u8]>) -> About {
        let mut about = About::default();
        for word in words {
            let Some((flag, value)) = word.split_first() else { continue };
            match flag {
                b'f' => about.flags = number(value),
                b't' => about.left = number(value),
                b'l' => about.idle = number(value),
                b'c' => about.cas = number(value),
                b's' => about.size = number(value),
                _ => {}
            }
        }
        about
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_server() {
        let check = |url: &str, expected: &str| assert_eq!(address(url).unwrap(), expected);
        check("memcached://localhost", "localhost:11211");
        check("memcached://localhost:5/", "localhost:5");
        check("memcached://[::1]", "[::1]:11211");
        check("memcached://[::1]:5", "[::1]:5");
        for url in
            ["memcached:", "memcached://", "redis://a", "memcached://u:secret@a", "memcached://a/b"]
        {
            let error = address(url).unwrap_err().to_string();
            assert!(error.contains("names no Memcached") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn keys_that_are_no_text_are_named_in_base64() {
        let check = |key: &[u8], expected: &str| {
            let (name, flag) = name(key).unwrap();
            assert_eq!(name + flag, expected);
        };
        check(b"user:1", "user:1");
        check("é".as_bytes(), "é");
        check(b"\xff\x00\x31", "/wAx b");
        check(b"a b", "YSBi b");
        check(b"\n", "Cg== b");
        check(b"a\nbc", "YQpiYw== b");
        assert!(name(&[b'a'; 250]).is_ok() && name(&[b'a'; 251]).is_err() && name(b"").is_err());
    }

    #[test]
    fn answers_tell_about_a_value() {
        let words = b"f5 t-1 l7 c12 s3 k/wAx b".split(|byte| *byte == b' ');
        let expected =
            About { flags: Some(5), left: Some(-1), idle: Some(7), cas: Some(12), size: Some(3) };
        assert_eq!(About::parse(words), expected);
    }
}
