//! What clients mean by the number that they store beside a value.
//!
//! The server keeps it, and makes nothing of it. So it takes to know the client: most use the lowest bit for a value
//! that the language serialized, and disagree on the others.

/// Names the flags as Dalli, the client of Rails, uses them. Its flag 2 stands for a compressed value, and with
/// `string_fastpath` for one of UTF-8.
pub fn dalli(flags: u32) -> Vec<&'static str> {
    named(flags, &[(1, "serialized"), (2, "compressed, or UTF-8")])
}

/// Names the flags as python-memcached, pymemcache and pylibmc, the clients of Django, use them. Flag 16 is text, but
/// a truth value in pylibmc.
pub fn python(flags: u32) -> Vec<&'static str> {
    let names = [
        (1, "pickle"),
        (2, "integer"),
        (4, "long integer"),
        (8, "zlib"),
        (16, "text, or a truth value"),
    ];
    named(flags, &names)
}

fn named(flags: u32, names: &[(u32, &'static str)]) -> Vec<&'static str> {
    let mut found: Vec<_> =
        names.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, name)| *name).collect();
    if names.iter().fold(flags, |rest, (flag, _)| rest & !flag) != 0 {
        found.push("others");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_have_names() {
        assert_eq!(dalli(3), ["serialized", "compressed, or UTF-8"]);
        assert_eq!(python(9), ["pickle", "zlib"]);
        assert_eq!(python(34), ["integer", "others"]);
        assert!(dalli(0).is_empty());
    }
}
