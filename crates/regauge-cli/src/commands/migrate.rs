//! `regauge migrate`: moves the values of a cache or a table off Marshal and pickle, while it is used.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use regauge::fidelity::Fidelity;
use regauge::text::{escape_hidden, is_hidden};
use regauge::{Error, ErrorKind, Format, Limits, OnLoss};
use regauge_caches::journal::{Entries, Entry, Journal};
use regauge_caches::migrate::{Classes, LEFT_OUT_MAX, Outcome, Plan, Step, runs_code};
use regauge_caches::rules::{Rules, word};
use regauge_measure::{bytes, nearest, thousands};
use regauge_sources::sql::Access;
use regauge_sources::{Flow, Item, Pace, Replaced, Skipped, Source, Wanted};

use crate::args::{Limit, Loss, ObjectsArg, When, limit};
use crate::commands::sources;
use crate::failure::{Failure, Result, named, say};
use crate::report::print;
use crate::words;

/// How many values are written to the journal, and to the disk, at once, and how many bytes of them, old and new.
const BATCH: usize = 100;
const BATCH_BYTES: usize = 8 << 20;
/// How many reasons are shown.
const REASONS: usize = 20;
/// The largest file of rules.
const RULES_BYTES: u64 = 16 << 20;

const EXAMPLES: &str = "\
Examples:
  regauge migrate redis://cache:6379 --to msgpack
      changes nothing: says what would move, and what would stay and why
  regauge migrate redis://cache:6379 --to msgpack --prefix views/ --apply \\
      --journal moved.ndjson
  regauge migrate redis://cache:6379 --undo moved.ndjson
  regauge migrate dump.rdb --to msgpack --objects data
      the same from a dump, without the server
  regauge migrate redis://cache:6379 --to msgpack --rules rules.toml
      with a rule for single classes; the dry run prints the line for each
      class that needs one
  regauge migrate 'sqlite:app.db?table=jobs&column=body' --to msgpack --apply \\
      --journal moved.ndjson
      a column of a table; also postgres://user@host/base?table=… and mysql://…
  regauge migrate 'mongodb://host/base.jobs?field=body' --to msgpack
  regauge migrate 'cassandra://host/app.jobs?column=body' --to msgpack
      a field of a collection, a column in Cassandra

A value moves if it is Ruby's Marshal or Python's pickle. What a framework put around it stays, and
so does its expiry. It is replaced only if it is still what was read. The journal has every replaced
value, and is on the disk before the value is replaced: a migration can be stopped at any moment, run
again, and undone. It holds the values themselves: protect it like the cache or the database.

A file of rules, in TOML or JSON, says what becomes of the values of a class:
  [class]
  \"Money\" = \"fields\"        the map of its fields, or what a set holds; no class
  \"Time\" = \"text\"           its text: RFC 3339, digits, seconds, a symbol's name
  \"shop.Session\" = \"stay\"   every value that holds one stays as it is
Classes nested in a value need rules of their own. What a rule left out is not in the new value; only
--undo brings it back.

Exit status: 0 done, 1 bad data or a failed read or write, 2 wrong usage, 3 some values stay without a
rule that says so.";

/// Move the values of a cache or a table off Marshal and pickle, while it is used
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Migrate {
    /// Address of a server, such as redis://localhost; a column, such as 'sqlite:FILE?table=T&column=C'; a field,
    /// such as 'mongodb://HOST/DATABASE.COLLECTION?field=F'; or a dump; - is standard input
    #[arg(value_name = "SOURCE")]
    pub source: String,
    /// Format of the new values
    #[arg(long, value_name = "FORMAT", required_unless_present = "undo")]
    pub to: Option<Format>,
    /// Only keys that begin with this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub prefix: String,
    /// Only this database; with --undo as well
    #[arg(long, value_name = "N")]
    pub database: Option<u64>,
    /// Replace the values; without it, nothing is changed
    #[arg(long, requires = "journal")]
    pub apply: bool,
    /// File to which every replaced value is added
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Put back the values of a journal that are still what they were replaced by
    #[arg(long, value_name = "JOURNAL", conflicts_with_all = ["to", "apply", "journal", "prefix", "objects", "on_loss"])]
    pub undo: Option<PathBuf>,
    /// Most keys per second that are read from a server or a table, or put back by --undo; 0 for no limit [default: 500
    /// from Redis and Memcached, no limit for --undo]
    #[arg(long, value_name = "N")]
    pub rate: Option<u32>,
    /// Wait, however long, while a Redis spends more than this percentage of a core on all its clients
    #[arg(long, value_name = "PERCENT", conflicts_with = "undo", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub max_load: Option<u8>,
    /// File that says for single classes what becomes of their values: fields, text or stay
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    pub rules: Option<PathBuf>,
    #[arg(long, value_enum, value_name = "HOW")]
    pub objects: Option<ObjectsArg>,
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Loss::Refuse)]
    pub on_loss: Loss,
    #[arg(long, value_name = "NAME=VALUE", value_parser = limit)]
    pub limit: Vec<Limit>,
    /// Show a progress bar
    #[arg(long, value_enum, default_value_t = When::Auto, value_name = "WHEN")]
    pub progress: When,
}

/// Moves, or says what would move.
pub fn run(arguments: &Migrate) -> Result {
    let name = sources::name(&arguments.source);
    let limits = Limit::apply(&arguments.limit);
    if let Some(journal) = &arguments.undo {
        return undo(arguments, &name, &limits, journal);
    }
    let Some(to) = arguments.to else { return Ok(()) };
    if runs_code(to) {
        let name = to.name();
        return Err(Failure::usage(format!(
            "--to {name}: loading that can run code as well; pass msgpack, cbor or json"
        )));
    }
    if arguments.apply && sources::is_dump(&arguments.source) {
        return Err(Failure::usage(format!(
            "{name}: a dump cannot be changed; leave out --apply, or give the address of a server, a table or a collection"
        )));
    }
    let plan = Plan {
        to,
        objects: arguments
            .objects
            .map_or_else(|| OnLoss::from(arguments.on_loss).into(), Into::into),
        on_loss: arguments.on_loss.into(),
        rules: arguments.rules.as_deref().map_or_else(|| Ok(Rules::default()), rules)?,
        limits,
    };
    let mut work = Work {
        outcome: Outcome::default(),
        waiting: Vec::new(),
        waiting_bytes: 0,
        writer: match arguments.apply {
            true => Some(sources::open(&arguments.source, &limits, When::Never, Access::Write)?),
            false => None,
        },
        journal: match &arguments.journal {
            Some(path) if arguments.apply => {
                Some(Journal::append(path).map_err(|error| unusable(path, &error))?)
            }
            _ => None,
        },
    };
    let load = sources::load(&arguments.source, arguments.max_load)?;
    let mut source = sources::open(&arguments.source, &limits, arguments.progress, Access::Read)?;
    let wanted = Wanted {
        prefix: arguments.prefix.as_bytes(),
        database: arguments.database,
        rate: sources::rate(&arguments.source, arguments.rate),
        load,
        ..Wanted::default()
    };
    let ran = source
        .read(&wanted, &mut |item| work.take(item, &plan).map(|()| Flow::Continue))
        .and_then(|summary| work.flush().map(|()| summary.skipped));
    let skipped = ran.as_ref().copied().unwrap_or_default();
    print(text(&work.outcome, &skipped, &plan, arguments.apply).as_bytes())?;
    ran.map_err(|error| sources::failed(&name, error))?;
    if let Some(rules) = &arguments.rules {
        all_met(rules, &plan, &work.outcome, arguments.apply)?;
    }
    let stays = work.outcome.stays().values;
    if stays == 0 {
        return Ok(());
    }
    let found = format!("found {} that cannot move to {}", values(stays), to.title());
    Err(Failure::data(&name, Error::unrepresentable(found)))
}

/// Reports a journal that cannot be opened, or is none.
fn unusable(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::WouldBlock => {
            Failure::usage(format!("{}: {error}", path.display()))
        }
        _ => Failure::io(path.display(), error),
    }
}

/// Reads a file of rules: TOML, unless its name says JSON.
fn rules(path: &Path) -> Result<Rules> {
    let name = path.display().to_string();
    let unreadable = |error| Failure::usage(named("read", &name, &error));
    let mut text = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(RULES_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    if text.len() as u64 > RULES_BYTES {
        return Err(Failure::usage(format!("{name}: found more than 16 MiB, expected rules")));
    }
    let format = match Format::from_name(&name) {
        Some(Format::Json) => Format::Json,
        _ => Format::Toml,
    };
    Rules::read(&text, format).map_err(|error| Failure::data(&name, error))
}

/// Reports the rules whose class was in no value. While values move, that is no mistake: those with the class may have
/// moved before.
fn all_met(file: &Path, plan: &Plan, outcome: &Outcome, is_applied: bool) -> Result {
    let classes = &outcome.classes;
    let unmet: Vec<&str> =
        plan.rules.classes().filter(|class| !classes.ruled.contains(*class)).collect();
    let Some(first) = unmet.first() else { return Ok(()) };
    let file = file.display();
    if is_applied {
        say(&file.to_string(), format_args!("no value has the class {}", unmet.join(", ")));
        return Ok(());
    }
    let near = match nearest(first, classes.needed.keys().map(String::as_str)) {
        Some(near) => format!("the nearest that needs a rule is {near:?}"),
        None if classes.needed.is_empty() => "no class needs a rule".to_owned(),
        None => "a dry run without --rules lists the classes that need one".to_owned(),
    };
    let others = match unmet.len() {
        1 => String::new(),
        more => format!(", and none that of {} other rules", more - 1),
    };
    Err(Failure::usage(format!("{file}: no value has the class {first:?}{others}; {near}")))
}

/// A migration under way.
struct Work {
    outcome: Outcome,
    /// What is replaced next.
    waiting: Vec<(Entry, Fidelity)>,
    /// The bytes of these values, old and new.
    waiting_bytes: usize,
    /// The connection that replaces; the other one is reading. `None` if nothing is changed.
    writer: Option<Box<dyn Source>>,
    journal: Option<Journal>,
}

impl Work {
    fn take(&mut self, item: &Item<'_>, plan: &Plan) -> regauge::Result {
        let Some(value) = item.value else { return Ok(()) };
        let (new, fidelity) = match plan.step_of(item, &mut self.outcome.classes) {
            Step::Other => {
                self.outcome.others.add(item.bytes);
                return Ok(());
            }
            Step::Stay(error) => {
                self.outcome.stay(item.key, item.bytes, &error, || words::hint(&error));
                return Ok(());
            }
            // The rule for each class is printed after the reasons.
            Step::Unruled(error) => {
                self.outcome.stay(item.key, item.bytes, &error, || None);
                return Ok(());
            }
            Step::Ruled => {
                self.outcome.ruled.add(item.bytes);
                return Ok(());
            }
            Step::Move(new, fidelity) => (new, fidelity),
        };
        if self.writer.is_none() {
            self.outcome.moved.add(item.bytes);
            self.outcome.moved_bytes += new.len() as u64;
            self.outcome.lose(item.key, &fidelity);
            return Ok(());
        }
        let (key, old) = (item.key.to_vec(), value.to_vec());
        let place = item.part.into();
        self.waiting_bytes += old.len() + new.len();
        self.waiting.push((Entry { database: item.database, key, place, old, new }, fidelity));
        let is_full = self.waiting.len() >= BATCH || self.waiting_bytes >= BATCH_BYTES;
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Replaces what is waiting, after it is in the journal.
    fn flush(&mut self) -> regauge::Result {
        if let Some(journal) = &mut self.journal {
            journal.add(self.waiting.iter().map(|(entry, _)| entry))?;
        }
        self.waiting_bytes = 0;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        for (entry, fidelity) in self.waiting.drain(..) {
            match writer.replace_if_unchanged(&entry.at(), &entry.old, &entry.new) {
                Ok(Replaced::Done) => {
                    self.outcome.moved.add(entry.old.len() as u64);
                    self.outcome.moved_bytes += entry.new.len() as u64;
                    self.outcome.lose(&entry.key, &fidelity);
                }
                Ok(Replaced::Changed | Replaced::Gone | Replaced::Elsewhere) => {
                    self.outcome.changed += 1;
                }
                Err(error) if error.kind() == ErrorKind::Unrepresentable => {
                    let hint = || words::hint(&error);
                    self.outcome.stay(&entry.key, entry.old.len() as u64, &error, hint);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Says what moved and what stays.
fn text(outcome: &Outcome, skipped: &Skipped, plan: &Plan, is_applied: bool) -> String {
    let mut text = String::new();
    let moves = if is_applied { "moved" } else { "would move" };
    let _ = writeln!(
        text,
        "{moves} to {}: {}, {} before and {} after",
        plan.to.title(),
        values(outcome.moved.values),
        bytes(outcome.moved.bytes),
        bytes(outcome.moved_bytes)
    );
    for (kind, lost) in &outcome.losses {
        let times = if lost.times == 1 {
            "once".into()
        } else {
            format!("{} times", thousands(lost.times))
        };
        let wrote = if is_applied { "wrote" } else { "would write" };
        let first = lost.first.as_ref().map_or_else(String::new, |(found, written)| {
            format!("found {found}, {wrote} {written}; ")
        });
        let (count, example) = (values(lost.values), lost.example.escape_ascii());
        let _ = writeln!(
            text,
            "not kept exactly, {}: {times} in {count} ({first}the first: {example})",
            kind.name()
        );
    }
    if outcome.changed > 0 {
        let _ = writeln!(text, "changed meanwhile, and left alone: {}", values(outcome.changed));
    }
    let _ = writeln!(text, "neither Marshal nor pickle: {}", values(outcome.others.values));
    let without = [
        (skipped.absent, "rows or documents without a value"),
        (skipped.others, "documents with another type in the field"),
    ];
    for (count, what) in without.iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(text, "{what}: {}", thousands(*count));
    }
    if outcome.ruled.values > 0 {
        let _ = writeln!(text, "stay by a rule: {}", values(outcome.ruled.values));
    }
    let stays = outcome.stays();
    if stays.values > 0 {
        let _ = writeln!(text, "cannot move: {}", values(stays.values));
    }
    reasons(&mut text, outcome);
    needed(&mut text, &outcome.classes);
    if !is_applied && outcome.moved.values > 0 {
        let _ = writeln!(text, "nothing was changed; --apply --journal FILE moves them");
    }
    text
}

/// Adds why values stay.
fn reasons(text: &mut String, outcome: &Outcome) {
    let mut reasons: Vec<_> = outcome.staying.iter().collect();
    reasons.sort_by(|a, b| b.1.count.values.cmp(&a.1.count.values).then(a.0.cmp(b.0)));
    for (reason, about) in reasons.iter().take(REASONS) {
        let example = about.example.escape_ascii();
        let count = thousands(about.count.values);
        let _ = writeln!(text, "  {count:>9} {} (the first: {example})", escape_hidden(reason));
        if let Some(hint) = &about.hint {
            let _ = writeln!(text, "  {:>9} {hint}", "");
        }
    }
    let more = reasons.len().saturating_sub(REASONS);
    if more > 0 {
        let _ = writeln!(text, "  … for {more} more reasons");
    }
}

/// Adds the rules for the classes that need one, as a file of rules has them.
fn needed(text: &mut String, classes: &Classes) {
    if classes.needed.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "classes that need a rule, as --rules FILE takes them; change what does not fit:"
    );
    let _ = writeln!(text, "[class]");
    let mut needed: Vec<_> = classes.needed.iter().collect();
    needed.sort_by(|a, b| b.1.values.cmp(&a.1.values).then(a.0.cmp(b.0)));
    for (class, need) in needed {
        // As JSON escapes it, which is valid TOML too; what else cannot be seen gets TOML's longer escape.
        let name = serde_json::Value::from(class.as_str()).to_string();
        let toml = |c: char| match is_hidden(c) {
            true => format!("\\U{:08X}", u32::from(c)),
            false => c.to_string(),
        };
        let name: String = name.chars().map(toml).collect();
        let (count, example) = (values(need.values), need.example.escape_ascii());
        let _ = writeln!(text, "{name} = \"{}\"  # {count}, the first: {example}", word(need.fits));
    }
    let more = classes.left_out.len();
    if more > 0 {
        let or_more = if more >= LEFT_OUT_MAX { " or more" } else { "" };
        let s = if more == 1 { "" } else { "es" };
        let _ = writeln!(text, "# … and {}{or_more} more class{s}", thousands(more as u64));
    }
}

fn values(count: u64) -> String {
    format!("{} value{}", thousands(count), if count == 1 { "" } else { "s" })
}

/// Puts back what a journal says was replaced, the last first.
fn undo(arguments: &Migrate, name: &str, limits: &Limits, journal: &Path) -> Result {
    let entries = Entries::open(journal).map_err(|error| unusable(journal, &error))?;
    let mut server = sources::open(&arguments.source, limits, When::Never, Access::Write)?;
    let mut pace = Pace::new(arguments.rate.filter(|rate| *rate > 0));
    let (mut done, mut changed, mut gone, mut elsewhere) = (0, 0, 0, 0);
    let mut outcome = Outcome::default();
    for entry in entries {
        let entry = entry.map_err(|error| Failure::data(&journal.display().to_string(), error))?;
        if arguments.database.is_some_and(|one| one != entry.database) {
            elsewhere += 1;
            continue;
        }
        match server.replace_if_unchanged(&entry.at(), &entry.new, &entry.old) {
            Ok(Replaced::Done) => done += 1,
            Ok(Replaced::Changed) => changed += 1,
            Ok(Replaced::Gone) => gone += 1,
            Ok(Replaced::Elsewhere) => {
                elsewhere += 1;
                continue;
            }
            Err(error) if error.kind() == ErrorKind::Unrepresentable => {
                let hint = || words::hint(&error);
                outcome.stay(&entry.key, entry.new.len() as u64, &error, hint);
            }
            Err(error) => return Err(sources::failed(name, error)),
        }
        pace.wait(1);
    }
    let stays = outcome.stays().values;
    if elsewhere > 0 && done + changed + gone + stays == 0 && arguments.database.is_none() {
        return Err(Failure::usage(format!(
            "{name}: found no value of this table or collection in {}; give the address that the journal is from",
            journal.display()
        )));
    }
    let mut text = format!(
        "put back: {}; written since, or never moved: {}; gone: {}\n",
        values(done),
        thousands(changed),
        thousands(gone)
    );
    if elsewhere > 0 {
        let what = match arguments.database {
            Some(_) => "in another database, and left alone",
            None => "in another table or collection, and left alone",
        };
        let _ = writeln!(text, "{what}: {}", values(elsewhere));
    }
    if stays > 0 {
        let _ = writeln!(text, "cannot be put back: {}", values(stays));
    }
    reasons(&mut text, &outcome);
    print(text.as_bytes())?;
    if stays == 0 {
        return Ok(());
    }
    let found = format!("found {} that cannot be put back", values(stays));
    Err(Failure::data(name, Error::unrepresentable(found)))
}
