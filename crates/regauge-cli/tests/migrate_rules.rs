//! `regauge migrate --rules`: what becomes of single classes.

mod common;

use common::Folder;
use rusqlite::Connection;

const JOBS: &str = "sqlite:app.db?table=jobs&column=body";
/// A `Foo` that holds a `Bar`.
const FOO: &[u8] = b"\x04\x08o:\x08Foo\x07:\x0B@itemsi\x06:\x09@baro:\x08Bar\x06:\x07@xi\x07";
const SESSION: &[u8] = b"\x04\x08[\x07i\x06o:\x0CSession\x06:\x07@xi\x06";
const SYMBOLS: &[u8] = b"\x04\x08{\x06:\x08abc:\x08def";
/// `datetime.date(2026, 1, 2)`, and a set in a list.
const DATE: &[u8] = b"\x80\x03cdatetime\ndate\nC\x04\x07\xEA\x01\x02\x85R.";
const SET: &[u8] = b"\x80\x04]\x8F(K\x01\x90a.";
/// An object of a class with `__reduce__`: what it is called with is known, not its fields.
const CALL: &[u8] = b"\x80\x02cshop\nMoney\nK\x0C\x85R.";
const PLAIN: &[u8] = b"\x04\x08[\x06i\x06";

const VALUES: [&[u8]; 7] = [FOO, SESSION, SYMBOLS, DATE, SET, CALL, PLAIN];

fn application(folder: &Folder) -> Connection {
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute_batch("CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB)").unwrap();
    for value in VALUES {
        raw.execute("INSERT INTO jobs (body) VALUES (?1)", [value]).unwrap();
    }
    raw
}

fn bodies(raw: &Connection) -> Vec<Vec<u8>> {
    let mut select = raw.prepare("SELECT body FROM jobs ORDER BY id").unwrap();
    select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// A name with characters that cannot be seen can be copied all the same.
#[test]
fn the_rules_that_are_printed_escape_hidden_characters() {
    let folder = Folder::new();
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute_batch("CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB)").unwrap();
    let job = "\x04\x08oI:\x0BA\u{202E}\x7FC\x06:\x06ET\0";
    raw.execute("INSERT INTO jobs (body) VALUES (?1)", [job.as_bytes()]).unwrap();
    let ran = folder.run(&format!("migrate {JOBS} --to json")).status(3).text();
    let rule = r#""A\U0000202E\U0000007FC" = "fields""#;
    assert!(ran.contains(rule) && !ran.contains('\u{202E}'), "{ran}");
    folder.write("rules.toml", format!("[class]\n{rule}\n"));
    folder.run(&format!("migrate {JOBS} --to json --rules rules.toml")).status(0);
}

#[test]
fn the_dry_run_prints_rules_that_work() {
    let folder = Folder::new();
    let raw = application(&folder);
    let ran = folder.run(&format!("migrate {JOBS} --to json")).status(3).text();
    let (_, printed) = ran.split_once("change what does not fit:\n").unwrap();
    let (printed, _) = printed.split_once("nothing was changed").unwrap();
    assert_eq!(
        printed,
        "[class]\n\
         \"Bar\" = \"fields\"  # 1 value, the first: jobs.body/1\n\
         \"Foo\" = \"fields\"  # 1 value, the first: jobs.body/1\n\
         \"Session\" = \"fields\"  # 1 value, the first: jobs.body/2\n\
         \"Symbol\" = \"text\"  # 1 value, the first: jobs.body/3\n\
         \"datetime.date\" = \"text\"  # 1 value, the first: jobs.body/4\n\
         \"set\" = \"fields\"  # 1 value, the first: jobs.body/5\n\
         \"shop.Money\" = \"stay\"  # 1 value, the first: jobs.body/6\n"
    );
    assert_eq!(bodies(&raw), VALUES);
    folder.write("rules.toml", printed);
    let dry = folder.run(&format!("migrate {JOBS} --to json --rules rules.toml")).silent().text();
    for line in ["would move to JSON: 6 values, ", "stay by a rule: 1 value\n"] {
        assert!(dry.contains(line), "{line}\n{dry}");
    }
    folder
        .run(&format!("migrate {JOBS} --to json --rules rules.toml --apply --journal j"))
        .silent();
    let now = bodies(&raw);
    let expected: [&[u8]; 7] = [
        br#"{"@items":1,"@bar":{"@x":2}}"#,
        br#"[1,{"@x":1}]"#,
        br#"{"abc":"def"}"#,
        br#""2026-01-02""#,
        b"[[1]]",
        CALL,
        b"[1]",
    ];
    for (found, expected) in now.iter().zip(expected) {
        assert_eq!(found.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }
    // A second run has nothing to do for these rules, which is no failure.
    let again = folder
        .run(&format!("migrate {JOBS} --to json --rules rules.toml --apply --journal j"))
        .status(0);
    assert!(
        again.stderr.contains("rules.toml: no value has the class Bar, Foo, "),
        "{}",
        again.stderr
    );
    folder.run(&format!("migrate {JOBS} --undo j")).silent();
    assert_eq!(bodies(&raw), VALUES);
}

#[test]
fn what_was_moved_twice_is_put_back_to_the_later_value() {
    let folder = Folder::new();
    let raw = application(&folder);
    let moves = format!("migrate {JOBS} --to msgpack --objects data --apply --journal j");
    let (symbol, text) =
        (&b"\x04\x08{\x06:\x06ai\x06"[..], &b"\x04\x08{\x06I\"\x06a\x06:\x06ETi\x06"[..]);
    let set = |body: &[u8]| {
        raw.execute("DELETE FROM jobs WHERE id > 1", []).unwrap();
        raw.execute("UPDATE jobs SET body = ?1", [body]).unwrap();
    };
    // Both become the same bytes.
    for body in [symbol, text] {
        set(body);
        folder.run(&moves).silent();
        assert_eq!(bodies(&raw), [b"\x81\xA1a\x01"]);
    }
    folder.run(&format!("migrate {JOBS} --undo j")).silent();
    assert_eq!(bodies(&raw), [text]);
}

/// SQLite stores text that looks like a number as one, in a column whose declared type says so.
#[test]
fn a_column_that_would_convert_the_new_text_keeps_the_old_one() {
    let folder = Folder::new();
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute_batch(
        "CREATE TABLE jobs (id INTEGER PRIMARY KEY, body JSON);
         INSERT INTO jobs (body) VALUES ('L123456789012345678901L' || char(10) || '.'),
           ('F1.0' || char(10) || '.'), ('(lp0' || char(10) || 'I1' || char(10) || 'a.')",
    )
    .unwrap();
    let ran = folder.run(&format!("migrate {JOBS} --to json --apply --journal j")).status(3);
    for line in ["moved to JSON: 1 value", "it stores such a text as a number"] {
        assert!(ran.text().contains(line), "{line}\n{}", ran.text());
    }
    let mut select = raw.prepare("SELECT typeof(body), body FROM jobs ORDER BY id").unwrap();
    let found: Vec<(String, String)> = select
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .and_then(Iterator::collect)
        .unwrap();
    let expected = ["L123456789012345678901L\n.", "F1.0\n.", "[1]"];
    assert_eq!(found, expected.map(|body| ("text".to_owned(), body.to_owned())));
}

#[test]
fn a_rule_is_for_its_class_alone() {
    let folder = Folder::new();
    application(&folder);
    // What is nested in it needs its own, and is named with its path.
    folder.write("rules.json", r#"{"class": {"Foo": "fields", "Session": "stay"}}"#);
    let ran = folder.run(&format!("migrate {JOBS} --to msgpack --rules rules.json")).status(3);
    let text = ran.text();
    for line in [
        "stay by a rule: 1 value\n",
        "cannot move: 5 values\n",
        r#"at $["@bar"]: found a Ruby value of kind object, which MessagePack cannot hold"#,
        "\"Bar\" = \"fields\"",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(!text.contains("\"Foo\""), "{text}");
    // Where a rule does not fit, the value stays with the reason.
    folder.write("rules.toml", "[class]\nFoo = 'text'\nSymbol = 'fields'\n");
    let ran = folder.run(&format!("migrate {JOBS} --to msgpack --rules rules.toml")).status(3);
    for line in [
        "found a map in the class Foo, expected one text, number or time; its rule must be fields or stay",
        "found a value of the class Symbol without fields, expected the rule text or stay",
    ] {
        assert!(ran.text().contains(line), "{line}\n{}", ran.text());
    }
    // The other options hold for the rest.
    folder.write("rules.toml", "[class]\nSession = 'stay'\n");
    let ran = folder
        .run(&format!(
            "migrate {JOBS} --to json --objects data --on-loss approximate --rules rules.toml"
        ))
        .silent();
    assert!(ran.text().contains("would move to JSON: 6 values"), "{}", ran.text());
}

#[test]
fn wrong_rules_are_named() {
    let folder = Folder::new();
    let raw = application(&folder);
    for (rules, status, expected) in [
        (
            "[class]\nFoo = 'feilds'\n",
            1,
            "rules.toml: found the word \"feilds\", expected fields, text or stay as the rule of \"Foo\"",
        ),
        (
            "[class]\nFoo = 'fields'\nSesion = 'stay'\n",
            2,
            "rules.toml: no value has the class \"Sesion\"; the nearest that needs a rule is \"Session\"",
        ),
        (
            "[class]\nInvoice = 'stay'\n",
            2,
            "rules.toml: no value has the class \"Invoice\"; a dry run without --rules lists the classes that need \
             one\n",
        ),
        ("[class]\nFoo = \n", 1, "rules.toml: toml: "),
        ("Foo = 'fields'\n", 1, "expected a table [class] with lines such as"),
    ] {
        folder.write("rules.toml", rules);
        let ran =
            folder.run(&format!("migrate {JOBS} --to msgpack --rules rules.toml")).status(status);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
    let ran = folder.run(&format!("migrate {JOBS} --to msgpack --rules none.toml")).status(2);
    assert!(ran.stderr.contains("cannot read none.toml: No such file"), "{}", ran.stderr);
    assert_eq!(bodies(&raw), VALUES);
}

#[test]
fn classes_that_are_not_listed_are_counted() {
    let folder = Folder::new();
    let raw = Connection::open(folder.path("app.db")).unwrap();
    raw.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY, body BLOB)", []).unwrap();
    for n in 1000..2005 {
        let name = format!("C{n}");
        let body = [&b"\x04\x08o:\x0A"[..], name.as_bytes(), b"\0"].concat();
        raw.execute("INSERT INTO jobs (body) VALUES (?1)", [body]).unwrap();
    }
    let text =
        folder.run("migrate sqlite:app.db?table=jobs&column=body --to msgpack").status(3).text();
    assert!(text.ends_with("# … and 5 more classes\n"), "{}", &text[text.len() - 200..]);
    // What can be done about it are the rules.
    assert!(!text.contains("pass --objects "), "{}", &text[..500]);
}
