//! Small documents of each type: what a serializer meets when it is called once per value.
//!
//! The documents take turns: a hash, a string, a float, an object's attributes. Each is a map of
//! its type's name and the value, since some formats hold nothing but a map at the top.

use super::Put;
use super::json::Json;
use super::rng::Rng;
use super::words::{Language, Vocabulary};
use std::io;

const DOCUMENTS: u64 = 5;

/// Writes `count` documents, one a line.
pub(super) fn generate(seed: u64, count: u64, put: &mut Put) -> io::Result<()> {
    let words = Vocabulary::new();
    let mut json = Json::default();
    for index in 0..count {
        let rng = &mut Rng::for_item(seed, DOCUMENTS, index);
        json.clear();
        json.open('{');
        match index % 4 {
            0 => {
                json.text("type", "Hash");
                json.key("value");
                hash(&words, rng, &mut json);
            }
            1 => {
                json.text("type", "String");
                json.text("value", &string(&words, rng));
            }
            2 => {
                json.text("type", "Float");
                json.member("value", float(rng));
            }
            _ => {
                json.text("type", "CustomClass");
                json.key("value");
                object(&words, rng, &mut json);
            }
        }
        json.close('}');
        json.newline();
        put(json.as_bytes())?;
    }
    Ok(())
}

/// A map with every kind of value in it, two levels of maps below, about 400 bytes.
fn hash(words: &Vocabulary, rng: &mut Rng, json: &mut Json) {
    json.open('{');
    json.member("id", rng.below(10_000_000));
    json.text("name", &name(words, rng));
    json.text("title", &words.sentence(rng));
    json.member("balance", signed(rng, 2_000_000));
    json.member("total", rng.next() >> rng.between(1, 60));
    json.member("ratio", float(rng));
    json.member("active", rng.chance(700));
    json.member("deleted_at", "null");
    json.key("tags");
    json.open('[');
    for _ in 0..rng.between(0, 5) {
        json.string(rng.pick(&words.noun));
    }
    json.close(']');
    json.key("settings");
    json.open('{');
    json.member("notify", rng.chance(500));
    json.member("page_size", rng.pick(&[10, 25, 50, 100]));
    json.text("language", rng.pick(&["en", "de", "fr", "ru", "zh", "he"]));
    json.key("position");
    json.open('{');
    json.member("latitude", float_between(rng, 90));
    json.member("longitude", float_between(rng, 180));
    json.close('}');
    json.close('}');
    json.close('}');
}

/// One to four sentences; a third in another language or script, some with what needs escaping.
fn string(words: &Vocabulary, rng: &mut Rng) -> String {
    if rng.chance(330) {
        let language = language(words, rng);
        let pattern = rng.pick(&language.title);
        let title = words.expand(rng, language, pattern, None);
        return if title.native.is_empty() { title.roman } else { title.native };
    }
    let mut text = words.sentence(rng);
    for _ in 0..rng.below(4) {
        text.push_str(rng.pick(&[" ", " ", "\n", "\t", " \"So it is said.\" ", " C:\\notes "]));
        text.push_str(&words.sentence(rng));
    }
    text
}

/// A person's attributes, as an object of a class of one's own would be written.
fn object(words: &Vocabulary, rng: &mut Rng, json: &mut Json) {
    json.open('{');
    json.text("name", &name(words, rng));
    json.member("age", rng.between(18, 99));
    json.member("height", format_args!("1.{}{}", rng.between(4, 9), rng.between(1, 9)));
    json.member("admin", rng.chance(100));
    json.member("supervisor", "null");
    json.close('}');
}

fn language<'a>(words: &'a Vocabulary, rng: &mut Rng) -> &'a Language {
    &words.languages[rng.below(words.languages.len() as u64) as usize]
}

fn name(words: &Vocabulary, rng: &mut Rng) -> String {
    let language = language(words, rng);
    let surname = words.surname(rng, language).roman;
    format!("{} {surname}", rng.pick(&language.given).0)
}

/// Returns a decimal with a fraction of up to fifteen digits in all, written so that the shortest
/// round-trip form of the double nearest to it is the same text.
fn float(rng: &mut Rng) -> String {
    let sign = if rng.chance(300) { "-" } else { "" };
    let digits = rng.between(1, 9) as u32;
    // The last digit is never 0, which the shortest form would leave out.
    let fraction = rng.below(10u64.pow(digits - 1)) * 10 + rng.between(1, 9);
    let whole_digits = rng.between(0, 6) as u32;
    let whole = rng.below(10u64.pow(whole_digits));
    format!("{sign}{whole}.{fraction:0width$}", width = digits as usize)
}

fn float_between(rng: &mut Rng, limit: u64) -> String {
    let sign = if rng.chance(500) { "-" } else { "" };
    format!("{sign}{}.{:05}{}", rng.below(limit), rng.below(100_000), rng.between(1, 9))
}

fn signed(rng: &mut Rng, limit: u64) -> String {
    let sign = if rng.chance(400) { "-" } else { "" };
    format!("{sign}{}", rng.between(1, limit))
}
