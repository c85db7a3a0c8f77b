//! The native libraries, each as its manual shows it for data without a schema.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Codec, ordered};
use crate::model::assets::VERSIONS;

/// serde_json, built with `float_roundtrip`, without which it is not exact. Decodes to its `Value`,
/// whose maps are sorted by key, or to one that keeps their order, as with the feature
/// `preserve_order`.
pub(super) struct SerdeJson<T>(PhantomData<T>);

/// rmp-serde, which has no value type of its own; decodes to the same two.
pub(super) struct RmpSerde<T>(PhantomData<T>);

/// A value that several libraries build through serde.
pub(super) trait Shared: Serialize + DeserializeOwned {
    /// The suffix of the version.
    const WHAT: &str;
}

impl Shared for serde_json::Value {
    const WHAT: &str = "keys sorted";
}

impl Shared for ordered::Value {
    const WHAT: &str = "keys in their order";
}

impl<T> Default for SerdeJson<T> {
    fn default() -> SerdeJson<T> {
        SerdeJson(PhantomData)
    }
}

impl<T> Default for RmpSerde<T> {
    fn default() -> RmpSerde<T> {
        RmpSerde(PhantomData)
    }
}

impl<T: Shared> Codec for SerdeJson<T> {
    type Object = T;

    fn version() -> String {
        format!("{} float_roundtrip, {}", version_of("serde_json"), T::WHAT)
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(serde_json::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        serde_json::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

impl<T: Shared> Codec for RmpSerde<T> {
    type Object = T;

    fn version() -> String {
        format!("{}, {}", version_of("rmp-serde"), T::WHAT)
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(rmp_serde::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        rmp_serde::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

/// sonic-rs to its `Value`. It chooses its SIMD code when it is compiled: `sonic-rs (native)`, which
/// the set-up builds for the machine's own processor, is what its authors advise.
pub(super) struct SonicRs;

impl Codec for SonicRs {
    type Object = sonic_rs::Value;

    fn version() -> String {
        format!("{}, built for any x86-64", version_of("sonic-rs"))
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Self::Object)) -> Result<(), String> {
        each(sonic_rs::from_slice(data).map_err(|error| error.to_string())?);
        Ok(())
    }

    fn encode(&mut self, objects: &[Self::Object]) -> Result<Vec<u8>, String> {
        sonic_rs::to_vec(&objects[0]).map_err(|error| error.to_string())
    }
}

/// simd-json, decoding to its own value, whose maps are unordered. It overwrites its input, so it
/// gets a copy, which is timed. It chooses its SIMD code when the program starts.
pub(super) struct SimdJson;

impl Codec for SimdJson {
    type Object = simd_json::OwnedValue;

    fn version() -> String {
        format!("{}, with its choice of instructions at run time", version_of("simd-json"))
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

/// serde-saphyr, which has no value type of its own; decodes to serde_json's `Value`.
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

/// Returns the version of a dependency, which the build script reads from the lock file.
fn version_of(library: &str) -> &'static str {
    VERSIONS
        .iter()
        // The benchmarks may use an older one, which is listed first.
        .rfind(|(name, _)| *name == library)
        .map_or("unknown version", |(_, version)| version)
}
