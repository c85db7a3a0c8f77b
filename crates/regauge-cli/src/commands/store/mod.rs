//! `regauge store`: documents in a database.

pub mod args;
mod key_path;
mod series;
pub mod tenants;
mod transfer;

use std::io::{self, IsTerminal as _, Read as _};
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use regauge::{Format, Limits};
use regauge_store::reencode::{self, Outcome, Plan};
use regauge_store::{
    Codec, Compression, Error, Layout, Order, Range, Settings, Store, engine, verify,
};

use args::{Keys, Place, Policy, StoreArguments, StoreCommand};

use crate::args::When;
use crate::commands::convert::{check_terminal, is_stream, output_format};
use crate::commands::inspect::trimmed;
use crate::failure::{Failure, Result, complain};
use crate::input::{Source, Wanted};
use crate::output::Destination;
use crate::progress::Meter;
use crate::report::print;

/// Losses and damaged values that are named one by one; more are only counted.
const NAMED_MAX: u64 = 20;

/// Runs one of the subcommands.
pub fn run(arguments: &StoreArguments) -> Result {
    match &arguments.command {
        StoreCommand::Put { place, key, file, from, codec, policy, new, series, buckets } => {
            let (mut document, mut format) = read(file, *from)?;
            let mut store = open(place, *codec)?;
            if policy.unwrap {
                (document, format) = unwrapped(&store, *policy, file, &document, format)?;
            } else {
                policy.apply(&mut store);
            }
            if let Some(name) = series {
                let time = regauge_store::series::parse_time(key).map_err(failure)?;
                let slice = [(time, &document[..])];
                return store.put_slices(name, *buckets, &slice, format).map(drop).map_err(failure);
            }
            let key = key.as_bytes();
            match new {
                true => match store.put_if(key, None, &document, format) {
                    Err(Error::Conflict { .. }) => {
                        return Err(Failure::Refused(format!(
                            "key {} already exists and was kept; drop --new to replace it",
                            regauge_store::shown(key)
                        )));
                    }
                    other => other,
                },
                false => store.put(key, &document, format),
            }
            .map_err(failure)
        }
        StoreCommand::Get { place, key, output, to, policy, force, series } => {
            get(place, (key, series.as_deref()), output, *to, *policy, *force)
        }
        StoreCommand::Delete { place, key, series } => {
            let mut store = one_of(place)?;
            let bytes = key_of(&store, key, series.as_deref())?;
            match store.delete(&bytes).map_err(failure)? {
                true => Ok(()),
                false => Err(absent(key)),
            }
        }
        StoreCommand::Scan { place, span, output, format, values, policy, force } => {
            let implied = format.or(is_stream(output).then_some(Format::Ndjson));
            let (to, compression) = output_format(output, implied, None)?;
            check_terminal(output, to, compression)?;
            let mut store = existing(place)?;
            let destination = Destination::open(output, *force)?;
            policy.apply(&mut store);
            series::scan(&mut store, span, destination, (to, compression), *values)
        }
        StoreCommand::Ls { place, collections: true, .. } => list_collections(place),
        StoreCommand::Ls { place, keys, long, .. } => list(place, keys, *long),
        StoreCommand::Import {
            place,
            file,
            from,
            key,
            codec,
            policy,
            progress,
            series,
            buckets,
        } => {
            let meter = Meter::new(*progress, false);
            let source = source(file, *from, meter)?;
            let mut store = open(place, *codec)?;
            let series = series.as_deref().map(|name| (name, *buckets));
            transfer::import(&mut store, &source, key.as_ref(), series, *policy)
        }
        StoreCommand::Export { place, keys, output, to, values, policy, force } => {
            let implied = to.or(is_stream(output).then_some(Format::Ndjson));
            let (to, compression) = output_format(output, implied, None)?;
            check_terminal(output, to, compression)?;
            let mut store = existing(place)?;
            let destination = Destination::open(output, *force)?;
            policy.apply(&mut store);
            transfer::export(&mut store, keys, destination, (to, compression), *values)
        }
        StoreCommand::Stat { place } => stat(place),
        StoreCommand::Verify { place, keys } => verify_all(place, keys),
        StoreCommand::Reencode { place, to, dry_run, rate, policy } => {
            let mut store = existing(place)?;
            policy.apply(&mut store);
            reencode_all(&mut store, &Plan { to: *to, dry_run: *dry_run, rate: *rate })
        }
        StoreCommand::Tenants(arguments) => tenants::run(arguments),
        StoreCommand::Adopt { .. } => adopt(&arguments.command),
        StoreCommand::Train { place, samples, size } => {
            let mut store = existing(place)?;
            if store.settings().codec.compression != Compression::Zstd {
                return Err(Failure::usage(format!(
                    "the collection stores {}; a dictionary works only with zstd: run `reencode` first",
                    store.settings().codec
                )));
            }
            let bytes = store.train(*samples, *size).map_err(failure)?;
            print(
                format!(
                    "trained a dictionary of {bytes} bytes for new values; \
                     `regauge store reencode` skips values that already have the codec\n"
                )
                .as_bytes(),
            )
        }
    }
}

fn open(place: &Place, codec: Option<Codec>) -> Result<Store> {
    let store = Store::open(&place.db, &place.collection, codec).map_err(failure)?;
    if store.engine().is_temporary() {
        return Err(Failure::usage(format!(
            "{} ends with the command, expected a database that keeps what is put",
            place.db
        )));
    }
    if let Some(wanted) = codec
        && store.settings().codec != wanted
    {
        return Err(Failure::usage(format!(
            "collection {} stores {}; `regauge store reencode --to {wanted}` changes it",
            place.collection,
            store.settings().codec
        )));
    }
    Ok(store)
}

/// Opens a collection that must exist.
fn existing(place: &Place) -> Result<Store> {
    Store::open_existing(&place.db, &place.collection).map_err(failure)
}

/// The same for a command about one key: without the collection, the key does not exist either.
fn one_of(place: &Place) -> Result<Store> {
    match Store::open_existing(&place.db, &place.collection) {
        Err(Error::Absent(message)) => Err(Failure::Value(message)),
        other => other.map_err(failure),
    }
}

/// Turns a store's error into the command's.
pub(in crate::commands) fn failure(error: Error) -> Failure {
    match error {
        Error::Usage(message) | Error::Absent(message) | Error::Exists(message) => {
            Failure::Usage(message)
        }
        Error::Document { key, error } => Failure::data(&format!("key {key}"), error),
        Error::Damaged { .. } | Error::Conflict { .. } => Failure::Value(error.to_string()),
        other => Failure::Io(other.to_string()),
    }
}

fn absent(key: &str) -> Failure {
    Failure::Value(format!("no such key \"{key}\""))
}

fn source(path: &Path, from: Option<Format>, meter: Meter) -> Result<Source> {
    let wanted = Wanted::plain(from);
    Source::open(path, &wanted, meter)
}

/// Reads a file that holds one document.
fn read(path: &Path, from: Option<Format>) -> Result<(Vec<u8>, Format)> {
    let source = source(path, from, Meter::new(When::Never, true))?;
    let mut document = Vec::new();
    let limit = Limits::default().record_bytes;
    let opened: Box<dyn io::Read> = match source.can_repeat() {
        true => source.again().map_err(|error| Failure::io(&source.name, &error))?,
        false => source.take(),
    };
    let mut take = opened.take(limit.saturating_add(1));
    take.read_to_end(&mut document).map_err(|error| Failure::io(&source.name, &error))?;
    if document.len() as u64 > limit {
        return Err(Failure::usage(format!(
            "{}: a stored document must fit in memory, and this one exceeds {limit} bytes",
            source.name
        )));
    }
    if source.format == Format::Ndjson && has_several(&document) {
        return Err(Failure::usage(format!(
            "{}: found several documents, expected one; `regauge store import` stores each",
            source.name
        )));
    }
    // A line of NDJSON is a JSON document, and so is a value.
    let format = if source.format == Format::Ndjson { Format::Json } else { source.format };
    Ok((document, format))
}

/// Returns whether NDJSON has more lines after its first document.
fn has_several(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    let options = regauge::Options::new(Format::Json, Format::Json);
    lines.next().is_some() && regauge::read_values(first, &options).is_ok()
}

/// Returns the stored key for an argument: itself, or that of its time in a series.
fn key_of(store: &Store, key: &str, series: Option<&str>) -> Result<Vec<u8>> {
    match series {
        Some(name) => series::key(store, name, key),
        None => Ok(key.as_bytes().to_vec()),
    }
}

/// Encodes a document in the wrapped notation in the store's format. The policy has been applied by
/// then, so the store has nothing left to do.
fn unwrapped(
    store: &Store,
    policy: Policy,
    file: &Path,
    document: &[u8],
    format: Format,
) -> Result<(Vec<u8>, Format)> {
    let to = store.settings().codec.format;
    let mut options = policy.options(format, to);
    options.documents = regauge::documents::Documents::Keep;
    regauge::convert_bytes(document, &options)
        .map(|converted| (converted, to))
        .map_err(|error| Failure::data(&file.to_string_lossy(), error))
}

fn get(
    place: &Place,
    (key, series): (&str, Option<&str>),
    output: &Path,
    to: Option<Format>,
    policy: Policy,
    force: bool,
) -> Result {
    let implied = to.or(is_stream(output).then_some(Format::Json));
    let (to, compression) = output_format(output, implied, None)?;
    check_terminal(output, to, compression)?;
    let mut store = one_of(place)?;
    policy.apply(&mut store);
    let format = if to == Format::Ndjson { Format::Json } else { to };
    let bytes = key_of(&store, key, series)?;
    let found = store.get(&bytes, format).map_err(failure)?;
    let mut document = found.ok_or_else(|| absent(key))?;
    if format.is_json() {
        document.push(b'\n');
    }
    let destination = Destination::open(output, force)?;
    let outlet = destination.outlet(compression, None, 1);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    let written = regauge::output::Output::write(&mut outlet, &document);
    written
        .and_then(|()| outlet.finish())
        .map_err(|error| Failure::io(&destination.name, &error))?;
    destination.commit()
}

/// Returns the range and the order that the options specify.
pub(super) fn range(store: &Store, keys: &Keys) -> Result<(Range, Order)> {
    let bytes = |key: &Option<String>| key.as_ref().map(|key| key.clone().into_bytes());
    let range = match &keys.prefix {
        Some(prefix) => store.prefix(prefix.as_bytes()).map_err(failure)?,
        None => Range { from: bytes(&keys.from_key), to: bytes(&keys.to_key) },
    };
    Ok((range, if keys.descending { Order::Descending } else { Order::Ascending }))
}

/// Prints a key on a line of its own: verbatim if it is plain text, else in hexadecimal.
fn line(key: &[u8]) -> String {
    regauge_store::legible(key).map_or_else(|| regauge_store::shown(key), str::to_owned)
}

fn list(place: &Place, keys: &Keys, long: bool) -> Result {
    use std::io::Write as _;
    let mut store = existing(place)?;
    let (range, order) = range(&store, keys)?;
    let mut left = keys.limit.unwrap_or(u64::MAX);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failed = None;
    let mut bad = 0;
    store
        .scan(&range, order, &mut |store, key, value| {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            let text = match long {
                false => line(key),
                true => match store.unseal(key, value) {
                    Ok(entry) => {
                        let created = entry.created.map_or("-".to_owned(), |at| time(at.into()));
                        let (stored, document) = (entry.stored_bytes, entry.document.len());
                        format!(
                            "{:14} {stored:>10} {document:>10} {created:20} {}",
                            entry.codec,
                            line(key)
                        )
                    }
                    Err(error @ Error::Damaged { .. }) => {
                        name(&error, &mut bad)?;
                        let stored = value.len();
                        format!("{:14} {stored:>10} {:>10} {:20} {}", "bad", "-", "-", line(key))
                    }
                    Err(other) => return Err(other),
                },
            };
            failed = writeln!(out, "{text}").err();
            Ok(failed.is_none())
        })
        .map_err(failure)?;
    match failed.or_else(|| out.flush().err()) {
        Some(error) => Err(Failure::io("standard output", &error)),
        None => all_good(bad),
    }
}

/// Ends a walk that has named this many bad values.
pub(super) fn all_good(bad: u64) -> Result {
    match bad {
        0 => Ok(()),
        1 => Err(Failure::Value("1 value is damaged or cannot be decoded".to_owned())),
        bad => Err(Failure::Value(format!("{bad} values are damaged or cannot be decoded"))),
    }
}

/// Formats seconds since 1970 as in RFC 3339.
fn time(seconds: i64) -> String {
    let time = regauge::ext::Timestamp { seconds, nanoseconds: 0 };
    time.to_rfc3339().unwrap_or_else(|| "-".to_owned())
}

fn list_collections(place: &Place) -> Result {
    let engine = engine::open_existing(&place.db).map_err(failure)?;
    for name in Store::collections(&*engine).map_err(failure)? {
        print(format!("{name}\n").as_bytes())?;
    }
    Ok(())
}

fn table(rows: Vec<[String; 5]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["codec", "values", "stored", "a value", "share"]);
    for row in rows {
        table.add_row(row);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!("{}\n", trimmed(&table))
}

fn stat(place: &Place) -> Result {
    let mut store = existing(place)?;
    let mut named = 0;
    let found = verify::verify(
        &mut store,
        &Range::all(),
        &mut |error| name(error, &mut named),
        &mut |_| (),
    )
    .map_err(failure)?;
    let Settings { codec, assume, layout } = store.settings();
    let mut text = format!(
        "{}, collection {}: table {} ({} → {}), new values in {codec}\n",
        store.engine().name(),
        store.name(),
        layout.table,
        layout.key,
        layout.value,
    );
    if let Some(assume) = assume {
        let coded = if assume.base64 { " in Base64" } else { "" };
        text += &format!(
            "{} values without an envelope, assumed to be {}{coded}\n",
            found.bare,
            assume.format.title()
        );
    }
    text += &format!(
        "{} values, {} bytes stored, {} bytes of documents, {} bad\n",
        found.values, found.stored_bytes, found.document_bytes, found.bad
    );
    if !found.codecs.is_empty() {
        let rows = found.codecs.iter().map(|(codec, values, bytes)| {
            [
                codec.to_string(),
                values.to_string(),
                bytes.to_string(),
                (bytes / values.max(&1)).to_string(),
                format!("{:.1}%", *bytes as f64 * 100.0 / found.stored_bytes.max(1) as f64),
            ]
        });
        text += &table(rows.collect());
    }
    print(text.as_bytes())?;
    warn(&store);
    all_good(found.bad)
}

/// Tells what is known of the program that wrote the database last.
fn warn(store: &Store) {
    if let Some(warning) = store.engine().warning() {
        complain(warning);
    }
}

/// Names a bad value; only the first few are named.
pub(super) fn name(error: &Error, named: &mut u64) -> regauge_store::Result {
    *named += 1;
    match *named {
        1..=NAMED_MAX => match error {
            Error::Document { key, error } => {
                complain(format_args!("key {key}: {}", crate::words::text(error)));
            }
            other => complain(other),
        },
        n if n == NAMED_MAX + 1 => complain("further ones are only counted"),
        _ => {}
    }
    Ok(())
}

fn verify_all(place: &Place, keys: &Keys) -> Result {
    let mut store = existing(place)?;
    let (range, order) = range(&store, keys)?;
    let which = (&range, order, keys.limit.unwrap_or(u64::MAX));
    let mut named = 0;
    let found =
        verify::verify_first(&mut store, which, &mut |error| name(error, &mut named), &mut |_| ())
            .map_err(failure)?;
    print(format!("{} values, {} bad\n", found.values, found.bad).as_bytes())?;
    if found.swept > 0 {
        complain(format_args!(
            "removed the leftovers of crashed writers from {} large values",
            found.swept
        ));
    }
    warn(&store);
    all_good(found.bad)
}

fn reencode_all(store: &mut Store, plan: &Plan) -> Result {
    let mut named = 0;
    let bar = io::stderr().is_terminal().then(indicatif::ProgressBar::new_spinner);
    let mut progress = |outcome: &Outcome| {
        if let Some(bar) = &bar
            && outcome.values.is_multiple_of(256)
        {
            bar.set_message(format!("{} values", outcome.values));
            bar.tick();
        }
    };
    let mut damaged = 0;
    let mut on_refused = |error: &Error| {
        damaged += u64::from(matches!(error, Error::Damaged { .. }));
        name(error, &mut named)
    };
    let outcome = reencode::reencode(store, plan, &mut on_refused, &mut progress);
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let outcome = outcome.map_err(|error| match error {
        Error::Engine { .. } | Error::Full { .. } if !plan.dry_run => Failure::Io(format!(
            "{error}; the values before it are in the new codec: run the command again, and it continues"
        )),
        other => failure(other),
    })?;
    if let Some(key) = &outcome.resumed_after {
        complain(format_args!("continued after key {}", regauge_store::shown(key)));
    }
    let (before, after) = (outcome.bytes_before, outcome.bytes_after);
    let saved = match before {
        0 => String::new(),
        _ => format!(" ({:+.1}%)", after as f64 * 100.0 / before as f64 - 100.0),
    };
    let verb = if plan.dry_run { "would change" } else { "changed" };
    let mut text = format!(
        "{} of {} values {verb}: {before} bytes to {after}{saved}; {} had {} already\n",
        outcome.changed, outcome.values, outcome.already, plan.to
    );
    if outcome.overtaken > 0 {
        text += &format!(
            "{} were changed by other writers meanwhile, and were left alone\n",
            outcome.overtaken
        );
    }
    print(text.as_bytes())?;
    match outcome.refused {
        0 => Ok(()),
        refused if refused == damaged => {
            Err(Failure::Value(format!("{damaged} damaged values were left unchanged")))
        }
        refused => Err(Failure::Refused(format!(
            "{refused} values were left unchanged, {damaged} of them because they are damaged; for \
             what {} cannot hold exactly, --objects and --on-loss offer alternatives",
            plan.to
        ))),
    }
}

fn adopt(command: &StoreCommand) -> Result {
    let StoreCommand::Adopt {
        place,
        table,
        key_column,
        key_kind,
        value_column,
        assume,
        text,
        codec,
    } = command
    else {
        return Ok(());
    };
    let engine = engine::open_existing(&place.db).map_err(failure)?;
    let mut store = Store::with_engine(engine, &place.collection, None).map_err(failure)?;
    let layout = Layout {
        table: table.clone(),
        key: key_column.clone(),
        value: value_column.clone(),
        key_kind: *key_kind,
        text: *text,
    };
    let own = Codec::new(assume.format, Compression::None).map_err(failure)?;
    let codec = codec.unwrap_or(own);
    store.adopt(Settings { codec, assume: Some(*assume), layout }).map_err(failure)?;
    stat(place)
}
