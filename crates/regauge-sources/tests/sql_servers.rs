//! A column of a table in PostgreSQL, and in MySQL or MariaDB.

#![cfg(all(feature = "postgres", feature = "mysql"))]

mod caches;

use caches::{read, url};
use regauge::ErrorKind;
use regauge_sources::sql::{Access, Sql};
use regauge_sources::{At, Flow, Replaced, Source, Wanted};
use regauge_store::engine::{Mysql, Postgres};

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Postgres,
    Mysql,
}

/// A server, with tables whose names begin with those of a test.
struct Server {
    kind: Kind,
    base: String,
}

fn servers() -> Vec<Server> {
    [(Kind::Postgres, "postgres"), (Kind::Mysql, "mysql")]
        .into_iter()
        .filter_map(|(kind, name)| Some(Server { kind, base: url(name, "")? }))
        .collect()
}

impl Server {
    /// Runs a statement for each kind of server.
    fn run(&self, postgres: &str, mysql: &str) {
        match self.kind {
            Kind::Postgres => Postgres::open(&self.base).unwrap().run_sql(postgres).unwrap(),
            Kind::Mysql => {
                let server = Mysql::open(&self.base).unwrap();
                mysql
                    .split(";\n")
                    .filter(|sql| !sql.trim().is_empty())
                    .for_each(|sql| server.run_sql(sql).unwrap());
            }
        }
    }

    fn url(&self, parameters: &str) -> String {
        let sign = if self.base.contains('?') { '&' } else { '?' };
        format!("{}{sign}{parameters}", self.base)
    }

    fn open(&self, parameters: &str) -> Sql {
        Sql::open(&self.url(parameters), Access::Write).unwrap()
    }

    fn lines(&self, parameters: &str) -> Vec<String> {
        let mut source = Sql::open(&self.url(parameters), Access::Read).unwrap();
        let (lines, summary) = read(&mut source, &Wanted::default());
        assert!(summary.unwrap().is_whole);
        lines
    }

    fn refused(&self, parameters: &str) -> String {
        let error = Sql::open(&self.url(parameters), Access::Read).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        error.to_string()
    }
}

fn replace(source: &mut Sql, key: &str, old: &[u8], new: &[u8]) -> regauge::Result<Replaced> {
    source.replace_if_unchanged(&At { database: 0, key: key.as_bytes(), part: None }, old, new)
}

#[test]
fn values_come_with_the_keys_of_their_rows() {
    for server in servers() {
        server.run(
            "DROP TABLE IF EXISTS sql_read;
             CREATE TABLE sql_read (id bigint PRIMARY KEY, b bytea, t text, u uuid UNIQUE, y bytea UNIQUE);
             INSERT INTO sql_read VALUES
               (10, '\\x0408', 'a', '6e1a7b5c-0000-4000-8000-000000000001', '\\xff00'),
               (9, '\\x', 'é\"', '6e1a7b5c-0000-4000-8000-000000000002', '\\x61'),
               (-1, NULL, NULL, '6e1a7b5c-0000-4000-8000-000000000003', '\\x')",
            "DROP TABLE IF EXISTS sql_read;\n
             CREATE TABLE sql_read (id bigint PRIMARY KEY, b longblob, t text CHARACTER SET latin1,
               u char(36) UNIQUE, y varbinary(16) UNIQUE);\n
             INSERT INTO sql_read VALUES
               (10, x'0408', 'a', '6e1a7b5c-0000-4000-8000-000000000001', x'ff00'),
               (9, x'', 'é\"', '6e1a7b5c-0000-4000-8000-000000000002', x'61'),
               (-1, NULL, NULL, '6e1a7b5c-0000-4000-8000-000000000003', x'')",
        );
        let expected = ["string sql_read.b/10 - \\x04\\x08", "string sql_read.b/9 - "];
        assert_eq!(server.lines("table=sql_read&column=b"), expected);
        let expected = ["string sql_read.t/10 - a", "string sql_read.t/9 - \\xc3\\xa9\\\""];
        assert_eq!(server.lines("table=sql_read&column=t"), expected);
        let expected = [
            "string sql_read.b/6e1a7b5c-0000-4000-8000-000000000001 - \\x04\\x08",
            "string sql_read.b/6e1a7b5c-0000-4000-8000-000000000002 - ",
        ];
        assert_eq!(server.lines("table=sql_read&column=b&key=u"), expected);
        assert_eq!(
            server.lines("table=sql_read&column=b&key=y"),
            ["string sql_read.b/61 - ", "string sql_read.b/ff00 - \\x04\\x08"]
        );
        let mut found = Vec::new();
        let summary = server
            .open("table=sql_read&column=t")
            .read(&Wanted { values: false, ..Wanted::default() }, &mut |item| {
                found.push((item.key.to_vec(), item.is_text));
                Ok(Flow::Continue)
            })
            .unwrap();
        assert_eq!(found, [(b"sql_read.t/9".to_vec(), true), (b"sql_read.t/10".to_vec(), true)]);
        let title = summary.title;
        assert!(title.contains("SQL ") || title.starts_with("MariaDB "), "{title}");
        assert!(title.ends_with(", t of sql_read"), "{title}");
    }
}

#[test]
fn every_row_comes_once_whatever_the_collation_and_the_pages() {
    for server in servers() {
        server.run(
            "DROP TABLE IF EXISTS sql_pages;
             CREATE TABLE sql_pages (k varchar(40) PRIMARY KEY, v bytea);
             INSERT INTO sql_pages SELECT CASE WHEN n % 2 = 0 THEN 'Key ' ELSE 'key-' END || n,
               convert_to(repeat('x', n % 20000), 'UTF8') FROM generate_series(1, 1700) n",
            "DROP TABLE IF EXISTS sql_pages;\n
             CREATE TABLE sql_pages (k varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci PRIMARY KEY,
               v longblob);\n
             INSERT INTO sql_pages WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 900)
               SELECT CONCAT(IF(n % 2 = 0, 'Key ', 'key-'), n), REPEAT('x', n) FROM n;\n
             INSERT INTO sql_pages WITH RECURSIVE n(n) AS (SELECT 901 UNION ALL SELECT n + 1 FROM n WHERE n < 1700)
               SELECT CONCAT(IF(n % 2 = 0, 'Key ', 'key-'), n), REPEAT('x', n * 11) FROM n",
        );
        let mut keys = Vec::new();
        let summary = server
            .open("table=sql_pages&column=v")
            .read(&Wanted::default(), &mut |item| {
                keys.push(item.key.to_vec());
                assert_eq!(item.value.unwrap().len() as u64, item.bytes);
                Ok(Flow::Continue)
            })
            .unwrap();
        assert_eq!((summary.keys, summary.vanished), (1700, 0));
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 1700);
    }
}

#[test]
fn a_value_is_replaced_only_if_it_is_still_the_old_one() {
    for server in servers() {
        server.run(
            "DROP TABLE IF EXISTS sql_swap;
             CREATE TABLE sql_swap (id int PRIMARY KEY, b bytea, t varchar(20), n int DEFAULT 7);
             INSERT INTO sql_swap VALUES (1, '\\x04085b00', 'Text é'), (2, NULL, NULL)",
            "DROP TABLE IF EXISTS sql_swap;\n
             CREATE TABLE sql_swap (id int PRIMARY KEY, b blob, t varchar(20) CHARACTER SET latin1, n int DEFAULT 7);\n
             INSERT INTO sql_swap VALUES (1, x'04085b00', 'Text é', 7), (2, NULL, NULL, 7)",
        );
        let mut bytes = server.open("table=sql_swap&column=b");
        let mut outcome =
            |key: &str, old: &[u8], new: &[u8]| replace(&mut bytes, key, old, new).unwrap();
        assert_eq!(outcome("sql_swap.b/1", b"\x04\x08[\0", b"\x90\xff'\0"), Replaced::Done);
        assert_eq!(outcome("sql_swap.b/1", b"\x04\x08[\0", b"x"), Replaced::Changed);
        assert_eq!(outcome("sql_swap.b/2", b"", b"x"), Replaced::Gone);
        assert_eq!(outcome("sql_swap.b/3", b"", b"x"), Replaced::Gone);
        // The same bytes again are a replacement too.
        assert_eq!(outcome("sql_swap.b/1", b"\x90\xff'\0", b"\x90\xff'\0"), Replaced::Done);
        assert_eq!(
            server.lines("table=sql_swap&column=b"),
            ["string sql_swap.b/1 - \\x90\\xff\\'\\x00"]
        );

        let mut texts = server.open("table=sql_swap&column=t");
        let old = "Text é".as_bytes();
        assert_eq!(
            replace(&mut texts, "sql_swap.t/1", b"text \xC3\xA9", b"x").unwrap(),
            Replaced::Changed
        );
        assert_eq!(
            replace(&mut texts, "sql_swap.t/1", b"Text e", b"x").unwrap(),
            Replaced::Changed
        );
        for unfit in [&b"\x90\xff"[..], b"text that is longer than twenty"] {
            let error = replace(&mut texts, "sql_swap.t/1", old, unfit).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}");
        }
        if server.kind == Kind::Mysql {
            // Latin 1 has no such character.
            let error =
                replace(&mut texts, "sql_swap.t/1", old, "\u{1F600}".as_bytes()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unrepresentable, "{error}");
        }
        assert_eq!(
            replace(&mut texts, "sql_swap.t/1", old, "[\"é\"]".as_bytes()).unwrap(),
            Replaced::Done
        );
        assert_eq!(
            server.lines("table=sql_swap&column=t"),
            ["string sql_swap.t/1 - [\\\"\\xc3\\xa9\\\"]"]
        );
        assert!(replace(&mut texts, "sql_swap.t/one", old, b"x").is_err());
    }
}

#[test]
fn what_was_opened_to_read_cannot_write() {
    for server in servers() {
        server.run(
            "DROP TABLE IF EXISTS sql_only;
             CREATE TABLE sql_only (id int PRIMARY KEY, b bytea); INSERT INTO sql_only VALUES (1, 'a')",
            "DROP TABLE IF EXISTS sql_only;\n
             CREATE TABLE sql_only (id int PRIMARY KEY, b blob);\n
             INSERT INTO sql_only VALUES (1, 'a')",
        );
        let mut source = Sql::open(&server.url("table=sql_only&column=b"), Access::Read).unwrap();
        let error = replace(&mut source, "sql_only.b/1", b"a", b"b").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("the database is read-only"), "{error}");
        assert_eq!(server.lines("table=sql_only&column=b"), ["string sql_only.b/1 - a"]);
    }
}

#[test]
fn hostile_names_are_names() {
    for server in servers() {
        server.run(
            "DROP TABLE IF EXISTS \"a \"\"b'`; DROP TABLE x;--é\";
             CREATE TABLE \"a \"\"b'`; DROP TABLE x;--é\" (\"k $1\" text PRIMARY KEY, \"c?1\" bytea);
             INSERT INTO \"a \"\"b'`; DROP TABLE x;--é\" VALUES ('k''1', '\\x00')",
            "DROP TABLE IF EXISTS `a \"b'``; DROP TABLE x;--é`;\n
             CREATE TABLE `a \"b'``; DROP TABLE x;--é` (`k $1` varchar(9) PRIMARY KEY, `c?1` blob);\n
             INSERT INTO `a \"b'``; DROP TABLE x;--é` VALUES ('k''1', x'00')",
        );
        let parameters = "table=a%20%22b'%60%3B%20DROP%20TABLE%20x%3B--%C3%A9&column=c%3F1";
        let mut source = server.open(parameters);
        let key = "a \"b'`; DROP TABLE x;--é.c?1/k'1";
        assert_eq!(replace(&mut source, key, b"\0", b"\x01").unwrap(), Replaced::Done);
        assert!(server.lines(parameters)[0].ends_with("c?1/k\\'1 - \\x01"));
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    for server in servers() {
        server.run(
            "DROP VIEW IF EXISTS sql_view; DROP TABLE IF EXISTS sql_bad, sql_pairs;
             CREATE TABLE sql_bad (id int PRIMARY KEY, v bytea, n int, k text UNIQUE);
             INSERT INTO sql_bad VALUES (1, 'a', 1, NULL);
             CREATE TABLE sql_pairs (a int, b int, v bytea, PRIMARY KEY (a, b));
             CREATE VIEW sql_view AS SELECT * FROM sql_bad",
            "DROP VIEW IF EXISTS sql_view;\n DROP TABLE IF EXISTS sql_bad, sql_pairs;\n
             CREATE TABLE sql_bad (id int PRIMARY KEY, v blob, n int, k varchar(9) UNIQUE);\n
             INSERT INTO sql_bad VALUES (1, 'a', 1, NULL);\n
             CREATE TABLE sql_pairs (a int, b int, v blob, PRIMARY KEY (a, b));\n
             CREATE VIEW sql_view AS SELECT * FROM sql_bad",
        );
        for (parameters, expected) in [
            ("table=sql_none&column=v", "found no table sql_none; the database has "),
            ("table=sql_bad&column=data", "table sql_bad has no column data, but id, v, n, k"),
            ("table=sql_bad&column=v&key=x", "table sql_bad has no column x, but id, v, n, k"),
            ("table=sql_bad&column=v&key=n", "column n is not unique"),
            ("table=sql_bad&column=v&key=k", "found rows in which the key k is null"),
            ("table=sql_bad&column=n", "column n is of type int"),
            ("table=sql_pairs&column=v", "several columns (a, b)"),
            ("table=sql_view&column=v", "found sql_view, which is a view"),
        ] {
            let told = server.refused(parameters);
            assert!(told.contains(expected), "{told}");
        }
        let gone = server.url("table=sql_bad&column=v").replace("127.0.0.1:", "127.0.0.1:1");
        let error = Sql::open(&gone, Access::Read).err().unwrap();
        assert!(!error.to_string().contains("regauge:regauge"), "{error}");
    }
}
