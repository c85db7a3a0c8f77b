//! Setting up the libraries of other runtimes: first a plan in words, then its steps.
//!
//! Nothing is installed that the plan does not name. Python's libraries go to a virtual
//! environment of our own, from pinned requirements. Ruby's come from Debian packages when we are
//! root; otherwise `gem` puts them into a folder of our own, and the plan names the packages.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::assets;
use crate::contender::{self, Runtime};
use crate::error::Error;

/// Where the set-up keeps what it installs: `regauge` in `XDG_DATA_HOME`, else in
/// `~/.local/share`. Nothing when there is no home.
#[must_use]
pub fn data_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".local/share")))
        .map(|base| base.join("regauge"))
}

/// The Python that contenders run in: the one given, else that of the set-up, else `python3`.
pub(crate) fn find_python(given: Option<&Path>, data_dir: Option<&Path>) -> PathBuf {
    if let Some(python) = given {
        return python.to_path_buf();
    }
    data_dir.map(venv_python).filter(|python| python.exists()).unwrap_or_else(|| "python3".into())
}

fn venv_python(data_dir: &Path) -> PathBuf {
    data_dir.join("python").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// What makes Ruby find the gems of the set-up beside its own.
pub(crate) fn ruby_environment(data_dir: Option<&Path>) -> Vec<(OsString, OsString)> {
    let Some(gems) = data_dir.map(|folder| folder.join("ruby")).filter(|folder| folder.exists())
    else {
        return Vec::new();
    };
    let mut path = gems.into_os_string();
    // An empty last part stands for Ruby's own folders.
    path.push(":");
    if let Some(before) = std::env::var_os("GEM_PATH") {
        path.push(before);
    }
    vec![("GEM_PATH".into(), path)]
}

/// What to set up.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The folder for what is installed, instead of [`data_dir`].
    pub folder: Option<PathBuf>,
    /// The Python to make the virtual environment with, instead of `python3`.
    pub python: Option<PathBuf>,
    /// The Ruby to look into, instead of `ruby`.
    pub ruby: Option<PathBuf>,
}

/// One step: a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Why.
    pub purpose: String,
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Whether the rest goes on without it.
    pub optional: bool,
}

impl Step {
    /// The command as one would type it.
    #[must_use]
    pub fn line(&self) -> String {
        let words: Vec<String> = self
            .command
            .iter()
            .map(|word| {
                let word = word.to_string_lossy();
                let plain = !word.is_empty()
                    && word.chars().all(|one| one.is_alphanumeric() || "-_./=:+~".contains(one));
                if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
            })
            .collect();
        words.join(" ")
    }
}

/// What will be done, and what cannot be. Displays as the text to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The folder that everything goes into, Debian packages aside.
    pub folder: PathBuf,
    /// In this order.
    pub steps: Vec<Step>,
    /// What only the user can do, as sentences with commands.
    pub remarks: Vec<String>,
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            writeln!(out, "Nothing is to be done.")?;
        } else {
            writeln!(out, "This will be done (files go to {}):", self.folder.display())?;
            for step in &self.steps {
                let optional = if step.optional { ", if it can be" } else { "" };
                writeln!(out, "  {}{optional}:\n    {}", step.purpose, step.line())?;
            }
        }
        for remark in &self.remarks {
            writeln!(out, "{remark}")?;
        }
        Ok(())
    }
}

/// What the machine has; apart, so that plans can be tested.
#[derive(Debug, Clone, Default)]
struct Found {
    python: bool,
    /// Whether Python can make virtual environments (Debian ships that apart).
    venv: bool,
    ruby: bool,
    /// Gems that Ruby does not find.
    gems_missing: Vec<String>,
    root: bool,
    apt: bool,
}

/// Looks at the machine and plans; changes nothing.
///
/// # Errors
/// `Setup` when there is no folder to install into.
pub fn plan(options: &Options) -> Result<Plan, Error> {
    let folder = options.folder.clone().or_else(data_dir).ok_or_else(|| {
        Error::Setup("there is no home folder to install into; name a folder with --dir".into())
    })?;
    let python = options.python.clone().unwrap_or_else(|| "python3".into());
    let ruby = options.ruby.clone().unwrap_or_else(|| "ruby".into());
    let answers = |program: &Path, arguments: &[&str]| -> Option<String> {
        let output = Command::new(program)
            .args(arguments)
            .envs(ruby_environment(Some(&folder)))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    const PROBE: &str = "ARGV.each { |gem| begin; require({'yajl-ruby' => 'yajl'}.fetch(gem, gem)); \
                         rescue LoadError; puts gem; end }";
    let gems = gems();
    let mut probe = vec!["-e", PROBE];
    probe.extend(gems.iter().map(String::as_str));
    let missing = answers(&ruby, &probe);
    let found = Found {
        python: answers(&python, &["--version"]).is_some(),
        venv: answers(&python, &["-c", "import venv, ensurepip"]).is_some(),
        ruby: missing.is_some(),
        gems_missing: missing.map_or(gems, |text| text.lines().map(str::to_owned).collect()),
        root: is_root(),
        apt: answers(Path::new("apt-get"), &["--version"]).is_some(),
    };
    Ok(plan_for(&found, &folder, &python))
}

/// Every gem that an adapter names.
fn gems() -> Vec<String> {
    let mut gems: Vec<String> = contender::all().into_iter().flat_map(|one| one.gems).collect();
    gems.sort();
    gems.dedup();
    gems
}

/// The Debian packages of the gems, where there are some.
fn debian_packages(gems: &[String]) -> Vec<String> {
    let mut packages: Vec<String> = contender::all()
        .into_iter()
        .filter(|one| one.runtime == Runtime::Ruby && one.gems.len() == 1)
        .filter(|one| gems.contains(&one.gems[0]))
        .flat_map(|one| one.debian)
        .collect();
    packages.sort();
    packages.dedup();
    packages
}

fn plan_for(found: &Found, folder: &Path, python: &Path) -> Plan {
    let mut plan = Plan { folder: folder.to_path_buf(), steps: Vec::new(), remarks: Vec::new() };
    let mut packages: Vec<String> = Vec::new();
    if !found.python {
        packages.extend(["python3".into(), "python3-venv".into()]);
    } else if !found.venv {
        packages.push("python3-venv".into());
    }
    if !found.ruby {
        packages.push("ruby".into());
    }
    let from_debian = debian_packages(&found.gems_missing);
    packages.extend(from_debian.iter().cloned());
    let installs = found.root && found.apt && !packages.is_empty();
    if installs {
        let mut command: Vec<OsString> =
            ["apt-get", "install", "--yes"].map(OsString::from).to_vec();
        command.extend(packages.iter().map(OsString::from));
        plan.steps.push(Step {
            purpose: "install Debian packages".into(),
            command,
            optional: false,
        });
    } else if !packages.is_empty() {
        plan.remarks.push(format!(
            "As root, this brings what Debian has: apt-get install {}",
            packages.join(" ")
        ));
    }

    if found.venv || installs {
        let home = venv_python(folder);
        plan.steps.push(Step {
            purpose: "make a virtual environment for Python".into(),
            command: vec![python.into(), "-m".into(), "venv".into(), folder.join("python").into()],
            optional: false,
        });
        plan.steps.push(Step {
            purpose: "install the pinned Python libraries into it".into(),
            command: vec![
                home.into(),
                "-m".into(),
                "pip".into(),
                "install".into(),
                "--disable-pip-version-check".into(),
                "--requirement".into(),
                folder.join("requirements.txt").into(),
            ],
            optional: false,
        });
    }

    // What no package brings, or nobody may install: the gem itself, where RubyGems answers.
    let rest: Vec<String> = found
        .gems_missing
        .iter()
        .filter(|gem| !installs || debian_packages(std::slice::from_ref(gem)).is_empty())
        .cloned()
        .collect();
    if (found.ruby || installs) && !rest.is_empty() {
        for gem in &rest {
            plan.steps.push(Step {
                purpose: format!("install the gem {gem}"),
                command: vec![
                    "gem".into(),
                    "install".into(),
                    "--no-document".into(),
                    "--install-dir".into(),
                    folder.join("ruby").into(),
                    gem.into(),
                ],
                optional: true,
            });
        }
        plan.remarks.push(format!(
            "With Bundler instead: BUNDLE_GEMFILE={} bundle install",
            folder.join("Gemfile").display()
        ));
    }
    plan
}

/// How the steps went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// Steps that failed, and were optional: command and reason.
    pub failed: Vec<(String, String)>,
}

/// Does what the plan says. `told` hears each step before it is run; output of the commands goes
/// to standard error.
///
/// # Errors
/// `Io` for the folder, `Setup` when a step fails that is not optional.
pub fn execute(plan: &Plan, told: &mut dyn FnMut(&Step)) -> Result<Done, Error> {
    std::fs::create_dir_all(&plan.folder).map_err(Error::io("make", &plan.folder))?;
    for (name, carried) in [
        ("requirements.txt", "contenders/python/requirements.txt"),
        ("Gemfile", "contenders/ruby/Gemfile"),
    ] {
        let path = plan.folder.join(name);
        let text = assets::text(carried).expect("carried");
        std::fs::write(&path, text).map_err(Error::io("write", &path))?;
    }
    let mut done = Done { failed: Vec::new() };
    for step in &plan.steps {
        told(step);
        let Err(reason) = run_step(step) else { continue };
        if !step.optional {
            return Err(Error::Setup(format!("{} failed: {reason}", step.line())));
        }
        done.failed.push((step.line(), reason));
    }
    Ok(done)
}

fn run_step(step: &Step) -> Result<(), String> {
    let (program, arguments) = step.command.split_first().ok_or("an empty command")?;
    // What the commands print belongs to the log, not to standard output.
    let status = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(std::io::stderr())
        .status()
        .map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(status.to_string()) }
}

/// Whether we may install packages.
fn is_root() -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // The owner of our own entry is our effective user.
        std::fs::metadata("/proc/self").is_ok_and(|data| data.uid() == 0)
    }
    #[cfg(not(unix))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_missing() -> Vec<String> {
        ["json", "marc", "msgpack", "oj", "yajl-ruby"].map(str::to_owned).to_vec()
    }

    fn text(found: &Found) -> String {
        plan_for(found, Path::new("data"), Path::new("python3")).to_string()
    }

    #[test]
    fn a_bare_machine_as_root() {
        let found =
            Found { gems_missing: all_missing(), root: true, apt: true, ..Found::default() };
        assert_eq!(
            text(&found),
            "This will be done (files go to data):
  install Debian packages:
    apt-get install --yes python3 python3-venv ruby ruby-json ruby-msgpack ruby-oj ruby-yajl
  make a virtual environment for Python:
    python3 -m venv data/python
  install the pinned Python libraries into it:
    data/python/bin/python -m pip install --disable-pip-version-check --requirement data/requirements.txt
  install the gem marc, if it can be:
    gem install --no-document --install-dir data/ruby marc
With Bundler instead: BUNDLE_GEMFILE=data/Gemfile bundle install
"
        );
    }

    #[test]
    fn without_root_the_packages_are_only_named() {
        let found = Found {
            python: true,
            venv: true,
            ruby: true,
            gems_missing: vec!["oj".into()],
            root: false,
            apt: true,
        };
        let plan = plan_for(&found, Path::new("data"), Path::new("python3"));
        assert!(plan.steps.iter().all(|step| !step.line().contains("apt-get")));
        assert!(plan.steps.iter().any(|step| step.optional
            && step.line() == "gem install --no-document --install-dir data/ruby oj"));
        assert_eq!(
            plan.remarks[0],
            "As root, this brings what Debian has: apt-get install ruby-oj"
        );
    }

    #[test]
    fn without_root_and_with_all_gems_only_python_is_set_up() {
        let found = Found { python: true, venv: true, ruby: true, ..Found::default() };
        let plan = plan_for(&found, Path::new("data"), Path::new("python3"));
        assert_eq!(plan.steps.len(), 2);
        assert!(plan.remarks.is_empty());
    }

    #[test]
    fn a_failing_step_ends_the_set_up_unless_it_is_optional() {
        let folder = tempfile::tempdir().unwrap();
        let step = |program: &str, optional| Step {
            purpose: "try".into(),
            command: vec![program.into()],
            optional,
        };
        let plan = |steps| Plan { folder: folder.path().into(), steps, remarks: Vec::new() };
        let mut told = Vec::new();
        let done = execute(&plan(vec![step("false", true), step("true", false)]), &mut |step| {
            told.push(step.line());
        })
        .unwrap();
        assert_eq!(told, ["false", "true"]);
        assert_eq!(done.failed.len(), 1);
        assert!(folder.path().join("requirements.txt").exists());
        let error = execute(&plan(vec![step("false", false)]), &mut |_| {}).unwrap_err();
        assert!(error.to_string().starts_with("false failed: exit status"), "{error}");
    }

    #[test]
    fn lines_are_quoted_for_a_shell() {
        let step = Step {
            purpose: String::new(),
            command: vec!["a b".into(), "it's".into(), "-x=1".into()],
            optional: false,
        };
        assert_eq!(step.line(), r"'a b' 'it'\''s' -x=1");
    }
}
