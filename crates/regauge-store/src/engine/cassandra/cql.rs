//! A session with a cluster: prepared statements, and errors in our wording.
//!
//! *Retries.* Reads are marked idempotent: the driver's policy may resend them, and we retry for a
//! few seconds while the connection is re-established. A write is repeated only if no node has
//! started it (no connection, too few nodes alive, a node starting up); after a second of idle
//! time, a write is preceded by a no-op read, so that it does not go to a dead connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::{DbError, ExecutionError, NewSessionError, PrepareError, RequestAttemptError};
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};
use scylla::value::{CqlValue, Row};

use super::locked;
use super::url::Place;
use crate::engine::runtime::{CONNECT_TIMEOUT, lost};
use crate::error::{Error, Result};

/// Timeout of one request; a call may take several.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a call waits for a lost connection to be re-established.
const RECONNECT: Duration = Duration::from_secs(5);
/// The interval between two attempts.
const LOOK: Duration = Duration::from_millis(100);
/// Idle time after which the connection is checked before a write.
const IDLE: Duration = Duration::from_secs(1);
/// The query for that check.
const LOOK_AT: &str = "SELECT key FROM system.local WHERE key = 'local'";

/// A session and its prepared statements.
pub(super) struct Cql {
    session: Session,
    statements: Mutex<HashMap<String, PreparedStatement>>,
    /// When a node last answered.
    answered: Mutex<Instant>,
}

impl Cql {
    /// Connects.
    ///
    /// # Errors
    /// `Engine`; `Usage` for an invalid certificate file.
    pub(super) async fn open(place: &Place, doing: &str) -> Result<Cql> {
        let profile = ExecutionProfile::builder()
            .consistency(Consistency::LocalQuorum)
            .serial_consistency(Some(SerialConsistency::LocalSerial))
            .request_timeout(Some(REQUEST_TIMEOUT))
            .build();
        // One connection carries thousands of requests concurrently.
        let one = std::num::NonZeroUsize::MIN;
        let mut builder = SessionBuilder::new()
            .known_nodes(&place.hosts)
            .connection_timeout(CONNECT_TIMEOUT)
            .pool_size(PoolSize::PerHost(one))
            .keyspaces_to_fetch([&place.keyspace])
            .default_execution_profile_handle(profile.into_handle());
        if let Some((user, password)) = &place.user {
            builder = builder.user(user, password);
        }
        if let Some(datacenter) = &place.datacenter {
            builder = builder.prefer_datacenter(datacenter.clone());
        }
        if place.tls {
            builder = builder.tls_context(Some(tls(place.ca.as_deref())?));
        }
        let session = builder.build().await.map_err(|error| Error::Engine {
            doing: doing.to_owned(),
            passing: !matches!(
                error,
                NewSessionError::IllegalConfig(_) | NewSessionError::FailedToResolveAnyHostname(_)
            ),
            message: error.to_string(),
        })?;
        Ok(Cql { session, statements: Mutex::default(), answered: Mutex::new(Instant::now()) })
    }

    /// Repeats a call while there is no connection, or a `harmless` one whose connection was lost;
    /// and one whose statement the server has meanwhile forgotten, as it does when a table is
    /// removed: the driver prepares it again once, which may race with that.
    async fn again<T>(
        &self,
        harmless: bool,
        call: impl AsyncFn() -> std::result::Result<T, ExecutionError>,
    ) -> std::result::Result<T, ExecutionError> {
        let began = Instant::now();
        loop {
            let error = match call().await {
                Ok(result) => {
                    *locked(&self.answered) = Instant::now();
                    return Ok(result);
                }
                Err(error) => error,
            };
            let lost = matches!(
                error,
                ExecutionError::LastAttemptError(RequestAttemptError::BrokenConnectionError(_))
                    | ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
                        first_attempt: RequestAttemptError::BrokenConnectionError(_),
                        ..
                    })
            );
            let forgotten = matches!(
                error,
                ExecutionError::LastAttemptError(RequestAttemptError::DbError(
                    DbError::Unprepared { .. },
                    _
                ))
            );
            let again = is_unconnected(&error) || forgotten || (lost && harmless);
            if !again || began.elapsed() > RECONNECT {
                return Err(error);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Runs a statement that changes data.
    async fn change(&self, doing: &str, text: &str, values: &[CqlValue]) -> Result<QueryResult> {
        self.attempt(doing, text, values).await?.map_err(failed(doing, false))
    }

    /// Runs a statement that changes data; the inner error is that of the change itself.
    async fn attempt(
        &self,
        doing: &str,
        text: &str,
        values: &[CqlValue],
    ) -> Result<std::result::Result<QueryResult, ExecutionError>> {
        let statement = self.prepared(doing, text).await?;
        self.look(doing).await?;
        let call = async || self.session.execute_unpaged(&statement, values).await;
        Ok(self.again(false, call).await)
    }

    /// Checks that an idle connection is still alive.
    async fn look(&self, doing: &str) -> Result {
        if locked(&self.answered).elapsed() < IDLE {
            return Ok(());
        }
        let statement = self.prepared(doing, LOOK_AT).await?;
        let call = async || self.session.execute_unpaged(&statement, &[]).await;
        self.again(true, call).await.map(drop).map_err(failed(doing, true))
    }

    async fn prepared(&self, doing: &str, text: &str) -> Result<PreparedStatement> {
        if let Some(statement) = locked(&self.statements).get(text) {
            return Ok(statement.clone());
        }
        let call = async || {
            // A connection lost in the meantime is reported in several ways; in none of them was
            // anything done.
            let prepared = self.session.prepare(text).await;
            prepared.map_err(ExecutionError::PrepareError)
        };
        let prepared = self.again(true, call).await;
        let mut statement = prepared.map_err(failed(doing, true))?;
        statement.set_is_idempotent(text.starts_with("SELECT"));
        // A recreated table may have other columns than the driver remembers.
        statement.set_use_cached_result_metadata(false);
        locked(&self.statements).insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Returns whether the server accepts a statement on this table. A server killed while creating
    /// a table lists it afterwards, because its log is replayed after the schema was read, but does
    /// not know it; the table can then be created again.
    pub(super) async fn knows(&self, doing: &str, table: &str) -> Result<bool> {
        let text = format!("SELECT * FROM {table} LIMIT 1");
        let call = async || {
            let prepared = self.session.prepare(text.as_str()).await;
            prepared.map_err(ExecutionError::PrepareError)
        };
        match self.again(true, call).await {
            Ok(_) => Ok(true),
            Err(ExecutionError::PrepareError(PrepareError::AllAttemptsFailed {
                first_attempt: RequestAttemptError::DbError(DbError::Invalid, _),
                ..
            })) => Ok(false),
            Err(other) => Err(failed(doing, true)(other)),
        }
    }

    /// Returns the rows of a SELECT, all at once: it has a limit, or few rows.
    pub(super) async fn read(
        &self,
        doing: &str,
        text: &str,
        values: &[CqlValue],
    ) -> Result<QueryRowsResult> {
        let statement = self.prepared(doing, text).await?;
        let call = async || self.session.execute_unpaged(&statement, values).await;
        rows(doing, self.again(true, call).await.map_err(failed(doing, true))?)
    }

    /// Returns some rows of a SELECT, and where the next ones begin: at most `most` of them, or as
    /// many as the driver asks for.
    pub(super) async fn read_some(
        &self,
        doing: &str,
        text: &str,
        state: PagingState,
        most: Option<u32>,
    ) -> Result<(QueryRowsResult, Option<PagingState>)> {
        let mut statement = self.prepared(doing, text).await?;
        if let Some(most) = most.and_then(|most| i32::try_from(most).ok()) {
            statement.set_page_size(most);
        }
        let call = async || self.session.execute_single_page(&statement, &[], state.clone()).await;
        let (result, next) = self.again(true, call).await.map_err(failed(doing, true))?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok((rows(doing, result)?, next))
    }

    /// Runs a change.
    pub(super) async fn write(&self, doing: &str, text: &str, values: &[CqlValue]) -> Result {
        self.change(doing, text, values).await.map(drop)
    }

    /// Runs a change whose values the server may refuse; the inner error is what it says then.
    pub(super) async fn try_write(
        &self,
        doing: &str,
        text: &str,
        values: &[CqlValue],
    ) -> Result<std::result::Result<(), String>> {
        use ExecutionError::LastAttemptError as Last;
        match self.attempt(doing, text, values).await? {
            Ok(_) => Ok(Ok(())),
            Err(Last(RequestAttemptError::DbError(DbError::Invalid, words))) => Ok(Err(words)),
            Err(error) => Err(failed(doing, false)(error)),
        }
    }

    /// Runs a conditional change; returns whether it was applied.
    pub(super) async fn write_if(
        &self,
        doing: &str,
        text: &str,
        values: &[CqlValue],
    ) -> Result<bool> {
        let answer = rows(doing, self.change(doing, text, values).await?)?;
        let row: Row = answer.first_row().map_err(|error| unreadable(doing, &error))?;
        match row.columns.first() {
            Some(Some(CqlValue::Boolean(done))) => Ok(*done),
            _ => Err(unreadable(doing, &"the answer to a condition has no [applied]")),
        }
    }

    /// Runs several changes as one batch.
    pub(super) async fn write_all(
        &self,
        doing: &str,
        kind: BatchType,
        changes: &[(String, Vec<CqlValue>)],
    ) -> Result {
        let mut batch = Batch::new(kind);
        for (text, _) in changes {
            batch.append_statement(self.prepared(doing, text).await?);
        }
        let values: Vec<&[CqlValue]> = changes.iter().map(|(_, values)| &values[..]).collect();
        self.look(doing).await?;
        let call = async || self.session.batch(&batch, &values).await;
        self.again(false, call).await.map(drop).map_err(failed(doing, false))
    }

    /// Runs a schema change, and waits until all nodes know it.
    pub(super) async fn define(&self, doing: &str, text: &str) -> Result {
        self.look(doing).await?;
        let call = async || self.session.query_unpaged(text, &[]).await;
        self.again(false, call).await.map(drop).map_err(failed(doing, false))
    }
}

/// "Cassandra 5.0.6"; ScyllaDB reports an old Cassandra version here, and its own elsewhere.
pub(super) async fn server_name(cql: &Cql, doing: &str) -> Result<String> {
    let scylla = "SELECT version FROM system.versions WHERE key = 'local'";
    let cassandra = "SELECT release_version FROM system.local WHERE key = 'local'";
    for (name, sql) in [("ScyllaDB", scylla), ("Cassandra", cassandra)] {
        let Ok(found) = cql.read(doing, sql, &[]).await else { continue };
        if let Ok(Some((version,))) = found.maybe_first_row::<(Option<String>,)>() {
            return Ok(format!("{name} {}", version.unwrap_or_default()).trim_end().to_owned());
        }
    }
    Ok("Cassandra".to_owned())
}

fn rows(doing: &str, result: QueryResult) -> Result<QueryRowsResult> {
    result.into_rows_result().map_err(|error| unreadable(doing, &error))
}

pub(super) fn unreadable(doing: &str, error: &dyn std::fmt::Display) -> Error {
    Error::Engine {
        doing: doing.to_owned(),
        message: format!("the answer cannot be read: {error}"),
        passing: false,
    }
}

/// Returns whether nothing was sent, because no node could be reached.
fn is_unconnected(error: &ExecutionError) -> bool {
    use ExecutionError::{ConnectionPoolError, EmptyPlan, PrepareError as Prepare};
    matches!(
        error,
        ConnectionPoolError(_) | EmptyPlan | Prepare(PrepareError::ConnectionPoolError(_))
    )
}

/// Converts the driver's error. `harmless`: the call may be repeated, whatever became of this one.
fn failed(doing: &str, harmless: bool) -> impl Fn(ExecutionError) -> Error + '_ {
    move |error| {
        use ExecutionError::{LastAttemptError, RequestTimeout};
        use RequestAttemptError::{BrokenConnectionError, DbError as Answer};
        let words = match &error {
            // The server's own message is the clearest.
            LastAttemptError(Answer(_, words)) if !words.is_empty() => {
                words.trim_end_matches('.').to_owned()
            }
            other => other.to_string(),
        };
        let (doing, message, passing) = match &error {
            unconnected if is_unconnected(unconnected) => {
                (format!("{doing}: no connection"), words, true)
            }
            LastAttemptError(Answer(
                DbError::Unavailable { .. } | DbError::Overloaded | DbError::IsBootstrapping,
                _,
            )) => (doing.to_owned(), words, true),
            LastAttemptError(BrokenConnectionError(_)) if harmless => {
                (doing.to_owned(), format!("the connection was lost ({words})"), true)
            }
            LastAttemptError(BrokenConnectionError(_)) => (doing.to_owned(), lost(&words), false),
            RequestTimeout(_)
            | LastAttemptError(Answer(
                DbError::WriteTimeout { .. } | DbError::WriteFailure { .. },
                _,
            )) if !harmless => {
                let unknown = "so it is not known whether this was done";
                (doing.to_owned(), format!("{words}, {unknown}"), false)
            }
            RequestTimeout(_) => (doing.to_owned(), words, true),
            _ => (doing.to_owned(), words, false),
        };
        Error::Engine { doing, message, passing }
    }
}

/// Loads the system's certificates, or those of a file.
fn tls(ca: Option<&str>) -> Result<Arc<rustls::ClientConfig>> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let mut roots = rustls::RootCertStore::empty();
    let trusted: Vec<CertificateDer<'static>> = match ca {
        Some(path) => CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| Error::usage(format!("certificates of {path}: {error}")))?,
        None => rustls_native_certs::load_native_certs().certs,
    };
    roots.add_parsable_certificates(trusted);
    if roots.is_empty() {
        return Err(Error::usage("no certificate to trust was found; name a file with ca=PATH"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::usage(format!("TLS: {error}")))?;
    Ok(Arc::new(config.with_root_certificates(roots).with_no_client_auth()))
}
