//! Looks up codes and characters. The compiler derives the tables from characters to codes from the
//! generated ones, so that there is a single source of truth.

use super::Set;
use super::table::{COMBINING, EACC_BEYOND, EACC_CELLS, EACC_ROWS, PAGES, SINGLE};

/// A set and a code in it: 7 bits for a single-byte set, three bytes for EACC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub set: Set,
    pub code: u32,
}

/// Returns the character for the 7-bit `code` (0x20 to 0x7F) in a single-byte set.
#[inline]
pub(super) fn character(set: Set, code: u8) -> Option<char> {
    match SINGLE[set as usize][(code - 0x20) as usize] {
        0 => None,
        c => char::from_u32(c as u32),
    }
}

/// Returns whether the 7-bit `code` of a single-byte set is a combining mark.
#[inline]
pub(super) fn is_mark(set: Set, code: u8) -> bool {
    code < 0x80 && COMBINING[set as usize] >> code & 1 == 1
}

/// Returns the character for three 7-bit bytes in EACC.
#[inline]
pub(super) fn eacc_character([a, b, c]: [u8; 3]) -> Option<char> {
    if !(0x20..0x80).contains(&a) || !(0x20..0x80).contains(&b) {
        return None;
    }
    let row = match EACC_INDEX[(a - 0x20) as usize * 96 + (b - 0x20) as usize] {
        0 => return None,
        index => EACC_ROWS[index as usize - 1],
    };
    let cell = c.checked_sub(row.1).filter(|cell| *cell < row.2)?;
    let value = EACC_CELLS[row.3 as usize + cell as usize];
    match value {
        0 => None,
        0xD800..0xE000 => char::from_u32(EACC_BEYOND[value as usize - 0xD800]),
        _ => char::from_u32(value as u32),
    }
}

/// The control codes of the G1 half. They mean the same in every set, so no table has them; their
/// set is given as Extended Latin, the default for G1.
const CONTROLS: [(char, u8); 4] =
    [('\u{98}', 0x88), ('\u{9C}', 0x89), ('\u{200D}', 0x8D), ('\u{200C}', 0x8E)];

/// Returns the character for a control code from 0x80 to 0x9F.
#[inline]
pub(super) fn control(byte: u8) -> Option<char> {
    CONTROLS.iter().find(|(_, code)| *code == byte).map(|(c, _)| *c)
}

/// Returns the preferred code of a character, except for space and the control codes below 0x80.
#[inline]
pub(super) fn code_of(c: char) -> Option<Code> {
    if let Some((_, byte)) = CONTROLS.iter().find(|(control, _)| *control == c) {
        return Some(Code { set: Set::Ansel, code: *byte as u32 });
    }
    let c = c as u32;
    let packed = if c <= 0xFFFF {
        REVERSE.cells[REVERSE.pages[(c >> 8) as usize] as usize][(c & 0xFF) as usize]
    } else {
        let index = EACC_BEYOND.iter().position(|b| *b == c)?;
        REVERSE.beyond[index]
    };
    match packed {
        0 => None,
        _ if packed & EACC_FLAG != 0 => Some(Code { set: Set::Eacc, code: packed & 0xFF_FFFF }),
        _ => Some(Code { set: Set::SINGLE[(packed >> 8) as usize], code: packed & 0x7F }),
    }
}

/// Returns the 7-bit code of a character in one single-byte set.
#[inline]
pub(super) fn code_in(set: Set, c: char) -> Option<u8> {
    if set == Set::Eacc || (set == Set::Ascii && !c.is_ascii()) {
        return None;
    }
    let preferred = code_of(c)?;
    if preferred.set == set {
        return Some(preferred.code as u8);
    }
    // Only some fifty characters are in more than one set, so the row is rarely searched: for ASCII
    // punctuation within another script, and for the marks that Greek and Arabic repeat.
    let row = &SINGLE[set as usize];
    row.iter().position(|cell| *cell as u32 == c as u32).map(|index| index as u8 + 0x20)
}

/// Returns whether a character of the tables is a combining mark.
#[inline]
pub(super) fn is_mark_character(c: char) -> bool {
    (c as u32) >= 0x300
        && code_of(c)
            .is_some_and(|code| code.set != Set::Eacc && is_mark(code.set, code.code as u8))
}

const EACC_FLAG: u32 = 1 << 24;

/// For each pair of first bytes, 1 + its row in `EACC_ROWS`, or 0.
static EACC_INDEX: [u16; 96 * 96] = {
    let mut index = [0; 96 * 96];
    let mut row = 0;
    while row < EACC_ROWS.len() {
        let key = EACC_ROWS[row].0 as usize;
        index[((key >> 8) - 0x20) * 96 + (key & 0xFF) - 0x20] = row as u16 + 1;
        row += 1;
    }
    index
};

/// Characters to codes: a page for each 256 characters, page 0 empty. A cell is 0, or set << 8 and
/// the 7-bit code, or `EACC_FLAG` and the three bytes.
struct Reverse {
    pages: [u8; 256],
    cells: [[u32; 256]; PAGES],
    beyond: [u32; EACC_BEYOND.len()],
}

static REVERSE: Reverse = reverse();

#[allow(long_running_const_eval, reason = "16,389 codes, some ten steps each: well under a second")]
const fn reverse() -> Reverse {
    let mut table =
        Reverse { pages: [0; 256], cells: [[0; 256]; PAGES], beyond: [0; EACC_BEYOND.len()] };
    let mut used = 1;
    let mut set = 0;
    while set < SINGLE.len() {
        let mut cell = 1;
        while cell < 96 {
            let packed = (set as u32) << 8 | (cell as u32 + 0x20);
            used = enter(&mut table, used, SINGLE[set][cell], packed);
            cell += 1;
        }
        set += 1;
    }
    let mut row = 0;
    while row < EACC_ROWS.len() {
        let (key, first, length, start) = EACC_ROWS[row];
        let mut cell = 0;
        while cell < length as usize {
            let packed = EACC_FLAG | (key as u32) << 8 | (first as u32 + cell as u32);
            used = enter(&mut table, used, EACC_CELLS[start as usize + cell], packed);
            cell += 1;
        }
        row += 1;
    }
    assert!(used == PAGES, "the generated page count is wrong");
    table
}

/// Enters one code, unless the character already has one: the first is the preferred one. The only
/// exception is the ideographic space: catalogues contain 212321, not 212320.
const fn enter(table: &mut Reverse, used: usize, c: u16, packed: u32) -> usize {
    let mut used = used;
    if c == 0 {
        return used;
    }
    if c >= 0xD800 && c < 0xE000 {
        table.beyond[c as usize - 0xD800] = packed;
        return used;
    }
    let mut page = table.pages[c as usize >> 8] as usize;
    if page == 0 {
        page = used;
        table.pages[c as usize >> 8] = page as u8;
        used += 1;
    }
    let cell = &mut table.cells[page][c as usize & 0xFF];
    if *cell == 0 || packed == EACC_FLAG | 0x212321 {
        *cell = packed;
    }
    used
}
