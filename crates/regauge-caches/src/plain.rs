//! Values that are in no format of regauge: recognised by their first bytes, or by all of them.

use crate::php;

/// A row of the table: what a value is, if its function says so.
pub struct Row {
    /// The name in reports.
    pub name: &'static str,
    /// The name in prose.
    pub title: &'static str,
    is: fn(&[u8]) -> bool,
}

/// What is recognised by the first bytes, which no document of regauge's formats begins with.
pub static MAGIC: [Row; 13] = [
    Row { name: "png", title: "PNG", is: |bytes| bytes.starts_with(b"\x89PNG\r\n\x1A\n") },
    Row { name: "jpeg", title: "JPEG", is: |bytes| bytes.starts_with(b"\xFF\xD8\xFF") },
    Row { name: "gif", title: "GIF", is: |bytes| bytes.starts_with(b"GIF8") },
    Row {
        name: "webp",
        title: "WebP",
        is: |bytes| bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
    },
    Row { name: "pdf", title: "PDF", is: |bytes| bytes.starts_with(b"%PDF-") },
    Row { name: "zip", title: "ZIP", is: |bytes| bytes.starts_with(b"PK\x03\x04") },
    Row { name: "sqlite", title: "SQLite", is: |bytes| bytes.starts_with(b"SQLite format 3\0") },
    Row { name: "hyperloglog", title: "HyperLogLog", is: |bytes| bytes.starts_with(b"HYLL") },
    // igbinary_format.h: the version, 1 or 2.
    Row {
        name: "igbinary",
        title: "PHP igbinary",
        is: |bytes| matches!(bytes, [0, 0, 0, 1 | 2, type_, ..] if *type_ <= 0x1E),
    },
    // Not unpacked: the frame format begins with its name, raw blocks have no mark.
    Row {
        name: "snappy",
        title: "Snappy frames",
        is: |bytes| bytes.starts_with(b"\xFF\x06\0\0sNaPpY"),
    },
    Row { name: "xz", title: "xz", is: |bytes| bytes.starts_with(b"\xFD7zXZ\0") },
    Row {
        name: "bzip2",
        title: "bzip2",
        is: |bytes| bytes.starts_with(b"BZh") && bytes.get(4..10) == Some(b"1AY&SY"),
    },
    // java.io.ObjectStreamConstants: the magic number and version 5.
    Row {
        name: "java",
        title: "Java serialization",
        is: |bytes| bytes.starts_with(b"\xAC\xED\0\x05"),
    },
];

/// What is recognised by all of a text.
pub static TEXT: [Row; 8] = [
    Row { name: "integer", title: "an integer", is: is_integer },
    Row { name: "float", title: "a number", is: is_float },
    Row { name: "uuid", title: "a UUID", is: is_uuid },
    Row { name: "jwt", title: "a JSON Web Token", is: is_jwt },
    Row {
        name: "php-serialize",
        title: "PHP serialize",
        is: |bytes| php::classes(bytes).is_some(),
    },
    Row {
        name: "php-session",
        title: "a session of PHP",
        is: |bytes| php::session(bytes).is_some(),
    },
    Row { name: "html", title: "HTML", is: is_html },
    Row { name: "xml", title: "XML", is: is_xml },
];

/// Returns the row that recognises a value.
pub fn find(rows: &'static [Row], bytes: &[u8]) -> Option<&'static Row> {
    rows.iter().find(|row| (row.is)(bytes))
}

/// What Redis counts with: `INCR` takes up to 20 bytes.
fn is_integer(bytes: &[u8]) -> bool {
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    (1..=20).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
}

fn is_float(bytes: &[u8]) -> bool {
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    bytes.len() <= 40
        && has_digit
        && bytes.iter().all(is_number)
        && str::from_utf8(bytes).is_ok_and(|text| text.parse::<f64>().is_ok())
}

/// 8-4-4-4-12 hexadecimal digits (RFC 9562 §4).
fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Three parts in base64url, of which the first is a map in JSON (RFC 7519 §3).
fn is_jwt(bytes: &[u8]) -> bool {
    let is_base64url = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_".contains(byte);
    let mut parts = bytes.split(|byte| *byte == b'.');
    bytes.starts_with(b"eyJ")
        && parts.by_ref().take(3).filter(|part| part.iter().all(is_base64url)).count() == 3
        && parts.next().is_none()
}

fn is_html(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let begins = |tag: &[u8]| {
        text.get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag))
            && text.get(tag.len()).is_none_or(|byte| !byte.is_ascii_alphanumeric())
    };
    const TAGS: [&[u8]; 18] = [
        b"<!doctype html",
        b"<html",
        b"<head",
        b"<body",
        b"<div",
        b"<span",
        b"<p",
        b"<a",
        b"<ul",
        b"<ol",
        b"<li",
        b"<table",
        b"<tr",
        b"<section",
        b"<article",
        b"<h1",
        b"<h2",
        b"<nav",
    ];
    text.first() == Some(&b'<') && TAGS.iter().any(|tag| begins(tag))
}

fn is_xml(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii();
    let begins =
        matches!(text, [b'<', byte, ..] if byte.is_ascii_alphabetic() || b"?!".contains(byte));
    begins && text.ends_with(b">")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        for (text, name) in [
            ("0", Some("integer")),
            ("-17", Some("integer")),
            ("123456789012345678901", Some("float")),
            ("1.5e3", Some("float")),
            ("1.5.2", None),
            ("-", None),
            ("0b7e2d0a-32c5-4f3e-9b57-6d5a4b8f0c11", Some("uuid")),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_9", Some("jwt")),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0", None),
            ("a:1:{i:0;i:7;}", Some("php-serialize")),
            ("user|i:7;", Some("php-session")),
            (" <DIV class=\"a\">x</DIV>", Some("html")),
            ("<picture>", Some("xml")),
            ("<?xml version=\"1.0\"?><a/>", Some("xml")),
            ("a < b", None),
            ("plain text", None),
        ] {
            assert_eq!(find(&TEXT, text.as_bytes()).map(|row| row.name), name, "{text}");
        }
    }

    #[test]
    fn magic() {
        assert_eq!(find(&MAGIC, b"\x89PNG\r\n\x1A\n...").map(|row| row.name), Some("png"));
        assert_eq!(find(&MAGIC, b"\0\0\0\x02\x06\x07").map(|row| row.name), Some("igbinary"));
        assert_eq!(find(&MAGIC, b"\0\0\0\x02").map(|row| row.name), None);
    }
}
