//! Keeps a server from having more to do than it should.

use std::time::{Duration, Instant};

/// Bounds the keys per second.
#[derive(Debug)]
pub struct Pace {
    rate: Option<u32>,
    began: Instant,
    keys: u64,
}

impl Pace {
    /// Creates one for this many keys per second; `None` for no limit.
    pub fn new(rate: Option<u32>) -> Pace {
        Pace { rate: rate.map(|rate| rate.max(1)), began: Instant::now(), keys: 0 }
    }

    /// Returns how many keys to ask for at once: `most`, or those of a twenty-fifth of a second: a server answers nobody
    /// else while it answers a batch, and each batch costs it something.
    pub fn batch(&self, most: u32) -> u32 {
        self.rate.map_or(most, |rate| (rate / 25).clamp(1, most))
    }

    /// Waits until so many more keys may have been read.
    pub fn wait(&mut self, keys: usize) {
        let Some(rate) = self.rate else { return };
        self.keys += keys as u64;
        let due = Duration::from_secs_f64(self.keys as f64 / f64::from(rate));
        if let Some(left) = due.checked_sub(self.began.elapsed()) {
            std::thread::sleep(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_is_kept() {
        let mut pace = Pace::new(Some(1000));
        assert_eq!(pace.batch(500), 40);
        pace.wait(50);
        assert!(pace.began.elapsed() >= Duration::from_millis(50));
        assert_eq!(Pace::new(Some(0)).batch(500), 1);
        assert_eq!(Pace::new(None).batch(500), 500);
    }
}
