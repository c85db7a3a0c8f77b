//! What `regauge measure` accepts as input. Measuring itself is tested in `regauge-measure`.

mod common;

use std::path::Path;

use common::Folder;

const MEASURE: &str = "measure --rounds 1 --only rust --progress never";

#[test]
fn a_folder_of_files_in_any_format_and_compression() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("cache")).unwrap();
    folder.write("one.json", r#"{"n": 1}"#);
    folder.run("convert one.json cache/b.yaml.gz").silent();
    folder.run("convert one.json cache/a10.pickle.zst").silent();
    folder.run("convert one.json cache/a9.cbor").silent();
    folder.write("cache/notes.txt", "What this folder holds that could be measured");
    let text = folder.run(&format!("{MEASURE} cache")).status(0).text();
    let head = text.lines().next().unwrap();
    assert!(head.starts_with("cache: CBOR, Python pickle, YAML, 3 documents, "), "{text}");
    let text = folder.run(&format!("{MEASURE} --full cache")).status(0).text();
    assert!(text.contains("| ndjson "), "{text}");
    assert!(
        text.contains(
            "Note: The file notes.txt in the folder was skipped because neither its name nor its \
             first bytes identify a format."
        ),
        "{text}"
    );
    assert!(!Path::new("cache/b.yaml").exists());
}

#[test]
fn a_compressed_file_has_its_own_name_in_the_report() {
    let folder = Folder::new();
    folder.write("in.json", r#"{"when": [1, 2]}"#);
    folder.run("convert in.json in.bson.gz").silent();
    let text = folder.run(&format!("{MEASURE} in.bson.gz")).status(0).text();
    assert!(text.starts_with("in.bson.gz: BSON, 1 document, "), "{text}");
}

#[test]
fn what_cannot_be_measured_on() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("empty")).unwrap();
    let told = |arguments: &str, status| folder.run(arguments).status(status).stderr;
    assert_eq!(
        told(&format!("{MEASURE} empty"), 2),
        "regauge: empty: found no file with a recognisable format in this folder; pass --from\n"
    );
    // Flags that the library suggests elsewhere belong to `convert`.
    folder.write("broken.json", r#"{"a": 1e999}"#);
    let message = told(&format!("{MEASURE} broken.json"), 1);
    assert!(message.contains("1e999") && !message.contains("--"), "{message}");
    // Of a folder, the path is named.
    std::fs::create_dir(folder.path("several")).unwrap();
    folder.write("several/a.json", "[1]");
    folder.write("several/broken.ndjson", "[1]\n{\n");
    let message = told(&format!("{MEASURE} several"), 1);
    assert!(message.starts_with("regauge: several/broken.ndjson: "), "{message}");
    // A hint names what `--from` takes here.
    folder.write("unknown", "\u{1}\u{2}");
    let message = told(&format!("{MEASURE} unknown"), 2);
    assert!(
        message.contains("pass --from with one of") && !message.contains("parquet"),
        "{message}"
    );
    // A record count is for samples; a file must not be silently measured in full.
    folder.write("a.json", "[1]");
    for task in ["--task own ", "--task senators "] {
        let message = told(&format!("{MEASURE} a.json {task}--records 5"), 2);
        assert!(message.contains("a FILE is measured whole"), "{message}");
    }
    let message = told("measure a.json --budget soon", 2);
    assert!(message.contains("expected a number of seconds from 0, such as 14.8"), "{message}");
    // A task on a catalogue says nothing about other data.
    let message = told(&format!("{MEASURE} a.json --task marc-catalog"), 2);
    assert!(
        message.contains("measures MARC records: found json, expected one of marc, marcxml"),
        "{message}"
    );
}

#[test]
fn a_file_has_a_list_of_its_own_contenders() {
    let folder = Folder::new();
    folder.write("a.yaml", "a: 1\n");
    let names = |arguments: &str| -> Vec<String> {
        let printed = folder.run(arguments).status(0).text();
        printed.lines().skip(1).map(|line| line.trim().to_owned()).collect()
    };
    let all = names("measure --list");
    let own = names("measure a.yaml --list");
    assert!(own[0].contains("yaml"), "{}", own[0]);
    assert!(own.len() < all.len() && own.iter().any(|line| line.starts_with("ormsgpack ")));
    assert!(!own.iter().any(|line| line.contains("marcxml")), "{own:?}");
    let only = names("measure a.yaml --list --only pyyaml");
    assert!(!only.is_empty() && only.iter().all(|line| line.to_lowercase().contains("pyyaml")));
    // So short a run is a quick look, which has another order.
    let quick = names("measure a.yaml --list --quick");
    assert_eq!(names("measure a.yaml --list --budget 19"), quick);
    assert_eq!(names("measure a.yaml --list --budget 20"), own);
    assert_ne!(own, quick);
}
