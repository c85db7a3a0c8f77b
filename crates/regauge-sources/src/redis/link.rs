//! One connection, and what its errors mean.

use std::time::Duration;

use redis::{
    Client, Cmd, Connection, ConnectionInfo, ConnectionLike, RedisError, RedisResult, Value,
};
use regauge::{Error, ErrorKind, Result};

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for sending a batch of commands, and for each answer.
const CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How a server works together with others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Alone,
    Cluster,
    Sentinel,
}

/// What a server says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct About {
    pub mode: Mode,
    /// `Redis 7.0.15`.
    title: String,
    /// The version of Redis that it is compatible with, as far as it tells.
    pub version: (u32, u32),
    pub is_valkey_9: bool,
}

impl About {
    fn parse(info: &str) -> About {
        let find = |name: &str| {
            info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
        };
        let version = |text: &str| {
            let mut parts = text.split('.').map(|part| part.parse().unwrap_or(0));
            (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
        };
        let (redis, valkey) = (find("redis_version"), find("valkey_version"));
        About {
            mode: match find("redis_mode") {
                Some("cluster") => Mode::Cluster,
                Some("sentinel") => Mode::Sentinel,
                _ => Mode::Alone,
            },
            title: match (redis, valkey) {
                (_, Some(valkey)) => format!("Valkey {valkey}"),
                (Some(redis), None) => format!("Redis {redis}"),
                (None, None) => "Redis of an unknown version".to_owned(),
            },
            version: redis.map(version).unwrap_or_default(),
            is_valkey_9: valkey.map(version).is_some_and(|version| version >= (9, 0)),
        }
    }

    /// Returns whether fields of a hash can expire.
    pub fn fields_expire(&self) -> bool {
        self.is_valkey_9 || self.version >= (7, 4)
    }
}

/// A connection to one server.
pub(super) struct Link {
    connection: Connection,
    /// Host and port, for messages.
    pub name: String,
    pub about: About,
    database: Option<u64>,
    /// The digest of the script that replaces a value, once it is loaded.
    pub script: Option<Vec<u8>>,
}

impl Link {
    /// Connects, and asks what server it is.
    pub fn open(info: ConnectionInfo) -> Result<Link> {
        // The driver takes the process's default provider. Only the first to install one counts; if another has
        // been chosen by then, that is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let name = info.addr().to_string();
        let open = |info: ConnectionInfo| -> RedisResult<Connection> {
            let connection = Client::open(info)?.get_connection_with_timeout(CONNECT_TIMEOUT)?;
            connection.set_read_timeout(Some(CALL_TIMEOUT))?;
            connection.set_write_timeout(Some(CALL_TIMEOUT))?;
            Ok(connection)
        };
        let is_tls = matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. });
        let connection = open(info).map_err(|error| match error.code() {
            None if is_tls => failed(&name, "connect", &error).hint(
                "check that the server speaks TLS on this port; redis:// connects without TLS",
            ),
            _ => failed(&name, "connect", &error),
        })?;
        let mut link =
            Link { connection, name, about: About::default(), database: None, script: None };
        // Users may be kept from either command. Redis before 7.2 does not have the second.
        let answers = link.ask_all(
            "ask for the version",
            &[command("INFO", &[b"server"]), command("CLIENT", &[b"NO-TOUCH", b"ON"])],
        )?;
        let info = match answers.into_iter().next() {
            Some(Value::ServerError(error)) if error.code() == "NOAUTH" => {
                return Err(failed(&link.name, "connect", &error.into()));
            }
            answer => answer.and_then(bytes).unwrap_or_default(),
        };
        link.about = About::parse(&String::from_utf8_lossy(&info));
        Ok(link)
    }

    /// Returns what the server is: `Redis 7.0.15`.
    pub fn title(&self) -> String {
        self.about.title.clone()
    }

    /// Chooses a database.
    pub fn select(&mut self, database: u64) -> Result<()> {
        if self.database == Some(database) {
            return Ok(());
        }
        // A cluster has one database, and no command to choose it.
        if self.about.mode != Mode::Cluster || database != 0 {
            let number = database.to_string();
            self.ask("choose a database", &command("SELECT", &[number.as_bytes()]))?;
        }
        self.database = Some(database);
        Ok(())
    }

    /// Sends a command, and waits for the answer.
    ///
    /// # Errors
    /// `Refused` or `Io`, with the server's own words.
    pub fn ask(&mut self, doing: &str, command: &Cmd) -> Result<Value> {
        let answer = self.connection.req_command(command);
        let answer = answer.and_then(|answer| match answer {
            Value::ServerError(error) => Err(error.into()),
            answer => Ok(answer),
        });
        answer.map_err(|error| failed(&self.name, doing, &error))
    }

    /// Sends several commands at once. What the server refuses is in the answers.
    ///
    /// # Errors
    /// `Io` if the connection is lost.
    pub fn ask_all(&mut self, doing: &str, commands: &[Cmd]) -> Result<Vec<Value>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let packed: Vec<u8> = commands.iter().flat_map(Cmd::get_packed_command).collect();
        let answers = self.connection.req_packed_commands(&packed, 0, commands.len());
        let answers = answers.map_err(|error| failed(&self.name, doing, &error))?;
        if answers.len() != commands.len() {
            return Err(self.unexpected(doing, "another number of answers"));
        }
        Ok(answers)
    }

    /// Returns the answer, or the error in it.
    pub fn checked(&self, doing: &str, answer: Value) -> Result<Value> {
        match answer {
            Value::ServerError(error) => Err(failed(&self.name, doing, &error.into())),
            answer => Ok(answer),
        }
    }

    /// An answer that is not of the form that the command has.
    #[cold]
    pub fn unexpected(&self, doing: &str, found: &str) -> Error {
        let message = format!("redis {}: cannot {doing}: found {found}", self.name);
        Error::new(ErrorKind::Unsupported, message)
            .hint("is a server there that speaks as Redis does?")
    }
}

/// Makes a command.
pub(super) fn command(name: &str, arguments: &[&[u8]]) -> Cmd {
    let mut command = redis::cmd(name);
    for argument in arguments {
        command.arg(*argument);
    }
    command
}

/// Returns the bytes of an answer; `None` if it has none, or is an error.
pub(super) fn bytes(answer: Value) -> Option<Vec<u8>> {
    match answer {
        Value::BulkString(bytes) => Some(bytes),
        Value::SimpleString(text) => Some(text.into_bytes()),
        Value::VerbatimString { text, .. } => Some(text.into_bytes()),
        Value::Okay => Some(b"OK".to_vec()),
        Value::Int(number) => Some(number.to_string().into_bytes()),
        _ => None,
    }
}

/// Returns the number in an answer.
pub(super) fn number(answer: &Value) -> Option<i64> {
    match answer {
        Value::Int(number) => Some(*number),
        Value::BulkString(bytes) => str::from_utf8(bytes).ok()?.parse().ok(),
        _ => None,
    }
}

/// Returns the elements of an answer.
pub(super) fn elements(answer: Value) -> Option<Vec<Value>> {
    match answer {
        Value::Array(elements) | Value::Set(elements) => Some(elements),
        _ => None,
    }
}

/// Makes an error of the driver's, which tells what to do.
#[cold]
pub(super) fn failed(name: &str, doing: &str, error: &RedisError) -> Error {
    let code = error.code().unwrap_or_default();
    let (kind, hint) = match code {
        "NOAUTH" | "WRONGPASS" => {
            (ErrorKind::Refused, "put user and password into the URL: redis://user:password@host")
        }
        "NOPERM" => (ErrorKind::Refused, "this user may not do that; connect as another one"),
        "READONLY" => (ErrorKind::Refused, "this is a replica; connect to its master"),
        "MISCONF" | "OOM" | "NOREPLICAS" => (ErrorKind::Refused, "the server takes no writes now"),
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" | "TRYAGAIN" | "BUSY" => {
            (ErrorKind::Io, "try again when it is ready")
        }
        "MOVED" | "ASK" => {
            (ErrorKind::Io, "the cluster is moving its slots; read it again when that is done")
        }
        _ if error.is_timeout() => (
            ErrorKind::Io,
            "the server is too busy, or something between drops the bytes; try again",
        ),
        _ if error.to_string().contains("DB index is out of range") => {
            (ErrorKind::Refused, "give a lower number of the database")
        }
        _ if doing == "connect" && (error.is_connection_dropped() || error.is_io_error()) => {
            (ErrorKind::Io, "check that the server runs, and its host and port in the URL")
        }
        _ if error.is_connection_dropped() || error.is_io_error() => (
            ErrorKind::Io,
            "what was read before is right; check that the server runs, and try again",
        ),
        // Before Redis 6, a wrong password has no code.
        _ if doing == "connect" => {
            (ErrorKind::Refused, "check user and password in the URL: redis://user:password@host")
        }
        _ => (ErrorKind::Io, "the server says why"),
    };
    Error::new(kind, format!("redis {name}: cannot {doing}: {error}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_say_what_they_are() {
        let about = About::parse("# Server\r\nredis_version:7.4.1\r\nredis_mode:cluster\r\n");
        assert_eq!((about.title.as_str(), about.mode), ("Redis 7.4.1", Mode::Cluster));
        assert_eq!((about.version, about.fields_expire()), ((7, 4), true));
        let about =
            About::parse("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\n");
        assert_eq!((about.title.as_str(), about.mode), ("Valkey 8.1.0", Mode::Alone));
        assert!(!about.fields_expire());
        assert!(About::parse("redis_version:7.2.4\nvalkey_version:9.0.0\n").fields_expire());
        assert_eq!(About::parse("").title, "Redis of an unknown version");
    }
}
