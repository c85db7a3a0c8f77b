//! YAML.

use regauge::Format;

use crate::{check, edited_with, options, refused};

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
fn comments_stay_in_their_places_when_items_move() {
    let list = |items: [&str; 3]| {
        format!(
            "list:\n  - {}   # first\n  # the second\n  - {}\n  - {}\n",
            items[0], items[1], items[2]
        )
    };
    let was = list(["one", "two", "three"]);
    check(Format::Yaml, ".list |= reverse", &was, &list(["three", "two", "one"]));
    check(Format::Yaml, ".list |= sort", &was, &list(["one", "three", "two"]));
    // What is gone takes its comment along.
    let left = "list:\n  # the second\n  - two\n  - three\n";
    check(Format::Yaml, "del(.list[0])", &was, left);
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

#[test]
fn a_tag_that_stands_there_is_not_written_twice() {
    let was = "at: !!timestamp 2026-01-01T00:00:00Z # then\nb: !!binary AQID\nc: [!!binary AQID]\n";
    check(Format::Yaml, ".at += 60", was, &was.replace("00:00Z", "01:00Z"));
    check(Format::Yaml, ".b |= .[1:]", was, &was.replace("b: !!binary AQID", "b: !!binary AgM="));
    check(Format::Yaml, ".c[0] |= .[1:]", was, &was.replace("[!!binary AQID", "[!!binary AgM="));
}

#[test]
fn a_block_scalar_at_the_end_keeps_its_line_break() {
    let edited = |filter: &str, text: &str| {
        edited_with(&options(Format::Yaml), filter, text).unwrap_or_else(|error| panic!("{error}"))
    };
    let set = ".a = \"l1\\nl2\\n\"";
    assert_eq!(edited(set, "a: 1"), "a: |\n  l1\n  l2\n");
    assert_eq!(edited(set, "a: |-\n  x"), "a: |\n  l1\n  l2\n");
    assert_eq!(edited(set, "a: |\n  x"), "a: |\n  l1\n  l2\n");
    assert_eq!(edited(set, "b: 1"), "b: 1\na: |\n  l1\n  l2\n");
    assert_eq!(edited(set, "a: 1\r\nb: 2"), "a: |\r\n  l1\r\n  l2\r\nb: 2");
    assert_eq!(edited(".a = \"l1\\nl2\"", "a: 1"), "a: |-\n  l1\n  l2");
    // One that stays is as it was.
    assert_eq!(edited(".a = 2", "a: 1\nb: |\n  x"), "a: 2\nb: |\n  x");
}

#[test]
fn separators_between_brackets_are_quoted() {
    let was = "svc: {url: x, n: 1}\n";
    let change = |filter: &str, to: &str| check(Format::Yaml, filter, was, to);
    change(".svc.url = \"h/p?q=1\"", "svc: {url: \"h/p?q=1\", n: 1}\n");
    change(".svc.url = \"http://h\"", "svc: {url: \"http://h\", n: 1}\n");
    change(".svc.\"a,b\" = 2", "svc: {url: x, n: 1, \"a,b\": 2}\n");
    change(".url = \"h/p?q=1\"", "svc: {url: x, n: 1}\nurl: h/p?q=1\n");
}

#[test]
fn lines_below_a_dash_with_several_spaces_begin_in_its_column() {
    let was = "-   a\n-   z\n";
    check(Format::Yaml, ".[0] = {k: 1, l: 2}", was, "-   k: 1\n    l: 2\n-   z\n");
    check(Format::Yaml, ".[1] = {k: [1]}", was, "-   a\n-   k:\n    - 1\n");
    check(Format::Yaml, ".[1] = [1, [2, 3]]", was, "-   a\n-   - 1\n    - - 2\n      - 3\n");
    check(Format::Yaml, ".[0] = \"b\\nc\"", was, "-   |-\n  b\n  c\n-   z\n");
}

#[test]
fn the_first_pair_on_the_line_of_a_dash_is_replaced() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Yaml, filter, from, to);
    change(".[0] |= {c: 9} + del(.a)", "- a: 1\n  b: 2\n", "- c: 9\n  b: 2\n");
    change(
        ".[0] |= {c: 9, d: 8} + del(.a)",
        "-   a: 1\n    b: 2\n",
        "-   c: 9\n    d: 8\n    b: 2\n",
    );
    change(".[0] |= {c: 9} + del(.a)", "- a: 1\n  # two\n  b: 2\n", "-\n  c: 9\n  # two\n  b: 2\n");
}

#[test]
fn lines_of_text_are_no_comments() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Yaml, filter, from, to);
    change("del(.a[1])", "a: [\n  \"x\n  # y\",\n  z\n  ]\n", "a: [\n  \"x\n  # y\"\n  ]\n");
    change("del(.b)", "a: |\n  # x\n# about b\nb: 1\nc: 2\n", "a: |\n  # x\nc: 2\n");
}

#[test]
fn yaml_keys_are_renamed() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Yaml, filter, from, to);
    let env = "with_entries(if .key == \"env\" then .key = \"environment\" else . end)";
    let was = "a: 1\n# about env\nenv: # inner\n  # debug\n  x: \"1\" # one\n  y:   0x10\nb: 2\n";
    change(env, was, &was.replace("env:", "environment:"));
    change(env, "env : 1 # one\n", "environment : 1 # one\n");
    change(env, "\"env\": 1\n'b': 2\n", "\"environment\": 1\n'b': 2\n");
    change(env, "{a: 1, env: 0x10}\n", "{a: 1, environment: 0x10}\n");
    change(env, "{\"env\":0x10,\"b\":1}\n", "{\"environment\":0x10,\"b\":1}\n");
    change(env, "env: &e [0x1]\nb: *e\n", "environment: &e [0x1]\nb: *e\n");
    change(env, "&k env: 0x1\n", "&k environment: 0x1\n");
    let to = |key: &str| format!("with_entries(if .key == \"a\" then .key = \"{key}\" else . end)");
    change(&to("x: y"), "a: 0x10\n", "'x: y': 0x10\n");
    change(&to("no"), "a: 0x10\n", "'no': 0x10\n");
    change(&to("x?"), "{a: 0x10}\n", "{\"x?\": 0x10}\n");
    let items = "map(with_entries(if .key == \"a\" then .key = \"c\" else . end))";
    change(items, "- a: 0x1 # one\n  b: 2\n", "- c: 0x1 # one\n  b: 2\n");
    // All of them, in their order.
    let all = "with_entries(.key |= ascii_upcase)";
    change(all, "a: 0x1 # one\nb: 0x2\n", "A: 0x1 # one\nB: 0x2\n");
    // One that stands elsewhere, or has another value, is a new one.
    change(".c = .a | del(.a)", "a: 0x1\nb: 2\n", "b: 2\nc: 1\n");
    change("{c: 5, b}", "a: 0x1\nb: 0x2\n", "c: 5\nb: 0x2\n");
}

#[test]
fn yaml_brackets_keep_their_comments() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Yaml, filter, from, to);
    change(".a = [\"x\"]", "a: [\n  # y\n  ]\n", "a: [\n  # y\n  x\n  ]\n");
    change(".a.k = 1", "a: { # y\n  }\nb: 1\n", "a: { # y\n  k: 1\n  }\nb: 1\n");
    change(".a = [1]", "a: [ ]\n", "a: [1]\n");
    change(".[0].a += [1]", "- a: [ # y\n    ]\n", "- a: [ # y\n    1\n    ]\n");
    change(".a += [1]", "a: [\n# y\n  ]\n", "a: [\n# y\n  1\n  ]\n");
}
