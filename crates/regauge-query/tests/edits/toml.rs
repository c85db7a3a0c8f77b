//! TOML.

use regauge::Format;

use crate::{check, refused};

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
fn toml_tables_made_by_dotted_keys_get_keys() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let after = MANIFEST.replace("docs = true\n", "docs = true\nmetadata.more = 1\n");
    change(".package.metadata.more = 1", MANIFEST, &after);
    change(".a.c = \"d\"", "a.b = 'x' # one\ne = 1\n", "a.b = 'x' # one\na.c = 'd'\ne = 1\n");
    change(".a.b.d = 1", "[t]\n[a]\n  b . c = 2\n", "[t]\n[a]\n  b . c = 2\n  b . d = 1\n");
    change(".a[\"x.y\"].c = 1", "a.\"x.y\".b = 2\n", "a.\"x.y\".b = 2\na.\"x.y\".c = 1\n");
    change(".a.d = {e: 1}", "a.b = 1\na.c.x = 2\n", "a.b = 1\na.c.x = 2\na.d = { e = 1 }\n");
    change(
        ".a.c.y = 1",
        "a.c.x = [\n  1,\n]\na.b = 1\n",
        "a.c.x = [\n  1,\n]\na.c.y = 1\na.b = 1\n",
    );
    for text in ["a.b.c = 1\n", "a.b = 1\n[a.c]\nx = 1\n"] {
        refused(Format::Toml, ".a.d = 1", text, "at $.a");
    }
}

#[test]
fn the_last_toml_table_becomes_a_pair() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    change(".a = 5", "x = 1\n\n[a]\ny = 2\n", "x = 1\na = 5\n");
    change(".p = 5", "x = 1\n\n[[p]]\ny = 2\n", "x = 1\np = 5\n");
    change("del(.p[0])", "x = 1\n\n[[p]]\ny = 2\n", "x = 1\np = []\n");
    change("del(.p[0])", "x = 1\n[[p]]\ny = 2\n", "x = 1\np = []\n");
    change("del(.a)", "x = 1\n\n[a]\ny = 2\n", "x = 1\n");
    change("del(.a.b)", "[a.b]\ny = 2\n", "[a]\n");
}

#[test]
fn toml_comments_about_what_follows_stay() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let heading = "# --- section B ---\n\n[b]\ny = 1\n";
    change("del(.a)", &format!("[a]\nx = 1\n\n{heading}"), heading);
    change(
        "del(.a)",
        &format!("[a]\n# in it\nx = 1 # one\n# after it\n\n{heading}"),
        &format!("# after it\n\n{heading}"),
    );
    change("del(.a)", "b = 1\n\n[a]\nx = 1\n\n# the end\n", "b = 1\n\n# the end\n");
}

#[test]
fn toml_tables_in_braces_stay_on_one_line() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    change(".a = {x: 1, y: [2]}", "a = [\n  1,\n]\n", "a = { x = 1, y = [2] }\n");
    change(
        ".a = [{x: 1}, 2]",
        "a = [\n]\nb = [\n  1,\n]\n",
        "a = [\n  { x = 1 },\n  2\n]\nb = [\n  1,\n]\n",
    );
    let was = "a = { x = \"\"\"\n1\n\"\"\" }\n";
    change(".a = {y: \"z\"}", was, "a = { y = \"z\" }\n");
}

#[test]
fn lines_of_toml_text_are_no_comments() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let was = "s = \"\"\"\nx\n# c\"\"\"\nb = 1\nd = 2\n";
    change("del(.b)", was, &was.replace("b = 1\n", ""));
    let was = "s = \"\"\"\nx\n# c\"\"\"\n# about b\nb = 1\nd = 2\n";
    change("del(.b)", was, &was.replace("# about b\nb = 1\n", ""));
}

#[test]
fn toml_keys_are_renamed() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let env = "with_entries(if .key == \"env\" then .key = \"x y\" else . end)";
    change(env, "a = 1\nenv  = 0x10 # ten\n", "a = 1\n\"x y\"  = 0x10 # ten\n");
    change(env, "'env' = 0x10\n", "'x y' = 0x10\n");
    change(&format!(".t |= {env}"), "t = { env = 0x10 }\n", "t = { \"x y\" = 0x10 }\n");
    change(&format!(".t |= {env}"), "[t]\nenv = 0x10\n", "[t]\n\"x y\" = 0x10\n");
    change(&format!(".\"a.b\" |= {env}"), "\"a.b\" . env = 0x1\n", "\"a.b\" . \"x y\" = 0x1\n");
    let was =
        "# env\n[env] # of [env]\nk = 0x10\n[b]\n[ env . c ]\nenv = 0x1\n[[env.d]]\n[[env.d]]\n";
    let after = was.replace("[env]", "[\"x y\"]").replace(" env .", " \"x y\" .");
    let after = after.replace("[env.", "[\"x y\".").replace("of [\"x y\"]", "of [env]");
    change(env, was, &after);
    let was = "[[p]]\n[p.env]\nk = 0x1\n[[p]]\n[p.env]\nk = 0x2\n";
    change(
        &format!(".p[1] |= {env}"),
        was,
        &was.replace("[p.env]\nk = 0x2", "[p.\"x y\"]\nk = 0x2"),
    );
    change(env, "env.a = 1\nb = 2\n", "b = 2\n\n[\"x y\"]\na = 1\n");
}

#[test]
fn toml_brackets_keep_their_comments() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let was = "deps = [\n    # \"numpy\",\n\n]\n";
    change(".deps += [\"x\"]", was, "deps = [\n    # \"numpy\",\n\n    \"x\"\n]\n");
    change(".deps += [1, 2]", "deps = [ # none\n]\n", "deps = [ # none\n    1,\n    2\n]\n");
}

#[test]
fn pairs_come_before_all_tables() {
    let change = |filter: &str, from: &str, to: &str| check(Format::Toml, filter, from, to);
    let was = "[c.d]\nx = 1\n";
    change(".new = 1 | .c.new = 2", was, &format!("new = 1\n\n[c]\nnew = 2\n\n{was}"));
    let after = "x = 1\nnew = 1\n[c]\nnew = 2\n\n[c.d]\ny = 1\n";
    change(".new = 1 | .c.new = 2", "x = 1\n[c.d]\ny = 1\n", after);
    change(".a = 1 | .b = 2", was, &format!("a = 1\nb = 2\n\n{was}"));
    change("del(.c.d) | .a = 1", &format!("{was}\n[e]\n"), "a = 1\n\n[c]\n\n[e]\n");
}

#[test]
fn toml_that_cannot_be_edited_is_refused() {
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
