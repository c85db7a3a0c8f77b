//! Random numbers that are the same on every machine.

/// xorshift64*.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Returns a number below `bound`, which is at most 2^48, and 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 16) as usize % bound.max(1)
    }

    /// Returns a number of at most this many bits: small ones more often than large ones.
    pub fn skewed(&mut self, bits: usize) -> u64 {
        let width = self.below(bits + 1);
        self.bits() & ((1u64 << (width % 64)).wrapping_sub(1))
    }

    /// Returns fewer than `bound` bytes.
    pub fn bytes(&mut self, bound: usize) -> Vec<u8> {
        let length = self.below(bound);
        (0..length).map(|_| self.bits() as u8).collect()
    }

    /// Returns one item of a list, which is not empty.
    pub fn of<'t, T: ?Sized>(&mut self, list: &[&'t T]) -> &'t T {
        list[self.below(list.len())]
    }
}
