//! The report as JSON.

use regauge_caches::Report;
use regauge_caches::look::{Danger, Look};
use regauge_caches::recode::Recoded;
use regauge_caches::tally::{Count, Expiry, Tally};
use regauge_sources::{Item, Part};
use serde_json::{Map, Value, json};

use super::About;
use super::advice;

/// Returns the report as a document: `all`, `prefixes` (the one with the most bytes first) and `advice` (the
/// most urgent first), and `reading`, empty if nothing was timed. Sizes are in bytes, points in time in milliseconds
/// since 1970, times to read a value in microseconds.
pub fn json(report: &Report, about: &About<'_>) -> Value {
    let summary = about.summary;
    let prefixes: Vec<_> = report
        .rows
        .iter()
        .map(|row| {
            let mut map = tally(&row.tally);
            map.insert("prefix".into(), row.prefix.as_str().into());
            if let Some(recoded) = &row.recoded {
                map.insert("recoded".into(), self::recoded(recoded));
            }
            map
        })
        .collect();
    let advice: Vec<_> = advice::of(report, about.readings)
        .iter()
        .map(|one| {
            json!({
                "topic": one.topic.name(), "prefixes": one.prefixes, "text": one.text, "bytes": one.bytes,
            })
        })
        .collect();
    json!({
        "regauge": env!("CARGO_PKG_VERSION"),
        "source": about.name,
        "title": summary.title,
        "one_in": about.one_in,
        "is_whole": summary.is_whole,
        "bytes_read": summary.bytes,
        "not_looked_into": {
            "streams": summary.skipped.streams,
            "modules": summary.skipped.modules,
            "functions": summary.skipped.functions,
            "without_field": summary.skipped.absent,
            "other_types": summary.skipped.others,
            "vanished": summary.vanished,
        },
        "all": tally(&report.all),
        "prefixes": prefixes,
        "advice": advice,
        "reading": about.readings.iter().map(super::reading::json).collect::<Vec<_>>(),
    })
}

/// Returns a value and what it is. Bytes that are not UTF-8 have `\\x…` in their key or field.
pub fn line(item: &Item<'_>, looked: &Look) -> Value {
    let part = item.part.map(|part| match part {
        Part::Index(index) => json!({ "index": index }),
        Part::Member => json!({ "member": true }),
        Part::Score(score) => json!({ "score": score }),
        Part::Field(field) => json!({ "field": shown(field) }),
    });
    json!({
        "key": shown(item.key),
        "database": item.database,
        "kind": item.kind.name(),
        "part": part,
        "envelopes": looked.form.rows,
        "steps": looked.form.steps,
        "codec": looked.form.codec.name(),
        "words": looked.form.words(),
        "classes": looked.classes.keys().collect::<Vec<_>>(),
        "loading": looked.danger.name(),
        "bytes": item.bytes,
        "expires_at": item.expires_at,
    })
}

pub(super) fn shown(bytes: &[u8]) -> String {
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.escape_ascii().to_string(),
    }
}

/// Returns when keys expire; null if that is not known.
fn expiry(expiry: Expiry) -> Value {
    if expiry.is_unknown() {
        return Value::Null;
    }
    let (first, last) = expiry.range.unzip();
    json!({ "never": expiry.never, "expiring": expiry.expiring, "first": first, "last": last })
}

fn count(count: Count) -> Value {
    json!({ "values": count.values, "bytes": count.bytes })
}

fn tally(tally: &Tally) -> Map<String, Value> {
    let forms: Vec<_> = tally
        .forms()
        .into_iter()
        .map(|(form, counted)| {
            json!({
                "envelopes": form.rows, "steps": form.steps, "codec": form.codec.name(), "words": form.words(),
                "values": counted.values, "bytes": counted.bytes,
            })
        })
        .collect();
    let kinds: Map<_, _> =
        tally.kinds.iter().map(|(kind, keys)| (kind.name().to_owned(), (*keys).into())).collect();
    let dangers: Map<_, _> = Danger::ALL
        .iter()
        .filter_map(|danger| Some((danger.name().to_owned(), count(*tally.dangers.get(danger)?))))
        .collect();
    let classes: Map<_, _> = tally
        .classes
        .iter()
        .map(|(name, class)| {
            (name.clone(), json!({ "values": class.values, "judged": class.risk.name() }))
        })
        .collect();
    let begins: Map<_, _> = tally
        .begins
        .iter()
        .map(|(begin, values)| {
            let digits: String = begin.iter().map(|byte| format!("{byte:02x}")).collect();
            (digits, (*values).into())
        })
        .collect();
    let largest: Vec<_> = tally
        .largest
        .iter()
        .map(|(bytes, key)| json!({ "key": String::from_utf8_lossy(key), "bytes": bytes }))
        .collect();
    let Value::Object(map) = json!({
        "keys": tally.keys,
        "values": tally.all.values,
        "bytes": tally.all.bytes,
        "kinds": kinds,
        "forms": forms,
        "loading": dangers,
        "classes": classes,
        "has_more_classes": tally.has_more_classes,
        "repeated": count(tally.repeated),
        "unknown_begin_with": begins,
        "expiry": expiry(tally.expiry),
        "largest": largest,
    }) else {
        unreachable!("a map is written above")
    };
    map
}

fn recoded(recoded: &Recoded) -> Value {
    let ways: Vec<_> =
        recoded.ways.iter().map(|way| json!({ "as": way.name(), "bytes": way.bytes })).collect();
    json!({
        "sampled": recoded.tried, "exact": recoded.exact, "stored_bytes": recoded.stored,
        "ways": ways, "refused": recoded.refused,
    })
}
