//! A private database to measure in.

use std::sync::atomic::{AtomicU32, Ordering};

use regauge_store::engine;

use super::{Kind, Place, Told, in_words};

/// A private database: an SQLite file, a PostgreSQL schema, a Cassandra keyspace. Dropping this
/// removes it.
pub(super) struct Part {
    pub url: String,
    gone: Option<Box<dyn FnOnce()>>,
}

impl Part {
    /// Creates it; what is created on first use is only named.
    pub(super) fn make(place: &Place<'_>) -> Told<Part> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        // Must differ from that of another measurement, which may be running.
        let name = format!("regauge_task_{}_{number}", std::process::id());
        match place.kind.name {
            // Its folder is removed with everything in it.
            "SQLite" => Ok(Part { url: format!("{}/{name}.db", place.url), gone: None }),
            _ => on_server(place.kind, place.url, name),
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(gone) = self.gone.take() {
            gone();
        }
    }
}

#[cfg(feature = "servers")]
fn on_server(kind: &Kind, base: &str, name: String) -> Told<Part> {
    // If the server is gone by then, the data stays; there is nobody left to report it to.
    let base = base.to_owned();
    let (url, gone): (String, Box<dyn FnOnce()>) = match kind.name {
        "PostgreSQL" => {
            let made = format!("CREATE SCHEMA {name}");
            let server = engine::Postgres::open(&base).and_then(|one| one.run_sql(&made));
            server.map_err(in_words)?;
            let sign = if base.contains('?') { '&' } else { '?' };
            let url = format!("{base}{sign}options=-csearch_path%3D{name}");
            let gone = move || {
                let dropped = format!("DROP SCHEMA {name} CASCADE");
                let _ = engine::Postgres::open(&base).and_then(|one| one.run_sql(&dropped));
            };
            (url, Box::new(gone))
        }
        "MySQL" => {
            let made = format!("CREATE DATABASE {name}");
            let server = engine::Mysql::open(&base).and_then(|one| one.run_sql(&made));
            server.map_err(in_words)?;
            let url = renamed(&base, &name);
            let gone = move || {
                let dropped = format!("DROP DATABASE {name}");
                let _ = engine::Mysql::open(&base).and_then(|one| one.run_sql(&dropped));
            };
            (url, Box::new(gone))
        }
        "MongoDB" => {
            let url = renamed(&base, &name);
            let again = url.clone();
            let gone = move || {
                let _ = engine::MongoDb::open(&again).and_then(|one| one.drop_database());
            };
            (url, Box::new(gone))
        }
        _ => {
            let url = renamed(&base, &name);
            let again = url.clone();
            let gone = move || {
                let _ = engine::Cassandra::open(&again).and_then(|one| one.drop_keyspace());
            };
            (url, Box::new(gone))
        }
    };
    Ok(Part { url, gone: Some(gone) })
}

/// Explains what a build without drivers lacks.
#[cfg(not(feature = "servers"))]
fn on_server(kind: &Kind, base: &str, _: String) -> Told<Part> {
    let opened = engine::open(base).map_err(in_words);
    opened.and(Err(format!("this build has no driver for {}", kind.name)))
}

/// Replaces the database in a URL.
#[cfg(feature = "servers")]
fn renamed(base: &str, name: &str) -> String {
    let (place, parameters) = match base.split_once('?') {
        Some((place, parameters)) => (place, format!("?{parameters}")),
        None => (base, String::new()),
    };
    // User names and passwords may contain any character, even if they should not.
    let hosts = place.rfind('@').or(place.find("//").map(|at| at + 1)).map_or(0, |at| at + 1);
    let server = place[hosts..].find('/').map_or(place, |at| &place[..hosts + at]);
    format!("{server}/{name}{parameters}")
}

#[cfg(all(test, feature = "servers"))]
mod tests {
    use super::*;

    #[test]
    fn another_database_of_the_same_server() {
        for (base, expected) in [
            ("mysql://u:p@host:3306/base?ssl=/a/b", "mysql://u:p@host:3306/new?ssl=/a/b"),
            ("mongodb://host", "mongodb://host/new"),
            ("mongodb://u:p/q@host", "mongodb://u:p/q@host/new"),
            ("cassandra://a:1,b:2/k?replication=1", "cassandra://a:1,b:2/new?replication=1"),
        ] {
            assert_eq!(renamed(base, "new"), expected);
        }
    }
}
