//! The risk of what loading a file would import and call.

/// The risk of a class, an import or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Risk {
    /// Known, and it only creates the value: part of Ruby, or in the table of pickle's harmless
    /// constructors, with arguments that match.
    Harmless,
    /// Not a known name; it may do anything.
    Unknown,
    /// Known from attacks.
    Notorious,
}

impl Risk {
    /// Returns the name used in reports: `"harmless"`, `"unknown"`, `"notorious"`.
    pub fn name(self) -> &'static str {
        match self {
            Risk::Harmless => "harmless",
            Risk::Unknown => "unknown",
            Risk::Notorious => "notorious",
        }
    }
}
