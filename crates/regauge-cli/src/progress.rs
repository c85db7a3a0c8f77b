//! The progress bar: how much of the input has been read, how fast, and the time left.

use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::When;

/// A run that ends sooner shows no bar.
const QUIET_FOR: Duration = Duration::from_millis(300);

/// Called with how far the input has been read. Without a bar that costs nothing: it is called once
/// per window of input.
pub struct Meter {
    shown: bool,
    total: Option<u64>,
    started: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Meter {
    /// Creates a meter, with or without a bar on standard error.
    pub fn new(when: When, writes_to_terminal: bool) -> Meter {
        let shown = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => io::stderr().is_terminal() && !writes_to_terminal,
        };
        Meter { shown, total: None, started: Instant::now(), bar: OnceLock::new() }
    }

    /// The same, for an input of this many bytes.
    pub fn with_total(mut self, total: Option<u64>) -> Meter {
        self.total = total;
        self
    }

    /// Records that this many bytes of the input have been read.
    pub fn reached(&self, bytes: u64) {
        if !self.shown || (self.bar.get().is_none() && self.started.elapsed() < QUIET_FOR) {
            return;
        }
        self.bar.get_or_init(|| self.draw()).set_position(bytes);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Runs a function, such as one that prints a line, with the bar hidden.
    pub fn aside(&self, act: impl FnOnce()) {
        match self.bar.get() {
            Some(bar) => bar.suspend(act),
            None => act(),
        }
    }

    fn draw(&self) -> ProgressBar {
        let template = match self.total {
            Some(_) => "{bar:32} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
            None => "{spinner} {bytes} {bytes_per_sec}, {elapsed}",
        };
        let style = ProgressStyle::with_template(template).expect("the template is well formed");
        let target = ProgressDrawTarget::stderr_with_hz(10);
        ProgressBar::with_draw_target(self.total, target)
            .with_style(style)
            .with_elapsed(self.started.elapsed())
    }
}
