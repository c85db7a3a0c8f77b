//! Members of gzip in sequence (RFC 1952 §2.2), and the zeros that tapes and block devices put after the last one.

use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

use crate::TRAILING;

/// A reader of all members of a file.
pub(super) struct Members<R> {
    /// `None` once the last member has ended.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Members<R> {
    pub(super) fn new(read: R) -> Members<R> {
        Members { member: Some(GzDecoder::new(read)) }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let got = member.read(buffer)?;
            if got > 0 {
                return Ok(got);
            }
            let Some(member) = self.member.take() else { break };
            let mut read = member.into_inner();
            match read.fill_buf()?.first() {
                Some(0x1F) => self.member = Some(GzDecoder::new(read)),
                _ => end_in_zeros(read)?,
            }
        }
        Ok(0)
    }
}

/// Refuses what is not a zero, up to the end.
fn end_in_zeros(mut read: impl BufRead) -> io::Result<()> {
    loop {
        let rest = read.fill_buf()?;
        if rest.iter().any(|byte| *byte != 0) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, TRAILING));
        }
        match rest.len() {
            0 => return Ok(()),
            zeros => read.consume(zeros),
        }
    }
}
