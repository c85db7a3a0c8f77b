//! Passing over one value of a document that was scanned already.

use super::types::*;

/// What is still to come.
enum Left {
    Values(u64),
    /// Keys and values of a hash, together: a key is next where the number is even.
    Entries(u64),
    Symbol,
    Count,
    Pairs(u64, bool),
    /// The bytes of a `_dump`.
    Bytes,
}

/// The place behind the value at `at`, wrappers and instance variables included. The document was
/// scanned, so that nothing in it is cut off.
pub(super) fn value(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Values(1)])
}

/// The place behind the symbol at `at`.
pub(super) fn symbol(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Symbol])
}

/// A number that was seen before.
#[inline]
pub(super) fn number(document: &[u8], at: usize) -> (u64, usize) {
    let (number, end) = long(document, at).expect("scanned before");
    (number.unsigned_abs(), end)
}

/// A length that was seen before and the bytes behind it, and the place behind those.
#[inline]
pub(super) fn bytes(document: &[u8], at: usize) -> (&[u8], usize) {
    let (length, start) = number(document, at);
    let end = start + length as usize;
    (&document[start..end], end)
}

/// Calls `see` with the place of every value in the one at `at`, itself included, and with whether it
/// is a key of a hash. Gives the place behind.
pub(super) fn each(document: &[u8], at: usize, mut see: impl FnMut(usize, bool)) -> usize {
    visit(document, at, vec![Left::Values(1)], &mut see)
}

fn walk(document: &[u8], at: usize, stack: Vec<Left>) -> usize {
    visit(document, at, stack, &mut |_, _| {})
}

#[inline]
fn visit(
    document: &[u8],
    mut at: usize,
    mut stack: Vec<Left>,
    see: &mut impl FnMut(usize, bool),
) -> usize {
    while let Some(left) = stack.pop() {
        match left {
            Left::Values(0) | Left::Entries(0) | Left::Pairs(0, _) => {}
            Left::Values(count) => {
                stack.push(Left::Values(count - 1));
                see(at, false);
                at = one(document, at, &mut stack);
            }
            Left::Entries(count) => {
                stack.push(Left::Entries(count - 1));
                see(at, count % 2 == 0);
                at = one(document, at, &mut stack);
            }
            Left::Pairs(count, false) => {
                stack.push(Left::Pairs(count, true));
                stack.push(Left::Symbol);
            }
            Left::Pairs(count, true) => {
                stack.push(Left::Pairs(count - 1, false));
                see(at, false);
                at = one(document, at, &mut stack);
            }
            Left::Count => {
                let (count, end) = number(document, at);
                stack.push(Left::Pairs(count, false));
                at = end;
            }
            Left::Bytes => at = bytes(document, at).1,
            Left::Symbol => match document[at] {
                SYMLINK => at = number(document, at + 1).1,
                SYMBOL => at = bytes(document, at + 1).1,
                _ => {
                    at = bytes(document, at + 2).1;
                    stack.push(Left::Count);
                }
            },
        }
    }
    at
}

/// Passes over the head of a value, and notes what belongs to it.
fn one(document: &[u8], at: usize, stack: &mut Vec<Left>) -> usize {
    match document[at] {
        NIL | TRUE | FALSE => at + 1,
        FIXNUM | LINK | SYMLINK => number(document, at + 1).1,
        STRING | FLOAT | CLASS | MODULE | MODULE_OLD | SYMBOL => bytes(document, at + 1).1,
        REGEXP => bytes(document, at + 1).1 + 1,
        BIGNUM => {
            let (words, end) = number(document, at + 2);
            end + 2 * words as usize
        }
        ARRAY => {
            let (count, end) = number(document, at + 1);
            stack.push(Left::Values(count));
            end
        }
        kind @ (HASH | HASH_DEFAULT) => {
            let (count, end) = number(document, at + 1);
            stack.push(Left::Values(u64::from(kind == HASH_DEFAULT)));
            stack.push(Left::Entries(2 * count));
            end
        }
        OBJECT | STRUCT => {
            stack.push(Left::Count);
            stack.push(Left::Symbol);
            at + 1
        }
        IVARS => {
            stack.push(Left::Count);
            stack.push(Left::Values(1));
            at + 1
        }
        USER_DUMP => {
            stack.push(Left::Bytes);
            stack.push(Left::Symbol);
            at + 1
        }
        // A wrapper, or an object with one value: a symbol and a value.
        _ => {
            stack.push(Left::Values(1));
            stack.push(Left::Symbol);
            at + 1
        }
    }
}

/// The place behind the instance variables whose count is at `at`.
pub(super) fn ivars(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Count])
}
