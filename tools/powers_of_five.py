#!/usr/bin/env python3
"""Writes crates/regauge/src/bytes/table_powers.rs: the powers of five that turn decimals into doubles.

Entry q (from -342 to 308) is the first 128 bits of 5**q, with its highest bit set, truncated. From
-27 to -1, where 5**-q fits in 64 bits, the reciprocal is rounded up: then a product with it is
exact enough to detect a tie (Lemire, "Number Parsing at a Gigabyte per Second", 2021, sections 5
and 8).

Usage: python3 tools/powers_of_five.py > crates/regauge/src/bytes/table_powers.rs
"""

SMALLEST, LARGEST = -342, 308


def significand(q):
    if q >= 0:
        power = 5**q
        bits = power.bit_length()
        return power << 128 - bits if bits <= 128 else power >> bits - 128
    power = 5**-q
    # 2**(bits + 127) / power lies between 2**127 and 2**128.
    quotient = (1 << power.bit_length() + 127) // power
    return quotient + 1 if q >= -27 else quotient


print("//! Powers of five, written by `tools/powers_of_five.py`: change the script, not this file.")
print()
print("/// The power of ten of the first entry.")
print(f"pub(crate) const SMALLEST: i32 = {SMALLEST};")
print()
print("/// The high and the low half of each power's first 128 bits.")
print("#[rustfmt::skip]")
print(f"pub(crate) static POWERS: [(u64, u64); {LARGEST - SMALLEST + 1}] = [")
for q in range(SMALLEST, LARGEST + 1):
    value = significand(q)
    assert value >> 127 == 1
    print(f"    (0x{value >> 64:016X}, 0x{value & (1 << 64) - 1:016X}),")
print("];")
