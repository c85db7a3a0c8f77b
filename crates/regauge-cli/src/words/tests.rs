//! The words of the command against the tables, and against each other.

use std::fs;
use std::path::Path;

use clap::{FromArgMatches as _, Parser as _};
use regauge::Format;
use regauge::hint::literals;
use regauge::options::{OPTIONS, Opt, Setting, Takes};

use super::*;

/// `convert` takes every option of the table with every value, and otherwise only its own
/// options.
#[test]
fn the_table_of_options_is_what_convert_takes() {
    for row in &OPTIONS {
        let Some(name) = row.name(Language::Command) else { continue };
        for value in literals(row.opt, Language::Command) {
            let mut words = vec!["regauge", "convert", "a.json", "b.json"];
            let flag = format!("--{name}");
            words.push(&flag);
            if row.takes != Takes::Switch {
                words.push(if value.is_empty() { "report.json" } else { &value });
            }
            if let Err(error) = Cli::try_parse_from(&words) {
                panic!("{}: {error}", words.join(" "));
            }
        }
    }
    let own = [
        "filter",
        "each",
        "arg",
        "argjson",
        "input-encoding",
        "decompress",
        "compress",
        "level",
        "force",
        "pretty",
        "quiet",
        "parquet-sample",
        "parquet-schema",
        "progress",
    ];
    let convert = Cli::command();
    let convert = convert.find_subcommand("convert").unwrap();
    for flag in flags(convert).filter(|flag| !["help", "version"].contains(&flag.as_str())) {
        let known = OPTIONS.iter().any(|row| row.name(Language::Command) == Some(&flag));
        assert!(known != own.contains(&flag.as_str()), "--{flag}");
    }
}

/// A flag sets what [`Options::set`] sets for Python and Ruby.
#[test]
fn a_flag_sets_what_its_option_sets() {
    let asked = |words: &[&str]| {
        let words = ["regauge", "convert"].iter().chain(words).chain(&["a.json", "b.json"]);
        let crate::args::Command::Convert(convert) = Cli::try_parse_from(words).unwrap().command
        else {
            panic!("not convert")
        };
        crate::commands::convert::asked(&convert, Format::Json, Format::Json).unwrap()
    };
    let (mut compared, mut wrong) = (0, Vec::new());
    for row in OPTIONS.iter().filter(|row| !OF_THE_COMMAND.contains(&row.opt)) {
        let Some(name) = row.name(Language::Command) else { continue };
        let flag = format!("--{name}");
        let (most, word);
        let given: Vec<(Vec<&str>, Setting<'_>)> = match row.takes {
            Takes::Switch => vec![(vec![&flag], Setting::Switch(true))],
            Takes::Words(words) => {
                let of = |one: &&'static str| {
                    (vec![flag.as_str(), row.word(Language::Command, one)], Setting::Word(one))
                };
                words.iter().map(of).collect()
            }
            Takes::Number(_, bound) => {
                most = bound.min(7);
                word = most.to_string();
                vec![(vec![&flag, &word], Setting::Number(most))]
            }
            _ => continue,
        };
        for (words, setting) in given {
            let mut set = asked(&[]);
            assert!(set.set(row.opt, setting), "{words:?}");
            let is_same = format!("{:?}", asked(&words)) == format!("{set:?}");
            wrong.extend((!is_same).then(|| words.join(" ")));
            compared += 1;
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(compared > 50, "{compared}");
}

/// The command keeps skipped bytes only for a file, and chooses the number of threads by the input.
const OF_THE_COMMAND: &[Opt] = &[Opt::Bad, Opt::Jobs];

/// Options that share a name with a row of the table, but not its meaning.
const OTHERS: &[&str] = &[
    // Another default.
    "sample --to",
    "store get --to",
    "store export --to",
    "store tenants export --to",
    // The codec of the stored value, not an output format.
    "store reencode --to",
    // Names of libraries, and the numbers of shuffles and of generated documents.
    "measure --only",
    "measure --seed",
    "sample --seed",
    // A span of time.
    "store scan --from",
    "store scan --to",
    // A place.
    "store tenants move --to",
    // What values become that stay where they are.
    "migrate --to",
    // A number of keys, or of tenants.
    "store tenants list --limit",
    "store ls --limit",
    "store export --limit",
    "store scan --limit",
    "store verify --limit",
];

/// Checks the options of a command and of its subcommands that are in the table; returns how many
/// have the table's help, and adds the others.
fn options_of_table(command: &Command, path: &str, others: &mut Vec<String>) -> usize {
    let mut seen = 0;
    for arg in command.get_arguments() {
        let Some(long) = arg.get_long() else { continue };
        let row = OPTIONS.iter().find(|row| row.name(Language::Command) == Some(long));
        let Some(row) = row else { continue };
        let name = format!("{path} --{long}");
        let help = arg.get_help().expect(&name).to_string();
        if OTHERS.contains(&name.as_str()) {
            assert_ne!(help, row.help, "{name}: leave its text to the table");
            others.push(name);
            continue;
        }
        assert_eq!(help, row.help, "{name}");
        let old: Vec<_> = row.old_names(Language::Command, false).collect();
        assert_eq!(arg.get_all_aliases().unwrap_or_default(), old, "{name}");
        assert!(arg.get_visible_aliases().unwrap_or_default().is_empty());
        seen += 1;
    }
    for one in command.get_subcommands() {
        let path = format!("{path} {}", one.get_name());
        seen += options_of_table(one, path.trim_start(), others);
    }
    seen
}

/// Every option of every command has the table's help, and its old names do the same.
#[test]
fn the_table_of_options_has_the_help_and_the_old_names() {
    let command = crate::args::command();
    let mut others = Vec::new();
    for (name, least) in [("convert", 30), ("inspect", 15), ("measure", 1), ("store", 10)] {
        let one = command.find_subcommand(name).unwrap();
        let seen = options_of_table(one, name, &mut Vec::new());
        assert!(seen >= least, "{name}: {seen}");
    }
    options_of_table(&command, "", &mut others);
    for other in OTHERS {
        assert!(others.iter().any(|one| one == other), "{other} does not exist any more");
    }
    for row in &OPTIONS {
        for old in row.old_names(Language::Command, false) {
            let value = literals(row.opt, Language::Command).swap_remove(0);
            let run = |flag: &str| {
                let mut words = vec!["regauge", "convert", "a.json", "b.json", flag];
                words.extend((!value.is_empty()).then_some(value.as_str()));
                let matches = crate::args::command().try_get_matches_from(words).unwrap();
                format!("{:?}", Cli::from_arg_matches(&matches).unwrap())
            };
            let now = row.name(Language::Command).unwrap();
            assert_eq!(run(&format!("--{old}")), run(&format!("--{now}")));
            let found = crate::args::old_names([format!("--{old}={value}")].into_iter());
            assert_eq!(found.collect::<Vec<_>>(), [(old, now)]);
        }
    }
}

fn all_flags(command: &Command, into: &mut Vec<String>) {
    into.extend(flags(command));
    command.get_subcommands().for_each(|one| all_flags(one, into));
}

fn sources(folder: &Path, each: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}")) {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, each);
        } else if path.extension().is_some_and(|it| it == "rs") {
            each(&path, &fs::read_to_string(&path).unwrap());
        }
    }
}

/// Returns the flags in a line of code: `--` and letters at the start of a word.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices("--").filter_map(|(at, _)| {
        let before = line[..at].chars().next_back();
        let word = &line[at + 2..];
        let end = word.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'));
        let word = &word[..end.unwrap_or(word.len())];
        let begins = before.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '`' | '('));
        (begins && word.starts_with(|c: char| c.is_ascii_lowercase())).then_some(word)
    })
}

/// No message names a flag that no subcommand has.
#[test]
fn messages_name_flags_that_are_there() {
    let mut known = vec!["help".to_owned(), "version".to_owned()];
    all_flags(&Cli::command(), &mut known);
    // Flags of programs that we run, or tell people to run.
    known.extend(
        [
            "aptopt",
            "include",
            "variant",
            "no-install-recommends",
            "features",
            "release",
            "rdb",
            "disable-cas",
        ]
        .map(str::to_owned),
    );
    // Flags of a subcommand that this build does not have.
    known.extend(["noent", "data"].map(str::to_owned));
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut seen = 0;
    for one in [
        "regauge",
        "regauge-cli",
        "regauge-query",
        "regauge-measure",
        "regauge-store",
        "regauge-gateway",
        "regauge-report",
        "regauge-packing",
        "regauge-sources",
        "regauge-caches",
    ] {
        sources(&crates.join(one).join("src"), &mut |path, text| {
            if path.to_string_lossy().contains("tests") {
                return;
            }
            let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for flag in named(line) {
                    seen += 1;
                    assert!(known.iter().any(|it| it == flag), "{}: --{flag}", path.display());
                }
            }
        });
    }
    assert!(seen > 30, "{seen}");
}
