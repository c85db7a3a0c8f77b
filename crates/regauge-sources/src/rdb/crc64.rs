//! The checksum at the end of a dump: CRC-64 of Jones' polynomial, reflected, from 0 (Redis `src/crc64.c`).
//!
//! Sixteen bytes at a time, by tables of their own (M. E. Kounavis, F. L. Berry: "A Systematic Approach to
//! Building High Performance Software-based CRC Generators", 2005): skipping a value costs little but this.

/// The polynomial with its bits reversed.
const POLYNOMIAL: u64 = 0x95AC_9329_AC4B_C9B5;
const LANES: usize = 16;

static TABLES: [[u64; 256]; LANES] = tables();

const fn tables() -> [[u64; 256]; LANES] {
    let mut tables = [[0; 256]; LANES];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[lane - 1][byte];
            tables[lane][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        lane += 1;
    }
    tables
}

/// Returns the checksum of the bytes that gave `crc` and of these.
pub(super) fn update(mut crc: u64, bytes: &[u8]) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    for chunk in chunks {
        let mut lanes = *chunk;
        for (lane, byte) in lanes.iter_mut().zip(crc.to_le_bytes()) {
            *lane ^= byte;
        }
        crc = 0;
        for (lane, table) in lanes.iter().zip(TABLES.iter().rev()) {
            crc ^= table[usize::from(*lane)];
        }
    }
    for byte in rest {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check value is in Redis' `crc64.c`; pieces of every length give the same.
    #[test]
    fn pieces_give_the_checksum_of_the_whole() {
        assert_eq!(update(0, b"123456789"), 0xE9C6_D914_C4B8_D9CA);
        let bytes: Vec<u8> = (0..999_u32).map(|n| ((n * n) >> 3) as u8).collect();
        let whole = bytes.iter().fold(0, |crc, byte| update(crc, &[*byte]));
        for cut in 0..bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            assert_eq!(update(update(0, head), tail), whole, "{cut}");
        }
    }
}
