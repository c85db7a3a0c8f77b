//! Prepares how each contender is started, and compiles it first if its language needs that.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use crate::model::assets;
use crate::model::error::Error;
use crate::model::runtime::{Places, RunnerFile, Runtime, Started, carried};
use crate::model::text::shortened;
use crate::plan::contender::{self, Contender, Hindrance, Source};
use crate::plan::options::Options;
use crate::plan::{folders, parallel};

/// How a contender is started.
#[derive(Debug, Clone)]
pub(crate) struct Launch {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
    /// The folder to start in: a private one, so that no library is found by chance.
    pub folder: PathBuf,
}

impl Launch {
    /// Returns how what a runner starts is started in this folder.
    pub(crate) fn of(started: Started, folder: &Path) -> Launch {
        let Started { program, arguments, environment } = started;
        Launch { program, arguments, environment, folder: folder.to_path_buf() }
    }
}

/// How an adapter is translated before its contender can be started.
#[derive(Debug)]
pub(crate) struct Translation<'r> {
    runner: &'r RunnerFile,
    places: Places,
}

impl Translation<'_> {
    /// Compiles the adapter, unless that was done already.
    pub(crate) fn make(&self) -> Result<(), Hindrance> {
        if self.places.built.exists() {
            return Ok(());
        }
        build(self.runner, &self.places)
    }
}

/// Returns how each contender is started, and what has to be compiled first. A contender that
/// cannot be started gets a [`Hindrance`].
pub(crate) fn all<'r>(
    options: &Options,
    runners: &'r [RunnerFile],
    contenders: &mut [Contender],
    work: &Path,
) -> (Vec<Launch>, Vec<Option<Translation<'r>>>) {
    let data = folders::set_up(options);
    let mut launches: Vec<Launch> = contenders
        .iter()
        .map(|one| Launch {
            program: OsString::new(),
            arguments: vec![one.name.clone().into()],
            environment: Vec::new(),
            folder: work.to_path_buf(),
        })
        .collect();
    let mut translations: Vec<Option<Translation<'_>>> = contenders.iter().map(|_| None).collect();
    for (index, (contender, launch)) in contenders.iter_mut().zip(&mut launches).enumerate() {
        if contender.hindrance.is_some() {
            continue;
        }
        if matches!(contender.source, Source::Native(_)) {
            if let Some((program, rest)) = options.native.split_first() {
                launch.program.clone_from(program);
                launch.arguments.splice(0..0, rest.iter().cloned());
            }
            continue;
        }
        let runner = runners.iter().find(|one| one.runtime == contender.runtime);
        let runner = runner.expect("an adapter has a runner");
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
        if let Some(file) = contender.needs.as_deref().and_then(|needs| places.lacks(needs)) {
            contender.hindrance = Some(Hindrance::Missing(format!("{file} is missing")));
            continue;
        }
        if runner.build.is_some() {
            places.built = built_folder(options, runner, &places, work, index);
        }
        match runner.command(given(options, runner.runtime).as_deref(), &places) {
            Ok(started) => {
                *launch = Launch::of(started, work);
                if runner.build.is_some() {
                    translations[index] = Some(Translation { runner, places });
                }
            }
            Err(why) => contender.hindrance = Some(Hindrance::Missing(why)),
        }
    }
    (launches, translations)
}

/// Compiles the built-in adapters of a runtime, one per core at a time, for the libraries in this
/// set-up folder. Returns the names of those that cannot be compiled, and why.
pub(crate) fn translate_all(
    runtime: Runtime,
    folder: &Path,
) -> Result<Vec<(String, String)>, Error> {
    let work = tempfile::tempdir().map_err(Error::io("make a folder in", &std::env::temp_dir()))?;
    assets::unpack(work.path()).map_err(Error::io("write", work.path()))?;
    let mut options = Options::new(PathBuf::new(), Vec::new());
    options.data_dir = Some(folder.to_path_buf());
    let mut contenders = contender::all();
    contenders.retain(|one| one.runtime == runtime);
    let (_, translations) = all(&options, carried(), &mut contenders, work.path());
    let lacking = contenders.iter().filter_map(|one| match (&one.needs, &one.hindrance) {
        (Some(_), Some(Hindrance::Missing(why))) => Some((one.name.clone(), why.clone())),
        _ => None,
    });
    let lacking: Vec<(String, String)> = lacking.collect();
    let failed = parallel::map(&translations, usize::MAX, &|one| {
        let translation = one.as_ref()?;
        let (Hindrance::Missing(why) | Hindrance::Broken(why)) = translation.make().err()?;
        Some((translation.places.adapter.display().to_string(), why))
    });
    Ok(lacking.into_iter().chain(failed.into_iter().flatten()).collect())
}

/// Returns the interpreter that the user named for a runtime: a command, or a file relative to the
/// working directory.
pub(crate) fn given(options: &Options, runtime: Runtime) -> Option<PathBuf> {
    let short = match runtime.id() {
        "python" => &options.python,
        "ruby" => &options.ruby,
        _ => &None,
    };
    let named = options.interpreters.get(runtime.id()).or(short.as_ref())?;
    // A bare name is looked up in `PATH`.
    let is_name = named.components().count() < 2;
    let found = std::path::absolute(named).ok().filter(|_| !is_name);
    Some(found.unwrap_or_else(|| named.clone()))
}

/// Returns where the compiled adapter is kept: in the set-up folder, otherwise in the cache, under
/// a name that covers all inputs and the compiler, so that the next run finds it; in the work
/// folder if there is neither.
fn built_folder(
    options: &Options,
    runner: &RunnerFile,
    places: &Places,
    work: &Path,
    index: usize,
) -> PathBuf {
    let set_up = places.data.as_ref().filter(|data| data.join(runner.runtime.id()).is_dir());
    let cache = || options.cache_dir.as_ref().and_then(|folder| folder.parent());
    let Some(kept) = set_up.map(PathBuf::as_path).or_else(cache) else {
        return work.join(format!("built-{index}"));
    };
    let mut hash = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hash);
    runner.build.hash(&mut hash);
    runner.environment.hash(&mut hash);
    translator(runner, places).hash(&mut hash);
    for path in [&places.runner, &places.adapter] {
        // One that cannot be read fails when it is translated.
        std::fs::read(path).unwrap_or_default().hash(&mut hash);
    }
    // Another set-up may bring other versions of the libraries.
    let stamp = places.data.as_ref().map(|data| folders::stamp(data, runner.runtime));
    stamp.and_then(|stamp| std::fs::read(stamp).ok()).unwrap_or_default().hash(&mut hash);
    let folder = kept.join("built").join(format!("{}-{:016x}", runner.runtime.id(), hash.finish()));
    // From the root on: contenders work in folders of their own.
    std::path::absolute(&folder).unwrap_or(folder)
}

/// Identifies the compiler: another JDK is another file, or a file with another modification time.
fn translator(runner: &RunnerFile, places: &Places) -> Option<(PathBuf, Option<SystemTime>)> {
    let program = runner.build(places)?.program;
    let path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|folder| folder.join(&program))
        .find(|path| path.is_file())?;
    let path = path.canonicalize().ok()?;
    let modified = std::fs::metadata(&path).and_then(|data| data.modified()).ok();
    Some((path, modified))
}

/// Compiles one adapter into a temporary folder and moves it into place, so that what is in place
/// is complete.
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
        return Err(Hindrance::Broken(format!("cannot be compiled: {}", shortened(&said))));
    }
    match std::fs::rename(fresh.path(), &places.built) {
        Ok(()) => {
            // It has moved from its first location.
            let _ = fresh.keep();
            Ok(())
        }
        // Another process was quicker.
        Err(_) if places.built.exists() => Ok(()),
        Err(error) => Err(broken(error)),
    }
}
