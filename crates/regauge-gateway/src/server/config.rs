//! The configuration: a file of TOML, of which every line may be left out.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regauge::Format;
use regauge_store::{Codec, Error, Result};
use serde::{Deserialize, Deserializer, de};

use super::room;
use crate::tenants::Place;

/// What the gateway does, and how much of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The data folder; a relative one is relative to the configuration.
    pub data: PathBuf,
    /// The formats that bodies may have.
    #[serde(deserialize_with = "formats")]
    pub formats: Vec<Format>,
    /// Whether /metrics asks for no token.
    pub metrics_open: bool,
    /// How much is logged: error, warn, info, debug.
    pub log: String,
    /// Threads of connections; 0 is one for each core.
    pub threads: usize,
    /// Calls to databases at the same time; 0 is four for each core.
    pub blocking: usize,
    /// Whether one value of an open file is read on the thread of its connection, which saves the
    /// way to another thread and back. Not for disks that make a reader wait.
    pub read_inline: bool,
    /// Tenants whose files stay open, at most; 0 is as many as the limit on open files and a
    /// quarter of the memory have room for.
    pub open_tenants: usize,
    /// Bytes of documents that were read lately and are kept in memory as they are sent; 0 keeps
    /// none.
    pub recent_bytes: u64,
    /// Certificate and key; without, the gateway speaks HTTP, for a proxy beside it.
    pub tls: Option<Tls>,
    /// What new tenants get.
    pub tenants: NewTenants,
    /// What each tenant may ask for, where it has no limit of its own.
    pub limits: Limits,
    /// What all connections together may take.
    pub connections: Connections,
}

/// Files of PEM.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate, and those that lead to it.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// What a new tenant gets where nothing else is asked for.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewTenants {
    /// Where its values lie.
    #[serde(deserialize_with = "parsed")]
    pub place: Place,
    /// How its values are stored.
    #[serde(deserialize_with = "parsed")]
    pub codec: Codec,
}

/// Limits of one tenant.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest body of a request, in bytes.
    pub body_bytes: u64,
    /// The deepest nesting of a document.
    pub depth: u32,
    /// What a document may become when it is converted, in bytes: shared values are written out.
    pub converted_bytes: u64,
    /// Requests a second, over time.
    pub rate: u32,
    /// Requests that may come at once beyond that.
    pub burst: u32,
    /// Requests at the same time.
    pub concurrency: u32,
    /// Operations in one batch.
    pub batch: usize,
    /// Values of one page of a listing.
    pub page: usize,
}

/// Limits of the connections.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// Connections at the same time; another is closed at once.
    pub max: usize,
    /// Headers of one request.
    pub headers: usize,
    /// Bytes of the request line and all headers.
    pub header_bytes: usize,
    /// Seconds for the headers, and for which an idle connection is kept.
    pub header_seconds: u64,
    /// Seconds for the whole body.
    pub body_seconds: u64,
    /// Seconds after which a client that takes no more bytes is given up.
    pub write_seconds: u64,
    /// Seconds for which a request waits for its turn.
    pub queue_seconds: u64,
    /// Seconds for which requests may still run when the gateway is asked to stop.
    pub stop_seconds: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
            data: PathBuf::from("gateway-data"),
            formats: Format::ALL.into_iter().filter(|one| *one != Format::Ndjson).collect(),
            metrics_open: false,
            log: "info".to_owned(),
            threads: 0,
            blocking: 0,
            read_inline: true,
            open_tenants: 0,
            recent_bytes: 64 << 20,
            tls: None,
            tenants: NewTenants::default(),
            limits: Limits::default(),
            connections: Connections::default(),
        }
    }
}

impl Default for NewTenants {
    fn default() -> NewTenants {
        let codec = "msgpack".parse().expect("a codec");
        NewTenants { place: Place::Own, codec }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            body_bytes: 16 << 20,
            depth: 512,
            converted_bytes: 64 << 20,
            rate: 20_000,
            burst: 20_000,
            concurrency: 64,
            batch: 1_000,
            page: 1_000,
        }
    }
}

impl Default for Connections {
    fn default() -> Connections {
        Connections {
            max: 4_096,
            headers: 64,
            header_bytes: 16 << 10,
            header_seconds: 30,
            body_seconds: 60,
            write_seconds: 30,
            queue_seconds: 10,
            stop_seconds: 30,
        }
    }
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// `Usage`, with the line, for what is unknown or cannot be.
    pub fn load(path: &Path) -> Result<Config> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?;
        let mut config = Config::parse(&text)
            .map_err(|error| Error::Usage(format!("{}: {error}", path.display())))?;
        let beside = |other: &mut PathBuf| {
            if let Some(folder) = path.parent() {
                *other = folder.join(&*other);
            }
        };
        beside(&mut config.data);
        if let Some(tls) = &mut config.tls {
            beside(&mut tls.certificate);
            beside(&mut tls.key);
        }
        Ok(config)
    }

    /// Reads the text of a configuration.
    ///
    /// # Errors
    /// As `load`.
    pub fn parse(text: &str) -> Result<Config> {
        let config: Config =
            toml::from_str(text).map_err(|error| Error::Usage(error.to_string()))?;
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result {
        let wrong = |what: &str| Err(Error::Usage(what.to_owned()));
        if !matches!(self.log.as_str(), "error" | "warn" | "info" | "debug") {
            return wrong("log: expected error, warn, info or debug");
        }
        let Limits { body_bytes, rate, burst, concurrency, batch, page, .. } = self.limits;
        let some = [
            ("limits.body_bytes", body_bytes),
            ("limits.rate", rate.into()),
            ("limits.burst", burst.into()),
            ("limits.concurrency", concurrency.into()),
            ("limits.batch", batch as u64),
            ("limits.page", page as u64),
            ("connections.max", self.connections.max as u64),
            ("connections.headers", self.connections.headers as u64),
            ("connections.header_seconds", self.connections.header_seconds),
            ("connections.body_seconds", self.connections.body_seconds),
            ("connections.write_seconds", self.connections.write_seconds),
            ("connections.queue_seconds", self.connections.queue_seconds),
        ];
        if let Some((name, _)) = some.iter().find(|(_, value)| *value == 0) {
            return wrong(&format!("{name}: found 0, expected at least 1"));
        }
        // hyper takes no smaller buffer.
        if self.connections.header_bytes < 8 << 10 {
            return wrong("connections.header_bytes: expected at least 8192");
        }
        if self.limits.depth > regauge::Limits::DEPTH_CEILING {
            return wrong(&format!(
                "limits.depth: expected at most {}",
                regauge::Limits::DEPTH_CEILING
            ));
        }
        Ok(())
    }

    /// Threads of connections.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            some => some,
        }
    }

    /// Calls to databases at the same time.
    #[must_use]
    pub fn blocking(&self) -> usize {
        match self.blocking {
            0 => 4 * std::thread::available_parallelism().map_or(2, usize::from),
            some => some,
        }
    }

    /// Tenants whose files stay open.
    #[must_use]
    pub fn open_tenants(&self) -> usize {
        match self.open_tenants {
            0 => room::tenants(room::files(), room::memory(), self.connections.max as u64),
            some => some,
        }
    }

    pub(super) fn queue(&self) -> Duration {
        Duration::from_secs(self.connections.queue_seconds)
    }
}

fn formats<'d, D: Deserializer<'d>>(input: D) -> std::result::Result<Vec<Format>, D::Error> {
    let names = Vec::<String>::deserialize(input)?;
    let mut formats = Vec::new();
    for name in names {
        let codec: Codec = name.parse().map_err(de::Error::custom)?;
        if codec.to_string() != codec.format.name() {
            return Err(de::Error::custom(format!("found \"{name}\", expected a format")));
        }
        formats.push(codec.format);
    }
    if formats.is_empty() {
        return Err(de::Error::custom("formats: expected at least one"));
    }
    Ok(formats)
}

fn parsed<'d, D, T>(input: D) -> std::result::Result<T, D::Error>
where
    D: Deserializer<'d>,
    T: std::str::FromStr<Err = Error>,
{
    String::deserialize(input)?.parse().map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_a_configuration() {
        let config = Config::parse("").unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8750");
        assert_eq!(config.formats.len(), Format::ALL.len() - 1);
        assert!(config.open_tenants() >= 16, "found from what the machine has");
        assert_eq!(Config::parse("open_tenants = 7").unwrap().open_tenants(), 7);
    }

    #[test]
    fn what_cannot_be_is_told_with_its_place() {
        let error = |text: &str| Config::parse(text).unwrap_err().to_string();
        assert!(error("data = 1").contains("line 1"), "{}", error("data = 1"));
        assert!(error("speed = 1").contains("unknown field `speed`"));
        assert!(error("[limits]\nrate = 0").contains("limits.rate: found 0"));
        assert!(error("formats = ['json', 'xml']").contains("found format \"xml\""));
        assert!(error("formats = ['json+zstd']").contains("expected a format"));
        assert!(error("[tenants]\nplace = 'there'").contains("expected own or shared"));
        assert!(error("log = 'loud'").contains("expected error, warn"));
        assert!(error("[limits]\ndepth = 5000").contains("at most 1024"));
    }
}
