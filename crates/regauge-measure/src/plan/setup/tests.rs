use std::path::Path;

use super::apply::execute;
use super::plan::{Found, plan_for, stamp_for};
use super::*;
use crate::model::runtime;
use crate::plan::folders::stamp;

const GEMS: [&str; 5] = ["json", "marc", "msgpack", "oj", "yajl-ruby"];

fn id(id: &str) -> Runtime {
    Runtime::of(id)
}

/// Returns a machine with everything, and what these runtimes lack.
fn machine(lacking: &[(&str, &str)], gems_missing: &[&str]) -> Found {
    let mut found = Found { root: true, apt: true, mmdebstrap: true, ..Found::default() };
    for (runtime, command) in lacking {
        found.lacking.insert(id(runtime), (*command).to_owned());
    }
    let gems = gems_missing.iter().map(|gem| (*gem).to_owned()).collect();
    found.libraries_missing.insert(id("ruby"), gems);
    found
}

fn planned(found: &Found, wanted: &[&str]) -> Plan {
    let wanted = wanted.iter().map(|one| one.parse().unwrap()).collect();
    let options = Options { wanted, ..Options::default() };
    plan_for(found, &options, runtime::carried(), Path::new("data")).unwrap()
}

#[test]
fn a_bare_machine_as_root() {
    let lacking = [("python", "python3"), ("ruby", "ruby --version")];
    let found = machine(&lacking, &GEMS);
    assert_eq!(
        planned(&found, &["python", "ruby"]).to_string(),
        "Steps (files go to data):
  install Debian packages:
    apt-get install --yes --no-install-recommends python3 python3-venv ruby ruby-json ruby-msgpack ruby-oj ruby-yajl
  Python: make a virtual environment:
    python3 -m venv data/python
  Python: install the pinned libraries into it:
    data/python/bin/python -m pip install --disable-pip-version-check --requirement data/lab/contenders/python/requirements.txt
  Ruby: install a gem, marc, if possible:
    gem install --no-document --install-dir data/ruby marc
With Bundler instead of gem: BUNDLE_GEMFILE=data/lab/contenders/ruby/Gemfile bundle install
"
    );
}

#[test]
fn without_root_the_packages_are_only_named() {
    let found = Found { root: false, ..machine(&[], &["oj"]) };
    let plan = planned(&found, &["ruby"]);
    let lines: Vec<String> = plan.steps.iter().map(Step::line).collect();
    assert_eq!(lines, ["gem install --no-document --install-dir data/ruby oj"]);
    assert!(plan.steps[0].optional);
    assert_eq!(plan.remarks[0], "As root, install what Debian has: apt-get install ruby-oj");
}

#[test]
fn a_runtime_that_lacks_something_is_left_out_with_the_reason_unless_it_is_named() {
    let found = Found { root: false, ..machine(&[("python", "python3 -m ensurepip")], &[]) };
    let plan = planned(&found, &["python"]);
    assert!(plan.steps.is_empty());
    assert_eq!(
        plan.remarks,
        [
            "As root, install what Debian has: apt-get install python3 python3-venv",
            "Python cannot be set up: \"python3 -m ensurepip\" does not work here."
        ]
    );
}

#[test]
fn what_was_set_up_from_the_same_is_left_alone() {
    let mut found = machine(&[], &[]);
    let first = planned(&found, &["python"]);
    assert_eq!(first.steps.len(), 2);
    assert!(first.remarks.is_empty());
    found.stamps.insert(id("python"), stamp_for(id("python"), &first.steps));
    let second = planned(&found, &["python"]);
    assert!(second.steps.is_empty());
    assert_eq!(second.remarks, ["Python is already set up."]);
    assert_eq!(second.to_string(), "Nothing to do.\nPython is already set up.\n");
    found.stamps.insert(id("python"), "another list".into());
    assert_eq!(planned(&found, &["python"]).steps.len(), 2);
}

#[test]
fn ruby_of_another_suite() {
    let mut found = machine(&[], &[]);
    let fail = |found: &Found, wanted: &str| {
        let options = Options { wanted: vec![wanted.parse().unwrap()], ..Options::default() };
        plan_for(found, &options, runtime::carried(), Path::new("data")).unwrap_err().to_string()
    };
    assert!(fail(&found, "ruby=forky").ends_with("the apt sources name none"));
    found.mirror = Some("http://server.example/debian".into());
    assert!(fail(&found, "python=forky").contains("its runner has no line \"suite\""));

    let plan = planned(&found, &["ruby=forky"]);
    let lines: Vec<String> = plan.steps.iter().map(Step::line).collect();
    assert_eq!(lines[0], "rm -rf data/ruby-suite/root");
    assert_eq!(lines[1], "mkdir -p data/ruby-suite");
    assert!(
        lines[2].starts_with("mmdebstrap --variant=extract ")
            && lines[2].contains("--include=ruby,ruby-nokogiri,")
            && lines[2].contains("ruby-oj")
            && lines[2].ends_with(
                " forky data/ruby-suite/root 'deb http://server.example/debian forky main'"
            ),
        "{}",
        lines[2]
    );
    assert_eq!(lines[3..], ["write data/ruby-suite/boot.rb", "write data/ruby-suite/ruby"]);

    found.suite_stamps.insert(id("ruby"), plan.stamps[0].2.clone());
    assert_eq!(planned(&found, &["ruby=forky"]).remarks, ["Ruby from forky is already set up."]);
    found.mmdebstrap = false;
    assert_eq!(
        planned(&found, &["ruby=trixie"]).steps[0].line(),
        "apt-get install --yes --no-install-recommends mmdebstrap"
    );
    found.root = false;
    let plan = planned(&found, &["ruby=trixie"]);
    assert!(plan.steps.is_empty() && plan.remarks[0].contains("needs mmdebstrap"));
}

#[test]
fn names_to_set_up() {
    let wanted: Wanted = "ruby=forky".parse().unwrap();
    assert_eq!((wanted.runtime, wanted.suite.as_deref()), (id("ruby"), Some("forky")));
    for bad in ["", "=x", "ruby=", "ruby=a b", "ru/by"] {
        assert!(bad.parse::<Wanted>().is_err(), "{bad}");
    }
    let wanted = vec!["cobol".parse().unwrap()];
    let options = Options { folder: Some("data".into()), wanted, ..Options::default() };
    let message = plan(&options).unwrap_err().to_string();
    assert!(message.starts_with("found the runtime \"cobol\" to set up, expected one of "));
}

fn step(runtime: Option<&str>, script: &str, optional: bool) -> Step {
    Step {
        purpose: "try".into(),
        action: Action::Run(vec!["sh".into(), "-c".into(), script.into()]),
        runtime: runtime.map(id),
        optional,
    }
}

/// Returns the scripts that were run, and how it ended.
fn done(folder: &Path, steps: Vec<Step>) -> (Vec<String>, Result<Done, String>) {
    let stamps = ["python", "ruby"]
        .map(|name| (id(name), stamp(folder, id(name)), "made".to_owned()))
        .to_vec();
    let plan = Plan { folder: folder.into(), steps, remarks: Vec::new(), stamps };
    for name in ["python", "ruby"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
    }
    let mut told = Vec::new();
    let result = execute(&plan, &mut |step| {
        let Action::Run(command) = &step.action else { return };
        told.push(command.last().unwrap().to_string_lossy().into_owned());
    });
    (told, result.map_err(|error| error.to_string()))
}

#[test]
fn a_failing_step_ends_the_set_up_of_its_runtime() {
    let folder = tempfile::tempdir().unwrap();
    let steps = vec![
        step(Some("python"), "exit 3", false),
        step(Some("python"), "never", false),
        step(Some("ruby"), "exit 4", true),
        step(Some("ruby"), "true", false),
    ];
    let (told, result) = done(folder.path(), steps);
    assert_eq!(told, ["exit 3", "exit 4", "true"]);
    assert_eq!(result.unwrap_err(), "sh -c 'exit 3' failed: exit status: 3");
    assert!(!stamp(folder.path(), id("python")).exists(), "it is not set up");
    assert_eq!(std::fs::read_to_string(stamp(folder.path(), id("ruby"))).unwrap(), "made");
    assert!(folder.path().join("lab/contenders/python/requirements.txt").exists());
}

#[test]
fn without_the_packages_nothing_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (told, result) =
        done(folder.path(), vec![step(None, "false", false), step(Some("ruby"), "true", false)]);
    assert_eq!(told, ["false"]);
    assert!(result.is_err() && !stamp(folder.path(), id("ruby")).exists());
}

#[test]
fn a_machine_that_is_offline_is_told_so() {
    let folder = tempfile::tempdir().unwrap();
    let script = "printf 'Temporary failure in name '; sleep 0.1; echo resolution; exit 1";
    let (_, result) = done(folder.path(), vec![step(Some("ruby"), script, true)]);
    let failed = result.unwrap().failed;
    assert_eq!(
        failed[0].1,
        "exit status: 1; no server answered. Earlier set-ups remain usable; with a network, \
         or a proxy or mirror set for sh, try again"
    );
    let absent = Step {
        action: Action::Run(vec!["regauge-no-such-program".into()]),
        ..step(Some("ruby"), "", true)
    };
    let (_, result) = done(folder.path(), vec![absent]);
    assert_eq!(result.unwrap().failed[0].1, "there is no regauge-no-such-program");
}

#[test]
fn a_registry_that_does_not_answer_is_asked_once() {
    let folder = tempfile::tempdir().unwrap();
    let offline = "echo getaddrinfo >&2; exit 1";
    let steps = vec![
        step(Some("ruby"), offline, true),
        step(Some("ruby"), "echo another gem", true),
        step(Some("python"), "exit 2", true),
        step(Some("python"), "true", true),
    ];
    let (told, result) = done(folder.path(), steps);
    assert_eq!(told, [offline, "exit 2", "true"]);
    let failed = result.unwrap().failed;
    assert_eq!(failed[1].1, "skipped: no server answered before");
    assert_eq!(failed.len(), 3);
}

#[test]
fn lines_are_quoted_for_a_shell() {
    let action = Action::Run(vec!["a b".into(), "it's".into(), "-x=1".into()]);
    let step = Step { action, ..step(None, "", false) };
    assert_eq!(step.line(), r"'a b' 'it'\''s' -x=1");
}
