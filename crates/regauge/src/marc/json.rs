//! MARC-in-JSON: placeholder.
use crate::Fidelity;
use crate::out::Out;
use crate::stub::stub_writer;
/// Checks that documents are MARC records, and writes them one a line.
pub struct Writer<'o>(Out<'o>);
impl<'o> Writer<'o> {
    /// x
    pub fn new(_: Out<'o>, _: Fidelity) -> Self {
        todo!()
    }
    /// x
    pub fn into_out(self) -> Out<'o> {
        self.0
    }
}
stub_writer!();
