//! Members of a legislature: one JSON array of biographies with terms of office.
//!
//! The shape (keys, which of them are missing where, how many terms) is that of the public
//! congress-legislators data. The persons, their numbers, addresses and careers are invented, the
//! buildings and domains too.

use super::Put;
use super::json::Json;
use super::rng::Rng;
use super::words::Vocabulary;
use std::io;

const MEMBERS: u64 = 6;

const STATE: [&str; 24] = [
    "AL", "AZ", "CA", "CO", "FL", "GA", "IL", "IN", "IA", "KY", "LA", "MD", "MA", "MI", "MN", "MO",
    "NY", "NC", "OH", "OR", "PA", "TX", "WA", "WI",
];

const BUILDING: [&str; 3] = [
    "Granite Senate Office Building",
    "Linden Senate Office Building",
    "Harbor House Office Building",
];

/// Writes one array of `count` members.
pub(super) fn generate(seed: u64, count: u64, put: &mut Put) -> io::Result<()> {
    let words = Vocabulary::new();
    put(b"[")?;
    let mut json = Json::default();
    for index in 0..count {
        if index > 0 {
            put(b",")?;
        }
        json.clear();
        member(&words, &mut Rng::for_item(seed, MEMBERS, index), index, &mut json);
        put(json.as_bytes())?;
    }
    put(b"]\n")
}

fn member(words: &Vocabulary, rng: &mut Rng, index: u64, json: &mut Json) {
    let english = &words.languages[0];
    let surname = words.surname(rng, english).roman;
    let (first, middle) = (rng.pick(&english.given).0, rng.pick(&english.given).0);
    let state = rng.pick(&STATE);
    let party = rng.pick(&["Democrat", "Democrat", "Republican", "Republican", "Independent"]);
    // When they first took a seat: the odd years, as everywhere in the data.
    // New and old members take turns, so that even a few members have the usual mix.
    let entered = 2025 - 2 * ((index * 5 + rng.below(3)) % 17);
    let terms = 1 + (2025 - entered) / 6;
    let in_house = if (index + rng.below(2)).is_multiple_of(3) { rng.between(2, 6) } else { 0 };

    json.open('{');
    identifiers(rng, json, &surname, first, state, in_house);
    json.key("name");
    json.open('{');
    json.text("first", first);
    if rng.chance(620) {
        json.text("middle", middle);
    }
    json.text("last", &surname);
    if rng.chance(150) {
        json.text("nickname", rng.pick(&["Bill", "Bob", "Chuck", "Liz", "Jim", "Tom", "Meg"]));
    }
    json.text("official_full", &format!("{first} {surname}"));
    json.close('}');
    json.key("bio");
    json.open('{');
    let born = entered - 2 * in_house - rng.between(30, 58);
    json.text("birthday", &format!("{born}-{:02}-{:02}", rng.between(1, 12), rng.between(1, 28)));
    json.text("gender", rng.pick(&["F", "M", "M"]));
    json.close('}');
    json.key("terms");
    json.open('[');
    let lower = surname.to_lowercase().replace([' ', '\''], "");
    let district = rng.between(1, 20);
    for number in 0..in_house {
        let start = entered - 2 * (in_house - number);
        let seat = Seat { kind: "rep", start, years: 2, state, party, name: &lower };
        seat.write(rng, json, |json| json.member("district", district));
    }
    let class = rng.between(1, 3);
    for number in 0..terms {
        let start = entered + 6 * number;
        let seat = Seat { kind: "sen", start, years: 6, state, party, name: &lower };
        seat.write(rng, json, |json| json.member("class", class));
    }
    json.close(']');
    json.close('}');
}

/// The numbers under which other collections know the member; older ones lack the newer kinds.
fn identifiers(
    rng: &mut Rng,
    json: &mut Json,
    surname: &str,
    first: &str,
    state: &str,
    in_house: u64,
) {
    let initial = surname.chars().next().unwrap_or('X');
    json.key("id");
    json.open('{');
    json.text("bioguide", &format!("{initial}{:06}", rng.below(2000)));
    if rng.chance(750) {
        json.text("thomas", &format!("{:05}", rng.below(2500)));
    }
    json.text("lis", &format!("S{}", rng.between(100, 440)));
    json.member("govtrack", rng.between(300_000, 460_000));
    json.text("opensecrets", &format!("N{:08}", rng.between(1000, 53_000)));
    if rng.chance(850) {
        json.member("votesmart", rng.between(100, 250_000));
    }
    json.key("fec");
    json.open('[');
    if in_house > 0 {
        json.string(&format!("H{}{state}{:05}", rng.below(10), rng.below(400)));
    }
    json.string(&format!("S{}{state}{:05}", rng.below(10), rng.below(400)));
    json.close(']');
    if rng.chance(700) {
        json.member("cspan", rng.between(1000, 9_999_999));
    }
    json.text("wikipedia", &format!("{first} {surname}"));
    if rng.chance(400) {
        json.member("house_history", rng.between(8000, 25_000));
    }
    json.text("ballotpedia", &format!("{first} {surname}"));
    if rng.chance(700) {
        json.member("maplight", rng.between(100, 2200));
    }
    if rng.chance(800) {
        json.member("icpsr", rng.between(14_000, 49_000));
    }
    json.text("wikidata", &format!("Q{}", rng.between(100_000, 60_000_000)));
    json.text("google_entity_id", &format!("kg:/m/0{:05x}", rng.below(1 << 20)));
    json.close('}');
}

/// One term of office.
struct Seat<'a> {
    kind: &'static str,
    start: u64,
    years: u64,
    state: &'static str,
    party: &'static str,
    /// The member's name as it stands in addresses.
    name: &'a str,
}

impl Seat<'_> {
    fn write(&self, rng: &mut Rng, json: &mut Json, district: impl FnOnce(&mut Json)) {
        let (start, end) = (self.start, self.start + self.years);
        json.open('{');
        json.text("type", self.kind);
        json.text("start", &format!("{start}-01-{:02}", rng.between(3, 7)));
        json.text("end", &format!("{end}-01-03"));
        json.text("state", self.state);
        district(json);
        json.text("party", self.party);
        let senator = self.kind == "sen";
        if senator {
            json.text("state_rank", rng.pick(&["junior", "senior"]));
        }
        // Addresses were not kept for the earliest terms.
        if start >= 1999 {
            let chamber = if senator { "senate" } else { "house" };
            let site = format!("https://www.{}.{chamber}.example", self.name);
            json.text("url", &site);
            let building = BUILDING[if senator { rng.below(2) as usize } else { 2 }];
            let office = format!("{} {building}", rng.between(100, 740));
            json.text("address", &format!("{office} Washington DC 20500"));
            json.text("phone", &format!("202-555-{:04}", rng.below(10_000)));
            if rng.chance(500) {
                json.text("fax", &format!("202-555-{:04}", rng.below(10_000)));
            }
            json.text("contact_form", &format!("{site}/contact"));
            json.text("office", &office);
            if senator && rng.chance(300) {
                json.text("rss_url", &format!("{site}/rss/feeds/?type=news"));
            }
        }
        json.close('}');
    }
}
