//! Notes (500 to 590), among them contents and summaries, the longest fields of a catalogue.

use super::super::rng::Rng;
use super::super::words::capitalized;
use super::headings::{person, title};
use super::record::Record;
use super::{Material, Work};

/// No contents note or summary is longer, in bytes: a field holds 9,999.
const NOTE_BYTES_MAX: usize = 4000;

/// The notes that loads of digitised and licensed books bring along, the same in thousands of
/// records: much of what makes a catalogue compress as well as it does.
const ONLINE_TERMS: &str = "Access to the full text is restricted to users at subscribing \
    institutions; remote access requires authentication through the campus network.";
const DIGITISER: &str = "Electronic reproduction. Port Regal : Regal University Library, \
    Digital Production Service,";
const DIGITISED_SYSTEM: &str = "Page images and searchable text, scanned at 600 dpi from the \
    library's printed copy and kept with preservation metadata in the shared digital repository. \
    Mode of access: World Wide Web.";
const RIGHTS: [&str; 3] = [
    "This item is believed to be in the public domain; it may be read, copied and passed on \
     without permission.",
    "This item is under copyright. Only searching within its text is open to all readers; full \
     view is limited to readers with print disabilities.",
    "Rights status undetermined. Contact the library before any use beyond private study.",
];

pub(super) const KEPT: [&str; 3] = [
    "Committed to retain; shared print program of the Regal Lakes consortium, 2012 to 2037.",
    "Condition reviewed before transfer to storage; no treatment needed.",
    "Selected for retention; shared print program of the Regal Lakes consortium.",
];
pub(super) const LOADED: [&str; 4] = [
    "Bibliographic record converted from the card catalogue; headings not under authority control.",
    "Record loaded from the national bibliography.",
    "Record supplied by the vendor; headings checked by machine against the authority file.",
    "Bibliographic record upgraded from minimal level.",
];

/// Writes the fields from 500 to 590.
pub(super) fn write(work: &Work, record: &mut Record, rng: &mut Rng) {
    for _ in 0..rng.count(if work.full { 1500 } else { 900 }, 8) {
        let pattern = rng.pick_skewed(&work.words.note);
        let english = &work.words.languages[0];
        let note = capitalized(&work.words.expand(rng, english, pattern, None).roman);
        record.field("500", "  ", &[('a', &note)]);
    }
    if work.material == Material::Thesis {
        let place = work.tongue.place[work.place].name.0;
        let degree = rng.pick(&["Ph. D.", "M.A.", "Doctoral"]);
        let note = format!("Thesis ({degree})--University of {place}, {}.", work.year);
        record.field("502", "  ", &[('a', &note)]);
    }
    if work.material != Material::Serial && rng.chance(440) {
        let (from, length) = (rng.between(120, 590), rng.between(2, 30));
        let note = match rng.below(4) {
            0 => "Includes bibliographical references and index.".to_owned(),
            1 => "Includes bibliographical references.".to_owned(),
            2 => format!("Bibliography: p. {from}-{}.", from + length),
            _ => format!(
                "Includes bibliographical references (p. {from}-{}) and index.",
                from + length
            ),
        };
        record.field("504", "  ", &[('a', &note)]);
    }
    if rng.chance(if work.full { 190 } else { 40 }) {
        contents(work, record, rng);
    }
    if work.material == Material::Online {
        record.field("506", "  ", &[('a', ONLINE_TERMS)]);
    }
    if matches!(work.material, Material::Sound | Material::Video) {
        let names: Vec<String> = (0..rng.between(1, 5))
            .map(|_| person(work.seed, work.words, work.language, rng).direct.roman)
            .collect();
        record.field("511", "0 ", &[('a', &format!("{}.", names.join(", ")))]);
    }
    if rng.chance(if work.full { 195 } else { 40 }) {
        summary(work, record, rng);
    }
    if work.digitised {
        let year = format!("{}.", rng.between(2004, 2013));
        record.field("533", "  ", &[('a', DIGITISER), ('d', &year)]);
        record.field("538", "  ", &[('a', DIGITISED_SYSTEM)]);
    }
    if work.material == Material::Online {
        record.field("538", "  ", &[('a', "Mode of access: World Wide Web.")]);
    }
    if work.digitised || work.material == Material::Online {
        record.field("540", "  ", &[('a', rng.pick(&RIGHTS))]);
    }
    if work.language != 0 && rng.chance(200) || rng.chance(25) {
        let note = format!("Text in {}, with summaries in English.", work.tongue.native);
        record.field("546", "  ", &[('a', &note)]);
    }
    if !work.load.kept.is_empty() {
        record.field("583", "  ", &[('a', work.load.kept)]);
    }
    if work.rda && rng.chance(220) {
        record.field(
            "588",
            "0 ",
            &[('a', "Print version record and CIP data provided by publisher.")],
        );
    }
    if rng.chance(60) {
        let given = work.words.surname(rng, &work.words.languages[0]).roman;
        let note =
            format!("Library's copy: gift of the {given} estate, no. {}.", rng.between(1, 9000));
        record.field("590", "  ", &[('a', &note)]);
    }
    if work.load.numbered {
        record.field("596", "  ", &[('a', rng.pick(&["1", "1", "1", "2", "1 3", "2 3 21"]))]);
    }
    if !work.load.loaded.is_empty() {
        record.field("599", "  ", &[('a', work.load.loaded)]);
    }
}

fn contents(work: &Work, record: &mut Record, rng: &mut Rng) {
    let chapters = 3 + rng.count(6500, 40);
    // A third in the enhanced form, which marks titles and statements of responsibility.
    let enhanced = rng.chance(300);
    let mut text = String::new();
    let mut length = 0;
    if enhanced {
        record.begin("505", "00");
    }
    for chapter in 0..chapters {
        let chapter_title = title(work.words, work.tongue, rng, false).0.roman;
        let by =
            rng.chance(500).then(|| person(work.seed, work.words, work.language, rng).direct.roman);
        let end = if chapter + 1 == chapters || length > NOTE_BYTES_MAX { "." } else { " --" };
        length += chapter_title.len() + 30;
        if enhanced {
            match &by {
                Some(by) => {
                    record.subfield('t', &format!("{chapter_title} /"));
                    record.subfield('r', &format!("{by}{end}"));
                }
                None => record.subfield('t', &format!("{chapter_title}{end}")),
            }
        } else {
            text.push_str(&chapter_title);
            if let Some(by) = &by {
                text.push_str(" / ");
                text.push_str(by);
            }
            text.push_str(end);
            if end == " --" {
                text.push(' ');
            }
        }
        if end == "." {
            break;
        }
    }
    if enhanced {
        record.close();
    } else {
        record.field("505", rng.pick(&["0 ", "0 ", "1 ", "2 "]), &[('a', &text)]);
    }
}

fn summary(work: &Work, record: &mut Record, rng: &mut Rng) {
    let mut text = work.words.sentence(rng);
    for _ in 0..1 + rng.count(3600, 25) {
        let sentence = work.words.sentence(rng);
        if text.len() + sentence.len() > NOTE_BYTES_MAX {
            break;
        }
        text.push(' ');
        text.push_str(&sentence);
    }
    if rng.chance(300) {
        record.field("520", "  ", &[('a', &text), ('c', "--Provided by publisher.")]);
    } else {
        record.field("520", "  ", &[('a', &text)]);
    }
}
