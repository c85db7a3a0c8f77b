//! The invented authority file: persons, bodies, subjects and series, each known by its rank.
//!
//! A heading is made from its rank alone whenever it is cited, so the catalogue repeats its
//! authors and subjects as real ones do, with nothing kept in memory.

use super::super::rng::Rng;
use super::super::words::{Language, Phrase, Vocabulary, capitalized};
use super::record::Record;

const PERSONS: u64 = 1000;
const BODIES: u64 = 2000;
const SUBJECTS: u64 = 2001;
const SERIES: u64 = 2002;

/// How many persons write in English, and in each other language.
const PERSON_COUNT: [u64; 2] = [14_000, 1_600];
const BODY_COUNT: u64 = 3_000;
const SUBJECT_COUNT: u64 = 6_000;
const SERIES_COUNT: u64 = 2_500;

/// A person as headings and title pages name them.
pub(super) struct Person {
    /// "Surname, Given" (100 $a), no mark at the end.
    pub(super) heading: Phrase,
    /// "Given Surname".
    pub(super) direct: Phrase,
    /// "1901-1977" (100 $d), or empty.
    pub(super) dates: String,
    /// "(William John)" (100 $q), or empty.
    pub(super) fuller: String,
}

/// Returns a person who writes in `words.languages[language]`.
pub(super) fn person(seed: u64, words: &Vocabulary, language: usize, rng: &mut Rng) -> Person {
    let count = PERSON_COUNT[usize::from(language != 0)];
    let rank = if rng.chance(550) { rng.below(count) } else { rng.skewed(count) };
    let rng = &mut Rng::for_item(seed, PERSONS + language as u64, rank);
    let names = &words.languages[language];
    let surname = words.surname(rng, names);
    let (given, native_given) = rng.pick_skewed(&names.given);
    let mut given = given.to_owned();
    let mut fuller = String::new();
    if names.script.is_empty() && rng.chance(450) {
        let second = rng.pick(&names.given).0;
        let initial: String = second.chars().take(1).collect();
        if rng.chance(200) {
            fuller = format!("({given} {second})");
            let first: String = given.chars().take(1).collect();
            given = format!("{first}. {initial}.");
        } else if rng.chance(650) {
            given = format!("{given} {initial}.");
        } else {
            given = format!("{given} {second}");
        }
    }
    // In East Asia the family name comes first, and nothing parts it from the given name.
    let joined = names.script == "$1";
    let native = |form: String| if names.script.is_empty() { String::new() } else { form };
    let birth = rng.between(1600, 1960).max(rng.between(1700, 1975));
    let death = birth + rng.between(35, 94);
    let dates = match rng.below(10) {
        0..=4 => String::new(),
        _ if death > 2012 => format!("{birth}-"),
        5 if birth < 1800 => format!("ca. {birth}-{death}"),
        6 if birth < 1800 => format!("d. {death}"),
        _ => format!("{birth}-{death}"),
    };
    Person {
        heading: Phrase {
            roman: format!("{}, {given}", surname.roman),
            native: native(if joined {
                format!("{}{native_given}", surname.native)
            } else {
                format!("{}, {native_given}", surname.native)
            }),
        },
        direct: Phrase {
            roman: if joined {
                format!("{} {given}", surname.roman)
            } else {
                format!("{given} {}", surname.roman)
            },
            native: native(if joined {
                format!("{}{native_given}", surname.native)
            } else {
                format!("{native_given} {}", surname.native)
            }),
        },
        dates,
        fuller,
    }
}

/// Roles in $e, as RDA records have them.
pub(super) const RELATOR: [&str; 10] = [
    "author",
    "editor",
    "translator",
    "illustrator",
    "contributor",
    "compiler",
    "composer",
    "performer",
    "writer of introduction",
    "director",
];

/// A name field (100, 600, 700) of `person`. `relator` is empty for none, `more` are subfields
/// to follow, the last with its full stop.
#[allow(clippy::too_many_arguments)]
pub(super) fn name_field(
    record: &mut Record,
    tag: &str,
    second: char,
    script: &str,
    person: &Person,
    relator: &str,
    more: &[(char, &str)],
) {
    let latin = |text: &str| Phrase { roman: text.to_owned(), native: String::new() };
    let mut subfields = vec![('a', person.heading.clone())];
    // The mark that announces a subfield stands at the end of the one before.
    let announced = [('q', &*person.fuller, ""), ('d', &*person.dates, ","), ('e', relator, ",")];
    for (code, text, mark) in announced.into_iter().filter(|(_, text, _)| !text.is_empty()) {
        if let Some((_, before)) = subfields.last_mut()
            && !before.roman.ends_with('-')
        {
            before.push(mark);
        }
        subfields.push((code, latin(text)));
    }
    subfields.extend(more.iter().map(|&(code, text)| (code, latin(text))));
    if let Some((_, last)) = subfields.last_mut()
        && !last.roman.ends_with(['-', '.', ')'])
    {
        last.push(".");
    }
    let subfields: Vec<(char, &Phrase)> =
        subfields.iter().map(|(code, text)| (*code, text)).collect();
    record.twin_field(tag, &format!("1{second}"), script, &subfields);
}

/// Returns a corporate body: the parts of its name, $a then $b.
pub(super) fn body(seed: u64, words: &Vocabulary, rng: &mut Rng) -> Vec<String> {
    let rank = rng.skewed(BODY_COUNT);
    let rng = &mut Rng::for_item(seed, BODIES, rank);
    let pattern = rng.pick(&words.body);
    let name = words.expand(rng, &words.languages[0], pattern, None).roman;
    name.split('|').map(str::to_owned).collect()
}

/// A body's field (110, 610, 710).
pub(super) fn body_field(record: &mut Record, tag: &str, second: char, parts: &[String]) {
    let first = if parts.len() > 1 { '1' } else { '2' };
    record.begin(tag, &format!("{first}{second}"));
    for (index, part) in parts.iter().enumerate() {
        record.subfield(if index == 0 { 'a' } else { 'b' }, part);
    }
    record.close();
}

/// The number of a subject, and what its field holds.
pub(super) struct Subject {
    /// The place of its first heading in the list: decides the class.
    pub(super) number: u64,
    /// 650 or 651.
    pub(super) tag: &'static str,
    /// Codes and texts, the last with its full stop.
    pub(super) parts: Vec<(char, String)>,
    /// The geographic area code of the region in it, or empty.
    pub(super) area: &'static str,
    /// The heading's number in the authority file.
    pub(super) rank: u64,
}

/// Returns a subject heading with its subdivisions.
pub(super) fn subject(seed: u64, words: &Vocabulary, rng: &mut Rng) -> Subject {
    let rank = if rng.chance(300) { rng.below(SUBJECT_COUNT) } else { rng.skewed(SUBJECT_COUNT) };
    let rng = &mut Rng::for_item(seed, SUBJECTS, rank);
    let number = rng.skewed(words.heading.len() as u64);
    let (region, region_area) = rng.pick_skewed(&words.region);
    let mut parts: Vec<(char, String)> = Vec::new();
    let mut area = "";
    let geographic = rng.chance(230);
    if geographic {
        parts.push(('a', region.to_owned()));
        area = region_area;
    } else {
        parts.push(('a', words.heading[number as usize].to_owned()));
    }
    if rng.chance(if geographic { 720 } else { 270 }) {
        parts.push(('x', rng.pick_skewed(&words.subdivision).to_string()));
        if rng.chance(180) {
            parts.push(('x', rng.pick_skewed(&words.subdivision).to_string()));
        }
    }
    if !geographic && rng.chance(220) {
        parts.push(('z', region.to_owned()));
        area = region_area;
        if rng.chance(250) {
            let place = rng.pick(&words.languages[0].place).name.0;
            parts.push(('z', place.split(',').next().unwrap_or(place).to_owned()));
        }
    }
    if rng.chance(if geographic { 300 } else { 70 }) {
        parts.push(('y', rng.pick_skewed(&words.period).to_string()));
    }
    if rng.chance(140) {
        parts.push(('v', rng.pick_skewed(&words.form).to_string()));
    }
    if let Some((_, last)) = parts.last_mut()
        && !last.ends_with(['.', '-', ')'])
    {
        last.push('.');
    }
    Subject { number, tag: if geographic { "651" } else { "650" }, parts, area, rank }
}

/// The subject's field under `indicators`, with `source` ($2) and an identifier ($0) if that is
/// not empty.
pub(super) fn subject_field(record: &mut Record, subject: &Subject, second: char, source: &str) {
    record.begin(subject.tag, &format!(" {second}"));
    if source.is_empty() {
        for (code, text) in &subject.parts {
            record.subfield(*code, text);
        }
    } else {
        // Faceted headings take the first part alone.
        if let Some((code, text)) = subject.parts.first() {
            record.subfield(*code, text);
        }
        record.subfield('2', source);
        record.subfield('0', &format!("(RGAUTH)fst{:08}", 800_000 + subject.rank * 173));
    }
    record.close();
}

/// Returns a series title.
pub(super) fn series(seed: u64, words: &Vocabulary, rng: &mut Rng) -> String {
    let rank = rng.skewed(SERIES_COUNT);
    let rng = &mut Rng::for_item(seed, SERIES, rank);
    let pattern = rng.pick(&words.series);
    capitalized(&words.expand(rng, &words.languages[0], pattern, None).roman)
}

/// Returns a title in `language`, and a subtitle if one is wanted.
pub(super) fn title(
    words: &Vocabulary,
    language: &Language,
    rng: &mut Rng,
    subtitle: bool,
) -> (Phrase, Phrase) {
    let pattern = rng.pick(&language.title);
    let mut title = words.expand(rng, language, pattern, None);
    title.roman = capitalized(&title.roman);
    title.native = capitalized(&title.native);
    if !subtitle {
        return (title, Phrase::default());
    }
    let pattern = rng.pick(&language.subtitle);
    (title, words.expand(rng, language, pattern, None))
}
