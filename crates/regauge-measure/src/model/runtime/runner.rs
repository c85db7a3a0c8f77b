//! Runner files: what their heads say, and the commands that follow from it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{Head, Runtime};
use crate::model::assets;
use crate::model::error::Error;

/// A runner file, as its head describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunnerFile {
    pub runtime: Runtime,
    /// Suffixes of its adapters, without the dot; none if it only runs those of other runtimes.
    pub suffixes: Vec<String>,
    /// The file: below `lab/`, or the user's own.
    pub file: PathBuf,
    /// Commands that start it, the best first.
    pub commands: Vec<Vec<String>>,
    /// Names and values to set.
    pub environment: Vec<(String, String)>,
    /// The command that compiles runner and adapter, for languages that need it.
    pub build: Option<Vec<String>>,
    /// Whether the runtime compiles while it runs, so that a process gets faster for a while.
    pub compiles: bool,
    /// Whether its interpreter takes seconds to start, too long for a quick look.
    pub starts_slowly: bool,
    /// The compiler's message for a missing library.
    pub absent: Option<String>,
    /// The interpreter that it needs, in words: "Python 3.7 or newer".
    pub needs: Option<String>,
    pub setup: SetUp,
}

/// How a runtime is set up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SetUp {
    /// Whether a set-up without named runtimes installs the interpreter, too.
    pub always: bool,
    /// Commands that must succeed before the steps can run.
    pub have: Vec<Vec<String>>,
    /// Debian packages that provide what `have` requires.
    pub debian: Vec<String>,
    /// Purpose and command of each step.
    pub steps: Vec<(String, Vec<String>)>,
    /// The command that prints which of the named libraries are missing.
    pub missing: Option<Vec<String>>,
    /// Purpose and command of the step for each of those that no Debian package has.
    pub each: Option<(String, Vec<String>)>,
    /// Packages that provide the runtime from another Debian suite; none if that is impossible.
    pub suite: Vec<String>,
    /// What else the user can do, in words.
    pub remark: Option<String>,
}

/// The values of a template's placeholders.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// The interpreter, for commands of the set-up.
    pub program: OsString,
    /// The runner file.
    pub runner: PathBuf,
    /// The adapter.
    pub adapter: PathBuf,
    /// Where the set-up keeps its libraries, if anywhere.
    pub data: Option<PathBuf>,
    /// Where the embedded files are.
    pub lab: PathBuf,
    /// Where a compiler puts its output.
    pub built: PathBuf,
    /// The one library that a step is about, or several.
    pub libraries: Vec<String>,
}

impl Places {
    /// Returns the name of a file that is not there, given its path as a template; the name may have one `*`.
    pub(crate) fn lacks(&self, template: &str) -> Option<String> {
        let path = fill(template, self).map(PathBuf::from);
        let name = template.rsplit('/').next().unwrap_or(template);
        let (start, end) = name.split_once('*').unwrap_or((name, ""));
        let is_it = |found: &str| match name.contains('*') {
            true => {
                found.len() >= start.len() + end.len()
                    && found.starts_with(start)
                    && found.ends_with(end)
            }
            false => found == name,
        };
        let folder = path.as_deref().and_then(Path::parent);
        let files = folder.and_then(|folder| std::fs::read_dir(folder).ok());
        let mut names = files.into_iter().flatten().flatten().map(|file| file.file_name());
        let is_there = names.any(|found| found.to_str().is_some_and(is_it));
        (!is_there).then(|| name.to_owned())
    }
}

/// A command and its environment, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Started {
    pub program: OsString,
    pub arguments: Vec<OsString>,
    pub environment: Vec<(OsString, OsString)>,
}

impl RunnerFile {
    /// Reads the head of a runner.
    ///
    /// # Errors
    /// `Runner`, when a key is missing or has a value that cannot be.
    pub(crate) fn from_text(file: &Path, text: &str) -> Result<RunnerFile, Error> {
        let fail = |reason: String| Error::Runner { path: file.to_path_buf(), reason };
        let head = Head::of(text);
        let need = |key: &str| {
            head.get(key)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| fail(format!("found no line \"# {key}: …\" at its top")))
        };
        let id = need("runtime")?;
        let plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
        if !id.chars().all(plain) {
            return Err(fail(format!(
                "found runtime \"{id}\", expected a name of small letters, digits and \"-\""
            )));
        }
        need("command")?;
        let windows = "windows command";
        let key = if cfg!(windows) && head.get(windows).is_some() { windows } else { "command" };
        let commands: Vec<Vec<String>> = head.all(key).map(words).collect();
        // The compiler's output already contains the adapter.
        let names_adapter = |command: &&Vec<String>| command.iter().any(|word| word == "{adapter}");
        if let Some(bad) = commands.iter().find(|one| !names_adapter(one))
            && head.get("build").is_none()
        {
            return Err(fail(format!(
                "found command \"{}\", expected one that names {{adapter}}",
                bad.join(" ")
            )));
        }
        let mut environment = Vec::new();
        for line in head.all("environment") {
            let (name, value) = line.split_once('=').ok_or_else(|| {
                fail(format!("found environment \"{line}\", expected NAME=value"))
            })?;
            environment.push((name.to_owned(), value.to_owned()));
        }
        let purposeful = |line: &str| -> Result<(String, Vec<String>), Error> {
            line.split_once(": ")
                .map(|(purpose, command)| (purpose.to_owned(), words(command)))
                .ok_or_else(|| {
                    fail(format!(
                        "found the step \"{line}\", expected its purpose, a colon and a command"
                    ))
                })
        };
        let setup = SetUp {
            always: head.get("set up") == Some("always"),
            have: head.all("have").map(words).collect(),
            debian: head.words("debian"),
            steps: head.all("step").map(purposeful).collect::<Result<_, _>>()?,
            missing: head.get("missing").map(words),
            each: head.get("each").map(purposeful).transpose()?,
            suite: head.words("suite"),
            remark: head.get("remark").map(str::to_owned),
        };
        let runtime = Runtime::of(id);
        runtime.call(need("name")?);
        Ok(RunnerFile {
            runtime,
            suffixes: head.words("suffix"),
            file: file.to_path_buf(),
            commands,
            environment,
            build: head.get("build").map(words),
            compiles: head.get("compiles") == Some("yes"),
            starts_slowly: head.get("starts") == Some("slowly"),
            absent: head.get("absent").map(str::to_owned),
            needs: head.get("needs").map(str::to_owned),
            setup,
        })
    }

    /// Returns whether adapters with this suffix are its own.
    pub(crate) fn has_suffix(&self, suffix: &str) -> bool {
        self.suffixes.iter().any(|one| one == suffix)
    }

    /// Returns the first command that needs nothing of the set-up, or the last of all.
    fn plain_command(&self) -> &[String] {
        let plain = |command: &&Vec<String>| command.iter().all(|word| !word.contains("{data}"));
        self.commands.iter().find(plain).or(self.commands.last()).map_or(&[], Vec::as_slice)
    }

    /// Returns the interpreter: the one given, or that of the machine.
    pub(crate) fn program(&self, given: Option<&Path>) -> OsString {
        let usual = self.plain_command().first().map(OsString::from).unwrap_or_default();
        given.map_or(usual, |path| path.as_os_str().to_owned())
    }

    /// Returns the command that serves an adapter: the first whose program and files are there. An
    /// interpreter that the user gave takes the place of the program, unlooked at.
    ///
    /// # Errors
    /// Words on what is not there.
    pub(crate) fn command(&self, given: Option<&Path>, places: &Places) -> Result<Started, String> {
        let environment = self.environment(places);
        let start = |words: Vec<OsString>| {
            let mut words = words.into_iter();
            let program = words.next().unwrap_or_default();
            Started { program, arguments: words.collect(), environment: environment.clone() }
        };
        if let Some(given) = given {
            let mut words = expand(self.plain_command(), places).unwrap_or_default();
            if let Some(program) = words.first_mut() {
                *program = given.into();
            }
            return Ok(start(words));
        }
        let mut absent = Vec::new();
        for template in &self.commands {
            let Some(words) = expand(template, places) else { continue };
            match first_absent(template, &words) {
                None => return Ok(start(words)),
                Some(what) => absent.push(what.to_string_lossy().into_owned()),
            }
        }
        absent.dedup();
        Err(match absent.len() {
            0 | 1 => format!("{} is missing", absent.concat()),
            _ => format!("{} are missing", absent.join(" and ")),
        })
    }

    /// Returns the command that translates an adapter.
    pub(crate) fn build(&self, places: &Places) -> Option<Started> {
        let mut words = expand(self.build.as_ref()?, places)?.into_iter();
        let program = words.next()?;
        Some(Started { program, arguments: words.collect(), environment: self.environment(places) })
    }

    /// Returns the environment of every command of this runtime. A line that needs the set-up
    /// folder is left out if there is none.
    pub(crate) fn environment(&self, places: &Places) -> Vec<(OsString, OsString)> {
        self.environment
            .iter()
            .filter_map(|(name, value)| Some((name.into(), fill(value, places)?)))
            .collect()
    }
}

/// Returns the words of a command. A word may stand in double quotes, with blanks in it.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(char::is_whitespace).unwrap_or((rest, "")),
        };
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// Returns a template with everything in its place, or nothing if it needs a folder that there is
/// not. `{libraries}` as a word of its own becomes as many words as there are.
pub(crate) fn expand(template: &[String], places: &Places) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    for word in template {
        if word == "{libraries}" {
            words.extend(places.libraries.iter().map(OsString::from));
        } else {
            words.push(fill(word, places)?);
        }
    }
    Some(words)
}

/// Fills in all placeholders of a word or value.
fn fill(word: &str, places: &Places) -> Option<OsString> {
    let mut filled = OsString::new();
    let mut rest = word;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}')?;
        filled.push(before);
        match name {
            "program" => filled.push(&places.program),
            "runner" => filled.push(&places.runner),
            "adapter" => filled.push(&places.adapter),
            "lab" => filled.push(&places.lab),
            "built" => filled.push(&places.built),
            "data" => filled.push(places.data.as_ref()?),
            "library" => filled.push(places.libraries.first()?),
            // Between the folders of a list, as in `PATH`.
            "separator" => filled.push(if cfg!(windows) { ";" } else { ":" }),
            // An environment variable; one that is not set is empty.
            name => filled.push(std::env::var_os(name).unwrap_or_default()),
        }
        rest = tail;
    }
    filled.push(rest);
    Some(filled)
}

/// Returns the first thing that a command needs and that is not there: its program, or a file of
/// the set-up (a word that begins with `{data}`, without a wildcard).
fn first_absent<'w>(template: &[String], words: &'w [OsString]) -> Option<&'w OsStr> {
    let program = words.first()?;
    if !is_there(program) {
        return Some(program);
    }
    let file = |template: &String| template.starts_with("{data}") && !template.contains('*');
    // `{libraries}`, which changes the number of words, has no place in a command for adapters.
    template
        .iter()
        .zip(words)
        .find(|(template, word)| file(template) && !Path::new(word).exists())
        .map(|(_, word)| word.as_os_str())
}

/// Returns whether a program can be found: at its path, or in one of the folders of `PATH`.
pub(crate) fn is_there(program: &OsStr) -> bool {
    let path = Path::new(program);
    if path.components().count() > 1 {
        return path.exists();
    }
    std::env::var_os("PATH").is_some_and(|folders| {
        std::env::split_paths(&folders).any(|folder| {
            let mut file = folder.join(path).into_os_string();
            let is_file = Path::new(&file).is_file();
            file.push(std::env::consts::EXE_SUFFIX);
            is_file || Path::new(&file).is_file()
        })
    })
}

/// Returns the runners that the binary carries, in order of their ids.
pub(crate) fn carried() -> &'static [RunnerFile] {
    static CARRIED: LazyLock<Vec<RunnerFile>> = LazyLock::new(|| {
        let mut list: Vec<RunnerFile> = assets::FILES
            .iter()
            // Below them are folders with their parts.
            .filter(|(path, _)| {
                path.strip_prefix("runners/").is_some_and(|name| !name.contains('/'))
            })
            .map(|(path, text)| {
                RunnerFile::from_text(Path::new(path), text)
                    .expect("a test reads every runner that is carried")
            })
            .collect();
        list.sort_by_key(|one| one.runtime);
        list
    });
    &CARRIED
}

/// Returns the carried runners and the user's own. One of the user's takes the place of a carried
/// one with the same id.
///
/// # Errors
/// `Io`, and those of `from_text`.
pub(crate) fn with(files: &[PathBuf]) -> Result<Vec<RunnerFile>, Error> {
    let mut list = carried().to_vec();
    for file in files {
        let text = std::fs::read_to_string(file).map_err(Error::io("read", file))?;
        let full = dunce::canonicalize(file).map_err(Error::io("find", file))?;
        let runner = RunnerFile { file: full, ..RunnerFile::from_text(file, &text)? };
        if runner.runtime == Runtime::NATIVE {
            let reason = "found runtime \"native\", which is regauge's own".to_owned();
            return Err(Error::Runner { path: file.clone(), reason });
        }
        list.retain(|one| one.runtime != runner.runtime);
        list.push(runner);
    }
    list.sort_by_key(|one| one.runtime);
    Ok(list)
}

#[cfg(test)]
mod tests;
