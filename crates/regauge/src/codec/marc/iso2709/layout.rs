//! Where the fields of a record are: the directory, checked against the data.

use crate::codec::marc::leader::{LEADER_BYTES, Sizes, from_nine_digits, number};
use crate::codec::marc::scan::delimiters;
use crate::codec::marc::{FIELD_BYTES_MAX, FIELD_TERMINATOR, RECORD_BYTES_MAX, SUBFIELD_DELIMITER};
use crate::model::hint::Hint;
use crate::model::option::Opt;
use crate::{Error, Result};

/// The bytes of one directory entry: tag, length, start.
pub(super) const ENTRY_BYTES: usize = 12;

/// A leader, the directory's terminator and the record's.
pub(super) const RECORD_BYTES_MIN: usize = LEADER_BYTES + 2;

/// A field of the current record, in the text after the directory. Its tag is in the directory, in
/// the same order as the fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct FieldPlace {
    pub(super) start: u32,
    /// The position of the field's terminator.
    pub(super) end: u32,
}

/// The fields of the current record.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// In the order of the directory.
    pub(super) fields: Vec<FieldPlace>,
    /// The positions of the delimiters in the text that `fields` refers to.
    pub(super) delimiters: Vec<u32>,
    /// The fields are in the order of the data, with nothing between or after them.
    pub(super) in_order: bool,
    /// All numbers in the directory are correct.
    pub(super) is_right: bool,
}

impl Layout {
    /// Fills `fields` and `delimiters` from the directory of `record`. Returns the index where the
    /// data begins, and a loss to count.
    pub(super) fn read(
        &mut self,
        record: &[u8],
        stated: Option<usize>,
        repair: bool,
    ) -> Result<(usize, Option<String>)> {
        self.is_right = false;
        match self.by_directory(record) {
            Ok((base, note)) => match stated {
                None => Ok((base, note)),
                Some(stated) => {
                    let actual = record.len();
                    let overflow = fits_digits(stated, actual, RECORD_BYTES_MAX);
                    let note = note.or_else(|| {
                        (!overflow).then(|| {
                            format!("a record of {actual} bytes whose leader says {stated}")
                        })
                    });
                    Ok((base, note))
                }
            },
            Err(error) => match self.by_terminators(record) {
                Some((base, exact)) if exact || repair => {
                    let note = (!exact).then(|| {
                        format!("a record whose directory is wrong ({})", error.message())
                    });
                    Ok((base, note))
                }
                other => Err(explain(error, record, stated, other.is_some())),
            },
        }
    }

    fn by_directory(&mut self, record: &[u8]) -> Result<(usize, Option<String>)> {
        let fault = |offset: usize, message: String| Err(Error::syntax(message).at(offset as u64));
        let end = record.len() - 1;
        if record.len() < RECORD_BYTES_MIN {
            return fault(
                0,
                format!("found a record of {} bytes, expected 26 or more", record.len()),
            );
        }
        let Some(base) = Sizes::of(record).base_address else {
            let found = record[12..17].escape_ascii();
            return fault(
                12,
                format!("found \"{found}\", expected the base address of data (leader/12-16)"),
            );
        };
        if base <= LEADER_BYTES || base > end || record[base - 1] != FIELD_TERMINATOR {
            return fault(
                12,
                format!(
                    "found the base address {base} (leader/12-16), expected it right after the \
                     directory's terminator"
                ),
            );
        }
        let directory = &record[LEADER_BYTES..base - 1];
        if !directory.len().is_multiple_of(ENTRY_BYTES) {
            return fault(
                LEADER_BYTES,
                format!(
                    "found a directory of {} bytes, expected entries of {ENTRY_BYTES}",
                    directory.len()
                ),
            );
        }
        let data = &record[base..end];
        self.fields.clear();
        let (mut next, mut total, mut in_order) = (0, 0, true);
        for (index, entry) in directory.chunks_exact(ENTRY_BYTES).enumerate() {
            let place = LEADER_BYTES + index * ENTRY_BYTES;
            if !is_tag(entry) {
                return fault(
                    place,
                    format!(
                        "found the tag \"{}\", expected three printable ASCII characters",
                        entry[..3].escape_ascii()
                    ),
                );
            }
            let digits = entry[3..].first_chunk::<9>().and_then(from_nine_digits);
            let Some(digits) = digits.map(|digits| digits as usize) else {
                return fault(
                    place,
                    format!(
                        "found the directory entry \"{}\", expected a tag and nine digits",
                        entry.escape_ascii()
                    ),
                );
            };
            let (length, start) = (digits / 100_000, digits % 100_000);
            let stop = start + length;
            if length == 0 || stop > data.len() || data[stop - 1] != FIELD_TERMINATOR {
                return fault(
                    place,
                    format!(
                        "found the directory entry \"{}\", which does not end at a field's \
                         terminator",
                        entry.escape_ascii()
                    ),
                );
            }
            in_order &= start == next;
            next = stop;
            total += length;
            self.fields.push(FieldPlace { start: start as u32, end: stop as u32 - 1 });
        }
        if !in_order {
            let mut places: Vec<_> = self.fields.iter().map(|f| (f.start, f.end)).collect();
            places.sort_unstable();
            if let Some(pair) = places.windows(2).find(|pair| pair[1].0 <= pair[0].1) {
                return fault(
                    base + pair[1].0 as usize,
                    "found two directory entries that name the same bytes, expected each field to \
                     have its own"
                        .to_owned(),
                );
            }
        }
        self.in_order = in_order && total == data.len();
        self.find_delimiters(data, base, directory)?;
        self.is_right = self.in_order;
        let note = if total != data.len() {
            Some(format!("{} bytes that no directory entry names", data.len() - total))
        } else if !in_order {
            Some("a directory in a different order from the data".to_owned())
        } else {
            None
        };
        Ok((base, note))
    }

    /// Fills `delimiters`, and checks that there are terminators at the ends of fields and nowhere
    /// else.
    fn find_delimiters(&mut self, data: &[u8], base: usize, directory: &[u8]) -> Result {
        if delimiters(data, &mut self.delimiters) == self.fields.len() {
            return Ok(());
        }
        self.in_order = false;
        let terminators =
            self.delimiters.iter().filter(|place| data[**place as usize] != SUBFIELD_DELIMITER);
        // Bytes that no entry names may contain anything; a field may not.
        for (index, field) in self.fields.iter().enumerate() {
            let inside = |place: &&u32| (field.start..field.end).contains(*place);
            if let Some(place) = terminators.clone().find(inside) {
                return Err(Error::syntax(format!(
                    "found a terminator (0x{:02X}) within field {}",
                    data[*place as usize],
                    tag_name(directory, index)
                ))
                .at(base as u64 + u64::from(*place)));
            }
        }
        Ok(())
    }

    /// Fills `fields` by their terminators, in the order of the directory, if there are as many
    /// terminators as entries. Returns the index where the data begins, and whether the directory is
    /// correct apart from numbers too large for their digits.
    fn by_terminators(&mut self, record: &[u8]) -> Option<(usize, bool)> {
        let end = record.len().checked_sub(1)?;
        let rest = record.get(LEADER_BYTES..end)?;
        let base = LEADER_BYTES + memchr::memchr(FIELD_TERMINATOR, rest)? + 1;
        let directory = &record[LEADER_BYTES..base - 1];
        if !directory.len().is_multiple_of(ENTRY_BYTES) || !directory.is_ascii() {
            return None;
        }
        let data = &record[base..end];
        let stated_base = Sizes::of(record).base_address;
        let mut exact = stated_base.is_some_and(|stated| fits_digits(stated, base, 99_999));
        self.fields.clear();
        self.in_order = true;
        delimiters(data, &mut self.delimiters);
        let mut start = 0;
        let mut entries = directory.chunks_exact(ENTRY_BYTES);
        for &place in &self.delimiters {
            if data[place as usize] == SUBFIELD_DELIMITER {
                continue;
            }
            let entry = entries.next()?;
            let length = (place - start) as usize + 1;
            exact &= number(&entry[3..7])
                .is_some_and(|stated| fits_digits(stated, length, FIELD_BYTES_MAX))
                && number(&entry[7..12])
                    .is_some_and(|stated| fits_digits(stated, start as usize, 99_999));
            if !is_tag(entry) {
                return None;
            }
            self.fields.push(FieldPlace { start, end: place });
            start = place + 1;
        }
        (entries.next().is_none() && start as usize == data.len()).then_some((base, exact))
    }

    /// Copies the fields to `out` in the order of the directory, without the bytes between them,
    /// and refers to the copy from then on. Returns where they were.
    #[cold]
    pub(super) fn straighten(&mut self, data: &[u8], out: &mut Vec<u8>) -> Vec<FieldPlace> {
        let original = self.fields.clone();
        out.clear();
        for field in &mut self.fields {
            let start = out.len() as u32;
            // Including the terminator.
            out.extend_from_slice(&data[field.start as usize..=field.end as usize]);
            *field = FieldPlace { start, end: out.len() as u32 - 1 };
        }
        delimiters(out, &mut self.delimiters);
        original
    }

    /// Returns where a position in reordered data was originally.
    #[cold]
    pub(super) fn original_place(&self, original: &[FieldPlace], place: u32) -> u32 {
        let index = self.fields.iter().position(|field| (field.start..=field.end).contains(&place));
        match index.and_then(|index| Some((original.get(index)?, self.fields.get(index)?))) {
            Some((before, now)) => before.start + (place - now.start),
            None => place,
        }
    }
}

#[cold]
fn explain(error: Error, record: &[u8], stated: Option<usize>, can_repair: bool) -> Error {
    let mut error = match stated {
        None => error,
        Some(stated) => Error::new(
            error.kind(),
            format!(
                "found a record of {} bytes whose leader says {stated}, and {}",
                record.len(),
                error.message().strip_prefix("found ").unwrap_or(error.message())
            ),
        )
        .at(error.offset().unwrap_or(0)),
    };
    if can_repair {
        error = error.hint(Hint::on(Opt::MarcRepair).to("read the fields by their terminators"));
    }
    error
}

/// Returns whether a number that does not fit its digits may be written as `stated`: as nines, as
/// zeros or as its last digits. One that fits must be correct.
fn fits_digits(stated: usize, actual: usize, max: usize) -> bool {
    stated == actual
        || actual > max && (stated == max || stated == 0 || stated == actual % (max + 1))
}

/// Returns whether a directory entry begins with a tag: three printable ASCII characters.
#[inline]
fn is_tag(entry: &[u8]) -> bool {
    entry[..3].iter().all(|byte| matches!(byte, 0x20..=0x7E))
}

/// Returns the tag of a field, for a message.
#[cold]
pub(super) fn tag_name(directory: &[u8], index: usize) -> String {
    let entry = directory.get(index * ENTRY_BYTES..).unwrap_or_default();
    entry[..entry.len().min(3)].escape_ascii().to_string()
}
