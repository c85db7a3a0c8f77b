//! Input in hexadecimal digits or base64, decoded as it is read.

use std::io::{self, Read};

use clap::ValueEnum;
use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use regauge::Error;

/// The value of `--input-encoding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Encoding {
    /// Hexadecimal digits of either case
    Hex,
    /// The standard or the URL-safe alphabet, with or without padding
    Base64,
}

/// How much is read at once.
const CHUNK_BYTES: usize = 16 << 10;

impl Encoding {
    /// Returns how many characters make whole bytes.
    fn group(self) -> usize {
        match self {
            Encoding::Hex => 2,
            Encoding::Base64 => 4,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Encoding::Hex => "a hexadecimal digit",
            Encoding::Base64 => "a character of base64",
        }
    }

    /// Returns a character of the alphabet as the decoder takes it; `None` if it is none.
    fn symbol(self, byte: u8) -> Option<u8> {
        match (self, byte) {
            (Encoding::Hex, _) => byte.is_ascii_hexdigit().then_some(byte),
            (Encoding::Base64, b'-') => Some(b'+'),
            (Encoding::Base64, b'_') => Some(b'/'),
            (Encoding::Base64, b'+' | b'/' | b'=') => Some(byte),
            (Encoding::Base64, _) => byte.is_ascii_alphanumeric().then_some(byte),
        }
    }
}

/// Decodes what another reader reads. White space between the characters is passed over.
pub struct Decoder<R> {
    read: R,
    encoding: Encoding,
    /// Characters of a group that is not complete, or not decoded.
    symbols: Vec<u8>,
    decoded: Vec<u8>,
    /// How much of `decoded` was handed out.
    given: usize,
    /// The bytes that were read before.
    offset: u64,
    /// Whether padding was read, after which nothing follows.
    is_padded: bool,
    has_ended: bool,
}

impl<R: Read> Decoder<R> {
    /// Creates a decoder of what `read` reads.
    pub fn new(read: R, encoding: Encoding) -> Decoder<R> {
        Decoder {
            read,
            encoding,
            symbols: Vec::new(),
            decoded: Vec::new(),
            given: 0,
            offset: 0,
            is_padded: false,
            has_ended: false,
        }
    }

    /// Reads a chunk, and decodes the whole groups in it.
    fn advance(&mut self) -> io::Result<()> {
        let mut chunk = [0; CHUNK_BYTES];
        let got = self.read.read(&mut chunk)?;
        self.has_ended = got == 0;
        for byte in &chunk[..got] {
            if !byte.is_ascii_whitespace() {
                let symbol = self.encoding.symbol(*byte);
                let symbol = symbol.filter(|symbol| !self.is_padded || *symbol == b'=');
                let symbol = symbol.ok_or_else(|| self.unexpected(*byte))?;
                self.symbols.push(symbol);
                self.is_padded |= *byte == b'=';
            }
            self.offset += 1;
        }
        let rest = self.symbols.len() % self.encoding.group();
        let whole = match self.has_ended {
            true => self.symbols.len(),
            false => self.symbols.len() - rest,
        };
        let groups = &self.symbols[..whole];
        let decoded = match self.encoding {
            Encoding::Hex => HEXLOWER_PERMISSIVE.decode(groups),
            Encoding::Base64 if rest == 0 => BASE64.decode(groups),
            Encoding::Base64 => BASE64_NOPAD.decode(groups),
        };
        (self.decoded, self.given) = (decoded.map_err(|_| self.incomplete())?, 0);
        self.symbols.drain(..whole);
        Ok(())
    }

    #[cold]
    fn unexpected(&self, byte: u8) -> io::Error {
        let expected = match self.is_padded {
            true => "the end after the padding",
            false => self.encoding.title(),
        };
        let found = byte.escape_ascii();
        let error =
            Error::syntax(format!("byte {}: found `{found}`, expected {expected}", self.offset));
        // It passes through `Read` as an error of the library, to which the input's name is added.
        io::Error::other(error.hint("leave out --input-encoding if the input is not encoded"))
    }

    #[cold]
    fn incomplete(&self) -> io::Error {
        let (what, expected) = match self.encoding {
            Encoding::Hex => ("an odd number of hexadecimal digits", "two for each byte"),
            Encoding::Base64 => {
                ("base64 that ends within a byte", "whole groups of four characters")
            }
        };
        let place = self.offset;
        io::Error::other(Error::truncated(format!(
            "byte {place}: found {what}, expected {expected}; is it cut off?"
        )))
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() {
            if self.has_ended || buffer.is_empty() {
                return Ok(0);
            }
            self.advance()?;
        }
        let got = buffer.len().min(self.decoded.len() - self.given);
        buffer[..got].copy_from_slice(&self.decoded[self.given..self.given + got]);
        self.given += got;
        Ok(got)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out one byte at a time.
    struct Slowly<'b>(&'b [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let got = usize::from(!self.0.is_empty() && !buffer.is_empty());
            buffer[..got].copy_from_slice(&self.0[..got]);
            self.0 = &self.0[got..];
            Ok(got)
        }
    }

    fn decoded(encoding: Encoding, text: &[u8]) -> Result<Vec<u8>, String> {
        let read = |read: &mut dyn Read| {
            let mut bytes = Vec::new();
            let ran = Decoder::new(read, encoding).read_to_end(&mut bytes);
            ran.map(|_| bytes).map_err(|error| error.to_string())
        };
        let whole = read(&mut &*text);
        assert_eq!(read(&mut Slowly(text)), whole, "{}", text.escape_ascii());
        whole
    }

    #[test]
    fn what_is_decoded() {
        use Encoding::{Base64, Hex};
        for (encoding, text, expected) in [
            (Hex, "", &b""[..]),
            (Hex, "00fF1a\n", b"\0\xFF\x1A"),
            (Hex, "0 0\r\nf f", b"\0\xFF"),
            (Base64, "", b""),
            (Base64, "aGVsbG8=", b"hello"),
            (Base64, "aGVs\r\nbG8\n", b"hello"),
            (Base64, "aGk=\n", b"hi"),
            (Base64, "aA==", b"h"),
            (Base64, "--__", b"\xFB\xEF\xFF"),
        ] {
            assert_eq!(decoded(encoding, text.as_bytes()).unwrap(), expected, "{text}");
        }
        let long: Vec<u8> = (0..100_000u32).map(|n| ((n * 31) >> 3) as u8).collect();
        assert_eq!(decoded(Base64, BASE64.encode(&long).as_bytes()).unwrap(), long);
        assert_eq!(decoded(Hex, HEXLOWER_PERMISSIVE.encode(&long).as_bytes()).unwrap(), long);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        use Encoding::{Base64, Hex};
        for (encoding, text, expected) in [
            (Hex, "04 x", "byte 3: found `x`, expected a hexadecimal digit; leave out"),
            (Hex, "\u{4}\u{8}", "byte 0: found `\\x04`, expected a hexadecimal digit"),
            (Hex, "048\n", "byte 4: found an odd number of hexadecimal digits"),
            (Base64, "aGk!", "byte 3: found `!`, expected a character of base64"),
            (Base64, "aGk=aGk=", "byte 4: found `a`, expected the end after the padding"),
            (Base64, "aGVsb", "byte 5: found base64 that ends within a byte"),
            (Base64, "aGk==", "byte 5: found base64 that ends within a byte"),
        ] {
            let error = decoded(encoding, text.as_bytes()).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
