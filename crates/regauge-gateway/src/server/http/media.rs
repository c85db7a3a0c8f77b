//! Media types, and content negotiation (RFC 9110 §12).

use axum::http::{HeaderMap, StatusCode, header};
use regauge::Format;

use super::problem::{Answer, Problem};

/// The media type that a format is sent with.
pub fn sent(format: Format) -> &'static str {
    format.info().media_types[0]
}

fn listed(formats: &[Format]) -> Vec<&'static str> {
    formats.iter().map(|one| sent(*one)).collect()
}

/// 406, with the supported types.
pub fn not_acceptable(formats: &[Format]) -> Problem {
    let listed = listed(formats);
    Problem::new(
        StatusCode::NOT_ACCEPTABLE,
        "not-acceptable",
        format!("found no supported type in Accept; expected {}", listed.join(", ")),
    )
    .with("expected", listed)
}

/// 415, with the supported types.
fn unsupported(found: &str, formats: &[Format]) -> Problem {
    let listed = listed(formats);
    let text = listed.join(", ");
    Problem::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "media-type",
        format!("found {found}, expected a Content-Type of {text}"),
    )
    .with("expected", listed)
    .header(header::ACCEPT, &text)
}

/// Returns the format of a request's body.
pub fn of_body(headers: &HeaderMap, formats: &[Format]) -> Answer<Format> {
    // Bodies are taken literally: nothing is decompressed, so nothing can expand.
    if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
        && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
    {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "content-encoding",
            "found a Content-Encoding, expected a body that is not compressed; what is stored can \
             be",
        )
        .header(header::ACCEPT_ENCODING, "identity"));
    }
    let mut all = headers.get_all(header::CONTENT_TYPE).iter();
    let (Some(value), None) = (all.next(), all.next()) else {
        return Err(unsupported("no Content-Type, or several", formats));
    };
    let text = value.to_str().unwrap_or_default();
    let mut parts = text.split(';');
    let name = parts.next().unwrap_or_default().trim();
    let format = formats
        .iter()
        .copied()
        .find(|format| format.info().media_types.iter().any(|one| one.eq_ignore_ascii_case(name)))
        .ok_or_else(|| unsupported(&format!("\"{}\"", name.escape_debug()), formats))?;
    for parameter in parts {
        let Some((name, value)) = parameter.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        if name.trim().eq_ignore_ascii_case("charset") && !value.eq_ignore_ascii_case("utf-8") {
            let found = format!("charset \"{}\" where text is UTF-8", value.escape_debug());
            return Err(unsupported(&found, formats));
        }
    }
    Ok(format)
}

/// Returns the client's preferred format out of `formats`, which are in our order of preference.
pub fn wanted(headers: &HeaderMap, formats: &[Format]) -> Answer<Format> {
    let mut ranges = Vec::new();
    for value in headers.get_all(header::ACCEPT) {
        let text = value.to_str().map_err(|_| not_acceptable(formats))?;
        ranges.extend(text.split(',').filter_map(range));
    }
    if ranges.is_empty() && !headers.contains_key(header::ACCEPT) {
        return formats.first().copied().ok_or_else(|| not_acceptable(formats));
    }
    let mut best: Option<(u16, Format)> = None;
    for format in formats {
        let quality = quality(&ranges, format.info().media_types);
        if quality > 0 && best.is_none_or(|(other, _)| quality > other) {
            best = Some((quality, *format));
        }
    }
    best.map(|(_, format)| format).ok_or_else(|| not_acceptable(formats))
}

/// Parses a media range, in lower case, and its quality in thousandths; `None` if it is malformed.
fn range(text: &str) -> Option<(String, u16)> {
    let mut parts = text.split(';');
    let name = parts.next()?.trim().to_ascii_lowercase();
    if name.is_empty() {
        return None;
    }
    let quality = parts.find_map(|one| {
        let (name, value) = one.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim().parse::<f32>().ok())?
    });
    let quality = quality.unwrap_or(1.0).clamp(0.0, 1.0);
    // From 0 to 1,000, so it fits.
    Some((name, (quality * 1000.0) as u16))
}

/// Returns the quality of a format, from the most specific range that matches one of its media
/// types.
fn quality(ranges: &[(String, u16)], types: &[&str]) -> u16 {
    let best = |fits: &dyn Fn(&str) -> bool| {
        ranges.iter().filter(|(name, _)| fits(name)).map(|(_, quality)| *quality).max()
    };
    let in_group = |name: &str| {
        let group = name.strip_suffix("/*");
        group.is_some_and(|group| types.iter().any(|one| one.split('/').next() == Some(group)))
    };
    best(&|name| types.contains(&name))
        .or_else(|| best(&in_group))
        .or_else(|| best(&|name| name == "*/*"))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMATS: [Format; 3] = [Format::Msgpack, Format::Json, Format::Yaml];

    #[test]
    fn what_a_client_gets() {
        let got = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            wanted(&headers, &FORMATS).ok()
        };
        assert_eq!(wanted(&HeaderMap::new(), &FORMATS).ok(), Some(Format::Msgpack));
        assert_eq!(got("*/*"), Some(Format::Msgpack));
        assert_eq!(got("application/json"), Some(Format::Json));
        assert_eq!(got("Application/JSON;Q=0.3"), Some(Format::Json));
        assert_eq!(got("application/json;q=0.5, application/yaml"), Some(Format::Yaml));
        assert_eq!(got("application/*, application/vnd.msgpack;q=0"), Some(Format::Json));
        assert_eq!(got("text/*"), Some(Format::Yaml));
        assert_eq!(got("text/html, application/xml"), None);
        assert_eq!(got("application/json;q=0"), None);
        assert_eq!(got(""), None);
    }

    #[test]
    fn what_a_body_is() {
        let of = |name: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, name.parse().unwrap());
            of_body(&headers, &FORMATS).ok()
        };
        assert_eq!(of("application/json"), Some(Format::Json));
        assert_eq!(of("application/json; charset=UTF-8"), Some(Format::Json));
        assert_eq!(of("application/json; charset=latin1"), None);
        assert_eq!(of("application/msgpack"), Some(Format::Msgpack));
        assert_eq!(of("application/bson"), None, "spoken by regauge, not by this gateway");
        assert_eq!(of("application/x-ndjson"), None);
        assert!(of_body(&HeaderMap::new(), &FORMATS).is_err());
    }
}
