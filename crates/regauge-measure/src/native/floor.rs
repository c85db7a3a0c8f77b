//! No contender: what building a tree costs with no parsing, and writing with no walk.
//!
//! The documents are read to trees before the clock starts; decoding clones one, which allocates
//! and copies every map, array and text of it, and nothing else. Encoding copies the finished
//! bytes. A library with another kind of object (one arena, one tape) may be below this floor:
//! then that is what its kind of object gains.

use std::collections::HashMap;

use regauge::out::Out;
use regauge::reader::Reader;
use regauge::value::{Builder, Value};
use regauge::{Fidelity, Format, Limits, OnLoss, Source as _, Writer as _, json};

use super::Codec;

#[derive(Default)]
pub(super) struct Floor {
    /// The trees, by the address of their documents, which stay where they are.
    trees: HashMap<usize, Value>,
}

impl Codec for Floor {
    type Object = Value;
    const FLOOR: bool = true;

    fn version() -> String {
        format!("a tree of regauge {}", env!("CARGO_PKG_VERSION"))
    }

    fn loaded(&mut self, documents: &[Vec<u8>]) -> Result<(), String> {
        self.trees.clear();
        for document in documents {
            let parser = json::Parser::new(json::ReadOptions::default(), Limits::default());
            let mut reader = Reader::from_slice(parser, document);
            let mut builder = Builder::new(&Limits::default());
            reader.next(&mut builder).map_err(|error| error.to_string())?;
            let tree = builder.take().ok_or("found no document, expected one")?;
            self.trees.insert(document.as_ptr().addr(), tree);
        }
        Ok(())
    }

    fn decode(&mut self, data: &[u8], each: &mut dyn FnMut(Value)) -> Result<(), String> {
        each(self.trees.get(&data.as_ptr().addr()).ok_or("was not told of this document")?.clone());
        Ok(())
    }

    /// For the check alone, which has to see that the objects are right.
    fn encode(&mut self, objects: &[Value]) -> Result<Vec<u8>, String> {
        let fidelity = Fidelity::new(OnLoss::Refuse, Format::Json);
        let mut writer =
            json::Writer::new(Out::in_memory(), json::WriteOptions::default(), fidelity);
        let mut write = || -> regauge::Result {
            for value in objects {
                value.drive(&mut writer)?;
                writer.end_document()?;
            }
            writer.finish()
        };
        write().map_err(|error| error.to_string())?;
        Ok(writer.into_out().into_vec())
    }
}
