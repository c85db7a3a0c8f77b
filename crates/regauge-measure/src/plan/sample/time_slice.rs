//! Slices of a time series: the document of about 16 KB that a service writes every hour or so.
//!
//! A slice holds one point a minute for 155 minutes, each a map with the same five keys: when,
//! a count of users, a rate of requests, a latency in milliseconds, and a state. Values change slowly,
//! so almost all of a point repeats the one before it; that, and long keys, is why such documents
//! shrink to a fifteenth under gzip.

use super::Put;
use super::json::Json;
use super::rng::Rng;
use std::io;

const SLICES: u64 = 4;
const POINTS: u64 = 155;
const MINUTE: u64 = 60;

/// The first slice starts on 1 January 2012, 00:00 UTC; later ones follow without a gap.
const EPOCH: u64 = 1_325_376_000;

/// Writes `count` slices, one a line.
pub(super) fn generate(seed: u64, count: u64, put: &mut Put) -> io::Result<()> {
    let mut json = Json::default();
    for index in 0..count {
        json.clear();
        slice(&mut Rng::for_item(seed, SLICES, index), index, &mut json);
        json.newline();
        put(json.as_bytes())?;
    }
    Ok(())
}

fn slice(rng: &mut Rng, index: u64, json: &mut Json) {
    let start = EPOCH + index * POINTS * MINUTE;
    json.open('{');
    json.member("account_id", rng.between(10_000, 99_999));
    json.text("series", rng.pick(&["storage.sessions", "gateway.requests", "uploads.finished"]));
    json.member("slice_start", start);
    json.member("slice_end", start + POINTS * MINUTE);
    json.member("resolution", MINUTE);
    json.member("complete", true);
    json.key("points");
    json.open('[');
    let mut users = rng.between(20, 70);
    let mut rate = rng.between(200, 700);
    let mut latency = rng.between(20, 60);
    let (mut tenth, mut hundredth) = (5, 25);
    let mut state = "normal";
    for point in 0..POINTS {
        // Each walks a step now and then, and stays inside bounds of the same number of digits,
        // so that every slice has nearly the same length.
        if rng.chance(130) {
            users = walk(rng, users, 3, 10, 99);
        }
        if rng.chance(270) {
            rate = walk(rng, rate, 6, 100, 999);
            // Never whole, so that it is a float in every format; seldom a binary fraction, so
            // that the double has all its bits.
            tenth = rng.between(1, 9);
        }
        if rng.chance(150) {
            latency = walk(rng, latency, 2, 10, 99);
            hundredth = 10 * rng.below(10) + rng.between(1, 9);
        }
        if rng.chance(25) {
            state = rng.pick(&["normal", "normal", "loaded", "paused"]);
        }
        json.open('{');
        json.member("timestamp", start + point * MINUTE);
        json.member("active_users", users);
        json.member("request_rate", format_args!("{rate}.{tenth}"));
        json.member("mean_latency_ms", format_args!("{latency}.{hundredth:02}"));
        json.text("state", state);
        json.close('}');
    }
    json.close(']');
    json.close('}');
}

/// `value` up to `step` higher or lower, but no lower than `low` and no higher than `high`.
fn walk(rng: &mut Rng, value: u64, step: u64, low: u64, high: u64) -> u64 {
    (value + rng.below(2 * step + 1)).saturating_sub(step).clamp(low, high)
}
