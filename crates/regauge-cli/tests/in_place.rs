//! `regauge query --in-place` from the outside: files, their modes and times, messages.

mod common;

use std::fs;

use common::{Folder, Ran};
use regauge_testdata::{needs_data, unix};

const YAML: &str = "# a service\nname: web\nversion: \"1\"  # of the API\n";

/// Runs `query --in-place` with a filter, which may contain blanks, before other arguments.
fn edit(folder: &Folder, filter: &str, arguments: &str) -> Ran {
    folder.write("filter.jq", filter);
    folder.run(&format!("query --in-place --from-file filter.jq {arguments}"))
}

#[test]
fn a_value_changes_and_no_other_byte() {
    let folder = Folder::new();
    folder.write("a.yaml", YAML);
    folder.write("b.toml", "# b\nversion = '1' # now\n");
    folder.write("c.json", "{\"version\": \"1\",\n\"x\": [ 1,2 ]}");
    folder.write("d.json", "{/* d */ \"version\": 1}\n");
    let filter = ".version=\"2\"";
    let ran = folder.run(&format!("query -i --json-comments {filter} a.yaml b.toml c.json d.json"));
    assert_eq!(ran.silent().text(), "");
    assert_eq!(folder.text("a.yaml"), YAML.replace("\"1\"", "\"2\""));
    assert_eq!(folder.text("b.toml"), "# b\nversion = '2' # now\n");
    assert_eq!(folder.text("c.json"), "{\"version\": \"2\",\n\"x\": [ 1,2 ]}");
    assert_eq!(folder.text("d.json"), "{/* d */ \"version\": \"2\"}\n");
    let ran = folder.run("query --in-place --arg v 3 .version=$v a.yaml b.toml").silent();
    assert_eq!(ran.text(), "");
    assert_eq!(folder.text("a.yaml"), YAML.replace("\"1\"", "\"3\""));
    edit(&folder, ".name |= ascii_upcase", "a.yaml b.toml --from yaml").status(1);
}

#[test]
fn a_file_in_which_nothing_changes_is_not_written() {
    let folder = Folder::new();
    folder.write("a.yaml", YAML);
    let state = || unix::moment(folder.path("a.yaml"));
    let before = state();
    edit(&folder, ".version = \"1\"", "a.yaml").silent();
    edit(&folder, ".", "a.yaml").silent();
    assert_eq!(state(), before);
    edit(&folder, ".version = \"2\"", "a.yaml").silent();
    assert_ne!(state(), before);
}

#[test]
fn modes_and_links_stay() {
    let folder = Folder::new();
    folder.write("a.yaml", YAML);
    unix::set_mode(folder.path("a.yaml"), 0o640);
    unix::symlink("a.yaml", folder.path("link.yaml")).unwrap();
    edit(&folder, ".version = \"2\"", "link.yaml").silent();
    assert!(folder.path("link.yaml").is_symlink());
    assert_eq!(folder.text("a.yaml"), YAML.replace("\"1\"", "\"2\""));
    assert_eq!(unix::mode(folder.path("a.yaml")), 0o640);
    assert_eq!(folder.names(), ["a.yaml", "filter.jq", "link.yaml"]);
}

#[test]
fn what_needs_an_output_of_its_own_is_wrong_usage() {
    let folder = Folder::new();
    folder.write("a.yaml", YAML);
    folder.write("a.yaml.gz", b"\x1f\x8b");
    for (arguments, wanted) in [
        (
            ". a.yaml --to json",
            "--in-place cannot be used with --to: a file that is changed keeps its format",
        ),
        (
            "-s . a.yaml",
            "--in-place cannot be used with --slurp: each document is changed on its own",
        ),
        ("-n . a.yaml", "--in-place cannot be used with --null-input: without an input"),
        ("-r . a.yaml", "--in-place cannot be used with --raw-output: text without quotes"),
        (
            "--each .x . a.yaml",
            "--in-place cannot be used with --each: a document gets one new value",
        ),
        (".", "standard input is none; name the files to change"),
        (". -", "standard input is none; name the files to change"),
        ("input a.yaml", "cannot call `input` or `inputs`"),
        (". a.yaml -S", "cannot be used with '--sort-keys'"),
        (". a.yaml --drop name", "cannot be used with '--drop <PATH>'"),
        (". a.yaml.gz", "a.yaml.gz: is compressed, and cannot be changed in place"),
        (". /dev/null --from yaml", "/dev/null: is no regular file"),
        (". none.yaml", "none.yaml: No such file or directory"),
        ("", "no filter was given"),
    ] {
        let ran = folder.run(&format!("query --in-place {arguments}")).status(2);
        assert!(ran.stderr.contains(wanted), "{arguments}: {}", ran.stderr);
    }
    let ran = folder.run("query . a.yaml b.yaml c.yaml").status(2);
    assert!(ran.stderr.contains("--in-place"), "{}", ran.stderr);
    assert_eq!(folder.text("a.yaml"), YAML);
}

#[test]
fn a_file_that_fails_stays_and_the_others_change() {
    let folder = Folder::new();
    folder.write("a.yaml", YAML);
    folder.write("b.yaml", "version: &v \"1\"\ncopy: *v\n");
    folder.write("c.yaml", "version: [\n");
    folder.write("d.yaml", "version: x\n---\nversion: y\n");
    let ran = edit(&folder, ".version = \"2\"", "b.yaml c.yaml a.yaml d.yaml").status(3);
    assert_eq!(
        ran.stderr.lines().next().unwrap(),
        "regauge: b.yaml: at $.copy: cannot be changed in place: the edited text would say something \
         else here; aliases and merge keys repeat what stands at their anchors; leave out --in-place \
         and name another file to write"
    );
    assert!(
        ran.stderr.contains("regauge: c.yaml: yaml: byte 11 (line 2, column 1)"),
        "{}",
        ran.stderr
    );
    assert_eq!(folder.text("a.yaml"), YAML.replace("\"1\"", "\"2\""));
    assert_eq!(folder.text("b.yaml"), "version: &v \"1\"\ncopy: *v\n");
    assert_eq!(folder.text("d.yaml"), "version: '2'\n---\nversion: '2'\n");
    for (filter, wanted) in [
        (
            "empty",
            "d.yaml: record 1: the filter gave 0 outputs for a document, and --in-place needs one",
        ),
        (".version, 1", "d.yaml: record 1: the filter gave 2 outputs for a document"),
        (".version + 1", "d.yaml: record 1: the filter failed"),
    ] {
        let ran = edit(&folder, filter, "d.yaml").status(1);
        assert!(ran.stderr.contains(wanted), "{filter}: {}", ran.stderr);
    }
}

#[test]
fn a_file_without_a_document_is_an_error() {
    let folder = Folder::new();
    folder.write("a.yaml", "# to come\n");
    folder.write("a.ndjson", "");
    let ran = edit(&folder, ".a = 2", "a.yaml").status(1);
    assert!(
        ran.stderr.contains("a.yaml: found no document, expected one to change"),
        "{}",
        ran.stderr
    );
    edit(&folder, ".a = 2", "a.ndjson").status(0);
}

#[test]
fn the_exit_status_tells_the_last_output() {
    let folder = Folder::new();
    folder.write("a.json", "[true]\n");
    edit(&folder, ".[0] = 1", "-e a.json").status(0);
    edit(&folder, ".[0] | false", "-e a.json").status(1);
    assert_eq!(folder.text("a.json"), "false\n");
}

#[test]
fn a_file_beyond_the_limit_is_not_read_whole() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: 1\nb: 2\n");
    let ran = edit(&folder, ".a = 2", "a.yaml --limit record_bytes=9").status(1);
    assert!(ran.stderr.contains("more than 9 bytes"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--limit record_bytes="), "{}", ran.stderr);
    assert_eq!(folder.text("a.yaml"), "a: 1\nb: 2\n");
    edit(&folder, ".a = 2", "a.yaml --limit record_bytes=10").status(0);
    assert_eq!(folder.text("a.yaml"), "a: 2\nb: 2\n");
}

#[test]
fn formats_without_places_are_refused() {
    let folder = Folder::new();
    folder.write("a.csv", "a,b\n1,2\n");
    folder.write("a.msgpack", b"\x81\xa1a\x01");
    for name in ["a.csv", "a.msgpack"] {
        let ran = edit(&folder, ".a = 2", name).status(1);
        assert!(
            ran.stderr.contains("cannot be changed in place; JSON, NDJSON, YAML and TOML can"),
            "{}",
            ran.stderr
        );
    }
}

/// Returns the lines that only one of two texts has, in order: `-` from the first, `+` from the second.
fn changed_lines(before: &str, after: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let lines = |sign, lines: &[&str]| -> String {
        lines[..lines.len() - tail].iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    lines('-', old) + &lines('+', new)
}

/// Checks which lines of a file change with a filter.
#[track_caller]
fn check_lines(file: &std::path::Path, filter: &str, wanted: &str) {
    let folder = Folder::new();
    let name = file.file_name().unwrap().to_str().unwrap();
    let before = fs::read_to_string(file).unwrap();
    folder.write(name, &before);
    edit(&folder, filter, name).silent();
    assert_eq!(changed_lines(&before, &folder.text(name)), wanted, "{name}: {filter}");
}

#[test]
fn our_own_configuration_files_change_where_they_should() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (name, filter, wanted) in [
        ("Cargo.toml", ".profile.release.lto = \"thin\"", "-lto = \"fat\"\n+lto = \"thin\"\n"),
        (
            "Cargo.toml",
            "del(.workspace.exclude)",
            "-# The Python package needs the headers of an interpreter.\n-exclude = [\"fuzz\", \"bindings\"]\n",
        ),
        (
            "Cargo.toml",
            ".profile.tiny = {inherits: \"release\"}",
            "+\n+[profile.tiny]\n+inherits = \"release\"\n",
        ),
        (
            ".github/workflows/ci.yml",
            ".jobs.linux.\"timeout-minutes\" = 60",
            "-    timeout-minutes: 120\n+    timeout-minutes: 60\n",
        ),
        (
            ".github/workflows/ci.yml",
            ".jobs.linux.container.image = \"debian:13\"",
            "-      image: debian:12\n+      image: debian:13\n",
        ),
        (
            ".github/workflows/ci.yml",
            ".on.push.branches += [\"next\"]",
            "-    branches: [main]\n+    branches: [main, next]\n",
        ),
    ] {
        check_lines(&root.join(name), filter, wanted);
    }
}

needs_data!(real_files_change_where_they_should);
fn real_files_change_where_they_should() {
    for (name, filter, wanted) in [
        (
            "yaml/kube-prometheus/grafana-deployment.yaml",
            ".spec.replicas = 3",
            "-  replicas: 1\n+  replicas: 3\n",
        ),
        (
            "yaml/kube-prometheus/grafana-deployment.yaml",
            ".spec.template.spec.containers[0].env = [{name: \"A\", value: \"1\"}]",
            "-      - env: []\n+      - env: [{name: A, value: '1'}]\n",
        ),
        (
            "yaml/kube-prometheus/nodeExporter-daemonset.yaml",
            ".spec.template.spec.containers[0].args |= map(select(. != \"--no-collector.wifi\"))",
            "-        - --no-collector.wifi\n",
        ),
        (
            "yaml/ci/config.yml",
            ".exec_timeout_secs = 60",
            "-exec_timeout_secs: 1800 # 30 minutes is the longest we'll ever run\n\
             +exec_timeout_secs: 60 # 30 minutes is the longest we'll ever run\n",
        ),
        ("yaml/rapidyaml-bm/travis.yml", ".addons.apt.sources += [\"more\"]", "+      - more\n"),
        ("json/small/demo.json", ".", ""),
    ] {
        check_lines(&regauge_testdata::path(name), filter, wanted);
    }
}

needs_data!(no_real_file_changes_elsewhere);
fn no_real_file_changes_elsewhere() {
    let folder = Folder::new();
    for under in
        ["yaml", "yaml/ci", "yaml/kube-prometheus", "yaml/openapi", "yaml/rapidyaml-bm", "json"]
    {
        for entry in fs::read_dir(regauge_testdata::path(under)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let is_text = [".yaml", ".yml", ".json"].iter().any(|suffix| name.ends_with(suffix));
            if !is_text || fs::metadata(&path).unwrap().len() > 500_000 {
                continue;
            }
            let before = fs::read_to_string(&path).unwrap();
            for share in [0.1, 0.5, 0.9] {
                let pick =
                    format!("first([paths(numbers)] | .[length * {share} | floor] | values)");
                folder.write(&name, &before);
                let ran = edit(
                    &folder,
                    &format!(
                        "({pick} // null) as $p | if $p then setpath($p; 987654321) else . end"
                    ),
                    &name,
                );
                ran.silent();
                let lines = changed_lines(&before, &folder.text(&name));
                assert!(lines.lines().count() <= 2, "{name}: {lines}");
                let has_number = lines.contains("987654321");
                assert_eq!(lines.is_empty(), !has_number, "{name}: {lines}");
            }
        }
    }
}

#[test]
fn fractions_are_written_with_exact_numbers() {
    let folder = Folder::new();
    folder.write("a.json", "{\"a\":1.50, \"b\":2}");
    folder.write("a.yaml", "a: 1.50 # one\nb: 2\n");
    edit(&folder, ".a = 2.50 | .b = .b / 8", "--numbers exact a.json a.yaml").silent();
    assert_eq!(folder.text("a.json"), "{\"a\":2.50, \"b\":0.25}");
    assert_eq!(folder.text("a.yaml"), "a: 2.50 # one\nb: 0.25\n");
}
