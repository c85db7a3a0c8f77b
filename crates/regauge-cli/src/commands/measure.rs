//! `regauge measure`: serialization libraries on the user's own data.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{Table, presets};
use regauge::Format;
use regauge_measure::{
    Error, InputFile, Options, QUICK_BELOW, Report, compare, files_in, has_program, name_in,
    note_of_unknown, run as measure, safety, setup,
};
use regauge_report::{render_comparison, render_safety};

use crate::args::{Contender, Measure, When};
use crate::commands::inspect::trimmed;
use crate::commands::report;
use crate::commands::stages::Stages;
use crate::commands::tasks;
use crate::engines;
use crate::failure::{Failure, INTERRUPTED, Result, complain};
use crate::input::{Source, Wanted};
use crate::output::Destination;
use crate::progress::Meter;
use crate::report::print;

/// Lines that say where the report is.
const REPORT_LINES: usize = 2;

/// Measures, or sets up what measuring needs.
pub fn run(arguments: &Measure) -> Result {
    if let Some(wanted) = &arguments.setup {
        return set_up(arguments, wanted);
    }
    if arguments.list && arguments.input.is_none() {
        return list(&regauge_measure::contenders());
    }
    let task = match &arguments.task {
        Some(name) if tasks::is_one(name) => Some(name),
        Some(name) => return tasks::list(name),
        None if arguments.input.is_none() => {
            return Err(Failure::usage("name a FILE to measure on, a --task, or pass --setup"));
        }
        None => None,
    };
    if task.is_none() && !arguments.db.is_empty() && std::env::var_os(engines::GIVEN).is_none() {
        return Err(Failure::usage("--db needs a --task that uses databases"));
    }
    engines::check(&arguments.db)?;
    for path in arguments.contender.iter().chain(&arguments.runner) {
        let name = path.display().to_string();
        File::open(path).map_err(|error| unreadable(&name, &error))?;
    }
    let before = arguments.compare.as_deref().map(earlier).transpose()?;
    // Its temporary folder has the decompressed files.
    let mut inputs = match &arguments.input {
        Some(input) if input.is_dir() => Inputs::of_folder(input, arguments.from)?,
        Some(input) => Inputs::of_file(input, arguments.from)?,
        None => Inputs::default(),
    };
    let json = match &arguments.json {
        Some(path) => Some(Destination::open(path, arguments.force)?),
        None => None,
    };
    let out = arguments.out.as_deref().map(|out| report::open(out, arguments.force)).transpose()?;
    let mut options = options(arguments, &mut inputs)?;

    // A run's temporary files have to be removed, however it ends.
    let interrupts = |error: io::Error| Failure::io("the Ctrl-C handler", &error);
    let temporary = std::env::temp_dir();
    let named = format!("a temporary folder in {} (TMPDIR)", temporary.display());
    let work = tempfile::tempdir_in(&temporary).map_err(|error| Failure::io(named, &error))?;
    crate::interrupt::remove_when_interrupted(work.path()).map_err(interrupts)?;
    options.work_dir = Some(work.path().to_owned());
    options.stop = Some(crate::interrupt::stop_flag().map_err(interrupts)?);

    if arguments.list {
        return list(&regauge_measure::chosen(&options).map_err(failure)?);
    }
    let mut shown = Stages::new(arguments.progress.into());
    let report = match task {
        Some(name) => tasks::measure(name, arguments, &options, &mut shown),
        None => measure(&options, &mut shown),
    };
    shown.finish();
    let report = report.map_err(failure)?;
    let layout = report::layout();
    let compared = before.map(|before| {
        render_comparison(&compare::compare(&before, &report), layout, arguments.full)
    });
    let is_piped = arguments.json.as_deref() == Some(Path::new("-"));
    // The answer comes first: a run is not lost if a file cannot be written after it.
    let printed = match is_piped {
        // Standard output carries the report; anything else goes to standard error.
        true => {
            compared.iter().for_each(|text| complain(text.trim_end()));
            Ok(())
        }
        false => {
            let reserved = if out.is_some() { REPORT_LINES } else { 0 };
            let mut text = match options.safety {
                safety::When::Only => render_safety(&report, layout),
                _ => report::told(&report, arguments.full, reserved),
            };
            compared.iter().for_each(|compared| text.push_str(&format!("\n{compared}")));
            print(text.as_bytes())
        }
    };
    let json = json.map_or(Ok(()), |file| {
        file.write_all(report.to_json().as_bytes())?;
        file.commit()
    });
    let page = out.map(|out| report::put(out, &report)).transpose();
    let page = page.and_then(|page| match page.filter(|_| !is_piped) {
        Some(page) => print(format!("\nReport: {}\n", page.display()).as_bytes()),
        None => Ok(()),
    });
    let lost: Vec<Failure> =
        [printed, json, page].into_iter().filter_map(Result::err).map(midway).collect();
    match lost.into_iter().reduce(|before, next| {
        before.report();
        next
    }) {
        Some(failure) => Err(failure),
        None => status(&report),
    }
}

/// Returns what the arguments ask for, of these files.
fn options(arguments: &Measure, inputs: &mut Inputs) -> Result<Options> {
    let mut options = Options::new(arguments.input.clone().unwrap_or_default(), native()?);
    options.name = arguments.input.is_some().then(|| mem::take(&mut inputs.name));
    options.files = mem::take(&mut inputs.files);
    options.notes = mem::take(&mut inputs.notes);
    options.from = arguments.from;
    options.only.clone_from(&arguments.only);
    options.adapters.clone_from(&arguments.contender);
    options.runners.clone_from(&arguments.runner);
    options.interpreters = interpreters(arguments)?;
    options.common = arguments.common;
    options.rounds = arguments.rounds;
    let budget = arguments.budget;
    if arguments.quick || budget.is_some_and(|budget| budget < QUICK_BELOW) {
        options.make_quick();
    }
    if let Some(budget) = budget {
        options.budget = budget;
        options.slow_start = Duration::ZERO;
    }
    options.pin = !arguments.no_pin;
    options.seed = arguments.seed;
    options.databases.clone_from(&arguments.db);
    options.data_dir = arguments.dir.clone().or_else(setup::data_dir);
    arguments.verdict.apply(&mut options, arguments.dir.as_deref());
    options.command = std::env::args_os().map(|one| one.to_string_lossy().into_owned()).collect();
    engines::hide(&mut options.command, &arguments.db);
    Ok(options)
}

/// Returns a failure to write a file as one that came after the work: what was asked for was possible.
fn midway(failure: Failure) -> Failure {
    match failure {
        Failure::Usage(message) => Failure::Io(message),
        other => other,
    }
}

/// Tells scripts that a report is of an interrupted run.
fn status(report: &Report) -> Result {
    match report.interrupted {
        true => Err(Failure::Quiet(INTERRUPTED)),
        false => Ok(()),
    }
}

/// Reads the report of an earlier run.
fn earlier(path: &Path) -> Result<Report> {
    let name = path.display().to_string();
    let text = std::fs::read(path).map_err(|error| unreadable(&name, &error))?;
    serde_json::from_slice(&text).map_err(|error| {
        Failure::usage(format!(
            "{name}: expected what --json of an earlier run wrote, found {error}"
        ))
    })
}

/// Words the failure to read a file that the user named: a missing one is a wrong name.
fn unreadable(name: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("{name}: no such file")),
        _ => Failure::io(name, error),
    }
}

/// Returns the interpreters that the user named.
fn interpreters(arguments: &Measure) -> Result<BTreeMap<String, PathBuf>> {
    let short = [("python", &arguments.python), ("ruby", &arguments.ruby)];
    let short = short.into_iter().filter_map(|(id, path)| Some((id.to_owned(), path.clone()?)));
    let all: BTreeMap<String, PathBuf> =
        short.chain(arguments.interpreter.iter().cloned()).collect();
    match all.iter().find(|(_, path)| !has_program(path)) {
        None => Ok(all),
        Some((runtime, path)) => Err(Failure::usage(format!(
            "{}: found no such program, expected the interpreter of {runtime}: its path, or a name \
             in PATH",
            path.display()
        ))),
    }
}

/// What to measure, in uncompressed files.
#[derive(Default)]
struct Inputs {
    name: String,
    files: Vec<InputFile>,
    notes: Vec<String>,
    /// Temporary files, removed on drop.
    _copies: Vec<tempfile::NamedTempFile>,
}

impl Inputs {
    fn of_file(path: &Path, from: Option<Format>) -> Result<Inputs> {
        let source = open(path, from)?;
        let name = match path.file_name() {
            Some(name) if path.as_os_str() != "-" => name.to_string_lossy().into_owned(),
            _ => source.name.clone(),
        };
        let copy = plain_copy(&source, path)?;
        let files = vec![input_file(&source, path, source.name.clone(), copy.as_ref())];
        Ok(Inputs { name, files, notes: Vec::new(), _copies: copy.into_iter().collect() })
    }

    /// Decompresses every file of a folder that has a known format.
    fn of_folder(folder: &Path, from: Option<Format>) -> Result<Inputs> {
        let (mut files, mut copies, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for path in files_in(folder).map_err(failure)? {
            let name = name_in(folder, &path);
            let failed = |error: &io::Error| Failure::io(path.display(), error);
            drop(File::open(&path).map_err(|error| failed(&error))?);
            match open(&path, from) {
                Ok(source) => {
                    let copy = plain_copy(&source, &path)?;
                    files.push(input_file(&source, &path, name, copy.as_ref()));
                    copies.extend(copy);
                }
                // It opened, so it is the format that could not be determined.
                Err(Failure::Usage(_)) => unknown.push(name),
                Err(other) => return Err(other),
            }
        }
        let name = folder.display().to_string();
        if files.is_empty() {
            return Err(Failure::usage(format!(
                "{name}: found no file with a recognisable format in this folder; pass --from"
            )));
        }
        Ok(Inputs { name, files, notes: note_of_unknown(&unknown), _copies: copies })
    }
}

fn open(path: &Path, format: Option<Format>) -> Result<Source> {
    let wanted = Wanted::plain(format);
    Source::open(path, &wanted, Meter::new(When::Never, true))
}

fn input_file(
    source: &Source,
    path: &Path,
    name: String,
    copy: Option<&tempfile::NamedTempFile>,
) -> InputFile {
    let path = copy.map_or(path, |file| file.path()).to_owned();
    InputFile { path, name, format: source.format }
}

/// Copies a compressed input, or one that is not a file, to a temporary file: contenders take a
/// path.
fn plain_copy(source: &Source, path: &Path) -> Result<Option<tempfile::NamedTempFile>> {
    if source.can_repeat() && source.compression.is_none() && path.as_os_str() != "-" {
        return Ok(None);
    }
    let failed = |error: io::Error| Failure::data(&source.name, error.into());
    // The suffix tells the format to programs that look for one.
    let suffix = format!(".{}", source.format.suffixes()[0]);
    let mut file = tempfile::Builder::new().suffix(&suffix).tempfile().map_err(failed)?;
    crate::interrupt::remove_when_interrupted(file.path()).map_err(failed)?;
    let mut read: Box<dyn Read + Send> = match source.can_repeat() {
        true => source.again().map_err(failed)?,
        false => source.take(),
    };
    io::copy(&mut read, &mut file).map_err(failed)?;
    Ok(Some(file))
}

/// Returns the command that serves a native contender: this binary.
pub fn native() -> Result<Vec<OsString>> {
    let own = std::env::current_exe().map_err(|error| Failure::io("this program", &error))?;
    Ok(vec![own.into(), "contender".into()])
}

/// Words an error of the engine.
pub fn failure(error: Error) -> Failure {
    match error {
        Error::NoContender(_)
        | Error::Adapter { .. }
        | Error::Runner { .. }
        | Error::NoRuntime(_)
        | Error::Task(_) => Failure::usage(error),
        other => Failure::Io(other.to_string()),
    }
}

/// Shows what it will do, asks, and does it.
fn set_up(arguments: &Measure, wanted: &[setup::Wanted]) -> Result {
    let mut options = setup::Options::default();
    options.folder.clone_from(&arguments.dir);
    options.wanted = wanted.to_vec();
    options.interpreters = interpreters(arguments)?;
    options.runners.clone_from(&arguments.runner);
    let plan = setup::plan(&options).map_err(failure)?;
    print(plan.to_string().as_bytes())?;
    if plan.steps.is_empty() {
        return Ok(());
    }
    if !arguments.yes && !agreed()? {
        print(b"Nothing was done.\n")?;
        return Ok(());
    }
    let done = setup::execute(&plan, &mut |step| complain(&step.purpose)).map_err(failure)?;
    for (line, reason) in &done.failed {
        complain(format_args!("{line}: {reason}; continuing without it"));
    }
    Ok(())
}

fn agreed() -> Result<bool> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::usage(
            "standard input is not a terminal, so nobody can be asked; pass --yes to go ahead",
        ));
    }
    let failed = |error: io::Error| Failure::io("standard input", &error);
    let mut stdout = io::stdout().lock();
    write!(stdout, "Go ahead? [y/N] ").and_then(|()| stdout.flush()).map_err(failed)?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(failed)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Serves a native contender to a measurement that runs in another process.
pub fn serve(arguments: &Contender) -> Result {
    if engines::is_program(&arguments.name) {
        return engines::serve(arguments);
    }
    let (mut stdin, mut stdout) = (io::stdin().lock(), io::stdout().lock());
    regauge_measure::serve_native(&arguments.name, &mut stdin, &mut stdout)
        .map_err(|error| Failure::usage(format!("contender {}: {error}", arguments.name)))
}

/// Lists contenders, for use with `--only`.
fn list(contenders: &[regauge_measure::Contender]) -> Result {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["name", "runtime", "format", "usual", "library", "how to get it"]);
    for one in contenders {
        let usual = if one.is_usual { "yes" } else { "" };
        let (runtime, wire) = (one.runtime.name(), one.wire.name());
        table.add_row([&one.name, runtime, wire, usual, &one.library, &one.install]);
    }
    print(format!("{}\n", trimmed(&table)).as_bytes())
}
