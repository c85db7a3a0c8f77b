//! The attributes of a tag in a record.

/// The values of the relevant attributes of one tag.
#[derive(Debug, Default)]
pub(super) struct Attributes {
    pub(super) tag: Option<String>,
    pub(super) ind1: Option<String>,
    pub(super) ind2: Option<String>,
    pub(super) code: Option<String>,
    /// Kept for the next tag.
    pub(super) spare: Vec<String>,
}

impl Attributes {
    pub(super) fn clear(&mut self) {
        for slot in [&mut self.tag, &mut self.ind1, &mut self.ind2, &mut self.code] {
            if let Some(mut value) = slot.take() {
                value.clear();
                self.spare.push(value);
            }
        }
    }

    pub(super) fn slot(&mut self, key: &str) -> Option<&mut Option<String>> {
        match key {
            "tag" => Some(&mut self.tag),
            "ind1" => Some(&mut self.ind1),
            "ind2" => Some(&mut self.ind2),
            "code" => Some(&mut self.code),
            _ => None,
        }
    }

    /// Reads attributes in their usual form, ` name="value"` without references; quick-xml needs a
    /// third of the total time for them. Returns whether they were.
    #[inline]
    pub(super) fn read_simple(&mut self, mut rest: &[u8]) -> bool {
        loop {
            let (skip, slot) = match rest {
                [] => return true,
                [b' ', b'c', b'o', b'd', b'e', b'=', b'"', ..] => (7, &mut self.code),
                [b' ', b't', b'a', b'g', b'=', b'"', ..] => (6, &mut self.tag),
                [b' ', b'i', b'n', b'd', b'1', b'=', b'"', ..] => (7, &mut self.ind1),
                [b' ', b'i', b'n', b'd', b'2', b'=', b'"', ..] => (7, &mut self.ind2),
                _ => return false,
            };
            rest = &rest[skip..];
            let is_end = |b: &u8| !matches!(b, b' '..=0x7E) || matches!(b, b'"' | b'&' | b'<');
            let Some(end) = rest.iter().position(is_end) else { return false };
            if rest[end] != b'"' || slot.is_some() {
                return false;
            }
            let mut value = self.spare.pop().unwrap_or_default();
            value.extend(rest[..end].iter().map(|b| char::from(*b)));
            *slot = Some(value);
            rest = &rest[end + 1..];
        }
    }
}
