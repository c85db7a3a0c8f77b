//! Connections to PostgreSQL: TLS, statements that stay prepared, and what errors mean.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::super::line::{Dial, Verdict};
use super::super::parameters::Parameters;
use super::super::runtime::CONNECT_TIMEOUT;
use super::super::shown_url;
use crate::error::{Error, Result};

/// Statements kept prepared: about ten for each collection in use.
const STATEMENTS: usize = 64;

/// Everything needed to connect.
pub(super) struct Server {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    place: String,
    timeout: Duration,
    is_read_only: bool,
}

/// A connection and its prepared statements.
pub(super) struct Link {
    pub(super) client: Client,
    /// As reported by the server: "15.20".
    pub(super) version: String,
    statements: HashMap<String, Statement>,
}

impl Link {
    /// Returns the statement for this text, prepared once.
    pub(super) async fn statement(
        &mut self,
        sql: &str,
    ) -> Result<Statement, tokio_postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql).await?;
        if self.statements.len() >= STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

impl Server {
    /// # Errors
    /// `Usage` for an invalid URL, or unreadable certificates.
    pub(super) fn new(url: &str) -> Result<(Server, Duration)> {
        let own = Parameters::new(url)?;
        let place = shown_url(url);
        let mut config: Config = own.url.parse().map_err(|error: tokio_postgres::Error| {
            Error::usage(format!("{place}: {}", chain(&error)))
        })?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("regauge");
        }
        let tls = match config.get_ssl_mode() {
            SslMode::Disable => None,
            mode => tls(own.root_certificates.as_deref(), mode == SslMode::Require)
                .map_err(|why| Error::usage(format!("{place}: {why}")))?,
        };
        let timeout = own.timeout;
        Ok((Server { config, tls, place, timeout, is_read_only: false }, timeout))
    }

    /// Lets every transaction be one that only reads.
    pub(super) fn read_only(self) -> Server {
        Server { is_read_only: true, ..self }
    }
}

/// Builds a TLS configuration that trusts these certificates, or the system's. The latter are read
/// once; `None` if there are none and TLS is optional.
fn tls(path: Option<&str>, required: bool) -> Result<Option<MakeRustlsConnect>, String> {
    static SYSTEM: OnceLock<Option<MakeRustlsConnect>> = OnceLock::new();
    if let Some(path) = path {
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
            .map_err(|error| format!("cannot read the certificates {path}: {error}"))?;
        let tls = trusting(certificates);
        return tls.map(Some).ok_or_else(|| format!("{path} holds no certificate"));
    }
    let system = SYSTEM.get_or_init(|| trusting(rustls_native_certs::load_native_certs().certs));
    match system {
        None if required => Err("the system has no certificates to trust; name some with \
             sslrootcert=PATH"
            .to_owned()),
        other => Ok(other.clone()),
    }
}

fn trusting(certificates: Vec<CertificateDer<'static>>) -> Option<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(certificates);
    if roots.is_empty() {
        return None;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring speaks them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Some(MakeRustlsConnect::new(config))
}

impl Dial for Server {
    type Link = Link;
    type Failure = tokio_postgres::Error;

    fn place(&self) -> &str {
        &self.place
    }

    async fn dial(&self) -> Result<Link, tokio_postgres::Error> {
        let (client, version) = match &self.tls {
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                let version = connection.parameter("server_version").map(str::to_owned);
                tokio::spawn(connection);
                (client, version)
            }
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                let version = connection.parameter("server_version").map(str::to_owned);
                tokio::spawn(connection);
                (client, version)
            }
        };
        // The server abandons what nobody waits for any more. Its notices are suppressed.
        let set = format!(
            "SET statement_timeout = {}; SET client_min_messages = error; SET default_transaction_read_only = {}",
            self.timeout.as_millis(),
            self.is_read_only
        );
        client.batch_execute(&set).await?;
        let version = version.unwrap_or_default();
        // "15.20 (Debian 15.20-0+deb12u1)"
        let version = version.split(' ').next().unwrap_or_default().to_owned();
        Ok(Link { client, version, statements: HashMap::new() })
    }

    async fn is_open(&self, link: &mut Link) -> bool {
        // Lets the driver's task process what has arrived since, perhaps the end of the connection.
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
        !link.client.is_closed()
    }

    async fn ping(&self, link: &mut Link) -> bool {
        link.client.check_connection().await.is_ok()
    }

    fn verdict(&self, failure: &tokio_postgres::Error) -> Verdict {
        let Some(error) = failure.as_db_error() else {
            // The driver hides the kind of an error, but not its message.
            let words = failure.to_string();
            let lost = ["error communicating", "error connecting", "connection closed"];
            let lost = failure.is_closed() || lost.iter().any(|one| words.starts_with(one));
            return if lost { Verdict::Lost } else { Verdict::Refused };
        };
        let code = error.code();
        if [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code) {
            return Verdict::Undone;
        }
        if [SqlState::TOO_MANY_CONNECTIONS, SqlState::LOCK_NOT_AVAILABLE].contains(code) {
            return Verdict::Busy;
        }
        if *code == SqlState::DISK_FULL {
            return Verdict::Full;
        }
        let lost = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ];
        match lost.contains(code) || code.code().starts_with("08") {
            true => Verdict::Lost,
            false => Verdict::Refused,
        }
    }

    fn words(&self, failure: &tokio_postgres::Error) -> String {
        let Some(error) = failure.as_db_error() else { return chain(failure) };
        let code = error.code();
        if *code == SqlState::QUERY_CANCELED {
            return format!("no answer within {} s", self.timeout.as_secs());
        }
        if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
            return "the database is read-only".to_owned();
        }
        if *code == SqlState::PROGRAM_LIMIT_EXCEEDED && error.message().starts_with("index row") {
            return format!("the key is too long for the index: {}", error.message());
        }
        match error.detail() {
            Some(detail) => format!("{}: {detail}", error.message()),
            None => error.message().to_owned(),
        }
    }
}

/// Returns whether a statement names a missing table.
pub(super) fn is_absent(failure: &tokio_postgres::Error) -> bool {
    failure.code() == Some(&SqlState::UNDEFINED_TABLE)
}

/// Formats a driver error with its causes.
fn chain(error: &tokio_postgres::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
