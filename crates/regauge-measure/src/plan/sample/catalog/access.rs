//! Access points: subjects, genres, added names and titles, linked editions (600 to 830).

use super::super::rng::Rng;
use super::headings::{RELATOR, body, body_field, name_field, person, subject_field, title};
use super::numbers::{isbn, lccn};
use super::record::Record;
use super::{Material, Work};

/// Writes the fields from 600 to 830.
pub(super) fn write(work: &Work, record: &mut Record, rng: &mut Rng) {
    subjects(work, record, rng);
    names(work, record, rng);
    if rng.chance(60) {
        let title = title(work.words, work.tongue, rng, false).0.roman;
        record.field("740", "0 ", &[('a', &format!("{title}."))]);
    }
    linked_editions(work, record, rng);
    if let Some((name, volume)) = work.series.as_ref().filter(|_| work.traced()) {
        if volume.is_empty() {
            record.field("830", " 0", &[('a', &format!("{name}."))]);
        } else {
            let volume = format!("{volume}.");
            record.field("830", " 0", &[('a', &format!("{name} ;")), ('v', &volume)]);
        }
    }
}

fn subjects(work: &Work, record: &mut Record, rng: &mut Rng) {
    let words = work.words;
    if rng.chance(if work.full { 210 } else { 100 }) {
        let subject = person(work.seed, words, work.language, rng);
        let more: &[(char, &str)] = match rng.below(4) {
            0 => &[('x', "Criticism and interpretation.")],
            1 => &[('v', "Biography.")],
            2 => &[('v', "Correspondence.")],
            _ => &[],
        };
        name_field(record, "600", '0', "", &subject, "", more);
    }
    if rng.chance(70) {
        let parts = body(work.seed, words, rng);
        body_field(record, "610", '0', &parts);
    }
    // Recent loads hold each subject again in faceted form.
    let faceted = work.full && rng.chance(190);
    for tag in ["650", "651"] {
        for subject in work.subjects.iter().filter(|subject| subject.tag == tag) {
            subject_field(record, subject, '0', "");
        }
        if faceted {
            for subject in work.subjects.iter().filter(|subject| subject.tag == tag) {
                subject_field(record, subject, '7', "fast");
            }
        }
    }
    let genres = match work.material {
        Material::Online => 1,
        _ if faceted => 1 + rng.count(900, 4),
        _ => u64::from(rng.chance(110)),
    };
    for number in 0..genres {
        let genre = match (work.material, number) {
            (Material::Online, 0) => words.genre[0],
            _ => rng.pick_skewed(&words.genre),
        };
        if faceted {
            let number = format!("(RGAUTH)fst{:08}", 1_411_000 + genre.len() * 631);
            record.field(
                "655",
                " 7",
                &[('a', &format!("{genre}.")), ('2', "fast"), ('0', &number)],
            );
        } else {
            record.field("655", " 7", &[('a', &format!("{genre}.")), ('2', "lcgft")]);
        }
    }
}

fn names(work: &Work, record: &mut Record, rng: &mut Rng) {
    for other in &work.others {
        let relator = if work.rda { rng.pick(&RELATOR) } else { "" };
        name_field(record, "700", ' ', work.script, other, relator, &[]);
    }
    let performers = match work.material {
        Material::Sound | Material::Video => 1 + rng.count(1800, 10),
        _ if work.full => rng.count(220, 6),
        _ => 0,
    };
    for _ in 0..performers {
        let person = person(work.seed, work.words, work.language, rng);
        if rng.chance(150) {
            let mut title = title(work.words, work.tongue, rng, false).0;
            title.push(".");
            let year = format!("{}.", work.year);
            let more = [('t', title.roman.as_str()), ('f', year.as_str())];
            name_field(record, "700", '2', "", &person, "", &more);
        } else {
            let relator = if work.rda || rng.chance(160) { rng.pick(&RELATOR) } else { "" };
            name_field(record, "700", ' ', work.script, &person, relator, &[]);
        }
    }
    for _ in 0..rng.count(if work.full { 330 } else { 180 }, 5) {
        let parts = body(work.seed, work.words, rng);
        body_field(record, "710", ' ', &parts);
    }
}

/// 776 and 780: the same work in print or online, the title a serial continues.
fn linked_editions(work: &Work, record: &mut Record, rng: &mut Rng) {
    if work.material == Material::Online || rng.chance(30) {
        let title = &work.title.0;
        let lccn = format!("(DLC){}", lccn(rng, work.year));
        let network = format!("(OCoLC){}", rng.between(1_000_000, 899_999_999));
        let (_, isbn) = isbn(rng, 0);
        record.field(
            "776",
            "08",
            &[
                ('i', "Print version:"),
                ('t', &format!("{}.", title.roman)),
                ('z', &isbn),
                ('w', &lccn),
                ('w', &network),
            ],
        );
    }
    if work.material == Material::Serial && rng.chance(400) {
        let (title, _) = title(work.words, work.tongue, rng, false);
        let network = format!("(OCoLC){}", rng.between(1_000_000, 9_999_999));
        record.field("780", "00", &[('t', &title.roman), ('w', &network)]);
    }
}
