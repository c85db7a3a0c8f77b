//! MARC: placeholder with the expected signatures.
pub mod marc8;

/// x
#[derive(Clone, Debug, Default)]
pub struct Options {}
/// x
pub mod iso2709 {
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
    stub_parser!(Marc);
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
}
/// x
pub mod xml {
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
}
/// x
pub mod json {
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
}
