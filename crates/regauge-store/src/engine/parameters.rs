//! Parameters of a server's URL that are regauge's own rather than the driver's.

use std::time::Duration;

use percent_encoding::percent_decode_str;

use super::runtime::CALL_TIMEOUT;
use super::shown_url;
use crate::error::{Error, Result};

/// A URL without regauge's own parameters, and their values.
pub(super) struct Parameters {
    /// The URL for the driver.
    pub(super) url: String,
    /// `timeout=SECONDS`: the timeout of a call.
    pub(super) timeout: Duration,
    /// `sslrootcert=PATH`: certificates to trust instead of the system's, in PEM.
    pub(super) root_certificates: Option<String>,
}

impl Parameters {
    /// # Errors
    /// `Usage` for an invalid parameter.
    pub(super) fn new(url: &str) -> Result<Parameters> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut found =
            Parameters { url: base.to_owned(), timeout: CALL_TIMEOUT, root_certificates: None };
        let mut others = Vec::new();
        for one in query.split('&').filter(|one| !one.is_empty()) {
            let (name, value) = one.split_once('=').unwrap_or((one, ""));
            let text = percent_decode_str(value).decode_utf8_lossy();
            match name {
                "timeout" => {
                    let seconds = text.parse().ok().filter(|one| (1..=86_400).contains(one));
                    let seconds = seconds.ok_or_else(|| {
                        Error::usage(format!(
                            "{}: found timeout={text}, expected seconds, 1 to 86400",
                            shown_url(url)
                        ))
                    })?;
                    found.timeout = Duration::from_secs(seconds);
                }
                "sslrootcert" => found.root_certificates = Some(text.into_owned()),
                // Certificates are always checked, so these modes ask for no more than TLS.
                "sslmode" if ["verify-ca", "verify-full"].contains(&&*text) => {
                    others.push("sslmode=require");
                }
                _ => others.push(one),
            }
        }
        if !others.is_empty() {
            found.url = format!("{base}?{}", others.join("&"));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_parameters_are_taken_out() {
        let url = "postgres://u:p@h/b?timeout=5&application_name=a%20b&sslmode=verify-full\
                   &sslrootcert=%2Ftmp%2Fca.pem";
        let found = Parameters::new(url).unwrap();
        assert_eq!(found.url, "postgres://u:p@h/b?application_name=a%20b&sslmode=require");
        assert_eq!(found.timeout, Duration::from_secs(5));
        assert_eq!(found.root_certificates.as_deref(), Some("/tmp/ca.pem"));
        assert_eq!(Parameters::new("mysql://h/b?timeout=9").unwrap().url, "mysql://h/b");
        let told = Parameters::new("mysql://u:secret@h/b?timeout=x").err().unwrap().to_string();
        assert_eq!(told, "mysql://…@h/b: found timeout=x, expected seconds, 1 to 86400");
    }
}
