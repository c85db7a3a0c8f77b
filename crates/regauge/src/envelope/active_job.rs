//! Jobs of Rails' Active Job: JSON documents that carry the arguments of a job.
//!
//! Read from `activejob/lib/active_job/` of Rails 5.1.7, 6.1.7.10, 7.0.10, 7.1.6, 7.2.3, 8.0.5 and 8.1.3 (`core.rb`,
//! `arguments.rb`, `queue_adapters/sidekiq_adapter.rb`). Every adapter stores what `ActiveJob::Base#serialize`
//! returns: a map of `job_class`, `job_id`, `queue_name`, `arguments` and more, as it is (Solid Queue, GoodJob)
//! or as the only argument of a job of its own. `executions` came with 5.1, `timezone`, `enqueued_at` and
//! `exception_executions` with 6.0, `scheduled_at` with 7.1, and `resumptions` with 8.1, if a job has steps.
//!
//! What JSON lacks is a map with a key that begins with `_aj_`: `_aj_globalid` is a record,
//! `_aj_serialized` a symbol or a time, and `_aj_symbol_keys` and `_aj_ruby2_keywords` say which keys were symbols. They
//! stay the maps that they are.

use super::{Fact, Inside, Row, Taken, Tools, message};
use crate::Result;
use crate::model::format::Format;
use crate::model::value::Value;

/// What `ActiveJob::Base#serialize` returns. Any JSON document may have such keys, so it is not certain.
pub(super) const ACTIVE_JOB: Row = Row {
    name: "active-job",
    title: "a job of Active Job",
    is_certain: false,
    looks_like: &[Some(Format::Json)],
    holds: &[Format::Json],
    looks: |bytes, is_whole| message::has_keys(bytes, is_whole, &KEYS),
    open,
    close: Some(close),
};

/// The keys that all versions write.
const KEYS: [&str; 4] = ["job_class", "job_id", "queue_name", "arguments"];

/// Whether a value is such a job.
pub(super) fn is_job(value: &Value) -> bool {
    let Value::Map(pairs) = value else { return false };
    KEYS.iter().all(|key| message::get(pairs, key).is_some())
}

fn open(bytes: &[u8], tools: &Tools<'_>) -> Result<Taken> {
    let job = message::read(bytes, tools.limits)?;
    let mut facts =
        job.facts(&[("class", "job_class"), ("job", "job_id"), ("queue", "queue_name")]);
    for name in ["priority", "executions", "resumptions"] {
        if let Some(value @ Value::Int(_)) = job.get(name) {
            facts.push(Fact { name, value: value.clone() });
        }
    }
    facts.extend(job.get("exception_executions").and_then(exceptions));
    facts.extend(job.facts(&[
        ("enqueued", "enqueued_at"),
        ("scheduled", "scheduled_at"),
        ("locale", "locale"),
        ("timezone", "timezone"),
    ]));
    let bytes = job.arguments("arguments", tools.limits)?;
    Ok(Taken { facts, steps: Vec::new(), format: Format::Json, bytes, is_checked: false })
}

/// Returns how often a job was retried for which exceptions: `[IOError, EOFError] 2`.
fn exceptions(value: &Value) -> Option<Fact> {
    let Value::Map(pairs) = value else { return None };
    let one = |(names, times): &(Value, Value)| match times {
        Value::Int(times) => Some(format!("{} {times}", names.as_str()?)),
        _ => None,
    };
    let all: Vec<_> = pairs.iter().filter_map(one).collect();
    (!all.is_empty()).then(|| Fact::text("exceptions", all.join(", ")))
}

fn close(around: &[u8], inside: &Inside<'_>, tools: &Tools<'_>) -> Result<Vec<u8>> {
    message::read(around, tools.limits)?.with_arguments("arguments", inside.bytes, tools.limits)
}
