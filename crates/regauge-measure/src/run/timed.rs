//! Gets samples from checked contenders: which documents, how much time, on which core; and writes
//! the notes about it.

use std::time::Duration;

use crate::model::error::Error;
use crate::model::report::Rounds;
use crate::model::stats;
use crate::plan::folders::subfolder;
use crate::plan::options::{Options, Progress, When};
use crate::plan::order;
use crate::plan::reference::{References, Shape};
use crate::run::check::{self, Compared, Outcome};
use crate::run::checks::{Check, right};
use crate::run::pin::Core;
use crate::run::sampler::{self, Guess, Plan, Processes, Runner};

/// Names in a note, at most.
const NAMES_MAX: usize = 8;

/// The results of the timing.
pub(crate) struct Timed {
    pub runners: Vec<Runner>,
    pub rounds: Rounds,
    pub probes_ns: Vec<f64>,
    /// The best of the probes.
    pub best_probe: f64,
    /// Documents that were timed, and every which.
    pub documents: u64,
    pub every: u64,
    pub notes: Vec<String>,
}

/// Times all contenders that were right, until so long after the run began.
pub(crate) fn all(
    check: &Check,
    outcomes: &mut [Outcome],
    references: &References,
    until: Duration,
    progress: &mut dyn Progress,
) -> Result<Timed, Error> {
    let options = check.options;
    let began = check.began;
    let (every, slice) = slice(check, outcomes, references, until.saturating_sub(began.elapsed()))?;
    let mut notes: Vec<String> = not_reached(check, outcomes).into_iter().collect();
    let nobody = options.safety == When::Only;
    let core = if options.pin && !nobody { Core::quietest(options.probe) } else { None };
    let mut world = Processes {
        launches: check.launches,
        loads: vec![None; check.contenders.len()],
        began,
        core,
        probe: options.probe,
        stop: options.stop.as_deref(),
    };
    let mut runners = Vec::new();
    for (index, outcome) in outcomes.iter_mut().enumerate() {
        let Outcome::Compared(compared) = outcome else { continue };
        if nobody || !compared.wrong.is_empty() {
            continue;
        }
        let part = slice.documents as f64 / references.documents.max(1) as f64;
        runners.push(runner(check, index, compared, (&slice, part), &mut world)?);
    }
    let plan = Plan {
        rounds: options.rounds,
        until,
        sample_min: options.sample_min,
        warm: options.warm,
        warm_compiler: options.warm_compiler,
        patience: options.patience,
        seed: options.seed,
    };
    let ran = sampler::run(&mut runners, &mut world, &plan, progress);
    notes.extend(pinned(&runners, world.core.as_ref(), options).filter(|_| !nobody));
    notes.extend(unsettled(&runners));
    notes.extend(outliers(&runners));
    Ok(Timed {
        runners,
        rounds: Rounds { decode: ran.decode, encode: ran.encode },
        probes_ns: ran.probes_ns,
        best_probe: ran.best,
        documents: slice.documents,
        every,
        notes,
    })
}

/// Prepares one contender for the race, with the process in which its check was made.
fn runner(
    check: &Check,
    index: usize,
    compared: &mut Compared,
    (slice, part): (&References, f64),
    world: &mut Processes,
) -> Result<Runner, Error> {
    let (contender, options) = (&check.contenders[index], check.options);
    let guess = Guess {
        decode_ns: compared.checked.decode_ns as f64 * part,
        encode_ns: compared.checked.encode_ns as f64 * part,
        around: compared.probes_ns,
    };
    let group = (contender.runtime, contender.gives);
    let mut runner = Runner::new(index, contender.name.clone(), group, guess);
    runner.is_usual = contender.is_usual;
    runner.is_published = order::is_published(contender, &options.published);
    runner.set_compiles(check.compiles(contender));
    runner.cold_start_ns.push(compared.start.as_nanos() as f64);
    runner.cold_decode_ns.push(compared.first_decode_ns * part);
    let [decode_ns, encode_ns] = compared.fastest_ns;
    runner.decode.fastest = decode_ns * part;
    runner.encode.fastest = encode_ns * part;
    if let Some(first) = &compared.first {
        runner.has_begun(first);
    }
    // What a runtime has to write itself is written now, by a process that is not timed.
    let load = match contender.made_from_json && part < 1.0 {
        false if contender.made_from_json => Ok(compared.load.clone()),
        _ => {
            let folder = subfolder(check.work, &format!("time-{index}"))?;
            let patience = check.options.patience;
            check::load_for(contender, &check.launches[index], slice, &folder, patience)
        }
    };
    match load {
        Ok(load) => world.loads[index] = Some(load),
        Err(trouble) => runner.trouble = Some(trouble),
    }
    if let Some(live) = compared.live.take()
        && let Some((subject, pinned)) = world.take(index, live)
    {
        runner.pinned = pinned;
        runner.goes_on(subject, compared.memory);
    }
    Ok(runner)
}

/// Chooses what is timed: all documents, or every n-th of a record stream, the same for all, so
/// that three laps of a few samples fit into the rest of the budget.
fn slice(
    check: &Check,
    outcomes: &[Outcome],
    references: &References,
    left: Duration,
) -> Result<(u64, References), Error> {
    // Warming up, a few samples; more for those that stay.
    const PASSES: f64 = 9.0;
    const DOCUMENTS_MIN: u64 = 60;
    let pass_s: f64 = right(outcomes)
        .map(|(_, one)| (one.checked.decode_ns + one.checked.encode_ns) as f64 / 1e9)
        .sum();
    let wanted = (pass_s * PASSES / left.as_secs_f64().max(1.0)).ceil() as u64;
    let most = (references.documents / DOCUMENTS_MIN).max(1);
    let is_whole = check.options.rounds.is_some() || check.options.sample_at_once;
    let every =
        if is_whole || references.shape == Shape::Document { 1 } else { wanted.clamp(1, most) };
    if references.shape == Shape::Document {
        return Ok((1, references.clone()));
    }
    let folder = subfolder(check.work, "timed")?;
    Ok((every, references.slice(every, &folder)?))
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
        true => "the run was interrupted",
        false => "the budget ran out (a longer --budget includes them)",
    };
    (!names.is_empty()).then(|| format!("Not timed, because {why}: {}.", list(&names)))
}

fn pinned(runners: &[Runner], core: Option<&Core>, options: &Options) -> Option<String> {
    let core = match core {
        Some(core) => core.number(),
        None if options.pin => {
            return Some(
                "Contenders were not pinned to a core: there is only one, or the system does not \
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
        [] => ".".to_owned(),
        names => format!(
            "; only the working thread of those with threads that compile and collect garbage: {}.",
            list(names)
        ),
    };
    Some(format!("Contenders were pinned to core {core}, the one with the least noise{free}"))
}

/// Names contenders that were still compiling when the last samples were taken, and that stayed in
/// the race to the end.
fn unsettled(runners: &[Runner]) -> Option<String> {
    let mut names = Vec::new();
    for runner in runners.iter().filter(|one| one.compiles() && one.dropped.is_none()) {
        for (word, samples) in [("decoding", &runner.decode), ("encoding", &runner.encode)] {
            if samples.is_cold() {
                names.push(format!("{} {word}", named(runner)));
            }
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Still warming up when the last samples were taken (the last three warm-up samples were \
             not within 5% of the three before): {}.",
            list(&names)
        )
    })
}

/// Says how many samples are outliers.
fn outliers(runners: &[Runner]) -> Option<String> {
    let mut all = 0;
    let mut far: Vec<(usize, String)> = Vec::new();
    for runner in runners {
        for (word, samples) in [("decoding", &runner.decode), ("encoding", &runner.encode)] {
            all += samples.per_pass.len();
            let count = stats::outliers(&samples.per_pass).len();
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
            "{sum} of {all} samples are outliers, more than three interquartile ranges beyond the \
             quartiles; they are included: {}.",
            list(&names)
        )
    })
}

fn named(runner: &Runner) -> String {
    format!("{} ({})", runner.name, runner.group.0.name())
}

/// Returns the first few names, and how many more.
pub(crate) fn list(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_MAX)].join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
