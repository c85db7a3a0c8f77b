//! Takes the first samples of a contender, in the process of its check and beside other checks.

use std::time::{Duration, Instant};

use super::processes::Load;
use super::warm;
use crate::model::protocol::{Command, Counted, Op, Sampled};
use crate::run::process::{Process, Trouble};

/// Samples that a contender gave in its check.
#[derive(Debug)]
pub(crate) struct FirstLap {
    pub decode: FirstSamples,
    pub encode: FirstSamples,
    pub took: Duration,
}

/// Samples of one kind of work.
#[derive(Debug, Default)]
pub(crate) struct FirstSamples {
    pub iterations: u64,
    /// Each with the probes before and after.
    pub taken: Vec<(Sampled, [f64; 2])>,
    pub warm_up_samples: u64,
    pub warm_up_ns: f64,
}

/// Samples of a first lap, and of one whose passes are longer than a sample by far.
const FIRST_SAMPLES: usize = 3;
const FEW_SAMPLES: usize = 1;
const LONG: u32 = 10;

/// Takes a first lap of samples.
pub(crate) fn first_lap(
    process: &mut Process,
    load: &Load,
    sample_min: Duration,
    probe: &dyn Fn() -> f64,
    patience: Duration,
) -> Result<FirstLap, Trouble> {
    let began = Instant::now();
    // Nothing may be kept while decoding is timed.
    let reload = Command::Load { path: &load.path, spans: load.spans.as_deref() };
    process.ask::<Counted>(&reload, patience)?;
    let decode = first_samples(process, Op::Decode, sample_min, probe, patience)?;
    process.ask::<Counted>(&Command::Hold, patience)?;
    let encode = first_samples(process, Op::Encode, sample_min, probe, patience)?;
    Ok(FirstLap { decode, encode, took: began.elapsed() })
}

fn first_samples(
    process: &mut Process,
    op: Op,
    sample_min: Duration,
    probe: &dyn Fn() -> f64,
    patience: Duration,
) -> Result<FirstSamples, Trouble> {
    let mut ask = |iterations: u64| -> Result<Sampled, Trouble> {
        process.ask(&Command::Sample { op, iterations, gc: false }, patience)
    };
    let mut samples = FirstSamples { iterations: 1, ..FirstSamples::default() };
    let mut last = ask(1)?;
    loop {
        samples.warm_up_samples += 1;
        samples.warm_up_ns += last.ns as f64;
        let next = warm::next(samples.iterations, last.ns, sample_min);
        let is_found = next <= samples.iterations * 2;
        samples.iterations = next;
        if is_found {
            break;
        }
        last = ask(samples.iterations)?;
    }
    let is_long = last.ns > (sample_min * LONG).as_nanos() as u64;
    let mut before = probe();
    for _ in 0..if is_long { FEW_SAMPLES } else { FIRST_SAMPLES } {
        let sampled = ask(samples.iterations)?;
        let after = probe();
        samples.taken.push((sampled, [before, after]));
        before = after;
    }
    Ok(samples)
}
