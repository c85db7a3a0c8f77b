//! Carries out a plan.

use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use super::{Action, Plan, Step};
use crate::model::assets;
use crate::model::error::Error;
use crate::plan::launch;

/// How the steps went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Steps that failed and that the rest went on without: what was done, and why it failed.
    pub failed: Vec<(String, String)>,
}

/// Carries out the plan. Calls `told` before each step; output of the commands goes to standard
/// error. A step that fails ends the set-up of its runtime; the others continue.
///
/// # Errors
/// `Io` for the folder; `Setup` when a step failed that is not optional, after all others.
pub fn execute(plan: &Plan, told: &mut dyn FnMut(&Step)) -> Result<Done, Error> {
    std::fs::create_dir_all(&plan.folder).map_err(Error::io("make", &plan.folder))?;
    // The lists of libraries that the steps read; and the user may look at them.
    let lab = plan.folder.join("lab");
    assets::unpack(&lab).map_err(Error::io("write", &lab))?;
    let mut done = Done { failed: Vec::new() };
    let mut ended = Vec::new();
    // Runtimes whose registry does not answer: another library would not be found there either.
    let mut offline = Vec::new();
    let mut errors = Vec::new();
    let mut stamps = plan.stamps.as_slice();
    for step in &plan.steps {
        if step.runtime.is_some() && ended.contains(&step.runtime) {
            continue;
        }
        if step.optional && offline.contains(&step.runtime) {
            done.failed.push((step.line(), "skipped: no server answered before".to_owned()));
            continue;
        }
        if let Action::Translate(_) = step.action {
            // With what is set up then: its stamp is in the name of what is made.
            continue;
        }
        told(step);
        let Err(reason) = take(step) else { continue };
        if step.optional {
            if reason.contains(NO_SERVER) {
                offline.push(step.runtime);
            }
            done.failed.push((step.line(), reason));
            continue;
        }
        errors.push(format!("{} failed: {reason}", step.line()));
        if step.runtime.is_none() {
            // Without the packages nothing else can be done.
            stamps = &[];
            break;
        }
        ended.push(step.runtime);
    }
    for (_, path, text) in stamps.iter().filter(|(one, ..)| !ended.contains(&Some(*one))) {
        if path.parent().is_some_and(std::path::Path::is_dir) {
            std::fs::write(path, text).map_err(Error::io("write", path))?;
        }
    }
    for step in plan.steps.iter().filter(|step| !ended.contains(&step.runtime)) {
        if let Action::Translate(runtime) = step.action {
            told(step);
            let failed = launch::translate_all(runtime, &plan.folder)?;
            done.failed.extend(failed);
        }
    }
    if errors.is_empty() { Ok(done) } else { Err(Error::Setup(errors.join("\n"))) }
}

fn take(step: &Step) -> Result<(), String> {
    match &step.action {
        Action::Run(command) => run(command),
        Action::Script { path, text } => {
            write_script(path, text).map_err(|error| error.to_string())
        }
        Action::Translate(_) => Ok(()),
    }
}

fn write_script(path: &std::path::Path, text: &str) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::write(path, text)?;
    regauge_os::make_executable(path)
}

/// The message of a failed step.
const NO_SERVER: &str = "no server answered";

/// What package managers say when no server answers.
const OFFLINE: [&str; 9] = [
    "Failed to open TCP connection",
    "name resolution",
    "Could not resolve",
    "getaddrinfo",
    "EAI_AGAIN",
    "ENOTFOUND",
    "Unknown host",
    "Network is unreachable",
    "Connection refused",
];

fn run(command: &[OsString]) -> Result<(), String> {
    let (program, arguments) = command.split_first().ok_or("an empty command")?;
    let mut child = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => format!("there is no {}", program.to_string_lossy()),
            _ => error.to_string(),
        })?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let offline = Mutex::new(false);
    std::thread::scope(|scope| {
        // What the commands print belongs to the log, not to standard output.
        scope.spawn(|| pass_on(output, &offline));
        scope.spawn(|| pass_on(errors, &offline));
    });
    let status = child.wait().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    Err(if offline.into_inner().unwrap_or_default() {
        format!(
            "{status}; {NO_SERVER}. Earlier set-ups remain usable; with a network, \
             or a proxy or mirror set for {}, try again",
            program.to_string_lossy()
        )
    } else {
        status.to_string()
    })
}

/// Copies what a command prints to standard error, and looks for words of a machine that is
/// offline.
fn pass_on(stream: Option<impl Read>, offline: &Mutex<bool>) {
    let Some(mut stream) = stream else { return };
    let (mut chunk, mut last) = ([0; 4096], String::new());
    while let Ok(length @ 1..) = stream.read(&mut chunk) {
        let _ = std::io::stderr().write_all(&chunk[..length]);
        last.push_str(&String::from_utf8_lossy(&chunk[..length]));
        if OFFLINE.iter().any(|words| last.contains(words))
            && let Ok(mut offline) = offline.lock()
        {
            *offline = true;
        }
        // Words may be cut by the end of a chunk.
        let mut keep = last.len().saturating_sub(32);
        while !last.is_char_boundary(keep) {
            keep -= 1;
        }
        last.drain(..keep);
    }
}
