//! Tries the interpreters that the user named, before anything is measured: one that cannot run the
//! runner of its runtime would fail with every library, and say nothing about any.

use std::path::Path;
use std::time::Duration;

use crate::model::error::Error;
use crate::model::runtime::{Places, RunnerFile, carried};
use crate::plan::launch::{Launch, given};
use crate::plan::options::Options;
use crate::run::process::{Process, Trouble};

/// How long an interpreter may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts the runner of every runtime whose interpreter was named, without an adapter, as carried below
/// `work`: any reply shows that the interpreter runs it. Compiled runtimes show it when they compile.
///
/// # Errors
/// `NoRuntime`, with what the interpreter said.
pub(crate) fn try_given(options: &Options, work: &Path) -> Result<(), Error> {
    for runner in carried().iter().filter(|one| one.build.is_none()) {
        let Some(program) = given(options, runner.runtime) else { continue };
        if let Some(why) = trouble(runner, &program, work) {
            let needs = runner.needs.as_ref();
            let needs = needs.map_or(String::new(), |needs| format!(", which needs {needs}"));
            return Err(Error::NoRuntime(format!(
                "{} does not run regauge's runner for {}{needs}: {why}; pass another one with \
                 --interpreter {}=FILE",
                program.display(),
                runner.runtime.name(),
                runner.runtime.id()
            )));
        }
    }
    Ok(())
}

/// Returns why an interpreter does not run a runner.
fn trouble(runner: &RunnerFile, program: &Path, work: &Path) -> Option<Trouble> {
    let places = Places {
        runner: work.join(&runner.file),
        adapter: work.join("no-adapter"),
        lab: work.to_path_buf(),
        ..Places::default()
    };
    let started = runner.command(Some(program), &places).ok()?;
    match Process::start(&Launch::of(started, work), PATIENCE) {
        // The adapter is missing, and the runner says so.
        Ok(_) | Err(Trouble::Missing(_) | Trouble::Raised(_) | Trouble::Unprepared(_)) => None,
        Err(trouble) => Some(trouble),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::assets;
    use regauge_testdata::has;

    #[cfg(unix)]
    #[test]
    fn an_interpreter_that_runs_no_runner_is_refused() {
        let work = tempfile::tempdir().unwrap();
        assets::unpack(work.path()).unwrap();
        let mut options = Options::new(work.path().join("in"), Vec::new());
        assert!(try_given(&options, work.path()).is_ok(), "none was named");
        options.python = Some("true".into());
        let message = try_given(&options, work.path()).unwrap_err().to_string();
        let wanted = "true does not run regauge's runner for Python, which needs Python 3.7 or newer: \
                      ended by itself";
        assert!(message.starts_with(wanted), "{message}");
        assert!(message.ends_with("pass another one with --interpreter python=FILE"), "{message}");
        if has("python3", &["--version"]) {
            options.python = Some("python3".into());
            assert!(try_given(&options, work.path()).is_ok());
        }
    }
}
