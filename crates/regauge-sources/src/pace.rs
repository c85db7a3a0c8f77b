//! Keeps a server from having more to do than it should.

use std::time::{Duration, Instant};

/// Bounds the keys per second.
#[derive(Debug)]
pub struct Pace {
    rate: Option<u32>,
    /// When the last wait ended.
    since: Instant,
}

impl Pace {
    /// Creates one for this many keys per second; `None` for no limit.
    pub fn new(rate: Option<u32>) -> Pace {
        Pace { rate: rate.map(|rate| rate.max(1)), since: Instant::now() }
    }

    /// Returns how many keys to ask for at once: `most`, or those of a twenty-fifth of a second: a server answers nobody
    /// else while it answers a batch, and each batch costs it something.
    pub fn batch(&self, most: u32) -> u32 {
        self.rate.map_or(most, |rate| (rate / 25).clamp(1, most))
    }

    /// Waits until so many more keys may have been read since the last wait. What was not read in a pause is not made up
    /// for.
    pub fn wait(&mut self, keys: usize) {
        let Some(rate) = self.rate else { return };
        let due = Duration::from_secs_f64(keys as f64 / f64::from(rate));
        if let Some(left) = due.checked_sub(self.since.elapsed()) {
            std::thread::sleep(left);
        }
        self.since = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_kept() {
        let mut pace = Pace::new(Some(1000));
        assert_eq!(pace.batch(500), 40);
        let began = Instant::now();
        pace.wait(50);
        assert!(began.elapsed() >= Duration::from_millis(50));
        // A pause is not followed by a rush.
        std::thread::sleep(Duration::from_millis(200));
        pace.wait(50);
        let began = Instant::now();
        pace.wait(50);
        assert!(began.elapsed() >= Duration::from_millis(50));
        assert_eq!(Pace::new(Some(0)).batch(500), 1);
        assert_eq!(Pace::new(None).batch(500), 500);
    }
}
