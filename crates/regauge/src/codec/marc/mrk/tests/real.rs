//! Real files of other programs.

use regauge_testdata::{needs_data, path};

use super::*;

needs_data!(files_of_other_programs_are_read);
fn files_of_other_programs_are_read() {
    let root = path("marc/mrk");
    for (name, records) in [
        ("marc4j+marc4j/resources/brkrtest.mrk", 8),
        ("marc4j+marc4j/resources/brkrtest.mrk8", 8),
        ("marc4j+marc4j/resources/u17_marc4j.mrk8", 1),
        ("perl4lib+marc-perl/marc-marcmaker/camel.mrk", 10),
        ("pkiraly+qa-catalogue/marcmaker/01.marcmaker", 1),
        ("pkiraly+qa-catalogue/marcmaker/04.marcmaker", 2),
    ] {
        let lines = std::fs::read(root.join(name)).unwrap();
        // MARC4J wrote brackets that are text as they are.
        let approximate = |options: &mut Options| options.on_loss = OnLoss::Approximate;
        let json = read_with(&lines, approximate).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(json.lines().count(), records, "{name}");
        let mut options = Options::new(Format::Mrk, Format::Mrk);
        approximate(&mut options);
        let written = convert_bytes(&lines, &options).unwrap();
        assert_eq!(read_with(&written, |_| {}).unwrap(), json, "{name}");
    }
}

// The Library's test records with mnemonics, and MARC4J's translation of them into UTF-8, are the same
// records.
needs_data!(mnemonics_are_what_marc4j_makes_of_them);
fn mnemonics_are_what_marc4j_makes_of_them() {
    let read = |name: &str| {
        let lines = std::fs::read(path("marc/mrk/marc4j+marc4j/resources").join(name)).unwrap();
        let approximate = |options: &mut Options| options.on_loss = OnLoss::Approximate;
        let json = read_with(&lines, approximate).unwrap();
        let fields: Vec<String> = json.lines().map(fields_of).collect();
        fields
    };
    let (ours, theirs) = (read("brkrtest.mrk"), read("brkrtest.mrk8"));
    assert_eq!(ours.len(), theirs.len());
    for (one, other) in ours.iter().zip(&theirs) {
        // MARC4J has one mark over two letters for the two halves of MARC-8.
        let halves =
            [("\u{FE20}", "\u{361}"), ("\u{FE21}", ""), ("\u{FE22}", "\u{360}"), ("\u{FE23}", "")];
        let one = halves.iter().fold(one.clone(), |text, (half, whole)| text.replace(half, whole));
        assert_eq!(one, *other);
    }
}
