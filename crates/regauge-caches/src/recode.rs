//! What a sample would take in other formats.

use regauge::convert::convert_counted;
use regauge::envelope::{Packer as _, Packing};
use regauge::hint::Surface;
use regauge::{Error, Format, Limits, Options};
use regauge_packing::Values;

use crate::look::Codec;
use crate::tally::Sample;

/// The formats that every language of a cache reads, which values could move to.
pub const FORMATS: [Format; 3] = [Format::Msgpack, Format::Json, Format::Cbor];
/// How each is compressed.
const PACKINGS: [Option<Packing>; 3] = [None, Some(Packing::Lz4), Some(Packing::Zstd)];

/// A sample of values of one format, written again.
#[derive(Debug, Default)]
pub struct Recoded {
    /// How many values were tried.
    pub tried: u64,
    /// How many of them every format of `ways` holds exactly.
    pub exact: u64,
    /// What those take as they are stored.
    pub stored: u64,
    /// What they take in each format, compressed one by one; the smallest first.
    pub ways: Vec<Way>,
    /// Why the first of the others is refused.
    pub refused: Option<String>,
}

/// A format and a compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The format.
    pub format: Format,
    /// The compression.
    pub packing: Option<Packing>,
    /// The bytes of the values that are exact.
    pub bytes: u64,
}

impl Way {
    /// Returns the name: `msgpack+zstd`.
    pub fn name(&self) -> String {
        match self.packing {
            Some(packing) => format!("{}+{}", self.format.name(), packing.name()),
            None => self.format.name().to_owned(),
        }
    }
}

/// Writes the values of `codec` in a sample in every way.
pub fn recode(sample: &Sample, codec: Codec, limits: &Limits) -> Recoded {
    let mut found = Recoded::default();
    let Codec::Format(from) = codec else { return found };
    let mut totals = [[0; PACKINGS.len()]; FORMATS.len()];
    for (form, stored, inside) in &sample.values {
        if form.codec != codec {
            continue;
        }
        found.tried += 1;
        let converted = FORMATS.map(|to| {
            let mut options = Options::new(from, to);
            options.limits = *limits;
            exactly(inside, &options)
        });
        if let Some(Err(error)) = converted.iter().find(|one| one.is_err()) {
            found.refused.get_or_insert_with(|| error.display(&Surface::COMMAND).to_string());
            continue;
        }
        found.exact += 1;
        found.stored += stored;
        for (bytes, totals) in converted.iter().flatten().zip(&mut totals) {
            for (packing, total) in PACKINGS.iter().zip(totals) {
                *total += packed_length(bytes, *packing);
            }
        }
    }
    if found.exact > 0 {
        for (format, totals) in FORMATS.iter().zip(totals) {
            for (packing, bytes) in PACKINGS.iter().zip(totals) {
                found.ways.push(Way { format: *format, packing: *packing, bytes });
            }
        }
        found.ways.sort_by_key(|way| way.bytes);
    }
    found
}

/// Converts a value, unless something would not be kept exactly.
fn exactly(inside: &[u8], options: &Options) -> regauge::Result<Vec<u8>> {
    let (bytes, summary) = convert_counted(inside, options)?;
    match summary.fidelity.losses().first() {
        None => Ok(bytes),
        Some(loss) => {
            let kept = loss.examples.first().map_or_else(String::new, |first| {
                format!(": found {}, would write {}", first.found, first.written)
            });
            let kind = loss.kind.name();
            Err(Error::unrepresentable(format!(
                "{} would not be kept exactly ({kind}){kept}",
                options.to.title()
            )))
        }
    }
}

/// Returns how long bytes are if they are compressed; as they are if that is shorter, as caches do.
fn packed_length(bytes: &[u8], packing: Option<Packing>) -> u64 {
    let packed = packing.and_then(|packing| Values.pack(packing, bytes).ok());
    packed.map_or(bytes.len(), |packed| packed.len().min(bytes.len())) as u64
}
