//! Processing instructions: ours carry what XML cannot.

use super::{Parser, Place};
use crate::codec::marc::Charset;
use crate::codec::marc::xml::INSTRUCTION;
use crate::codec::marc::xml::encoding::check_encoding;
use crate::model::record::Part;
use crate::{Error, Result};

impl Parser {
    /// Handles a processing instruction: ours, the XML declaration, or one to skip.
    #[cold]
    pub(super) fn instruction(&mut self, content: &[u8]) -> Result {
        let Ok(text) = std::str::from_utf8(content) else {
            return Err(Error::syntax("found a processing instruction that is not UTF-8").at(0));
        };
        let (target, rest) =
            text.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((text, ""));
        match target {
            "xml" => return check_encoding(rest),
            INSTRUCTION if self.place != Place::Outside => {}
            _ => return Ok(()),
        }
        let unknown = || {
            let message =
                format!("found <?{text}?>, expected an instruction that regauge writes there");
            Err(Error::syntax(message).at(0))
        };
        if let Some(charset) = rest.strip_prefix("charset=") {
            let charset = Charset::from_name(charset.trim_matches('"'));
            if charset.is_none() || self.place != Place::Record {
                return unknown();
            }
            self.record.set_charset(charset);
            return Ok(());
        }
        let (part, codes) = match (self.place, rest.split_once(' ')) {
            (Place::Subfield, Some(("code", codes))) => (Some(Part::Code), codes),
            (Place::Data | Place::Control, Some(("tag", codes))) => (Some(Part::Tag), codes),
            (Place::Data, Some(("ind1", codes))) => (Some(Part::Ind1), codes),
            (Place::Data, Some(("ind2", codes))) => (Some(Part::Ind2), codes),
            (place, _) if place.holds_text() => (None, rest),
            _ => return unknown(),
        };
        // The value of an attribute would be mixed with the text that follows it.
        let start = self.record.open_piece();
        if part.is_some() && start != self.text_start {
            return unknown();
        }
        for code in codes.split_ascii_whitespace() {
            let number = code.strip_prefix("u+").and_then(|hex| u32::from_str_radix(hex, 16).ok());
            match number.and_then(char::from_u32) {
                Some(c) => self.record.buffer().push(c),
                None => return unknown(),
            }
        }
        if let Some(part) = part {
            self.record.set(part, start);
            self.text_start = self.record.open_piece();
        }
        self.check_size()
    }
}
