//! The log, and the latest errors.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use tracing_subscriber::filter::LevelFilter;

/// Errors kept for the admin page.
const KEPT: usize = 200;

/// Logs JSON lines to standard error, at this level and above.
pub fn start(level: &str) {
    let level = level.parse::<LevelFilter>().unwrap_or(LevelFilter::INFO);
    let log = tracing_subscriber::fmt().json().with_max_level(level).with_writer(std::io::stderr);
    // If the program has a logger already, that one stays.
    let _ = log.try_init();
}

/// The latest errors.
#[derive(Default)]
pub(crate) struct Errors(Mutex<VecDeque<Value>>);

impl Errors {
    pub fn add(&self, error: Value) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(error);
    }

    /// Returns the latest errors, newest first.
    pub fn list(&self) -> Vec<Value> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().rev().cloned().collect()
    }
}
