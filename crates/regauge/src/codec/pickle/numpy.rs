//! Arrays and scalars of NumPy with plain dtypes, as `ndarray.__reduce__` describes them.

use std::borrow::Cow;

use super::arena::{Arena, Kind, Node};
use super::known::{What, find};
use super::understand::{Call, bytes};

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    Signed,
    Unsigned,
    Float,
    Complex,
}

/// An array, or a scalar as its only element.
#[derive(Debug)]
pub(super) struct Ndarray<'i> {
    pub element: Element,
    /// Bytes per element: 1, 2, 4, 8 or 16.
    pub size: usize,
    pub big_endian: bool,
    /// The lengths of the dimensions, outermost first.
    pub shape: Vec<usize>,
    /// Whether the first dimension varies fastest.
    pub fortran: bool,
    pub data: Cow<'i, [u8]>,
}

/// One number of an array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Bool(bool),
    Int(i64),
    UInt(u64),
    F32(f32),
    F64(f64),
    Complex(f64, f64),
}

/// The most dimensions NumPy supports.
const DIMENSIONS_MAX: usize = 64;

impl Ndarray<'_> {
    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the element at this place in C order.
    pub fn number(&self, place: usize) -> Number {
        let at = if self.fortran { self.fortran_place(place) } else { place } * self.size;
        let mut raw = [0; 16];
        let raw = &mut raw[..self.size];
        raw.copy_from_slice(&self.data[at..at + self.size]);
        if self.big_endian {
            // The two parts of a complex number are byte-swapped separately.
            let parts = if self.element == Element::Complex { 2 } else { 1 };
            raw.chunks_mut(self.size / parts).for_each(|part| part.reverse());
        }
        let unsigned = |raw: &[u8]| {
            let mut eight = [0; 8];
            eight[..raw.len()].copy_from_slice(raw);
            u64::from_le_bytes(eight)
        };
        match self.element {
            Element::Bool => Number::Bool(raw[0] != 0),
            Element::Unsigned => match i64::try_from(unsigned(raw)) {
                Ok(v) => Number::Int(v),
                Err(_) => Number::UInt(unsigned(raw)),
            },
            Element::Signed => {
                let unused = 64 - 8 * self.size as u32;
                Number::Int((unsigned(raw) << unused) as i64 >> unused)
            }
            Element::Float => match self.size {
                2 => Number::F32(half(unsigned(raw) as u16)),
                4 => Number::F32(f32::from_bits(unsigned(raw) as u32)),
                _ => Number::F64(f64::from_bits(unsigned(raw))),
            },
            Element::Complex => {
                let (real, imaginary) = raw.split_at(self.size / 2);
                let part = |raw: &[u8]| match raw.len() {
                    4 => f64::from(f32::from_bits(unsigned(raw) as u32)),
                    _ => f64::from_bits(unsigned(raw)),
                };
                Number::Complex(part(real), part(imaginary))
            }
        }
    }

    fn fortran_place(&self, mut place: usize) -> usize {
        // From the last index, which varies fastest in C order, to the first.
        let mut stride: usize = self.shape.iter().product();
        let mut at = 0;
        for length in self.shape.iter().rev() {
            stride /= length;
            at += place % length * stride;
            place /= length;
        }
        at
    }
}

/// Converts a half-precision number (IEEE 754-2008 binary16).
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15, bits >> 10 & 31, bits & 0x3FF);
    let magnitude = match exponent {
        0 => f32::from(fraction) / 16_777_216.0,
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => f32::from_bits(u32::from(exponent + 112) << 23 | u32::from(fraction) << 13),
    };
    if sign == 1 { -magnitude } else { magnitude }
}

/// Returns the array that a call of `_reconstruct` or `_frombuffer` creates.
pub(super) fn array<'i>(
    call: &Call<'_, 'i>,
    arena: &Arena,
    input: &'i [u8],
) -> Option<Ndarray<'i>> {
    let (shape, dtype, fortran, data) = match call.what {
        What::Frombuffer => {
            let &[data, dtype, shape, order] = call.arguments else { return None };
            let order = Arena::text(order, input)?;
            (
                shape,
                dtype,
                match &*order {
                    "C" => false,
                    "F" => true,
                    _ => return None,
                },
                data,
            )
        }
        _ => {
            let &[class, ref rest @ ..] = call.arguments else { return None };
            if !rest.iter().all(|node| is_plain(arena, *node, input)) {
                return None;
            }
            let (module, name) = arena.global(class, input)?;
            if module != "numpy" || name != "ndarray" {
                return None;
            }
            let Node::Object(_, state) = call.state()? else { return None };
            match *tuple(arena, state)? {
                [Node::Int(_, 1), shape, dtype, Node::Bool(_, fortran), data] => {
                    (shape, dtype, fortran, data)
                }
                // There was none before version 1.
                [shape, dtype, Node::Bool(_, fortran), data] => (shape, dtype, fortran, data),
                _ => return None,
            }
        }
    };
    if call.what == What::Frombuffer && !call.plain {
        return None;
    }
    let Node::Object(_, shape) = shape else { return None };
    let lengths: Option<Vec<usize>> = tuple(arena, shape)?
        .iter()
        .map(|node| match node {
            Node::Int(_, length) => usize::try_from(*length).ok(),
            _ => None,
        })
        .collect();
    let array = new(arena, dtype, lengths?, fortran, bytes(arena, data, input)?, input)?;
    // Nested arrays could not express the dimensions inside an empty one.
    let empty = array.count() == 0 && array.shape.len() > 1;
    (!empty).then_some(array)
}

/// Returns the number that a call of `scalar` creates.
pub(super) fn scalar<'i>(
    call: &Call<'_, 'i>,
    arena: &Arena,
    input: &'i [u8],
) -> Option<Ndarray<'i>> {
    let &[dtype, data] = call.arguments else { return None };
    new(arena, dtype, Vec::new(), false, bytes(arena, data, input)?, input)
}

fn new<'i>(
    arena: &Arena,
    dtype: Node,
    shape: Vec<usize>,
    fortran: bool,
    data: Cow<'i, [u8]>,
    input: &[u8],
) -> Option<Ndarray<'i>> {
    let (element, size, big_endian) = plain_dtype(arena, dtype, input)?;
    if shape.len() > DIMENSIONS_MAX {
        return None;
    }
    let count = shape.iter().try_fold(1usize, |count, length| count.checked_mul(*length))?;
    let fits = count.checked_mul(size)? == data.len();
    fits.then_some(Ndarray { element, size, big_endian, shape, fortran, data })
}

/// Returns the nodes of a tuple.
fn tuple(arena: &Arena, index: u32) -> Option<&[Node]> {
    (arena.object(index).kind == Kind::Tuple).then(|| arena.made_of(index))
}

/// Reads `numpy.dtype('f8', False, True)` and its state, `(3, '<', None, None, None, -1, -1, 0)`.
fn plain_dtype(arena: &Arena, node: Node, input: &[u8]) -> Option<(Element, usize, bool)> {
    let Node::Object(_, index) = node else { return None };
    let call = Call::of(arena, index, input)?;
    if call.what != What::Dtype {
        return None;
    }
    let &[code, ref rest @ ..] = call.arguments else { return None };
    let code = Arena::text(code, input)?;
    let Node::Object(_, state) = call.state()? else { return None };
    let &[Node::Int(_, 3), order, Node::None(_), Node::None(_), Node::None(_), ref more @ ..] =
        tuple(arena, state)?
    else {
        return None;
    };
    if !rest.iter().chain(more).all(|node| is_plain(arena, *node, input)) {
        return None;
    }
    let big_endian = match &*Arena::text(order, input)? {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return None,
    };
    let (element, sizes): (_, &[usize]) = match code.as_bytes().first()? {
        b'b' => (Element::Bool, &[1]),
        b'i' => (Element::Signed, &[1, 2, 4, 8]),
        b'u' => (Element::Unsigned, &[1, 2, 4, 8]),
        b'f' => (Element::Float, &[2, 4, 8]),
        b'c' => (Element::Complex, &[8, 16]),
        _ => return None,
    };
    let size = code.get(1..)?.parse().ok()?;
    sizes.contains(&size).then_some((element, size, big_endian))
}

/// Returns whether a node with no effect on the value is a scalar, bytes, or a tuple of scalars, so
/// that nothing is lost with it.
fn is_plain(arena: &Arena, node: Node, input: &[u8]) -> bool {
    let Node::Object(_, index) = node else { return true };
    match tuple(arena, index) {
        Some(nodes) => nodes.iter().all(|node| !matches!(node, Node::Object(..))),
        None => bytes(arena, node, input).is_some(),
    }
}

/// Returns whether a call that is not read as a value is still harmless: a dtype, or an array of
/// one, whose parts are plain data. The objects in an array are judged separately.
pub(super) fn is_harmless(call: &Call<'_, '_>, arena: &Arena, input: &[u8]) -> bool {
    let plain = |node: &Node| match node {
        Node::Object(_, index) => match arena.object(*index).kind {
            Kind::Tuple | Kind::List | Kind::Dict => true,
            Kind::Call => Call::of(arena, *index, input)
                .is_some_and(|call| matches!(call.what, What::Dtype | What::Encode | What::Bytes)),
            _ => false,
        },
        _ => true,
    };
    let state = match call.state() {
        Some(Node::Object(_, state)) => tuple(arena, state),
        _ if call.plain => Some(&[][..]),
        _ => None,
    };
    let class = |node: &Node| {
        arena.global(*node, input).is_some_and(|(module, name)| {
            find(&module, &name).is_some_and(|known| known.what == What::Class)
        })
    };
    state.is_some_and(|state| state.iter().all(plain))
        && call.arguments.iter().all(|node| plain(node) || class(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        let cases = [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x0001, 5.960_464_5e-8),
            (0x3C00, 1.0),
            (0xC000, -2.0),
            (0x7BFF, 65504.0),
            (0x7C00, f32::INFINITY),
        ];
        for (bits, value) in cases {
            assert_eq!(half(bits).to_bits(), f32::to_bits(value), "{bits:#x}");
        }
        assert!(half(0x7E00).is_nan());
    }

    #[test]
    fn both_orders_of_elements() {
        let array = |fortran, data: Vec<u8>| Ndarray {
            element: Element::Unsigned,
            size: 1,
            big_endian: false,
            shape: vec![2, 3],
            fortran,
            data: Cow::Owned(data),
        };
        let numbers = |array: Ndarray<'_>| (0..6).map(|at| array.number(at)).collect::<Vec<_>>();
        let (c, f) = (array(false, vec![1, 2, 3, 4, 5, 6]), array(true, vec![1, 4, 2, 5, 3, 6]));
        assert_eq!(numbers(c), numbers(f));
    }
}
