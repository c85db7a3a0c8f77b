//! Shared by the benchmarks: how routes are timed against one another.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time used by the current thread.
pub fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Does a job once, into a buffer that keeps its capacity.
pub type Job<'a> = Box<dyn FnMut(&mut Vec<u8>) + 'a>;

/// One way to do a job. Returns its output, which is checked before the clock starts.
pub struct Route<'a> {
    /// Library and version, or ours.
    pub name: &'static str,
    /// What it does.
    pub run: Job<'a>,
}

/// Times of one route, in nanoseconds per call.
#[derive(Clone, Debug)]
pub struct Times {
    /// The route's name.
    pub name: &'static str,
    /// The minimum of all rounds.
    pub least: f64,
    /// The median of all rounds.
    pub median: f64,
    /// All rounds, in order.
    pub samples: Vec<f64>,
}

/// Appends the measurements of one route to the file named by `REGAUGE_BENCH_JSON`, if it is set.
/// `tools/figures.py` builds the published tables from such lines; every benchmark, in any
/// language, writes them. `bytes` is what one call reads or writes; 0 if it does not matter.
///
/// # Panics
/// If the file cannot be written.
pub fn record(table: &str, case: &str, route: &str, unit: &str, bytes: usize, samples: &[f64]) {
    let Some(path) = std::env::var_os("REGAUGE_BENCH_JSON") else { return };
    let line = serde_json::json!({
        "table": table, "case": case, "route": route, "unit": unit, "bytes": bytes, "samples": samples,
    });
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{line}")).expect("REGAUGE_BENCH_JSON can be written");
}

/// Records all routes of a case.
///
/// # Panics
/// Those of `record`.
pub fn record_all(table: &str, case: &str, bytes: usize, times: &[Times]) {
    for one in times {
        record(table, case, one.name, "ns", bytes, &one.samples);
    }
}

/// Runs all routes in turn, `rounds` times, each for about `slice` per round.
pub fn interleave(routes: &mut [Route<'_>], rounds: usize, slice: Duration) -> Vec<Times> {
    let mut buffer = Vec::new();
    let calls: Vec<u32> = routes
        .iter_mut()
        .map(|route| {
            (route.run)(&mut buffer);
            let start = thread_time();
            (route.run)(&mut buffer);
            let once = (thread_time() - start).as_secs_f64().max(1e-7);
            (slice.as_secs_f64() / once).ceil().clamp(1.0, 1e6) as u32
        })
        .collect();
    let mut samples = vec![Vec::new(); routes.len()];
    for _ in 0..rounds {
        for ((route, calls), samples) in routes.iter_mut().zip(&calls).zip(&mut samples) {
            let start = thread_time();
            for _ in 0..*calls {
                (route.run)(&mut buffer);
            }
            samples.push((thread_time() - start).as_secs_f64() * 1e9 / f64::from(*calls));
        }
    }
    routes
        .iter()
        .zip(samples)
        .map(|(route, samples)| {
            let mut sorted = samples.clone();
            sorted.sort_by(f64::total_cmp);
            let (least, median) = (sorted[0], sorted[sorted.len() / 2]);
            Times { name: route.name, least, median, samples }
        })
        .collect()
}
