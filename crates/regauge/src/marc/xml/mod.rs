//! MARCXML: placeholder.
use crate::out::Out;
use crate::stub::{stub_parser, stub_writer};
use crate::{Fidelity, Limits};
/// x
#[derive(Default, Debug)]
pub struct Parser {}
impl Parser {
    /// x
    pub fn new(_: super::Options, _: Limits) -> Self {
        todo!()
    }
}
stub_parser!(MarcXml);
/// x
pub struct Writer<'o>(Out<'o>);
impl<'o> Writer<'o> {
    /// x
    pub fn new(_: Out<'o>, _: super::Options, _: Fidelity) -> Self {
        todo!()
    }
    /// x
    pub fn into_out(self) -> Out<'o> {
        self.0
    }
}
stub_writer!();
