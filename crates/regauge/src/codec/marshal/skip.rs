//! Skips one value of a document that has already been scanned.

use super::types::*;

/// What is still to come.
enum Left {
    Values(u64),
    /// Keys and values of a hash, counted together: a key is next if the number is even.
    Entries(u64),
    Symbol,
    Count,
    Pairs(u64, bool),
    /// The bytes of a `_dump`.
    Bytes,
}

/// Returns the place after the value at `at`, including its wrappers and instance variables. The
/// document has been scanned, so nothing in it is cut off.
pub(super) fn value(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Values(1)])
}

/// Returns the place after the symbol at `at`.
pub(super) fn symbol(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Symbol])
}

/// Reads a number that has been scanned before.
#[inline]
pub(super) fn number(document: &[u8], at: usize) -> (u64, usize) {
    let (number, end) = long(document, at).expect("scanned before");
    (number.unsigned_abs(), end)
}

/// Reads a length that has been scanned before. Returns the bytes after it, and the place after
/// those.
#[inline]
pub(super) fn bytes(document: &[u8], at: usize) -> (&[u8], usize) {
    let (length, start) = number(document, at);
    let end = start + length as usize;
    (&document[start..end], end)
}

/// Calls `see` with the place of every value in the one at `at`, itself included, and with whether
/// it is a key of a hash. Returns the place after the value.
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

/// Skips the head of a value, and records what belongs to the value.
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

/// Returns the place after the instance variables whose count is at `at`.
pub(super) fn ivars(document: &[u8], at: usize) -> usize {
    walk(document, at, vec![Left::Count])
}
