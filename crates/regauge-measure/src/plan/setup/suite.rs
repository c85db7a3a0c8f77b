//! Unpacks a runtime from another Debian suite into a folder: newer libraries without changing the
//! machine. Nothing of it is installed or configured, and it runs without chroot, through a
//! launcher in `lab/suites/<runtime>/`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::plan::{Found, debian_packages, libraries};
use super::{Action, Plan, Step};
use crate::model::assets;
use crate::model::error::Error;
use crate::model::runtime::{RunnerFile, Runtime};
use crate::plan::folders::STAMP;

/// Returns the location of an unpacked runtime: its `root`, and the launcher beside it.
pub(super) fn folder_of(data_dir: &Path, runtime: Runtime) -> PathBuf {
    data_dir.join(format!("{}-suite", runtime.id()))
}

/// Returns the server that this machine's own packages come from.
pub(super) fn mirror() -> Option<String> {
    let mut files = vec![PathBuf::from("/etc/apt/sources.list")];
    let more = std::fs::read_dir("/etc/apt/sources.list.d").into_iter().flatten().flatten();
    files.extend(more.map(|entry| entry.path()));
    files.sort();
    files
        .iter()
        .filter_map(|file| std::fs::read_to_string(file).ok())
        .find_map(|text| mirror_in(&text))
}

/// Returns the server of a Debian archive in a file of sources, in either of apt's two notations.
fn mirror_in(text: &str) -> Option<String> {
    let server = text.lines().map(str::trim).find_map(|line| {
        line.split_whitespace()
            .skip_while(|_| !(line.starts_with("deb ") || line.starts_with("URIs:")))
            .find(|word| word.contains("://"))
            // Others serve their own packages; security has no packages of a coming suite.
            .filter(|server| server.trim_end_matches('/').ends_with("/debian"))
    })?;
    Some(server.to_owned())
}

/// Adds the steps that unpack a suite.
pub(super) fn plan(
    suite: &str,
    runner: &RunnerFile,
    found: &Found,
    folder: &Path,
    plan: &mut Plan,
) -> Result<(), Error> {
    let (runtime, name) = (runner.runtime, runner.runtime.name());
    let files: Vec<(&str, &str)> = assets::FILES
        .iter()
        .filter_map(|(path, text)| {
            let path =
                path.strip_prefix("suites/")?.strip_prefix(runtime.id())?.strip_prefix('/')?;
            Some((path, *text))
        })
        .collect();
    if files.is_empty() || runner.setup.suite.is_empty() {
        return Err(Error::Setup(format!(
            "{name} cannot be installed from another Debian suite: its runner has no line \"suite\""
        )));
    }
    let Some(mirror) = &found.mirror else {
        return Err(Error::Setup(format!(
            "{name} from {suite} needs a Debian server, and the apt sources name none"
        )));
    };
    let mut packages = runner.setup.suite.clone();
    packages.extend(debian_packages(runtime, &libraries(runtime)));
    let home = folder_of(folder, runtime);
    let root = home.join("root");
    let mut steps = Vec::new();
    let mut step = |purpose: String, action: Action| {
        steps.push(Step { purpose, action, runtime: Some(runtime), optional: false });
    };
    let command = |words: &[&str]| -> Vec<OsString> { words.iter().map(OsString::from).collect() };
    if !found.mmdebstrap {
        if !(found.root && found.apt) {
            plan.remarks.push(format!(
                "{name} of {suite} cannot be set up: it needs mmdebstrap (as root: apt-get \
                 install mmdebstrap)."
            ));
            return Ok(());
        }
        step(
            "install mmdebstrap".into(),
            Action::Run(command(&[
                "apt-get",
                "install",
                "--yes",
                "--no-install-recommends",
                "mmdebstrap",
            ])),
        );
    }
    let mut remove = command(&["rm", "-rf"]);
    remove.push(root.clone().into());
    step("remove the previous copy".into(), Action::Run(remove));
    // It wants the folder above to be there.
    let mut make = command(&["mkdir", "-p"]);
    make.push(home.clone().into());
    step("create its folder".into(), Action::Run(make));
    let mut unpack = command(&[
        "mmdebstrap",
        "--variant=extract",
        // A snapshot of an archive is out of date by intention.
        "--aptopt=Acquire::Check-Valid-Until \"false\"",
        &format!("--include={}", packages.join(",")),
        suite,
    ]);
    unpack.push(root.into());
    unpack.push(format!("deb {mirror} {suite} main").into());
    step(format!("unpack {name} of Debian's suite {suite}"), Action::Run(unpack));
    for (file, text) in files {
        let path = home.join(file);
        step("write its launcher".into(), Action::Script { path, text: text.to_owned() });
    }
    // Removing the old copy and installing mmdebstrap do not affect the result.
    let mut stamp: String = steps
        .iter()
        .filter(|step| step.line().contains(suite))
        .map(|step| step.line() + "\n")
        .collect();
    steps.iter().for_each(|step| {
        if let Action::Script { text, .. } = &step.action {
            stamp.push_str(text);
        }
    });
    if found.suite_stamps.get(&runtime) == Some(&stamp) {
        plan.remarks.push(format!("{name} from {suite} is already set up."));
        return Ok(());
    }
    plan.steps.extend(steps);
    plan.stamps.push((runtime, home.join(STAMP), stamp));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_in_both_notations() {
        for (text, server) in [
            ("deb http://one.example/debian bookworm main\n", Some("http://one.example/debian")),
            (
                "# deb http://no.example/debian x y\ndeb [arch=amd64] https://a.example/debian/ x y",
                Some("https://a.example/debian/"),
            ),
            (
                "Types: deb\nURIs: http://two.example/debian\nSuites: bookworm\n",
                Some("http://two.example/debian"),
            ),
            ("URIs: http://two.example/debian-security\n", None),
            ("deb http://packages.example/tool tool main\n", None),
            ("", None),
        ] {
            assert_eq!(mirror_in(text).as_deref(), server, "{text}");
        }
    }
}
