// contender: sonic-rs (native)
// library: sonic-rs
// usual: yes
// format: json
// gives: data
// install: regauge measure --setup native (needs cargo)
// untrusted: safe
//! sonic-rs to its `Value`, built for this processor.

use crate::bench::Codec;

pub struct Contender;

impl Codec for Contender {
    type Object = sonic_rs::Value;

    fn version() -> String {
        "0.5.10, built for this processor".to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(sonic_rs::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        sonic_rs::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}
