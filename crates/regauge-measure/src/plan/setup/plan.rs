//! Plans what to do, from what the machine has.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Action, Plan, Step, suite};
use crate::model::assets;
use crate::model::error::Error;
use crate::model::runtime::{self, Places, RunnerFile, Runtime, expand};
use crate::plan::contender::{self, Contender};
use crate::plan::folders::{self, STAMP, data_dir};

/// What to set up.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The installation folder, instead of [`data_dir`].
    pub folder: Option<PathBuf>,
    /// The runtimes to set up; none for all that the machine has, and Python and Ruby.
    pub wanted: Vec<Wanted>,
    /// Interpreters to set up with, by the ids of their runtimes.
    pub interpreters: BTreeMap<String, PathBuf>,
    /// Runner files of the user's own.
    pub runners: Vec<PathBuf>,
}

/// A runtime that was named: `ruby`, or `ruby=SUITE` for that of another Debian suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Its id.
    pub runtime: Runtime,
    /// The suite to take it from, unpacked into a folder.
    pub suite: Option<String>,
}

impl std::str::FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Wanted, String> {
        let (id, suite) =
            text.split_once('=').map_or((text, None), |(id, suite)| (id, Some(suite)));
        let plain = |text: &str| {
            !text.is_empty()
                && text.chars().all(|one| one.is_ascii_alphanumeric() || "-.".contains(one))
        };
        if !plain(id) || suite.is_some_and(|suite| !plain(suite)) {
            return Err(format!("found \"{text}\", expected RUNTIME or RUNTIME=SUITE"));
        }
        Ok(Wanted { runtime: Runtime::of(id), suite: suite.map(str::to_owned) })
    }
}

/// What the machine has; apart, so that plans can be tested.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// For each runtime the first command that it needs and that does not work.
    pub lacking: BTreeMap<Runtime, String>,
    /// Libraries that a runtime does not find.
    pub libraries_missing: BTreeMap<Runtime, Vec<String>>,
    /// What the runtimes were set up from before.
    pub stamps: BTreeMap<Runtime, String>,
    /// The same of those that were unpacked from another suite.
    pub suite_stamps: BTreeMap<Runtime, String>,
    pub root: bool,
    pub apt: bool,
    pub mmdebstrap: bool,
    /// The server of this machine's own packages.
    pub mirror: Option<String>,
}

/// Looks at the machine and plans; changes nothing.
///
/// # Errors
/// `Setup` on Windows, or when there is no folder to install into; `NoRuntime`; `Runner` and `Io` for
/// runner files of the user's own.
pub fn plan(options: &Options) -> Result<Plan, Error> {
    // The steps are commands of Unix.
    if cfg!(windows) {
        return Err(Error::Setup(
            "found Windows, where libraries cannot be set up; install them yourself, with pip, gem \
             or npm, and the runtimes that are in PATH find them"
                .into(),
        ));
    }
    let folder = options.folder.clone().or_else(data_dir).ok_or_else(|| {
        Error::Setup("there is no home folder to install into; pass --dir FOLDER".into())
    })?;
    // Commands are started elsewhere, and read the path from the environment.
    let folder = std::path::absolute(&folder).map_err(Error::io("find", &folder))?;
    let runners = runtime::with(&options.runners)?;
    for wanted in &options.wanted {
        if runners.iter().all(|one| one.runtime != wanted.runtime) {
            let known: Vec<&str> = runners.iter().map(|one| one.runtime.id()).collect();
            return Err(Error::NoRuntime(format!(
                "found the runtime \"{}\" to set up, expected one of {}",
                wanted.runtime.id(),
                known.join(", ")
            )));
        }
    }
    // The probes of runners are in the runners.
    let lab = tempfile::tempdir().map_err(Error::io("make a folder in", &std::env::temp_dir()))?;
    assets::unpack(lab.path()).map_err(Error::io("write", lab.path()))?;
    let found = look(options, &runners, &folder, lab.path());
    plan_for(&found, options, &runners, &folder)
}

/// Asks the machine.
fn look(options: &Options, runners: &[RunnerFile], folder: &Path, lab: &Path) -> Found {
    let mut found = Found {
        root: regauge_os::is_root(),
        apt: runtime::is_there("apt-get".as_ref()),
        mmdebstrap: runtime::is_there("mmdebstrap".as_ref()),
        mirror: suite::mirror(),
        ..Found::default()
    };
    for runner in runners {
        let mut places = places(options, runner, folder, lab);
        let answers = |template: &[String], places: &Places| -> Option<String> {
            let words = expand(template, places)?;
            let output = Command::new(words.first()?)
                .args(&words[1..])
                .envs(runner.environment(places))
                .stdin(Stdio::null())
                .stderr(Stdio::null())
                .output()
                .ok()?;
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let failing = runner.setup.have.iter().find(|one| answers(one, &places).is_none());
        if let Some(failing) = failing {
            let words = expand(failing, &places).unwrap_or_default();
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            found.lacking.insert(runner.runtime, words.join(" "));
        }
        if let Some(template) = &runner.setup.missing {
            places.libraries = libraries(runner.runtime);
            let missing = answers(template, &places)
                .map_or(places.libraries.clone(), |text| text.lines().map(str::to_owned).collect());
            found.libraries_missing.insert(runner.runtime, missing);
        }
        if let Ok(text) = std::fs::read_to_string(folders::stamp(folder, runner.runtime)) {
            found.stamps.insert(runner.runtime, text);
        }
        let of_suite = suite::folder_of(folder, runner.runtime).join(STAMP);
        if let Ok(text) = std::fs::read_to_string(of_suite) {
            found.suite_stamps.insert(runner.runtime, text);
        }
    }
    found
}

/// Returns the values of the placeholders in the commands of a set-up.
fn places(options: &Options, runner: &RunnerFile, folder: &Path, lab: &Path) -> Places {
    Places {
        program: runner.program(options.interpreters.get(runner.runtime.id()).map(AsRef::as_ref)),
        runner: lab.join(&runner.file),
        data: Some(folder.to_path_buf()),
        lab: lab.to_path_buf(),
        ..Places::default()
    }
}

/// Returns the contenders of a runtime that it can have.
fn contenders(runtime: Runtime) -> impl Iterator<Item = Contender> {
    contender::all()
        .into_iter()
        .filter(move |one| one.runtime == runtime && one.hindrance.is_none())
}

/// Returns every library that an adapter of this runtime names for the set-up.
pub(super) fn libraries(runtime: Runtime) -> Vec<String> {
    let mut list: Vec<String> = contenders(runtime).flat_map(|one| one.gems).collect();
    list.sort();
    list.dedup();
    list
}

/// Returns the Debian packages of libraries, where there are some.
pub(super) fn debian_packages(runtime: Runtime, libraries: &[String]) -> Vec<String> {
    let mut packages: Vec<String> = contenders(runtime)
        .filter(|one| one.gems.len() == 1 && libraries.contains(&one.gems[0]))
        .flat_map(|one| one.debian)
        .collect();
    packages.sort();
    packages.dedup();
    packages
}

pub(super) fn plan_for(
    found: &Found,
    options: &Options,
    runners: &[RunnerFile],
    folder: &Path,
) -> Result<Plan, Error> {
    let mut plan = Plan {
        folder: folder.to_path_buf(),
        steps: Vec::new(),
        remarks: Vec::new(),
        stamps: Vec::new(),
    };
    let named =
        |runner: &RunnerFile| options.wanted.iter().any(|one| one.runtime == runner.runtime);
    let of_suite = |runner: &RunnerFile| {
        options.wanted.iter().find(|one| one.runtime == runner.runtime && one.suite.is_some())
    };
    let (mut packages, mut to_do) = (Vec::new(), Vec::new());
    for runner in runners.iter().filter(|one| options.wanted.is_empty() || named(one)) {
        if let Some(Wanted { suite: Some(name), .. }) = of_suite(runner) {
            suite::plan(name, runner, found, folder, &mut plan)?;
            continue;
        }
        let setup = &runner.setup;
        let (name, id) = (runner.runtime.name(), runner.runtime.id());
        let missing = found.libraries_missing.get(&runner.runtime).cloned().unwrap_or_default();
        if let Some(failing) = found.lacking.get(&runner.runtime) {
            if !setup.always && !named(runner) {
                let how = match setup.debian.as_slice() {
                    [] => String::new(),
                    packages => format!(
                        " regauge measure --setup {id} sets it up (Debian packages {}).",
                        packages.join(" ")
                    ),
                };
                plan.remarks
                    .push(format!("{name} is left out: \"{failing}\" does not work here.{how}"));
                continue;
            }
            packages.extend(setup.debian.iter().cloned());
        }
        packages.extend(debian_packages(runner.runtime, &missing));
        to_do.push((runner, missing));
    }
    let installs = found.root && found.apt && !packages.is_empty();
    if installs {
        let mut command: Vec<OsString> =
            ["apt-get", "install", "--yes", "--no-install-recommends"].map(OsString::from).to_vec();
        command.extend(packages.iter().map(OsString::from));
        plan.steps.push(Step {
            purpose: "install Debian packages".into(),
            action: Action::Run(command),
            runtime: None,
            optional: false,
        });
    } else if !packages.is_empty() {
        plan.remarks.push(format!(
            "As root, install what Debian has: apt-get install {}",
            packages.join(" ")
        ));
    }
    for (runner, missing) in to_do {
        let name = runner.runtime.name();
        match found.lacking.get(&runner.runtime) {
            Some(failing) if !installs => plan
                .remarks
                .push(format!("{name} cannot be set up: \"{failing}\" does not work here.")),
            _ => steps_of(runner, &missing, installs, found, options, folder, &mut plan),
        }
    }
    Ok(plan)
}

/// Adds the steps of one runtime whose interpreter is installed, or will be.
fn steps_of(
    runner: &RunnerFile,
    missing: &[String],
    installs: bool,
    found: &Found,
    options: &Options,
    folder: &Path,
    plan: &mut Plan,
) {
    let (setup, runtime) = (&runner.setup, runner.runtime);
    let places = places(options, runner, folder, &folder.join("lab"));
    let step = |purpose: &str, template: &[String], places: &Places, optional| Step {
        purpose: purpose.to_owned(),
        action: Action::Run(expand(template, places).unwrap_or_default()),
        runtime: Some(runtime),
        optional,
    };
    let steps: Vec<Step> = setup
        .steps
        .iter()
        .map(|(purpose, template)| step(purpose, template, &places, false))
        .collect();
    let stamp = stamp_for(runtime, &steps);
    if found.stamps.get(&runtime) == Some(&stamp) {
        plan.remarks.push(format!("{} is already set up.", runtime.name()));
    } else if !steps.is_empty() {
        plan.steps.extend(steps);
        if runner.build.is_some() {
            plan.steps.push(Step {
                purpose: "compile the adapters".to_owned(),
                action: Action::Translate(runtime),
                runtime: Some(runtime),
                optional: true,
            });
        }
        plan.stamps.push((runtime, folders::stamp(folder, runtime), stamp));
    }
    // Libraries that no package provides, or that we may not install.
    let rest: Vec<&String> = missing
        .iter()
        .filter(|one| !installs || debian_packages(runtime, std::slice::from_ref(*one)).is_empty())
        .collect();
    if let Some((purpose, template)) = &setup.each
        && !rest.is_empty()
    {
        for library in rest {
            let places = Places { libraries: vec![library.clone()], ..places.clone() };
            plan.steps.push(step(&format!("{purpose}, {library}"), template, &places, true));
        }
        if let Some(remark) = &setup.remark {
            let words: Vec<String> = remark.split(' ').map(str::to_owned).collect();
            let words = expand(&words, &places).unwrap_or_default();
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            plan.remarks.push(words.join(" "));
        }
    }
}

/// Returns what a runtime is set up from: its commands, and the lists of libraries that they read.
pub(super) fn stamp_for(runtime: Runtime, steps: &[Step]) -> String {
    let mut text: String = steps.iter().map(|step| step.line() + "\n").collect();
    let folder = format!("contenders/{}/", runtime.id());
    let lists = ["txt", "json", "xml", "toml", "rs"];
    for (path, list) in assets::FILES {
        let suffix = Path::new(path).extension().and_then(|suffix| suffix.to_str());
        if path.starts_with(&folder) && suffix.is_some_and(|suffix| lists.contains(&suffix)) {
            text.push_str(list);
        }
    }
    text
}
