//! The configuration: a TOML file in which every line is optional.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regauge::Format;
use regauge_store::{Codec, Error, Result};
use serde::{Deserialize, Deserializer, de};

use super::capacity;
use crate::tenants::Place;

/// The longest time that a connection may take for anything: the clock cannot count every number of
/// seconds from now.
const SECONDS_MAX: u64 = 86_400;

/// The gateway's behaviour and limits.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The address and port to listen on.
    pub listen: SocketAddr,
    /// The data folder; relative paths are relative to the configuration file.
    pub data: PathBuf,
    /// The formats that bodies may use.
    #[serde(deserialize_with = "formats")]
    pub formats: Vec<Format>,
    /// Whether /metrics needs no token.
    pub metrics_open: bool,
    /// Log level: error, warn, info, debug.
    pub log: String,
    /// Connection threads; 0 means one per core.
    pub threads: usize,
    /// Concurrent database calls; 0 means four per core.
    pub blocking: usize,
    /// Whether a single value of an open file is read on its connection's thread, which saves a
    /// round trip to another thread. Not for slow disks.
    pub read_inline: bool,
    /// Maximum number of tenants whose files stay open; 0 means as many as the limit on open files
    /// and a quarter of the memory allow.
    pub open_tenants: usize,
    /// Bytes of recently read documents that are kept in memory as they are sent; 0 disables this.
    pub recent_bytes: u64,
    /// Certificate and key; without them, the gateway speaks HTTP, for use behind a proxy.
    pub tls: Option<Tls>,
    /// Defaults for new tenants.
    pub tenants: NewTenants,
    /// Limits of each tenant without limits of its own.
    pub limits: Limits,
    /// Limits of all connections together.
    pub connections: Connections,
}

/// PEM files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The certificate and its chain.
    pub certificate: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

/// Defaults for new tenants.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NewTenants {
    /// Where its values are stored.
    #[serde(deserialize_with = "parsed")]
    pub place: Place,
    /// The codec of its values.
    #[serde(deserialize_with = "parsed")]
    pub codec: Codec,
}

/// Limits of one tenant.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The maximum size of a request body, in bytes.
    pub body_bytes: u64,
    /// The maximum nesting depth of a document.
    pub depth: u32,
    /// The maximum size of a converted document, in bytes: shared values are written out.
    pub converted_bytes: u64,
    /// Requests per second, on average.
    pub rate: u32,
    /// Burst size: requests beyond that rate that may arrive at once.
    pub burst: u32,
    /// Concurrent requests.
    pub concurrency: u32,
    /// Operations per batch.
    pub batch: usize,
    /// Values per page of a listing.
    pub page: usize,
}

/// Limits of the connections.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Connections {
    /// Maximum number of connections; further ones are closed at once.
    pub max: usize,
    /// Headers per request.
    pub headers: usize,
    /// Bytes of the request line and all headers.
    pub header_bytes: usize,
    /// Seconds to receive the headers, and to keep an idle connection.
    pub header_seconds: u64,
    /// Seconds to receive the whole body.
    pub body_seconds: u64,
    /// Seconds after which stalled clients are dropped.
    pub write_seconds: u64,
    /// Seconds that a request waits for its turn.
    pub queue_seconds: u64,
    /// Seconds that running requests get to finish when the gateway is asked to stop.
    pub stop_seconds: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 8750)),
            data: PathBuf::from("gateway-data"),
            formats: Format::ALL
                .into_iter()
                .filter(|one| one.info().store_number.is_some())
                .collect(),
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
    /// Reads a configuration file.
    ///
    /// # Errors
    /// `Usage`, with the line, for an unknown or invalid setting.
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

    /// Parses the text of a configuration.
    ///
    /// # Errors
    /// Those of `load`.
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
        let Connections { header_seconds, body_seconds, write_seconds, queue_seconds, .. } =
            self.connections;
        let seconds = [
            ("header_seconds", header_seconds),
            ("body_seconds", body_seconds),
            ("write_seconds", write_seconds),
            ("queue_seconds", queue_seconds),
            ("stop_seconds", self.connections.stop_seconds),
        ];
        if let Some((name, found)) = seconds.iter().find(|(_, found)| *found > SECONDS_MAX) {
            return wrong(&format!(
                "connections.{name}: found {found}, expected at most {SECONDS_MAX}, a day"
            ));
        }
        // hyper does not accept a smaller buffer.
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

    /// Returns the number of connection threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(2, usize::from),
            some => some,
        }
    }

    /// Returns the number of concurrent database calls.
    #[must_use]
    pub fn blocking(&self) -> usize {
        match self.blocking {
            0 => 4 * std::thread::available_parallelism().map_or(2, usize::from),
            some => some,
        }
    }

    /// Returns the number of tenants whose files stay open.
    #[must_use]
    pub fn open_tenants(&self) -> usize {
        match self.open_tenants {
            0 => capacity::tenants(
                capacity::files(),
                capacity::memory(),
                self.connections.max as u64,
            ),
            some => some,
        }
    }

    pub(crate) fn queue(&self) -> Duration {
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
        // All but NDJSON, CSV and TSV, since a value is one document, and the two formats of lines of MARC.
        assert_eq!(config.formats.len(), Format::ALL.len() - 5);
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
        let most = "[connections]\nheader_seconds = 86400";
        assert!(Config::parse(most).is_ok());
        assert!(
            error(&format!("{most}0")).contains("header_seconds: found 864000, expected at most")
        );
        assert!(error("log = 'loud'").contains("expected error, warn"));
        assert!(error("[limits]\ndepth = 5000").contains("at most 1024"));
    }
}
