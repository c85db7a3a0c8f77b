//! Checks every contender, as many at a time as there are cores, and within the budget.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::model::error::Error;
use crate::model::machine;
use crate::model::runtime::{RunnerFile, Runtime};
use crate::plan::contender::{Contender, Source};
use crate::plan::folders::subfolder;
use crate::plan::launch::{Launch, Translation};
use crate::plan::options::{Options, Progress, Stage, When};
use crate::plan::order;
use crate::plan::reference::References;
use crate::run::check::{self, Compared, Outcome, Terms};
use crate::run::compression::Outputs;
use crate::run::gzip::gzip_of;
use crate::run::process::{Process, Trouble};
use crate::run::safety;

/// The part of the budget that checks may take in any case, if as much is left for the clock: where
/// writing large documents in every format took longer than checks should begin.
const CHECK_LEAST: f64 = 0.2;
/// Checks of libraries that are not usual begin in this part of that time; in a quick look, in that.
const NOT_USUAL_PART: f64 = 0.9;
const NOT_USUAL_PART_QUICK: f64 = 0.7;
/// Checks of the published rows of a task may begin later than others.
const PUBLISHED_PART: f64 = 1.3;
/// No check goes on so much longer than the last may begin, as a part of the budget.
const CHECK_LAST: f64 = 0.12;
/// Processes stay alive after their check while the machine has so much memory left.
const ROOM: u64 = 1 << 30;
/// Those of a runtime that compiles, while this part of the memory is left: by default, Java's heap
/// grows to a quarter, and there are several checks at a time.
const ROOM_SHARE: f64 = 0.5;
/// The part of the budget that one check may take: a library that takes longer could not be timed in
/// what is left. The least is two seconds.
const ONE_CHECK_SHARE: f64 = 0.12;
/// What one check of a published row may take, and how much longer it may go on: as `ONE_CHECK_SHARE`
/// and `CHECK_LAST` for the others.
const PUBLISHED_SHARE: f64 = 0.3;
const PUBLISHED_LAST: f64 = 0.25;

/// Returns whether a check may begin so long after the run began and so long after the first check.
fn may_check(began: Duration, checking: Duration, budget: Duration, share: f64) -> bool {
    began < budget.mul_f64(share)
        || (checking < budget.mul_f64(CHECK_LEAST) && began < budget.mul_f64(1.0 - CHECK_LEAST))
}

/// The part of the budget in which libraries that were not reached are looked for, and the least.
const SETTLE_SHARE: f64 = 0.05;
const SETTLE_LEAST: Duration = Duration::from_secs(2);

/// What every check needs.
pub(crate) struct Check<'c> {
    pub contenders: &'c [Contender],
    pub launches: &'c [Launch],
    pub translations: &'c [Option<Translation<'c>>],
    pub work: &'c Path,
    pub options: &'c Options,
    pub runners: &'c [RunnerFile],
    /// When the run began.
    pub began: Instant,
    /// The compressed sizes of the contenders' outputs.
    pub outputs: &'c Outputs,
    /// The libraries that are not installed, as far as is known.
    pub absent: &'c Absent,
}

/// Libraries that are not installed, and why not. Contenders that are installed by the same command share one
/// try.
#[derive(Debug, Default)]
pub(crate) struct Absent(Mutex<HashMap<Key, String>>);

/// A runtime, a library and how to install it.
type Key = (Runtime, String, String);

impl Absent {
    /// Returns what identifies the installation of a contender; nothing for the user's own, which may need
    /// anything, and for one that does without its library.
    fn key(contender: &Contender) -> Option<Key> {
        let is_carried = matches!(contender.source, Source::Carried(_));
        let key = || (contender.runtime, contender.library.clone(), contender.install.clone());
        (is_carried && contender.stand_in.is_none()).then(key)
    }

    fn note(&self, contender: &Contender, outcome: &Outcome) {
        if let (Outcome::Missing(why), Some(key)) = (outcome, Absent::key(contender)) {
            self.0.lock().expect("no panic while locked").insert(key, why.clone());
        }
    }

    fn of(&self, contender: &Contender) -> Option<String> {
        let key = Absent::key(contender)?;
        self.0.lock().expect("no panic while locked").get(&key).cloned()
    }
}

impl Check<'_> {
    /// Returns how long a check that begins now may take. A published row of a task gets more,
    /// because the task is about it.
    pub(crate) fn patience(&self, contender: &Contender) -> Duration {
        let budget = self.options.budget;
        let (share, last) = match order::is_published(contender, &self.options.published) {
            true => (PUBLISHED_SHARE, PUBLISHED_LAST),
            false => (ONE_CHECK_SHARE, CHECK_LAST),
        };
        let share = budget.mul_f64(share).max(Duration::from_secs(2));
        let end = budget.mul_f64(self.options.check_share + last);
        let end = end.saturating_sub(self.began.elapsed());
        match self.options.rounds {
            Some(_) => self.options.patience,
            None => self.options.patience.min(share).min(end.max(Duration::from_millis(300))),
        }
    }

    /// Returns whether the runtime of a contender compiles while it runs.
    pub(crate) fn compiles(&self, contender: &Contender) -> bool {
        self.runners.iter().any(|one| one.runtime == contender.runtime && one.compiles)
    }

    /// Returns whether the process of a check may wait for the race: all of them wait together.
    fn goes_on(&self, contender: &Contender) -> bool {
        let is_timed = self.options.safety != When::Only;
        let room = match machine::memory("MemTotal:") {
            Some(bytes) if self.compiles(contender) => ROOM.max((bytes as f64 * ROOM_SHARE) as u64),
            _ => ROOM,
        };
        is_timed && machine::memory("MemAvailable:").is_some_and(|bytes| bytes >= room)
    }

    /// Returns whether the check of a contender may begin, so long after the first.
    fn has_time(&self, contender: &Contender, checking: Duration) -> bool {
        let part = match contender {
            one if order::is_published(one, &self.options.published) => PUBLISHED_PART,
            one if one.is_usual => 1.0,
            _ if self.options.usual_first => NOT_USUAL_PART_QUICK,
            _ => NOT_USUAL_PART,
        };
        let share = self.options.check_share * part;
        let (began, budget) = (self.began.elapsed(), self.options.budget);
        !self.options.is_stopped()
            && (self.options.rounds.is_some() || may_check(began, checking, budget, share))
    }

    /// Checks every contender, as many at a time as there are cores. Those for which there is no
    /// time are not reached.
    pub(crate) fn all(
        &self,
        references: &References,
        gzip: &[(String, u64)],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Outcome>, Error> {
        let everybody: Vec<usize> = (0..self.contenders.len()).collect();
        let checking = Instant::now();
        self.each(&everybody, Stage::Check, progress, &|index, folder| {
            // What is not there is known without a try.
            if let Some(hindrance) = &self.contenders[index].hindrance {
                return Outcome::hindered(hindrance);
            }
            if let Some(why) = self.absent.of(&self.contenders[index]) {
                return Outcome::Missing(why);
            }
            if !self.has_time(&self.contenders[index], checking.elapsed()) {
                return Outcome::NotReached;
            }
            // Here and not before: a short run translates only what it has time to check.
            if let Some(translation) = &self.translations[index]
                && let Err(hindrance) = translation.make()
            {
                return Outcome::hindered(&hindrance);
            }
            let contender = &self.contenders[index];
            let Ok(own) = subfolder(self.work, &format!("own-{index}")) else {
                return Outcome::NotReached;
            };
            let terms = Terms {
                patience: self.patience(contender),
                most: self.options.patience,
                folder: &own,
                goes_on: self.goes_on(contender),
                compile: if self.compiles(contender) {
                    self.options.compile
                } else {
                    Duration::ZERO
                },
                sample_min: self.options.sample_at_once.then_some(self.options.sample_min),
                probe: self.options.probe,
                is_stopped: &|| self.options.is_stopped(),
                outputs: self.outputs,
            };
            let gzip = |name: &str| gzip_of(gzip, name);
            let launch = &self.launches[index];
            let outcome = check::check(contender, launch, references, &gzip, folder, &terms);
            self.absent.note(contender, &outcome);
            outcome
        })
    }

    /// Finds out which of the contenders that were not reached are not installed: those are missing, not late.
    /// One of each library is started, in a part of the budget; a runtime that starts slowly is left alone.
    pub(crate) fn settle(
        &self,
        outcomes: &mut [Outcome],
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let is_open = |outcomes: &[Outcome], index: usize| {
            matches!(outcomes[index], Outcome::NotReached)
                && self.absent.of(&self.contenders[index]).is_none()
        };
        let is_quick = |runtime: Runtime| {
            !self.runners.iter().any(|one| one.runtime == runtime && one.starts_slowly)
        };
        let reached = |outcomes: &[Outcome], key: &Key| {
            outcomes.iter().zip(self.contenders).any(|(outcome, one)| {
                !matches!(outcome, Outcome::NotReached) && Absent::key(one).as_ref() == Some(key)
            })
        };
        let mut keys: Vec<Key> = Vec::new();
        let mut due: Vec<usize> = Vec::new();
        for (index, contender) in self.contenders.iter().enumerate() {
            let Some(key) = Absent::key(contender) else { continue };
            let is_due = is_open(outcomes, index)
                && is_quick(contender.runtime)
                && self.translations[index].is_none()
                && !keys.contains(&key)
                && !reached(outcomes, &key);
            if is_due {
                keys.push(key);
                due.push(index);
            }
        }
        let began = Instant::now();
        let limit = self.options.budget.mul_f64(SETTLE_SHARE).max(SETTLE_LEAST);
        if !due.is_empty() {
            self.each(&due, Stage::Check, progress, &|index, _| {
                let left = limit.saturating_sub(began.elapsed());
                if left.is_zero() || self.options.is_stopped() {
                    return;
                }
                if let Err(Trouble::Missing(why) | Trouble::NoRuntime(why)) =
                    Process::start(&self.launches[index], left)
                {
                    self.absent.note(&self.contenders[index], &Outcome::Missing(why));
                }
            })?;
        }
        for (outcome, contender) in outcomes.iter_mut().zip(self.contenders) {
            if matches!(outcome, Outcome::NotReached)
                && let Some(why) = self.absent.of(contender)
            {
                *outcome = Outcome::Missing(why);
            }
        }
        Ok(())
    }

    /// Returns what hostile documents do to every contender that runs, in the order of the contenders:
    /// what is known, or what a trial of each shows, as many at a time as there are cores.
    pub(crate) fn safety(
        &self,
        outcomes: &[Outcome],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Option<safety::Found>>, Error> {
        let mut found = vec![None; outcomes.len()];
        let when = self.options.safety;
        if when == When::Off || self.options.is_stopped() {
            return Ok(found);
        }
        let hello = |index: usize| match &outcomes[index] {
            Outcome::Compared(compared) => Some(&compared.hello),
            Outcome::Failed { hello, .. } | Outcome::Late { hello, .. } => hello.as_ref(),
            Outcome::Missing(_) | Outcome::NotReached => None,
        };
        let which: Vec<usize> =
            (0..outcomes.len()).filter(|index| hello(*index).is_some()).collect();
        let trial = safety::Trial {
            cache: self.options.cache_dir.as_deref(),
            gadgets: self.work.join("payloads"),
            patience: self.options.patience,
        };
        let one = |index: usize| {
            let hello = hello(index).expect("those without were left out");
            (&self.contenders[index], &self.launches[index], hello)
        };
        if when == When::Auto {
            for index in which {
                let (contender, launch, hello) = one(index);
                found[index] = Some(trial.known(contender, launch, hello));
            }
            return Ok(found);
        }
        let results = self.each(&which, Stage::Safety, progress, &|index, folder| {
            if self.options.is_stopped() {
                return safety::Found::NotTested;
            }
            let (contender, launch, hello) = one(index);
            trial.of(contender, launch, hello, folder)
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

/// Returns the contenders that returned the right data.
pub(crate) fn right(outcomes: &[Outcome]) -> impl Iterator<Item = (usize, &Compared)> {
    outcomes.iter().enumerate().filter_map(|(index, outcome)| match outcome {
        Outcome::Compared(compared) if compared.wrong.is_empty() => Some((index, &**compared)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::assets;
    use crate::plan::contender;

    #[test]
    fn checks_have_a_part_of_the_budget_whatever_came_before_them() {
        let budget = Duration::from_secs(20);
        let may = |began: u64, checking: u64| {
            let second = Duration::from_secs;
            may_check(second(began), second(checking), budget, 0.5)
        };
        assert!(may(0, 0) && may(9, 9) && !may(10, 10), "nothing took long before");
        assert!(may(11, 0) && may(13, 3) && !may(14, 4), "something did");
        assert!(!may(16, 0), "nothing would be left for the clock");
    }

    /// An adapter with classes of its own runs where another of the same library does not.
    #[test]
    fn a_missing_library_says_nothing_about_its_stand_in() {
        let list = contender::all();
        let find = |name: &str| {
            let is_it = |one: &&Contender| one.name == name && one.runtime.id() == "ruby";
            list.iter().find(is_it).unwrap()
        };
        let absent = Absent::default();
        absent.note(find("ruby-marc (marcxml)"), &Outcome::Missing("no marc".into()));
        assert!(absent.of(find("ruby-marc (marcxml)")).is_some());
        assert_eq!(absent.of(find("ruby-marc (marshal)")), None);
        // Every adapter says so that has some.
        for one in &list {
            let Source::Carried(path) = one.source else { continue };
            let text = assets::FILES.iter().find(|(of, _)| *of == path).unwrap().1;
            assert_eq!(text.contains("stand-ins/"), one.stand_in.is_some(), "{path}");
        }
    }
}
