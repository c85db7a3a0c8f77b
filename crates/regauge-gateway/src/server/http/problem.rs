//! Errors as in RFC 9457: `application/problem+json`, in the core's wording.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use regauge::ErrorKind;
use regauge::hint::Surface;
use regauge_store::Error;
use serde_json::{Map, Value, json};

/// The media type of a problem.
pub const MEDIA: &str = "application/problem+json";

/// A response that says what went wrong, where, and what to do.
#[derive(Debug)]
pub struct Problem(Box<Parts>);

/// Boxed: nearly every function may return a problem, and hardly ever does.
#[derive(Debug)]
struct Parts {
    status: StatusCode,
    kind: &'static str,
    detail: String,
    members: Map<String, Value>,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Details for the log only.
    private: Option<String>,
}

/// The result of a handler.
pub type Answer<T = Response> = Result<T, Problem>;

/// Attached to a response, for the log and the latest errors.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub kind: &'static str,
    pub private: Option<String>,
}

/// What was being done when a store's error occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// A document was read from the store and converted for the client.
    Reading,
    /// A client's document was converted for the store.
    Writing,
}

impl Problem {
    /// Creates a problem of a kind: a word that programs can match on.
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> Problem {
        let (members, headers) = (Map::new(), Vec::new());
        let detail = detail.into();
        Problem(Box::new(Parts { status, kind, detail, members, headers, private: None }))
    }

    /// Adds a member.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Problem {
        self.0.members.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: &str) -> Problem {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.0.headers.push((name, value));
        }
        self
    }

    /// 400: the request is malformed.
    pub fn request(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::BAD_REQUEST, "request", detail)
    }

    /// 404.
    pub fn not_found(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// 401: the same message, whatever is wrong with the token.
    pub fn unauthorized() -> Problem {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "unauthorized",
            "expected one header Authorization: Bearer TOKEN, with a token that is known and has \
             not expired",
        )
        .header(header::WWW_AUTHENTICATE, "Bearer realm=\"regauge\"")
    }

    /// 503: temporarily unavailable.
    pub fn busy(detail: impl Into<String>) -> Problem {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", detail)
            .header(header::RETRY_AFTER, "1")
    }

    /// 500: the reason goes only to the log.
    pub fn internal(reason: impl Into<String>) -> Problem {
        let detail = "the gateway failed; its log has the reason, under the X-Request-Id of this \
                      response";
        let mut problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail);
        problem.0.private = Some(reason.into());
        problem
    }

    /// Converts a store's error. Details about files and databases go only to the log.
    pub fn store(error: Error, doing: Doing) -> Problem {
        let text = error.to_string();
        match error {
            Error::Usage(message) => Problem::request(message),
            Error::Engine { passing: true, .. } => {
                let mut problem = Problem::busy("the database is busy; try again");
                problem.0.private = Some(text);
                problem
            }
            Error::Full { .. } => {
                let mut problem = Problem::new(
                    StatusCode::INSUFFICIENT_STORAGE,
                    "full",
                    "the disk is full; nothing was changed",
                );
                problem.0.private = Some(text);
                problem
            }
            Error::Damaged { key, reason } if doing == Doing::Writing => {
                Problem::new(StatusCode::BAD_REQUEST, "document", reason).with("key", key)
            }
            Error::Damaged { key, .. } => {
                Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", text).with("key", key)
            }
            Error::Exists(message) => Problem::new(StatusCode::CONFLICT, "exists", message),
            Error::Conflict { .. } => Problem::precondition(),
            Error::Document { key, error } => Problem::document(&error, doing).with("key", key),
            _ => Problem::internal(text),
        }
    }

    /// 412.
    pub fn precondition() -> Problem {
        Problem::new(
            StatusCode::PRECONDITION_FAILED,
            "precondition",
            "the document is not the one that the request expects; read it again",
        )
    }

    /// Converts the core's error, with its position.
    pub fn document(error: &regauge::Error, doing: Doing) -> Problem {
        let kind = error.kind();
        let status = match (kind, doing) {
            (ErrorKind::Limit, Doing::Writing) => StatusCode::PAYLOAD_TOO_LARGE,
            (ErrorKind::Truncated | ErrorKind::Syntax, Doing::Writing) => StatusCode::BAD_REQUEST,
            (_, Doing::Writing) => StatusCode::UNPROCESSABLE_ENTITY,
            (ErrorKind::Refused | ErrorKind::Unrepresentable | ErrorKind::Limit, _) => {
                StatusCode::NOT_ACCEPTABLE
            }
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let mut problem =
            Problem::new(status, "document", error.display(&Surface::HTTP).to_string())
                .with("error", kind.name());
        if let Some(offset) = error.offset() {
            problem = problem.with("offset", offset);
        }
        if let Some((line, column)) = error.line_column() {
            problem = problem.with("line", line).with("column", column);
        }
        if let Some(path) = error.path() {
            problem = problem.with("path", path.to_string());
        }
        problem
    }

    /// Returns the problem as JSON.
    pub fn to_json(&self) -> Value {
        let title = self.0.status.canonical_reason().unwrap_or("Error");
        let mut all = Map::new();
        all.insert("type".to_owned(), json!(format!("urn:regauge:problem:{}", self.0.kind)));
        all.insert("title".to_owned(), json!(title));
        all.insert("status".to_owned(), json!(self.0.status.as_u16()));
        all.insert("detail".to_owned(), json!(self.0.detail));
        all.extend(self.0.members.clone());
        Value::Object(all)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.to_json().to_string()));
        let Parts { status, kind, private, headers: extra, .. } = *self.0;
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MEDIA));
        for (name, value) in extra {
            headers.insert(name, value);
        }
        response.extensions_mut().insert(Told { kind, private });
        response
    }
}

/// Converts a store's error from reading.
pub(crate) fn reading(error: regauge_store::Error) -> Problem {
    Problem::store(error, Doing::Reading)
}

/// Converts a store's error from writing.
pub(crate) fn writing(error: regauge_store::Error) -> Problem {
    Problem::store(error, Doing::Writing)
}
