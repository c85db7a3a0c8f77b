//! The wire format: the first bytes of every type, and the contents of a token's fixed part.
//!
//! The names are those in the specification's table "Formats".

/// `nil`.
pub const NIL: u8 = 0xC0;
/// Never used: a sign that the input is corrupt or not MessagePack.
pub const NEVER_USED: u8 = 0xC1;
/// `false`.
pub const FALSE: u8 = 0xC2;
/// `true`.
pub const TRUE: u8 = 0xC3;
/// `bin 8`.
pub const BIN8: u8 = 0xC4;
/// `bin 16`.
pub const BIN16: u8 = 0xC5;
/// `bin 32`.
pub const BIN32: u8 = 0xC6;
/// `ext 8`.
pub const EXT8: u8 = 0xC7;
/// `ext 16`.
pub const EXT16: u8 = 0xC8;
/// `ext 32`.
pub const EXT32: u8 = 0xC9;
/// `float 32`.
pub const FLOAT32: u8 = 0xCA;
/// `float 64`.
pub const FLOAT64: u8 = 0xCB;
/// `uint 8`.
pub const UINT8: u8 = 0xCC;
/// `uint 16`.
pub const UINT16: u8 = 0xCD;
/// `uint 32`.
pub const UINT32: u8 = 0xCE;
/// `uint 64`.
pub const UINT64: u8 = 0xCF;
/// `int 8`.
pub const INT8: u8 = 0xD0;
/// `int 16`.
pub const INT16: u8 = 0xD1;
/// `int 32`.
pub const INT32: u8 = 0xD2;
/// `int 64`.
pub const INT64: u8 = 0xD3;
/// `fixext 1`.
pub const FIXEXT1: u8 = 0xD4;
/// `fixext 2`.
pub const FIXEXT2: u8 = 0xD5;
/// `fixext 4`.
pub const FIXEXT4: u8 = 0xD6;
/// `fixext 8`.
pub const FIXEXT8: u8 = 0xD7;
/// `fixext 16`.
pub const FIXEXT16: u8 = 0xD8;
/// `str 8`.
pub const STR8: u8 = 0xD9;
/// `str 16`.
pub const STR16: u8 = 0xDA;
/// `str 32`.
pub const STR32: u8 = 0xDB;
/// `array 16`.
pub const ARRAY16: u8 = 0xDC;
/// `array 32`.
pub const ARRAY32: u8 = 0xDD;
/// `map 16`.
pub const MAP16: u8 = 0xDE;
/// `map 32`.
pub const MAP32: u8 = 0xDF;
/// `fixmap`, with the number of pairs in the low 4 bits.
pub const FIXMAP: u8 = 0x80;
/// `fixarray`, with the number of values in the low 4 bits.
pub const FIXARRAY: u8 = 0x90;
/// `fixstr`, with the number of bytes in the low 5 bits.
pub const FIXSTR: u8 = 0xA0;

/// The extension type of points in time.
pub const TIMESTAMP: i8 = -1;

/// The longest fixed part of a token: a marker and eight bytes.
pub const HEADER_MAX: usize = 9;

/// The size of a token's fixed part: the marker, and the length, type or number after it.
pub const HEADER_BYTES: [u8; 256] = header_bytes();

const fn header_bytes() -> [u8; 256] {
    let mut table = [1; 256];
    let mut marker = 0;
    while marker < 256 {
        table[marker] = match marker as u8 {
            BIN8 | UINT8 | INT8 | STR8 => 2,
            FIXEXT1 | FIXEXT2 | FIXEXT4 | FIXEXT8 | FIXEXT16 => 2,
            BIN16 | UINT16 | INT16 | STR16 | ARRAY16 | MAP16 | EXT8 => 3,
            EXT16 => 4,
            BIN32 | UINT32 | INT32 | FLOAT32 | STR32 | ARRAY32 | MAP32 => 5,
            EXT32 => 6,
            UINT64 | INT64 | FLOAT64 => 9,
            _ => 1,
        };
        marker += 1;
    }
    table
}

/// Returns the shortest header of an array or a map.
#[inline]
pub fn container_header(map: bool, count: u32) -> ([u8; 5], usize) {
    let (fix, medium) = if map { (FIXMAP, MAP16) } else { (FIXARRAY, ARRAY16) };
    let [a, b, c, d] = count.to_be_bytes();
    match count {
        0..=15 => ([fix | d, 0, 0, 0, 0], 1),
        16..=0xFFFF => ([medium, c, d, 0, 0], 3),
        _ => ([medium + 1, a, b, c, d], 5),
    }
}

/// Returns the widest header of an array or a map: five bytes.
#[inline]
pub fn wide_header(map: bool, count: u32) -> [u8; 5] {
    let [a, b, c, d] = count.to_be_bytes();
    [if map { MAP32 } else { ARRAY32 }, a, b, c, d]
}
