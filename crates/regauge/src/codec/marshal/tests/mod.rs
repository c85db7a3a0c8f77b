//! The format's rules, table by table.

mod passes;
mod reading;
mod suites;
mod writing;

use crate::model::limits::Limits;
use crate::model::value::Value;
use crate::policy::event::Source as _;
use crate::policy::event::recorder::hex;
use crate::policy::fidelity::Objects;
use crate::policy::tree::Builder;
use crate::{Format, OnLoss, Options, Result, convert_bytes};

/// Converts Marshal to Marshal.
fn exact(bytes: &[u8]) -> Result<Vec<u8>> {
    convert_bytes(bytes, &Options::new(Format::Marshal, Format::Marshal))
}

/// Converts Marshal to JSON in the reversible notation.
fn wrapped(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut options = Options::new(Format::Marshal, Format::Json);
    options.on_loss = OnLoss::Wrap;
    convert_bytes(bytes, &options)
}

/// Converts that JSON back to Marshal.
fn unwrapped(json: &[u8]) -> Result<Vec<u8>> {
    let mut options = Options::new(Format::Json, Format::Marshal);
    options.unwrap = true;
    options.documents = crate::policy::documents::Documents::Keep;
    convert_bytes(json, &options)
}

/// Converts Marshal to JSON without classes, losing what JSON cannot hold.
fn as_data(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut options = Options::new(Format::Marshal, Format::Json);
    options.on_loss = OnLoss::Approximate;
    options.objects = Some(Objects::Data);
    convert_bytes(bytes, &options)
}

/// Reads the first document.
fn read(bytes: &[u8]) -> Value {
    let mut builder = Builder::new(&Limits::default());
    let mut reader = super::Reader::from_slice(super::Parser::default(), bytes);
    assert!(reader.next(&mut builder).unwrap());
    builder.take().unwrap()
}
