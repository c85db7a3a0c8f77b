//! JSON: placeholder with the expected signatures.
use crate::out::Out;
use crate::stub::{stub_parser, stub_writer};
use crate::{Fidelity, Limits, OnLoss, Result, Value};
/// How documents stand in the input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// One document.
    #[default]
    Single,
    /// One document a line.
    Lines,
    /// Documents with any white space (or none) between.
    Concatenated,
}
/// x
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Set by the conversion from the format.
    pub framing: Framing,
    /// `//` and `/* */`.
    pub comments: bool,
    /// x
    pub trailing_commas: bool,
    /// NaN, Infinity, -Infinity.
    pub non_finite: bool,
    /// Numbers with fraction or exponent as `Ext::Decimal`.
    pub exact_numbers: bool,
    /// Note rounded numbers as `LossKind::Rounded`.
    pub count_rounded: bool,
}
/// x
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// Pretty, with so many spaces.
    pub indent: Option<u8>,
    /// NDJSON. Set by the conversion from the format.
    pub lines: bool,
    /// x
    pub escape_non_ascii: bool,
}
/// x
#[derive(Default, Debug)]
pub struct Parser {}
impl Parser {
    /// x
    pub fn new(_: ReadOptions, _: Limits) -> Self {
        todo!()
    }
}
stub_parser!(Json);
/// x
pub type Reader<'a> = crate::reader::Reader<'a, Parser>;
/// x
pub struct Writer<'o>(Out<'o>);
impl<'o> Writer<'o> {
    /// x
    pub fn new(_: Out<'o>, _: WriteOptions, _: Fidelity) -> Self {
        todo!()
    }
    /// x
    pub fn into_out(self) -> Out<'o> {
        self.0
    }
}
stub_writer!();
/// x
pub fn to_vec(_: &Value, _: OnLoss) -> Result<Vec<u8>> {
    todo!()
}
/// x
pub fn is_number(_: &str) -> bool {
    todo!()
}
