//! Documents as Parquet, and back, in memory.

#![allow(dead_code, reason = "each test uses some of them")]

use std::sync::Arc;

use regauge::convert::{Given, convert_given};
use regauge::tree::Builder;
use regauge::{Format, Limits, OnLoss, Options, Result, Sink, StreamOutput, Value};
use regauge_arrow::Losses;
use regauge_arrow::parquet::{Compression, FileReader, How, write};

/// What the command does without options.
pub fn how() -> How {
    let compression = Compression::default();
    How { compression, sample: 1000, schema: None, on_loss: OnLoss::Refuse, is_marc: false }
}

/// Writes documents as a file.
pub fn written(documents: &[Value], how: &How, losses: &Losses) -> Result<Vec<u8>> {
    let options = Options::new(Format::Cbor, Format::Ndjson);
    let mut bytes = Vec::new();
    write(&mut bytes, &options, how, losses, |sink| {
        documents.iter().try_for_each(|document| {
            document.drive(sink)?;
            sink.end_document()
        })
    })?;
    Ok(bytes)
}

/// Reads the documents of a file.
pub fn read(bytes: Vec<u8>, limits: &Limits) -> Result<Vec<Value>> {
    let mut reader = FileReader::open(Arc::new(bytes), limits)?;
    let mut documents = Vec::new();
    let mut builder = Builder::new(limits);
    while reader.next(&mut builder)? {
        documents.extend(builder.take());
        builder = Builder::new(limits);
    }
    Ok(documents)
}

/// Reads a file as lines of JSON, in the wrapped notation.
pub fn lines(bytes: Vec<u8>) -> Result<String> {
    let mut options = Options::new(Format::Msgpack, Format::Ndjson);
    options.on_loss = OnLoss::Wrap;
    let mut reader = FileReader::open(Arc::new(bytes), &options.limits)?;
    let count = Some(reader.rows());
    let mut next = |sink: &mut dyn Sink| reader.next(sink);
    let mut json = Vec::new();
    convert_given(Given { next: &mut next, count }, StreamOutput::new(&mut json), &options)?;
    Ok(String::from_utf8(json).expect("JSON is UTF-8"))
}

/// A map of these fields.
pub fn map<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().collect()
}

/// Files in this folder of the corpus, by name.
pub fn corpus(folder: &str) -> Vec<(String, Vec<u8>)> {
    let path = format!("{}/tests/files/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = std::fs::read_dir(&path)
        .unwrap_or_else(|error| panic!("{path}: {error}"))
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|suffix| suffix == "parquet"))
        .collect();
    files.sort();
    let name =
        |path: &std::path::Path| path.file_stem().unwrap_or_default().to_string_lossy().into();
    files.iter().map(|path| (name(path), std::fs::read(path).expect("readable"))).collect()
}
