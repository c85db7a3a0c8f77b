//! `regauge query`: a filter of the jq language over any format.

use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use clap::Args;
use regauge::json::Framing;
use regauge::{Format, Options};
use regauge_query::{Settings, Stage};

use crate::args::{Convert, DocumentsArg, EnvelopeArg, Limit, Numbers};
use crate::commands::convert::{self, is_stream};
use crate::failure::{Failure, Result};
use crate::tables::Form;
use regauge_packing::files::Compression;

mod in_place;

const EXAMPLES: &str = "\
Examples:
  regauge query 'select(.state == \"NY\") | {id, name}' people.bson
  regauge query -r '.user.name' events.ndjson.zst
  regauge query '.[] | select(.price > 10)' shop.yaml cheap.msgpack
  regauge query -s 'map(.size) | add' a.ndjson
  regauge query --each '.items[]' '{id, total}' large.json
      runs the filter over each item, and holds only that in memory
  regauge query '._id | kind, tostring' people.bson
  regauge query --in-place '.version = \"2\"' a.yaml b.toml c.json
      changes that value and no other byte of the files

Without --to, the output is JSON, unless the name of a file says otherwise: indented on a terminal,
else one document per line. Values that the output cannot hold follow --on-loss. Maps keep the order
of their keys. docs/query.md lists the functions, and the differences from jq.

Exit status: 0 done, 1 bad data, a filter that failed, or a failed read or write, 2 wrong usage,
3 refused because something would be lost. With -e: 1 if the last output is false or null, 4 without
output.";

pub const ABOUT: &str = "Filter and reshape documents with the jq language, in any format";

/// Filter and reshape documents with the jq language, in any format
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Query {
    /// Filter of the jq language
    #[arg(value_name = "FILTER")]
    pub program: Option<String>,
    /// Read the filter from a file
    #[arg(help_heading = "Filter", long, short = 'f', value_name = "FILE")]
    pub from_file: Option<PathBuf>,
    /// Run the filter once, over an array of all documents
    #[arg(help_heading = "Filter", long, short, conflicts_with_all = ["null_input", "each"])]
    pub slurp: bool,
    /// Run the filter once, over null; `input` and `inputs` read the documents
    #[arg(help_heading = "Filter", long, short, conflicts_with = "each")]
    pub null_input: bool,
    /// Write texts without quotes
    #[arg(help_heading = "Output", long, short, alias = "raw")]
    pub raw_output: bool,
    /// Write each document on one line [default: unless the output is a terminal]
    #[arg(help_heading = "Output", long, short, conflicts_with_all = ["pretty", "json_indent"])]
    pub compact_output: bool,
    /// Write the keys of maps in order
    #[arg(help_heading = "Output", long, short = 'S')]
    pub sort_keys: bool,
    /// Exit with status 1 if the last output is false or null, and with 4 without output
    #[arg(help_heading = "Output", long, short)]
    pub exit_status: bool,
    /// Change the files, YAML, TOML or JSON, and keep every byte that need not change, with comments;
    /// a change that cannot be made so is refused
    #[arg(help_heading = "Output", long, short, conflicts_with_all = NOT_IN_PLACE)]
    pub in_place: bool,
    #[command(flatten)]
    pub convert: Convert,
    /// With --in-place: more files to change
    #[arg(value_name = "FILE")]
    pub more: Vec<PathBuf>,
}

/// Options about an output of its own. Of those that people may expect to work, [`in_place`] says why
/// they do not.
const NOT_IN_PLACE: [&str; 25] = [
    "compact_output",
    "envelope",
    "secret_file",
    "salt",
    "sort_keys",
    "compress",
    "level",
    "force",
    "on_loss",
    "unwrap",
    "objects",
    "duplicate_keys",
    "documents",
    "bad",
    "only",
    "drop",
    "rename",
    "head",
    "sample",
    "json_indent",
    "pretty",
    "json_ascii",
    "parquet_sample",
    "parquet_schema",
    "report",
];

/// Adapts what `query` takes over from `convert`: files are optional, and `-f` is another option.
pub fn adapt(command: clap::Command) -> clap::Command {
    let optional = |arg: clap::Arg| arg.required(false).default_value("-").hide_default_value(true);
    command
        .about(ABOUT)
        .after_help(EXAMPLES)
        .mut_arg("input", |arg| optional(arg).help("File to read [default: standard input]"))
        .mut_arg("output", |arg| optional(arg).help("File to write [default: standard output]"))
        // A changed argument moves to the end, and these are told apart by their order.
        .mut_arg("more", |arg| arg)
        .mut_arg("force", |arg| arg.short(None))
        .mut_arg("filter", |arg| arg.hide(true).conflicts_with("from_file"))
}

/// Runs the filter.
pub fn run(arguments: &mut Query) -> Result {
    if arguments.in_place {
        return in_place::run(arguments);
    }
    if let Some(third) = arguments.more.first() {
        return Err(Failure::usage(format!(
            "found a third file, {}: query reads one file and writes one; join several of one format with `cat`, or pass \
             --in-place to change them",
            third.display()
        )));
    }
    take_filter(arguments)?;
    let stage = arguments.convert.filter.stage(settings(arguments))?;
    let convert = &mut arguments.convert;
    if let Some(stage) = &stage
        && stage.reads_nothing()
    {
        // Nothing is read, so nothing needs to be there.
        convert.input = "/dev/null".into();
        convert.reading.from = Some(Format::Ndjson.into());
    }
    let (pretty, is_sequence) = take_form(convert, arguments.compact_output);
    let raw = arguments.raw_output;
    let adjust = |options: &mut Options| {
        options.json_write.sequence = is_sequence;
        options.json_write.raw_text = raw;
        if pretty {
            options.json_write.indent = Some(options.json_write.indent.unwrap_or(2));
        }
        options.json_read.framing = Framing::Concatenated;
    };
    convert::run_with(convert, stage.clone(), &adjust)?;
    exit_status(stage.as_deref().filter(|_| arguments.exit_status))
}

fn settings(arguments: &Query) -> Settings {
    Settings {
        slurp: arguments.slurp,
        null_input: arguments.null_input,
        sort_keys: arguments.sort_keys,
        note_last: arguments.exit_status,
        each: None,
        time: Limit::time(&arguments.convert.reading.limit),
        exact_numbers: arguments.convert.numbers == Numbers::Exact,
    }
}

/// Returns the status that the last output of a filter asks for.
fn exit_status(stage: Option<&Stage>) -> Result {
    match stage.map(Stage::last) {
        None | Some(Some(true)) => Ok(()),
        Some(Some(false)) => Err(Failure::Quiet(crate::failure::BAD_DATA)),
        Some(None) => Err(Failure::Quiet(crate::failure::NO_VALUE)),
    }
}

/// Finds the filter: the first argument, or a file; the arguments that follow are the files.
fn take_filter(arguments: &mut Query) -> Result {
    let convert = &mut arguments.convert;
    if convert.filter.filter.is_some() {
        return Err(Failure::usage("the filter of `query` is its first argument; drop --filter"));
    }
    let Some(path) = &arguments.from_file else {
        let Some(program) = arguments.program.take() else {
            return Err(Failure::usage("no filter was given; `.` writes each document unchanged"));
        };
        convert.filter.filter = Some(program);
        return Ok(());
    };
    let text = text_of(path)?;
    if !is_stream(&convert.output) {
        return Err(Failure::usage(
            "--from-file gives the filter; name an input and an output only",
        ));
    }
    if let Some(input) = arguments.program.take() {
        convert.output = std::mem::replace(&mut convert.input, input.into());
    }
    convert.filter.filter = Some(text);
    Ok(())
}

/// Reads a filter from a file.
fn text_of(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| {
        Failure::usage(format!("{}: {}", path.display(), crate::failure::plain(&error)))
    })
}

/// Chooses the format of the output and whether documents stay what they are; returns whether JSON
/// is indented, and whether it may be several documents: a file of JSON is one.
fn take_form(convert: &mut Convert, compact: bool) -> (bool, bool) {
    if convert.documents == DocumentsArg::Auto {
        convert.documents = DocumentsArg::Keep;
    }
    let asked = convert.pretty || convert.json_indent.is_some();
    let shown = is_stream(&convert.output) && io::stdout().is_terminal();
    let pretty = asked || (shown && !compact);
    if convert.to.is_none() {
        let name = convert.output.to_string_lossy();
        let named = Form::from_name(Compression::from_name(&name).1);
        convert.to = named.filter(|_| !is_stream(&convert.output)).or(Some(Format::Json.into()));
    }
    let is_json = convert.to.is_some_and(|to| to == Format::Json);
    let is_sequence = is_stream(&convert.output);
    if is_json && is_sequence && !pretty && convert.reading.envelope != EnvelopeArg::Keep {
        // The same bytes, which several threads can write. An envelope holds one document.
        convert.to = Some(Format::Ndjson.into());
    }
    (pretty && is_json, is_sequence)
}
