//! Tasks that use databases: always on SQLite files, and on every server whose URL is given in the
//! environment (`python3 tools/servers.py run -- cargo test -p regauge-cli --features servers
//! --test task_databases`). Speed is never asserted.

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::Folder;
use serde_json::Value;

/// Keeps a run short.
const SHORT: &str = "--rounds 2 --progress never --json out.json";

/// The servers given to the tests: row name and URL.
fn servers() -> Vec<(&'static str, String)> {
    let known = [
        ("PostgreSQL", "POSTGRES"),
        ("MySQL's protocol", "MYSQL"),
        ("MongoDB's protocol", "MONGODB"),
        ("Cassandra's protocol", "CASSANDRA"),
    ];
    if !cfg!(feature = "servers") {
        return Vec::new();
    }
    let given = |(row, name)| {
        let url = std::env::var(format!("REGAUGE_TEST_{name}")).ok().filter(|url| !url.is_empty());
        if url.is_none() {
            println!("skipped: REGAUGE_TEST_{name} is not set");
        }
        Some((row, url?))
    };
    known.into_iter().filter_map(given).collect()
}

/// Measures a task on every available server, and returns the `--json` output and the messages.
fn measured(folder: &Folder, arguments: &str) -> (Value, String) {
    let urls: Vec<String> = servers().into_iter().map(|(_, url)| url).collect();
    let mut command = folder.command(&format!("measure --full --task {arguments} {SHORT} --force"));
    if !urls.is_empty() {
        command.env("REGAUGE_TASK_DB", urls.join(" "));
    }
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let report = serde_json::from_slice(&folder.read("out.json")).unwrap();
    (report, String::from_utf8(output.stdout).unwrap())
}

fn rows<'r>(report: &'r Value, title: &str) -> &'r [Value] {
    let tables = report["task"]["tables"].as_array().unwrap();
    let table = tables.iter().find(|one| one["title"] == title);
    table.unwrap_or_else(|| panic!("no table {title}"))["rows"].as_array().unwrap()
}

/// Returns the row with this name, whatever version follows it.
fn row<'r>(report: &'r Value, title: &str, label: &str) -> &'r Value {
    let named = |row: &&Value| {
        let name = row["name"].as_str().unwrap();
        name == label || name.starts_with(&format!("{label} · "))
    };
    rows(report, title).iter().find(named).unwrap_or_else(|| panic!("{title}: no row {label}"))
}

/// Returns the figures of a row; `None` for an empty cell.
fn figures(row: &Value) -> Vec<Option<f64>> {
    let cells = row["cells"].as_array().unwrap();
    cells.iter().map(|cell| cell["today"]["median"].as_f64()).collect()
}

fn full(row: &Value) -> Vec<f64> {
    let full: Option<Vec<f64>> = figures(row).into_iter().collect();
    full.unwrap_or_else(|| panic!("not measured: {row}"))
}

/// Rows of servers have figures if the server is available, and otherwise say why not.
fn of_servers(report: &Value, title: &str, row_of: impl Fn(&str) -> Option<String>) {
    let there = servers();
    let protocols =
        ["PostgreSQL", "MySQL's protocol", "MongoDB's protocol", "Cassandra's protocol"];
    for protocol in protocols {
        let Some(label) = row_of(protocol) else { continue };
        let row = row(report, title, &label);
        if there.iter().any(|(one, _)| *one == protocol) {
            assert!(full(row).iter().all(|figure| *figure > 0.0), "{row}");
        } else {
            assert!(figures(row).iter().all(Option::is_none), "{row}");
            let note = row["note"].as_str().unwrap();
            assert!(note.contains("no server was given: ") && note.contains("--db "), "{note}");
        }
    }
}

/// Only one test at a time has data on the servers, so that each can check that its own is gone.
fn alone() -> MutexGuard<'static, ()> {
    static SERVERS: Mutex<()> = Mutex::new(());
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Joins the lines of a text.
fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that nothing created on the servers is left.
fn nothing_is_left() {
    #[cfg(feature = "servers")]
    for (row, url) in servers() {
        use regauge_store::engine;
        let look = "DO $$ BEGIN IF EXISTS (SELECT 1 FROM pg_namespace WHERE nspname LIKE \
                    'regauge_task_%') THEN RAISE EXCEPTION 'a schema is left'; END IF; END $$";
        if row == "PostgreSQL" {
            engine::Postgres::open(&url).unwrap().run_sql(look).unwrap();
        }
    }
}

#[test]
fn objects_in_columns_of_databases() {
    let _alone = alone();
    let folder = Folder::new();
    let (report, text) = measured(&folder, "object-store --records 40");
    let all = "Marshal in databases through regauge's store, 500 objects at a time";
    let binary = full(row(&report, all, "SQLite, binary"));
    let base64 = full(row(&report, all, "SQLite, Base64 in text"));
    // After an envelope, which is also in Base64.
    let share = base64[2] / binary[2];
    assert!((1.30..1.40).contains(&share), "{share}");
    for kind in ["binary", "Base64 in text"] {
        of_servers(&report, all, |protocol| Some(format!("{protocol}, {kind}")));
    }
    let adds = "Base64 in a text column vs binary, by database";
    let sqlite = full(row(&report, adds, "SQLite"));
    assert_eq!(format!("{share:.6}"), format!("{:.6}", sqlite[2]));
    of_servers(&report, adds, |protocol| Some(protocol.to_owned()));
    assert!(in_one_line(&text).contains("databases are timed by the clock"), "{text}");
    // A row names the server that it ran on.
    let name = row(&report, all, "SQLite, binary")["name"].as_str().unwrap();
    assert!(name.contains(" · SQLite 3."), "{name}");
    nothing_is_left();
}

#[test]
fn tenants_in_one_database_and_in_one_each() {
    let _alone = alone();
    let folder = Folder::new();
    let (report, text) = measured(&folder, "tenancy --records 300");
    for what in ["queries", "writes"] {
        let title = format!("100 {what} through regauge's engines, SQLite files");
        for label in [
            "one database",
            "one per tenant, kept open",
            "one per tenant, 256 kept open",
            "one per tenant, opened for each request",
        ] {
            let row = row(&report, &title, label);
            let figures = figures(row);
            assert!(figures[..2].iter().all(Option::is_some), "{row}");
            // There cannot be more tenants than records.
            assert_eq!(figures[2..], [None, None], "{row}");
            let note = row["note"].as_str().unwrap();
            assert!(note.contains("300 records are too few for 1000 tenants"), "{note}");
        }
    }
    let crossings: Vec<&str> =
        report["task"]["crossings"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(crossings.len(), 4, "{crossings:?}");
    for sentence in crossings {
        assert!(sentence.contains(" at 10, ") && sentence.contains(" at 100; "), "{sentence}");
        assert!(in_one_line(&text).contains(sentence), "{text}");
    }
    let parts = |protocol: &str| match protocol {
        "PostgreSQL" => "schema",
        "Cassandra's protocol" => "keyspace",
        _ => "database",
    };
    let title = "100 requests through regauge's engines, servers";
    of_servers(&report, title, |protocol| Some(format!("{protocol}, one for all")));
    of_servers(&report, title, |one| Some(format!("{one}, a {} per tenant", parts(one))));
    let title = "Time on a server with one per tenant, relative to one for all";
    of_servers(&report, title, |one| Some(format!("{one}, a {} per tenant", parts(one))));
    nothing_is_left();
}

#[test]
fn slices_in_databases() {
    if !regauge_testdata::has("ruby", &["--version"]) {
        return;
    }
    let _alone = alone();
    let folder = Folder::new();
    // The sample, and a file of the user's own, which is stored once per item of a batch.
    folder.write("own.yaml", "name: a slice\npoints: [1, 2.5, {state: normal}]\n");
    for arguments in ["time-slice", "time-slice own.yaml"] {
        // The effect of hostile documents on libraries is tested elsewhere.
        let (report, _) =
            measured(&folder, &format!("{arguments} --records 6 --safety off --only msgpack"));
        let all = "A batch of slices in databases, through regauge's store";
        let json = full(row(&report, all, "SQLite, JSON"));
        let msgpack = full(row(&report, all, "SQLite, MessagePack"));
        assert!(json.iter().chain(&msgpack).all(|figure| *figure > 0.0));
        if !arguments.contains("own") {
            // An envelope has 16 bytes.
            assert!((16_300.0..16_550.0).contains(&json[2]), "{json:?}");
            assert!((13_900.0..14_200.0).contains(&msgpack[2]), "{msgpack:?}");
        }
        for kind in ["JSON", "MessagePack"] {
            of_servers(&report, all, |protocol| {
                (protocol == "Cassandra's protocol").then(|| format!("{protocol}, {kind}"))
            });
        }
        let ratios = "JSON vs MessagePack, by database";
        assert_eq!(full(row(&report, ratios, "SQLite")).len(), 3);
    }
    nothing_is_left();
}

#[test]
fn a_server_that_is_not_there_leaves_the_rest() {
    let folder = Folder::new();
    let url = "postgres://nobody:secret@127.0.0.1:1/none";
    let run = format!("measure --task object-store --records 20 {SHORT} --db {url}");
    let ran = folder.run(&run).silent();
    let report: Value = serde_json::from_slice(&folder.read("out.json")).unwrap();
    let all = "Marshal in databases through regauge's store, 500 objects at a time";
    full(row(&report, all, "SQLite, binary"));
    let row = row(&report, all, "PostgreSQL, binary");
    let note = row["note"].as_str().unwrap();
    let expected = if cfg!(feature = "servers") { "connect" } else { "is not compiled in" };
    assert!(note.contains(expected), "{note}");
    // Neither the report nor its command line shows a password.
    assert!(!ran.text().contains("secret") && !report.to_string().contains("secret"), "{report}");
    assert!(report["command"].to_string().contains("postgres:…"), "{}", report["command"]);
}

#[test]
fn urls_that_cannot_be_are_refused_before_anything_is_measured() {
    let folder = Folder::new();
    folder.write("a.json", "[1]");
    for (arguments, expected) in [
        ("--task object-store --db sqlite:a.db", "expected a server URL"),
        (
            "--task object-store --db oracle://user:secret@host/x",
            "begins with \"oracle\", expected",
        ),
        ("--task tenancy --db mysql://a/b --db mysql://user:secret@c/d", "found two of MySQL"),
        ("a.json --db mysql://user:secret@host/d", "--db needs a --task"),
    ] {
        let ran = folder.run(&format!("measure {arguments}")).status(2);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
}
