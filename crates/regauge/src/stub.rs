//! Placeholder until the codecs land: the signatures that convert.rs expects.
macro_rules! stub_writer {
    ($($p:tt)*) => {
        impl crate::event::Sink for Writer<'_> {
            fn null(&mut self) -> crate::Result {
                todo!()
            }
            fn bool(&mut self, _: bool) -> crate::Result {
                todo!()
            }
            fn i64(&mut self, _: i64) -> crate::Result {
                todo!()
            }
            fn u64(&mut self, _: u64) -> crate::Result {
                todo!()
            }
            fn f64(&mut self, _: f64) -> crate::Result {
                todo!()
            }
            fn str(&mut self, _: &str) -> crate::Result {
                todo!()
            }
            fn begin_array(&mut self, _: Option<u64>) -> crate::Result {
                todo!()
            }
            fn end_array(&mut self) -> crate::Result {
                todo!()
            }
            fn begin_map(&mut self, _: Option<u64>) -> crate::Result {
                todo!()
            }
            fn key(&mut self, _: &str) -> crate::Result {
                todo!()
            }
            fn end_map(&mut self) -> crate::Result {
                todo!()
            }
            fn fidelity(&mut self) -> &mut crate::Fidelity {
                todo!()
            }
        }
        impl crate::event::Writer for Writer<'_> {
            fn end_document(&mut self) -> crate::Result {
                todo!()
            }
            fn finish(&mut self) -> crate::Result {
                todo!()
            }
            fn checkpoint(&mut self) {
                todo!()
            }
            fn rollback(&mut self) {
                todo!()
            }
        }
    };
}
macro_rules! stub_parser {
    ($f:ident) => {
        impl crate::reader::Parse for Parser {
            const FORMAT: crate::Format = crate::Format::$f;
            fn parse<S: crate::Sink + ?Sized>(
                &mut self,
                _: &[u8],
                _: &mut usize,
                _: bool,
                _: &mut S,
            ) -> crate::Result<crate::reader::Status> {
                todo!()
            }
            fn limits(&self) -> &crate::Limits {
                todo!()
            }
        }
    };
}
pub(crate) use {stub_parser, stub_writer};
