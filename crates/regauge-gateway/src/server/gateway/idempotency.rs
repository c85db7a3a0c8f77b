//! `Idempotency-Key`: a change that is resent is made once, and gets the same answer.
//!
//! Answers are kept for a day in `idempotency.db`. A change without an answer, because the process
//! ended midway, is repeated if repeating it is harmless (it had no condition); otherwise the
//! client is told to read the document.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use regauge_store::{Error, Result};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::server::http::{Answer, Problem};
use crate::tenants::now;

/// Seconds for which an answer is kept.
const KEPT_SECONDS: i64 = 86_400;
/// Answers kept per tenant.
const KEPT_MAX: i64 = 10_000;
/// The longest answer that is kept.
const ANSWER_BYTES_MAX: usize = 1 << 20;
/// The longest key, in characters.
const KEY_MAX: usize = 255;
/// Headers that are part of a kept answer.
const HEADERS: [&str; 2] = ["content-type", "etag"];

const SCHEMA: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS answers (
        tenant INTEGER NOT NULL,
        key TEXT NOT NULL,
        request BLOB NOT NULL,
        begun INTEGER NOT NULL,
        status INTEGER,
        headers TEXT,
        body BLOB,
        PRIMARY KEY (tenant, key)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS answers_by_age ON answers (begun);
";

/// The kept answers.
#[derive(Clone)]
pub(crate) struct Idempotency {
    connection: Arc<Mutex<Connection>>,
    /// Requests in progress.
    running: Arc<Mutex<HashSet<(i64, String)>>>,
}

/// What to do with a request that has a key.
pub(crate) enum Next {
    /// It is new.
    Do(Turn),
    /// It was answered before.
    Again(Response),
}

/// A request with a key, in progress.
pub(crate) struct Turn {
    idempotency: Idempotency,
    name: (i64, String),
}

impl Drop for Turn {
    fn drop(&mut self) {
        locked(&self.idempotency.running).remove(&self.name);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: rusqlite::Error) -> Problem {
    Problem::internal(format!("idempotency.db: {error}"))
}

/// Returns the key of a request, if it has one.
pub(crate) fn key(headers: &HeaderMap) -> Answer<Option<String>> {
    let mut all = headers.get_all("idempotency-key").iter();
    let Some(value) = all.next() else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim_matches('"');
    let fits =
        (1..=KEY_MAX).contains(&text.len()) && text.bytes().all(|one| one.is_ascii_graphic());
    match fits && all.next().is_none() {
        true => Ok(Some(text.to_owned())),
        false => Err(Problem::request(format!(
            "expected one Idempotency-Key of 1 to {KEY_MAX} visible characters of ASCII"
        ))),
    }
}

impl Idempotency {
    pub fn open(folder: &Path) -> Result<Idempotency> {
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(folder.join("idempotency.db"))?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.execute_batch(SCHEMA)?;
            Ok(connection)
        };
        let connection = open().map_err(|error| Error::Engine {
            doing: "open idempotency.db".to_owned(),
            message: error.to_string(),
            passing: false,
        })?;
        let running = Arc::default();
        Ok(Idempotency { connection: Arc::new(Mutex::new(connection)), running })
    }

    /// Determines what to do with a request. Waits for the disk.
    pub fn begin(
        &self,
        tenant: i64,
        key: String,
        request: u128,
        is_repeatable: bool,
    ) -> Answer<Next> {
        let name = (tenant, key);
        if !locked(&self.running).insert(name.clone()) {
            return Err(conflict(
                "a request with this Idempotency-Key is in progress; wait for it",
            ));
        }
        let turn = Turn { idempotency: self.clone(), name };
        let key = &turn.name.1;
        let connection = locked(&self.connection);
        let oldest = now() - KEPT_SECONDS;
        connection.execute("DELETE FROM answers WHERE begun < ?1", [oldest]).map_err(failed)?;
        let request = request.to_le_bytes();
        type Row = (Vec<u8>, Option<u16>, Option<String>, Option<Vec<u8>>);
        let found: Option<Row> = connection
            .query_row(
                "SELECT request, status, headers, body FROM answers WHERE tenant = ?1 AND key = ?2",
                params![tenant, key],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)),
            )
            .optional()
            .map_err(failed)?;
        if let Some((seen, status, headers, body)) = found {
            if seen != request {
                return Err(Problem::new(
                    StatusCode::UNPROCESSABLE_ENTITY,
                    "idempotency-key",
                    "this Idempotency-Key was used for another request; use a new one",
                ));
            }
            return match status {
                Some(status) => Ok(Next::Again(answer(status, headers, body))),
                None if is_repeatable => Ok(Next::Do(turn)),
                None => Err(conflict(
                    "a request with this Idempotency-Key was started, and its outcome is unknown; read \
                     the document, and use a new key",
                )),
            };
        }
        let count: i64 = connection
            .query_row("SELECT count(*) FROM answers WHERE tenant = ?1", [tenant], |row| row.get(0))
            .map_err(failed)?;
        if count >= KEPT_MAX {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too-many",
                format!("this tenant used {KEPT_MAX} Idempotency-Keys in a day"),
            ));
        }
        connection
            .execute(
                "INSERT INTO answers (tenant, key, request, begun) VALUES (?1, ?2, ?3, ?4)",
                params![tenant, key, request, now()],
            )
            .map_err(failed)?;
        drop(connection);
        Ok(Next::Do(turn))
    }

    /// Forgets a tenant.
    pub fn forget(&self, tenant: i64) -> Answer<()> {
        let done =
            locked(&self.connection).execute("DELETE FROM answers WHERE tenant = ?1", [tenant]);
        done.map(|_| ()).map_err(failed)
    }
}

impl Turn {
    /// Stores the answer, or nothing if the request may be sent again. Waits for the disk.
    pub fn end(self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Answer<()> {
        let (tenant, key) = &self.name;
        let connection = locked(&self.idempotency.connection);
        // A refusal of the token says nothing about another token of the tenant.
        let passes = status.is_server_error()
            || matches!(
                status,
                StatusCode::TOO_MANY_REQUESTS
                    | StatusCode::REQUEST_TIMEOUT
                    | StatusCode::UNAUTHORIZED
                    | StatusCode::FORBIDDEN
            );
        if passes || body.len() > ANSWER_BYTES_MAX {
            let gone = "DELETE FROM answers WHERE tenant = ?1 AND key = ?2";
            return connection.execute(gone, params![tenant, key]).map(|_| ()).map_err(failed);
        }
        let kept: Vec<(&str, &str)> = HEADERS
            .iter()
            .filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?)))
            .collect();
        let kept = serde_json::to_string(&kept).unwrap_or_default();
        connection
            .execute(
                "UPDATE answers SET status = ?3, headers = ?4, body = ?5 \
                 WHERE tenant = ?1 AND key = ?2",
                params![tenant, key, status.as_u16(), kept, body],
            )
            .map(|_| ())
            .map_err(failed)
    }
}

fn conflict(detail: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, "idempotency-key", detail)
}

fn answer(status: u16, headers: Option<String>, body: Option<Vec<u8>>) -> Response {
    let mut response = Response::new(Body::from(body.unwrap_or_default()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    let kept: Vec<(String, String)> =
        headers.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    for (name, value) in kept {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}
