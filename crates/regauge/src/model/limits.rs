//! How much a document may use before it is refused.

/// The bounds of every reader. The defaults admit what real files hold and stop what only an
/// attacker sends; each can be raised, or removed with `u64::MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// How deep arrays and maps may nest. Real documents stay below 100; our readers keep one bit
    /// or byte per level and never recurse, so the ceiling of [`Limits::DEPTH_CEILING`] protects
    /// those who read our output: most parsers recurse, and many stop at 1,000.
    pub depth: u32,
    /// The longest single token in bytes: one string, one binary, one number. A window must hold a
    /// whole token, so this bounds a reader's memory.
    pub token_bytes: u64,
    /// The longest record in bytes that may be held in memory if a record must be whole
    /// (`--bad skip`, MARC records, values under a wrapper).
    pub record_bytes: u64,
    /// How many decimal digits an integer may have. Conversion between bases is quadratic;
    /// CPython stops at the same number.
    pub integer_digits: u32,
    /// How many values a document held in memory may have (a map's key, a wrapped value).
    pub nodes: u64,
    /// How far one compressed byte may expand, above [`Limits::EXPANSION_FREE`]. Deflate cannot
    /// exceed 1,032 bytes; zstd and bzip2 can, and a bomb does.
    pub expansion: u64,
    /// How many values the second and later copies of shared values may add to a document when
    /// references are written out. Nine levels of nine aliases each (the "billion laughs") would be
    /// a billion; real files with anchors stay below a few thousand.
    pub aliases: u64,
    /// How much memory a decompressor may use for its window. `xz -9` and `zstd --ultra -22` need
    /// 64 and 128 MiB, `zstd --long=31` needs 2 GiB.
    pub window_bytes: u64,
    /// How many seconds a filter may take for a document. Only `regauge query` and `regauge convert
    /// --filter` have filters.
    pub time: u64,
}

impl Limits {
    /// The highest depth that can be set: containers are kept on a fixed stack of bits.
    pub const DEPTH_CEILING: u32 = 1024;

    /// Decompressed bytes that never count against [`Limits::expansion`]: 1 GiB.
    pub const EXPANSION_FREE: u64 = 1 << 30;

    /// No limit except memory and [`Limits::DEPTH_CEILING`]. For data that you wrote yourself.
    pub const NONE: Limits = Limits {
        depth: Limits::DEPTH_CEILING,
        token_bytes: u64::MAX,
        record_bytes: u64::MAX,
        integer_digits: u32::MAX,
        nodes: u64::MAX,
        expansion: u64::MAX,
        aliases: u64::MAX,
        window_bytes: u64::MAX,
        time: u64::MAX,
    };

    /// The names that [`Limits::set`] accepts, in the order of [`Limit`].
    pub const NAMES: [&str; 9] = [
        "depth",
        "token_bytes",
        "record_bytes",
        "integer_digits",
        "nodes",
        "expansion",
        "aliases",
        "window_bytes",
        "time",
    ];

    /// Sets the limit of this name; `None` removes it, as [`Limits::NONE`] does.
    ///
    /// # Errors
    /// What is wrong, for an unknown name, or a depth above [`Limits::DEPTH_CEILING`].
    pub fn set(&mut self, name: &str, value: Option<u64>) -> Result<(), String> {
        let ceiling = u64::from(Limits::DEPTH_CEILING);
        if let Some(depth) = value.filter(|depth| name == "depth" && *depth > ceiling) {
            return Err(format!("the limit of depth can be {ceiling} at most, found {depth}"));
        }
        let value = value.unwrap_or(u64::MAX);
        let narrow = u32::try_from(value).unwrap_or(u32::MAX);
        match name {
            "depth" => self.depth = narrow.min(Limits::DEPTH_CEILING),
            "token_bytes" => self.token_bytes = value,
            "record_bytes" => self.record_bytes = value,
            "integer_digits" => self.integer_digits = narrow,
            "nodes" => self.nodes = value,
            "expansion" => self.expansion = value,
            "aliases" => self.aliases = value,
            "window_bytes" => self.window_bytes = value,
            "time" => self.time = value,
            _ => {
                let names = Limits::NAMES.join(", ");
                return Err(format!("unknown limit `{name}`, expected one of {names}"));
            }
        }
        Ok(())
    }
}

/// The name of one of the [`Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Limit {
    /// [`Limits::depth`].
    Depth,
    /// [`Limits::token_bytes`].
    TokenBytes,
    /// [`Limits::record_bytes`].
    RecordBytes,
    /// [`Limits::integer_digits`].
    IntegerDigits,
    /// [`Limits::nodes`].
    Nodes,
    /// [`Limits::expansion`].
    Expansion,
    /// [`Limits::aliases`].
    Aliases,
    /// [`Limits::window_bytes`].
    WindowBytes,
    /// [`Limits::time`].
    Time,
}

impl Limit {
    /// Returns the limit's name, as [`Limits::set`] takes it.
    pub fn name(self) -> &'static str {
        Limits::NAMES[self as usize]
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            depth: 512,
            token_bytes: 256 << 20,
            record_bytes: 64 << 20,
            integer_digits: 4300,
            nodes: 1 << 20,
            expansion: 1000,
            aliases: 1 << 20,
            window_bytes: 128 << 20,
            time: u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_and_taken_away_as_none_does() {
        let mut limits = Limits::default();
        for name in Limits::NAMES {
            limits.set(name, None).unwrap();
        }
        assert_eq!(limits, Limits::NONE);
        let refused = limits.set("width", Some(1)).unwrap_err();
        assert!(refused.starts_with("unknown limit `width`, expected one of depth, "), "{refused}");
        limits.set("depth", Some(7)).unwrap();
        let refused = limits.set("depth", Some(1025)).unwrap_err();
        assert_eq!(refused, "the limit of depth can be 1024 at most, found 1025");
        assert_eq!(limits.depth, 7);
        assert_eq!(Limit::Aliases.name(), "aliases");
        assert_eq!(Limit::Expansion.name(), "expansion");
    }
}
