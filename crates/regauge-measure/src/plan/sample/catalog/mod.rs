//! The library catalogue: MARC 21 records in ISO 2709, UTF-8.
//!
//! Which fields a record has, how often they repeat, what subfields and indicators they carry and
//! how long they run follows counts over 4,307 real records of general libraries (see
//! `docs/samples.md`). What stands in them is drawn from the vocabularies of `words`.

mod access;
mod description;
mod headings;
mod holdings;
mod load;
mod notes;
mod numbers;
mod record;

use super::Put;
use super::rng::Rng;
use super::words::{LANGUAGE_WEIGHT, Language, Phrase, Vocabulary};
use headings::{Subject, body, person, subject};
use holdings::Holding;
use load::Load;
use numbers::{Call, Date, call, isbn, issn, lccn};
use record::Record;
use std::io;

/// Cataloguing agencies, as 040 names them. RGL is the library itself.
const AGENCY: [&str; 14] = [
    "DLC", "RGL", "OCL", "UKM", "YDXCP", "BTCTA", "OCLCQ", "NLC", "CUD", "EYM", "ZWZ", "HUL",
    "GZM", "OCLCO",
];

const RECORDS: u64 = 1;
const PUBLISHERS: u64 = 2;

/// Writes `count` records.
pub(super) fn generate(seed: u64, count: u64, put: &mut Put) -> io::Result<()> {
    let words = Vocabulary::new();
    let mut record = Record::default();
    let mut bytes = Vec::new();
    for index in 0..count {
        record.clear();
        bytes.clear();
        let mut rng = Rng::for_item(seed, RECORDS, index);
        let work = Work::draw(seed, index, &words, &mut rng);
        work.write(&mut record, &mut rng);
        record.finish(&work.status(), work.rest, &mut bytes);
        put(&bytes)?;
    }
    Ok(())
}

/// What kind of thing is described.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Material {
    Book,
    Serial,
    Score,
    Sound,
    Video,
    Map,
    Online,
    Thesis,
}

const MATERIAL: [Material; 8] = [
    Material::Book,
    Material::Serial,
    Material::Score,
    Material::Sound,
    Material::Video,
    Material::Map,
    Material::Online,
    Material::Thesis,
];

const MATERIAL_WEIGHT: [u64; 8] = [735, 75, 28, 30, 25, 15, 72, 20];

impl Material {
    /// Leader/06-07.
    fn leader(self) -> &'static str {
        match self {
            Material::Book | Material::Online => "am",
            Material::Serial => "as",
            Material::Score => "cm",
            Material::Sound => "jm",
            Material::Video => "gm",
            Material::Map => "em",
            Material::Thesis => "tm",
        }
    }

    fn item(self) -> &'static str {
        match self {
            Material::Book | Material::Online => "BOOK",
            Material::Serial => "JRNL",
            Material::Score => "SCORE",
            Material::Sound => "AUDIO",
            Material::Video => "VIDEO",
            Material::Map => "MAP",
            Material::Thesis => "THESIS",
        }
    }

    /// Content, media and carrier: terms and codes of 336, 337 and 338.
    fn carrier(self) -> [(&'static str, &'static str); 3] {
        match self {
            Material::Online => [("text", "txt"), ("computer", "c"), ("online resource", "cr")],
            Material::Sound => [("performed music", "prm"), ("audio", "s"), ("audio disc", "sd")],
            Material::Video => {
                [("two-dimensional moving image", "tdi"), ("video", "v"), ("videodisc", "vd")]
            }
            Material::Score => [("notated music", "ntm"), ("unmediated", "n"), ("volume", "nc")],
            Material::Map => [("cartographic image", "cri"), ("unmediated", "n"), ("sheet", "nb")],
            _ => [("text", "txt"), ("unmediated", "n"), ("volume", "nc")],
        }
    }
}

/// All that is decided about a record before its fields are written.
struct Work<'a> {
    seed: u64,
    words: &'a Vocabulary,
    /// What it shares with the records that came in with it.
    load: Load,
    control_number: String,
    material: Material,
    language: usize,
    tongue: &'a Language,
    /// The script of linked fields, empty if there are none.
    script: &'static str,
    /// Catalogued by the rules of 2010 and after.
    rda: bool,
    /// Catalogued in full: more notes, subjects, names.
    full: bool,
    year: u64,
    added: Date,
    /// Where it was published: an index of the language's places.
    place: usize,
    author: Option<headings::Person>,
    body: Option<Vec<String>>,
    /// Further authors and editors, named in the statement of responsibility and traced.
    others: Vec<headings::Person>,
    /// Title proper and the rest of the title.
    title: (Phrase, Phrase),
    /// The series and the volume in it.
    series: Option<(String, String)>,
    /// A digitised copy stands beside the printed one.
    digitised: bool,
    subjects: Vec<Subject>,
    call: Call,
    rest: &'static str,
}

impl<'a> Work<'a> {
    fn draw(seed: u64, index: u64, words: &'a Vocabulary, rng: &mut Rng) -> Work<'a> {
        let material = MATERIAL[rng.weighted(&MATERIAL_WEIGHT)];
        let load = Load::of(seed, index);
        let language = if rng.chance(550) { load.language } else { rng.weighted(&LANGUAGE_WEIGHT) };
        let tongue = &words.languages[language];
        let script = if rng.chance(650) { tongue.script } else { "" };
        let rda = load.rda;
        let year = match (rda, rng.below(10)) {
            (true, _) => rng.between(2008, 2014),
            (_, 0) => rng.between(1700, 1900),
            (_, 1..=2) => rng.between(1880, 1960),
            _ => rng.between(1955, 2010),
        };
        // Published, then catalogued, then loaded.
        let year = year.min(load.date.year - 1);
        let added = Date::draw(rng, year.max(if rda { 2010 } else { 1975 }), load.date.year - 1);
        let full = rng.chance(550);
        let subject_count = match (full, material) {
            (true, _) => 1 + rng.count(2700, 16),
            (_, Material::Thesis) => rng.count(800, 3),
            _ => rng.count(1700, 7),
        };
        let subjects: Vec<Subject> =
            (0..subject_count).map(|_| subject(seed, words, rng)).collect();
        let author = rng
            .chance(if material == Material::Serial { 30 } else { 700 })
            .then(|| person(seed, words, language, rng));
        let body = (author.is_none() && rng.chance(330)).then(|| body(seed, words, rng));
        let others = (0..rng.count(if full { 520 } else { 260 }, 3))
            .map(|_| person(seed, words, language, rng))
            .collect();
        let wants_subtitle = rng.chance(if full { 560 } else { 320 });
        let title = headings::title(words, tongue, rng, wants_subtitle);
        let series = rng.chance(if full { 330 } else { 220 }).then(|| {
            let volume =
                if rng.chance(600) { rng.between(1, 260).to_string() } else { String::new() };
            (headings::series(seed, words, rng), volume)
        });
        let digitised = material == Material::Book && load.digitised && rng.chance(850);
        let number = subjects.first().map_or_else(|| rng.below(200), |subject| subject.number);
        let class = match material {
            Material::Score => "M",
            Material::Sound => "CD",
            Material::Video => "PN",
            Material::Map => "G",
            _ => words.class[number as usize % words.class.len()],
        };
        let entry = author.as_ref().map_or("The", |person| person.heading.roman.as_str());
        let call = call(rng, number, class, entry, year);
        let rest = match (rda, full) {
            (true, _) => " i ",
            (_, true) => rng.pick(&[" a ", " a ", " a ", "1a ", "Ia "]),
            _ => rng.pick(&["   ", "   ", "Ka ", "7a ", "Ma ", " a "]),
        };
        Work {
            seed,
            words,
            load,
            control_number: format!("{:09}", 1_000_000 + index * 173 + rng.below(173)),
            material,
            language,
            tongue,
            script,
            rda,
            full,
            year,
            added,
            place: rng.skewed(tongue.place.len() as u64) as usize,
            author,
            body,
            others,
            title,
            series,
            digitised,
            subjects,
            call,
            rest,
        }
    }

    /// Leader/05-08.
    fn status(&self) -> String {
        let status = if self.full { 'c' } else { 'n' };
        format!("{status}{} ", self.material.leader())
    }

    fn write(&self, record: &mut Record, rng: &mut Rng) {
        record.decomposed = self.load.decomposed;
        self.control_fields(record, rng);
        self.number_fields(record, rng);
        description::write(self, record, rng);
        notes::write(self, record, rng);
        access::write(self, record, rng);
        let holding = Holding {
            call: &self.call,
            online: self.material == Material::Online,
            digitised: self.digitised,
            load: &self.load,
            serial: self.material == Material::Serial,
            item: self.material.item(),
            year: self.year,
            added: self.added,
            control_number: &self.control_number,
        };
        holdings::locations(record, rng, &holding);
        record.linked_fields();
        holdings::items(record, rng, &holding);
    }

    fn control_fields(&self, record: &mut Record, rng: &mut Rng) {
        record.control("001", &self.control_number);
        if self.load.named {
            record.control("003", "RGL");
        }
        let changed =
            if rng.chance(700) { self.load.date } else { Date::draw(rng, self.added.year, 2014) };
        let time = rng.below(86_400);
        let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60);
        let stamp = format!("{}{hour:02}{minute:02}{second:02}.0", changed.compact());
        record.control("005", &stamp);
        match self.material {
            Material::Online => {
                record.control("006", "m     o  d        ");
                record.control(
                    "007",
                    rng.pick(&["cr |||||||||||", "cr cnu|||unuuu", "cr un|||||||||"]),
                );
            }
            Material::Sound => record.control("007", "sd fsngnnmmned"),
            Material::Video => record.control("007", "vd cvaizs"),
            Material::Map => record.control("007", "aj canzn"),
            _ => {}
        }
        record.control("008", &self.fixed_field(rng));
    }

    /// 008, forty characters.
    fn fixed_field(&self, rng: &mut Rng) -> String {
        let year = self.year;
        let dates = match self.material {
            Material::Serial => format!("c{}9999", year),
            _ if self.rda && rng.chance(500) => format!("t{year}{year}"),
            _ if rng.chance(60) => format!("r{}{}", year, year.saturating_sub(40)),
            _ if rng.chance(50) => format!("m{}{}", year.saturating_sub(6), year),
            _ => format!("s{year}    "),
        };
        let place = self.tongue.place[self.place].code;
        let middle = match self.material {
            Material::Serial => {
                rng.pick(&["qr p       0   a0", "fr p       0    0", "ar         0   a0"])
            }
            Material::Score => rng.pick(&["sya         n    ", "sga         n    "]),
            Material::Sound => rng.pick(&["mun        nn    ", "jzn        nn    "]),
            Material::Video => "120            vl",
            Material::Map => "       a  1   0  ",
            Material::Online => rng.pick(&["a    o     001 0 ", "     ob    001 0 "]),
            _ => {
                let illustrated = rng.pick(&["a   ", "    ", "b   ", "ab  ", "a   "]);
                let contents = rng.pick(&["b   ", "    ", "    ", "    "]);
                let flags = rng.pick(&["001 0 ", "000 0 ", "001 0b", "000 1 ", "000 0a", "100 0 "]);
                return self.assemble(
                    &dates,
                    place,
                    &format!("{illustrated}   {contents}{flags}"),
                    rng,
                );
            }
        };
        self.assemble(&dates, place, middle, rng)
    }

    fn assemble(&self, dates: &str, place: &str, middle: &str, rng: &mut Rng) -> String {
        let source = rng.pick(&[" ", " ", "d", "c"]);
        format!("{}{dates}{place}{middle:<17}{} {source}", self.added.short(), self.tongue.code)
    }

    fn number_fields(&self, record: &mut Record, rng: &mut Rng) {
        if rng.chance(500) {
            record.field("010", "  ", &[('a', &lccn(rng, self.year))]);
        }
        if self.year > 1967 && matches!(self.material, Material::Book | Material::Online) {
            let numbers = if rng.chance(850) { 1 + rng.count(450, 6) } else { 0 };
            for _ in 0..numbers {
                self.isbn_field(record, rng);
            }
        }
        if self.material == Material::Serial {
            record.field("022", "  ", &[('a', &issn(rng))]);
        }
        if self.material == Material::Sound {
            let number = format!("{}-{}", rng.between(100, 999), rng.between(10_000, 99_999));
            let label = self.words.surname(rng, self.tongue).roman;
            record.field("028", "02", &[('a', &number), ('b', &label)]);
        }
        let network = rng.between(1, if self.rda { 899_999_999 } else { 69_999_999 });
        let prefix = if network < 100_000_000 { "ocm" } else { "ocn" };
        if rng.chance(880) {
            record.field("035", "  ", &[('a', &format!("(OCoLC){prefix}{network:08}"))]);
            record.field("035", "  ", &[('a', &format!("(RGL){}", self.control_number))]);
        }
        if self.load.renumbered {
            let old = format!("(RGL-OLD){:07}", rng.below(4_000_000));
            let other = format!("(OCoLC){}", rng.between(1_000_000, 60_000_000));
            record.field(
                "035",
                "  ",
                &[('a', &old), ('z', if rng.chance(250) { &other } else { "" })],
            );
        }
        self.source_fields(record, rng);
    }

    fn isbn_field(&self, record: &mut Record, rng: &mut Rng) {
        let group = match self.tongue.code {
            "eng" => rng.below(2),
            "fre" => 2,
            "ger" => 3,
            "jpn" => 4,
            "rus" => 5,
            "chi" => 7,
            _ => 9,
        };
        let (short, long) = isbn(rng, group);
        let number = if self.year >= 2007 || rng.chance(200) { long } else { short };
        let binding = rng.pick(&["pbk.", "alk. paper", "hbk.", "", "", "electronic bk.", "v. 1"]);
        if self.rda {
            record.field("020", "  ", &[('a', &number), ('q', binding)]);
        } else if binding.is_empty() {
            record.field("020", "  ", &[('a', &number)]);
        } else {
            record.field("020", "  ", &[('a', &format!("{number} ({binding})"))]);
        }
    }

    /// 040 to 090.
    fn source_fields(&self, record: &mut Record, rng: &mut Rng) {
        let agency = if rng.chance(600) { self.load.agency } else { rng.pick(&AGENCY) };
        record.begin("040", "  ");
        record.subfield('a', agency);
        if self.rda {
            record.subfield('b', "eng");
            record.subfield('e', "rda");
        }
        record.subfield('c', agency);
        for _ in 0..rng.count(700, 9) {
            record.subfield('d', rng.pick(&AGENCY));
        }
        record.close();
        if rng.chance(120) {
            let second = rng.pick(&["ger", "fre", "lat", "rus", "spa", "eng"]);
            let original = if rng.chance(500) { ("1 ", 'h') } else { ("0 ", 'a') };
            record.field("041", original.0, &[('a', self.tongue.code), (original.1, second)]);
        }
        if rng.chance(140) {
            record.field("042", "  ", &[('a', "pcc")]);
        }
        let areas: Vec<(char, &str)> = self
            .subjects
            .iter()
            .filter(|subject| !subject.area.is_empty())
            .map(|subject| ('a', subject.area))
            .take(2)
            .collect();
        if !areas.is_empty() && rng.chance(650) {
            record.field("043", "  ", &areas);
        }
        if !self.load.holding_code.is_empty() {
            record.field("049", "  ", &[('a', self.load.holding_code)]);
        }
        if self.load.lc_class && rng.chance(880) {
            let call = &self.call;
            record.field(
                "050",
                self.load.lc_indicators,
                &[('a', &call.class), ('b', &call.cutter)],
            );
        }
        if !self.script.is_empty() {
            record.field("066", "  ", &[('c', self.script.split('/').next().unwrap_or("(N"))]);
        }
        if self.load.dewey && rng.chance(800) {
            let edition = if self.rda { "23" } else { rng.pick(&["19", "20", "21", "22", ""]) };
            record.field(
                "082",
                self.load.dewey_indicators,
                &[('a', &self.call.dewey), ('2', edition)],
            );
        }
        if self.load.local_class {
            let call = &self.call;
            record.field("090", "  ", &[('a', &call.class), ('b', &call.cutter)]);
        }
    }

    /// True where the series is an access point of its own.
    fn traced(&self) -> bool {
        self.full
    }

    /// Returns a publisher by `pattern`. A publisher of one place has one name: the words come from
    /// the place and a rank, not from the record.
    fn publisher(&self, pattern: (&'static str, &'static str), rng: &mut Rng) -> Phrase {
        let rank = rng.skewed(400);
        let key = (self.language as u64) << 32 | (self.place as u64) << 16 | rank;
        let mut own = Rng::for_item(self.seed, PUBLISHERS, key);
        self.words.expand(&mut own, self.tongue, pattern, None)
    }
}
