//! A measurement from beginning to end: references, checks, rounds, report.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::assets;
use crate::check::{self, Compared, Outcome};
use crate::compression;
use crate::contender::{self, Contender};
use crate::cost;
use crate::error::Error;
use crate::launch::{self, Translation};
use crate::machine::Machine;
use crate::noise;
use crate::options::{Options, Progress, Stage};
use crate::process::Launch;
use crate::reference::{self, Files, References, Shape};
use crate::report::{self, Input, Method, Missing, Reference, Report, Row};
use crate::runtime::{self, RunnerFile, Runtime};
use crate::safety;
use crate::sampler::Runner;
use crate::sift;
use crate::summary;
use crate::timed;
use crate::verdict;

/// The part of the budget that compression may take.
const COMPRESSION_SHARE: f64 = 0.05;
/// No check begins after this part of the budget: what is left is for the clock.
const CHECK_SHARE: f64 = 0.45;
/// The part of the budget that checks may take in any case, if as much is left for the clock: where
/// writing large documents in every format took longer than checks should begin.
const CHECK_LEAST: f64 = 0.2;
/// The part of the budget that one check may take: who takes longer could not be timed in what is
/// left. The least is two seconds.
const ONE_CHECK_SHARE: f64 = 0.12;

/// Measures, and gives the report. Contenders that are missing, broken or wrong are part of it.
///
/// # Errors
/// `Input` for data that cannot be measured, `Adapter` and `NoContender` for the choice of
/// contenders, `Io` for the work folder.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    let began = Instant::now();
    let machine = Machine::here();
    let files = Files::of(options)?;
    let work = work_dir(options)?;
    assets::unpack(work.path()).map_err(Error::io("write", work.path()))?;

    if options.rounds.is_none() {
        progress.left(options.budget);
    }
    progress.begin(Stage::References, 1);
    let whole = subfolder(work.path(), "whole")?;
    let mut references = References::write(&files, &whole)?;
    let runners = runtime::with(&options.runners)?;
    let mut contenders = chosen(options, &runners, &mut references)?;
    let mut gzip = gzip_all(&references)?;
    progress.step("");
    let (launches, translations) = launch::all(options, &runners, &mut contenders, work.path());

    let check = Check {
        contenders: &contenders,
        launches: &launches,
        translations: &translations,
        work: work.path(),
        options,
        began,
    };
    let mut outcomes = check.all(&references, &gzip, progress)?;
    if options.common
        && references.shape != Shape::Document
        && let Some((gone, note)) = sift::disputed(&check, &outcomes, &references, progress)?
    {
        references = references.without(&gone, &whole)?;
        references.notes.push(note);
        gzip = gzip_all(&references)?;
        // The second pass has a time of its own: nobody may be lost to the first.
        outcomes = Check { began: Instant::now(), ..check }.all(&references, &gzip, progress)?;
    }

    let tried = check.safety(&outcomes, began, progress)?;
    let budget = options.budget.mul_f64(COMPRESSION_SHARE);
    let stopped = || options.is_stopped() || options.safety == safety::When::Only;
    let compressions = compression::measure(&references, budget, options.seed, &stopped, progress)?;
    let timed = timed::all(&check, &outcomes, &references, began, progress)?;

    let report = Report {
        schema: report::SCHEMA.to_owned(),
        regauge: env!("CARGO_PKG_VERSION").to_owned(),
        command: options.command.clone(),
        input: Input {
            name: options.name.clone().unwrap_or_else(|| file_name(&options.input)),
            format: files.format_name(),
            bytes: files.bytes()?,
            documents: references.documents,
        },
        machine,
        method: Method {
            seed: options.seed,
            rounds: timed.rounds,
            sample_min_ns: u64::try_from(options.sample_min.as_nanos()).unwrap_or(u64::MAX),
            budget_s: options.budget.as_secs_f64(),
            took_s: began.elapsed().as_secs_f64(),
            timed_documents: timed.documents,
            every: timed.every,
        },
        references: report_references(&references, &gzip, compressions, &contenders, &outcomes),
        rows: Vec::new(),
        missing: Vec::new(),
        notes: references.notes.iter().cloned().chain(timed.notes).collect(),
        noise: noise::judge(timed.probes_ns, options.noise_limit, options.rank_anyway),
        costs: None,
        verdict: None,
        task: None,
        interrupted: options.is_stopped(),
    };
    let bundled = contender::bundled(&contenders);
    let names: Vec<(Runtime, String)> =
        contenders.iter().map(|one| (one.runtime, one.name.clone())).collect();
    let mut report = fill(report, contenders, outcomes, timed.runners, &references, options.seed);
    note_safety(&mut report, &names, tried);
    judge(&mut report, options, &bundled);
    Ok(report)
}

/// Puts what hostile documents did into the rows; what was not tried is noted.
fn note_safety(
    report: &mut Report,
    names: &[(Runtime, String)],
    tried: Vec<Option<safety::Found>>,
) {
    let mut no_time = 0;
    for ((runtime, name), found) in names.iter().zip(tried) {
        match found {
            None => {}
            Some(safety::Found::NoTime) => no_time += 1,
            Some(safety::Found::Failed(why)) => report.notes.push(format!(
                "{name} ({}) could not be given hostile documents: {why}",
                runtime.name()
            )),
            Some(safety::Found::Safety(safety)) => {
                let row = report
                    .rows
                    .iter_mut()
                    .find(|row| row.runtime == *runtime && row.contender == *name);
                if let Some(row) = row {
                    row.safety = Some(*safety);
                }
            }
        }
    }
    if no_time > 0 {
        report.notes.push(format!(
            "{no_time} contenders were not given hostile documents, for lack of time: the next run \
             goes on with them, and --safety all tries all."
        ));
    }
}

/// What the figures cost in use, and what to take.
fn judge(report: &mut Report, options: &Options, bundled: &[(Runtime, String)]) {
    let may_win = |row: &Row| verdict::refusal(report, row, options.allow).is_none();
    report.costs = Some(cost::costs(report, &options.assumed, &may_win));
    let bundled = |row: &Row| {
        bundled.iter().any(|(runtime, name)| *runtime == row.runtime && *name == row.contender)
    };
    // On a machine that is too noisy there is no winner to name.
    if !report.is_ranked() {
        if let Some(costs) = report.costs.as_mut() {
            costs.crossings.clear();
        }
        return;
    }
    report.verdict = Some(verdict::decide(report, &options.assumed, options.allow, &bundled));
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

pub(crate) fn work_dir(options: &Options) -> Result<tempfile::TempDir, Error> {
    let parent = options.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    tempfile::Builder::new()
        .prefix("regauge-measure-")
        .tempdir_in(&parent)
        .map_err(Error::io("make a work folder in", &parent))
}

pub(crate) fn subfolder(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    let folder = parent.join(name);
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    Ok(folder)
}

/// The contenders that can take part in this shape of data and that the user wants.
fn chosen(
    options: &Options,
    runners: &[RunnerFile],
    references: &mut References,
) -> Result<Vec<Contender>, Error> {
    let mut list = contender::with(runners);
    for path in &options.adapters {
        list.extend(Contender::from_file(path, runners)?);
    }
    let catalogue = references.shape == Shape::Catalogue;
    list.retain(|one| {
        let wire = if one.made_from_json { contender::Wire::Json } else { one.wire };
        (catalogue || !one.marc_only && one.gives != contender::Gives::Record)
            && references.of(wire).is_some()
    });
    if !options.take_part.is_empty() {
        list.retain(|one| takes_part(one, &options.take_part));
    }
    if !options.only.is_empty() {
        let known: Vec<String> = list.iter().map(|one| one.name.clone()).collect();
        list.retain(|one| options.only.iter().any(|part| is_named(one, part)));
        if list.is_empty() {
            return Err(Error::NoContender(format!(
                "no contender for this data is called {}; there are {}",
                options.only.join(" or "),
                known.join(", ")
            )));
        }
    }
    leave_out_slow(&mut list, options, references);
    leave_out_called(&mut list, references)?;
    let own = references.list.first().map(reference::Bytes::name);
    Ok(by_turns(list, own.as_deref()))
}

/// Puts contenders in the order of their checks: the runtimes by turns, so that what is not reached
/// is not the whole of a runtime; in each those of the data's own format first, slow ones last.
fn by_turns(mut list: Vec<Contender>, own: Option<&str>) -> Vec<Contender> {
    let is_own = |one: &Contender| one.made_from_json || Some(one.wire.name()) == own;
    list.sort_by_key(|one| (one.pace.is_some(), !is_own(one)));
    let mut turns: HashMap<Runtime, usize> = HashMap::new();
    let mut by_turn: Vec<(usize, Contender)> = Vec::new();
    for one in list {
        let turn = turns.entry(one.runtime).or_default();
        by_turn.push((*turn, one));
        *turn += 1;
    }
    by_turn.sort_by_key(|(turn, _)| *turn);
    by_turn.into_iter().map(|(_, one)| one).collect()
}

/// Leaves out the contenders whose check alone would take a large part of the budget, and says so.
/// Whoever names one gets it.
fn leave_out_slow(list: &mut Vec<Contender>, options: &Options, references: &mut References) {
    const PART: f64 = ONE_CHECK_SHARE;
    list.retain(|one| {
        let (Some(pace), Some(reference)) = (one.pace, references.of(one.wire)) else {
            return true;
        };
        let seconds = reference.bytes as f64 / pace as f64;
        let is_wanted =
            options.only.iter().any(|part| part.to_lowercase() == one.name.to_lowercase());
        if is_wanted || seconds <= options.budget.as_secs_f64() * PART {
            return true;
        }
        references.notes.push(format!(
            "{} ({}) was left out: it would take about {seconds:.0} s for each pass. --only \"{}\" \
             measures it all the same.",
            one.name,
            one.runtime.name(),
            one.name
        ));
        false
    });
}

/// Leaves out the contenders that would find names of classes in the data, and says so.
fn leave_out_called(list: &mut Vec<Contender>, references: &mut References) -> Result<(), Error> {
    let mut error = None;
    list.retain(|one| {
        let (Some(avoided), Some(reference)) = (&one.avoids, references.of(one.wire)) else {
            return true;
        };
        let bytes = match std::fs::read(&reference.path) {
            Ok(bytes) => bytes,
            Err(source) => {
                error.get_or_insert(Error::io("read", &reference.path)(source));
                return true;
            }
        };
        if memchr::memmem::find(&bytes, avoided.as_bytes()).is_none() {
            return true;
        }
        references.notes.push(format!(
            "{} ({}) was left out: the data has {avoided} in it, and it would take what follows for \
             the name of a class.",
            one.name,
            one.runtime.name()
        ));
        false
    });
    error.map_or(Ok(()), Err)
}

/// Whether `runtime/what it gives` or `runtime/name` is in the list. A user's own adapter is
/// wherever it is named.
fn takes_part(contender: &Contender, list: &[String]) -> bool {
    let is_one = |what: &str| {
        let name = format!("{}/{what}", contender.runtime.name());
        list.iter().any(|one| one.eq_ignore_ascii_case(&name))
    };
    matches!(contender.source, contender::Source::File(_))
        || is_one(contender.gives.name())
        || is_one(&contender.name)
}

fn is_named(contender: &Contender, part: &str) -> bool {
    let part = part.to_lowercase();
    contender.name.to_lowercase().contains(&part)
        || contender.library.to_lowercase() == part
        || contender.wire.name() == part
        || contender.runtime.name().to_lowercase() == part
        || contender.runtime.id() == part
}

/// The gzipped size of each reference, one thread each.
fn gzip_all(references: &References) -> Result<Vec<(String, u64)>, Error> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = references
            .list
            .iter()
            .map(|one| scope.spawn(|| Ok((one.name(), check::gzip_bytes(&one.path)?))))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// The gzipped size of one of them.
fn gzip_of(sizes: &[(String, u64)], name: &str) -> u64 {
    sizes.iter().find(|(one, _)| one == name).map_or(0, |(_, bytes)| *bytes)
}

/// Whether a check may begin so long after the run began and so long after the first check.
fn may_check(began: Duration, checking: Duration, budget: Duration) -> bool {
    began < budget.mul_f64(CHECK_SHARE)
        || (checking < budget.mul_f64(CHECK_LEAST) && began < budget.mul_f64(1.0 - CHECK_LEAST))
}

/// What every check needs.
pub(crate) struct Check<'c> {
    pub contenders: &'c [Contender],
    pub launches: &'c [Launch],
    pub translations: &'c [Option<Translation<'c>>],
    pub work: &'c Path,
    pub options: &'c Options,
    /// When the run began.
    pub began: Instant,
}

impl Check<'_> {
    /// How long one check may take.
    pub(crate) fn patience(&self) -> Duration {
        let share = self.options.budget.mul_f64(ONE_CHECK_SHARE).max(Duration::from_secs(2));
        match self.options.rounds {
            Some(_) => self.options.patience,
            None => self.options.patience.min(share),
        }
    }

    /// Whether another check may begin, so long after the first.
    fn has_time(&self, checking: Duration) -> bool {
        let (began, budget) = (self.began.elapsed(), self.options.budget);
        !self.options.is_stopped()
            && (self.options.rounds.is_some() || may_check(began, checking, budget))
    }

    /// Checks every contender, as many at a time as there are cores. Those for which there is no
    /// time are not reached.
    fn all(
        &self,
        references: &References,
        gzip: &[(String, u64)],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Outcome>, Error> {
        let everybody: Vec<usize> = (0..self.contenders.len()).collect();
        let checking = Instant::now();
        self.each(&everybody, Stage::Check, progress, &|index, folder| {
            if !self.has_time(checking.elapsed()) {
                return Outcome::NotReached;
            }
            // Here and not before: a short run translates only what it has time to check.
            if let Some(translation) = &self.translations[index]
                && let Err(hindrance) = translation.make()
            {
                return Outcome::hindered(&hindrance);
            }
            check::check(
                &self.contenders[index],
                &self.launches[index],
                references,
                &|name| gzip_of(gzip, name),
                folder,
                (self.patience(), self.options.patience),
            )
        })
    }

    /// Gives hostile documents to every contender that runs, as many at a time as there are
    /// cores. In the order of the contenders; nothing for those that do not run.
    fn safety(
        &self,
        outcomes: &[Outcome],
        began: Instant,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Option<safety::Found>>, Error> {
        let mut found = vec![None; outcomes.len()];
        if self.options.safety == safety::When::Off || self.options.is_stopped() {
            return Ok(found);
        }
        let hello = |index: usize| match &outcomes[index] {
            Outcome::Compared(compared) => Some(&compared.hello),
            Outcome::Failed { hello, .. } => hello.as_ref(),
            Outcome::Missing(_) | Outcome::NotReached => None,
        };
        let which: Vec<usize> = (0..outcomes.len())
            .filter(|index| hello(*index).is_some() && !self.contenders[*index].is_floor)
            .collect();
        let trial = safety::Trial {
            when: self.options.safety,
            deadline: self.options.safety.deadline(began, self.options.budget),
            cache: self.options.cache_dir.as_deref(),
            gadgets: self.work.join("payloads"),
            patience: self.options.patience,
        };
        let results = self.each(&which, Stage::Safety, progress, &|index, folder| {
            if self.options.is_stopped() {
                return safety::Found::NoTime;
            }
            let hello = hello(index).expect("those without were left out");
            trial.of(&self.contenders[index], &self.launches[index], hello, folder)
        })?;
        for (index, result) in which.into_iter().zip(results) {
            found[index] = Some(result);
        }
        Ok(found)
    }

    /// Does something for each of these contenders, in a folder of its own, on as many threads as
    /// there are cores. Gives the results in the order of `which`.
    pub(crate) fn each<T: Send>(
        &self,
        which: &[usize],
        stage: Stage,
        progress: &mut dyn Progress,
        work: &(dyn Fn(usize, &Path) -> T + Sync),
    ) -> Result<Vec<T>, Error> {
        progress.begin(stage, which.len() as u64);
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let next = AtomicUsize::new(0);
        let results: Vec<Mutex<Option<T>>> = which.iter().map(|_| Mutex::new(None)).collect();
        let (sender, done) = channel();
        std::thread::scope(|scope| -> Result<(), Error> {
            for _ in 0..cores.min(which.len()) {
                let sender = sender.clone();
                let (next, results) = (&next, &results);
                scope.spawn(move || {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(&index) = which.get(place) else { return };
                        let name = format!("check-{index}");
                        let result = subfolder(self.work, &name).map(|folder| {
                            let value = work(index, &folder);
                            // Outputs are as large as the data: they go at once.
                            let _ = std::fs::remove_dir_all(&folder);
                            *results[place].lock().expect("no panic while locked") = Some(value);
                        });
                        if sender.send(result.map(|()| index)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for result in done {
                if self.options.rounds.is_none() {
                    progress.left(self.options.budget.saturating_sub(self.began.elapsed()));
                }
                progress.step(&self.contenders[result?].name);
            }
            Ok(())
        })?;
        Ok(results
            .into_iter()
            .map(|result| {
                result.into_inner().expect("no panic while locked").expect("every place was done")
            })
            .collect())
    }
}

/// Those that gave the right data.
pub(crate) fn right(outcomes: &[Outcome]) -> impl Iterator<Item = (usize, &Compared)> {
    outcomes.iter().enumerate().filter_map(|(index, outcome)| match outcome {
        Outcome::Compared(compared) if compared.wrong.is_empty() => Some((index, &**compared)),
        _ => None,
    })
}

/// The sizes: regauge's references, and those that a runtime wrote itself.
fn report_references(
    references: &References,
    gzip: &[(String, u64)],
    compressions: Vec<Vec<report::Compression>>,
    contenders: &[Contender],
    outcomes: &[Outcome],
) -> Vec<Reference> {
    let mut list: Vec<Reference> = references
        .list
        .iter()
        .zip(compressions)
        .map(|(one, compressions)| Reference {
            format: one.name(),
            bytes: one.bytes,
            gzip_bytes: gzip_of(gzip, &one.name()),
            written_by: "regauge".to_owned(),
            losses: one.losses.clone(),
            compressions,
        })
        .collect();
    for (contender, outcome) in contenders.iter().zip(outcomes) {
        if let Outcome::Compared(compared) = outcome
            && let Some((bytes, gzip_bytes)) = compared.own_reference
        {
            list.push(Reference {
                format: contender.wire.name().to_owned(),
                bytes,
                gzip_bytes,
                written_by: format!("{} ({})", contender.name, contender.runtime.name()),
                losses: Vec::new(),
                compressions: Vec::new(),
            });
        }
    }
    list
}

/// Puts the findings of checks and rounds into the report.
fn fill(
    mut report: Report,
    contenders: Vec<Contender>,
    outcomes: Vec<Outcome>,
    runners: Vec<Runner>,
    references: &References,
    seed: u64,
) -> Report {
    for (index, (contender, outcome)) in contenders.into_iter().zip(outcomes).enumerate() {
        let format = if contender.made_from_json {
            contender.wire.name().to_owned()
        } else {
            references
                .of(contender.wire)
                .map_or_else(|| contender.wire.name().to_owned(), reference::Bytes::name)
        };
        let mut row = Row {
            contender: contender.name.clone(),
            runtime: contender.runtime,
            runtime_version: String::new(),
            library: contender.library,
            version: String::new(),
            format,
            gives: contender.gives,
            unsafe_because: contender.unsafe_because,
            output_bytes: None,
            output_gzip_bytes: None,
            losses: Vec::new(),
            wrong: Vec::new(),
            wrong_documents: 0,
            failure: None,
            timing: None,
            is_floor: contender.is_floor,
            cold: None,
            safety: None,
        };
        match outcome {
            Outcome::NotReached => continue,
            Outcome::Missing(reason) => {
                report.missing.push(Missing {
                    contender: contender.name,
                    runtime: contender.runtime,
                    install: contender.install,
                    reason,
                });
                continue;
            }
            Outcome::Failed { hello, why } => {
                if let Some(hello) = hello {
                    (row.runtime_version, row.version) = (hello.runtime, hello.version);
                }
                row.failure = Some(why);
            }
            Outcome::Compared(compared) => {
                row.runtime_version = compared.hello.runtime;
                row.version = compared.hello.version;
                row.output_bytes = Some(compared.output_bytes);
                row.output_gzip_bytes = Some(compared.output_gzip_bytes);
                row.losses = compared.losses;
                row.wrong = compared.wrong;
                row.wrong_documents = compared.wrong_documents;
                if let Some(runner) = runners.iter().find(|runner| runner.index == index) {
                    row.timing = summary::timing(runner, seed);
                    row.cold = summary::cold(runner, seed);
                    row.failure = match (&runner.trouble, runner.too_slow) {
                        (Some(trouble), _) => Some(trouble.to_string()),
                        (None, Some(needed)) => Some(timed::too_slow(needed)),
                        (None, None) => {
                            row.timing.is_none().then(|| "was not reached before the end".into())
                        }
                    };
                }
            }
        }
        report.rows.push(row);
    }
    summary::rank(&mut report, seed);
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_have_a_part_of_the_budget_whatever_came_before_them() {
        let budget = Duration::from_secs(20);
        let may = |began: u64, checking: u64| {
            let second = Duration::from_secs;
            may_check(second(began), second(checking), budget)
        };
        assert!(may(0, 0) && may(8, 8) && !may(9, 9), "nothing took long before");
        assert!(may(10, 0) && may(13, 3) && !may(14, 4), "something did");
        assert!(!may(16, 0), "nothing would be left for the clock");
    }
}
