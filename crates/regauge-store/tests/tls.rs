//! TLS to servers: with a trusted certificate, and with no other.

#![cfg(any(feature = "postgres", feature = "mysql", feature = "mongodb", feature = "cassandra"))]
#![cfg_attr(
    not(any(feature = "postgres", feature = "mysql", feature = "mongodb")),
    allow(dead_code, reason = "one check is for those alone")
)]

mod engines;

use engines::Kind;
use regauge::Format;
use regauge_store::{Error, Store};

/// The URL of a server with other parameters, and the folder of certificates.
fn server(kind: Kind) -> Option<(String, String)> {
    let mut base = kind.base()?;
    let Ok(folder) = std::env::var("REGAUGE_TEST_TLS") else {
        println!("skipped: REGAUGE_TEST_TLS is not set; `make test-servers` sets it");
        return None;
    };
    if kind == Kind::MongoDb {
        // FerretDB uses a different port for it.
        match std::env::var("REGAUGE_TEST_MONGODB_TLS") {
            Ok(url) => base = url,
            Err(_) => {
                println!(
                    "skipped: REGAUGE_TEST_MONGODB_TLS is not set; `make test-servers` sets it"
                );
                return None;
            }
        }
    }
    let bare = base.split('?').next().expect("a part before the parameters").to_owned();
    Some((bare, folder))
}

fn opened(url: &str) -> Result<Store, Error> {
    let collection = format!("tls_{}", std::process::id());
    let mut store = Store::open(url, &collection, Some("json".parse()?))?;
    store.put(b"a", b"1", Format::Json)?;
    assert_eq!(store.get(b"a", Format::Json)?.as_deref(), Some(&b"1"[..]));
    store.remove()?;
    Ok(store)
}

/// Connects with the test authority, and is refused with an unknown authority and with the public
/// ones.
fn is_looked_at(kind: Kind, asks: &str, names: &str) {
    let Some((bare, folder)) = server(kind) else { return };
    let trusted = format!("{bare}?{asks}&{names}={folder}/ca.pem");
    opened(&trusted).unwrap();
    let public = format!("{bare}?{asks}");
    for url in [&format!("{bare}?{asks}&{names}={folder}/stranger.pem"), &public] {
        let told = match opened(url) {
            Ok(_) => panic!("{url}: nobody has vouched for this server"),
            Err(error) => error.to_string(),
        };
        let told = told.to_lowercase();
        assert!(told.contains("certificate"), "{url}: {told}");
    }
    let nothing = format!("{bare}?{asks}&{names}={folder}/nothing.pem");
    let told = opened(&nothing).err().expect("there are no such certificates").to_string();
    assert!(told.contains("nothing.pem"), "{told}");
}

/// The certificate is valid only for 127.0.0.1.
fn is_for_another_host(kind: Kind, asks: &str, names: &str) {
    let Some((bare, folder)) = server(kind) else { return };
    let url = format!("{bare}?{asks}&{names}={folder}/ca.pem");
    let elsewhere = url.replace("127.0.0.1", "localhost");
    let told = opened(&elsewhere).err().expect("a certificate for another name").to_string();
    assert!(told.to_lowercase().contains("certificate"), "{told}");
}

#[cfg(feature = "postgres")]
mod postgres {
    use super::*;
    use regauge_store::engine::Postgres;

    /// Fails unless this very connection is encrypted.
    const ENCRYPTED: &str = "DO $$ BEGIN IF NOT (SELECT ssl FROM pg_stat_ssl WHERE pid = \
                             pg_backend_pid()) THEN RAISE 'not encrypted'; END IF; END $$";

    #[test]
    fn a_certificate_is_looked_at() {
        is_looked_at(Kind::Postgres, "sslmode=require", "sslrootcert");
        is_for_another_host(Kind::Postgres, "sslmode=require", "sslrootcert");
    }

    #[test]
    fn what_is_sent_is_encrypted() {
        let Some((bare, folder)) = server(Kind::Postgres) else { return };
        let run = |parameters: &str| {
            Postgres::open(&format!("{bare}?{parameters}")).unwrap().run_sql(ENCRYPTED)
        };
        let told = run("sslmode=disable").unwrap_err().to_string();
        assert!(told.contains("not encrypted"), "{told}");
        // Even if it is not requested: the server offers it.
        for asks in ["sslmode=require&", "sslmode=prefer&", ""] {
            run(&format!("{asks}sslrootcert={folder}/ca.pem")).unwrap();
        }
    }
}

#[cfg(feature = "mysql")]
mod mysql {
    use super::*;
    use regauge_store::engine::Mysql;

    /// Fails unless this very connection is encrypted.
    const ENCRYPTED: &str = "BEGIN NOT ATOMIC IF (SELECT variable_value FROM \
                             information_schema.session_status WHERE variable_name = \
                             'Ssl_cipher') = '' THEN SIGNAL SQLSTATE '45000' SET message_text = \
                             'not encrypted'; END IF; END";

    #[test]
    fn a_certificate_is_looked_at() {
        is_looked_at(Kind::Mysql, "require_ssl=true", "sslrootcert");
        is_for_another_host(Kind::Mysql, "require_ssl=true", "sslrootcert");
    }

    #[test]
    fn what_is_sent_is_encrypted() {
        let Some((bare, folder)) = server(Kind::Mysql) else { return };
        let told = Mysql::open(&bare).unwrap().run_sql(ENCRYPTED).unwrap_err().to_string();
        assert!(told.contains("not encrypted"), "{told}");
        let url = format!("{bare}?require_ssl=true&sslrootcert={folder}/ca.pem");
        Mysql::open(&url).unwrap().run_sql(ENCRYPTED).unwrap();
    }
}

/// The port speaks nothing else: without TLS, a client gets no answer.
#[cfg(feature = "mongodb")]
#[test]
fn mongodbs_certificate_is_looked_at() {
    // The driver retries until then, even for a certificate that it rejects.
    const SOON: &str = "serverSelectionTimeoutMS=2000";
    let asks = format!("tls=true&{SOON}");
    is_looked_at(Kind::MongoDb, &asks, "tlsCAFile");
    is_for_another_host(Kind::MongoDb, &asks, "tlsCAFile");
    let Some((bare, _)) = server(Kind::MongoDb) else { return };
    assert!(opened(&format!("{bare}?{SOON}")).is_err());
}

/// Its driver knows nodes by their addresses, so names are not compared.
#[cfg(feature = "cassandra")]
#[test]
fn cassandras_certificate_is_looked_at() {
    is_looked_at(Kind::Cassandra, "replication=1&tls=true", "ca");
}
