//! The address of a server.

use redis::{ConnectionInfo, IntoConnectionInfo};
use regauge::{Error, ErrorKind, Result};

/// Where to connect to, and what to read there.
pub(super) struct Target {
    pub info: ConnectionInfo,
    /// The master to ask a Sentinel for.
    pub master: Option<String>,
    /// The database that the URL names.
    pub database: Option<u64>,
}

impl Target {
    pub fn parse(url: &str) -> Result<Target> {
        let parsed = redis::parse_redis_url(url)
            .ok_or_else(|| wrong("it is not of the form redis://user:password@host:6379/0"))?;
        let info = url.into_connection_info().map_err(|error| wrong(&error.to_string()))?;
        let mut master = None;
        let mut names_database = parsed.path().len() > 1 && !parsed.scheme().contains("unix");
        for (name, value) in parsed.query_pairs() {
            match &*name {
                "master" => master = Some(value.into_owned()),
                "db" => names_database = true,
                _ => {}
            }
        }
        let database = u64::try_from(info.redis_settings().db()).ok().filter(|_| names_database);
        Ok(Target { info, master, database })
    }

    /// Returns how to connect to another server of the same kind, with the same user.
    pub fn at(&self, host: &str, port: u16) -> ConnectionInfo {
        use redis::ConnectionAddr::{Tcp, TcpTls};
        let address = match self.info.addr() {
            TcpTls { insecure, tls_params, .. } => TcpTls {
                host: host.to_owned(),
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            _ => Tcp(host.to_owned(), port),
        };
        self.info.clone().set_addr(address)
    }
}

/// The URL itself may have a password, and is not shown.
#[cold]
fn wrong(reason: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("found a URL that names no Redis: {reason}"))
        .hint("percent-encode special characters of the password, such as %40 for @")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, address: &str, master: Option<&str>, database: Option<u64>) {
        let target = Target::parse(url).unwrap();
        assert_eq!(target.info.addr().to_string(), address, "{url}");
        assert_eq!((target.master.as_deref(), target.database), (master, database), "{url}");
    }

    #[test]
    fn urls_name_a_server_and_what_to_read() {
        check("redis://localhost", "localhost:6379", None, None);
        check("redis://localhost/", "localhost:6379", None, None);
        check("redis://user:p%40ss@10.0.0.1:7000/0", "10.0.0.1:7000", None, Some(0));
        check("rediss://host:1/3", "host:1", None, Some(3));
        check("valkey://[::1]:7000", "::1:7000", None, None);
        check("redis://host:26379/2?master=my%20one", "host:26379", Some("my one"), Some(2));
        check("unix:/run/redis.sock", "/run/redis.sock", None, None);
        check("redis+unix:///run/redis.sock?db=2", "/run/redis.sock", None, Some(2));
    }

    #[test]
    fn what_is_no_url_is_refused_without_its_password() {
        for url in
            ["http://host", "redis:", "redis://u:secret@host/x", "redis://u:secret@host:port", ""]
        {
            let error = Target::parse(url).err().unwrap().to_string();
            assert!(error.contains("names no Redis") && !error.contains("secret"), "{error}");
        }
    }
}
