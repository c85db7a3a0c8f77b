//! Sets up the libraries of other runtimes: first a plan in words, then its steps.
//!
//! A runtime's needs are listed in the head of its runner (`have`, `debian`, `step`, `missing`,
//! `each`; see docs/contenders.md). Everything goes into one folder of our own, except for Debian
//! packages, which are installed only when we are root. Nothing is done that the plan does not
//! name. What is already set up is left alone: a stamp beside it says what it was made from.

mod apply;
mod plan;
mod suite;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use crate::model::runtime::Runtime;

pub use crate::plan::folders::data_dir;
pub use apply::{Done, execute};
pub use plan::{Options, Wanted, plan};

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a program with arguments.
    Run(Vec<OsString>),
    /// Writes a small file that can be executed.
    Script {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
    },
    /// Translates the adapters of a runtime, so that no measurement has to.
    Translate(Runtime),
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Why.
    pub purpose: String,
    /// What.
    pub action: Action,
    /// The runtime it is for, or nothing for all: if it fails, the other steps for the same runtime
    /// are skipped.
    pub runtime: Option<Runtime>,
    /// Whether the rest continues without it.
    pub optional: bool,
}

impl Step {
    /// Returns the command as one would type it.
    #[must_use]
    pub fn line(&self) -> String {
        let command = match &self.action {
            Action::Run(command) => command,
            Action::Script { path, .. } => return format!("write {}", path.display()),
            Action::Translate(runtime) => {
                return format!("each of lab/contenders/{}", runtime.id());
            }
        };
        let words: Vec<String> = command
            .iter()
            .map(|word| {
                let word = word.to_string_lossy();
                let plain = !word.is_empty()
                    && word.chars().all(|one| one.is_alphanumeric() || "-_./=:+~@,".contains(one));
                if plain { word.into_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
            })
            .collect();
        words.join(" ")
    }
}

/// What will be done, and what cannot be. Displays as the text to agree to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The folder that everything goes into, Debian packages aside.
    pub folder: PathBuf,
    /// In this order.
    pub steps: Vec<Step>,
    /// What is left out and why, and what only the user can do.
    pub remarks: Vec<String>,
    /// What to write where, once the steps of a runtime are done.
    stamps: Vec<(Runtime, PathBuf, String)>,
}

impl fmt::Display for Plan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.steps.is_empty() {
            writeln!(out, "Nothing to do.")?;
        } else {
            writeln!(out, "Steps (files go to {}):", self.folder.display())?;
            for step in &self.steps {
                let who = step.runtime.map_or(String::new(), |one| format!("{}: ", one.name()));
                let optional = if step.optional { ", if possible" } else { "" };
                writeln!(out, "  {who}{}{optional}:\n    {}", step.purpose, step.line())?;
            }
        }
        for remark in &self.remarks {
            writeln!(out, "{remark}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
