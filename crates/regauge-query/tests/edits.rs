//! Filters over files that are edited in place: what is changed, and that nothing else is.

use regauge::edit::edit;
use regauge::{Error, ErrorKind, Format, Options, Result, Value, read_values};
use regauge_query::Filter;
use regauge_testdata::Random;

fn options(format: Format) -> Options {
    let mut options = Options::new(format, format);
    options.json_read.comments = true;
    options.json_read.trailing_commas = true;
    options
}

/// Edits a text with a filter; the text itself if nothing changes.
fn edited_with(options: &Options, filter: &str, text: &str) -> Result<String> {
    let filter = Filter::compile(filter, &[]).unwrap_or_else(|fault| panic!("{filter}: {fault}"));
    let mut change = |document: &Value| {
        let mut outputs = filter.run(document)?;
        outputs.pop().ok_or_else(|| Error::new(ErrorKind::Data, "no output"))
    };
    let edited = edit(text.as_bytes(), options, &mut change)?;
    Ok(edited.map_or_else(|| text.to_owned(), |bytes| String::from_utf8(bytes).unwrap()))
}

/// Checks what a filter makes of a text, with every kind of line break.
#[track_caller]
fn check(format: Format, filter: &str, before: &str, after: &str) {
    let edited = |text: &str| {
        edited_with(&options(format), filter, text)
            .unwrap_or_else(|error| panic!("{filter}: {error}"))
    };
    assert_eq!(edited(before), after, "{filter}");
    let crlf = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(edited(&crlf(before)), crlf(after), "{filter}, with CRLF");
    let marked = |text: &str| format!("\u{FEFF}{text}");
    assert_eq!(edited(&marked(before)), marked(after), "{filter}, with a byte order mark");
    let (open, end) = (before.trim_end_matches('\n'), after.trim_end_matches('\n'));
    if format != Format::Yaml || !before.contains(['|', '>']) {
        assert_eq!(edited(open), end, "{filter}, without the last line break");
    }
}

#[track_caller]
fn refused(format: Format, filter: &str, text: &str, wanted: &str) {
    match edited_with(&options(format), filter, text) {
        Ok(edited) => panic!("{filter} made\n{edited}"),
        Err(error) => assert!(error.to_string().contains(wanted), "{filter}: {error}"),
    }
}

const SERVICE: &str = "\
# Who we are
name: web   # short
version: \"1\"
port:   80

# Where we run
hosts:
  - a
  # the spare
  - 'b'   # slow
env: {debug: true, level: 3}
limits:
  # in MB
  memory: 512

  cpu: 2 # cores
";

#[test]
fn yaml_scalars_are_replaced() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(SERVICE.contains(from), "{from}");
        check(Format::Yaml, filter, SERVICE, &SERVICE.replace(from, to));
    };
    change(".", "web", "web");
    change(".version = \"2\"", "\"1\"", "\"2\"");
    change(".port = 8080", "80", "8080");
    change(".name |= ascii_upcase", "web", "WEB");
    change(".name = \"true\"", "web ", "'true' ");
    change(".hosts[1] = \"it's\"", "'b'", "'it''s'");
    change(".env.level += 1", "level: 3", "level: 4");
    change(".env.level = [1, \"a,b\"]", "level: 3", "level: [1, \"a,b\"]");
    change(".limits.cpu = null", "2 #", "null #");
    change(".limits.cpu = []", "2 #", "[] #");
    change(
        ".version = \"2\" | .hosts[0] = 1 | .env.debug = false",
        "\"1\"\nport:   80\n\n# Where we run\nhosts:\n  - a\n  # the spare\n  - 'b'   # slow\nenv: {debug: true",
        "\"2\"\nport:   80\n\n# Where we run\nhosts:\n  - 1\n  # the spare\n  - 'b'   # slow\nenv: {debug: false",
    );
}

#[test]
fn yaml_entries_come_and_go() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(SERVICE.contains(from), "{from}");
        check(Format::Yaml, filter, SERVICE, &SERVICE.replace(from, to));
    };
    change("del(.port)", "port:   80\n", "");
    change("del(.hosts[1])", "  # the spare\n  - 'b'   # slow\n", "");
    change("del(.hosts)", "# Where we run\nhosts:\n  - a\n  # the spare\n  - 'b'   # slow\n", "");
    change("del(.env.debug)", "debug: true, ", "");
    change("del(.env.level)", ", level: 3", "");
    change("del(.env[])", "{debug: true, level: 3}", "{}");
    change("del(.limits[])", "limits:\n  # in MB\n  memory: 512\n\n  cpu: 2 # cores", "limits: {}");
    change("del(.name, .version)", "name: web   # short\nversion: \"1\"\n", "");
    change(".hosts += [\"c\", \"d\"]", "slow\n", "slow\n  - 'c'\n  - 'd'\n");
    change(".hosts |= [\"z\"] + .", "  - a\n", "  - z\n  - a\n");
    change(".env.x = \"z\"", "level: 3", "level: 3, x: z");
    change(
        ".limits.disk = {size: 1, unit: \"GB\"}",
        "cores\n",
        "cores\n  disk:\n    size: 1\n    unit: GB\n",
    );
    change(
        ".tags = [\"a\", {b: 1, c: [2]}]",
        "cores\n",
        "cores\ntags:\n  - a\n  - b: 1\n    c:\n      - 2\n",
    );
    change(".limits = 5", "limits:\n  # in MB\n  memory: 512\n\n  cpu: 2 # cores", "limits: 5");
    change(".port = {http: 80}", "port:   80\n", "port:\n  http: 80\n");
    change(".name = [1]", "name: web   # short\n", "name:   # short\n  - 1\n");
    change(".port = \"a\\nb\\n\"", "port:   80\n", "port:   |\n  a\n  b\n");
}

#[test]
fn yaml_items_that_are_maps() {
    let text = "\
- name: a  # first
  # the port of a
  port: 1
-   name: b
    port: 2

- name: c
";
    let change = |filter: &str, after: &str| check(Format::Yaml, filter, text, after);
    change("del(.[0].name)", &text.replace("- name: a  # first\n", "-\n"));
    change("del(.[1].name)", &text.replace("name: b\n    ", ""));
    change("del(.[1])", &text.replace("-   name: b\n    port: 2\n", ""));
    change(".[2].port = 3", &text.replace("name: c\n", "name: c\n  port: 3\n"));
    change(".[1] = 5", &text.replace("-   name: b\n    port: 2", "-   5"));
    change(
        "map(select(.name != \"a\") | .port = 0)",
        "-   name: b\n    port: 0\n\n- name: c\n  port: 0\n",
    );
    change(". + [{name: \"d\", tags: []}]", &format!("{text}- name: d\n  tags: []\n"));
    change(".[0] |= {x: 1} + .", &text.replace("- name: a", "- x: 1\n  name: a"));
}

#[test]
fn yaml_documents_are_edited_on_their_own() {
    let text = "# one\na: 1\n---\n# two\na: 2\nb: |\n  text\n  more\n\n# after\nc: >-\n  x\n...\n---\n- a\n";
    let change = |filter: &str, from: &str, to: &str| {
        check(Format::Yaml, filter, text, &text.replace(from, to));
    };
    change(
        "if type == \"object\" then .a += 10 else . end",
        "a: 1\n---\n# two\na: 2",
        "a: 11\n---\n# two\na: 12",
    );
    change("if (.b? // false) then .b = \"x\" else . end", "|\n  text\n  more\n", "x\n");
    change("if (.b? // false) then .b = \"x\\ny\\n\" else . end", "text\n  more", "x\n  y");
    change("if (.b? // false) then del(.b) else . end", "b: |\n  text\n  more\n", "");
    change("if (.c? // false) then .d = 1 else . end", "  x\n", "  x\nd: 1\n");
    change("if type == \"array\" then . + [1] else . end", "- a\n", "- a\n- 1\n");
}

#[test]
fn yaml_anchors_and_tags() {
    let text = "base: &base\n  x: 1\n  y: 2\nother: *base\nmore:\n  <<: *base\n  z: &z 3\nlist: [*z, !t 5]\n";
    let change = |filter: &str, from: &str, to: &str| {
        check(Format::Yaml, filter, text, &text.replace(from, to));
    };
    change(".more.k = 1", "z: &z 3\n", "z: &z 3\n  k: 1\n");
    change(".other = 5", "*base\nmore", "5\nmore");
    change(".list[0] = 4", "[*z", "[4");
    change(".more.z = 7 | .list[0] = 7", "&z 3", "&z 7");
    change("(.base.x, .other.x, .more.\"<<\".x) = 9", "x: 1", "x: 9");
    change("del(.list[1])", ", !t 5", "");
    refused(Format::Yaml, ".base.x = 9", text, "at $.other.x: cannot be changed in place");
    refused(
        Format::Yaml,
        ".other.x = 9",
        text,
        "at $.other: cannot be changed in place: it is an alias",
    );
    refused(Format::Yaml, ".more.z = 9", text, "at $.list[0]");
    refused(Format::Yaml, "del(.base)", text, "the edited text would not be read");
    let mut old = options(Format::Yaml);
    old.yaml.schema = regauge::yaml::Schema::Yaml11;
    let edited = |filter| edited_with(&old, filter, text);
    assert_eq!(edited(".more.z = 3.5 | .list[0] = 3.5").unwrap(), text.replace("&z 3", "&z 3.5"));
    assert!(edited(".more.x = 5").is_err());
    assert!(edited("del(.more.x)").unwrap_err().to_string().contains("merge key"));
}

#[test]
fn yaml_that_cannot_be_edited_is_refused() {
    for (filter, text, wanted) in [
        (".a = 1", "? a\n: b\nc: 1\n", ""),
        (
            "to_entries | reverse | from_entries",
            "a: 1\nb: 2\n",
            "its keys would stand in another order",
        ),
        (".x = 1", "--- {}\n", ""),
        (".b = 2", "a: !!set {one, two}\nb: 1\n", "have no place of their own"),
        (".a.b = 1", "a: !!map\n", ""),
        ("del(.[0])", "- - 1\n  - 2\n- 3\n", ""),
    ] {
        // If it is not refused, it is right: the edited text was read again.
        if let Err(error) = edited_with(&options(Format::Yaml), filter, text) {
            assert!(error.to_string().contains(wanted), "{filter}: {error}");
        } else {
            assert_eq!(wanted, "", "{filter}");
        }
    }
    refused(Format::Csv, ".", "a,b\n", "CSV cannot be changed in place");
}

const MANIFEST: &str = "\
# The package
[package]
name = \"demo\"
version = '0.1.0' # the next is 0.2
keywords = [\"a\", \"b\"]
metadata.docs = true

[dependencies]
serde = { version = \"1\", features = [\"derive\"] }
# for times
time = \"0.3\"

# the program
[[bin]]
name = \"one\"
path = \"src/one.rs\"

[[bin]]
name = \"two\"

[profile.release]
lto = \"fat\"
";

#[test]
fn toml_values_are_replaced() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(MANIFEST.contains(from), "{from}");
        check(Format::Toml, filter, MANIFEST, &MANIFEST.replace(from, to));
    };
    change(".", "demo", "demo");
    change(".package.version = \"0.2.0\"", "'0.1.0'", "'0.2.0'");
    change(".package.metadata.docs = false", "docs = true", "docs = false");
    change(".dependencies.serde.version = \"2\"", "\"1\"", "\"2\"");
    change(".dependencies.serde.features += [\"rc\"]", "[\"derive\"]", "[\"derive\", \"rc\"]");
    change(
        ".dependencies.time = {version: \"0.3\"}",
        "time = \"0.3\"",
        "time = { version = \"0.3\" }",
    );
    change(".bin[1].name = \"2\"", "\"two\"", "\"2\"");
    change(".profile.release.lto = true", "\"fat\"", "true");
}

#[test]
fn toml_entries_come_and_go() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(MANIFEST.contains(from), "{from}");
        check(Format::Toml, filter, MANIFEST, &MANIFEST.replace(from, to));
    };
    change("del(.dependencies.time)", "# for times\ntime = \"0.3\"\n", "");
    change("del(.package.keywords[0])", "\"a\", ", "");
    change("del(.package.metadata)", "metadata.docs = true\n", "");
    change("del(.dependencies.serde.features)", ", features = [\"derive\"]", "");
    change("del(.bin[0])", "# the program\n[[bin]]\nname = \"one\"\npath = \"src/one.rs\"\n\n", "");
    change("del(.profile)", "\n[profile.release]\nlto = \"fat\"\n", "");
    change(
        "del(.dependencies)",
        "[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\n# for times\ntime = \"0.3\"\n\n",
        "",
    );
    change(".package.edition = \"2024\"", "docs = true\n", "docs = true\nedition = \"2024\"\n");
    change(
        ".dependencies.log = {version: \"1\"}",
        "time = \"0.3\"\n",
        "time = \"0.3\"\nlog = { version = \"1\" }\n",
    );
    change(".profile.dev = {debug: 1}", "\"fat\"\n", "\"fat\"\n\n[profile.dev]\ndebug = 1\n");
    change(".bin += [{name: \"three\"}]", "\"two\"\n", "\"two\"\n\n[[bin]]\nname = \"three\"\n");
    change(".bin[0].test = false", "one.rs\"\n", "one.rs\"\ntest = false\n");
    change(".top = 1", "# The package\n[pack", "# The package\ntop = 1\n\n[pack");
    change(".profile.x = 1", "\n[profile.release]", "\n[profile]\nx = 1\n\n[profile.release]");
    change("del(.profile.release)", "[profile.release]\nlto = \"fat\"", "[profile]");
    let bins = "# the program\n[[bin]]\nname = \"one\"\npath = \"src/one.rs\"\n\n[[bin]]\nname = \"two\"\n\n";
    let without = MANIFEST.replace(bins, "");
    let top = "# The package\n";
    let after = without.replace(top, "# The package\nbin = []\n\n");
    check(Format::Toml, ".bin = []", MANIFEST, &after);
    change(".lib = {path: \"x\"}", "\"fat\"\n", "\"fat\"\n\n[lib]\npath = \"x\"\n");
}

#[test]
fn toml_that_cannot_be_edited_is_refused() {
    refused(
        Format::Toml,
        ".package.metadata.more = 1",
        MANIFEST,
        "at $.package.metadata.more: cannot be changed in place: the table around it is made by dotted keys",
    );
    refused(Format::Toml, ".bin += [1]", MANIFEST, "at $.bin");
    refused(
        Format::Toml,
        ".package.name = null",
        MANIFEST,
        "at $.package.name: cannot be changed in place: found null, which TOML cannot hold",
    );
    refused(Format::Toml, "[.]", MANIFEST, "TOML holds one table");
    refused(
        Format::Toml,
        ".a.b.d = 1",
        "a = { b.c = 1 }\n",
        "keys of several parts stand in braces here",
    );
}

const CONFIG: &str = "\
{
    // the strictness
    \"strict\": true, /* always */
    \"lib\": [\"dom\", \"es2020\"],
    \"paths\": {
        \"a\": [1],
        // the other
        \"b\": {\"c\": null}
    }
}
";

#[test]
fn json_values_are_replaced() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(CONFIG.contains(from), "{from}");
        check(Format::Json, filter, CONFIG, &CONFIG.replace(from, to));
    };
    change(".", "true", "true");
    change(".strict = false", "true", "false");
    change(".lib[1] = \"es\\u0007 \\\"x\\\"\"", "\"es2020\"", "\"es\\u0007 \\\"x\\\"\"");
    change(".paths.b.c = [1, {d: 2}]", "null", "[1, {\"d\": 2}]");
    change(".lib = {x: [1]}", "[\"dom\", \"es2020\"]", "{\"x\": [1]}");
    change(".strict = {x: [1]}", "true,", "{\n        \"x\": [\n            1\n        ]\n    },");
    change(".lib |= . + [1]", "\"es2020\"]", "\"es2020\", 1]");
}

#[test]
fn json_entries_come_and_go() {
    let change = |filter: &str, from: &str, to: &str| {
        assert!(CONFIG.contains(from), "{from}");
        check(Format::Json, filter, CONFIG, &CONFIG.replace(from, to));
    };
    change("del(.strict)", "    // the strictness\n    \"strict\": true, /* always */\n", "");
    change("del(.paths.b)", "[1],\n        // the other\n        \"b\": {\"c\": null}", "[1]");
    change("del(.paths.a)", "        \"a\": [1],\n", "");
    change(
        "del(.paths)",
        "],\n    \"paths\": {\n        \"a\": [1],\n        // the other\n        \"b\": {\"c\": null}\n    }",
        "]",
    );
    change("del(.lib[0])", "\"dom\", ", "");
    change("del(.lib[1])", ", \"es2020\"", "");
    change("del(.lib[])", "[\"dom\", \"es2020\"]", "[]");
    change(
        ".paths.d = {x: 1}",
        "null}\n",
        "null},\n        \"d\": {\n            \"x\": 1\n        }\n",
    );
    change(".paths |= {z: 0} + .", "        \"a\"", "        \"z\": 0,\n        \"a\"");
    change(".end = 1", "    }\n}", "    },\n    \"end\": 1\n}");
    change(
        "del(.paths.b) | .paths.x = 2",
        "        // the other\n        \"b\": {\"c\": null}",
        "        \"x\": 2",
    );
    check(Format::Json, ".c = 1 | del(.a)", "{\"a\":1,\"b\":2}\n", "{\"b\":2,\"c\":1}\n");
    check(Format::Json, ".b = [1, {}]", "{\"a\": 1, \"b\": 2}\n", "{\"a\": 1, \"b\": [1, {}]}\n");
    check(
        Format::Json,
        ".[2] = 3",
        "[\n  1, // one\n  2 // two\n]\n",
        "[\n  1, // one\n  2, // two\n  3\n]\n",
    );
    check(Format::Json, ".[2] = 3", "[\n  1,\n  2,\n]\n", "[\n  1,\n  2,\n  3,\n]\n");
    check(Format::Json, ".a += 1", "{\"a\":1} {\"a\":2}\n", "{\"a\":2} {\"a\":3}\n");
    check(Format::Ndjson, ".a += 1", "{\"a\":1}\n\n{\"a\": 2}\n", "{\"a\":2}\n\n{\"a\": 3}\n");
    check(
        Format::Ndjson,
        ".b = {c: [1]}",
        "{\"a\":1}\n{\"b\":2}\n",
        "{\"a\":1,\"b\":{\"c\":[1]}}\n{\"b\":{\"c\":[1]}}\n",
    );
}

#[test]
fn broken_and_empty_texts_are_errors_or_stay() {
    let of = |format, text: &str| edited_with(&options(format), ".", text);
    assert_eq!(of(Format::Yaml, "# nothing\n").unwrap(), "# nothing\n");
    assert_eq!(of(Format::Toml, "").unwrap(), "");
    assert_eq!(edited_with(&options(Format::Toml), ".a = 1", "").unwrap(), "a = 1\n");
    assert_eq!(edited_with(&options(Format::Toml), ".a = 1", "# x\n").unwrap(), "# x\na = 1\n");
    assert!(of(Format::Json, "{\"a\":").is_err());
    assert!(of(Format::Yaml, "a: [").is_err());
    refused(Format::Yaml, ".a = 1", "---\n", "the document is empty");
}

/// Values that need quotes, lines or care.
const VALUES: [&str; 16] = [
    "1",
    "-2.5",
    "true",
    "\"\"",
    "\"a\"",
    "\"a: b\"",
    "\"- x\"",
    "\"# no\"",
    "\"x #y\"",
    "\"it's\"",
    "\"two\\nlines\\n\"",
    "\"q\\\"\\\\\"",
    "[]",
    "{}",
    "[1, [\"a\", {}]]",
    "{\"k\": {\"l\": [1, 2]}, \"m\": \"n\"}",
];

/// Lines of YAML, with comments and blank lines, below a column.
fn random_yaml(random: &mut Random, column: usize, depth: usize, text: &mut String) {
    let is_map = random.below(3) > 0;
    let flows = [
        "[1, 'b', {c: d}]",
        "{a: 1, b: [2, 3]}",
        "[]",
        "{ x: \"y\" }",
        "[\n                1, # one\n                2\n                ]",
    ];
    let scalars =
        ["1", "text", "'single'", "\"double\"", "null", "", "a # c", "two\n            words"];
    for entry in 0..1 + random.below(4) {
        if random.below(4) == 0 {
            *text += random.of(&["\n", "# far\n", "\n\n"]);
        }
        if random.below(4) == 0 {
            *text += &format!("{}# near\n", " ".repeat(column));
        }
        *text += &" ".repeat(column);
        *text += &if is_map { format!("k{entry}:") } else { "-".to_owned() };
        match random.below(if depth > 0 { 5 } else { 3 }) {
            0 => *text += &format!(" {}\n", random.of(&flows)),
            1 => *text += &format!(" |\n{0}  block\n{0}   # text\n", " ".repeat(column)),
            3 if !is_map => {
                let start = text.len();
                random_yaml(random, column + 2, depth - 1, text);
                let inner = text.split_off(start);
                // On the line of the dash, if nothing stands above.
                let is_first = inner.starts_with(' ') && !inner.trim_start().starts_with('#');
                *text += &if is_first {
                    format!(" {}", inner.trim_start())
                } else {
                    format!("\n{inner}")
                };
            }
            3 | 4 => {
                *text += random.of(&["\n", " # here\n"]);
                random_yaml(random, column + 2, depth - 1, text);
            }
            _ => *text += &format!(" {}\n", random.of(&scalars)),
        }
    }
}

/// Returns a filter that sets, adds or removes something in a document.
fn random_filter(random: &mut Random) -> String {
    let value = random.of(&VALUES);
    let pick = format!("([paths] | if . == [] then [] else .[{} % length] end)", random.below(50));
    match random.below(5) {
        0 => format!("{pick} as $p | if $p == [] then . else delpaths([$p]) end"),
        1 => format!("{pick} as $p | setpath($p; {value})"),
        2 => format!("if type == \"object\" then .new = {value} else . + [{value}] end"),
        3 => format!("(.. | arrays) |= . + [{value}]"),
        _ => format!("(.. | objects) |= . + {{new: {value}}}"),
    }
}

/// Edits random documents. Whatever is not refused must read as the filter says, keep what it does not
/// touch, and be left alone the second time.
fn random_edits(format: Format, seeds: u64, make: fn(&mut Random) -> String) -> (usize, usize) {
    let (mut done, mut refusals) = (0, 0);
    for seed in 1..=seeds {
        let mut random = Random::new(seed);
        let text = make(&mut random);
        let options = options(format);
        let old = read_values(text.as_bytes(), &options);
        let old = old.unwrap_or_else(|error| panic!("{seed}: {error}\n{text}")).remove(0);
        let code = random_filter(&mut random);
        let filter = Filter::compile(&code, &[]).unwrap();
        let wanted = filter.run(&old).unwrap().remove(0);
        match edited_with(&options, &code, &text) {
            Ok(edited) => {
                let got = read_values(edited.as_bytes(), &options).unwrap().remove(0);
                assert_eq!(sorted(&got), sorted(&wanted), "{seed}: {code}\n{text}\n{edited}");
                assert_eq!(edited_with(&options, ".", &edited).unwrap(), edited);
                // Comments about other things are still there: those that no change can remove.
                let count = |text: &str| text.matches("# far").count();
                if code.starts_with("if type") {
                    assert_eq!(count(&text), count(&edited), "{seed}: {code}\n{text}\n{edited}");
                    let kept = |line: &&str| line.trim_start().starts_with('#');
                    for line in text.lines().filter(kept) {
                        assert!(edited.contains(line), "{seed}: {code}\n{text}\n{edited}");
                    }
                }
                done += 1;
            }
            Err(error) => {
                assert!(error.kind() == ErrorKind::Refused, "{seed}: {code}: {error}\n{text}");
                if std::env::var_os("SHOW").is_some() {
                    eprintln!("{seed}: {code}: {error}\n{text}----");
                }
                refusals += 1;
            }
        }
    }
    (done, refusals)
}

/// Returns the value with its keys in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(values) => Value::Array(values.iter().map(sorted).collect()),
        Value::Map(pairs) => {
            let mut pairs: Vec<_> = pairs.iter().map(|(k, v)| (k.clone(), sorted(v))).collect();
            pairs.sort_by_key(|(key, _)| key.to_string());
            Value::Map(pairs)
        }
        other => other.clone(),
    }
}

#[test]
fn random_yaml_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        random_yaml(random, 0, 3, &mut text);
        text
    };
    let (done, refusals) = random_edits(Format::Yaml, 1000, make);
    assert!(done > 10 * refusals, "{done} edited, {refusals} refused");
}

#[test]
fn random_json_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        random_yaml(random, 0, 3, &mut text);
        let options = options(Format::Yaml);
        let value = read_values(text.as_bytes(), &options).unwrap().remove(0);
        let mut json = Options::new(Format::Json, Format::Json);
        json.json_write.indent = [None, Some(2), Some(4)][random.below(3)];
        let (bytes, _) = regauge::write_values(&[value], &json).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        if random.below(2) == 0 { text.replace(",\n", ", // note\n") } else { text }
    };
    let (_, refusals) = random_edits(Format::Json, 1000, make);
    assert_eq!(refusals, 0);
}

#[test]
fn random_toml_is_edited() {
    let make = |random: &mut Random| {
        let mut text = String::new();
        let values = [
            "1",
            "'a'",
            "\"b\" # c",
            "[1, 2]",
            "[\n  1, # one\n  2,\n]",
            "{ a = 1, b = [] }",
            "\"\"\"\nx\n\"\"\"",
        ];
        let headers = ["", "[a]", "[a.b]", "[[c]]", "[[c]]", "[c.d]", "[e.f.g]"];
        for (at, header) in headers.iter().enumerate() {
            if at > 0 {
                text += random.of(&["\n", "", "\n# far\n\n", "\n# about it\n"]);
                text += &format!("{header}\n");
            }
            for key in 0..random.below(4) {
                text += random.of(&["", "", "# near\n", "\n"]);
                text += &format!("k{key} = {}\n", random.of(&values));
            }
        }
        text
    };
    let (done, refusals) = random_edits(Format::Toml, 1000, make);
    assert!(done > refusals, "{done} edited, {refusals} refused");
}
