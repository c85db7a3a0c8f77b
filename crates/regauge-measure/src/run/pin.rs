//! Pins contenders to one core, if the system allows it.
//!
//! A process that moves between cores loses its caches; on one core it cannot. A runtime with
//! threads of its own (the compilers and collectors of the JVM and of Node) may use all cores for
//! them, as in production: on one core, its compiler would take time from the code that it
//! compiles. Then only the working thread is pinned. Such a runtime is recognised by its threads,
//! which are counted after its first answer.

use std::time::Duration;

use regauge_os::Cores;

use crate::model::stats;

/// Interpreters without background work have one thread, or two with a timer.
const THREADS_MAX: usize = 3;
/// Probes on each core, to choose the quietest.
const PROBES: usize = 7;

/// A core that was chosen.
pub(crate) struct Core {
    number: usize,
    all: Cores,
}

impl Core {
    /// Returns the core on which the probe is fastest, or nothing if there is no choice or pinning
    /// is not allowed, or not possible on this system.
    pub(crate) fn quietest(probe: fn() -> Duration) -> Option<Core> {
        let all = Cores::allowed()?;
        let cores = all.numbers().into_iter();
        let timed = |number: usize| -> (f64, Core) {
            let core = Core { number, all };
            let times: Vec<f64> =
                (0..PROBES).map(|_| core.on_it(probe).as_nanos() as f64).collect();
            (stats::median(&times), core)
        };
        let mut cores: Vec<(f64, Core)> = cores.map(timed).collect();
        if cores.len() < 2 {
            return None;
        }
        cores.sort_by(|one, other| one.0.total_cmp(&other.0));
        let (_, core) = cores.swap_remove(0);
        // A container may forbid it.
        (core.set().pin_here() && core.all.pin_here()).then_some(core)
    }

    fn set(&self) -> Cores {
        self.all.only(self.number)
    }

    /// Does something on that core, in this thread.
    pub(crate) fn on_it<T>(&self, act: impl FnOnce() -> T) -> T {
        let moved = self.set().pin_here();
        let done = act();
        if moved {
            // It was the set before, so it is allowed.
            self.all.pin_here();
        }
        done
    }

    /// Pins a process to the core, and returns whether all of it is pinned: if it has threads of
    /// its own, only the working thread is.
    pub(crate) fn pin_process(&self, id: u32) -> bool {
        let Ok(tasks) = std::fs::read_dir(format!("/proc/{id}/task")) else { return false };
        let threads: Vec<u32> =
            tasks.filter_map(|task| task.ok()?.file_name().to_str()?.parse().ok()).collect();
        if threads.len() > THREADS_MAX {
            if let Some(thread) = worker(id, &threads) {
                self.set().pin_thread(thread);
            }
            return false;
        }
        !threads.is_empty() && threads.iter().all(|thread| self.set().pin_thread(*thread))
    }

    /// Returns its number in the system.
    pub(crate) fn number(&self) -> usize {
        self.number
    }
}

/// Finds the working thread: of the threads named like the process, the one with the most processor
/// time. Compilers and collectors have other names, or have used less.
fn worker(id: u32, threads: &[u32]) -> Option<u32> {
    let stat = |thread: u32| std::fs::read_to_string(format!("/proc/{id}/task/{thread}/stat")).ok();
    // `tid (name) state ppid …`, where a name may contain anything; user time is the 14th field.
    let parts = |thread: u32| -> Option<(String, u64)> {
        let stat = stat(thread)?;
        let (head, rest) = stat.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        Some((name, rest.split_whitespace().nth(11)?.parse().ok()?))
    };
    let (name, _) = parts(id)?;
    let mut alike: Vec<(u64, u32)> = threads
        .iter()
        .filter_map(|thread| parts(*thread).filter(|one| one.0 == name).map(|one| (one.1, *thread)))
        .collect();
    alike.sort_unstable();
    alike.last().map(|one| one.1)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::model::noise;

    fn allowed(id: u32) -> String {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
        let line = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    }

    #[test]
    fn a_process_gets_the_core_and_this_thread_keeps_all() {
        let Some(core) = Core::quietest(noise::work) else {
            eprintln!("skipped: there is one core only, or pinning is not allowed");
            return;
        };
        let mut child = std::process::Command::new("sleep").arg("5").spawn().unwrap();
        let pinned = core.pin_process(child.id());
        let cores = allowed(child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(pinned);
        assert_eq!(cores, core.number().to_string());
        let mine = Cores::allowed().unwrap();
        let on_it = core.on_it(|| Cores::allowed().unwrap());
        assert_eq!(on_it.numbers(), [core.number()]);
        assert_eq!(Cores::allowed().unwrap(), mine);
    }

    #[test]
    fn of_a_process_with_threads_of_its_own_the_working_one_is_found() {
        let Some(core) = Core::quietest(noise::work) else { return };
        if !regauge_testdata::has("python3", &["--version"]) {
            return;
        }
        assert!(!core.pin_process(u32::MAX));
        // Four threads that wait, and one that works, all with the name of the process.
        let program = "import threading, time\nfor _ in range(4):\n    \
                       threading.Thread(target=time.sleep, args=(20,), daemon=True).start()\n\
                       print('here', flush=True)\nwhile True:\n    pass\n";
        let mut child = std::process::Command::new("python3")
            .args(["-c", program])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut out, &mut line).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let all = core.pin_process(child.id());
        let (working, waiting) = (allowed(child.id()), waiting_thread(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!all, "some of its threads are free");
        assert_eq!(working, core.number().to_string());
        assert_ne!(waiting, working);
    }

    /// Returns the cores that another thread of a process may use.
    fn waiting_thread(id: u32) -> String {
        let tasks = std::fs::read_dir(format!("/proc/{id}/task")).unwrap();
        let mut ids = tasks.map(|task| task.unwrap().file_name().into_string().unwrap());
        let other = ids.find(|one| *one != id.to_string()).unwrap();
        allowed(other.parse().unwrap())
    }
}
