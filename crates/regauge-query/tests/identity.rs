//! The filter `.` changes nothing: for every valid file of the corpus, the output is that of `convert`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regauge::convert::convert_bytes;
use regauge::values::without_references;
use regauge::{Format, Limits, OnLoss, Options, Value, detect, read_values};
use regauge_query::{Filter, Settings, on_large_stack};

fn files() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let folders = fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path().join("valid"));
    let mut files: Vec<PathBuf> = folders
        .filter(|folder| folder.is_dir())
        .flat_map(|folder| fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// The documents, with shared values written out; `None` if one contains itself.
fn expanded(bytes: &[u8], format: Format) -> Option<Vec<Value>> {
    let values = read_values(bytes, &Options::new(format, format)).unwrap();
    let limits = Limits::default();
    values.iter().map(|value| Some(without_references(value, &limits).ok()?.0)).collect()
}

#[test]
fn the_identity_is_what_convert_does() {
    let (mut same, mut shared, mut cycles) = (0, 0, 0);
    for path in files() {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        let Some(format) = detect::detect(name, &bytes).unwrap() else { panic!("{name}") };
        let mut targets = vec![format];
        targets.extend((format != Format::Json).then_some(Format::Ndjson));
        for to in targets {
            let mut options = Options::new(format, to);
            if to == Format::Ndjson {
                options.on_loss = OnLoss::Approximate;
            }
            let plain = convert_bytes(&bytes, &options);
            let filter = Filter::compile(".", &[]).unwrap();
            options.stage = Some(Arc::new(filter.into_stage(Settings::default())));
            let filtered = on_large_stack(|| convert_bytes(&bytes, &options));
            match (plain, filtered) {
                (Ok(plain), Ok(filtered)) if plain == filtered => same += 1,
                (Ok(plain), Ok(filtered)) => {
                    assert_eq!(expanded(&plain, to), expanded(&filtered, to), "{name} to {to}");
                    shared += 1;
                }
                (Ok(plain), Err(error)) => {
                    assert!(expanded(&plain, to).is_none(), "{name} to {to}: {error}");
                    cycles += 1;
                }
                (Err(plain), Err(filtered)) => {
                    assert_eq!(plain.kind(), filtered.kind(), "{name} to {to}: {filtered}");
                    same += 1;
                }
                (Err(plain), Ok(_)) => panic!("{name} to {to}: {plain}"),
            }
        }
    }
    println!("{same} the same, {shared} with shared values written out, {cycles} with cycles");
    assert!(same > 200 && shared < 40 && cycles < 20, "{same} {shared} {cycles}");
}
