//! The programs of tasks that work on databases: `regauge measure --task object-store --db URL`.
//!
//! The measuring engine has no database drivers, so the command provides these programs: the engine
//! restarts it as a native contender and speaks to it as to any program of a task.

mod objects;
mod part;
mod slices;
mod tenants;

use std::fmt::Display;
use std::io;

use regauge_measure::program::{self, Absent, Cases, Ready};
use regauge_store::engine;

use crate::args::Contender;
use crate::failure::{Failure, Result};

/// The environment variable that replaces `--db`.
pub const GIVEN: &str = "REGAUGE_TASK_DB";
/// Maps the name of a native contender to a program's name, if it is one.
const PREFIX: &str = "program/";

/// What a program does, or a message saying why it cannot.
type Told<T> = std::result::Result<T, String>;

/// An engine with rows in the tables of tasks.
struct Kind {
    /// The prefix of its cases' names. A server that speaks another's protocol appears in that
    /// one's row, under its own name.
    name: &'static str,
    /// The prefix of its URLs.
    schemes: &'static [&'static str],
    /// How to install one.
    install: &'static str,
}

static KINDS: [Kind; 5] = [
    Kind { name: "SQLite", schemes: &["sqlite:"], install: "" },
    Kind {
        name: "PostgreSQL",
        schemes: &["postgres:", "postgresql:"],
        install: "apt-get install postgresql, and --db postgres://USER:PASSWORD@HOST/DATABASE",
    },
    Kind {
        name: "MySQL",
        schemes: &["mysql:"],
        install: "apt-get install mariadb-server, and --db mysql://USER:PASSWORD@HOST/DATABASE",
    },
    Kind {
        name: "MongoDB",
        schemes: &["mongodb:", "mongodb+srv:"],
        install: "MongoDB or FerretDB, and --db mongodb://USER:PASSWORD@HOST/DATABASE",
    },
    Kind {
        name: "Cassandra",
        schemes: &["cassandra:"],
        install: "Cassandra or ScyllaDB, and --db cassandra://HOST/KEYSPACE?replication=1",
    },
];

/// Returns whether the contender of this name is one of these programs.
pub fn is_program(name: &str) -> bool {
    name.starts_with(PREFIX)
}

/// Serves a program to a measurement that runs in another process.
pub fn serve(arguments: &Contender) -> Result {
    let urls = std::env::var(program::DATABASES).unwrap_or_default();
    let urls: Vec<&str> = urls.lines().collect();
    let ready = |told: &Ready| match arguments.name.strip_prefix(PREFIX) {
        Some("object-store") => objects::cases(told, &urls),
        Some("tenancy") => tenants::cases(told, &urls),
        Some("time-slice") => slices::cases(told, &urls),
        _ => Err("there is no such program".to_owned()),
    };
    let (stdin, stdout) = (io::stdin().lock(), io::stdout().lock());
    program::serve(ready, stdin, stdout)
        .map_err(|error| Failure::usage(format!("contender {}: {error}", arguments.name)))
}

/// Checks that these URLs are of servers that tasks know, no two of one kind.
pub fn check(urls: &[String]) -> Result {
    let mut seen = Vec::new();
    for url in urls {
        // A URL may hold a password, so it is not shown.
        let scheme = url.split(':').next().unwrap_or_default();
        if scheme == "sqlite" {
            return Err(Failure::usage(
                "--db: found an SQLite file, expected a server URL; SQLite is always measured, \
                 in the folder for temporary files (TMPDIR)",
            ));
        }
        let Some(kind) = KINDS.iter().find(|kind| kind.takes(url)) else {
            let known: Vec<&str> = KINDS[1..].iter().map(|kind| kind.schemes[0]).collect();
            return Err(Failure::usage(format!(
                "--db: found a URL that begins with \"{scheme}\", expected one of {}",
                known.join(", ")
            )));
        };
        if seen.contains(&kind.name) {
            return Err(Failure::usage(format!(
                "--db: found two of {}, expected one of each engine",
                kind.name
            )));
        }
        seen.push(kind.name);
    }
    Ok(())
}

/// Removes these URLs from a command line: a report shows it, and a URL may hold a password.
pub fn hide(command: &mut [String], urls: &[String]) {
    for url in urls {
        let scheme = url.split(':').next().unwrap_or_default();
        for word in &mut *command {
            *word = word.replace(url.as_str(), &format!("{scheme}:…"));
        }
    }
}

impl Kind {
    fn takes(&self, url: &str) -> bool {
        self.schemes.iter().any(|scheme| url.starts_with(scheme))
    }
}

/// An engine that is available: its kind and location.
struct Place<'p> {
    kind: &'static Kind,
    /// Its URL; for SQLite, that of a folder.
    url: &'p str,
    /// Its own name and version: a server that speaks another's protocol says so here.
    version: String,
}

/// Creates the cases of each available engine; those of `names` whose engine is not available are
/// reported as absent.
fn on_each<'c>(
    told: &Ready,
    urls: &[&str],
    kinds: &[&str],
    names: &[&str],
    mut make: impl FnMut(&Place<'_>) -> Told<Cases<'c>>,
) -> Cases<'c> {
    let mut all = Cases::default();
    let own = format!("sqlite:{}", told.folder.display());
    for kind in KINDS.iter().filter(|kind| kinds.contains(&kind.name)) {
        let given = urls.iter().copied().find(|url| kind.takes(url));
        let made = match (kind.name, given) {
            ("SQLite", _) => {
                let version = engine::open("sqlite::memory:").map(|one| one.name());
                version.map(|version| (own.as_str(), version)).map_err(in_words)
            }
            (_, Some(url)) => {
                engine::open(url).map(|engine| (url, engine.name())).map_err(in_words)
            }
            (_, None) => Err(format!("no server was given: {}", kind.install)),
        };
        match made.and_then(|(url, version)| make(&Place { kind, url, version })) {
            Ok(Cases { cases, absent, .. }) => {
                all.cases.extend(cases);
                all.absent.extend(absent);
            }
            Err(why) => all.absent.extend(
                names.iter().map(|name| Absent::because(format!("{} {name}", kind.name), &why)),
            ),
        }
    }
    all
}

/// Returns the names of all engines.
fn every_kind() -> Vec<&'static str> {
    KINDS.iter().map(|kind| kind.name).collect()
}

fn in_words(error: impl Display) -> String {
    error.to_string()
}
