// contender: simd-json (native)
// library: simd-json
// usual: yes
// format: json
// gives: data
// install: regauge measure --setup native (needs cargo)
// untrusted: safe
//! simd-json to its own value, whose maps are unordered, built for this processor. It parses in
//! place, so it gets a copy, which is timed.

use crate::bench::Codec;

pub struct Contender;

impl Codec for Contender {
    type Object = simd_json::OwnedValue;

    fn version() -> String {
        "0.19.0, built for this processor".to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        let mut copy = data.to_vec();
        each(simd_json::to_owned_value(&mut copy).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        simd_json::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}
