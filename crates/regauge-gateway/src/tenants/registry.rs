//! The registry: `tenants.db`, an SQLite file that any tool can read.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::token::ServerKey;
use super::{
    Error, Limits, Place, Presented, Result, Scopes, State, Tenant, TenantId, Token, TokenId,
    TokenText, failed, now,
};

/// AUTOINCREMENT: a number is never reused, so that anything a dropped tenant left behind in a
/// shared file belongs to nobody.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS tenants (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        place TEXT NOT NULL,
        state TEXT NOT NULL,
        codec TEXT NOT NULL,
        created INTEGER NOT NULL,
        limits TEXT NOT NULL,
        moving TEXT
    );
    CREATE TABLE IF NOT EXISTS tokens (
        id TEXT NOT NULL PRIMARY KEY,
        tenant INTEGER REFERENCES tenants (number) ON DELETE CASCADE,
        scopes TEXT NOT NULL,
        hash BLOB NOT NULL,
        created INTEGER NOT NULL,
        expires INTEGER
    );
    CREATE INDEX IF NOT EXISTS tokens_of_tenant ON tokens (tenant);
";

const TENANT: &str = "number, id, place, state, codec, created, limits";
const TOKEN: &str = "id, tenant, scopes, hash, created, expires";

/// The progress of a move, if one was interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moving {
    /// The values are being copied: the old place is authoritative.
    Copying,
    /// The new place is authoritative, and the old one is being emptied.
    Cleaning,
}

/// Tenants and tokens.
pub struct Registry {
    connection: Mutex<Connection>,
    key: ServerKey,
}

impl Registry {
    /// Opens the registry and its key, creating what is missing.
    ///
    /// # Errors
    /// `Engine`; `Usage` for a key that others can read.
    pub(super) fn open(path: &Path, key: &Path) -> Result<Registry> {
        let doing = format!("open the registry {}", path.display());
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open(path)?;
            connection.busy_timeout(Duration::from_secs(10))?;
            connection.execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
            )?;
            connection.execute_batch(SCHEMA)?;
            Ok(connection)
        };
        let connection = open().map_err(|error| failed(doing, error))?;
        Ok(Registry { connection: Mutex::new(connection), key: ServerKey::load_or_make(key)? })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a tenant.
    ///
    /// # Errors
    /// `Exists` if the name is taken; `Engine`.
    pub fn create(
        &self,
        id: &TenantId,
        place: Place,
        codec: regauge_store::Codec,
        limits: Limits,
    ) -> Result<Tenant> {
        let mut made = self.create_many(std::slice::from_ref(id), place, codec, limits)?;
        Ok(made.remove(0))
    }

    /// Creates many tenants, all or none.
    ///
    /// # Errors
    /// Those of `create`.
    pub fn create_many(
        &self,
        ids: &[TenantId],
        place: Place,
        codec: regauge_store::Codec,
        limits: Limits,
    ) -> Result<Vec<Tenant>> {
        limits.check()?;
        let mut connection = self.connection();
        let doing = "make a tenant";
        let transaction = connection.transaction().map_err(|error| failed(doing, error))?;
        let created = now();
        let text = serde_json::to_string(&limits).map_err(|error| failed(doing, error))?;
        let mut tenants = Vec::with_capacity(ids.len());
        for id in ids {
            let made = transaction.execute(
                "INSERT INTO tenants (id, place, state, codec, created, limits) \
                 VALUES (?1, ?2, 'active', ?3, ?4, ?5) ON CONFLICT (id) DO NOTHING",
                params![id.as_str(), place.name(), codec.to_string(), created, text],
            );
            if made.map_err(|error| failed(doing, error))? == 0 {
                return Err(Error::Exists(format!("tenant {id} already exists")));
            }
            let number = transaction.last_insert_rowid();
            let state = State::Active;
            tenants.push(Tenant { number, id: id.clone(), place, state, codec, created, limits });
        }
        transaction.commit().map_err(|error| failed(doing, error))?;
        Ok(tenants)
    }

    /// Returns a tenant by its name.
    ///
    /// # Errors
    /// `Engine`.
    pub fn find(&self, id: &TenantId) -> Result<Option<Tenant>> {
        let sql = format!("SELECT {TENANT} FROM tenants WHERE id = ?1");
        let connection = self.connection();
        let row = connection.query_row(&sql, [id.as_str()], |row| Ok(tenant(row)));
        let row = row.optional().map_err(|error| failed("look for a tenant", error))?;
        row.transpose()
    }

    /// Returns a tenant that has to exist.
    ///
    /// # Errors
    /// `Usage` if it does not exist; `Engine`.
    pub fn get(&self, id: &TenantId) -> Result<Tenant> {
        self.find(id)?.ok_or_else(|| Error::Usage(format!("no such tenant {id}")))
    }

    /// Returns the tenants after a name, sorted by name.
    ///
    /// # Errors
    /// `Engine`.
    pub fn list(&self, after: Option<&str>, limit: usize) -> Result<Vec<Tenant>> {
        let sql = format!("SELECT {TENANT} FROM tenants WHERE id > ?1 ORDER BY id LIMIT ?2");
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.rows(&sql, params![after.unwrap_or(""), limit], tenant)
    }

    /// Activates or suspends a tenant.
    ///
    /// # Errors
    /// `Usage` if it does not exist, or is being dropped; `Engine`.
    pub fn set_state(&self, id: &TenantId, state: State) -> Result<Tenant> {
        let tenant = self.get(id)?;
        if tenant.state == State::Dropping && state != State::Dropping {
            return Err(Error::Usage(format!("tenant {id} is being dropped; drop it again")));
        }
        self.change(
            "UPDATE tenants SET state = ?2 WHERE number = ?1",
            params![tenant.number, state.name()],
        )?;
        Ok(Tenant { state, ..tenant })
    }

    /// Changes a tenant's limits.
    ///
    /// # Errors
    /// Those of `set_state`.
    pub fn set_limits(&self, id: &TenantId, limits: Limits) -> Result<Tenant> {
        limits.check()?;
        let tenant = self.get(id)?;
        let text = serde_json::to_string(&limits).map_err(|error| failed("keep limits", error))?;
        self.change(
            "UPDATE tenants SET limits = ?2 WHERE number = ?1",
            params![tenant.number, text],
        )?;
        Ok(Tenant { limits, ..tenant })
    }

    /// Deletes a tenant and its tokens.
    pub(super) fn remove(&self, tenant: &Tenant) -> Result {
        self.change("DELETE FROM tenants WHERE number = ?1", params![tenant.number])
    }

    /// Records the progress of a move, and which place is authoritative.
    pub(super) fn set_place(&self, number: i64, place: Place, moving: Option<Moving>) -> Result {
        let moving = moving.map(|one| match one {
            Moving::Copying => "copying",
            Moving::Cleaning => "cleaning",
        });
        self.change(
            "UPDATE tenants SET place = ?2, moving = ?3 WHERE number = ?1",
            params![number, place.name(), moving],
        )
    }

    /// Returns the tenants whose move was interrupted.
    pub(super) fn moving(&self) -> Result<Vec<Tenant>> {
        let sql = format!("SELECT {TENANT} FROM tenants WHERE moving IS NOT NULL");
        self.rows(&sql, params![], tenant)
    }

    /// Creates a token. Its text is returned only here.
    ///
    /// # Errors
    /// `Usage` for scopes that cannot be combined; `Engine`.
    pub fn add_token(
        &self,
        tenant: Option<&Tenant>,
        scopes: Scopes,
        expires: Option<i64>,
    ) -> Result<(Token, TokenText)> {
        let mut made = self.add_tokens(&[tenant], scopes, expires)?;
        Ok(made.remove(0))
    }

    /// Creates a token for each of many tenants.
    ///
    /// # Errors
    /// Those of `add_token`.
    pub fn add_tokens(
        &self,
        tenants: &[Option<&Tenant>],
        scopes: Scopes,
        expires: Option<i64>,
    ) -> Result<Vec<(Token, TokenText)>> {
        let doing = "make a token";
        let mut connection = self.connection();
        let transaction = connection.transaction().map_err(|error| failed(doing, error))?;
        let mut made = Vec::with_capacity(tenants.len());
        for tenant in tenants {
            if let Some(wrong) = scopes.iter().find(|one| one.is_of_tenant() != tenant.is_some()) {
                let whose = if tenant.is_some() { "a tenant" } else { "the gateway" };
                return Err(Error::Usage(format!(
                    "a token of {whose} cannot have scope {}; read and write are for tenants, \
                     admin and metrics for the gateway",
                    wrong.name()
                )));
            }
            let (id, text, hash) = self.key.make()?;
            let tenant = tenant.map(|one| one.number);
            let token = Token { id, tenant, scopes, created: now(), expires, hash };
            insert(&transaction, &token).map_err(|error| failed(doing, error))?;
            made.push((token, text));
        }
        transaction.commit().map_err(|error| failed(doing, error))?;
        Ok(made)
    }

    /// Returns the tokens of a tenant, or of the gateway.
    ///
    /// # Errors
    /// `Engine`.
    pub fn tokens(&self, tenant: Option<&Tenant>) -> Result<Vec<Token>> {
        let sql = format!("SELECT {TOKEN} FROM tokens WHERE tenant IS ?1 ORDER BY created, id");
        self.rows(&sql, params![tenant.map(|one| one.number)], token)
    }

    /// Creates a replacement for a token, which is refused from `until` on.
    ///
    /// # Errors
    /// `Absent` if the tenant has no such token; `Engine`.
    pub fn rotate_token(
        &self,
        tenant: Option<&Tenant>,
        id: TokenId,
        until: i64,
    ) -> Result<(Token, TokenText)> {
        let old = self.tokens(tenant)?.into_iter().find(|one| one.id == id);
        let old = old.ok_or_else(|| Error::Absent(format!("no such token {id}")))?;
        let doing = "rotate a token";
        let (id, text, hash) = self.key.make()?;
        // Rotation does not extend a token's original lifetime.
        let token = Token { id, hash, created: now(), ..old.clone() };
        let until = old.expires.map_or(until, |expires| expires.min(until));
        let mut connection = self.connection();
        let both = |connection: &mut Connection| -> rusqlite::Result<()> {
            let transaction = connection.transaction()?;
            insert(&transaction, &token)?;
            transaction.execute(
                "UPDATE tokens SET expires = ?2 WHERE id = ?1",
                params![old.id.to_string(), until],
            )?;
            transaction.commit()
        };
        both(&mut connection).map_err(|error| failed(doing, error))?;
        Ok((token, text))
    }

    /// Removes a token; returns whether the tenant had it.
    ///
    /// # Errors
    /// `Engine`.
    pub fn revoke_token(&self, tenant: Option<&Tenant>, id: TokenId) -> Result<bool> {
        let removed = self.connection().execute(
            "DELETE FROM tokens WHERE id = ?1 AND tenant IS ?2",
            params![id.to_string(), tenant.map(|one| one.number)],
        );
        Ok(removed.map_err(|error| failed("remove a token", error))? > 0)
    }

    /// Returns whether a token is authentic.
    #[must_use]
    pub fn proves(&self, presented: &Presented<'_>, known: Option<&Token>) -> bool {
        self.key.proves(presented, known)
    }

    /// Returns a number that changes whenever another process has changed the registry.
    ///
    /// # Errors
    /// `Engine`.
    pub fn version(&self) -> Result<i64> {
        let version =
            self.connection().query_row("PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        version.map_err(|error| failed("look at the registry", error))
    }

    /// Returns everything in the registry.
    ///
    /// # Errors
    /// `Engine`.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let tenants = self.list(None, usize::MAX)?;
        let tokens = self.rows(&format!("SELECT {TOKEN} FROM tokens"), params![], token)?;
        Ok(Snapshot {
            tenants: tenants.into_iter().map(|one| (one.number, Arc::new(one))).collect(),
            tokens: tokens.into_iter().map(|one| (one.id, one)).collect(),
        })
    }

    fn change(&self, sql: &str, parameters: impl rusqlite::Params) -> Result {
        let done = self.connection().execute(sql, parameters);
        done.map(|_| ()).map_err(|error| failed("change the registry", error))
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let doing = |error| failed("read the registry", error);
        let connection = self.connection();
        let mut select = connection.prepare_cached(sql).map_err(doing)?;
        let mut rows = select.query(parameters).map_err(doing)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(doing)? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}

/// A snapshot of tenants and tokens, against which requests are checked.
#[derive(Default)]
pub struct Snapshot {
    /// Tenants by number.
    pub tenants: HashMap<i64, Arc<Tenant>>,
    /// Tokens by their public part.
    pub tokens: HashMap<TokenId, Token>,
}

fn insert(connection: &Connection, token: &Token) -> rusqlite::Result<()> {
    let Token { id, tenant, scopes, created, expires, hash } = token;
    connection.execute(
        "INSERT INTO tokens (id, tenant, scopes, hash, created, expires) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![id.to_string(), tenant, scopes.to_string(), hash, created, expires],
    )?;
    Ok(())
}

fn get<T: rusqlite::types::FromSql>(row: &Row<'_>, index: usize) -> Result<T> {
    row.get(index).map_err(|error| failed("read the registry", error))
}

fn tenant(row: &Row<'_>) -> Result<Tenant> {
    let limits: String = get(row, 6)?;
    Ok(Tenant {
        number: get(row, 0)?,
        id: get::<String>(row, 1)?.parse()?,
        place: get::<String>(row, 2)?.parse()?,
        state: State::parse(&get::<String>(row, 3)?)?,
        codec: get::<String>(row, 4)?.parse()?,
        created: get(row, 5)?,
        limits: serde_json::from_str(&limits)
            .map_err(|error| failed("read a tenant's limits", error))?,
    })
}

fn token(row: &Row<'_>) -> Result<Token> {
    Ok(Token {
        id: get::<String>(row, 0)?.parse()?,
        tenant: get(row, 1)?,
        scopes: get::<String>(row, 2)?.parse()?,
        hash: get(row, 3)?,
        created: get(row, 4)?,
        expires: get(row, 5)?,
    })
}
