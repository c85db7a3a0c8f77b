//! From checked contenders to samples: which documents, how much time, on which core; and what
//! the reader must know of it.

use std::time::{Duration, Instant};

use crate::check::{self, Outcome};
use crate::error::Error;
use crate::options::{Options, Progress};
use crate::pin::Core;
use crate::reference::{References, Shape};
use crate::report::Rounds;
use crate::run::{Check, right, subfolder};
use crate::safety;
use crate::sampler::{self, Guess, Plan, Processes, Runner};

/// Checks are made in full, and slow ones must not leave nothing for the clock: it gets this part
/// of the budget in any case.
const TIMING_SHARE: f64 = 0.4;
/// The part of that which the laps are planned for: the last lap may take longer than the longest
/// before it, and the report has to be made.
const SAMPLES_SHARE: f64 = 0.9;
/// Names in a note, at most.
const NAMES_MAX: usize = 8;

/// What came of the clock's part.
pub(crate) struct Timed {
    pub runners: Vec<Runner>,
    pub rounds: Rounds,
    pub probes_ns: Vec<f64>,
    /// Documents that were timed, and every which.
    pub documents: u64,
    pub every: u64,
    pub notes: Vec<String>,
}

/// Times all contenders that were right.
pub(crate) fn all(
    check: &Check,
    outcomes: &[Outcome],
    references: &References,
    began: Instant,
    progress: &mut dyn Progress,
) -> Result<Timed, Error> {
    let options = check.options;
    let left =
        options.budget.saturating_sub(began.elapsed()).max(options.budget.mul_f64(TIMING_SHARE));
    let (every, slice) = slice(check, outcomes, references, left)?;
    let mut notes: Vec<String> = not_reached(check, outcomes).into_iter().collect();
    let nobody = options.safety == safety::When::Only;
    let core = if options.pin && !nobody { Core::quietest(options.probe) } else { None };

    let mut loads = vec![None; check.contenders.len()];
    let mut runners = Vec::new();
    for (index, compared) in right(outcomes).filter(|_| !nobody) {
        let contender = &check.contenders[index];
        // What a runtime has to write itself is written now, by a process that is not timed.
        let folder = subfolder(check.work, &format!("time-{index}"))?;
        let launch = &check.launches[index];
        let load = check::load_for(contender, launch, &slice, &folder, options.patience);
        let trouble = match load {
            Ok(load) => {
                loads[index] = Some(load);
                None
            }
            Err(trouble) => Some(trouble),
        };
        let part = slice.documents as f64 / references.documents.max(1) as f64;
        let guess = Guess {
            start_ns: compared.start.as_nanos() as f64,
            decode_ns: compared.checked.decode_ns as f64 * part,
            encode_ns: compared.checked.encode_ns as f64 * part,
        };
        let group = (contender.runtime, contender.gives);
        runners.push(Runner::new(index, contender.name.clone(), group, guess, trouble));
    }

    let plan = Plan {
        rounds: options.rounds,
        budget: left.mul_f64(SAMPLES_SHARE),
        sample_min: options.sample_min,
        warm_max: options.warm_max,
        patience: options.patience,
        seed: options.seed,
    };
    let mut world = Processes {
        launches: check.launches,
        loads,
        began,
        core,
        probe: options.probe,
        stop: options.stop.as_deref(),
    };
    let ran = sampler::run(&mut runners, &mut world, &plan, progress);
    notes.extend(pinned(&runners, world.core.as_ref(), options).filter(|_| !nobody));
    notes.extend(unsettled(&runners));
    notes.extend(outliers(&runners));
    Ok(Timed {
        runners,
        rounds: Rounds { decode: ran.decode, encode: ran.encode },
        probes_ns: ran.probes_ns,
        documents: slice.documents,
        every,
        notes,
    })
}

/// Chooses what is timed: all documents, or of a record stream every n-th, the same for all, so
/// that three laps of a few samples fit into what is left of the budget.
fn slice(
    check: &Check,
    outcomes: &[Outcome],
    references: &References,
    left: Duration,
) -> Result<(u64, References), Error> {
    // Three laps: a cold pass, warming up, two samples.
    const PASSES: f64 = 12.0;
    const DOCUMENTS_MIN: u64 = 200;
    let pass_s: f64 = right(outcomes)
        .map(|(_, one)| (one.checked.decode_ns + one.checked.encode_ns) as f64 / 1e9)
        .sum();
    let start_s: f64 = 3.0 * right(outcomes).map(|(_, one)| one.start.as_secs_f64()).sum::<f64>();
    let left = (left.as_secs_f64() - start_s).max(left.as_secs_f64() / 4.0);
    let wanted = (pass_s * PASSES / left).ceil() as u64;
    let most = (references.documents / DOCUMENTS_MIN).max(1);
    let every = if check.options.rounds.is_some() || references.shape == Shape::Document {
        1
    } else {
        wanted.clamp(1, most)
    };
    if references.shape == Shape::Document {
        return Ok((1, references.clone()));
    }
    let folder = subfolder(check.work, "timed")?;
    Ok((every, references.slice(every, &check.work.join("whole"), &folder)?))
}

/// Why a contender that is right has no times.
pub(crate) fn too_slow(needed: Duration) -> String {
    format!(
        "too slow for this budget: three samples would take about {:.0} s; a longer --budget times \
         it",
        needed.as_secs_f64().ceil()
    )
}

fn not_reached(check: &Check, outcomes: &[Outcome]) -> Option<String> {
    let names: Vec<String> = check
        .contenders
        .iter()
        .zip(outcomes)
        .filter(|(_, outcome)| matches!(outcome, Outcome::NotReached))
        .map(|(contender, _)| format!("{} ({})", contender.name, contender.runtime.name()))
        .collect();
    let why = match check.options.is_stopped() {
        true => "the run was stopped",
        false => "the budget was used up; a longer --budget reaches them",
    };
    (!names.is_empty()).then(|| format!("Not reached: {}: {why}.", list(&names)))
}

fn pinned(runners: &[Runner], core: Option<&Core>, options: &Options) -> Option<String> {
    let core = match core {
        Some(core) => core.number(),
        None if options.pin => {
            return Some(
                "Contenders were not bound to a core: there is one alone, or the system does not \
                 allow it."
                    .to_owned(),
            );
        }
        None => return None,
    };
    let free: Vec<String> = runners
        .iter()
        .filter(|runner| !runner.pinned && !runner.cold_start_ns.is_empty())
        .map(named)
        .collect();
    let free = match free.as_slice() {
        [] => String::new(),
        names => format!(" {} come with threads of their own and had all cores.", list(names)),
    };
    Some(format!(
        "Contenders were bound to core {core}, where the machine's own time was least.{free}"
    ))
}

/// Who was not warm when the clock started.
fn unsettled(runners: &[Runner]) -> Option<String> {
    let mut names = Vec::new();
    for runner in runners {
        for (word, samples) in [("decoding", &runner.decode), ("encoding", &runner.encode)] {
            let all = samples.sittings.len();
            let cold = samples.cold();
            let longest = samples.sittings.iter().map(|one| one.warm_up_ns).fold(0.0, f64::max);
            // A sample that was disturbed at the wrong moment is no compiler at work.
            if 2 * cold > all {
                names.push(format!("{} {word} (after {:.1} s)", named(runner), longest / 1e9));
            }
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Not settled when the clock started, in most of their processes (the last three \
             samples of the warm-up were not within 5% of the three before): {}.",
            list(&names)
        )
    })
}

/// How many samples lie far from the rest.
fn outliers(runners: &[Runner]) -> Option<String> {
    let mut all = 0;
    let mut far: Vec<(usize, String)> = Vec::new();
    for runner in runners {
        for (word, samples) in [("decoding", &runner.decode), ("encoding", &runner.encode)] {
            all += samples.per_pass.len();
            let count = crate::stats::outliers(&samples.per_pass).len();
            if count > 0 {
                far.push((count, format!("{} {word} {count}", named(runner))));
            }
        }
    }
    let sum: usize = far.iter().map(|(count, _)| count).sum();
    far.sort_by_key(|one| std::cmp::Reverse(one.0));
    let names: Vec<String> = far.into_iter().map(|(_, name)| name).collect();
    (sum > 0).then(|| {
        format!(
            "{sum} of {all} samples are outliers, more than three times the distance of the \
             quartiles beyond them; they count: {}.",
            list(&names)
        )
    })
}

fn named(runner: &Runner) -> String {
    format!("{} ({})", runner.name, runner.group.0.name())
}

/// The first few names, and how many more.
fn list(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
