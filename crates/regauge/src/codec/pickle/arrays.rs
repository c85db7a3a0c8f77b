//! Files that hold raw array data next to a pickle, or in the middle of one.
//!
//! joblib writes an array as an object that describes it, followed by its bytes where a pickle
//! would continue with an instruction. Such files are not pickles, but errors say what they are.

use super::arena::{Arena, Kind, Node, Step};
use crate::{Error, ErrorKind};

/// How much of a `.npy` file is examined.
pub(super) const NPY_HEADER_BYTES: usize = 256;

/// The first bytes of a `.npy` file.
const NPY_MAGIC: &[u8] = b"\x93NUMPY";

/// Returns the error for a stream that continues with an array in the format of `numpy.save`.
#[cold]
pub(super) fn npy(input: &[u8]) -> Option<Error> {
    let input = &input[..input.len().min(NPY_HEADER_BYTES)];
    let rest = input.strip_prefix(NPY_MAGIC)?;
    // The version, the length of the header, and the header, a dict in Python notation.
    let header = rest.get(4..).unwrap_or_default();
    let from = memchr::memchr(b'{', header).unwrap_or(header.len());
    let to = memchr::memchr(b'}', header).map_or(from, |end| (end + 1).max(from));
    let shown =
        String::from_utf8_lossy(&header[from..to]).replace(crate::model::text::is_hidden, " ");
    let message = format!("found the data of a NumPy array ({shown}), expected a pickle");
    Some(Error::new(ErrorKind::Unsupported, message).hint("load it with numpy.load").at(0))
}

/// Returns the error for an invalid instruction, explaining the raw data if a joblib array came
/// before.
#[cold]
pub(super) fn explain(arena: &Arena, input: &[u8], error: Error) -> Error {
    let found = (0..arena.objects.len() as u32).find_map(|index| wrapper(arena, index, input));
    match found {
        Some(described) => Error::new(
            ErrorKind::Unsupported,
            format!("found the raw bytes of {described}, which joblib embeds in its pickles"),
        )
        .hint("load it with joblib and save it with pickle")
        .at(error.offset().unwrap_or_default()),
        None => error,
    }
}

/// Returns what a joblib object says about the array whose bytes follow it.
fn wrapper(arena: &Arena, index: u32, input: &[u8]) -> Option<String> {
    if !arena.object(index).kind.is_call() {
        return None;
    }
    let (module, name) = arena.global(*arena.made_of(index).first()?, input)?;
    if name != "NumpyArrayWrapper" || !module.starts_with("joblib.") {
        return None;
    }
    let chunk = arena.chunks(index).find(|chunk| chunk.step == Step::Build)?;
    let &[Node::Object(_, state)] = arena.nodes(chunk) else { return None };
    let entry = |wanted: &str| {
        let mut pairs = arena.made_of(state).chunks_exact(2);
        pairs.find(|pair| Arena::text(pair[0], input).is_some_and(|key| key == wanted))
    };
    let shape = entry("shape").and_then(|pair| shape(arena, pair[1]));
    let dtype = entry("dtype").and_then(|pair| dtype(arena, pair[1], input));
    Some(format!(
        "a NumPy array in {module}.{name} (shape {}, dtype {})",
        shape.unwrap_or_else(|| "unknown".into()),
        dtype.unwrap_or_else(|| "unknown".into()),
    ))
}

fn shape(arena: &Arena, node: Node) -> Option<String> {
    let Node::Object(_, index) = node else { return None };
    if arena.object(index).kind != Kind::Tuple {
        return None;
    }
    let length = |node: &Node| match node {
        Node::Int(_, length) => Some(length.to_string()),
        _ => None,
    };
    let lengths: Option<Vec<_>> = arena.made_of(index).iter().map(length).collect();
    Some(format!("({})", lengths?.join(", ")))
}

/// Returns the `i8` of `numpy.dtype('i8', …)`.
fn dtype(arena: &Arena, node: Node, input: &[u8]) -> Option<String> {
    let Node::Object(_, index) = node else { return None };
    let &[_, Node::Object(_, arguments)] = arena.made_of(index) else { return None };
    let text = Arena::text(*arena.made_of(arguments).first()?, input)?;
    Some(text.chars().take(40).collect())
}
