//! The body of the description: main entry, title, edition, imprint, extent, series (1XX to 490).

use super::super::rng::Rng;
use super::super::words::{Phrase, capitalized};
use super::headings::{RELATOR, body_field, name_field, title};
use super::numbers::roman_numeral;
use super::record::Record;
use super::{Material, Work};

/// Writes the fields from 100 to 490.
pub(super) fn write(work: &Work, record: &mut Record, rng: &mut Rng) {
    if let Some(author) = &work.author {
        let relator = if work.rda && rng.chance(700) { RELATOR[0] } else { "" };
        name_field(record, "100", ' ', work.script, author, relator, &[]);
    } else if let Some(parts) = &work.body {
        body_field(record, "110", ' ', parts);
    }
    if work.author.is_some() && rng.chance(75) {
        let original = rng.below(work.words.languages.len() as u64) as usize;
        let original = &work.words.languages[original];
        let mut uniform = title(work.words, original, rng, false).0;
        uniform.push(".");
        let language = if work.language == 0 { "English" } else { work.tongue.native };
        record.field("240", "10", &[('a', &uniform.roman), ('l', language)]);
    }
    title_statement(work, record, rng);
    if rng.chance(if work.full { 150 } else { 60 }) {
        // The rest of the title as a title of its own, or one from the cover or spine.
        let (indicators, varied) = if work.title.1.roman.is_empty() {
            let indicators = rng.pick(&["3 ", "14", "18", "1 "]);
            (indicators, title(work.words, work.tongue, rng, false).0.roman)
        } else {
            ("30", capitalized(&work.title.1.roman))
        };
        record.field("246", indicators, &[('a', &varied)]);
    }
    if rng.chance(190) {
        const EDITION: [&str; 11] = [
            "1st ed.",
            "2nd ed.",
            "Rev. ed.",
            "3rd ed.",
            "New ed.",
            "1. Aufl.",
            "1a ed.",
            "2., erw. Aufl.",
            "1st American ed.",
            "4th ed.",
            "First edition.",
        ];
        record.field("250", "  ", &[('a', rng.pick_skewed(&EDITION))]);
    }
    if work.material == Material::Map {
        record.field("255", "  ", &[('a', &format!("Scale 1:{},000.", rng.between(5, 1000)))]);
    }
    imprint(work, record, rng);
    extent(work, record, rng);
    if work.material == Material::Serial {
        record.field(
            "310",
            "  ",
            &[('a', rng.pick(&["Quarterly", "Monthly", "Annual", "Irregular"]))],
        );
    }
    if work.rda {
        let names = ["rdacontent", "rdamedia", "rdacarrier"];
        for ((tag, (term, code)), source) in
            ["336", "337", "338"].into_iter().zip(work.material.carrier()).zip(names)
        {
            record.field(tag, "  ", &[('a', term), ('b', code), ('2', source)]);
        }
    }
    if work.material == Material::Serial {
        let numbering = format!("Vol. 1, no. 1 ({})-", work.year);
        record.field("362", "0 ", &[('a', &numbering)]);
    }
    if let Some((name, volume)) = &work.series {
        // Traced where 830 repeats it.
        let traced = if work.traced() { "1 " } else { "0 " };
        if volume.is_empty() {
            record.field("490", traced, &[('a', name)]);
        } else {
            record.field("490", traced, &[('a', &format!("{name} ;")), ('v', volume)]);
        }
    }
}

fn title_statement(work: &Work, record: &mut Record, rng: &mut Rng) {
    let (mut main, mut rest) = work.title.clone();
    let named = work.author.as_ref().filter(|_| rng.chance(930)).or(work.others.first());
    let who = named.map(|person| person.direct.clone());
    let mut statement = Phrase::default();
    if let Some(who) = &who {
        let pattern = rng.pick(&work.tongue.by);
        statement = work.words.expand(rng, work.tongue, pattern, Some(who));
        for other in work.others.iter().skip(usize::from(work.author.is_none())) {
            statement.roman.push_str(", ");
            statement.roman.push_str(&other.direct.roman);
            if !statement.native.is_empty() {
                statement.native.push_str(", ");
                statement.native.push_str(&other.direct.native);
            }
        }
        statement.push(".");
    }
    let mut medium = Phrase::default();
    if !work.rda {
        medium.roman = match work.material {
            Material::Sound => "[sound recording]",
            Material::Video => "[videorecording]",
            Material::Map => "[cartographic material]",
            Material::Online => "[electronic resource]",
            _ => "",
        }
        .to_owned();
    }
    // The mark before each part stands at the end of the part ahead of it.
    let after_title = if !rest.roman.is_empty() {
        " :"
    } else if who.is_some() {
        " /"
    } else {
        "."
    };
    if medium.roman.is_empty() {
        main.push(after_title);
    } else {
        medium.push(after_title);
    }
    if !rest.roman.is_empty() {
        rest.push(if who.is_some() { " /" } else { "." });
    }
    let first = if work.author.is_some() || work.body.is_some() { '1' } else { '0' };
    // How many letters of the article filing passes over.
    let articles = [
        ("The ", '4'),
        ("An ", '3'),
        ("A ", '2'),
        ("Die ", '4'),
        ("Das ", '4'),
        ("La ", '3'),
        ("Les ", '4'),
        ("Le ", '3'),
        ("El ", '3'),
        ("L'", '2'),
    ];
    let second = articles
        .iter()
        .find(|(article, _)| main.roman.starts_with(article))
        .map_or('0', |(_, skip)| *skip);
    record.twin_field(
        "245",
        &format!("{first}{second}"),
        work.script,
        &[('a', &main), ('h', &medium), ('b', &rest), ('c', &statement)],
    );
}

fn imprint(work: &Work, record: &mut Record, rng: &mut Rng) {
    let (roman, native) = work.tongue.place[work.place].name;
    let mut place = Phrase { roman: roman.to_owned(), native: native.to_owned() };
    place.push(" :");
    let pattern = rng.pick_skewed(&work.tongue.publisher);
    let mut publisher = work.publisher(pattern, rng);
    publisher.push(",");
    let year = work.year;
    let date = match rng.below(10) {
        _ if work.material == Material::Serial => format!("{year}-"),
        0..=3 if year > 1950 => format!("c{year}."),
        4 => format!("[{year}]"),
        _ => format!("{year}."),
    };
    let date = if work.rda { date.replace('c', "\u{a9}") } else { date };
    let date = Phrase { roman: date, native: String::new() };
    if work.material == Material::Thesis {
        record.field("260", "  ", &[('c', &date.roman)]);
        return;
    }
    let (tag, indicators) = if work.rda { ("264", " 1") } else { ("260", "  ") };
    record.twin_field(
        tag,
        indicators,
        work.script,
        &[('a', &place), ('b', &publisher), ('c', &date)],
    );
    if work.rda && rng.chance(400) {
        record.field("264", " 4", &[('c', &format!("\u{a9}{year}"))]);
    }
}

fn extent(work: &Work, record: &mut Record, rng: &mut Rng) {
    let size = format!("{} cm.", rng.between(17, 33));
    let (page, illustrated) = if work.rda { ("pages", "illustrations") } else { ("p.", "ill.") };
    let (extent, detail) = match work.material {
        Material::Serial => ("v.".to_owned(), illustrated.to_owned()),
        Material::Score => (format!("1 score ({} {page})", rng.between(4, 180)), String::new()),
        Material::Sound => (
            rng.pick_skewed(&["1 audio disc", "2 audio discs", "3 audio discs"]).to_owned(),
            "digital ; 4 3/4 in.".to_owned(),
        ),
        Material::Video => (
            format!("1 videodisc ({} min.)", rng.between(20, 190)),
            "sd., col. ; 4 3/4 in.".to_owned(),
        ),
        Material::Map => ("1 map".to_owned(), "col.".to_owned()),
        _ => {
            let preface = if rng.chance(380) {
                format!("{}, ", roman_numeral(rng.between(4, 40)))
            } else {
                String::new()
            };
            let extent = format!("{preface}{} {page}", rng.between(32, 640));
            let extent = if rng.chance(60) { format!("{} v.", rng.between(2, 8)) } else { extent };
            let extra = rng.pick(&["", "", "", ", maps", ", ports.", " (some col.)", ", facsims."]);
            let detail =
                if rng.chance(520) { format!("{illustrated}{extra}") } else { String::new() };
            (extent, detail)
        }
    };
    if matches!(work.material, Material::Sound | Material::Video) {
        record.field("300", "  ", &[('a', &format!("{extent} :")), ('b', &detail)]);
    } else if work.material == Material::Online {
        let extent = format!("1 online resource ({extent})");
        record.field("300", "  ", &[('a', &extent)]);
    } else if detail.is_empty() {
        record.field("300", "  ", &[('a', &format!("{extent} ;")), ('c', &size)]);
    } else {
        record.field(
            "300",
            "  ",
            &[('a', &format!("{extent} :")), ('b', &format!("{detail} ;")), ('c', &size)],
        );
    }
}
