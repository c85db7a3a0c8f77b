//! The local end of a record: holdings, links, items, and the marks of past loads.

use super::super::rng::Rng;
use super::load::Load;
use super::numbers::{Call, Date, barcode};
use super::record::Record;

/// Libraries with their shelving places. The names are those of no library.
const LIBRARY: [(&str, &[&str]); 9] = [
    ("MAIN", &["STACKS", "REF", "DESK", "OVERSIZE", "NEWBOOKS"]),
    ("STORAGE", &["SHELF1", "SHELF2", "VAULT"]),
    ("UNDERGRAD", &["STACKS", "RESERVE"]),
    ("LAW", &["LAW-STKS", "LAW-REF", "TREATY"]),
    ("MEDICAL", &["MED-STKS", "MED-PER"]),
    ("MUSIC", &["SCORES", "MUS-STKS", "LISTEN"]),
    ("SCIENCE", &["SCI-STKS", "SCI-PER"]),
    ("RARE", &["CAGE", "MSS"]),
    ("ASIA", &["ASIA-STKS", "ASIA-REF"]),
];

const LIBRARY_WEIGHT: [u64; 9] = [420, 190, 80, 50, 45, 50, 85, 35, 45];

/// A copy: where it stands.
struct Place {
    library: &'static str,
    shelf: &'static str,
}

/// What holdings need to know of the record they hang on.
pub(super) struct Holding<'a> {
    pub(super) call: &'a Call,
    pub(super) online: bool,
    pub(super) digitised: bool,
    pub(super) load: &'a Load,
    pub(super) serial: bool,
    /// Item type: BOOK, SCORE, AUDIO, ...
    pub(super) item: &'static str,
    pub(super) year: u64,
    pub(super) added: Date,
    pub(super) control_number: &'a str,
}

/// Locations (852), links (856), holdings of serials (866).
pub(super) fn locations(record: &mut Record, rng: &mut Rng, holding: &Holding) {
    let copies = if holding.online { 0 } else { 1 + rng.count(160, 4) };
    if rng.chance(180) {
        for _ in 0..copies {
            let place = place(rng);
            record.field(
                "852",
                "0 ",
                &[
                    ('b', place.library),
                    ('c', place.shelf),
                    ('h', &holding.call.class),
                    ('i', &holding.call.cutter),
                ],
            );
        }
    }
    if holding.digitised {
        let address = format!("http://hdl.example.org/2027/rg.{}", barcode(rng, 39_015));
        let note = "Access limited to authorized users outside the public domain.";
        record.field("856", "41", &[('3', "Digital copy"), ('u', &address), ('z', note)]);
    }
    if holding.online || rng.chance(200) {
        link(record, rng, holding);
    }
    if holding.serial {
        for _ in 0..1 + rng.count(500, 5) {
            let from = rng.between(1, 40);
            let start = rng.between(holding.year.min(2000), 2000);
            let text = format!(
                "v.{from}({start})-v.{}({})",
                from + rng.between(1, 45),
                start + rng.between(1, 12)
            );
            record.field("866", " 0", &[('8', "1"), ('a', &text)]);
        }
    }
}

fn place(rng: &mut Rng) -> Place {
    let (library, shelves) = LIBRARY[rng.weighted(&LIBRARY_WEIGHT)];
    Place { library, shelf: rng.pick_skewed(shelves) }
}

fn link(record: &mut Record, rng: &mut Rng, holding: &Holding) {
    let number = holding.control_number;
    match rng.below(5) {
        0 => record.field(
            "856",
            "42",
            &[
                ('3', "Table of contents"),
                ('u', &format!("http://www.catalog.example/toc/{number}.html")),
            ],
        ),
        1 => record.field(
            "856",
            "42",
            &[
                ('3', "Publisher description"),
                ('u', &format!("http://www.catalog.example/enhancements/pub{number}-d.html")),
            ],
        ),
        2 => record.field(
            "856",
            "40",
            &[
                ('u', &format!("http://hdl.example.org/2027/rg.{}", barcode(rng, 39_015))),
                ('z', "Access restricted to members of the university."),
            ],
        ),
        3 => record.field(
            "856",
            "40",
            &[
                ('3', "Electronic text"),
                (
                    'u',
                    &format!(
                        "https://proxy.library.example/login?url=http://books.example.com/id={}",
                        rng.between(10_000, 99_999_999)
                    ),
                ),
                ('y', "Connect to full text"),
            ],
        ),
        _ => record.field(
            "856",
            "41",
            &[('u', &format!("http://archive.example.org/details/{:08x}", rng.below(1 << 32)))],
        ),
    }
}

/// Local fields: load marks, items with their barcodes, types.
pub(super) fn items(record: &mut Record, rng: &mut Rng, holding: &Holding) {
    let load = holding.load;
    if load.marked {
        let month = &load.date.compact()[..6];
        record.field("901", "  ", &[('a', &format!("RGL{month}"))]);
        record.field("902", "  ", &[('a', load.agency)]);
    }
    if load.statused {
        record.field("905", "  ", &[('a', "cataloged")]);
        record.field("910", "  ", &[('a', if holding.online { "ebook" } else { "print" })]);
        record.field("911", "  ", &[('a', "unsuppressed")]);
    }
    if !load.maintained.is_empty() {
        let done = load.date.compact();
        record.field("948", "2 ", &[('a', &done), ('x', load.maintained)]);
    }
    if load.typed {
        record.field("970", "  ", &[('a', if holding.online { "ELEC" } else { holding.item })]);
    }
    if holding.online {
        return;
    }
    let volumes = if holding.serial { 2 + rng.count(2000, 12) } else { 1 + rng.count(280, 12) };
    let whole = format!("{} {}", holding.call.class, holding.call.cutter);
    let multi = holding.serial || volumes > 2 && rng.chance(600);
    let kept = place(rng);
    for number in 1..=volumes {
        let other = place(rng);
        let place = if multi || rng.chance(400) { &kept } else { &other };
        record.begin("999", "  ");
        if multi {
            record.subfield('a', &format!("{whole} v.{number}"));
        } else {
            record.subfield('a', &whole);
        }
        if number > 1 && !multi {
            record.subfield('c', &number.to_string());
        }
        record.subfield('i', &barcode(rng, 39_015));
        if rng.chance(120) {
            record.subfield('d', &Date::draw(rng, 2000, 2014).slashed());
        }
        record.subfield('l', place.shelf);
        record.subfield('m', place.library);
        record.subfield('t', holding.item);
        let made =
            if rng.chance(600) { load.date } else { Date::draw(rng, holding.added.year, 2014) };
        record.subfield('u', &made.slashed());
        if rng.chance(120) {
            record.subfield('x', rng.pick(&["CONVERTED", "ADD", "GIFT", "TRANSFER"]));
        }
        record.close();
    }
}
