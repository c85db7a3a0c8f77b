//! Connections to MySQL and MariaDB: TLS, the session's settings, and what errors mean.

use std::path::PathBuf;
use std::time::Duration;

use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, Error as Failure, IoError, Opts, OptsBuilder, SslOpts};

use super::super::line::{Dial, Verdict};
use super::super::parameters::Parameters;
use super::super::shown_url;
use crate::error::{Error, Result};

/// Statements kept prepared: about ten for each collection in use.
const STATEMENTS: usize = 64;
/// How long a change waits for another writer, in seconds.
const LOCK_SECONDS: u32 = 10;

/// Everything needed to connect.
pub(super) struct Server {
    opts: Opts,
    place: String,
    timeout: Duration,
    is_read_only: bool,
}

/// A connection and the server's self-description.
pub(super) struct Link {
    pub(super) conn: Conn,
    /// "MariaDB 10.11.19".
    pub(super) name: String,
    /// The longest statement that the server accepts, in bytes.
    pub(super) packet_bytes: usize,
}

impl Server {
    /// # Errors
    /// `Usage` for an invalid URL.
    pub(super) fn new(url: &str) -> Result<(Server, Duration)> {
        let own = Parameters::new(url)?;
        let place = shown_url(url);
        let opts =
            Opts::from_url(&own.url).map_err(|error| Error::usage(format!("{place}: {error}")))?;
        if opts.db_name().is_none_or(str::is_empty) {
            return Err(Error::usage(format!(
                "{place}: found no database, expected mysql://HOST/DATABASE"
            )));
        }
        let mut ssl = opts.ssl_opts().cloned();
        if let Some(path) = own.root_certificates {
            let path = PathBuf::from(path);
            if let Err(error) = std::fs::metadata(&path) {
                let path = path.display();
                return Err(Error::usage(format!(
                    "{place}: cannot read the certificates {path}: {error}"
                )));
            }
            let roots = ssl.unwrap_or_else(SslOpts::default).with_disable_built_in_roots(true);
            ssl = Some(roots.with_root_certs(vec![path.into()]));
        }
        let opts = OptsBuilder::from_opts(opts)
            .ssl_opts(ssl)
            // Count matched rows, changed or not.
            .client_found_rows(true)
            .prefer_socket(false)
            .stmt_cache_size(STATEMENTS);
        let timeout = own.timeout;
        Ok((Server { opts: opts.into(), place, timeout, is_read_only: false }, timeout))
    }

    /// Lets every transaction be one that only reads.
    pub(super) fn read_only(self) -> Server {
        Server { is_read_only: true, ..self }
    }
}

impl Dial for Server {
    type Link = Link;
    type Failure = Failure;

    fn place(&self) -> &str {
        &self.place
    }

    async fn dial(&self) -> Result<Link, Failure> {
        let mut conn = Conn::new(self.opts.clone()).await?;
        let facts: Option<(String, usize)> =
            conn.query_first("SELECT VERSION(), @@max_allowed_packet").await?;
        let (version, packet_bytes) = facts.unwrap_or_default();
        // Oversized data is an error instead of being truncated, whatever the server's settings
        // are.
        conn.query_drop(format!(
            "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', autocommit = 1, \
             innodb_lock_wait_timeout = {LOCK_SECONDS}"
        ))
        .await?;
        // The server abandons what nobody waits for any more.
        let (name, limit) = match version.contains("MariaDB") {
            true => ("MariaDB", format!("max_statement_time = {}", self.timeout.as_secs())),
            false => ("MySQL", format!("max_execution_time = {}", self.timeout.as_millis())),
        };
        conn.query_drop(format!("SET SESSION {limit}")).await?;
        if self.is_read_only {
            conn.query_drop("SET SESSION TRANSACTION READ ONLY").await?;
        }
        // "10.11.19-MariaDB-0+deb12u1"
        let number = version.split('-').next().unwrap_or_default();
        Ok(Link { conn, name: format!("{name} {number}"), packet_bytes })
    }

    async fn is_open(&self, link: &mut Link) -> bool {
        !link.conn.is_disconnected()
    }

    async fn ping(&self, link: &mut Link) -> bool {
        link.conn.ping().await.is_ok()
    }

    fn verdict(&self, failure: &Failure) -> Verdict {
        use mysql_async::DriverError::{ConnectionClosed, PacketOutOfOrder, UnexpectedPacket};
        match failure {
            Failure::Io(IoError::Io(_))
            | Failure::Driver(ConnectionClosed | PacketOutOfOrder | UnexpectedPacket { .. }) => {
                Verdict::Lost
            }
            Failure::Server(error) => match error.code {
                // ER_LOCK_DEADLOCK, and ER_CHECKREAD for MariaDB's snapshots.
                1213 | 1020 => Verdict::Undone,
                // ER_CON_COUNT_ERROR, ER_LOCK_WAIT_TIMEOUT, ER_USER_LIMIT_REACHED.
                1040 | 1205 | 1226 => Verdict::Busy,
                // ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED, ER_CLIENT_INTERACTION_TIMEOUT.
                1053 | 1927 | 3169 | 4031 => Verdict::Lost,
                // ER_DISK_FULL, ER_RECORD_FILE_FULL.
                1021 | 1114 => Verdict::Full,
                _ => Verdict::Refused,
            },
            _ => Verdict::Refused,
        }
    }

    fn words(&self, failure: &Failure) -> String {
        let Failure::Server(error) = failure else {
            // The driver quotes its messages, some of them twice.
            return match failure {
                Failure::Io(IoError::Io(error)) => error.to_string(),
                Failure::Io(IoError::Tls(error)) => format!("TLS: {error}"),
                Failure::Driver(error) => error.to_string(),
                other => other.to_string(),
            };
        };
        match error.code {
            // ER_STATEMENT_TIMEOUT of MariaDB, ER_QUERY_TIMEOUT of MySQL.
            1969 | 3024 => format!("no answer within {} s", self.timeout.as_secs()),
            1205 => format!("another writer held the row for {LOCK_SECONDS} s"),
            // ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE.
            1290 | 1792 | 1836 => format!("the database is read-only: {}", error.message),
            // ER_NET_PACKET_TOO_LARGE, ER_DATA_TOO_LONG.
            1153 => "it is larger than the server's max_allowed_packet".to_owned(),
            1062 => {
                format!("the column's index equates the key with another one: {}", error.message)
            }
            1406 => format!("it is too long for the column: {}", error.message),
            _ => error.message.clone(),
        }
    }
}

/// Returns whether a statement names a missing table (ER_NO_SUCH_TABLE).
pub(super) fn is_absent(failure: &Failure) -> bool {
    matches!(failure, Failure::Server(error) if error.code == 1146)
}

/// Returns whether a row with that key exists already (ER_DUP_ENTRY).
pub(super) fn is_duplicate(failure: &Failure) -> bool {
    matches!(failure, Failure::Server(error) if error.code == 1062)
}
