//! The footer: the columns and the row groups. It is checked before the crate reads it, because the crate recurses
//! as deep as the columns nest, and allocates the number of children that a column claims.

use regauge::hint::Hint;
use regauge::limits::Limit;
use regauge::{Error, ErrorKind, Limits, Result};

use super::MAGIC;
use super::file::At;
use super::thrift::{Compact, Fault, LIST, STRUCT};

/// How deep columns may nest: each of [`crate::column::DEPTH_MAX`] levels of a list or a map takes up to 3.
const LEVELS_MAX: usize = 3 * crate::column::DEPTH_MAX;

/// The footer in memory takes up to 30 times its bytes, so a quarter of the largest record, 16 MiB, is half a
/// gigabyte. Real ones stay below 1 MiB; those of thousands of columns and row groups can be larger.
fn bytes_max(limits: &Limits) -> u64 {
    limits.record_bytes / 4
}

/// Reads the footer of a file.
///
/// # Errors
/// `Truncated` and `Syntax` for a file without one, `Limit` for one that is too large, `Unsupported` for an
/// encrypted one.
pub fn read(file: &At, limits: &Limits) -> Result<Vec<u8>> {
    // The magic bytes at both ends, and the length.
    const ENDS: u64 = 12;
    let head = file.bytes(0, file.size().min(4))?;
    if head != MAGIC {
        return Err(Error::syntax(format!(
            "found \"{}\" at the beginning, expected \"PAR1\"",
            head.escape_ascii()
        ))
        .at(0));
    }
    let Some(end) = file.size().checked_sub(8).filter(|_| file.size() >= ENDS) else {
        return Err(Error::truncated("found the end of the file before a footer").at(file.size()));
    };
    let tail = file.bytes(end, 8)?;
    let (length, magic) = tail.split_at(4);
    if magic == b"PARE" {
        return Err(Error::new(ErrorKind::Unsupported, "found an encrypted file"));
    }
    if magic != MAGIC {
        return Err(Error::truncated(
            "found no \"PAR1\" at the end, which a whole file has; was it copied or written only in part?",
        )
        .at(file.size()));
    }
    let length = u64::from(u32::from_le_bytes(length.try_into().unwrap_or_default()));
    let start = end.checked_sub(length).filter(|start| *start >= 4);
    let Some(start) = start else {
        return Err(Error::syntax(format!(
            "found a footer of {length} bytes in a file of {}",
            file.size()
        ))
        .at(end));
    };
    if length > bytes_max(limits) {
        return Err(Error::limit(format!(
            "found a footer of {length} bytes, more than a quarter of the limit of record_bytes"
        ))
        .hint(Hint::raise(Limit::RecordBytes)));
    }
    let footer = file.bytes(start, length)?;
    check(&footer).map_err(|fault| fault.at(start))?;
    Ok(footer)
}

/// Checks that the structure is whole, and that the columns are a tree of bounded depth.
fn check(footer: &[u8]) -> Result {
    let mut columns = Vec::new();
    let walked = Compact::new(footer).structure(&mut |compact, field, kind| {
        // FileMetaData: schema.
        if (field, kind) != (2, LIST) {
            return Ok(false);
        }
        let (kind, count) = compact.list()?;
        if kind != STRUCT {
            return Err(Fault::Wrong);
        }
        for _ in 0..count {
            columns.push(children(compact)?);
        }
        Ok(true)
    });
    match walked {
        Ok(()) => check_tree(&columns),
        Err(_) => {
            Err(Error::syntax("found a footer that is no structure of Thrift's compact protocol"))
        }
    }
}

/// Walks over a column, and returns the number of its children.
fn children(compact: &mut Compact<'_>) -> std::result::Result<i64, Fault> {
    let mut children = 0;
    compact.structure(&mut |compact, field, kind| {
        // SchemaElement: num_children.
        if (field, kind) != (5, super::thrift::I32) {
            return Ok(false);
        }
        children = compact.int()?;
        Ok(true)
    })?;
    Ok(children)
}

/// Checks that every column has the children that it claims.
fn check_tree(columns: &[i64]) -> Result {
    // For each open level, the number of columns still to come.
    let mut open = Vec::new();
    for (index, children) in columns.iter().enumerate() {
        let Ok(children) = usize::try_from(*children) else {
            return Err(Error::syntax("found a column with fewer than no children"));
        };
        match open.last_mut() {
            Some(left) => *left -= 1,
            None if index > 0 => return Err(Error::syntax("found a second tree of columns")),
            None => {}
        }
        if children > columns.len() - index - 1 {
            return Err(Error::syntax(format!(
                "found a column with {children} children, more than there are columns"
            )));
        }
        if children > 0 {
            open.push(children);
            if open.len() > LEVELS_MAX {
                return Err(Error::limit(format!(
                    "found columns of more than {LEVELS_MAX} levels"
                )));
            }
        }
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(Error::syntax("found fewer columns than the groups claim")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trees_of_columns() {
        for (columns, message) in [
            (&[0][..], None),
            (&[2, 0, 1, 0], None),
            (&[1], Some("more than there are columns")),
            (&[2, 1, 0], Some("fewer columns")),
            (&[1, 0, 0], Some("second tree")),
            (&[1, -1], Some("fewer than no children")),
            (&[2_147_483_647, 0], Some("more than there are columns")),
        ] {
            match (check_tree(columns), message) {
                (Ok(()), None) => {}
                (Err(error), Some(message)) => {
                    assert!(error.to_string().contains(message), "{error}")
                }
                (found, _) => panic!("{columns:?}: {found:?}"),
            }
        }
        let chain = |levels: usize| [vec![1; levels], vec![0]].concat();
        check_tree(&chain(LEVELS_MAX)).unwrap();
        assert_eq!(check_tree(&chain(LEVELS_MAX + 1)).unwrap_err().kind(), ErrorKind::Limit);
    }
}
