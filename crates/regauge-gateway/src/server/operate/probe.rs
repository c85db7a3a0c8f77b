//! The question of a supervisor: does the running gateway accept requests?

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use regauge_store::{Error, Result};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned};

use super::config::Config;
use super::tls;

const WAIT: Duration = Duration::from_secs(5);
const REQUEST: &[u8] = b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
/// The answer is far smaller; whatever else listens there may send more.
const ANSWER_BYTES: u64 = 16 << 10;

/// Asks the gateway that runs with this configuration whether it accepts requests, and waits up to 5
/// seconds for each step.
///
/// # Errors
/// Without an answer, or if that is not 200 OK.
pub fn ask_ready(config: &Config) -> Result {
    let address = reachable(config.listen);
    let failed = |problem: &dyn std::fmt::Display| Error::Engine {
        doing: format!("ask the gateway at {address} whether it is ready"),
        message: problem.to_string(),
        passing: true,
    };
    let stream = connect(address).map_err(|error| failed(&error))?;
    let answer = match &config.tls {
        None => exchange(stream),
        Some(tls) => {
            let own = tls::chain(&tls.certificate)?.swap_remove(0);
            over_tls(stream, own).and_then(exchange)
        }
    };
    let answer = answer.map_err(|error| failed(&error))?;
    match answer.split_once("\r\n").map_or(answer.as_str(), |(line, _)| line) {
        line if line.starts_with("HTTP/1.1 200 ") => Ok(()),
        "" => Err(failed(&"it closed the connection")),
        line => Err(failed(&line)),
    }
}

/// Returns where a gateway can be reached that listens on this address, which may mean all addresses.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, WAIT)?;
    stream.set_read_timeout(Some(WAIT))?;
    stream.set_write_timeout(Some(WAIT))?;
    Ok(stream)
}

fn exchange(mut stream: impl Read + Write) -> io::Result<String> {
    stream.write_all(REQUEST)?;
    stream.flush()?;
    let mut answer = Vec::new();
    match stream.take(ANSWER_BYTES).read_to_end(&mut answer) {
        // The first line is enough, however the connection ends.
        Err(error) if !answer.contains(&b'\n') => Err(error),
        _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
    }
}

fn over_tls(
    stream: TcpStream,
    own: CertificateDer<'static>,
) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(Own { certificate: own, provider: Arc::clone(&provider) });
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, stream))
}

/// Accepts the certificate of the configuration and no other: it is made for the gateway's public name,
/// which is not the one that is called here.
#[derive(Debug)]
struct Own {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Own {
    fn verify_server_cert(
        &self,
        presented: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        if presented.as_ref() == self.certificate.as_ref() {
            return Ok(ServerCertVerified::assertion());
        }
        let other = "found another certificate than that of the configuration (SIGHUP reloads it)";
        Err(rustls::Error::General(other.to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
