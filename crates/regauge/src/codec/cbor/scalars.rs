//! Values that only some formats have, as tags and simple values.

use super::tags;
use super::types::*;
use super::writer::Writer;
use crate::Result;
use crate::model::{text, time};
use crate::policy::event::{BigInt, Ext, Sink as _, Timestamp};
use crate::policy::fidelity::{self, LossKind, OnLoss};

impl Writer<'_> {
    /// Writes a value that only some formats have.
    pub(super) fn special(&mut self, v: Ext<'_>) -> Result {
        match v {
            Ext::Int64(v) => self.i64(v),
            Ext::Timestamp(at) => self.timestamp(at),
            Ext::Decimal(digits) => match tags::decimal_parts(digits) {
                Some((exponent, mantissa, true)) => self.decimal(exponent, &mantissa),
                Some((exponent, mantissa, false)) if self.may_respell() => {
                    let found = format!("the decimal {}", text::shorten(digits));
                    let kept = "the same digits and exponent in another spelling";
                    self.fidelity().note(LossKind::Decimal, found, kept);
                    self.decimal(exponent, &mantissa)
                }
                _ => fidelity::ext(self, v),
            },
            Ext::Symbol(name) => self.tagged_text(tag::IDENTIFIER, name),
            Ext::Date(text) if tags::is_date(text) => self.tagged_text(tag::DATE, text),
            Ext::OffsetDateTime(text) if tags::is_offset_date_time(text) => {
                self.tagged_text(tag::DATE_TIME, text)
            }
            Ext::Duration { seconds, nanoseconds } => {
                self.seconds_map(tag::DURATION, seconds, nanoseconds)
            }
            Ext::Uuid(uuid) => {
                self.tag(tag::UUID)?;
                self.bytes(&uuid)
            }
            Ext::Regex { pattern, options: "" } => self.tagged_text(tag::REGEX, pattern),
            Ext::Undefined => {
                self.room(1)?;
                self.out.push(UNDEFINED);
                self.count += 1;
                Ok(())
            }
            // The others below 32 are other values or reserved (RFC 8949 §3.3).
            Ext::Simple(value @ (0..20 | 32..)) => {
                self.room(2)?;
                self.head(major::OTHER, u64::from(value));
                self.count += 1;
                Ok(())
            }
            _ => fidelity::ext(self, v),
        }
    }

    /// Returns whether a decimal may be written in another spelling: not under `wrap`, which keeps it, and not if the
    /// source only has numbers, which become doubles instead.
    fn may_respell(&mut self) -> bool {
        let fidelity = self.fidelity();
        fidelity.policy() != OnLoss::Wrap && !fidelity.numbers_as_decimals()
    }

    fn tagged_text(&mut self, number: u64, text: &str) -> Result {
        self.tag(number)?;
        self.string(major::TEXT, text.as_bytes())?;
        self.count += 1;
        Ok(())
    }

    /// Writes a map of seconds and nanoseconds (RFC 9581 §3).
    fn seconds_map(&mut self, number: u64, seconds: i64, nanoseconds: u32) -> Result {
        self.tag(number)?;
        self.room(HEAD_MAX)?;
        self.head(major::MAP, 1 + u64::from(nanoseconds > 0));
        self.integer(1)?;
        self.integer(seconds)?;
        if nanoseconds > 0 {
            self.integer(-9)?;
            self.integer(i64::from(nanoseconds))?;
        }
        self.count += 1;
        Ok(())
    }

    /// Writes a point in time as whole seconds, as a double if that is exact, as text if it has a
    /// text form, otherwise as a map.
    fn timestamp(&mut self, at: Timestamp) -> Result {
        if at.nanoseconds == 0 {
            self.tag(tag::EPOCH)?;
            self.integer(at.seconds)?;
            self.count += 1;
            return Ok(());
        }
        if let Some(seconds) = tags::epoch_seconds(at) {
            self.tag(tag::EPOCH)?;
            return self.f64(seconds);
        }
        match time::rfc3339(at) {
            Some(text) => self.tagged_text(tag::DATE_TIME, &text),
            None => self.seconds_map(tag::EXTENDED_TIME, at.seconds, at.nanoseconds),
        }
    }

    fn decimal(&mut self, exponent: i64, mantissa: &str) -> Result {
        self.tag(tag::DECIMAL)?;
        self.room(HEAD_MAX)?;
        self.head(major::ARRAY, 2);
        self.integer(exponent)?;
        if let Ok(mantissa) = mantissa.parse() {
            self.integer(mantissa)?;
            self.count += 1;
            return Ok(());
        }
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa),
        };
        self.big_int(BigInt::Decimal { negative, digits })
    }

    /// Writes a big integer as short as possible: as a plain integer if it fits (RFC 8949 §3.4.3).
    pub(super) fn bignum(&mut self, negative: bool, mut magnitude: Vec<u8>) -> Result {
        if negative {
            // Subtract one: up to the first byte that need not borrow.
            for byte in &mut magnitude {
                *byte = byte.wrapping_sub(1);
                if *byte != 0xFF {
                    break;
                }
            }
        }
        while magnitude.last() == Some(&0) {
            magnitude.pop();
        }
        magnitude.reverse();
        self.count += 1;
        if magnitude.len() <= 8 {
            let value = magnitude.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
            self.room(HEAD_MAX)?;
            self.head(if negative { major::NEGATIVE } else { major::UNSIGNED }, value);
            return Ok(());
        }
        self.tag(if negative { tag::BIG_NEGATIVE } else { tag::BIG_POSITIVE })?;
        self.string(major::BYTES, &magnitude)
    }
}
