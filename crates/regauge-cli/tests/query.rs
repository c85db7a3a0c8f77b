//! `regauge query` and `convert --filter` from the outside.

mod common;

use common::{Folder, lines, marc};

const PEOPLE: &str = "{\"id\":1,\"name\":\"Ada\",\"state\":\"NY\"}\n\
                      {\"id\":2,\"name\":\"Bob\",\"state\":\"CA\"}\n\
                      {\"id\":3,\"name\":\"Cy\",\"state\":\"NY\"}\n";

/// Runs `query` with a filter, which may contain blanks, before other arguments.
fn query(folder: &Folder, filter: &str, arguments: &str) -> common::Ran {
    folder.write("filter.jq", filter);
    folder.run(&format!("query --from-file filter.jq {arguments}"))
}

#[test]
fn ten_filters_on_ten_formats() {
    let folder = Folder::new();
    folder.write("people.ndjson", PEOPLE);
    for to in ["bson", "msgpack", "cbor", "yaml", "marshal", "pickle"] {
        folder.run(&format!("convert people.ndjson people.{to}")).silent();
    }
    folder.write("one.json", r#"{"items": [{"price": 5}, {"price": 20, "n": [1, 2]}]}"#);
    folder.write("one.toml", "[server]\nports = [80, 443]\nsince = 2026-11-25T12:00:00Z\n");
    folder.write("books.mrc", [marc("a1", "First"), marc("b2", "Second")].concat());
    let ny = "select(.state == \"NY\") | {id, name}";
    for (file, filter, wanted) in [
        ("people.ndjson", ny, "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":3,\"name\":\"Cy\"}\n"),
        ("people.bson", ny, "{\"id\":1,\"name\":\"Ada\"}\n{\"id\":3,\"name\":\"Cy\"}\n"),
        ("people.msgpack", ".name | length", "3\n3\n2\n"),
        ("people.cbor", "[.id, .state]", "[1,\"NY\"]\n[2,\"CA\"]\n[3,\"NY\"]\n"),
        ("people.yaml", "del(.state) | .id += 10 | .id", "11\n12\n13\n"),
        (
            "people.marshal",
            "to_entries | map(.key) | join(\",\")",
            "\"id,name,state\"\n\"id,name,state\"\n\"id,name,state\"\n",
        ),
        ("people.pickle", "select(.id > 2) | .name | ascii_upcase", "\"CY\"\n"),
        ("one.json", ".items[] | select(.price > 10) | .n | add", "3\n"),
        (
            "one.toml",
            ".server | (.ports | max), (.since | kind, seconds)",
            "443\n\"timestamp\"\n1795608000\n",
        ),
        (
            "books.mrc",
            ".fields[] | .\"245\"? // empty | .subfields[0].a",
            "\"First\"\n\"Second\"\n",
        ),
    ] {
        let ran = query(&folder, filter, file).silent();
        assert_eq!(ran.text(), wanted, "{file}: {filter}");
    }
}

#[test]
fn a_file_of_json_is_one_document() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"b":[1,2],"c":{"d":3}}"#);
    assert_eq!(folder.run("query .b[] in.json").silent().text(), "1\n2\n");
    folder.run("query .c in.json one.json").silent();
    assert_eq!(folder.read("one.json"), b"{\"d\":3}\n");
    let ran = folder.run("query .b[] in.json two.json").status(3);
    assert!(
        ran.stderr.contains("found a second document, expected one in a JSON file"),
        "{}",
        ran.stderr
    );
    assert!(!folder.path("two.json").exists());
    folder.run("query .b[] in.json two.ndjson").silent();
    assert_eq!(folder.read("two.ndjson"), b"1\n2\n");
    folder.run("query --documents join .b[] in.json both.json").silent();
    assert_eq!(folder.read("both.json"), b"[1,2]\n");
    folder.run("query --only .c.d . in.json only.json").silent();
    assert_eq!(folder.read("only.json"), b"{\"c\":{\"d\":3}}\n");
    let ran = folder.run("query .c in.json one.json two.json").status(2);
    assert!(ran.stderr.contains("found a third file, two.json: query reads one"), "{}", ran.stderr);
    folder.write("bad.yaml", "a: 1\n---\na: x\n");
    let ran = folder.run("query --bad skip .a+1 bad.yaml").status(0);
    assert!(!ran.stderr.contains("no effect"), "{}", ran.stderr);
    assert_eq!(ran.text(), "2\n");
}

#[test]
fn the_flags_of_jq() {
    let folder = Folder::new();
    folder.write("people.ndjson", PEOPLE);
    for (arguments, wanted) in [
        ("-r .name people.ndjson", "Ada\nBob\nCy\n"),
        ("-s map(.id)|add people.ndjson", "6\n"),
        ("-n [inputs.id] people.ndjson", "[1,2,3]\n"),
        ("-n 1+2", "3\n"),
        ("[.id,input.id,input.id] people.ndjson", "[1,2,3]\n"),
        ("--arg who Bob select(.name==$who).id people.ndjson", "2\n"),
        ("--argjson n 2 select(.id>$n).id people.ndjson", "3\n"),
        ("--arg a b -n $ARGS.named", "{\"a\":\"b\"}\n"),
        ("-S -n {b:1,a:{d:1,c:2}}", "{\"a\":{\"c\":2,\"d\":1},\"b\":1}\n"),
        ("-n {b:1,a:2} --pretty", "{\n  \"b\": 1,\n  \"a\": 2\n}\n"),
        ("-c -n [1,2]", "[1,2]\n"),
        ("-n 1,{a:2},[] --pretty", "1\n{\n  \"a\": 2\n}\n[]\n"),
        (".id people.ndjson --to yaml", "1\n---\n2\n---\n3\n"),
        ("-n -r {a:\"x\"},\"y\\n{\",[\"z\"]", "{\"a\":\"x\"}\ny\n{\n[\"z\"]\n"),
    ] {
        let ran = folder.run(&format!("query {arguments}")).silent();
        assert_eq!(ran.text(), wanted, "{arguments}");
    }
    let ran = folder.run("query [.id,input.id] people.ndjson").status(1);
    assert!(ran.stderr.contains("the filter failed: No more inputs"), "{}", ran.stderr);
    let ran = folder.feed("query .a", b"{\"a\":1} {\"a\":2}\n{\n\"a\":3}").silent();
    assert_eq!(ran.text(), "1\n2\n3\n");
}

#[test]
fn the_exit_status_tells_the_last_output() {
    let folder = Folder::new();
    folder.write("people.ndjson", PEOPLE);
    for (filter, status) in [(".id>2", 0), (".id<2", 1), ("empty", 4), ("null", 1)] {
        folder.run(&format!("query -e {filter} people.ndjson")).status(status);
    }
    folder.run("query .id<2 people.ndjson").status(0);
}

#[test]
fn a_filter_that_does_not_parse_shows_the_place() {
    let folder = Folder::new();
    let ran = query(&folder, ".a | foo(1", "-n").status(2);
    assert!(ran.stderr.contains("column 9: found `(`, which is not closed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\n  .a | foo(1\n          ^\n"), "{}", ran.stderr);
    let ran = folder.run("query -n nothing").status(2);
    assert!(ran.stderr.contains("there is no function `nothing`"), "{}", ran.stderr);
    folder.run("query").status(2);
    folder.run("query -n --argjson a {  .").status(2);
}

#[test]
fn an_error_names_its_document_and_follows_bad() {
    let folder = Folder::new();
    folder.write("in.ndjson", "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":3}\n");
    let ran = folder.run("query .a*2-1 in.ndjson").status(1);
    assert!(ran.stderr.contains("record 2, byte 8"), "{}", ran.stderr);
    assert!(ran.stderr.contains("the filter failed: cannot calculate"), "{}", ran.stderr);
    let ran = folder.run("query .a*2-1 in.ndjson out.ndjson --bad bad.ndjson").status(0);
    assert!(ran.stderr.contains("1 of 3 records were broken and skipped"), "{}", ran.stderr);
    assert_eq!(folder.text("out.ndjson"), "1\n5\n");
    assert_eq!(folder.text("bad.ndjson").trim(), "{\"a\":\"x\"}");
    // The filter runs once over each document, and so shows it once.
    for jobs in [1, 2] {
        let ran = folder.run(&format!("query -j {jobs} debug|.a+1 in.ndjson")).status(1);
        assert!(
            ran.stderr.contains("record 2, byte 8 (line 2, column 1), at $:"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.matches("DEBUG").count(), 2, "{}", ran.stderr);
    }
    let ran = folder.run("query -s debug(1)|.x in.ndjson").status(1);
    assert!(ran.stderr.contains("at $: the filter failed"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("DEBUG").count(), 1, "{}", ran.stderr);
    // Nothing half-written.
    folder.run("query .a*2-1 in.ndjson none.ndjson").status(1);
    assert!(!folder.path("none.ndjson").exists());
    folder.run("query . in.ndjson out.ndjson").status(2);
}

#[test]
fn what_the_output_cannot_hold_follows_the_policy() {
    let folder = Folder::new();
    folder.write("in.msgpack", b"\x82\xa1a\xc4\x02\x00\xff\xa1b\x01");
    let ran = folder.run("query . in.msgpack").status(3);
    assert!(ran.stderr.contains("at $.a"), "{}", ran.stderr);
    let ran = folder.run("query {x:[1,{y:.a}]} in.msgpack").status(3);
    assert!(ran.stderr.contains("at $.x[1].y:"), "{}", ran.stderr);
    assert_eq!(folder.run("query .b in.msgpack").silent().text(), "1\n");
    assert_eq!(folder.run("query .a|bytes in.msgpack").silent().text(), "[0,255]\n");
    let ran = folder.run("query .a in.msgpack --on-loss wrap").silent();
    assert_eq!(ran.text(), "{\"$binary\":{\"base64\":\"AP8=\",\"subType\":\"00\"}}\n");
    folder.run("query del(.b) in.msgpack out.cbor").silent();
    assert_eq!(folder.read("out.cbor"), b"\xa1\x61a\x42\x00\xff");
}

#[test]
fn convert_takes_a_filter() {
    let folder = Folder::new();
    folder.write("in.json", "[{\"a\":1,\"b\":0},{\"a\":2,\"b\":0}]");
    folder.run("convert --filter del(.b) in.json out.ndjson").silent();
    assert_eq!(folder.text("out.ndjson"), "{\"a\":1}\n{\"a\":2}\n");
    folder.run("convert --filter map(.a) in.json out.json").silent();
    assert_eq!(folder.text("out.json"), "[1,2]\n");
    folder.run("convert --filter select(.a>1) out.ndjson back.json").silent();
    assert_eq!(folder.text("back.json"), "[{\"a\":2}]\n");
    folder.run("convert --each .x in.json none.json").status(2);
}

#[test]
fn each_runs_over_the_elements_of_one_document() {
    let folder = Folder::new();
    folder.write(
        "in.json",
        r#"{"x": [0, {"y": 1}], "data": {"items": [{"id": 1, "n": [1]}, {"id": 2, "n": []}], "z": 1}, "w": 0}"#,
    );
    let ran = folder.run("query --each .data.items[] {id,c:(.n|length)} in.json").silent();
    assert_eq!(ran.text(), "{\"id\":1,\"c\":1}\n{\"id\":2,\"c\":0}\n");
    assert_eq!(folder.run("query --each .data.items[].id . in.json").silent().text(), "1\n2\n");
    assert_eq!(
        folder.run("query --each .data[] type in.json").silent().text(),
        "\"array\"\n\"number\"\n"
    );
    assert_eq!(folder.run("query --each . .w in.json").silent().text(), "0\n");
    let ran = folder.run("query --each .none[] . in.json").status(1);
    assert!(ran.stderr.contains("found nothing at .none[]"), "{}", ran.stderr);
    let ran = folder.run("query --each .w[] . in.json").status(1);
    assert!(
        ran.stderr.contains("found an integer at .w, expected an array or a map"),
        "{}",
        ran.stderr
    );
    for (each, filter, place) in [
        (".data.items[]", ".id|select(.==2)+[]", "at $.data.items[1]:"),
        (".data[][]", ".n+1", "at $.data.items[0]:"),
        (".x[].y", ".", "at $.x[0]:"),
        (".data[]", ".[0]", "at $.data.z:"),
    ] {
        let ran = folder.run(&format!("query --each {each} {filter} in.json")).status(1);
        assert!(ran.stderr.contains(place), "{each} {filter}: {}", ran.stderr);
    }
    folder.run("query --each items . in.json").status(2);
    // A filter that begins with such a path does the same.
    for (filter, wanted) in [
        (".data.items[] | .id", "1\n2\n"),
        (".data[\"items\"][] | .id", "1\n2\n"),
        (".data.items[].n | length", "1\n0\n"),
        (".data.items[].m | . // \"none\"", "\"none\"\n\"none\"\n"),
        (".data.items[].none[]? | 1", ""),
        (". | [] | length", "0\n"),
        ("[] | length", "0\n"),
        (".x[] | numbers", "0\n"),
        (".data.items[] |= .id | .data.items | add", "3\n"),
        (".data.items[], .w | type", "\"object\"\n\"object\"\n\"number\"\n"),
        (".data.\"items\"[] | .id as $i | $i + 1", "2\n3\n"),
        (".none[]? | .id", ""),
    ] {
        let ran = query(&folder, filter, "in.json").silent();
        assert_eq!(ran.text(), wanted, "{filter}");
    }
    let ran = query(&folder, ".w[] | .", "in.json").status(1);
    assert!(ran.stderr.contains("found an integer at .w, expected an array"), "{}", ran.stderr);
    let ran = query(&folder, ".data.items[] | .id | foo", "in.json").status(2);
    assert!(ran.stderr.contains("line 1, column 23: there is no function"), "{}", ran.stderr);
    for to in ["yaml", "msgpack", "cbor", "bson", "pickle"] {
        folder.run(&format!("convert in.json in.{to}")).silent();
        let ran = folder.run(&format!("query --each .data.items[] .id in.{to}")).silent();
        assert_eq!(ran.text(), "1\n2\n", "{to}");
    }
}

#[test]
fn several_threads_write_the_same_as_one() {
    let folder = Folder::new();
    folder.write("in.ndjson", lines(60_000));
    for filter in ["select(.id%3==0)|{id,n:.list[0]}", ".", "empty", ".list[]"] {
        let one = folder.run(&format!("query {filter} in.ndjson -j 1")).silent();
        let four = folder.run(&format!("query {filter} in.ndjson -j 4")).silent();
        assert!(one.stdout == four.stdout, "{filter}");
    }
    let ran = folder.run("query .id|select(.==50000).x in.ndjson -j 4").status(1);
    assert!(ran.stderr.contains("the filter"), "{}", ran.stderr);
}

#[test]
fn a_hostile_filter_is_an_error() {
    let folder = Folder::new();
    for filter in
        ["def f: [f]; f", "[range(1e9)]", "\"a\" * 1e9", "reduce range(1e6) as $i (0; [.])"]
    {
        let ran = query(&folder, filter, "-n").status(1);
        assert!(ran.stderr.contains("the filter"), "{filter}: {}", ran.stderr);
    }
    folder.write("in.ndjson", "1\n".repeat(1_000_000));
    let ran = query(&folder, "def f: 1 + f; f", "in.ndjson -j 2").status(1);
    assert!(ran.stderr.contains("recurses too deeply"), "{}", ran.stderr);
}

#[test]
fn a_filter_without_end_stops_at_the_limit_of_time() {
    let folder = Folder::new();
    folder.write("in.ndjson", "1\n2\n");
    for filter in ["def f: f; f", "last(range(1e18))", "repeat(1) | select(false)"] {
        folder.write("filter.jq", filter);
        let ran = folder.run("query --from-file filter.jq in.ndjson --limit time=1").status(1);
        let wanted = "the filter takes longer for a document than the limit of time; \
                      pass --limit time=… to raise it";
        assert!(ran.stderr.contains(wanted), "{filter}: {}", ran.stderr);
        assert!(ran.stderr.contains("record 1"), "{filter}: {}", ran.stderr);
    }
    folder.run("query --limit time=60 . in.ndjson").silent();
}

#[test]
fn what_a_filter_reads_itself_follows_the_options_too() {
    let folder = Folder::new();
    folder.write("people.ndjson", PEOPLE);
    folder.run("convert people.ndjson people.json").silent();
    folder.write("extended.ndjson", "{\"a\":{\"$oid\":\"5f1f1f1f1f1f1f1f1f1f1f1f\"}}\n");
    folder.write("broken.ndjson", "{\"id\":1}\n{\"id\":x}\n{\"id\":3}\n");
    for (arguments, wanted) in [
        (
            "--drop name --drop state -n [inputs] people.ndjson",
            "[{\"id\":1},{\"id\":2},{\"id\":3}]\n",
        ),
        ("--only id [.,input,input] people.ndjson", "[{\"id\":1},{\"id\":2},{\"id\":3}]\n"),
        ("--rename id=n -n [inputs.n] people.ndjson", "[1,2,3]\n"),
        ("--head 2 -n [inputs.id] people.ndjson", "[1,2]\n"),
        ("--sample 2 --seed 1 -n [inputs]|length people.ndjson", "2\n"),
        ("--json-extended relaxed -n inputs|.a|kind extended.ndjson", "\"objectid\"\n"),
        ("-n first(inputs).id people.ndjson", "1\n"),
        ("-q --bad skip -n [inputs.id] broken.ndjson", "[1,3]\n"),
        ("--documents split -n [inputs.id] people.json", "[1,2,3]\n"),
        ("-n [inputs|length] people.json", "[3]\n"),
        // Nobody asks for the broken one.
        ("-n input.id broken.ndjson", "1\n"),
    ] {
        let ran = folder.run(&format!("query {arguments}")).status(0);
        assert_eq!(ran.text(), wanted, "{arguments}");
    }
    folder.write("twice.ndjson", "{\"a\":1,\"a\":2}\n");
    let ran = folder.run("query --duplicate-keys refuse -n inputs twice.ndjson").status(3);
    assert!(ran.stderr.contains("twice.ndjson: ndjson: record 1, byte 7"), "{}", ran.stderr);
    let ran = folder.run("query -n [inputs] broken.ndjson").status(1);
    assert!(ran.stderr.contains("broken.ndjson: "), "{}", ran.stderr);
    // Far more than is read ahead.
    folder.write("many.ndjson", "1\n".repeat(10_000));
    assert_eq!(folder.run("query -n [limit(3;inputs)] many.ndjson").silent().text(), "[1,1,1]\n");
    assert_eq!(folder.run("query -n [inputs]|length many.ndjson").silent().text(), "10000\n");
}

#[test]
fn a_value_that_contains_itself_is_refused_with_the_reason() {
    let folder = Folder::new();
    folder.write("cycle.yaml", "- &x [*x]\n");
    for arguments in [
        "query --to yaml . cycle.yaml",
        "query . cycle.yaml",
        "query -n inputs cycle.yaml",
        "query -s . cycle.yaml",
        "convert --drop a --on-loss wrap cycle.yaml - --to yaml",
    ] {
        let ran = folder.run(arguments).status(3);
        let wanted = "a filter or a selection of paths cannot hold a cycle; convert without it";
        assert!(ran.stderr.contains(wanted), "{arguments}: {}", ran.stderr);
        assert!(!ran.stderr.contains("--on-loss"), "{}", ran.stderr);
    }
    let ran = folder.run("convert cycle.yaml - --to json").status(3);
    assert!(ran.stderr.contains("JSON cannot hold a cycle; pass --on-loss wrap"), "{}", ran.stderr);
}

#[test]
fn variables_have_names_that_a_filter_can_call() {
    let folder = Folder::new();
    for (arguments, wanted) in [
        ("--arg 1x a -n 1", "--arg: found the name \"1x\", expected letters"),
        ("--argjson ENV 1 -n 1", "--argjson: $ENV is the environment"),
    ] {
        let ran = folder.run(&format!("query {arguments}")).status(2);
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
}
