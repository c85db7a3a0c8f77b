//! Tests the sampler in a simulated world: contenders that take known times, and a clock that only
//! they advance.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::first::FirstSamples;
use super::*;
use crate::model::runtime::Runtime;
use crate::model::stats;
use crate::model::wire::Gives;
use crate::plan::options::Quiet;

const MS: u64 = 1_000_000;

/// How a fake contender behaves: nanoseconds of the n-th pass of its process, from 0.
type Pass = fn(lap: u64, pass: u64) -> u64;

#[derive(Clone)]
struct Fake {
    pass: Pass,
    start: u64,
    /// The lap in which it dies.
    dies: Option<u64>,
}

fn steady(pass: Pass) -> Fake {
    Fake { pass, start: 20 * MS, dies: None }
}

#[derive(Default)]
struct Shared {
    clock: Cell<u64>,
    alive: RefCell<Vec<usize>>,
    /// The requests to each contender, in order.
    log: RefCell<Vec<(usize, Op, u64)>>,
    stopped: Cell<bool>,
    stop_after: Cell<Option<usize>>,
}

impl Shared {
    fn spend(&self, ns: u64) {
        self.clock.set(self.clock.get() + ns);
    }
}

struct FakeWorld {
    shared: Rc<Shared>,
    fakes: Vec<Fake>,
    laps: Vec<u64>,
    most_alive: usize,
    probes: u64,
    /// Every which probe is disturbed.
    disturbed: Option<u64>,
}

struct FakeSubject {
    index: usize,
    fake: Fake,
    lap: u64,
    passes: u64,
    held: bool,
    shared: Rc<Shared>,
}

impl FakeWorld {
    fn new(fakes: &[Fake]) -> FakeWorld {
        FakeWorld {
            shared: Rc::default(),
            fakes: fakes.to_vec(),
            laps: vec![0; fakes.len()],
            most_alive: 0,
            probes: 0,
            disturbed: None,
        }
    }
}

impl World for FakeWorld {
    fn start(&mut self, index: usize, _: Duration) -> Result<Started, Trouble> {
        let fake = self.fakes[index].clone();
        self.shared.spend(fake.start);
        let lap = self.laps[index];
        self.laps[index] += 1;
        if fake.dies == Some(lap) {
            return Err(Trouble::Died("ended by itself".to_owned()));
        }
        self.shared.alive.borrow_mut().push(index);
        self.most_alive = self.most_alive.max(self.shared.alive.borrow().len());
        let start_ns = fake.start as f64;
        let shared = Rc::clone(&self.shared);
        let subject = Box::new(FakeSubject { index, fake, lap, passes: 0, held: false, shared });
        Ok(Started { subject, start_ns, idle: Some(1_000), pinned: true })
    }

    fn now(&self) -> Duration {
        Duration::from_nanos(self.shared.clock.get())
    }

    fn probe(&mut self) -> f64 {
        self.shared.spend(MS / 4);
        self.probes += 1;
        if self.disturbed.is_some_and(|every| self.probes.is_multiple_of(every)) {
            0.4e6
        } else {
            0.25e6
        }
    }

    fn is_stopped(&self) -> bool {
        self.shared.stopped.get()
    }
}

impl Subject for FakeSubject {
    fn sample(
        &mut self,
        op: Op,
        iterations: u64,
        gc: bool,
        _: Duration,
    ) -> Result<Sampled, Trouble> {
        assert!(op == Op::Decode || self.held, "nothing can be encoded before it was held");
        let ns = (self.fake.pass)(self.lap, self.passes) * iterations;
        self.passes += iterations;
        self.shared.spend(ns);
        self.shared.log.borrow_mut().push((self.index, op, iterations));
        if self.shared.stop_after.get() == Some(self.shared.log.borrow().len()) {
            self.shared.stopped.set(true);
        }
        Ok(Sampled {
            ns,
            cpu_ns: Some(ns / 2),
            gc_ns: gc.then_some(ns / 4),
            gc_count: Some(2 * iterations),
            allocations: Some(7 * iterations),
        })
    }

    fn hold(&mut self, _: Duration) -> Result<(), Trouble> {
        self.held = true;
        Ok(())
    }

    fn reload(&mut self, _: Duration) -> Result<(), Trouble> {
        self.held = false;
        Ok(())
    }

    fn peak(&self) -> Option<u64> {
        Some(5_000 + 100 * self.lap + u64::from(self.held))
    }
}

impl Drop for FakeSubject {
    fn drop(&mut self) {
        self.shared.alive.borrow_mut().retain(|one| *one != self.index);
    }
}

fn runners(fakes: &[Fake]) -> Vec<Runner> {
    let guess = |fake: &Fake| Guess {
        decode_ns: (fake.pass)(0, 0) as f64,
        encode_ns: (fake.pass)(0, 0) as f64,
        around: [1.0; 2],
    };
    let group = |index: usize| match index % 2 {
        0 => (Runtime::of("python"), Gives::Data),
        _ => (Runtime::of("ruby"), Gives::Data),
    };
    let new =
        |(index, fake)| Runner::new(index, format!("fake {index}"), group(index), guess(fake));
    fakes.iter().enumerate().map(new).collect()
}

fn plan(rounds: Option<u64>, seconds: u64) -> Plan {
    Plan {
        rounds,
        until: Duration::from_secs(seconds),
        sample_min: Duration::from_millis(10),
        warm: Duration::from_secs(2),
        warm_compiler: Duration::from_secs(2),
        patience: Duration::from_secs(60),
        seed: 1,
    }
}

fn run_of(fakes: &[Fake], plan: &Plan) -> (Vec<Runner>, Ran, FakeWorld) {
    let mut world = FakeWorld::new(fakes);
    let mut runners = runners(fakes);
    let ran = run(&mut runners, &mut world, plan, &mut Quiet);
    (runners, ran, world)
}

#[test]
fn each_gives_the_rounds_that_were_asked_for_in_processes_of_its_own() {
    let fakes = [steady(|_, _| MS), steady(|_, _| 3 * MS), steady(|_, _| 50 * MS)];
    let (runners, ran, world) = run_of(&fakes, &plan(Some(7), 1));
    assert_eq!((ran.decode, ran.encode), (7, 7));
    assert_eq!(world.laps, [2; 3]);
    for (runner, (iterations, pass)) in runners.iter().zip([(10, MS), (4, 3 * MS), (1, 50 * MS)]) {
        assert!(runner.trouble.is_none());
        for series in [&runner.decode, &runner.encode] {
            assert_eq!(series.iterations, iterations);
            assert_eq!(series.per_pass, vec![pass as f64; 7]);
            let sizes: Vec<u64> = series.sittings.iter().map(|one| one.samples).collect();
            assert_eq!(sizes, [4, 3]);
            assert!(series.sittings.iter().all(|one| one.settled == Some(true)));
            assert_eq!(series.cpu_share(), Some(0.5));
            assert_eq!(series.gc_share(), Some(0.25));
            assert_eq!((series.gc_count(), series.allocations()), (Some(2.0), Some(7.0)));
        }
        // The start of every process, and its first pass.
        assert_eq!(runner.cold_start_ns, [20e6; 2]);
        assert_eq!(runner.cold_decode_ns, [pass as f64; 2]);
        let memory = runner.memory.unwrap();
        assert_eq!((memory.idle, memory.decode_peak, memory.peak), (1_000, 5_100, 5_101));
    }
    // Two groups, one after the other: never were all three alive.
    assert_eq!(world.most_alive, 2);
    assert!(world.shared.alive.borrow().is_empty());
    // Before and after each sample: groups of two and of one, decoding and encoding, seven rounds.
    assert_eq!(ran.probes_ns.len(), (3 + 2) * 2 * 7);
}

#[test]
fn the_order_changes_from_round_to_round_and_comes_from_the_seed() {
    let fakes = vec![steady(|_, _| 20 * MS); 11];
    let order = |seed| {
        let (_, _, world) = run_of(&fakes, &Plan { seed, ..plan(Some(8), 1) });
        let log: Vec<usize> = world.shared.log.borrow().iter().map(|one| one.0).collect();
        log
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    // The first in each round of six: not always the same.
    let log = order(3);
    let last: Vec<usize> = log.chunks(6).map(|round| round[0]).collect();
    assert!(last.windows(2).any(|two| two[0] != two[1]));
}

#[test]
fn a_compiler_at_work_is_waited_for() {
    // 30 ms a pass, a tenth less with each, until it rests at 5 ms.
    let jit: Pass = |_, pass| (30.0e6 * 0.9_f64.powi(pass.min(17) as i32)).max(5e6) as u64;
    let (runners, _, _) = run_of(&[steady(jit)], &plan(Some(6), 1));
    let decode = &runners[0].decode;
    assert!(!decode.is_cold());
    assert!(decode.sittings.iter().all(|one| one.warm_up_samples >= 12), "{:?}", decode.sittings);
    assert!(decode.per_pass.iter().all(|ns| *ns < 5.5e6), "{:?}", decode.per_pass);
    assert_eq!(decode.iterations, 2, "short enough by now for two passes a sample");
    // The first pass in each process is kept apart.
    assert_eq!(runners[0].cold_decode_ns, [30e6; 2]);
}

#[test]
fn one_that_does_not_settle_is_timed_after_the_limit_and_says_so() {
    // It gets faster for ever, by a twelfth with each pass.
    let endless: Pass = |_, pass| (200e6 * 0.92_f64.powi(pass.min(90) as i32)) as u64;
    let limit = Duration::from_secs(1);
    let plan = Plan { warm: limit, ..plan(Some(3), 1) };
    let (runners, _, _) = run_of(&[steady(endless)], &plan);
    let sitting = runners[0].decode.sittings[0];
    assert_eq!(sitting.settled, Some(false));
    assert!(sitting.warm_up_ns >= 1e9);
    assert!(runners[0].decode.is_cold());
    assert_eq!(runners[0].decode.per_pass.len(), 3);
}

/// Returns a race of one group.
fn race_of(
    fakes: &[Fake],
    seconds: u64,
    change: fn(&mut [Runner]),
) -> (Vec<Runner>, Ran, FakeWorld) {
    let mut world = FakeWorld::new(fakes);
    let mut runners = runners(fakes);
    runners.iter_mut().for_each(|one| one.group = (Runtime::of("python"), Gives::Data));
    change(&mut runners);
    let ran = run(&mut runners, &mut world, &plan(None, seconds), &mut Quiet);
    let until = Duration::from_secs(seconds);
    assert!(world.now() <= until + Duration::from_millis(900), "{:?}", world.now());
    assert!(world.shared.alive.borrow().is_empty());
    (runners, ran, world)
}

#[test]
fn those_that_cannot_win_drop_out_after_one_lap() {
    let fakes = [
        steady(|lap, _| MS + lap * MS / 100),
        steady(|lap, _| MS + (lap + 1) % 3 * MS / 50),
        steady(|_, _| 6 * MS),
        steady(|_, _| 800 * MS),
    ];
    let (runners, _, world) = race_of(&fakes, 60, |_| ());
    assert_eq!(world.laps[2..], [1, 0], "the check of the last says enough");
    assert!(runners[2].dropped.is_some_and(|least| least > 5.0 && least < 6.0));
    assert!(runners[3].dropped.is_some_and(|least| least > 300.0));
    assert_eq!(runners[3].decode.taken.len(), 1, "that of its check");
    for runner in &runners[..2] {
        assert!(runner.dropped.is_none() && runner.decode.processes() >= 3);
    }
}

#[test]
fn a_race_ends_when_all_is_known_and_takes_more_processes_where_they_differ() {
    let even = [steady(|_, _| 10 * MS), steady(|_, _| 12 * MS)];
    let (_, _, world) = race_of(&even, 60, |_| ());
    assert_eq!(world.laps, [3, 3]);
    assert!(world.now() < Duration::from_secs(10));
    let uneven = [steady(|_, _| 10 * MS), steady(|lap, _| (11 + lap * 5 % 7) * MS)];
    let (_, _, world) = race_of(&uneven, 60, |_| ());
    assert!(world.laps[1] > 5, "{:?}", world.laps);
}

#[test]
fn a_race_ends_in_time_whatever_the_contenders_do() {
    let mut fakes = vec![steady(|_, _| 40 * MS); 12];
    fakes.push(steady(|_, pass| if pass == 0 { 10 * MS } else { 400 * MS }));
    for seconds in [1, 2, 5, 20] {
        race_of(&fakes, seconds, |_| ());
    }
}

#[test]
fn the_usual_ones_are_timed_first_where_time_is_short() {
    let fakes = vec![steady(|_, _| 30 * MS); 12];
    let (runners, ..) = race_of(&fakes, 3, |runners| {
        runners.iter_mut().skip(8).for_each(|one| one.is_usual = true);
    });
    let timed: Vec<bool> = runners.iter().map(Runner::has_samples).collect();
    assert!(timed[8..].iter().all(|one| *one), "{timed:?}");
    assert!(!timed[..8].iter().all(|one| *one), "{timed:?}");
}

#[test]
fn the_first_three_are_decided_before_the_others() {
    // All differ from process to process, so none is known well enough when the time is over.
    let mut fakes = vec![steady(|lap, _| (10 + lap * 5 % 7) * MS); 3];
    fakes.resize(8, steady(|lap, _| (15 + lap * 5 % 7) * MS));
    let (_, _, world) = race_of(&fakes, 12, |_| ());
    let (first, others) = world.laps.split_at(3);
    assert!(first.iter().all(|laps| *laps >= 4), "{:?}", world.laps);
    assert!(others.iter().all(|laps| *laps == 2), "{:?}", world.laps);
}

#[test]
fn a_runtime_that_compiles_keeps_its_processes() {
    // 30 ms a pass, a tenth less with each, until it rests at 5 ms.
    let jit: Pass = |_, pass| (30.0e6 * 0.9_f64.powi(pass.min(17) as i32)).max(5e6) as u64;
    let other: Pass = |_, pass| (33.0e6 * 0.9_f64.powi(pass.min(17) as i32)).max(5.5e6) as u64;
    let (runners, ran, world) = race_of(&[steady(jit), steady(other)], 60, |runners| {
        runners.iter_mut().for_each(|one| one.set_compiles(true));
    });
    assert_eq!(world.laps, [2, 2]);
    let decode = &runners[0].decode;
    // A fresh process warms up without samples first.
    let sittings = decode.sittings.iter().map(|one| (one.process, one.samples > 0));
    let sittings: Vec<(u64, bool)> = sittings.collect();
    assert_eq!(sittings, [(1, false), (1, true), (1, true), (2, false), (2, true)]);
    let list = decode.list(ran.best, 0.01);
    assert!(list.samples.iter().all(|ns| *ns < 5.5e6), "{list:?}");
}

#[test]
fn what_was_not_quiet_is_taken_again() {
    let fakes = [steady(|_, _| 10 * MS), steady(|_, _| 12 * MS)];
    let mut world = FakeWorld::new(&fakes);
    world.disturbed = Some(4);
    let mut runners = runners(&fakes);
    runners.iter_mut().for_each(|one| one.group = (Runtime::of("python"), Gives::Data));
    let ran = run(&mut runners, &mut world, &plan(None, 60), &mut Quiet);
    let decode = &runners[0].decode;
    let list = decode.list(ran.best, 0.01);
    assert!(decode.taken.len() > 11 && list.samples.len() < decode.taken.len(), "{list:?}");
    assert!(list.samples.len() >= 9, "{list:?}");
    assert!(decode.quiet_share(ran.best).unwrap() < 0.8);
}

#[test]
fn one_that_dies_in_a_later_process_is_out_and_the_others_go_on() {
    let fakes = [steady(|_, _| MS), steady(|_, _| MS), Fake { dies: Some(1), ..steady(|_, _| MS) }];
    let (runners, _, world) = run_of(&fakes, &plan(Some(9), 1));
    assert_eq!(runners[2].trouble, Some(Trouble::Died("ended by itself".to_owned())));
    assert_eq!(world.laps, [3, 3, 2]);
    assert_eq!(runners[0].encode.taken.len(), 9);
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let fakes = [steady(|_, _| 20 * MS), steady(|_, _| 20 * MS)];
    let (_, _, world) = run_of(&fakes, &plan(Some(9), 1));
    let all = world.shared.log.borrow().len();
    for stop in [1, all / 4, all - 3] {
        let mut world = FakeWorld::new(&fakes);
        world.shared.stop_after.set(Some(stop));
        let mut runners = runners(&fakes);
        let ran = run(&mut runners, &mut world, &plan(Some(9), 1), &mut Quiet);
        assert_eq!(world.shared.log.borrow().len(), stop, "nothing is asked after the stop");
        assert!(world.shared.alive.borrow().is_empty());
        assert!(runners.iter().all(|one| one.trouble.is_none()));
        assert_eq!(ran.decode > 3, stop == all - 3, "{stop}: {}", ran.decode);
    }
}

#[test]
fn rounds_are_shared_by_processes_that_differ() {
    // Each process has its own pace, and keeps it.
    let moody: Pass = |lap, _| (20 + lap) * MS;
    let (runners, _, _) = run_of(&[steady(moody)], &plan(Some(15), 1));
    let decode = &runners[0].decode;
    let sizes: Vec<usize> = decode.sittings.iter().map(|one| one.samples as usize).collect();
    assert_eq!(sizes, [3; 5]);
    let list = stats::Grouped { samples: &decode.per_pass, sizes: &sizes, spread: 0.03 };
    let honest = stats::estimate_of_processes(&[list], 1, |medians| medians[0]);
    let naive = stats::estimate(&decode.per_pass, 1);
    assert_eq!(honest.median, 22e6);
    assert!(honest.high - honest.low > naive.high - naive.low, "{honest:?} {naive:?}");
}

#[test]
fn a_slow_check_spares_a_contender_the_race() {
    // Two groups by turns: 0, 2 and 4 are compared with each other.
    let mut fakes = vec![steady(|_, _| MS / 10); 5];
    fakes[2] = steady(|_, _| 200 * MS);
    fakes[4] = steady(|_, _| 9 * MS);
    let plan = plan(None, 10);
    let (mut runners, mut world) = (runners(&fakes), FakeWorld::new(&fakes));
    run(&mut runners, &mut world, &plan, &mut Quiet);
    let slow = &runners[2];
    assert_eq!(slow.dropped, Some(1_000.0), "half of what the check showed");
    assert_eq!((slow.decode.per_pass.as_slice(), slow.processes), (&[200e6][..], 0));
    // One that takes less time than a lap of others has one.
    assert!(runners[4].decode.per_pass.len() > 1);

    let (mut runners, mut world) = (self::runners(&fakes), FakeWorld::new(&fakes));
    runners[2].is_published = true;
    run(&mut runners, &mut world, &plan, &mut Quiet);
    assert!(runners[2].processes > 0, "a task is about it");
}

#[test]
fn samples_of_a_check_are_a_first_lap() {
    let fakes = vec![steady(|_, _| 5 * MS); 3];
    let (mut runners, mut world) = (runners(&fakes), FakeWorld::new(&fakes));
    let series = || FirstSamples {
        iterations: 2,
        taken: vec![(Sampled::of_ns(80_000_000), [1.0; 2]); 3],
        warm_up_samples: 2,
        warm_up_ns: 1.0,
    };
    let first = FirstLap { decode: series(), encode: series(), took: Duration::from_millis(9) };
    runners[0].has_begun(&first);
    run(&mut runners, &mut world, &plan(None, 10), &mut Quiet);
    // It is much slower than the other one of its group, and drops out at once.
    assert_eq!(runners[0].decode.per_pass, [40e6; 3]);
    assert!(runners[0].dropped.is_some_and(|factor| factor > 3.0), "{:?}", runners[0].dropped);
    assert_eq!((runners[0].processes, world.laps[0]), (1, 0), "only that of its check");
    assert!(runners[2].decode.per_pass.len() > 3);
}

/// Samples that were taken beside other checks may be several times too slow.
#[test]
fn samples_of_a_check_alone_do_not_drop_a_contender_that_may_be_close() {
    let fakes = vec![steady(|_, _| 5 * MS); 8];
    let (mut runners, mut world) = (runners(&fakes), FakeWorld::new(&fakes));
    runners.iter_mut().for_each(|one| one.group = (Runtime::of("python"), Gives::Data));
    let series = || FirstSamples {
        iterations: 2,
        taken: vec![(Sampled::of_ns(30_000_000), [0.4e6; 2]); 3],
        warm_up_samples: 2,
        warm_up_ns: 1.0,
    };
    let first = FirstLap { decode: series(), encode: series(), took: Duration::from_millis(9) };
    runners[0].has_begun(&first);
    run(&mut runners, &mut world, &plan(None, 20), &mut Quiet);
    assert!(runners[0].dropped.is_none(), "{:?}", runners[0].dropped);
    assert!(world.laps[0] >= 1 && runners[0].decode.per_pass.len() > 3, "it was looked at again");
}

/// The best of the first lap may have been lucky.
#[test]
fn one_that_left_is_compared_with_the_best_of_the_end() {
    let lucky: Pass = |lap, _| if lap == 0 { MS } else { 4 * MS };
    let fakes = [
        steady(lucky),
        steady(lucky),
        steady(lucky),
        steady(|_, _| 3 * MS),
        steady(|_, _| 40 * MS),
    ];
    let (runners, _, world) = race_of(&fakes, 60, |_| ());
    let totals: Vec<f64> = runners.iter().map(|one| stats::median(&one.decode.per_pass)).collect();
    assert!(totals[3] < totals[0], "{totals:?}");
    assert!(runners[3].dropped.is_none() && world.laps[3] >= 3, "{:?}", world.laps);
    let factor = runners[4].dropped.unwrap();
    assert!(factor < 40.0 / 3.0 && factor > 2.0, "against the best of the end: {factor}");
}
