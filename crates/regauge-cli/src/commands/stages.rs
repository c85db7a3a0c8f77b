//! Progress of a measurement: a bar per stage on a terminal, otherwise a line per stage.

use std::io::{self, IsTerminal as _};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use regauge_measure::{Gives, Progress, Runtime, Stage, time};

use crate::args::When;
use crate::failure::complain;

/// The stages as the user sees them.
pub struct Stages {
    shown: Shown,
    /// When the run will end, according to the engine.
    end: Option<Instant>,
    stage: Option<Stage>,
    /// The latest leader: "Python: orjson leads, 89.1 µs".
    leader: String,
}

enum Shown {
    Nothing,
    Bar(ProgressBar),
    /// For output that cannot show a moving bar.
    Lines,
}

impl Stages {
    /// Creates the display: a bar on a terminal, lines if standard error is anything else.
    pub fn new(when: When) -> Stages {
        let is_terminal = io::stderr().is_terminal();
        let shown = match when {
            When::Never => Shown::Nothing,
            When::Auto | When::Always if !is_terminal => Shown::Lines,
            When::Auto | When::Always => {
                let style = "{bar:20} {prefix}: {wide_msg}";
                let style = ProgressStyle::with_template(style).expect("well formed");
                Shown::Bar(ProgressBar::new(0).with_style(style))
            }
        };
        Stages { shown, end: None, stage: None, leader: String::new() }
    }

    /// Creates one that shows nothing unless standard error is a terminal.
    pub fn for_terminal(when: When) -> Stages {
        let is_terminal = io::stderr().is_terminal();
        Stages::new(if is_terminal { when } else { When::Never })
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn left(&self) -> Option<u64> {
        let left = self.end?.saturating_duration_since(Instant::now()).as_secs();
        Some(left).filter(|left| *left > 0)
    }

    /// Returns the stage, and the time left in the run.
    fn title(&self) -> String {
        let stage = match self.stage {
            Some(stage @ Stage::Lap(lap)) => format!("{} ({lap})", stage.name()),
            Some(stage) => stage.name().to_owned(),
            None => String::new(),
        };
        match self.left() {
            Some(left) => format!("{stage}, {} left", clock(left)),
            None => stage,
        }
    }

    fn show(&self, what: &str) {
        let Shown::Bar(bar) = &self.shown else { return };
        bar.set_prefix(self.title());
        bar.set_message(match (what, self.leader.as_str()) {
            ("", leader) => leader.to_owned(),
            (what, "") => what.to_owned(),
            (what, leader) => format!("{what}; {leader}"),
        });
    }
}

/// Minutes and seconds: `1:05`.
fn clock(seconds: u64) -> String {
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

impl Progress for Stages {
    fn begin(&mut self, stage: Stage, steps: u64) {
        let is_new = self.stage.map(Stage::name) != Some(stage.name());
        self.stage = Some(stage);
        match &self.shown {
            Shown::Nothing => {}
            // There are many laps: only the first is shown.
            Shown::Lines if is_new => complain(self.title()),
            Shown::Lines => {}
            Shown::Bar(bar) => {
                bar.reset();
                bar.set_length(steps);
                self.show("");
            }
        }
    }

    fn step(&mut self, what: &str) {
        self.show(what);
        if let Shown::Bar(bar) = &self.shown {
            bar.inc(1);
        }
    }

    fn name(&mut self, what: &str) {
        self.show(what);
    }

    fn leader(&mut self, runtime: Runtime, _: Gives, name: &str, total_ns: f64) {
        self.leader = format!("{}: {name} leads, {}", runtime.name(), time(total_ns));
        self.show("");
    }

    fn left(&mut self, time: Duration) {
        self.end = Some(Instant::now() + time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_names_the_stage() {
        let mut stages = Stages::new(When::Never);
        stages.begin(Stage::Lap(2), 9);
        assert_eq!(stages.title(), "timing, lap by lap (2)");
        assert_eq!(clock(65), "1:05");
    }
}
