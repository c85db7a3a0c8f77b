//! The native libraries, each as its manual shows it for data without a schema.

use super::Codec;

/// serde_json to its `Value`, built with `float_roundtrip`: without, it is not exact.
pub(super) struct SerdeJson;

impl Codec for SerdeJson {
    type Object = serde_json::Value;

    fn version() -> String {
        format!("{} float_roundtrip", version_of("serde_json"))
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(serde_json::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

/// sonic-rs to its `Value`. It chooses its SIMD code when it is compiled: a build for the
/// machine's own processor is faster than the common build that is measured here.
pub(super) struct SonicRs;

impl Codec for SonicRs {
    type Object = sonic_rs::Value;

    fn version() -> String {
        version_of("sonic-rs").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(sonic_rs::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        sonic_rs::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

/// rmp-serde, which has no value of its own, to serde_json's `Value`.
pub(super) struct RmpSerde;

impl Codec for RmpSerde {
    type Object = serde_json::Value;

    fn version() -> String {
        version_of("rmp-serde").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(rmp_serde::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        rmp_serde::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

/// ciborium to its `Value`.
pub(super) struct Ciborium;

impl Codec for Ciborium {
    type Object = ciborium::Value;

    fn version() -> String {
        version_of("ciborium").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(ciborium::from_reader(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        ciborium::into_writer(&objects[0], &mut out).map_err(|error| error.to_string())?;
        Ok(out)
    }
}

/// The crate of MongoDB's driver, to its `Document`.
pub(super) struct Bson;

impl Codec for Bson {
    type Object = bson::Document;

    fn version() -> String {
        version_of("bson").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(bson::Document::from_reader(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        objects[0].to_vec().map_err(|error| error.to_string())
    }
}

/// serde-pickle to its `Value`, and protocol 3, the newest that it writes.
pub(super) struct SerdePickle;

impl Codec for SerdePickle {
    type Object = serde_pickle::Value;

    fn version() -> String {
        version_of("serde-pickle").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        let value = serde_pickle::value_from_slice(data, serde_pickle::DeOptions::default());
        each(value.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        serde_pickle::value_to_vec(&objects[0], serde_pickle::SerOptions::default())
            .map_err(|error| error.to_string())
    }
}

/// serde-saphyr, which has no value of its own, to serde_json's `Value`.
pub(super) struct SerdeSaphyr;

impl Codec for SerdeSaphyr {
    type Object = serde_json::Value;

    fn version() -> String {
        version_of("serde-saphyr").to_owned()
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(serde_saphyr::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        serde_saphyr::to_string(&objects[0])
            .map(String::into_bytes)
            .map_err(|error| error.to_string())
    }
}

/// The version of a dependency, which the build script reads from the lock file.
fn version_of(library: &str) -> &'static str {
    crate::assets::VERSIONS
        .iter()
        // The benchmarks may use an older one, which stands before.
        .rfind(|(name, _)| *name == library)
        .map_or("unknown version", |(_, version)| version)
}
