//! What commands say of an envelope, how `convert` puts it back, and the secret that opens one.

use std::fs::File;
use std::io::Read as _;

use regauge::convert::Options;
use regauge::envelope::{self, Layer, Opened, Tools};
use regauge::options::{Envelopes, Secret};
use regauge::{Sink, Value};
use regauge_packing::Values;

use crate::args::Reading;
use crate::failure::{Failure, Result, plain};

/// The longest secret that is read: a file by mistake may be of any size. Frameworks generate 50 to 128 characters.
const SECRET_BYTES_MAX: u64 = 64 << 10;

/// Returns the secret in the file that the arguments name.
///
/// # Errors
/// `Usage` if it cannot be read, if it holds nothing or too much, or if there is a salt without a secret.
pub fn secret(reading: &Reading) -> Result<Option<Secret>> {
    let Some(path) = &reading.secret_file else {
        return match reading.salt {
            Some(_) => Err(Failure::usage("--salt goes with a secret; pass --secret-file, too")),
            None => Ok(None),
        };
    };
    let name = path.display();
    let mut bytes = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(SECRET_BYTES_MAX + 1).read_to_end(&mut bytes));
    read.map_err(|error| Failure::usage(format!("{name}: {}", plain(&error))))?;
    if bytes.len() as u64 > SECRET_BYTES_MAX {
        let found = format!("{name}: has more than {SECRET_BYTES_MAX} bytes, expected a secret");
        return Err(Failure::usage(found));
    }
    let secret = Secret::from_file(&bytes);
    secret.map(Some).ok_or_else(|| Failure::usage(format!("{name}: is empty, expected a secret")))
}

/// Puts the envelope that was taken off around the output.
///
/// # Errors
/// Those of [`envelope::close`].
pub fn close(opened: &Opened, bytes: Vec<u8>, options: &Options) -> regauge::Result<Vec<u8>> {
    let tools = Tools { limits: &options.limits, packer: &Values, keys: None };
    envelope::close(opened, options.to, bytes, &tools)
}

/// Says what was around the value.
pub fn note(opened: &Opened, envelopes: Envelopes) -> String {
    let facts: Vec<_> =
        opened.layers.iter().flat_map(|layer| &layer.facts).map(|fact| fact.words()).collect();
    let about = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join("; ")) };
    let done = if envelopes == Envelopes::Keep { "kept" } else { "taken off" };
    format!("envelope: {}{about}, {done}", opened.names())
}

/// Writes the layers as an array, from the outermost.
///
/// # Errors
/// Those of the sink.
pub fn json(layers: &[Layer], json: &mut dyn Sink) -> regauge::Result {
    json.begin_array(None)?;
    for layer in layers {
        json.begin_map(None)?;
        for (key, text) in [("name", layer.row.name), ("title", layer.row.title)] {
            json.key(key)?;
            json.str(text)?;
        }
        json.key("steps")?;
        json.begin_array(None)?;
        for step in &layer.steps {
            json.str(step)?;
        }
        json.end_array()?;
        json.key("holds")?;
        json.str(layer.format.name())?;
        for fact in &layer.facts {
            json.key(&fact.name.replace(' ', "_"))?;
            value(&fact.value, json)?;
        }
        json.end_map()?;
    }
    json.end_array()
}

/// Writes a fact: what JSON lacks as its text.
fn value(value: &Value, json: &mut dyn Sink) -> regauge::Result {
    match value {
        Value::Text(text) => json.str(text),
        Value::Int(number) => json.i64(*number),
        Value::Timestamp(at) => match at.to_rfc3339() {
            Some(text) => json.str(&text),
            None => json.i64(at.seconds),
        },
        other => json.str(&other.to_string()),
    }
}
