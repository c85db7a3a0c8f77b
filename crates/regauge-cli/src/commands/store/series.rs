//! Time series of a collection: values by time, newest or oldest first.

use regauge::documents::Documents;
use regauge::output::Output as _;
use regauge::values;
use regauge::{Format, Options, Value};
use regauge_store::series::{TimeNs, parse_time, time_text};
use regauge_store::slices::Span;
use regauge_store::{Order, Store};

use super::args::SpanArguments;
use super::failure;
use super::transfer::in_array;
use crate::failure::{Failure, Result};
use crate::output::Destination;
use regauge_packing::files::Compression;

/// Values that are read and decoded at once.
const BATCH: usize = 1_000;
/// Their approximate stored size.
const BATCH_BYTES: usize = 32 << 20;

/// Parses a time argument into the key of its value.
pub fn key(store: &Store, name: &str, time: &str) -> Result<Vec<u8>> {
    let time = parse_time(time).map_err(failure)?;
    Ok(store.series(name).map_err(failure)?.key(time))
}

/// Writes a span of a series as a stream of {"time": …, "value": …}.
pub fn scan(
    store: &mut Store,
    span: &SpanArguments,
    destination: Destination,
    (to, compression): (Format, Option<Compression>),
    values_only: bool,
) -> Result {
    let time = |text: &Option<String>| -> Result<Option<TimeNs>> {
        text.as_deref().map(parse_time).transpose().map_err(failure)
    };
    let mut left = span.limit.unwrap_or(u64::MAX);
    let mut part = Span {
        series: store.series(&span.series).map_err(failure)?,
        from: time(&span.from)?,
        till: time(&span.to)?,
        order: if span.newest { Order::Descending } else { Order::Ascending },
        limit: 0,
        bytes: BATCH_BYTES,
    };
    let outlet = destination.outlet(compression, None, 1);
    let mut outlet = outlet.map_err(|error| Failure::io(&destination.name, &error))?;
    let mut write =
        |bytes: &[u8]| outlet.write(bytes).map_err(|error| Failure::io(&destination.name, &error));
    let [open, between, close] = to
        .info()
        .joined
        .ok_or_else(|| {
            Failure::usage(format!("{} cannot hold a series: choose another --to", to.title()))
        })?
        .map(str::as_bytes);
    write(open)?;
    let mut first = true;
    let (on_loss, objects, unwrap) = (store.on_loss, store.objects, store.unwrap);
    while left > 0 {
        part.limit = usize::try_from(left).unwrap_or(usize::MAX).min(BATCH);
        let series = part.series.clone();
        let made = store.slices_with(&part, &|key, entry| {
            let mut options = Options::new(entry.codec.format, to);
            (options.on_loss, options.objects, options.unwrap) = (on_loss, objects, unwrap);
            options.documents = Documents::Keep;
            let read = values::read_values(&entry.document, &options);
            let value = read.and_then(|mut read| {
                let value = read.pop().unwrap_or(Value::Null);
                let value = match (values_only, series.time(key)) {
                    (false, Some(time)) => Value::Map(vec![
                        (Value::Text("time".to_owned()), Value::Text(time_text(time))),
                        (Value::Text("value".to_owned()), value),
                    ]),
                    _ => value,
                };
                values::write_values(&[value], &options).map(|(bytes, _)| bytes)
            });
            value.map_err(|error| regauge_store::Error::Document {
                key: time_text(series.time(key).unwrap_or_default()),
                error,
            })
        });
        let made = made.map_err(failure)?;
        let Some((last, _)) = made.last() else { break };
        let last = *last;
        left -= made.len() as u64;
        for (_, bytes) in made {
            if !first {
                write(between)?;
            }
            first = false;
            write(in_array(&bytes, to))?;
        }
        match part.order {
            Order::Ascending if last == TimeNs::MAX => break,
            Order::Ascending => part.from = Some(last + 1),
            Order::Descending => part.till = Some(last),
        }
    }
    write(close)?;
    outlet.finish().map_err(|error| Failure::io(&destination.name, &error))?;
    destination.commit()
}
