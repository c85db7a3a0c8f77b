//! Decides which contenders take part, and in what order: the first are checked and timed in any
//! case, the last if there is time.

use std::collections::HashMap;

use crate::model::error::Error;
use crate::model::runtime::{Places, RunnerFile, Runtime};
use crate::model::wire::{Gives, Wire};
use crate::plan::contender::{self, Contender};
use crate::plan::input::Files;
use crate::plan::options::{Options, QUICK_BELOW};
use crate::plan::reference::{Needed, References, Shape};
use crate::plan::{folders, launch, nearest};

/// Refuses an interpreter for a runtime that does not exist: it would not be missed before the end.
pub(crate) fn known_runtimes(options: &Options, runners: &[RunnerFile]) -> Result<(), Error> {
    let known = || runners.iter().map(|one| one.runtime.id());
    let Some(wrong) = options.interpreters.keys().find(|id| known().all(|one| one != *id)) else {
        return Ok(());
    };
    let nearest = nearest::nearest(wrong, known());
    let nearest = nearest.map_or(String::new(), |one| format!("; the nearest name is {one}"));
    let known = known().collect::<Vec<_>>().join(", ");
    let message = format!("no runtime is called {wrong}, expected one of {known}{nearest}");
    Err(Error::NoContender(message))
}

/// Returns the formats that are needed of large data: of the contenders that the user named, or all.
pub(crate) fn needed(options: &Options, runners: &[RunnerFile]) -> Result<Option<Needed>, Error> {
    if options.only.is_empty() || !options.take_part.is_empty() {
        return Ok(None);
    }
    let mut list = contender::with(runners);
    for path in &options.adapters {
        list.extend(Contender::from_file(path, runners)?);
    }
    let wanted = wanted(&options.only, &list);
    let mut wires: Vec<Wire> = Vec::new();
    for one in list.iter().filter(|one| wanted.iter().any(|wanted| wanted.is(one))) {
        let wire = if one.made_from_json { Wire::Json } else { one.wire };
        if !wires.contains(&wire) {
            wires.push(wire);
        }
    }
    Ok(Some(Needed { above: options.part_size.whole, wires }))
}

/// Returns the contenders that support this kind of data and that the user wants.
pub(crate) fn chosen(
    options: &Options,
    runners: &[RunnerFile],
    files: &Files,
    references: &mut References,
) -> Result<Vec<Contender>, Error> {
    let mut list = contender::with(runners);
    for path in &options.adapters {
        list.extend(Contender::from_file(path, runners)?);
    }
    let wanted = wanted(&options.only, &list);
    let unknown = |wanted: &&Wanted| !list.iter().any(|one| wanted.is(one));
    let unknown: Vec<String> = wanted.iter().filter(unknown).map(|one| one.text.clone()).collect();
    let catalogue = references.shape == Shape::Catalogue;
    list.retain(|one| {
        let wire = if one.made_from_json { Wire::Json } else { one.wire };
        (catalogue || !one.marc_only && one.gives != Gives::Record) && references.of(wire).is_some()
    });
    if !options.take_part.is_empty() {
        list.retain(|one| takes_part(one, &options.take_part));
    }
    if !options.only.is_empty() {
        let known: Vec<String> = list.iter().flat_map(names).map(str::to_owned).collect();
        // One that is misspelt among others would not be missed before the end.
        if !unknown.is_empty() {
            return Err(Error::NoContender(nearest::no_contender(&unknown, &known)));
        }
        list.retain(|one| wanted.iter().any(|wanted| wanted.is(one)));
        if list.is_empty() {
            return Err(Error::NoContender(nearest::no_contender(&options.only, &known)));
        }
    }
    if options.usual_first && options.only.is_empty() {
        leave_out_slow_to_start(&mut list, options, runners, references);
    }
    leave_out_called(&mut list, references)?;
    if cfg!(target_env = "musl") && list.iter().any(|one| one.runtime == Runtime::NATIVE) {
        references.notes.push(
            "The Rust libraries are up to five times slower here than in an ordinary build: this is \
             the static one, which has musl's allocator. Do not choose among them by it."
                .to_owned(),
        );
    }
    let own: Vec<&str> = files.list.iter().map(|file| file.format.name()).collect();
    let slow: Vec<Runtime> =
        runners.iter().filter(|one| one.starts_slowly).map(|one| one.runtime).collect();
    Ok(by_turns(list, &own, &options.published, &slow, options.usual_first))
}

/// Puts contenders in order: the published rows of a task; the usual libraries of the data's own
/// format, and its other ones; the usual ones of the other formats; the rest. In each of these the
/// runtimes take turns, so that what is not reached is not the whole of a runtime. A slow library
/// comes after the others of its kind, and never after another kind. Those of a runtime that takes seconds
/// to start come after the usual ones of all others. With `usual_first`, for a quick
/// look, the usual ones of other formats come before the other ones of the data's own.
fn by_turns(
    mut list: Vec<Contender>,
    own: &[&str],
    published: &[String],
    slow: &[Runtime],
    usual_first: bool,
) -> Vec<Contender> {
    let kind = |one: &Contender| match (is_published(one, published), is_own(one, own)) {
        (true, _) => 0,
        _ if slow.contains(&one.runtime) => {
            if one.is_usual {
                4
            } else {
                6
            }
        }
        (_, true) if one.is_usual => 1,
        (_, true) => {
            if usual_first {
                3
            } else {
                2
            }
        }
        _ if one.is_usual => {
            if usual_first {
                2
            } else {
                3
            }
        }
        _ => 5,
    };
    list.sort_by_key(|one| (kind(one), one.pace.is_some()));
    let mut turns: HashMap<(u8, Runtime), usize> = HashMap::new();
    let mut by_turn: Vec<(u8, usize, Contender)> = Vec::new();
    for one in list {
        let turn = turns.entry((kind(&one), one.runtime)).or_default();
        by_turn.push((kind(&one), *turn, one));
        *turn += 1;
    }
    by_turn.sort_by_key(|(kind, turn, _)| (*kind, *turn));
    by_turn.into_iter().map(|(_, _, one)| one).collect()
}

pub(crate) fn is_published(one: &Contender, published: &[String]) -> bool {
    let name = format!("{}/{}", one.runtime.name(), one.name);
    published.iter().any(|published| published.eq_ignore_ascii_case(&name))
}

/// Returns whether it reads the format of one of the input's files.
fn is_own(one: &Contender, own: &[&str]) -> bool {
    own.iter().any(|format| family(format) == family(one.wire.name()))
}

/// Returns the family of a format, which one library reads alike: a line of NDJSON is JSON, as is a
/// MARC-in-JSON record; all protocols of pickle have one reader.
pub(crate) fn family(format: &str) -> &str {
    match format {
        "ndjson" | "marc-json" => "json",
        format if format.starts_with("pickle") => "pickle",
        format => format,
    }
}

/// Returns whether a runtime that takes seconds to start is there and takes part.
pub(crate) fn any_starts_slowly(options: &Options, runners: &[RunnerFile]) -> bool {
    let places = Places { data: folders::set_up(options), ..Places::default() };
    runners.iter().filter(|one| one.starts_slowly).any(|one| {
        let is_it = |part: &str| part.eq_ignore_ascii_case(one.runtime.id());
        let is_wanted =
            options.only.is_empty() || options.only.iter().any(|text| text.split('/').any(is_it));
        let given = launch::given(options, one.runtime);
        is_wanted && one.command(given.as_deref(), &places).is_ok()
    })
}

/// Leaves out the runtimes that take seconds to start, and notes those that are installed.
fn leave_out_slow_to_start(
    list: &mut Vec<Contender>,
    options: &Options,
    runners: &[RunnerFile],
    references: &mut References,
) {
    for runner in runners.iter().filter(|one| one.starts_slowly) {
        let places = Places { data: folders::set_up(options), ..Places::default() };
        let given = launch::given(options, runner.runtime);
        let before = list.len();
        list.retain(|one| one.runtime != runner.runtime);
        if list.len() < before && runner.command(given.as_deref(), &places).is_ok() {
            references.notes.push(format!(
                "{} takes seconds to start, so a quick look leaves it out; with a budget of {} s or more, \
                 or with --only {}, it takes part.",
                runner.runtime.name(),
                QUICK_BELOW.as_secs(),
                runner.runtime.id()
            ));
        }
    }
}

/// Leaves out, with a note, the contenders that would find class names in the data.
fn leave_out_called(list: &mut Vec<Contender>, references: &mut References) -> Result<(), Error> {
    let mut error = None;
    list.retain(|one| {
        let (Some(avoided), Some(reference)) = (&one.avoids, references.of(one.wire)) else {
            return true;
        };
        let bytes = match std::fs::read(&reference.path) {
            Ok(bytes) => bytes,
            Err(source) => {
                error.get_or_insert(Error::io("read", &reference.path)(source));
                return true;
            }
        };
        if memchr::memmem::find(&bytes, avoided.as_bytes()).is_none() {
            return true;
        }
        references.notes.push(format!(
            "{} ({}) was left out: the data contains {avoided}, and the library would read what \
             follows as a class name.",
            one.name,
            one.runtime.name()
        ));
        false
    });
    error.map_or(Ok(()), Err)
}

/// Returns whether `runtime/what it gives` or `runtime/name` is in the list. A user's own adapter
/// is wherever it is named.
fn takes_part(contender: &Contender, list: &[String]) -> bool {
    let is_one = |what: &str| {
        let name = format!("{}/{what}", contender.runtime.name());
        list.iter().any(|one| one.eq_ignore_ascii_case(&name))
    };
    matches!(contender.source, contender::Source::File(_))
        || is_one(contender.gives.name())
        || is_one(&contender.name)
}

/// Returns the names that select a contender if they are given whole.
fn names(contender: &Contender) -> [&str; 5] {
    [
        &contender.name,
        &contender.library,
        contender.wire.name(),
        contender.runtime.name(),
        contender.runtime.id(),
    ]
}

/// One `--only`: what is between its slashes must all apply.
struct Wanted {
    text: String,
    parts: Vec<Part>,
}

/// A part of an `--only`, in lower case.
enum Part {
    /// A name, library, format or runtime.
    Whole(String),
    /// No such thing, but perhaps a part of a name.
    Within(String),
}

/// Returns what the texts of `--only` select among these contenders.
fn wanted(only: &[String], list: &[Contender]) -> Vec<Wanted> {
    let part = |text: &str| {
        let is_whole = |name: &&str| name.eq_ignore_ascii_case(text);
        match list.iter().any(|one| names(one).iter().any(is_whole)) {
            true => Part::Whole(text.to_lowercase()),
            false => Part::Within(text.to_lowercase()),
        }
    };
    let wanted =
        |text: &String| Wanted { text: text.clone(), parts: text.split('/').map(part).collect() };
    only.iter().map(wanted).collect()
}

impl Wanted {
    fn is(&self, contender: &Contender) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Whole(text) => names(contender).iter().any(|name| name.to_lowercase() == *text),
            Part::Within(text) => contender.name.to_lowercase().contains(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names of one runtime, in their order.
    fn ordered(own: &[&str], published: &[&str]) -> Vec<(String, bool, bool)> {
        let mut list = contender::all();
        for one in &mut list {
            // What adapters say of themselves is theirs to change.
            one.is_usual = ["orjson", "json", "msgpack", "PyYAML (safe)", "PyYAML (safe, C)"]
                .contains(&one.name.as_str());
        }
        let published: Vec<String> = published.iter().map(|one| (*one).to_owned()).collect();
        by_turns(list, own, &published, &[], false)
            .into_iter()
            .filter(|one| one.runtime.id() == "python")
            .map(|one| (one.name.clone(), one.is_usual, is_own(&one, own)))
            .collect()
    }

    #[test]
    fn the_usual_libraries_of_the_own_format_come_first_and_then_other_usual_ones() {
        for own in ["json", "ndjson", "yaml", "msgpack"] {
            let list = ordered(&[own], &[]);
            let kinds: Vec<u8> = list
                .iter()
                .map(|(_, usual, own)| match (own, usual) {
                    (true, true) => 0,
                    (true, false) => 1,
                    (false, true) => 2,
                    (false, false) => 3,
                })
                .collect();
            assert!(kinds.is_sorted(), "{own}: {list:?}");
            assert_eq!(kinds.first(), Some(&0), "{own}");
        }
        // A line of NDJSON is JSON.
        assert_eq!(ordered(&["ndjson"], &[]), ordered(&["json"], &[]));
        // A slow library of the data's own format is before a fast one of another.
        let yaml: Vec<String> = ordered(&["yaml"], &[]).into_iter().map(|one| one.0).collect();
        let place = |name: &str| yaml.iter().position(|one| one == name).unwrap();
        assert!(place("PyYAML (safe)") < place("orjson"), "{yaml:?}");
    }

    #[test]
    fn only_selects_whole_names_before_parts_of_names() {
        let list = contender::all();
        let chosen = |only: &[&str]| -> Vec<(&str, &str)> {
            let only: Vec<String> = only.iter().map(|&one| one.to_owned()).collect();
            let wanted = wanted(&only, &list);
            let one = |one: &&Contender| wanted.iter().any(|wanted| wanted.is(one));
            list.iter().filter(one).map(|one| (one.runtime.id(), one.wire.name())).collect()
        };
        assert!(chosen(&["json"]).iter().all(|one| one.1 == "json"));
        assert!(chosen(&["Ruby"]).iter().all(|one| one.0 == "ruby"));
        let both = chosen(&["python/json"]);
        assert!(both.len() > 3 && both.iter().all(|one| *one == ("python", "json")), "{both:?}");
        assert!(chosen(&["python/json", "node/bson"]).len() > both.len());
        // No library, format or runtime has these names.
        assert!(!chosen(&["(safe"]).is_empty() && chosen(&["nosuchthing"]).is_empty());
        assert!(chosen(&["python/nosuchthing"]).is_empty());
    }

    #[test]
    fn published_rows_come_before_everybody() {
        let list = ordered(&["json"], &["Python/ruamel.yaml"]);
        assert_eq!(list[0].0, "ruamel.yaml");
    }

    #[test]
    fn runtimes_take_turns() {
        let mut list = contender::all();
        list.retain(|one| one.wire == Wire::Json);
        list.iter_mut().for_each(|one| one.is_usual = false);
        let runtimes: Vec<Runtime> =
            by_turns(list, &["yaml"], &[], &[], false).iter().map(|one| one.runtime).collect();
        let count = runtimes.iter().collect::<std::collections::HashSet<_>>().len();
        let first: std::collections::HashSet<_> = runtimes[..count].iter().collect();
        assert_eq!(first.len(), count, "{runtimes:?}");
    }

    #[test]
    fn runtimes_that_start_slowly_come_after_the_usual_libraries_of_the_others() {
        let slow = Runtime::of("jruby");
        let list = by_turns(contender::all(), &["json"], &[], &[slow], false);
        let first = list.iter().position(|one| one.runtime == slow).unwrap();
        let others = |one: &&Contender| one.runtime != slow;
        assert!(list[first..].iter().filter(others).all(|one| !one.is_usual));
        assert!(list[first].is_usual);
    }
}
