//! Converts a catalogue of MARC records to UTF-8 and drops the records that a format cannot hold,
//! so that all formats have the same records.

use std::collections::HashSet;
use std::path::Path;

use regauge::convert;
use regauge::{ErrorKind, Format};

use super::spans::{keep_documents, lines};
use super::{convert_options, rewrite, told};
use crate::model::error::Error;
use crate::model::text::were;

/// Converts the records in `folder/base` to UTF-8 by way of MARC 21, so that leader/09 says so in
/// every format. Returns notes on records that MARC 21 cannot hold; they are left out.
pub(super) fn to_utf8(folder: &Path) -> Result<Vec<String>, Error> {
    let (base, through) = (folder.join("base"), folder.join("utf8"));
    let mut notes = Vec::new();
    if let Err(error) = rewrite(&base, Format::MarcJson, &through, Format::Marc, false) {
        if !is_about_a_record(&error) {
            return Err(Error::Input(told(&error)));
        }
        let bad = records_refused(&base, Format::Marc)?;
        notes.push(leave_out(&base, Format::Marc, &bad)?);
        rewrite(&base, Format::MarcJson, &through, Format::Marc, false)
            .map_err(|error| Error::Input(told(&error)))?;
    }
    rewrite(&through, Format::Marc, &base, Format::MarcJson, false)
        .map_err(|error| Error::Input(told(&error)))?;
    std::fs::remove_file(&through).map_err(Error::io("remove", &through))?;
    Ok(notes)
}

/// Returns whether an error is one record's, so that the others can go on without it.
pub(super) fn is_about_a_record(error: &regauge::Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Unrepresentable)
}

/// Returns the records (from 1) that a format cannot hold, each tried alone, with the reason.
pub(super) fn records_refused(base: &Path, to: Format) -> Result<Vec<(u64, String)>, Error> {
    let bytes = std::fs::read(base).map_err(Error::io("read", base))?;
    let options = convert_options(Format::MarcJson, to, false);
    let mut bad = Vec::new();
    for (index, (start, end)) in lines(&bytes).enumerate() {
        let record = &bytes[start as usize..end as usize];
        if let Err(error) = convert::convert_bytes(record, &options) {
            bad.push((index as u64 + 1, error.message().to_owned()));
        }
    }
    Ok(bad)
}

/// Removes records from a base file, and returns a note about it.
pub(super) fn leave_out(base: &Path, to: Format, bad: &[(u64, String)]) -> Result<String, Error> {
    let gone: HashSet<u64> = bad.iter().map(|(record, _)| *record).collect();
    keep_documents(base, base, &|index| !gone.contains(&(index + 1)))?;
    let (record, why) = bad.first().map_or((0, ""), |(record, why)| (*record, why.as_str()));
    Ok(format!(
        "{} left out of all formats because {} cannot hold {}; the first is record {record}: {why}.",
        were(bad.len() as u64, "record"),
        to.title(),
        if bad.len() == 1 { "it" } else { "them" }
    ))
}
