//! What to do about what was found.

use std::collections::BTreeMap;

use regauge::Format;
use regauge::envelope::Packing;
use regauge_caches::look::{Codec, Danger, Risk};
use regauge_caches::migrate::runs_code;
use regauge_caches::recode::Recoded;
use regauge_caches::tally::{Count, Tally};
use regauge_caches::{Report, Row};
use regauge_measure::{bytes, thousands};

use super::{Reading, values};
use crate::text::visible;

/// A saving below this share of the bytes is not worth the work.
const SAVED_MIN: f64 = 0.1;
/// A prefix below this share of all bytes is not worth advice about its size.
const SHARE_MIN: f64 = 0.005;
/// How many classes and prefixes are named.
const NAMED: usize = 3;

/// Something to do about the values of some prefixes.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// What it is about.
    pub topic: Topic,
    /// The prefixes, the one with the most bytes first.
    pub prefixes: Vec<String>,
    /// What was found, and what to do.
    pub text: String,
    /// How many bytes it is about, or saves.
    pub bytes: u64,
}

/// What advice is about, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Values with classes that are known from attacks.
    Attack,
    /// Values that are no more than data can leave a format that runs code.
    Leave,
    /// Values of classes need a plan before they can.
    Classes,
    /// Some values of plain types hold what other formats lack, so that only a trial of each tells.
    Partly,
    /// Another format or a compression is smaller.
    Smaller,
    /// Many values are equal.
    Repeated,
    /// Many values never expire, among others that do.
    Forever,
}

impl Topic {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Attack => "attack",
            Topic::Leave => "leave",
            Topic::Classes => "classes",
            Topic::Partly => "partly",
            Topic::Smaller => "smaller",
            Topic::Repeated => "repeated",
            Topic::Forever => "forever",
        }
    }
}

/// What was found about one topic, in the prefixes for which it is the same.
#[derive(Default)]
struct Group {
    prefixes: Vec<String>,
    /// Of the values that it is about.
    about: Count,
    /// Of the values that it was looked for in.
    all: Count,
    classes: BTreeMap<String, u64>,
    has_more_classes: bool,
    tried: u64,
    exact: u64,
    /// The bytes of the sampled values: as they are stored, and in the new format without and with zstd.
    stored: u64,
    plain: u64,
    packed: u64,
}

type Groups = BTreeMap<(Topic, &'static str), Group>;

fn group<'g>(groups: &'g mut Groups, topic: Topic, of: &'static str) -> &'g mut Group {
    groups.entry((topic, of)).or_default()
}

/// Returns what to do, the most urgent first.
pub fn of(report: &Report, readings: &[Reading]) -> Vec<Advice> {
    let all = &report.all;
    let mut groups = Groups::new();
    for row in &report.rows {
        let tally = &row.tally;
        let with = |danger| tally.dangers.get(&danger).copied().filter(|count| count.values > 0);
        if let Some(count) = with(Danger::Attack) {
            group(&mut groups, Topic::Attack, "")
                .add(row, count, tally.all)
                .name(tally, Risk::Notorious);
        }
        if let Some(count) = with(Danger::Classes) {
            let (title, all) = with_classes(tally);
            group(&mut groups, Topic::Classes, title)
                .add(row, count, all)
                .name(tally, Risk::Unknown);
        }
        if (tally.all.bytes as f64) < SHARE_MIN * all.all.bytes as f64 {
            continue;
        }
        if let Some((format, to)) = leaving(row) {
            let topic = if runs_code(format) { Topic::Leave } else { Topic::Smaller };
            let count = in_codecs(tally, |codec| codec == Codec::Format(format));
            group(&mut groups, topic, format.title()).add(row, count, tally.all).sample(row, to);
        }
        if let Some((format, recoded)) = partly(row) {
            let group =
                group(&mut groups, Topic::Partly, format.title()).add(row, tally.all, tally.all);
            group.tried += recoded.tried;
            group.exact += recoded.exact;
        }
        let repeated = tally.repeated;
        if repeated.bytes as f64 > 0.2 * tally.all.bytes as f64 && repeated.values > 100 {
            group(&mut groups, Topic::Repeated, "").add(row, repeated, tally.all);
        }
        let (expiry, others) = (tally.expiry, all.expiry);
        if others.expiring > others.never && expiry.never > 100 && expiry.expiring == 0 {
            group(&mut groups, Topic::Forever, "").add(row, tally.all, tally.all);
        }
    }
    let advice =
        groups.into_iter().filter_map(|((topic, of), group)| group.advice(topic, of, readings));
    let mut advice: Vec<_> = advice.collect();
    advice.sort_by(|a, b| a.topic.cmp(&b.topic).then(b.bytes.cmp(&a.bytes)));
    advice
}

/// Returns how many values are in these codecs.
fn in_codecs(tally: &Tally, is_one: impl Fn(Codec) -> bool) -> Count {
    let mut sum = Count::default();
    for (_, count) in tally.forms.iter().filter(|(form, _)| is_one(form.codec)) {
        sum.merge(*count);
    }
    sum
}

/// Returns the codec whose values may name classes, in words, and how many are in it: it is not counted in which of
/// several a class was found.
fn with_classes(tally: &Tally) -> (&'static str, Count) {
    let mut titles = tally
        .forms
        .keys()
        .map(|form| form.codec)
        .filter(|codec| has_classes(*codec))
        .map(Codec::title);
    let first = titles.next().unwrap_or_default();
    let is_only = titles.all(|title| title == first);
    (if is_only { first } else { "formats that can run code" }, in_codecs(tally, has_classes))
}

fn has_classes(codec: Codec) -> bool {
    match codec {
        Codec::Format(format) => runs_code(format),
        Codec::Plain(name, _) => name.starts_with("php-"),
        _ => false,
    }
}

/// Returns the format of a prefix, and the one to compare it with, if all sampled values are exact in that.
fn leaving(row: &Row) -> Option<(Format, Format)> {
    let recoded = row.recoded.as_ref()?;
    let now = row.format()?;
    let to = if runs_code(now) { Format::Msgpack } else { now };
    (recoded.exact > 0 && recoded.exact == recoded.tried).then_some((now, to))
}

/// Returns the format of a prefix and its sample, if that names no classes of the application and yet is not exact in the
/// formats that are tried.
fn partly(row: &Row) -> Option<(Format, &Recoded)> {
    let recoded = row.recoded.as_ref().filter(|recoded| recoded.exact < recoded.tried)?;
    let format = row.format().filter(|format| runs_code(*format))?;
    let has = |danger| row.tally.dangers.get(&danger).is_some_and(|count| count.values > 0);
    let is_told = has(Danger::Classes) || has(Danger::Attack);
    (!is_told).then_some((format, recoded))
}

impl Group {
    /// Adds the values of a prefix that it is about, of all that it was looked for in.
    fn add(&mut self, row: &Row, about: Count, all: Count) -> &mut Group {
        self.prefixes.push(visible(&row.prefix));
        self.about.merge(about);
        self.all.merge(all);
        self
    }

    /// Adds the classes of one judgement.
    fn name(&mut self, tally: &Tally, risk: Risk) {
        for (name, class) in tally.classes.iter().filter(|(_, class)| class.risk == risk) {
            *self.classes.entry(name.clone()).or_default() += class.values;
        }
        self.has_more_classes |= tally.has_more_classes;
    }

    /// Adds what the sample takes in the new format.
    fn sample(&mut self, row: &Row, to: Format) {
        let Some(recoded) = &row.recoded else { return };
        let taken = |packing| {
            let way = |way: &&_| is_way(way, to, packing);
            recoded.ways.iter().find(way).map_or(0, |way| way.bytes)
        };
        self.tried += recoded.tried;
        self.exact += recoded.exact;
        self.stored += recoded.stored;
        self.plain += taken(None);
        self.packed += taken(Some(Packing::Zstd));
    }

    fn advice(self, topic: Topic, of: &str, readings: &[Reading]) -> Option<Advice> {
        let about = values(self.about.values);
        let mut bytes_about = self.about.bytes;
        let text = match topic {
            Topic::Attack => {
                format!(
                    "{about} with classes or calls known from attacks ({}): do not load them",
                    self.classes()
                )
            }
            Topic::Classes => format!(
                "{} of {} in {of} name{} classes or functions of the application, which need a plan: {}",
                thousands(self.about.values),
                values(self.all.values),
                if self.about.values == 1 { "s" } else { "" },
                self.classes()
            ),
            Topic::Leave | Topic::Smaller => {
                // Compressed only if that brings much.
                let is_packed = (self.packed as f64) < 0.8 * self.plain as f64;
                let new = if is_packed { self.packed } else { self.plain };
                let saved = 1.0 - new as f64 / self.stored.max(1) as f64;
                bytes_about = (saved.max(0.0) * self.about.bytes as f64) as u64;
                let zstd = if is_packed { " with zstd" } else { "" };
                let saving = format!("{:.0}%, some {}", 100.0 * saved, bytes(bytes_about));
                if topic == Topic::Smaller {
                    if saved < SAVED_MIN || !is_packed {
                        return None;
                    }
                    format!("{of}{zstd} saves {saving}")
                } else {
                    let change = match saved {
                        s if s >= 0.01 => format!("saves {saving}"),
                        s if s <= -0.01 => format!("takes {:.0}% more", -100.0 * s),
                        _ => "takes the same bytes".to_owned(),
                    };
                    let mut text = format!(
                        "plain data in {of}: MessagePack{zstd} keeps it exactly (all {} sampled values) and {change}",
                        thousands(self.exact)
                    );
                    let timed = readings.iter().filter(|one| one.format.title() == of);
                    for words in timed.filter_map(|one| one.words(Format::Msgpack)) {
                        text += &format!("; {words}");
                    }
                    text
                }
            }
            Topic::Partly => format!(
                "{} of {} sampled values in {of} are exact in MessagePack, JSON and CBOR alike; a dry run of \
                 `regauge migrate` says what would stay, and why",
                thousands(self.exact),
                thousands(self.tried)
            ),
            Topic::Repeated => {
                format!("{about} are equal to another one: {}", bytes(bytes_about))
            }
            Topic::Forever => {
                format!("{about} never expire, while most keys here do: {}", bytes(bytes_about))
            }
        };
        Some(Advice { topic, prefixes: self.prefixes, text, bytes: bytes_about })
    }

    /// Returns the most frequent classes in words.
    fn classes(&self) -> String {
        let mut classes: Vec<_> = self.classes.iter().collect();
        classes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let more = classes.len().saturating_sub(NAMED);
        let named: Vec<_> = classes.iter().take(NAMED).map(|(name, _)| visible(name)).collect();
        let mut words = named.join(", ");
        if more > 0 || self.has_more_classes {
            let plus = if self.has_more_classes { " or more" } else { "" };
            let s = if more == 1 && plus.is_empty() { "" } else { "s" };
            words += &format!(" and {more}{plus} other{s}");
        }
        words
    }
}

fn is_way(way: &regauge_caches::recode::Way, format: Format, packing: Option<Packing>) -> bool {
    way.format == format && way.packing == packing
}

impl Advice {
    /// Returns the prefixes in words: the first ones, and how many others there are.
    pub fn place(&self) -> String {
        let mut words = self.prefixes[..self.prefixes.len().min(NAMED)].join(", ");
        let more = self.prefixes.len().saturating_sub(NAMED);
        if more > 0 {
            words += &format!(" and {more} more prefixes");
        }
        words
    }
}
