//! Finds documents of a stream that some contender does not return intact, for `--common`.

use std::collections::BTreeSet;
use std::path::Path;

use regauge::compare::Comparison;
use regauge::convert;

use crate::model::error::Error;
use crate::model::protocol::{Command, Counted};
use crate::model::runtime::Runtime;
use crate::model::text::were;
use crate::model::wire::Wire;
use crate::plan::contender::Contender;
use crate::plan::launch::Launch;
use crate::plan::options::{Progress, Stage};
use crate::plan::reference::{self, References, Shape, Values};
use crate::run::check::Outcome;
use crate::run::checks::Check;
use crate::run::process::{Process, Trouble};

/// A contender that fails on a larger part is broken, and not waited for.
const PART_MAX: f64 = 0.05;

/// Returns the documents (from 0) that some contender does not give back, and a note that says so,
/// or nothing if there are none, or all of a contender's.
pub(crate) fn disputed(
    check: &Check,
    outcomes: &[Outcome],
    references: &References,
    progress: &mut dyn Progress,
) -> Result<Option<(BTreeSet<u64>, String)>, Error> {
    let suspects: Vec<usize> = outcomes
        .iter()
        .enumerate()
        .filter(|(index, outcome)| {
            check.contenders[*index].runtime != Runtime::NATIVE
                && match outcome {
                    Outcome::Missing(_) | Outcome::NotReached => false,
                    Outcome::Failed { hello, .. } | Outcome::Late { hello, .. } => hello.is_some(),
                    Outcome::Compared(compared) => !compared.wrong.is_empty(),
                }
        })
        .map(|(index, _)| index)
        .collect();
    if suspects.is_empty() {
        return Ok(None);
    }
    let found = check.each(&suspects, Stage::Sift, progress, &|index, folder| {
        if check.options.is_stopped() {
            return Err(Trouble::Raised("the run was interrupted".to_owned()));
        }
        let (contender, launch) = (&check.contenders[index], &check.launches[index]);
        not_given_back(contender, launch, references, folder, check)
    })?;
    let most = (references.documents as f64 * PART_MAX) as usize;
    let mut gone = BTreeSet::new();
    let mut counts = Vec::new();
    for (index, found) in suspects.into_iter().zip(found) {
        // One that cannot be sifted is left alone: the second check says why.
        let Ok(bad) = found else { continue };
        if !bad.is_empty() && bad.len() <= most {
            let contender = &check.contenders[index];
            counts.push(format!(
                "{} by {} ({})",
                bad.len(),
                contender.name,
                contender.runtime.name()
            ));
            gone.extend(bad);
        }
    }
    if gone.is_empty() {
        return Ok(None);
    }
    let note = format!(
        "{} left out because at least one contender does not return {} intact: {}.",
        were(gone.len() as u64, "document"),
        if gone.len() == 1 { "it" } else { "them" },
        counts.join(", ")
    );
    Ok(Some((gone, note)))
}

/// Returns the documents (from 0) that one contender raises an error for or changes.
fn not_given_back(
    contender: &Contender,
    launch: &Launch,
    references: &References,
    folder: &Path,
    check: &Check,
) -> Result<Vec<u64>, Trouble> {
    let here = |error: Error| Trouble::Raised(error.to_string());
    let wire = if contender.made_from_json { Wire::Json } else { contender.wire };
    let reference = references
        .of(wire)
        .ok_or_else(|| Trouble::Raised(format!("there is no {}", wire.name())))?;
    let format = reference.format;
    // Streams are loaded without spans: here they are cut all the same.
    let spans = folder.join("spans");
    reference::write_spans(&reference.path, format, &spans).map_err(here)?;
    let out = folder.join("sifted");
    let (mut process, _) = Process::start(launch, check.options.patience)?;
    // One by one takes longer than all at once: a parser is made for each.
    let patience = match check.options.rounds {
        Some(_) => check.options.patience * 4,
        None => check.patience(contender),
    };
    process.ask::<Counted>(
        &Command::Sift {
            path: &reference.path,
            spans: &spans,
            out: &out,
            json: contender.made_from_json,
        },
        patience,
    )?;
    process.stop();
    let marc = references.shape == Shape::Catalogue;
    differing(&reference.path, &out, &reference::options_for(contender, format), marc).map_err(here)
}

/// Compares the documents of a reference with those in the spans of a sifted file.
fn differing(
    reference: &Path,
    sifted: &Path,
    options: &convert::Options,
    marc: bool,
) -> Result<Vec<u64>, Error> {
    let read = |path: &Path| std::fs::read(path).map_err(Error::io("read", path));
    let bytes = read(sifted)?;
    let mut beside = sifted.as_os_str().to_owned();
    beside.push(".spans");
    let ends: Vec<usize> = serde_json::from_slice(&read(Path::new(&beside))?)
        .map_err(|error| Error::Input(error.to_string()))?;
    let mut originals = Values::open(reference, options.from)?;
    let mut bad = Vec::new();
    for (index, span) in ends.chunks_exact(2).enumerate() {
        let original = originals.next().map_err(|error| Error::Input(reference::told(&error)))?;
        let piece = bytes.get(span[0]..span[1]).unwrap_or_default();
        let mut copies = Values::from_slice(piece, options)?;
        let mut comparison = if marc { Comparison::of_marc() } else { Comparison::new() };
        let right = match copies.next() {
            Ok(copy) => {
                comparison.next(original.as_ref(), copy.as_ref());
                comparison.wrong_documents() == 0 && matches!(copies.next(), Ok(None))
            }
            Err(_) => false,
        };
        if !right {
            bad.push(index as u64);
        }
    }
    Ok(bad)
}
