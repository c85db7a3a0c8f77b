//! Pickles of many values: read if they are whole, and given up early if they are cut.

use super::*;
use crate::ErrorKind;
use crate::model::limits::Limits;
use crate::policy::event::recorder::Recorder;

/// Returns the place and the kind of the error.
fn fault(bytes: &[u8], gives_up: bool) -> Option<(ErrorKind, u64)> {
    let mut parser = Parser::new(Options::default(), Limits { nodes: 40_000, ..Limits::default() });
    if gives_up {
        parser.flat.give_up();
    }
    let mut pos = 0;
    let ran = parser.parse(bytes, &mut pos, true, &mut Recorder::default());
    ran.err().map(|error| (error.kind(), error.offset().unwrap_or(pos as u64)))
}

#[test]
fn a_large_pickle_is_whole_or_refused_where_it_is_cut() {
    let strings = b"\x8c\x01a\x94".repeat(20_000);
    let whole = [b"\x80\x04](", &strings[..], b"e."].concat();
    for gives_up in [false, true] {
        assert_eq!(fault(&whole, gives_up), None);
        for cut in [1, 2, 3, 4, 5, 6] {
            let end = whole.len() - cut;
            let (kind, at) = fault(&whole[..end], gives_up).unwrap();
            // The end, or the string that is cut.
            let expected = end - [0, 0, 0, 2, 1, 0][cut - 1];
            assert_eq!((kind, at as usize), (ErrorKind::Truncated, expected), "{cut}");
        }
        let broken = [&whole[..whole.len() - 2], b"\xff", b"e."].concat();
        let place = (whole.len() - 2) as u64;
        assert_eq!(fault(&broken, gives_up), Some((ErrorKind::Syntax, place)));
    }
}

#[test]
fn every_instruction_is_as_long_for_the_search_as_for_the_machine() {
    let pickles: [&[u8]; 8] = [
        b"(lp0\nI1\naL2L\naF1.5\naS'x'\np1\naVy\np2\nag1\na.",
        b"cdatetime\ndate\n(I1\nI2\nI3\ntR.",
        b"(i__main__\nC\n.",
        b"]q\x00(K\x01M\x02\x00J\x03\x00\x00\x00G\0\0\0\0\0\0\0\0h\0j\0\0\0\0e.",
        b"\x80\x02]r\0\0\0\0(U\x01xT\x01\0\0\0xX\x01\0\0\0x\x8a\x01\x01\x8b\x01\0\0\0\x01\x88\x89e.",
        b"\x80\x04\x95\x08\0\0\0\0\0\0\0](\x8c\x01.\x94e.",
        b"\x80\x05](C\x01.B\x01\0\0\0.\x8d\x01\0\0\0\0\0\0\0.\x8e\x01\0\0\0\0\0\0\0.\x96\x01\0\0\0\0\0\0\0.e.",
        b"\x82\x01\x83\x01\0\x84\x01\0\0\0\x87.",
    ];
    for pickle in pickles {
        let mut machine = Machine::new(&Limits::default());
        machine.run(pickle, true).unwrap();
        assert_eq!(machine.pos(), pickle.len(), "{}", pickle.escape_ascii());
        let found = extent::Extent::default();
        for end in 0..pickle.len() {
            let cut = found.search(&pickle[..end], 0, 1000, true);
            assert!(matches!(cut, extent::Extent::Fault(at) if at <= end), "{end} {cut:?}");
            let open = found.search(&pickle[..end], 0, 1000, false);
            assert!(matches!(open, extent::Extent::Open(at) if at <= end), "{end} {open:?}");
            assert_eq!(open.search(pickle, 0, 1000, true), extent::Extent::Whole);
        }
        assert_eq!(found.search(pickle, 0, 1000, true), extent::Extent::Whole);
    }
}
