//! `regauge xray` and `regauge migrate` on dumps. `make test-caches` does the same with servers.

mod common;

use std::path::Path;

use common::Folder;
use serde_json::{Value, json};

/// A file that a framework made.
fn made(path: &str) -> Vec<u8> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    std::fs::read(corpus.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A dump of these keys: version 3, which has no checksum. Keys that end in `!` never expire.
fn dump(keys: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut dump = b"REDIS0003\xFE\0".to_vec();
    for (key, value) in keys {
        if !key.ends_with('!') {
            dump.push(0xFC);
            dump.extend(4_000_000_000_000u64.to_le_bytes());
        }
        dump.push(0);
        for bytes in [key.as_bytes(), value] {
            dump.push(0x80);
            dump.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
            dump.extend(bytes);
        }
    }
    dump.push(0xFF);
    dump
}

fn mixed() -> Vec<u8> {
    let mut keys = Vec::new();
    for n in 0..20 {
        keys.push((format!("views/products/{n}-20261126"), made("rails-7.1.6/7.1-hash.bin")));
        keys.push((format!(":1:session:{n:032x}"), made("django-5.2.19/session-dict.txt")));
        keys.push((format!("user:{n}:cart"), b"\x04\x08o:\x08Foo\x06:\x0B@itemsi\x06".to_vec()));
        keys.push((format!("hits!:{n}!"), format!("{n}").into_bytes()));
    }
    keys.push(("evil".into(), b"cos\nsystem\n(S'id'\ntR.".to_vec()));
    keys.push(("odd".into(), b"\xFE\xFE\x00\xFF\x01".to_vec()));
    dump(&keys)
}

#[test]
fn any_number_of_threads_says_the_same() {
    let folder = Folder::new();
    let mut keys: Vec<_> = (0..9000)
        .map(|n| {
            (format!("views/{n}"), [made("rails-7.1.6/7.1-hash.bin"), vec![b'x'; n % 90]].concat())
        })
        .collect();
    // Longer than a thread is given.
    keys.insert(5000, ("large".into(), format!("[{}0]", "1234,".repeat(300_000)).into_bytes()));
    let mut dump = dump(&keys);
    folder.write("dump.rdb", &dump);
    dump.truncate(dump.len() - 1000);
    folder.write("cut.rdb", &dump);
    let list =
        |options: &str| folder.run(&format!("xray dump.rdb --list {options}")).silent().text();
    let json = |options: &str| folder.run(&format!("xray {options} --json")).text();
    let (lines, report, cut) = (list("-j 1"), json("dump.rdb -j 1"), json("cut.rdb -j 1"));
    assert_eq!(lines.lines().count(), keys.len());
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["all"]["keys"], 9001);
    assert!(serde_json::from_str::<Value>(&cut).unwrap()["all"]["keys"].as_u64().unwrap() > 8900);
    for jobs in ["-j 2", "-j 3"] {
        assert_eq!(list(jobs), lines);
        assert_eq!(json(&format!("dump.rdb {jobs}")), report);
        assert_eq!(json(&format!("cut.rdb {jobs}")), cut);
    }
}

#[test]
fn the_screen_fits_and_names_every_prefix() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    let text = folder.run("xray dump.rdb").silent().text();
    for line in [
        "dump.rdb: RDB 3, 82 keys, 82 values, ",
        "views/products/*",
        ":1:session:*",
        "user:*:cart",
        "hits!:*",
        "never  integer",
        "all  marshal in rails-cache-7.1",
        "all  json in django-signed",
        "in formats that can run code when they are loaded: 41 values (50%)",
        "        1 have classes or calls that are known from attacks",
        "not recognised: 1 value (1%), beginning with fe fe 00 ff (1)",
        "  - evil: 1 value with classes or calls known from attacks (os.system): do not",
        "  - user:*:cart: 20 of 20 values in Ruby Marshal name classes or functions of",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    folder.write(
        "jobs.rdb",
        dump(&[("queue:low".into(), made("activejob-7.1.6/sidekiq-plain.json"))]),
    );
    let jobs = folder.run("xray jobs.rdb").silent().text();
    assert!(jobs.contains("all  json in active-job, sideki…\n"), "{jobs}");
    // From a pipe, and compressed, it is the same.
    let ran = folder.feed("xray -", &mixed()).silent().text();
    assert_eq!(
        ran.split_once(": "),
        text.split_once(": ").map(|(_, rest)| ("standard input", rest))
    );
}

#[test]
fn what_is_found_as_json() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    let report: Value =
        serde_json::from_slice(&folder.run("xray dump.rdb --json").silent().stdout).unwrap();
    assert_eq!(report["all"]["keys"], 82);
    assert_eq!(report["all"]["expiry"]["never"], 20);
    assert_eq!(report["all"]["expiry"]["first"], 4_000_000_000_000u64);
    let rows = report["prefixes"].as_array().unwrap();
    let row = |prefix: &str| rows.iter().find(|row| row["prefix"] == prefix).unwrap();
    let form = &row("views/products/*")["forms"][0];
    assert_eq!(form["envelopes"], json!(["rails-cache-7.1"]));
    assert_eq!((&form["codec"], &form["values"]), (&json!("marshal"), &json!(20)));
    let class = json!({ "Foo": { "values": 20, "judged": "unknown" } });
    assert_eq!(row("user:*:cart")["classes"], class);
    assert_eq!(row("views/products/*")["repeated"]["values"], 19);
    assert_eq!(report["advice"][0]["topic"], "attack");
    let only: Value = serde_json::from_slice(
        &folder.run("xray dump.rdb --json --prefix user: --one-in 2").silent().stdout,
    )
    .unwrap();
    assert_eq!((&only["all"]["keys"], &only["one_in"]), (&json!(10), &json!(2)));
    let counted: Value =
        serde_json::from_slice(&folder.run("xray dump.rdb --json --no-values").silent().stdout)
            .unwrap();
    assert_eq!(counted["all"]["keys"], 82);
    assert_eq!(counted["all"]["forms"], json!([]));
}

#[test]
fn a_page_that_works_offline() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    let text = folder.run("xray dump.rdb").silent().text();
    let ran = folder.run("xray dump.rdb --out page.html").silent().text();
    assert_eq!(ran, format!("{text}\nPage: page.html\n"));
    let page = folder.text("page.html");
    for part in ["<!DOCTYPE html>", "views/<wbr>products/<wbr>*", "Do not load", "Rails.cache 7.1"]
    {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "an address of a server");
    let ran = folder.run("xray dump.rdb --out page.html").status(2);
    assert!(ran.stderr.contains("already exists and was kept; pass --force"), "{}", ran.stderr);
    // On standard output it takes the place of the screen.
    let alone = folder.run("xray dump.rdb --out - --prefix user:").silent().text();
    assert!(alone.starts_with("<!DOCTYPE html>") && alone.ends_with("</html>"), "{alone}");
    let ran = folder.run("xray dump.rdb --out - --json").status(2);
    assert!(ran.stderr.contains("both write to standard output"), "{}", ran.stderr);
    // Sampled, with nothing in it, and damaged.
    folder.run("xray dump.rdb --out page.html --force --one-in 2").silent();
    assert!(folder.text("page.html").contains("One key in 2 was looked at."));
    folder.write("empty.rdb", dump(&[]));
    folder.run("xray empty.rdb --out empty.html").silent();
    assert!(folder.text("empty.html").contains("There are no keys."));
    let whole = mixed();
    folder.write("cut.rdb", &whole[..whole.len() / 2]);
    folder.run("xray cut.rdb --out cut.html").status(1);
    assert!(folder.text("cut.html").contains("Not read to its end."));
    folder.run("xray missing.rdb --out none.html").status(2);
    assert!(!folder.names().contains(&"none.html".to_owned()));
}

/// Nothing is asserted of the times: runtimes and libraries may be missing, and machines are busy.
#[test]
fn only_plain_data_is_timed() {
    let folder = Folder::new();
    let evil = b"cos\nsystem\n(S'touch ran'\ntR.".to_vec();
    let foo = b"\x04\x08o:\x08Foo\x06:\x0B@itemsi\x06".to_vec();
    let mut keys = vec![("evil:1".to_owned(), evil), ("cart:1".into(), foo)];
    for n in 0..3 {
        keys.push((
            format!("list:{n}"),
            format!("{{\"id\": {n}, \"list\": [1, 2.5]}}").into_bytes(),
        ));
    }
    folder.write("dump.rdb", dump(&keys));
    let ran = folder.run("xray dump.rdb --time --json --progress never").silent();
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let readings = report["reading"].as_array().unwrap();
    let names: Vec<_> = readings.iter().map(|one| (&one["format"], &one["runtime"])).collect();
    let expected =
        [("marshal", "Ruby"), ("pickle", "Python"), ("json", "Ruby"), ("json", "Python")];
    assert_eq!(names, expected.map(|(f, r)| (json!(f), json!(r))).each_ref().map(|(f, r)| (f, r)));
    for one in &readings[..2] {
        assert_eq!(
            (&one["not_timed"], &one["values"]),
            (&json!("no prefix has only plain data in its sample"), &json!(0))
        );
    }
    for one in &readings[2..] {
        assert!(one["not_timed"].is_string() || one["values"] == 3, "{one}");
        assert!(one["now"].is_null() || one["now"]["us_per_read"].as_f64().unwrap() > 0.0, "{one}");
    }
    assert_eq!(folder.names(), ["dump.rdb"], "the command in the pickle did not run");
    folder.run("xray dump.rdb --time --no-values").status(2);
}

#[test]
fn nothing_is_claimed_of_runtimes_that_are_missing() {
    let folder = Folder::new();
    let list = b"\x04\x08[\x07i\x06i\x07".to_vec();
    folder.write(
        "dump.rdb",
        dump(&(0..9).map(|n| (format!("a:{n}"), list.clone())).collect::<Vec<_>>()),
    );
    let mut command = folder.command("xray dump.rdb --time");
    command.env("PATH", "").env("HOME", folder.path("")).env_remove("XDG_DATA_HOME");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Ruby Marshal in Ruby: not timed: Ruby or its libraries are not installed"),
        "{text}"
    );
    assert!(
        text.contains("plain data in Ruby Marshal") && !text.contains("Ruby reads it"),
        "{text}"
    );
}

#[test]
fn a_line_for_each_value() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    let text = folder.run("xray dump.rdb --list").silent().text();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 82);
    let evil = lines.iter().find(|line| line["key"] == "evil").unwrap();
    assert_eq!(
        (&evil["codec"], &evil["classes"], &evil["loading"]),
        (&json!("pickle"), &json!(["os.system"]), &json!("attack"))
    );
    assert_eq!(evil["expires_at"], 4_000_000_000_000u64);
}

#[test]
fn samples_are_kept_without_their_envelopes() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    folder.run("xray dump.rdb --prefix views/ --save sample").status(0);
    let again = folder.run("xray dump.rdb --prefix views/ --save sample").status(2);
    assert_eq!(again.stderr, "regauge: sample: has files in it, expected a new folder\n");
    let kept = folder.path("sample/marshal");
    let first = std::fs::read_dir(kept).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(first).unwrap()[..2], *b"\x04\x08");
}

#[test]
fn what_is_no_dump_and_what_is_damaged() {
    let folder = Folder::new();
    folder.write("a.json", "{}");
    let ran = folder.run("xray a.json").status(1);
    assert!(
        ran.stderr
            .starts_with("regauge: a.json: found a file that begins with `{}`, expected a dump"),
        "{}",
        ran.stderr
    );
    folder.run("xray missing.rdb").status(2);
    std::fs::create_dir(folder.path("folder")).unwrap();
    folder.run("xray folder").status(2);
    let whole = mixed();
    folder.write("cut.rdb", &whole[..whole.len() / 2]);
    let ran = folder.run("xray cut.rdb").status(1);
    assert!(ran.text().starts_with("cut.rdb: 4"), "{}", ran.text());
    assert!(ran.text().contains("not read to its end"), "{}", ran.text());
    assert!(ran.stderr.contains("byte "), "{}", ran.stderr);
}

#[test]
fn a_bound_on_the_load_needs_a_server_that_tells_it() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    for source in ["dump.rdb", "memcached://localhost:1", "sqlite:a.db?table=t&column=c"] {
        for command in ["xray", "migrate --to msgpack"] {
            let ran = folder.run(&format!("{command} {source} --max-load 50")).status(2);
            let wanted = "found --max-load, expected a running Redis or Valkey";
            assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
        }
    }
    folder.run("xray redis://localhost:1 --max-load 0").status(2);
}

#[test]
fn a_dry_run_says_what_would_move() {
    let folder = Folder::new();
    folder.write("dump.rdb", mixed());
    let text = folder.run("migrate dump.rdb --to msgpack --objects data").silent().text();
    for line in [
        "would move to MessagePack: 41 values, ",
        "neither Marshal nor pickle: 41 values\n",
        "nothing was changed; --apply --journal FILE moves them\n",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let ran = folder.run("migrate dump.rdb --to msgpack --prefix user:").status(3);
    for line in ["cannot move: 20 values\n", "(the first: user:0:cart)\n"] {
        assert!(ran.text().contains(line), "{line}\n{}", ran.text());
    }
    assert_eq!(ran.stderr, "regauge: dump.rdb: found 20 values that cannot move to MessagePack\n");
    folder.run("migrate dump.rdb --to msgpack --prefix hits").silent();
    let ran = folder.run("migrate dump.rdb --to pickle").status(2);
    assert!(ran.stderr.contains("can run code as well; pass msgpack"), "{}", ran.stderr);
    let ran = folder.run("migrate dump.rdb --to msgpack --apply --journal j").status(2);
    assert!(ran.stderr.contains("a dump cannot be changed"), "{}", ran.stderr);
    assert!(!folder.names().contains(&"j".to_owned()));
}
