//! Databases to test with: always a new SQLite file, and a new part of every server whose URL is
//! given in the environment (`make test-servers` starts servers and sets them).

#![allow(dead_code, reason = "every test file uses a part of it")]

use regauge_store::engine::{self, Engine};

/// The engines that tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
    #[cfg(feature = "mysql")]
    Mysql,
    #[cfg(feature = "mongodb")]
    MongoDb,
    #[cfg(feature = "cassandra")]
    Cassandra,
}

impl Kind {
    /// Its name in `tools/servers.py`.
    pub fn server(self) -> Option<&'static str> {
        match self {
            Kind::Sqlite => None,
            #[cfg(feature = "postgres")]
            Kind::Postgres => Some("postgres"),
            #[cfg(feature = "mysql")]
            Kind::Mysql => Some("mysql"),
            #[cfg(feature = "mongodb")]
            Kind::MongoDb => Some("mongodb"),
            #[cfg(feature = "cassandra")]
            Kind::Cassandra => Some("cassandra"),
        }
    }

    /// Whether we manage its connection, rather than the driver.
    pub fn has_line(self) -> bool {
        !matches!(self.server(), Some("mongodb" | "cassandra"))
    }

    /// Returns the server's URL, if given. Panics if it is missing and `REGAUGE_TEST_REQUIRED`
    /// names the server.
    pub fn base(self) -> Option<String> {
        let server = self.server()?;
        let name = format!("REGAUGE_TEST_{}", server.to_uppercase());
        match std::env::var(&name) {
            Ok(url) if !url.is_empty() => Some(url),
            _ => {
                let required = std::env::var("REGAUGE_TEST_REQUIRED").unwrap_or_default();
                assert!(!required.split(',').any(|one| one == server), "{name} is not set");
                println!("skipped: {name} is not set; `make test-servers` sets it");
                None
            }
        }
    }
}

/// A private database, removed on drop.
pub struct Fresh {
    pub url: String,
    folder: Option<tempfile::TempDir>,
    gone: Option<Box<dyn FnOnce()>>,
}

impl Fresh {
    /// `None` if the server is not available; that is printed.
    pub fn new(kind: Kind) -> Option<Fresh> {
        match kind {
            Kind::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite:{}", folder.path().join("store.db").display());
                Some(Fresh { url, folder: Some(folder), gone: None })
            }
            #[cfg(feature = "postgres")]
            Kind::Postgres => {
                let (base, name) = (kind.base()?, unique());
                let run = move |base: &str, sql: &str| {
                    engine::Postgres::open(base).unwrap().run_sql(sql).unwrap();
                };
                run(&base, &format!("CREATE SCHEMA {name}"));
                let sign = if base.contains('?') { '&' } else { '?' };
                let url = format!("{base}{sign}options=-csearch_path%3D{name}");
                let gone = move || run(&base, &format!("DROP SCHEMA {name} CASCADE"));
                Some(Fresh { url, folder: None, gone: Some(Box::new(gone)) })
            }
            #[cfg(feature = "mysql")]
            Kind::Mysql => {
                let (base, name) = (kind.base()?, unique());
                let run = move |base: &str, sql: &str| {
                    engine::Mysql::open(base).unwrap().run_sql(sql).unwrap();
                };
                run(&base, &format!("CREATE DATABASE {name}"));
                let (server, rest) = base.rsplit_once('/').unwrap();
                let parameters = rest.split_once('?').map_or("", |(_, rest)| rest);
                let url = format!("{server}/{name}?{parameters}");
                let gone = move || run(&base, &format!("DROP DATABASE {name}"));
                Some(Fresh { url, folder: None, gone: Some(Box::new(gone)) })
            }
            #[cfg(feature = "mongodb")]
            Kind::MongoDb => {
                let url = renamed(&kind.base()?);
                let again = url.clone();
                let gone = move || engine::MongoDb::open(&again).unwrap().drop_database().unwrap();
                Some(Fresh { url, folder: None, gone: Some(Box::new(gone)) })
            }
            #[cfg(feature = "cassandra")]
            Kind::Cassandra => {
                let url = renamed(&kind.base()?);
                let again = url.clone();
                let gone =
                    move || engine::Cassandra::open(&again).unwrap().drop_keyspace().unwrap();
                Some(Fresh { url, folder: None, gone: Some(Box::new(gone)) })
            }
        }
    }

    pub fn open(&self) -> Box<dyn Engine> {
        engine::open(&self.url).unwrap()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // A failed test leaves its data for inspection.
        if let (Some(gone), false) = (self.gone.take(), std::thread::panicking()) {
            gone();
        }
    }
}

/// Replaces the database in a URL; the new one is created on first use.
#[cfg(any(feature = "mongodb", feature = "cassandra"))]
fn renamed(base: &str) -> String {
    let (server, rest) = base.rsplit_once('/').unwrap();
    let parameters = rest.split_once('?').map_or("", |(_, rest)| rest);
    format!("{server}/{}?{parameters}", unique())
}

/// Returns a name that no other test uses.
fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("regauge_test_{}_{next}", std::process::id())
}
