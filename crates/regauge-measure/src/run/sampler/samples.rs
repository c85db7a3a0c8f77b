//! Keeps the samples of one kind of work, and decides which of them count.

use crate::model::noise;
use crate::model::protocol::Sampled;
use crate::model::report::Sitting;
use crate::model::stats::{self, List};

use super::warm;

/// Fewer quiet samples than this, and all count: too few would be chance.
const QUIET_MIN: usize = 2;
/// A pass that takes at most this many times as long as the fastest keeps the pace.
const OFF_PACE: f64 = 1.25;
/// A lap of compiled code whose median is more than this many times that of the fastest lap was not warm: its compiler
/// had not finished, although the samples before it agreed.
const NOT_WARM: f64 = 1.5;

/// Samples of decoding or of encoding, in the order they were taken.
#[derive(Debug)]
pub(crate) struct Samples {
    /// Whether their runtime compiles while it runs.
    pub compiles: bool,
    /// The fastest pass so far, also while warming up, in nanoseconds; infinite without one.
    pub fastest: f64,
    pub iterations: u64,
    pub taken: Vec<Sampled>,
    /// Nanoseconds of one pass, sample by sample.
    pub per_pass: Vec<f64>,
    /// The probes before and after each.
    pub around: Vec<[f64; 2]>,
    /// Passes in each.
    passes: Vec<u64>,
    pub sittings: Vec<Sitting>,
    pub(super) watched_gc_share: Option<f64>,
}

impl Default for Samples {
    fn default() -> Samples {
        Samples {
            compiles: false,
            fastest: f64::INFINITY,
            iterations: 0,
            taken: Vec::new(),
            per_pass: Vec::new(),
            around: Vec::new(),
            passes: Vec::new(),
            sittings: Vec::new(),
            watched_gc_share: None,
        }
    }
}

impl Samples {
    /// Returns whether the last passes are about as fast as the fastest. A runtime may discard
    /// compiled code when it meets something new, and then stays slow for a while.
    pub(super) fn is_at_pace(&self, per_pass: &[f64]) -> bool {
        let last = &per_pass[per_pass.len().saturating_sub(warm::WINDOW)..];
        !self.compiles || last.is_empty() || stats::median(last) <= self.fastest * OFF_PACE
    }

    pub(super) fn push(&mut self, sampled: Sampled, around: [f64; 2]) {
        let pass_ns = sampled.ns as f64 / self.iterations as f64;
        self.fastest = self.fastest.min(pass_ns);
        self.per_pass.push(pass_ns);
        self.around.push(around);
        self.taken.push(sampled);
        self.passes.push(self.iterations);
        if let Some(sitting) = self.sittings.last_mut() {
            sitting.samples += 1;
        }
    }

    /// Returns how many processes gave samples that count.
    pub(crate) fn processes(&self) -> usize {
        let mut processes: Vec<u64> =
            self.seated().filter(|(_, counts)| *counts).map(|(seat, _)| seat.process).collect();
        processes.dedup();
        processes.len()
    }

    /// Returns how many laps gave samples.
    pub(crate) fn laps(&self) -> usize {
        self.seated().count()
    }

    /// Returns the sittings with samples, and whether these count. They do not if their process went
    /// on compiling and gave later samples, if it was cold and another process was warm, or if they are far slower than
    /// those of another lap of compiled code.
    fn seated(&self) -> impl Iterator<Item = (&Sitting, bool)> {
        let seats: Vec<&Sitting> =
            self.sittings.iter().filter(|sitting| sitting.samples > 0).collect();
        let is_stale = |place: usize| {
            let mut later = seats[place + 1..].iter();
            let (process, settled) = (seats[place].process, seats[place].settled);
            settled != Some(true) && later.any(|one| one.process == process)
        };
        let fresh: Vec<bool> = (0..seats.len()).map(|place| !is_stale(place)).collect();
        let is_warm =
            |(sitting, fresh): (&&Sitting, &bool)| *fresh && sitting.settled != Some(false);
        let is_any_warm = self.compiles && seats.iter().zip(&fresh).any(is_warm);
        let mut first = 0;
        let medians = seats.iter().map(|sitting| {
            let end = first + sitting.samples as usize;
            stats::median(&self.per_pass[std::mem::replace(&mut first, end)..end])
        });
        let seats: Vec<(&Sitting, bool, f64)> = seats
            .iter()
            .zip(fresh)
            .zip(medians)
            .map(|((sitting, fresh), median)| {
                (*sitting, fresh && !(is_any_warm && sitting.settled == Some(false)), median)
            })
            .collect();
        let counted = seats.iter().filter(|(_, counts, _)| *counts);
        let best = counted.map(|(_, _, median)| *median).fold(f64::INFINITY, f64::min);
        let compiles = self.compiles;
        seats.into_iter().map(move |(sitting, counts, median)| {
            (sitting, counts && !(compiles && median > best * NOT_WARM))
        })
    }

    /// Returns which samples count for nothing, from 0: those of processes that were not warm, and,
    /// where enough were quiet, those that were not.
    pub(crate) fn left_out(&self, best_probe: f64) -> Vec<u64> {
        let mut counts: Vec<bool> = Vec::with_capacity(self.per_pass.len());
        for (sitting, counted) in self.seated() {
            counts.extend((0..sitting.samples).map(|_| counted));
        }
        let is_quiet = |place: usize| noise::is_quiet(self.around[place], best_probe);
        let quiet = (0..counts.len()).filter(|place| counts[*place] && is_quiet(*place)).count();
        (0..counts.len())
            .filter(|place| !counts[*place] || (quiet >= QUIET_MIN && !is_quiet(*place)))
            .map(|place| place as u64)
            .collect()
    }

    /// Returns the share of the samples that were quiet.
    pub(crate) fn quiet_share(&self, best_probe: f64) -> Option<f64> {
        let quiet = self.around.iter().filter(|around| noise::is_quiet(**around, best_probe));
        (!self.around.is_empty()).then(|| quiet.count() as f64 / self.around.len() as f64)
    }

    /// Returns the samples that count, process by process.
    pub(crate) fn list(&self, best_probe: f64, spread: f64) -> List {
        kept(&self.per_pass, &self.sittings, &self.left_out(best_probe), spread)
    }

    /// Returns the processor time of each sample's pass, if every sample reports it.
    pub(crate) fn processor_time(&self) -> Option<Vec<f64>> {
        let each = self.taken.iter().zip(&self.passes);
        each.map(|(sample, passes)| Some(sample.cpu_ns? as f64 / *passes as f64)).collect()
    }

    /// Returns the sum of a figure over all samples, where every sample tells it.
    fn sum(&self, figure: impl Fn(&Sampled) -> Option<u64>) -> Option<f64> {
        let sum: Option<u64> = self.taken.iter().map(figure).sum();
        sum.filter(|_| !self.taken.is_empty()).map(|sum| sum as f64)
    }

    fn share(&self, figure: impl Fn(&Sampled) -> Option<u64>) -> Option<f64> {
        let clock = self.taken.iter().map(|sample| sample.ns).sum::<u64>();
        self.sum(figure).filter(|_| clock > 0).map(|sum| sum / clock as f64)
    }

    fn per_pass_of(&self, figure: impl Fn(&Sampled) -> Option<u64>) -> Option<f64> {
        self.sum(figure).map(|sum| sum / self.passes.iter().sum::<u64>() as f64)
    }

    /// Returns whether it still compiled when the samples that count were taken.
    pub(crate) fn is_cold(&self) -> bool {
        let last = self.sittings.iter().rev().find(|sitting| sitting.samples > 0);
        last.is_some_and(|sitting| sitting.settled == Some(false))
    }

    /// Returns processor time divided by wall-clock time.
    pub(crate) fn cpu_share(&self) -> Option<f64> {
        self.share(|sample| sample.cpu_ns)
    }

    /// Returns the collector's part, 0 to 1.
    pub(crate) fn gc_share(&self) -> Option<f64> {
        self.share(|sample| sample.gc_ns).or(self.watched_gc_share)
    }

    /// Collections in one pass.
    pub(crate) fn gc_count(&self) -> Option<f64> {
        self.per_pass_of(|sample| sample.gc_count)
    }

    /// Objects allocated in one pass.
    pub(crate) fn allocations(&self) -> Option<f64> {
        self.per_pass_of(|sample| sample.allocations)
    }
}

/// Returns the samples that count, process by process.
pub(crate) fn kept(samples: &[f64], sittings: &[Sitting], out: &[u64], spread: f64) -> List {
    let mut list = List { spread, ..List::default() };
    let mut last = None;
    let mut place = 0;
    for sitting in sittings {
        let end = place + sitting.samples;
        let before = list.samples.len();
        list.samples.extend(
            (place..end)
                .filter(|one| !out.contains(one))
                .filter_map(|one| samples.get(one as usize)),
        );
        place = end;
        let added = list.samples.len() - before;
        // Earlier versions did not number processes: there each sitting was one.
        match (sitting.process, list.sizes.last_mut()) {
            (1.., Some(size)) if last == Some(sitting.process) => *size += added,
            _ => list.sizes.push(added),
        }
        last = Some(sitting.process);
    }
    if sittings.is_empty() {
        list.samples = samples.to_vec();
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(ns: u64) -> Sampled {
        Sampled { ns, cpu_ns: Some(ns / 2), gc_ns: None, gc_count: None, allocations: None }
    }

    /// A process, whether it has settled, and its samples with their probes.
    type Seat<'a> = (u64, Option<bool>, &'a [(u64, f64)]);

    /// Sittings of a process each, or of the process named.
    fn samples(sittings: &[Seat<'_>]) -> Samples {
        let mut samples = Samples { iterations: 1, ..Samples::default() };
        for (process, settled, list) in sittings {
            samples.sittings.push(Sitting {
                samples: 0,
                process: *process,
                warm_up_samples: 0,
                warm_up_ns: 0.0,
                settled: *settled,
            });
            for (ns, probe) in *list {
                samples.push(sampled(*ns), [*probe, 100.0]);
            }
        }
        samples
    }

    #[test]
    fn what_was_not_quiet_is_kept_and_does_not_count() {
        let samples = samples(&[
            (1, None, &[(10, 100.0), (19, 150.0), (11, 101.0)]),
            (2, None, &[(20, 150.0), (12, 107.0)]),
        ]);
        assert_eq!(samples.left_out(100.0), [1, 3]);
        assert_eq!(samples.quiet_share(100.0), Some(0.6));
        let list = samples.list(100.0, 0.02);
        assert_eq!((list.samples, list.sizes), (vec![10.0, 11.0, 12.0], vec![2, 1]));
        assert_eq!(samples.per_pass.len(), 5);
        assert_eq!(samples.processes(), 2);
    }

    #[test]
    fn where_hardly_any_is_quiet_all_count() {
        let samples = samples(&[(1, None, &[(10, 150.0), (19, 150.0), (11, 101.0)])]);
        assert!(samples.left_out(100.0).is_empty());
    }

    #[test]
    fn a_process_that_stayed_cold_does_not_count_beside_a_warm_one() {
        let seats: [Seat<'_>; 2] =
            [(1, Some(false), &[(50, 100.0), (40, 100.0)]), (2, Some(true), &[(10, 100.0)])];
        let mut of_a_compiler = samples(&seats);
        of_a_compiler.compiles = true;
        assert_eq!((of_a_compiler.left_out(100.0), of_a_compiler.processes()), (vec![0, 1], 1));
        assert_eq!(of_a_compiler.laps(), 2);
        let alone = Samples { compiles: true, ..samples(&seats[..1]) };
        assert!(alone.left_out(100.0).is_empty());
        // What is left out as an earlier lap of its process does not make another one cold.
        let twice = [(1, None, &[(50, 100.0)][..]), (1, Some(false), &[(40, 100.0)])];
        let twice = Samples { compiles: true, ..samples(&twice) };
        assert_eq!((twice.left_out(100.0), twice.processes()), (vec![0], 1));
        // An interpreter that did not settle was disturbed.
        assert!(samples(&seats).left_out(100.0).is_empty());
    }

    #[test]
    fn compiled_code_that_was_faster_before_is_off_its_pace() {
        let mut samples = Samples { compiles: true, ..Samples::default() };
        assert!(samples.is_at_pace(&[]) && samples.is_at_pace(&[700.0; 6]));
        samples.fastest = 100.0;
        assert!(samples.is_at_pace(&[700.0, 700.0, 700.0, 120.0, 700.0, 120.0]));
        assert!(!samples.is_at_pace(&[120.0, 120.0, 120.0, 130.0, 130.0, 130.0]));
        samples.compiles = false;
        assert!(samples.is_at_pace(&[700.0; 6]));
    }

    #[test]
    fn a_lap_that_is_far_slower_than_another_was_not_warm() {
        let seats: [Seat<'_>; 3] = [
            (1, Some(true), &[(20, 100.0), (12, 100.0), (40, 100.0)]),
            (2, Some(true), &[(10, 100.0), (31, 100.0), (11, 100.0)]),
            (3, Some(true), &[(16, 100.0), (16, 100.0)]),
        ];
        let compiled = Samples { compiles: true, ..samples(&seats) };
        assert_eq!((compiled.left_out(100.0), compiled.processes()), (vec![0, 1, 2], 2));
        assert!(samples(&seats).left_out(100.0).is_empty(), "an interpreter was disturbed");
        // One that did not settle sets no pace for others.
        let seats: [Seat<'_>; 2] =
            [(1, Some(false), &[(5, 100.0)]), (2, Some(true), &[(10, 100.0)])];
        let compiled = Samples { compiles: true, ..samples(&seats) };
        assert_eq!(compiled.left_out(100.0), [0]);
    }

    #[test]
    fn of_a_process_that_compiled_on_the_later_samples_count() {
        let samples = samples(&[
            (1, Some(false), &[(50, 100.0), (40, 100.0)]),
            (1, Some(true), &[(10, 100.0), (11, 100.0)]),
            (1, Some(true), &[(10, 100.0)]),
            (2, Some(true), &[(12, 100.0)]),
        ]);
        assert_eq!(samples.left_out(100.0), [0, 1]);
        let list = samples.list(100.0, 0.02);
        assert_eq!((list.samples, list.sizes), (vec![10.0, 11.0, 10.0, 12.0], vec![3, 1]));
        assert_eq!(samples.processes(), 2);
    }
}
