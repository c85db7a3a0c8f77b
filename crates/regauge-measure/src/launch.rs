//! How each contender is started; and its translation before, where its language needs one.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use crate::contender::{Contender, Hindrance, Source};
use crate::options::{Options, Progress, Stage};
use crate::process::{Launch, shortened};
use crate::runtime::{Places, RunnerFile, Runtime, Started};
use crate::setup;

/// How each contender is started. One that cannot be is given its [`Hindrance`].
pub(crate) fn all(
    options: &Options,
    runners: &[RunnerFile],
    contenders: &mut [Contender],
    work: &Path,
    progress: &mut dyn Progress,
) -> Vec<Launch> {
    let data = setup::folder_of(options);
    let mut launches: Vec<Launch> = contenders
        .iter()
        .map(|one| Launch {
            program: OsString::new(),
            arguments: vec![one.name.clone().into()],
            environment: Vec::new(),
            folder: work.to_path_buf(),
        })
        .collect();
    let mut builds = Vec::new();
    for (index, (contender, launch)) in contenders.iter_mut().zip(&mut launches).enumerate() {
        if contender.hindrance.is_some() {
            continue;
        }
        let Some(runner) = runners.iter().find(|one| one.runtime == contender.runtime) else {
            debug_assert!(contender.runtime == Runtime::NATIVE, "an adapter has a runner");
            if let Some((program, rest)) = options.native.split_first() {
                launch.program.clone_from(program);
                launch.arguments.splice(0..0, rest.iter().cloned());
            }
            continue;
        };
        let mut places = Places {
            runner: work.join(&runner.file),
            adapter: match &contender.source {
                Source::Carried(path) => work.join(path),
                Source::File(path) => path.clone(),
                Source::Native(name) => name.into(),
            },
            data: data.clone(),
            lab: work.to_path_buf(),
            ..Places::default()
        };
        if runner.build.is_some() {
            places.built = built_folder(runner, &places, work, index);
        }
        match runner.command(given(options, runner.runtime).as_deref(), &places) {
            Ok(Started { program, arguments, environment }) => {
                *launch = Launch { program, arguments, environment, folder: work.to_path_buf() };
                if runner.build.is_some() && !places.built.exists() {
                    builds.push((index, runner, places));
                }
            }
            Err(why) => contender.hindrance = Some(Hindrance::Missing(why)),
        }
    }
    for (index, hindrance) in build_all(&builds, contenders, progress) {
        contenders[index].hindrance = Some(hindrance);
    }
    launches
}

/// The interpreter that the user named for a runtime: a command, or a file, found from here.
pub(crate) fn given(options: &Options, runtime: Runtime) -> Option<PathBuf> {
    let short = match runtime.id() {
        "python" => &options.python,
        "ruby" => &options.ruby,
        _ => &None,
    };
    let named = options.interpreters.get(runtime.id()).or(short.as_ref())?;
    // A name alone is looked for where commands are.
    let is_name = named.components().count() < 2;
    let found = std::path::absolute(named).ok().filter(|_| !is_name);
    Some(found.unwrap_or_else(|| named.clone()))
}

/// Where the translation of an adapter is kept: in the folder of the set-up, named by all that
/// went into it, so that the next run finds it; in the work folder, where nothing was set up.
fn built_folder(runner: &RunnerFile, places: &Places, work: &Path, index: usize) -> PathBuf {
    let kept = places.data.as_ref().filter(|data| data.join(runner.runtime.id()).is_dir());
    let Some(data) = kept else { return work.join(format!("built-{index}")) };
    let mut hash = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hash);
    runner.build.hash(&mut hash);
    runner.environment.hash(&mut hash);
    for path in [&places.runner, &places.adapter] {
        // One that cannot be read fails when it is translated.
        std::fs::read(path).unwrap_or_default().hash(&mut hash);
    }
    // Another set-up may bring other versions of the libraries.
    let stamp = std::fs::read(setup::stamp(data, runner.runtime)).unwrap_or_default();
    stamp.hash(&mut hash);
    data.join("built").join(format!("{}-{:016x}", runner.runtime.id(), hash.finish()))
}

/// Translates adapters, as many at a time as there are cores. Gives those that could not be.
fn build_all(
    builds: &[(usize, &RunnerFile, Places)],
    contenders: &[Contender],
    progress: &mut dyn Progress,
) -> Vec<(usize, Hindrance)> {
    if builds.is_empty() {
        return Vec::new();
    }
    progress.begin(Stage::Build, builds.len() as u64);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    let (sender, done) = channel();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(builds.len()) {
            let sender = sender.clone();
            let (next, failed) = (&next, &failed);
            scope.spawn(move || {
                while let Some((index, runner, places)) =
                    builds.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    if let Err(hindrance) = build(runner, places) {
                        failed.lock().expect("no panic while locked").push((*index, hindrance));
                    }
                    if sender.send(*index).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for index in done {
            progress.step(&contenders[index].name);
        }
    });
    failed.into_inner().expect("no panic while locked")
}

/// Translates one adapter, into a folder beside its place: what is in its place is whole.
pub(crate) fn build(runner: &RunnerFile, places: &Places) -> Result<(), Hindrance> {
    let broken = |error: std::io::Error| Hindrance::Broken(error.to_string());
    let parent = places.built.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(broken)?;
    let fresh = tempfile::Builder::new().prefix("part-").tempdir_in(parent).map_err(broken)?;
    let at_work = Places { built: fresh.path().to_path_buf(), ..places.clone() };
    let Some(started) = runner.build(&at_work) else { return Ok(()) };
    let output = Command::new(&started.program)
        .args(&started.arguments)
        .envs(started.environment)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| {
            let program = started.program.to_string_lossy();
            Hindrance::Missing(format!("{program} cannot be started: {error}"))
        })?;
    if !output.status.success() {
        let mut said = String::from_utf8_lossy(&output.stderr).into_owned();
        said.push_str(&String::from_utf8_lossy(&output.stdout));
        let absent = runner.absent.as_deref().filter(|words| !words.is_empty());
        if let Some(line) = absent.and_then(|words| said.lines().find(|line| line.contains(words)))
        {
            return Err(Hindrance::Missing(shortened(line)));
        }
        return Err(Hindrance::Broken(format!("cannot be translated: {}", shortened(&said))));
    }
    match std::fs::rename(fresh.path(), &places.built) {
        Ok(()) => {
            // It is no longer at its first place.
            let _ = fresh.keep();
            Ok(())
        }
        // Another process was quicker.
        Err(_) if places.built.exists() => Ok(()),
        Err(error) => Err(broken(error)),
    }
}
