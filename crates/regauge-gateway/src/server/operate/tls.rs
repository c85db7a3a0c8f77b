//! Certificate and key, loaded at startup and again on SIGHUP.

use std::path::Path;
use std::sync::Arc;

use regauge_store::{Error, Result};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::config::Tls;

fn wrong(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::Usage(format!("{}: {error}", path.display()))
}

/// Returns the certificates of a file, at least one; the gateway's own is the first.
pub(crate) fn chain(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| wrong(path, &error))?;
    if chain.is_empty() {
        return Err(wrong(path, &"found no certificate"));
    }
    Ok(chain)
}

/// Builds the rustls configuration: TLS 1.2 and 1.3 with its safe defaults, HTTP/1.1.
pub(crate) fn load(tls: &Tls) -> Result<Arc<ServerConfig>> {
    let (certificate, key) = (&tls.certificate, &tls.key);
    let chain = chain(certificate)?;
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
