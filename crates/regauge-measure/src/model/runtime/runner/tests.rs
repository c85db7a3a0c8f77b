use super::*;

fn read(text: &str) -> Result<RunnerFile, String> {
    RunnerFile::from_text(Path::new("mine.sh"), text).map_err(|error| error.to_string())
}

const TOY: &str = "# runtime: toy
# name: Toy
# suffix: toy t
# command: {data}/toy/bin/no-such-toy {runner} {adapter}
# command: sh {runner} {adapter}
# environment: TOY_PATH={data}/toy{separator}{REGAUGE_NO_SUCH_VARIABLE}
# environment: PLAIN=1
";

fn text(words: &[OsString]) -> Vec<&str> {
    words.iter().map(|word| word.to_str().unwrap()).collect()
}

#[test]
fn every_carried_runner_can_be_read() {
    let ids: Vec<&str> = carried().iter().map(|one| one.runtime.id()).collect();
    for id in ["python", "ruby"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
    let mut suffixes: Vec<&String> = carried().iter().flat_map(|one| &one.suffixes).collect();
    suffixes.sort();
    let all = suffixes.len();
    suffixes.dedup();
    assert_eq!(suffixes.len(), all, "a suffix has one owner");
}

#[test]
fn the_first_command_whose_program_is_there_is_taken() {
    let toy = read(TOY).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let places = Places {
        runner: "run".into(),
        adapter: "my adapter".into(),
        data: Some(folder.path().into()),
        ..Places::default()
    };
    let started = toy.command(None, &places).unwrap();
    assert_eq!(started.program, "sh");
    assert_eq!(text(&started.arguments), ["run", "my adapter"], "a blank cuts no word");
    let value = format!("{}/toy:", folder.path().display());
    assert_eq!(
        started.environment,
        [("TOY_PATH".into(), value.into()), ("PLAIN".into(), OsString::from("1"))]
    );

    let bin = folder.path().join("toy/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("no-such-toy"), "").unwrap();
    assert_eq!(toy.command(None, &places).unwrap().program, bin.join("no-such-toy"));
    let given = toy.command(Some(Path::new("/opt/toy")), &places).unwrap();
    assert_eq!((given.program, given.arguments), ("/opt/toy".into(), started.arguments));
}

#[test]
fn without_a_folder_of_the_set_up_what_needs_it_is_left_out() {
    let started = read(TOY).unwrap().command(None, &Places::default()).unwrap();
    assert_eq!(started.program, "sh");
    assert_eq!(started.environment, [("PLAIN".into(), OsString::from("1"))]);
}

#[test]
fn what_is_not_there_is_named() {
    let places = Places { data: Some("no-such-folder".into()), ..Places::default() };
    let runner =
        |commands: &str| read(&format!("# runtime: toy\n# name: Toy\n{commands}")).unwrap();
    let told = |commands: &str| runner(commands).command(None, &places).unwrap_err();
    assert_eq!(told("# command: no-such-toy {adapter}\n"), "no-such-toy is missing");
    assert_eq!(
        told("# command: no-such-toy {adapter}\n# command: sh {data}/toy.jar {adapter}\n"),
        "no-such-toy and no-such-folder/toy.jar are missing"
    );
    // A wildcard is for the interpreter to look at.
    let started = runner("# command: sh -cp {data}/jars/* {adapter}\n").command(None, &places);
    assert_eq!(started.unwrap().arguments[1], "no-such-folder/jars/*");
}

#[test]
fn a_runner_that_says_too_little_is_refused() {
    for (text, message) in [
        ("", "runner mine.sh: found no line \"# runtime: …\" at its top"),
        ("# runtime: toy\n", "runner mine.sh: found no line \"# command: …\" at its top"),
        (
            "# runtime: toy\n# command: sh {adapter}\n",
            "runner mine.sh: found no line \"# name: …\" at its top",
        ),
        (
            "# runtime: Toy\n",
            "runner mine.sh: found runtime \"Toy\", expected a name of small letters, digits and \
             \"-\"",
        ),
        (
            "# runtime: toy\n# command: sh run\n",
            "runner mine.sh: found command \"sh run\", expected one that names {adapter}",
        ),
        (
            "# runtime: toy\n# command: sh {adapter}\n# environment: PATH\n",
            "runner mine.sh: found environment \"PATH\", expected NAME=value",
        ),
        (
            "# runtime: toy\n# command: sh {adapter}\n# step: sh\n",
            "runner mine.sh: found the step \"sh\", expected its purpose, a colon and a command",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), message);
    }
}

#[test]
fn words_may_be_quoted() {
    assert_eq!(words(r#"a "b c"  d"#), ["a", "b c", "d"]);
    assert_eq!(words(""), [""; 0]);
}

#[test]
fn a_runner_of_the_users_own_joins_the_carried_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toy.sh");
    std::fs::write(&file, TOY).unwrap();
    let list = with(std::slice::from_ref(&file)).unwrap();
    let toy = list.iter().find(|one| one.runtime == Runtime::of("toy")).unwrap();
    assert!(toy.has_suffix("t") && toy.file.is_absolute());
    assert_eq!(list.len(), carried().len() + 1);
    assert_eq!(Runtime::of("toy").name(), "Toy");
}

#[test]
fn the_native_runtime_is_not_for_others_to_take() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.sh");
    std::fs::write(&file, "# runtime: native\n# name: Mine\n# command: sh {adapter}\n").unwrap();
    let error = with(std::slice::from_ref(&file)).unwrap_err().to_string();
    assert!(error.ends_with("found runtime \"native\", which is regauge's own"), "{error}");
    // What the set-up builds for this processor is one more program of the same runtime.
    let native = carried().iter().find(|one| one.runtime == Runtime::NATIVE).unwrap();
    let data = folder.path().to_owned();
    let places = Places { data: Some(data), adapter: "sonic_rs.rs".into(), ..Places::default() };
    let absent = native.command(None, &places).unwrap_err();
    assert!(absent.ends_with("regauge-contenders is missing"), "{absent}");
}

#[test]
fn a_file_that_a_contender_needs_is_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    let places = Places { data: Some(folder.path().to_path_buf()), ..Places::default() };
    let needs = "{data}/java/yaml-*.jar";
    assert_eq!(places.lacks(needs).as_deref(), Some("yaml-*.jar"), "there is no folder");
    std::fs::create_dir(folder.path().join("java")).unwrap();
    std::fs::write(folder.path().join("java/snakeyaml-2.7.jar"), "").unwrap();
    std::fs::write(folder.path().join("java/yaml-2.7.pom"), "").unwrap();
    assert_eq!(places.lacks(needs).as_deref(), Some("yaml-*.jar"));
    std::fs::write(folder.path().join("java/yaml-2.7.jar"), "").unwrap();
    assert_eq!(places.lacks(needs), None);
    assert_eq!(places.lacks("{data}/java/yaml-2.7.pom"), None);
    assert_eq!(Places::default().lacks(needs).as_deref(), Some("yaml-*.jar"), "no set-up");
}
