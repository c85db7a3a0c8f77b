//! The data folder: the registry, the key, and the value files.
//!
//! ```text
//! server.key      32 random bytes, mode 0600
//! tenants.db      the registry
//! tenants/ID.db   the values of a tenant that has a file of its own
//! shared.db       the values of all others
//! lock            held by the one process that may move and drop tenants
//! ```

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regauge_store::engine::{Engine, Sqlite};
use regauge_store::{Order, Range, Store};

use super::{Error, Lanes, Place, Prefixed, Registry, Result, State, Tenant, TenantId, failed};

/// The collection that holds a tenant's values.
pub const COLLECTION: &str = "objects";
/// Page cache of a connection to a tenant's own file, in bytes. The system caches the file as well,
/// and frequently read documents are in the gateway's own cache.
pub(crate) const PAGE_CACHE: u32 = 256 << 10;
/// Connections to the shared file that stay open.
const SHARED_LANES: usize = 16;
/// Keys deleted per transaction.
const BATCH: usize = 1_000;

/// A data folder.
pub struct Home {
    folder: PathBuf,
    /// Tenants and tokens.
    pub registry: Registry,
    shared: Arc<Lanes>,
}

/// Held by the gateway while it runs, and by the command line while it moves or drops a tenant: two
/// processes with open files could write to one that is gone.
pub struct Lock {
    _file: File,
}

impl Home {
    /// Opens a data folder, creating what is missing, readable only by its owner.
    ///
    /// # Errors
    /// `Engine`; `Usage` for a key that others can read.
    pub fn open(folder: &Path) -> Result<Home> {
        let doing = format!("make the folder {}", folder.display());
        let made = regauge_os::create_private_folder(folder)
            .and_then(|()| regauge_os::create_private_folder(&folder.join("tenants")));
        made.map_err(|error| failed(&doing, error))?;
        // An absolute path: nothing in it is taken as an SQLite option.
        let folder = dunce::canonicalize(folder).map_err(|error| failed(&doing, error))?;
        let registry = Registry::open(&folder.join("tenants.db"), &folder.join("server.key"))?;
        let path = text(&folder.join("shared.db"))?;
        let open = move || -> Result<Box<dyn Engine>> {
            Ok(Box::new(Sqlite::open(&path)?.without_memory()))
        };
        let shared = Arc::new(Lanes::new(open, SHARED_LANES));
        Ok(Home { folder, registry, shared })
    }

    /// Locks the folder for this process.
    ///
    /// # Errors
    /// `Usage` if another process has locked it.
    pub fn lock(&self) -> Result<Lock> {
        let path = self.folder.join("lock");
        let opened = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = opened.map_err(|error| failed(format!("open {}", path.display()), error))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::Usage(format!(
                "another process is using {}; while the gateway runs, use its HTTP API \
                 (/v1/admin), or stop it first",
                self.folder.display()
            ))),
            Err(std::fs::TryLockError::Error(error)) => {
                Err(failed(format!("lock {}", path.display()), error))
            }
        }
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the file of a tenant that has one of its own. A tenant's name is a plain word.
    #[must_use]
    pub fn file(&self, id: &TenantId) -> PathBuf {
        self.folder.join("tenants").join(format!("{id}.db"))
    }

    /// Returns whether the shared file is already open.
    #[must_use]
    pub fn shared_is_warm(&self) -> bool {
        self.shared.is_warm()
    }

    /// Opens the database of a tenant, in one of the two places. Neither caches values itself:
    /// every open tenant would have such a cache, and the gateway has one bounded cache for all.
    ///
    /// # Errors
    /// `Engine`.
    pub fn engine(&self, tenant: &Tenant, place: Place) -> Result<Box<dyn Engine>> {
        match place {
            Place::Own => {
                let file = Sqlite::open(&text(&self.file(&tenant.id))?)?;
                Ok(Box::new(file.without_memory().with_page_cache(PAGE_CACHE)?))
            }
            Place::Shared => Ok(Box::new(Prefixed::new(Arc::clone(&self.shared), tenant.number))),
        }
    }

    /// Opens the store with a tenant's values.
    ///
    /// # Errors
    /// `Engine`.
    pub fn store(&self, tenant: &Tenant) -> Result<Store> {
        Store::with_engine(self.engine(tenant, tenant.place)?, COLLECTION, Some(tenant.codec))
    }

    /// Returns the size of a tenant's own file on disk, including the journal; `None` if it uses
    /// the shared one.
    #[must_use]
    pub fn file_bytes(&self, tenant: &Tenant) -> Option<u64> {
        if tenant.place == Place::Shared {
            return None;
        }
        let size = |path: PathBuf| std::fs::metadata(path).map_or(0, |data| data.len());
        Some(self.files(&tenant.id).into_iter().take(2).map(size).sum())
    }

    fn files(&self, id: &TenantId) -> [PathBuf; 3] {
        let file = self.file(id);
        let beside = |suffix: &str| {
            let mut name = file.clone().into_os_string();
            name.push(suffix);
            PathBuf::from(name)
        };
        [file.clone(), beside("-wal"), beside("-shm")]
    }

    /// Drops a tenant, its tokens and its values. If interrupted, it resumes when called again; its
    /// tokens are refused from the first step on.
    ///
    /// # Errors
    /// `Engine`.
    pub fn drop_tenant(&self, _lock: &Lock, id: &TenantId) -> Result {
        let tenant = self.registry.set_state(id, State::Dropping)?;
        self.clear(&tenant, Place::Own)?;
        self.clear(&tenant, Place::Shared)?;
        self.registry.remove(&tenant)
    }

    /// Removes what a tenant has in a place.
    pub(super) fn clear(&self, tenant: &Tenant, place: Place) -> Result {
        match place {
            Place::Own => {
                for path in self.files(&tenant.id) {
                    match std::fs::remove_file(&path) {
                        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                            return Err(failed(format!("remove {}", path.display()), error));
                        }
                        _ => {}
                    }
                }
            }
            Place::Shared => {
                if !self.folder.join("shared.db").exists() {
                    return Ok(());
                }
                let engine = self.engine(tenant, Place::Shared)?;
                for name in Store::collections(&*engine)? {
                    let own = self.engine(tenant, Place::Shared)?;
                    let layout = Store::with_engine(own, &name, None)?.settings().layout.clone();
                    if !self.shared.with(|engine| engine.has_table(&layout.table))? {
                        continue;
                    }
                    loop {
                        let keys = engine.keys(&layout, &Range::all(), Order::Ascending, BATCH)?;
                        if keys.is_empty() {
                            break;
                        }
                        let gone: Vec<_> = keys.iter().map(|key| (&key[..], None)).collect();
                        engine.apply(&layout, &gone)?;
                    }
                }
                for name in engine.notes("")? {
                    engine.set_note(&name, None)?;
                }
            }
        }
        Ok(())
    }

    /// Completes or undoes moves interrupted by a crash. Returns the tenants concerned.
    ///
    /// # Errors
    /// `Engine`.
    pub fn recover(&self, _lock: &Lock) -> Result<Vec<TenantId>> {
        let mut ended = Vec::new();
        for tenant in self.registry.moving()? {
            // During the copying, the registry still names the old place; once it names the new
            // one, the old place is empty except for leftovers.
            let other = match tenant.place {
                Place::Own => Place::Shared,
                Place::Shared => Place::Own,
            };
            self.clear(&tenant, other)?;
            self.registry.set_place(tenant.number, tenant.place, None)?;
            ended.push(tenant.id);
        }
        Ok(ended)
    }
}

fn text(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => Err(Error::Usage(format!("the path {} is not UTF-8", path.display()))),
    }
}
