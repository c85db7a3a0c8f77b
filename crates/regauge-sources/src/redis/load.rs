//! Leaves a server alone while it is busy.

use std::time::{Duration, Instant};

use regauge::Result;

use super::link::{Link, bytes, command};

/// How long a server is watched before its first keys, and between two looks while it is read.
const WATCHED: Duration = Duration::from_millis(300);
const EVERY: Duration = Duration::from_secs(1);

/// What a server may have to do while it is asked for keys.
pub(super) struct Load {
    /// The most, as a part of a core; `None` if it does not matter.
    most: Option<f64>,
    /// When the server was last looked at, and what it had spent by then.
    seen: Option<(Instant, f64)>,
}

impl Load {
    /// Creates one for this percentage of a core, for one server.
    pub fn new(percent: Option<u8>) -> Load {
        Load { most: percent.map(|percent| f64::from(percent) / 100.0), seen: None }
    }

    /// Waits while the server spends more than it may. While this waits, it asks for nothing else, so that only others
    /// keep the server busy.
    ///
    /// # Errors
    /// Those of the connection, and `Unsupported` if the server does not tell what it spends.
    pub fn wait(&mut self, link: &mut Link) -> Result<()> {
        let Some(most) = self.most else { return Ok(()) };
        if let Some((when, before)) = self.seen {
            if when.elapsed() < EVERY {
                return Ok(());
            }
            let now = (Instant::now(), spent(link)?);
            self.seen = Some(now);
            if share((when, before), now) <= most {
                return Ok(());
            }
        }
        let mut before = (Instant::now(), spent(link)?);
        loop {
            std::thread::sleep(WATCHED);
            let now = (Instant::now(), spent(link)?);
            self.seen = Some(now);
            if share(before, now) <= most {
                return Ok(());
            }
            before = now;
        }
    }
}

/// Returns the part of a core that was spent between two looks.
fn share((then, before): (Instant, f64), (now, after): (Instant, f64)) -> f64 {
    (after - before) / (now - then).as_secs_f64().max(f64::MIN_POSITIVE)
}

/// Returns the seconds of processor time that a server has spent on its clients.
fn spent(link: &mut Link) -> Result<f64> {
    let doing = "ask for its load";
    let answer = link.ask(doing, &command("INFO", &[b"cpu"]))?;
    let info = bytes(answer).unwrap_or_default();
    parse(&String::from_utf8_lossy(&info)).ok_or_else(|| {
        link.unexpected(doing, "no processor time").hint("leave out the bound on its load")
    })
}

/// Returns the time of the thread that serves clients; before Redis 6.2, of the whole process.
fn parse(info: &str) -> Option<f64> {
    let find = |name: &str| -> Option<f64> {
        let line = info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().parse().ok()
    };
    let sum = |user: &str, system: &str| Some(find(user)? + find(system)?);
    sum("used_cpu_user_main_thread", "used_cpu_sys_main_thread")
        .or_else(|| sum("used_cpu_user", "used_cpu_sys"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_thread_that_serves() {
        let old = "# CPU\r\nused_cpu_sys:1.5\r\nused_cpu_user:2.25\r\nused_cpu_sys_children:9\r\n";
        assert_eq!(parse(old), Some(3.75));
        let new = "used_cpu_sys_main_thread:0.5\r\nused_cpu_user_main_thread:0.25\r\n";
        assert_eq!(parse(&format!("{old}{new}")), Some(0.75));
        assert_eq!(parse("# CPU\r\nused_cpu_sys:1.5\r\n"), None);
    }
}
