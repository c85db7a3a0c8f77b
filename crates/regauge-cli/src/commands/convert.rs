//! `regauge convert`: from one file to another.

use std::io::{self, IsTerminal as _, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regauge::convert::{Input, NAMED_BAD_RECORDS, Options, Selection, Summary, convert, read};
use regauge::documents::Documents;
use regauge::options::{DuplicateKeys, Envelopes};
use regauge::output::{Output, StreamOutput};
use regauge::reader::Skipped;
use regauge::{Error, Format, OnLoss};
use regauge_query::{Feed, Filter, Settings, Stage, on_large_stack};

use crate::args::{
    Bad, Convert, Limit, Numbers, Packed, Packing, Reading, threads, warn_without_effect,
};
use crate::commands::enveloped;
use crate::failure::{Failure, Result, say};
use crate::input::{Source, Wanted};
use crate::output::{Destination, Outlet};
use crate::progress::Meter;
use crate::report::{Report, Side};
use crate::tables::{Form, Table, check_whole};
use crate::words;
use regauge_packing::files::Compression;
use way::Way;

mod way;

/// Below this size, one thread finishes before a second has started.
const SMALL_BYTES: u64 = 1 << 20;

/// Converts a file.
pub fn run(arguments: &Convert) -> Result {
    let time = Limit::time(&arguments.reading.limit);
    let exact_numbers = arguments.numbers == Numbers::Exact;
    let filter = arguments.filter.stage(Settings { time, exact_numbers, ..Settings::default() })?;
    run_with(arguments, filter, &|_| {})
}

/// Converts a file, with a filter on the way, and adjusted options.
pub fn run_with(
    arguments: &Convert,
    filter: Option<Arc<Stage>>,
    adjust: &dyn Fn(&mut Options),
) -> Result {
    let (to, compression) = output_form(arguments)?;
    check_outputs(arguments)?;
    let to_terminal = check_terminal(&arguments.output, to, compression)?;
    let meter = Meter::new(arguments.progress, to_terminal || arguments.quiet);
    let mut source = open(&arguments.input, &arguments.reading, meter)?;
    if filter.as_ref().is_some_and(|filter| filter.reads_nothing()) {
        source.name = "no input".to_owned();
    }
    let source = Arc::new(source);
    let mut options = options(arguments, &source, to.format().unwrap_or(Format::Ndjson))?;
    if options.sample.is_some() && !source.can_repeat() {
        return Err(Failure::usage(format!(
            "{}: --sample reads the input twice, and a pipe can be read once; write it to a file \
             first, or pass --head",
            source.name
        )));
    }
    options.stage = filter.clone().map(|filter| filter as Arc<dyn regauge::stage::Stage>);
    adjust(&mut options);
    if filter.as_ref().is_some_and(|filter| filter.reads_inputs()) {
        way::refuse_pull(&source, to)?;
    }
    let mut way = Way::choose(arguments, &source, to, &mut options, filter.as_deref())?;
    if !arguments.quiet && !filter.as_ref().is_some_and(|filter| filter.reads_nothing()) {
        warn_without_effect(source.form(), Some(to), filter.is_some());
    }
    let destination = Destination::open(&arguments.output, arguments.force)?;
    let mut aside = Aside::open(arguments, &source, to)?;
    let outlet = destination.outlet(compression, arguments.level, threads(arguments.reading.jobs));
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;

    let ran = match (&mut way, &source.opened) {
        (Some(way), _) => {
            let mut run = || way.run(&source, &mut outlet, &options, &mut aside);
            if filter.is_some() { on_large_stack(run) } else { run() }
        }
        (None, Some(opened)) if options.envelope == Envelopes::Keep => {
            let mut bytes = Vec::new();
            let mut memory = StreamOutput::new(&mut bytes);
            through(filter.as_deref(), &source, &mut memory, &options, &mut aside).and_then(
                |summary| {
                    outlet.write(&enveloped::close(opened, bytes, &options)?)?;
                    Ok(summary)
                },
            )
        }
        (None, _) => through(filter.as_deref(), &source, &mut outlet, &options, &mut aside),
    };
    drop(way);
    source.finish_progress();
    let plain_bytes = outlet.bytes;
    let ran = ran.and_then(|summary| {
        outlet.finish()?;
        Ok(summary)
    });
    if let Some(report) = aside.report.take() {
        let input = Side {
            name: &source.file,
            form: source.form(),
            compression: source.compression,
            bytes: Some(source.consumed()),
            plain_bytes: None,
        };
        let output = Side {
            name: &destination.name,
            form: to,
            compression,
            bytes: destination.size(),
            plain_bytes: Some(plain_bytes),
        };
        report.end(&input, &output, source.opened.as_deref(), ran.as_ref(), &options.select)?;
    }
    if let Some(opened) = &source.opened
        && ran.is_ok()
        && !arguments.quiet
    {
        say(&source.file, enveloped::note(opened, options.envelope));
    }
    let name = source.name.clone();
    // Windows does not replace a file that is open.
    drop(source);
    let summary = ran.map_err(|error| Failure::data(&name, error))?;
    aside.commit()?;
    destination.commit()?;
    if !arguments.quiet {
        summarize(&name, &summary, &arguments.bad);
        for line in unmatched(&summary, &options.select) {
            say(&name, line);
        }
    }
    Ok(())
}

/// What is written besides the output: broken records, and the report.
struct Aside {
    bad: Option<(Destination, Outlet)>,
    report: Option<Report>,
    quiet: bool,
}

impl Aside {
    fn open(arguments: &Convert, source: &Source, to: Form) -> Result<Aside> {
        let bad = match &arguments.bad {
            Bad::Keep(path) => {
                let file = Destination::open(path, arguments.force)?;
                let (compression, _) = Compression::from_name(&file.name);
                let outlet = file.outlet(compression, None, 1);
                let outlet = outlet.map_err(|error| Failure::io(&file.name, &error))?;
                Some((file, outlet))
            }
            Bad::Stop | Bad::Skip => None,
        };
        let report = match &arguments.report {
            Some(path) => {
                let file = Destination::open(path, arguments.force)?;
                Some(Report::begin(file, source, to)?)
            }
            None => None,
        };
        Ok(Aside { bad, report, quiet: arguments.quiet })
    }

    /// Reports a broken record, and keeps it.
    fn take(&mut self, name: &str, one: &Skipped, meter: &Meter) -> regauge::Result {
        if !self.quiet
            && let Some(error) = &one.error
        {
            meter.aside(|| say(name, words::text(error)));
        }
        if let Some((_, outlet)) = &mut self.bad {
            outlet.write(&one.head)?;
            outlet.write(&one.bytes)?;
        }
        match &mut self.report {
            Some(report) => report.bad(one),
            None => Ok(()),
        }
    }

    /// Puts the file of broken records in its place, even if it is empty.
    fn commit(self) -> Result {
        let Some((file, outlet)) = self.bad else { return Ok(()) };
        outlet.finish().map_err(|error| Failure::io(&file.name, &error))?;
        file.commit()
    }
}

/// Runs the conversion, with the filter if there is one.
fn through(
    filter: Option<&Stage>,
    source: &Source,
    outlet: &mut (impl Output + Send),
    options: &Options,
    aside: &mut Aside,
) -> std::result::Result<Summary, Error> {
    match filter {
        Some(filter) => on_large_stack(|| match filter.reads_inputs() {
            true => pull(filter, source, outlet, options, aside),
            false => convert_source(source, outlet, options, aside),
        }),
        None => convert_source(source, outlet, options, aside),
    }
}

fn convert_source(
    source: &Source,
    outlet: &mut (impl Output + Send),
    options: &Options,
    aside: &mut Aside,
) -> std::result::Result<Summary, Error> {
    let meter = source.meter();
    let name = source.name.clone();
    let mut on_bad = |one: Skipped| aside.take(&name, &one, &meter);
    if options.jobs > 1 && source.is_plain_file() {
        return convert(Input::At(source), outlet, options, &mut on_bad);
    }
    let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
    convert(source.input(&again), outlet, options, &mut on_bad)
}

/// Runs a filter that reads the documents itself. Options about documents apply to those that are read, not to what the
/// filter makes of them.
fn pull(
    filter: &Stage,
    source: &Source,
    outlet: &mut (impl Output + Send),
    options: &Options,
    aside: &mut Aside,
) -> std::result::Result<Summary, Error> {
    let mut writing = options.clone();
    writing.stage = None;
    let mut reading = writing.clone();
    reading.to = reading.from;
    (reading.jobs, reading.on_loss, reading.objects) = (1, OnLoss::Refuse, None);
    reading.limits.nodes = reading.limits.nodes.max(Filter::VALUES_MAX);
    (writing.select, writing.head, writing.sample) = (Selection::default(), None, None);
    writing.duplicate_keys = DuplicateKeys::Keep;
    // What is split is what is read, and what is joined is what is written.
    (reading.documents, writing.documents) = match options.documents {
        Documents::Split => (Documents::Split, Documents::Keep),
        documents => (Documents::Keep, documents),
    };
    let meter = source.meter();
    let name = source.name.clone();
    let read = |feed: &mut Feed| {
        let mut on_bad = |one: Skipped| aside.take(&name, &one, &meter);
        let again = || -> io::Result<Box<dyn Read + Send>> { source.again() };
        read(source.input(&again), &reading, feed, &mut on_bad)
    };
    filter.pull(read, outlet, &writing)
}

/// Opens an input as the options specify.
///
/// # Errors
/// Those of [`Source::open`].
pub fn open(path: &Path, reading: &Reading, meter: Meter) -> Result<Source> {
    let wanted = Wanted {
        form: reading.from,
        encoding: reading.input_encoding,
        compression: reading.decompress.map(|packing| packing.0),
        limits: Limit::apply(&reading.limit),
        jobs: threads(reading.jobs),
        tables: true,
        envelope: reading.envelope.into(),
        secret: enveloped::secret(reading)?,
        salt: reading.salt.clone(),
    };
    Source::open(path, &wanted, meter)
}

/// Applies the reading options of `convert` and `inspect`.
pub fn read_options(options: &mut Options, reading: &Reading) {
    options.limits = Limit::apply(&reading.limit);
    options.envelope = reading.envelope.into();
    options.json_read.comments = reading.json_comments;
    options.json_read.trailing_commas = reading.json_trailing_commas;
    options.json_read.non_finite = reading.json_allow_nan;
    options.marc.charset = reading.marc_charset;
    options.marc.repair = reading.marc_repair;
    options.marc.references = reading.marc_references;
    reading.formats.apply(options);
}

/// Returns what the arguments ask for.
///
/// # Errors
/// `Usage` if rules of the selection contradict each other.
pub fn options(arguments: &Convert, source: &Source, to: Format) -> Result<Options> {
    let mut options = asked(arguments, source.format, to)?;
    let small = source.compression.is_none() && source.size.is_some_and(|size| size < SMALL_BYTES);
    options.jobs = if small { 1 } else { threads(arguments.reading.jobs) };
    Ok(options)
}

/// The same, for an input that is not looked at.
pub fn asked(arguments: &Convert, from: Format, to: Format) -> Result<Options> {
    let mut options = Options::new(from, to);
    read_options(&mut options, &arguments.reading);
    options.on_loss = arguments.on_loss.into();
    options.unwrap = arguments.unwrap;
    options.objects = arguments.objects.map(Into::into);
    options.documents = arguments.documents.into();
    options.duplicate_keys = arguments.duplicate_keys.into();
    options.skip_bad = arguments.bad != Bad::Stop;
    options.keep_bad = arguments.bad != Bad::Skip || arguments.report.is_some();
    options.report = arguments.report.is_some();
    options.select = selection(arguments)?;
    options.head = arguments.head;
    options.sample = arguments.sample;
    options.seed = arguments.seed.unwrap_or_default();
    options.json_read.exact_numbers = arguments.numbers == Numbers::Exact;
    options.yaml.exact_numbers = options.json_read.exact_numbers;
    options.json_write.indent = if arguments.pretty { Some(2) } else { arguments.json_indent };
    options.json_write.escape_non_ascii = arguments.json_ascii;
    arguments.yaml_write.apply(&mut options);
    options.marc.write_charset = arguments.marc_write_charset;
    options.marc.oversize = arguments.marc_oversize;
    options.marc.compact = arguments.marc_compact;
    Ok(options)
}

/// Returns the rules of `--only`, `--drop` and `--rename`.
fn selection(arguments: &Convert) -> Result<Selection> {
    let mut selection = Selection::new();
    for rule in [&arguments.only, &arguments.drop, &arguments.rename].into_iter().flatten() {
        selection.add(rule.clone()).map_err(Failure::usage)?;
    }
    selection.check().map_err(Failure::usage)?;
    Ok(selection)
}

/// Returns a line for each path that matched nothing.
fn unmatched(summary: &Summary, selection: &Selection) -> Vec<String> {
    let hint = match summary.matches.met_arrays() {
        true => "; a document is an array, whose elements are at [*]",
        false => "",
    };
    let rules = summary.matches.unmatched(selection);
    rules.map(|rule| format!("--{rule} matched nothing{hint}")).collect()
}

/// Returns whether a path means a standard stream.
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Returns what an output is, and the compression around it, from the options and its name.
fn output_form(arguments: &Convert) -> Result<(Form, Option<Compression>)> {
    let Convert { output, to, compress, level, .. } = arguments;
    let name = output.to_string_lossy();
    let (by_name, stem) = Compression::from_name(&name);
    let table = match to {
        Some(Form::Table(table)) => Some(*table),
        Some(Form::Format(_)) => None,
        None => Table::from_name(stem),
    };
    if let Some(table) = table {
        check_whole(table, output, by_name)?;
        return Ok((Form::Table(table), None));
    }
    let packing = match compress {
        None => None,
        Some(Packed::Whole(packing)) => Some(*packing),
        Some(Packed::Snappy) => {
            return Err(Failure::usage(
                "--compress snappy is for the pages of Parquet; pass another",
            ));
        }
    };
    let (format, compression) = output_format(output, to.and_then(Form::format), packing)?;
    check_level(*level, compression)?;
    Ok((format.into(), compression))
}

/// Returns an output's format and compression, from the options and its name.
///
/// # Errors
/// `Usage` if they do not determine the format.
pub fn output_format(
    path: &Path,
    to: Option<Format>,
    compress: Option<Packing>,
) -> Result<(Format, Option<Compression>)> {
    let name = path.to_string_lossy();
    let (by_name, stem) = Compression::from_name(&name);
    let compression = compress.map_or(by_name, |packing| packing.0);
    if let Some(format) = to.or_else(|| Format::from_name(stem)) {
        return Ok((format, compression));
    }
    let of = if is_stream(path) { "standard output" } else { &*name };
    Err(Failure::usage(format!(
        "{of}: cannot tell the format to write; pass --to with one of {}",
        Form::names(true)
    )))
}

/// Refuses to write what a terminal cannot show.
///
/// # Errors
/// `Usage`.
pub fn check_terminal(
    path: &Path,
    to: impl Into<Form>,
    compression: Option<Compression>,
) -> Result<bool> {
    let to_terminal = is_stream(path) && io::stdout().is_terminal();
    if to_terminal && (compression.is_some() || !to.into().is_text()) {
        return Err(Failure::usage(
            "standard output is a terminal, which cannot show this; name a file, or use a pipe",
        ));
    }
    Ok(to_terminal)
}

/// Refuses a level that the compression does not have.
///
/// # Errors
/// `Usage`.
pub fn check_level(level: Option<u32>, compression: Option<Compression>) -> Result {
    let Some(level) = level else { return Ok(()) };
    let Some(compression) = compression else {
        return Err(Failure::usage("--level needs a compressed output; pass --compress"));
    };
    let name = compression.name();
    match compression.levels() {
        None => Err(Failure::usage(format!("{name} has no compression levels; drop --level"))),
        Some(levels) if !levels.contains(&level) => Err(Failure::usage(format!(
            "--level {level} is out of range for {name}, which takes {} to {}",
            levels.start(),
            levels.end()
        ))),
        Some(_) => Ok(()),
    }
}

/// Refuses two outputs in the same place, and one that would take the place of the input. OUT may: it does so when all
/// of the input has been read.
fn check_outputs(arguments: &Convert) -> Result {
    let mut outputs = vec![("OUT", &arguments.output)];
    if let Bad::Keep(path) = &arguments.bad {
        outputs.push(("--bad", path));
    }
    outputs.extend(arguments.report.as_ref().map(|path| ("--report", path)));
    let input = place(&arguments.input);
    for (index, (name, path)) in outputs.iter().enumerate() {
        let here = place(path);
        let same = outputs[..index].iter().find(|(_, other)| place(other) == here);
        let is_input = index > 0 && path.as_os_str() != "-" && here == input && here.is_file();
        if let Some(other) = same.map(|(other, _)| *other).or(is_input.then_some("IN")) {
            let path = path.display();
            return Err(Failure::usage(format!("{other} and {name} name the same file, {path}")));
        }
    }
    Ok(())
}

/// Returns where a file is or will be: the same for every way to write its path.
fn place(path: &Path) -> PathBuf {
    let folder =
        || path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = || Some(dunce::canonicalize(folder()).ok()?.join(path.file_name()?));
    let found =
        if path.as_os_str() == "-" { None } else { dunce::canonicalize(path).ok().or_else(beside) };
    found.unwrap_or_else(|| path.to_owned())
}

/// Prints what was not kept to standard error, one line per kind.
fn summarize(name: &str, summary: &Summary, bad: &Bad) {
    let all = summary.documents + summary.bad_records;
    for loss in summary.fidelity.losses() {
        let times = if loss.count == 1 { "once".into() } else { format!("{} times", loss.count) };
        let mut line = format!("{}: {times}", loss.kind.name());
        if let Some(first) = loss.examples.first() {
            line += if loss.count == 1 { ": " } else { ", first: " };
            if let Some(record) = first.record.filter(|_| all > 1) {
                line += &format!("record {record}, ");
            }
            if let Some(path) = &first.path {
                line += &format!("at {path}, ");
            }
            line += &format!("found {}, wrote {}", first.found, first.written);
        }
        say(name, line);
    }
    if summary.bad_records > 0 {
        let mut kept = match bad {
            Bad::Keep(path) => format!("; their bytes are in {}", path.display()),
            Bad::Stop | Bad::Skip => String::new(),
        };
        let count = summary.bad_records;
        if count > NAMED_BAD_RECORDS {
            kept += &format!("; the first {NAMED_BAD_RECORDS} are named above");
        }
        say(name, format_args!("{count} of {all} records were broken and skipped{kept}"));
    }
}
