//! Certificate and key, loaded at startup and again on SIGHUP.

use std::sync::Arc;

use regauge_store::{Error, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::config::Tls;

/// Builds the rustls configuration: TLS 1.2 and 1.3 with its safe defaults, HTTP/1.1.
pub(crate) fn load(tls: &Tls) -> Result<Arc<ServerConfig>> {
    let (certificate, key) = (&tls.certificate, &tls.key);
    let wrong = |path: &std::path::Path, error: &dyn std::fmt::Display| {
        Error::Usage(format!("{}: {error}", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| wrong(certificate, &error))?;
    if chain.is_empty() {
        return Err(wrong(certificate, &"found no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| wrong(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(certificate, &error))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| wrong(certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
