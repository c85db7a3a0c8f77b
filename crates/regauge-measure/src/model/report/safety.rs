//! Holds what decoding hostile documents did.

use serde::{Deserialize, Serialize};

/// What decoding bytes of a stranger would risk, tried out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Safety {
    /// Whether a harmless payload that was hidden in a document ran while it was decoded; nothing
    /// where the format has no means to name code and none was tried.
    pub runs_code: Option<bool>,
    /// How far the documents that were tried reached into the runtime.
    #[serde(default)]
    pub reach: Reach,
    /// What proved it, in words.
    pub proof: String,
    /// What became of each small document that asks for much.
    pub bombs: Vec<Bomb>,
    /// The limits that the library has by default, in words.
    pub limits: String,
}

/// How far a document reaches into the runtime that decodes it: what was seen, not what may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// The tests produced nothing but data.
    #[default]
    Data,
    /// Objects of a class that the document names were made; no method of it was seen to run.
    Objects,
    /// A method of a class that the document names ran, with arguments from the document.
    Methods,
    /// A function of the document's choice ran, with its arguments, by the runtime's own library
    /// alone: the document can do what the program can do.
    Code,
}

/// A small document that asks a decoder for much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bomb {
    /// What kind: "depth 100,000", "declared length 2^31", "aliases 9^9" …
    pub kind: String,
    /// Bytes of it.
    pub bytes: u64,
    /// What happened.
    pub outcome: BombOutcome,
    /// Whether the process ended by it, or had to be stopped: one document ends a server then.
    #[serde(default)]
    pub ended: bool,
    /// In words: the error it raised, the memory it took.
    pub detail: String,
    /// The additional memory that it took, in bytes, if the system reports it.
    #[serde(default)]
    pub peak_bytes: Option<u64>,
}

/// What a bomb did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BombOutcome {
    /// It raised an error at once: the library has a limit.
    Refused,
    /// It was decoded without harm.
    Decoded,
    /// It took more memory than the probe allows, or was refused what it asked for.
    OutOfMemory,
    /// It took longer than the probe allows.
    OutOfTime,
    /// The process died.
    Crashed,
}
