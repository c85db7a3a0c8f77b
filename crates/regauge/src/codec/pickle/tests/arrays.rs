//! Arrays whose data is next to a pickle, or in the middle of one; a line end after the last
//! pickle.

use super::*;
use crate::policy::event::recorder::{Pieces, Recorder};

/// Returns the events of all pickles, or the error; the same when fed in pieces.
fn read(bytes: &[u8]) -> std::result::Result<Vec<String>, String> {
    let run = |mut reader: Reader<'_>| {
        let mut events = Recorder::default();
        loop {
            match reader.next(&mut events) {
                Ok(true) => {}
                Ok(false) => return Ok(events.lines),
                Err(error) => return Err(error.to_string()),
            }
        }
    };
    let whole = run(Reader::from_slice(Parser::new(Options::default(), Limits::default()), bytes));
    for size in [1, 7] {
        let parser = Parser::new(Options::default(), Limits::default());
        assert_eq!(run(Reader::from_read(parser, Pieces(bytes, size))), whole);
    }
    let survey = crate::codec::pickle::survey(bytes, &Limits::default());
    let broken = survey.error.map(|error| error.message().to_owned());
    assert_eq!(broken.is_some(), whole.is_err(), "{broken:?}");
    whole
}

#[test]
fn a_line_end_after_the_last_pickle() {
    for end in ["", "\n", "\r\n", "\r"] {
        let bytes = [b"I1\n.N.", end.as_bytes()].concat();
        assert_eq!(read(&bytes).unwrap().len(), 2, "{end:?}");
    }
    for end in ["\n\n", " ", "\nI1\n.", "\0"] {
        assert!(read(&[b"N.", end.as_bytes()].concat()).is_err(), "{end:?}");
    }
}

#[test]
fn an_array_of_joblib_is_named_with_its_shape() {
    let mut bytes = b"\x80\x03]q\0(cjoblib.numpy_pickle\nNumpyArrayWrapper\nq\x01)\x81q\x02}q\x03(\
        X\x05\0\0\0shapeq\x05K\x02K\x03\x86q\x06X\x05\0\0\0dtypeq\x0Bcnumpy\ndtype\n\
        X\x02\0\0\0i8K\0K\x01\x87Rub"
        .to_vec();
    for data in [&[0; 48][..], b"\x95\x95", b"\xFF\xFF", b""] {
        let length = bytes.len();
        bytes.extend_from_slice(data);
        let error = read(&bytes).unwrap_err();
        let expected = "found the raw bytes of a NumPy array in \
                        joblib.numpy_pickle.NumpyArrayWrapper (shape (2, 3), dtype i8)";
        assert!(error.contains(expected), "{error}");
        bytes.truncate(length);
    }
}

#[test]
fn an_array_after_a_pickle_is_named_with_its_header() {
    let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }";
    let mut bytes = [b"N.\x93NUMPY\x01\0v\0", header.as_bytes()].concat();
    bytes.resize(400, b' ');
    let error = read(&bytes).unwrap_err();
    assert!(error.contains("byte 2: found the data of a NumPy array ({'descr"), "{error}");
    assert!(error.contains("(3,)"), "{error}");
}
