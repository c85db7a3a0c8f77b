//! Tests the risks of decoding untrusted bytes: documents that name code (`payloads`), and small
//! documents that demand a lot (`bombs`), each given to a contender in a limited process (`bounds`)
//! in a sandbox folder (`probe`).
//!
//! `docs/safety.md` says what is tested, and what that does not prove. Results are cached by the
//! versions of everything involved, so that each test runs once.

mod bombs;
mod bounds;
mod known;
mod limits;
mod payloads;
mod probe;

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::model::assets;
use crate::model::protocol::Hello;
use crate::model::report::{Bomb, BombOutcome, Reach, Safety};
use crate::model::text::bytes;
use crate::plan::contender::{Contender, Source};
use crate::plan::folders;
use crate::plan::launch::Launch;
use crate::run::process::Trouble;
use bounds::Bounds;
use payloads::Payload;
use probe::{Prober, Tried};

pub use crate::plan::options::When;

/// Goes up when a payload, a bomb or a bound changes: what was found before counts no more.
const TRIALS: u32 = 2;

/// The inputs of a test, except for the contender.
pub(crate) struct Trial<'t> {
    /// Where the cache is.
    pub cache: Option<&'t Path>,
    /// The unpacked folder of `lab/payloads`.
    pub gadgets: PathBuf,
    /// How long a process may take to start.
    pub patience: Duration,
}

/// What became of a trial.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Found {
    Safety(Box<Safety>),
    /// Nothing is known, and nothing was tried.
    NotTested,
    /// The contender could not be tested.
    Failed(String),
}

impl Trial<'_> {
    /// Returns what is known of these versions, from earlier runs or built into the binary.
    pub(crate) fn known(&self, contender: &Contender, launch: &Launch, hello: &Hello) -> Found {
        let key = key(contender, launch, hello);
        let earlier = self.file(contender, &key).and_then(|file| remembered(&file, &key));
        match earlier.or_else(|| known::of(contender, hello)) {
            Some(safety) => Found::Safety(Box::new(safety)),
            None => Found::NotTested,
        }
    }

    /// Tests one contender in `folder`, which the caller owns and removes.
    pub(crate) fn of(
        &self,
        contender: &Contender,
        launch: &Launch,
        hello: &Hello,
        folder: &Path,
    ) -> Found {
        match self.try_out(contender, launch, folder, Bounds::default()) {
            Ok(safety) => {
                let key = key(contender, launch, hello);
                if let Some(file) = self.file(contender, &key) {
                    remember(&file, &key, &safety);
                }
                Found::Safety(Box::new(safety))
            }
            Err(trouble) => Found::Failed(trouble.to_string()),
        }
    }

    /// Returns the file of the cache for a contender.
    fn file(&self, contender: &Contender, key: &str) -> Option<PathBuf> {
        self.cache.map(|folder| folder.join(file_name(contender, key)))
    }

    /// Tries everything out.
    fn try_out(
        &self,
        contender: &Contender,
        launch: &Launch,
        folder: &Path,
        bounds: Bounds,
    ) -> Result<Safety, Trouble> {
        let format = kind_of(contender.wire.name());
        let mut safety = self.try_format(format, launch, folder, bounds)?;
        if let Some(told) = &contender.limits {
            let found = std::mem::take(&mut safety.limits);
            safety.limits =
                if found.is_empty() { told.clone() } else { format!("{found}; {told}") };
        }
        Ok(safety)
    }

    fn try_format(
        &self,
        format: &str,
        launch: &Launch,
        folder: &Path,
        bounds: Bounds,
    ) -> Result<Safety, Trouble> {
        let failed = |error: std::io::Error| {
            Trouble::Raised(format!("cannot make a sandbox in {}: {error}", folder.display()))
        };
        let mut prober = Prober::new(launch, format, folder, &self.gadgets, self.patience, bounds)
            .map_err(failed)?;
        let payloads = payloads::of(format);
        let mut results = Vec::with_capacity(payloads.len());
        for payload in &payloads {
            results.push(prober.payload(payload)?);
        }
        let documents = bombs::of(format);
        let mut outcomes = Vec::with_capacity(documents.len());
        for bomb in &documents {
            outcomes.push(prober.bomb(&bomb.document)?);
        }
        // What a library does with the greatest tells most; where its limit is takes tries.
        let give_up = Instant::now() + Duration::from_secs(15);
        let limits = limits::find(&mut prober, &documents, &outcomes, give_up)?;
        prober.stop();
        let (reach, proof) = proof(&payloads, &results, format);
        let runs_code = (!payloads.is_empty()).then_some(reach >= Reach::Methods);
        let bombs = documents
            .iter()
            .zip(outcomes)
            .map(|(bomb, tried)| Bomb {
                kind: bomb.kind.to_owned(),
                bytes: bomb.document.len() as u64,
                outcome: tried.outcome,
                ended: tried.ended,
                detail: detail(&tried),
                peak_bytes: tried.peak,
            })
            .collect();
        Ok(Safety { runs_code, reach, proof, bombs, limits: limits.join("; ") })
    }
}

/// Returns the format whose payloads and bombs these are: the protocols of pickle are read by one
/// reader, and a line of NDJSON is JSON.
fn kind_of(format: &str) -> &str {
    match format {
        "ndjson" | "marc-json" => "json",
        format if format.starts_with("pickle") => "pickle",
        format => format,
    }
}

/// Memory use above this is mentioned.
const MUCH: u64 = 64 << 20;

/// Returns its message, and the memory that it took.
fn detail(tried: &Tried) -> String {
    let mut text = match tried.outcome {
        BombOutcome::Decoded => "decoded".to_owned(),
        _ => tried.words.clone(),
    };
    if let Some(peak) = tried.peak.filter(|peak| *peak >= MUCH) {
        let _ = write!(text, ", with {} of memory", bytes(peak));
    }
    text
}

/// Returns how far the payloads reached, and what proves it.
fn proof(payloads: &[Payload], results: &[(bool, Tried)], format: &str) -> (Reach, String) {
    if payloads.is_empty() {
        return (Reach::Data, format!("nothing was tried: {format} has no means to name code"));
    }
    let reached = payloads
        .iter()
        .zip(results)
        .filter(|(_, (worked, _))| *worked)
        // Of equally strong proofs, the first is the plainest.
        .rev()
        .max_by_key(|(payload, _)| payload.proves);
    let Some((payload, (_, tried))) = reached else {
        let documents =
            if payloads.len() == 1 { "document that names" } else { "documents that name" };
        let mut text = format!("{} {documents} code left no trace", payloads.len());
        let refused = results.iter().filter(|(_, one)| one.outcome == BombOutcome::Refused);
        let (refused, crashed) = (
            refused.clone().count(),
            results.iter().filter(|(_, one)| one.outcome == BombOutcome::Crashed).count(),
        );
        if refused > 0 {
            let words = results
                .iter()
                .find(|(_, one)| one.outcome == BombOutcome::Refused)
                .map_or("", |(_, one)| one.words.as_str());
            let _ = write!(text, "; {refused} were refused, such as with {words:?}");
        }
        if crashed > 0 {
            let _ = write!(text, "; {crashed} ended the process");
        }
        return (Reach::Data, text);
    };
    let proved = match payload.proves {
        Reach::Code => "made its mark: the document chose a function and its arguments",
        Reach::Methods if tried.words.is_empty() => {
            "ran: the document chose the class, and a method of it was called"
        }
        Reach::Methods => "ran, as its error tells: the document chose the class and the text",
        Reach::Objects => "made an object of the class; no method of it was seen to run",
        Reach::Data => "left a trace",
    };
    (payload.proves, format!("{} {proved}", payload.name))
}

/// Returns everything that decides what would be found.
fn key(contender: &Contender, launch: &Launch, hello: &Hello) -> String {
    let mut key = format!(
        "{TRIALS} regauge {} {} {} {} {} {}",
        env!("CARGO_PKG_VERSION"),
        contender.runtime.name(),
        hello.runtime,
        contender.name,
        hello.version,
        contender.limits.as_deref().unwrap_or("")
    );
    match &contender.source {
        // The version does not change during development, so the binary itself is part of the key.
        Source::Native(_) => {
            if let Ok(data) = std::fs::metadata(&launch.program) {
                let modified = data.modified().ok().map(|time| format!("{time:?}"));
                let _ = write!(key, " {} {}", data.len(), modified.unwrap_or_default());
            }
        }
        Source::Carried(path) => key.push_str(assets::text(path).unwrap_or("")),
        Source::File(path) => key.push_str(&std::fs::read_to_string(path).unwrap_or_default()),
    }
    key
}

fn file_name(contender: &Contender, key: &str) -> String {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    let plain = |text: &str| -> String {
        text.chars().map(|one| if one.is_ascii_alphanumeric() { one } else { '-' }).collect()
    };
    format!(
        "{}-{}-{:016x}.json",
        plain(&contender.runtime.name().to_lowercase()),
        plain(&contender.name.to_lowercase()),
        hasher.finish()
    )
}

/// A file of the cache.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    safety: Safety,
}

fn remembered(file: &Path, key: &str) -> Option<Safety> {
    let kept: Kept = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    (kept.key == key).then_some(kept.safety)
}

/// Writes the cache atomically; a cache that cannot be written is ignored.
fn remember(file: &Path, key: &str, safety: &Safety) {
    let kept = Kept { key: key.to_owned(), safety: safety.clone() };
    let Some(folder) = file.parent() else { return };
    if std::fs::create_dir_all(folder).is_err() {
        return;
    }
    let Ok(temporary) = tempfile::NamedTempFile::new_in(folder) else { return };
    if serde_json::to_writer_pretty(&temporary, &kept).is_ok() {
        let _ = temporary.persist(file);
    }
}

/// Returns the default location of the cache: `regauge/safety` in `XDG_CACHE_HOME`, otherwise in
/// `~/.cache` (on Windows in `%LOCALAPPDATA%`), or nothing without a home.
#[must_use]
pub fn cache_dir() -> Option<PathBuf> {
    Some(folders::of_user("XDG_CACHE_HOME", ".cache")?.join("regauge/safety"))
}

#[cfg(test)]
mod tests;
