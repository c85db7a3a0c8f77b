//! Connecting to a server.

use std::sync::Mutex;
use std::time::Instant;

use mongodb::Client;
use mongodb::bson::{self, doc};
use mongodb::error::ErrorKind;
use mongodb::options::{Acknowledgment, ClientOptions, DatabaseOptions, WriteConcern};

use super::MongoDb;
use super::fields::{Server, failed};
use crate::engine::parameters::Parameters;
use crate::engine::runtime::{CONNECT_TIMEOUT, Runtime};
use crate::engine::shown_url;
use crate::error::{Error, Result};

impl MongoDb {
    /// Connects to the database of a URL: `mongodb://[user:password@]host[:port]/database`, with
    /// the parameters of MongoDB's own URLs, and `timeout=SECONDS`, which limits a call.
    ///
    /// # Errors
    /// `Usage` for a URL that names no database; `Engine` if no server answers.
    pub fn open(url: &str) -> Result<MongoDb> {
        let doing = format!("open {}", shown_url(url));
        let own = Parameters::new(url)?;
        if own.root_certificates.is_some() {
            return Err(Error::usage(format!(
                "{}: found sslrootcert, expected tls=true&tlsCAFile=PATH",
                shown_url(url)
            )));
        }
        let runtime = Runtime::new()?;
        let limit = CONNECT_TIMEOUT + CONNECT_TIMEOUT / 2;
        let connected = runtime.wait(&doing, limit, async {
            let mut options = ClientOptions::parse(&own.url).await.map_err(|error| {
                // The driver's message may repeat the URL, and with it a password.
                match *error.kind {
                    ErrorKind::DnsResolve { .. } => failed(&doing, true)(error),
                    _ => Error::usage(format!(
                        "found {}, expected mongodb://[USER:PASSWORD@]HOST[:PORT]/DATABASE with the \
                         parameters of MongoDB; a user or a password with signs needs %XX",
                        shown_url(url)
                    )),
                }
            })?;
            let Some(name) = options.default_database.clone() else {
                return Err(Error::usage(format!(
                    "found {}, expected the name of a database after the host: \
                     mongodb://HOST/DATABASE",
                    shown_url(url)
                )));
            };
            options.app_name.get_or_insert_with(|| "regauge".to_owned());
            options.connect_timeout.get_or_insert(CONNECT_TIMEOUT);
            options.server_selection_timeout.get_or_insert(CONNECT_TIMEOUT);
            let safe = || {
                WriteConcern::builder().w(Acknowledgment::Majority).journal(true).build()
            };
            let concern = options.write_concern.get_or_insert_with(safe).clone();
            let client = Client::with_options(options).map_err(failed(&doing, true))?;
            let concerned = DatabaseOptions::builder().write_concern(concern.clone()).build();
            let database = client.database_with_options(&name, concerned);
            let hello = database.run_command(doc! { "hello": 1 }).await;
            let hello = hello.map_err(failed(&doing, true))?;
            let built = database.run_command(doc! { "buildInfo": 1 }).await;
            let built = built.map_err(failed(&doing, true))?;
            let written = bson::serialize_to_document(&concern);
            let written = written.map_err(|error| Error::Engine {
                doing: doing.clone(),
                message: error.to_string(),
                passing: false,
            })?;
            Ok((database, hello, built, written))
        });
        let (database, hello, built, write_concern) = connected?;
        let sharded = hello.get_str("msg").is_ok_and(|msg| msg == "isdbgrid");
        Ok(MongoDb {
            runtime,
            database,
            server: Server::new(&built),
            transactions: sharded || hello.contains_key("setName"),
            write_concern,
            answered: Mutex::new(Instant::now()),
            forms: Mutex::default(),
            timeout: own.timeout,
        })
    }

    /// Removes the database with everything in it.
    ///
    /// # Errors
    /// `Engine`.
    pub fn drop_database(&self) -> Result {
        self.tell("drop the database", async { self.database.drop().await })
    }
}
