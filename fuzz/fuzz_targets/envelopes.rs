//! Any bytes as each envelope: no panic, no more memory than the limits allow, and what is taken off comes
//! back around the same value. No reader of a format sees these heads, lengths and layers.
#![no_main]

use std::io::{Read as _, Write as _};

use libfuzzer_sys::fuzz_target;
use regauge::envelope::{self, Opened, Packer, Packing, ROWS, Row, Tools};
use regauge::{Error, ErrorKind, Format, Limits, OnLoss, Options, Result, convert_bytes};

/// zlib, which most frameworks use.
struct Zlib;

impl Packer for Zlib {
    fn unpack(&self, packing: Packing, packed: &[u8], limits: &Limits) -> Result<Vec<u8>> {
        only_zlib(packing)?;
        let mut plain = Vec::new();
        let decoder = flate2::read::ZlibDecoder::new(packed).take(limits.record_bytes + 1);
        { decoder }.read_to_end(&mut plain).map_err(|error| Error::syntax(error.to_string()))?;
        match plain.len() as u64 <= limits.record_bytes {
            true => Ok(plain),
            false => Err(Error::limit("found more than a document may have")),
        }
    }

    fn pack(&self, packing: Packing, plain: &[u8]) -> Result<Vec<u8>> {
        only_zlib(packing)?;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::new(6));
        encoder.write_all(plain)?;
        Ok(encoder.finish()?)
    }
}

fn only_zlib(packing: Packing) -> Result {
    match packing {
        Packing::Zlib => Ok(()),
        _ => Err(Error::new(ErrorKind::Unsupported, "found another compression")),
    }
}

/// Takes off, puts back, and takes off again; `None` if one of them is refused.
fn round(
    bytes: Vec<u8>,
    row: &'static Row,
    tools: &Tools<'_>,
) -> Option<(Opened, Vec<u8>, Opened)> {
    let opened = envelope::open(bytes, row, false, tools).ok()?;
    let closed = envelope::close(&opened, opened.format, opened.bytes.clone(), tools).ok()?;
    let again =
        envelope::open(closed.clone(), row, false, tools).expect("what was put back is taken off");
    Some((opened, closed, again))
}

/// Returns the value in the notation, which holds everything.
fn shown(opened: &Opened) -> Option<Vec<u8>> {
    let mut options = Options::new(opened.format, Format::Json);
    options.on_loss = OnLoss::Wrap;
    convert_bytes(&opened.bytes, &options).ok()
}

fuzz_target!(|data: &[u8]| {
    let mut limits = Limits::default();
    limits.set("record_bytes", Some(1 << 20));
    let tools = Tools { limits: &limits, packer: &Zlib, keys: None };
    for row in &ROWS {
        let Some((opened, closed, again)) = round(data.to_vec(), row, &tools) else { continue };
        assert_eq!(again.format, opened.format);
        assert_eq!(shown(&again), shown(&opened), "{row:?}");
        for (one, other) in opened.layers.iter().zip(&again.layers) {
            assert_eq!(one.row.name, other.row.name);
            // NaN is not equal to itself.
            assert_eq!(format!("{:?}", one.facts), format!("{:?}", other.facts));
        }
        let (_, closed_again, _) = round(closed.clone(), row, &tools).expect("a second time too");
        assert_eq!(closed_again, closed, "{row:?}");
    }
});
