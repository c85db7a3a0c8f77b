//! What the benchmarks share: where the data is, and how routes are timed against one another.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The folder of real files: `REGAUGE_DATA`, or `../shared/data` beside the repository.
pub fn data_folder() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let folder = std::env::var_os("REGAUGE_DATA").map_or_else(|| beside.into(), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// The processor time that the present thread has used.
pub fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Does a job once, into a buffer that keeps its capacity.
pub type Job<'a> = Box<dyn FnMut(&mut Vec<u8>) + 'a>;

/// One way to do a job. Returns the bytes that it made, which are checked before the clock starts.
pub struct Route<'a> {
    /// Library and version, or ours.
    pub name: &'static str,
    /// What it does.
    pub run: Job<'a>,
}

/// Times of one route, in nanoseconds a call.
#[derive(Clone, Debug)]
pub struct Times {
    /// The route's name.
    pub name: &'static str,
    /// The least of all rounds.
    pub least: f64,
    /// The median of all rounds.
    pub median: f64,
}

/// Runs all routes in turn, `rounds` times, each for about `slice` a round.
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
        .map(|(route, mut samples)| {
            samples.sort_by(f64::total_cmp);
            Times { name: route.name, least: samples[0], median: samples[samples.len() / 2] }
        })
        .collect()
}
