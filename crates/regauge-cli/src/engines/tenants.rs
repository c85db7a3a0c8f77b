//! The task tenancy on databases: one database for all tenants, or one each.
//!
//! A gateway gets a tenant and a key; it finds the tenant's database and queries it. In a shared
//! database, keys start with the tenant; with separate ones, the database identifies the tenant.
//! Both hold the same records. On servers, a separate database is what `part` creates: a schema, a
//! database, a keyspace.
//!
//! Databases are created when the first case that needs them is checked, so that every command of
//! the measurement is answered in time.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::time::{Duration, Instant};

use regauge_measure::program::{Absent, Case, Cases, Ready};
use regauge_store::engine::{self, Change, Engine};
use regauge_store::{Codec, Layout, Order, Range, Settings};

use super::part::Part;
use super::{Place, Told, every_kind, in_words, on_each};

/// Numbers of tenants, on SQLite files and on servers: on a server a separate database needs a
/// connection of its own, and PostgreSQL allows a hundred.
const ON_FILES: [u64; 4] = [10, 100, 1_000, 10_000];
const ON_SERVERS: [u64; 2] = [10, 30];
/// Servers get only a part of the task's records: each takes about a millisecond to store.
const SERVER_PART: u64 = 10;
/// Records per query: a page of a list.
const PAGE: usize = 20;
/// Requests per iteration, each to a randomly drawn tenant.
const REQUESTS: u64 = 100;
/// Records per batch when storing.
const BATCH: usize = 1_000;
/// Time limit for creating the databases of this many tenants.
const MAKING: Duration = Duration::from_secs(60);
/// Tenants whose files `regauge serve` keeps open by default.
const GATEWAY_OPEN: usize = 256;
/// The file itself, its journal and its shared index.
const FILES_OF_ONE: u64 = 3;

/// How a gateway manages databases.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One for all tenants.
    One,
    /// One each, all kept open.
    Kept,
    /// One each, the most recently used kept open.
    Some,
    /// One each, opened per request.
    Opened,
}

impl Way {
    /// Returns the infix of its cases' names.
    fn name(self) -> &'static str {
        match self {
            Way::One => "one",
            Way::Kept => "kept",
            Way::Some => "some",
            Way::Opened => "opened",
        }
    }

    /// Returns how many databases stay open.
    fn limit(self) -> usize {
        match self {
            Way::One | Way::Kept => usize::MAX,
            Way::Some => GATEWAY_OPEN,
            Way::Opened => 0,
        }
    }
}

/// Returns every possible case.
pub(super) fn cases<'c>(ready: &Ready, urls: &[&str]) -> Told<Cases<'c>> {
    let records = ready.documents;
    let mut files = may_open();
    let kinds = every_kind();
    let names = |ways: &[Way], tenants: u64| -> Vec<String> {
        let of =
            |way: &Way| ["query", "write"].map(|what| format!("{} {what} {tenants}", way.name()));
        ways.iter().flat_map(of).collect()
    };
    let all = ON_SERVERS.map(|tenants| names(&[Way::One, Way::Kept], tenants)).concat();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Ok(on_each(ready, urls, &kinds, &all, |place| {
        let is_file = place.kind.name == "SQLite";
        let (numbers, ways, records) = match is_file {
            true => (&ON_FILES[..], &[Way::One, Way::Kept, Way::Some, Way::Opened][..], records),
            false => (&ON_SERVERS[..], &[Way::One, Way::Kept][..], records.div_ceil(SERVER_PART)),
        };
        let mut made = Cases::default();
        for &tenants in numbers {
            let leave_out = |ways: &[Way], why: &str| -> Vec<Absent> {
                let told =
                    |name: &String| Absent::because(format!("{} {name}", place.kind.name), why);
                names(ways, tenants).iter().map(told).collect()
            };
            if tenants > records {
                let why = format!("{records} records are too few for {tenants} tenants");
                made.absent.extend(leave_out(ways, &why));
                continue;
            }
            let mut here = ways.to_vec();
            if is_file {
                let wanted = FILES_OF_ONE * tenants;
                match files.checked_sub(wanted) {
                    Some(left) => files = left,
                    None => {
                        let why = format!(
                            "needs {wanted} open files, but only {files} more are allowed (ulimit -n)"
                        );
                        made.absent.extend(leave_out(&[Way::Kept], &why));
                        here.retain(|way| *way != Way::Kept);
                    }
                }
            }
            made.cases.extend(of_number(place, &here, tenants, records / tenants));
        }
        Ok(made)
    }))
}

/// Returns the number of files available for tenants, after raising the limit as far as the system
/// allows.
fn may_open() -> u64 {
    let limit = regauge_os::raise_open_files();
    // Reserve files for the other cases: the gateway's open files, and a process's usual ones.
    let others = FILES_OF_ONE * (GATEWAY_OPEN as u64 * ON_FILES.len() as u64 + 50);
    limit.unwrap_or(u64::MAX).saturating_sub(others)
}

/// Databases that are created on first use.
type Lazy<'c> = LazyCell<Told<Databases>, Box<dyn FnOnce() -> Told<Databases> + 'c>>;

/// Returns the cases for a number of tenants and records per tenant.
fn of_number<'c>(place: &Place<'_>, ways: &[Way], tenants: u64, each: u64) -> Vec<Case<'c>> {
    let lazy = |shared: bool| -> Rc<Lazy<'c>> {
        let (kind, url, version) = (place.kind, place.url.to_owned(), place.version.clone());
        Rc::new(LazyCell::new(Box::new(move || {
            Databases::make(&Place { kind, url: &url, version }, shared, tenants, each)
        })))
    };
    let (one, many) = (lazy(true), lazy(false));
    let mut cases = Vec::new();
    for way in ways {
        let databases = Rc::clone(if *way == Way::One { &one } else { &many });
        let gateway = Gateway {
            databases,
            open: HashMap::new(),
            limit: way.limit(),
            uses: 0,
            draw: Draw(tenants),
            // Above the existing ones, and different for each mode: no two writes collide.
            next: each + (*way as u64) * 1_000_000_000,
        };
        let gateway = Rc::new(RefCell::new(gateway));
        let case = |what: &str,
                    check: fn(&mut Gateway<'c>) -> Told<()>,
                    once: fn(&mut Gateway<'c>) -> Told<()>| {
            let (checked, worked) = (Rc::clone(&gateway), Rc::clone(&gateway));
            Case {
                name: format!("{} {} {what} {tenants}", place.kind.name, way.name()),
                version: place.version.clone(),
                check: Box::new(move || {
                    check(&mut checked.borrow_mut())?;
                    Ok(BTreeMap::new())
                }),
                work: Box::new(move |times| {
                    let mut gateway = worked.borrow_mut();
                    (0..times * REQUESTS).try_for_each(|_| once(&mut gateway))
                }),
            }
        };
        cases.push(case("query", Gateway::check_queries, Gateway::query_any));
        cases.push(case("write", Gateway::check_write, Gateway::write_any));
    }
    cases
}

/// One database for all tenants, or one each.
struct Databases {
    parts: Vec<Part>,
    /// Whether one database is shared by all.
    shared: bool,
    layout: Layout,
    tenants: u64,
    each: u64,
}

impl Databases {
    fn make(place: &Place<'_>, shared: bool, tenants: u64, each: u64) -> Told<Databases> {
        let codec: Codec = "json".parse().map_err(in_words)?;
        let layout = Settings::new("records", codec).map_err(in_words)?.layout;
        let mut made = Databases { parts: Vec::new(), shared, layout, tenants, each };
        if shared {
            made.add(place, 0..tenants)?;
            return Ok(made);
        }
        let began = Instant::now();
        // With SQLite, the others are copies with the tenant replaced: creating ten thousand of
        // them in any other way takes minutes.
        let mut image: Option<Vec<u8>> = None;
        for tenant in 0..tenants {
            if began.elapsed() > MAKING {
                return Err(format!(
                    "created {tenant} of {tenants} databases in {} s, which is too slow",
                    MAKING.as_secs()
                ));
            }
            match &image {
                Some(image) => {
                    let part = Part::make(place)?;
                    std::fs::write(path_of(&part)?, of_tenant(image, tenant)).map_err(in_words)?;
                    made.parts.push(part);
                }
                None => {
                    made.add(place, tenant..tenant + 1)?;
                    if place.kind.name == "SQLite" {
                        // It was closed, so it is complete without its journal.
                        let first = std::fs::read(path_of(&made.parts[0])?);
                        image = Some(first.map_err(in_words)?);
                    }
                }
            }
        }
        Ok(made)
    }

    /// Creates a database with the records of these tenants.
    fn add(&mut self, place: &Place<'_>, tenants: std::ops::Range<u64>) -> Told<()> {
        let part = Part::make(place)?;
        let engine = opened(&part.url)?;
        engine.key_column().clone_into(&mut self.layout.key);
        engine.create(&self.layout).map_err(in_words)?;
        self.parts.push(part);
        let all = tenants.flat_map(|tenant| (0..self.each).map(move |id| (tenant, id)));
        let mut all = all.map(|(tenant, id)| (self.key(tenant, id), record(tenant, id))).peekable();
        while all.peek().is_some() {
            let records: Vec<(Vec<u8>, Vec<u8>)> = all.by_ref().take(BATCH).collect();
            let changes: Vec<Change<'_>> =
                records.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
            engine.apply(&self.layout, &changes).map_err(in_words)?;
        }
        Ok(())
    }

    /// Returns the prefix of a tenant's keys. A zero byte ends it: in Cassandra, keys with the same
    /// prefix form one partition.
    fn prefix(&self, tenant: u64) -> Vec<u8> {
        match self.shared {
            true => format!("tenant {tenant:06}\0").into_bytes(),
            false => b"records\0".to_vec(),
        }
    }

    fn key(&self, tenant: u64, id: u64) -> Vec<u8> {
        let mut key = self.prefix(tenant);
        key.extend_from_slice(&id.to_be_bytes());
        key
    }

    /// Returns the index of the database that holds a tenant's records.
    fn part(&self, tenant: u64) -> usize {
        if self.shared { 0 } else { tenant as usize }
    }
}

/// Builds a record; the tenant's number always has the same number of digits.
fn record(tenant: u64, id: u64) -> Vec<u8> {
    let amount = id as f64 * 1.25;
    let whose = whose(tenant);
    format!("{{\"id\":{id},\"name\":\"record {id} {whose}\",\"amount\":{amount:?}}}").into_bytes()
}

fn whose(tenant: u64) -> String {
    format!("of tenant {tenant:06}")
}

/// Rewrites the first tenant's file for another tenant.
fn of_tenant(image: &[u8], tenant: u64) -> Vec<u8> {
    let (first, other) = (whose(0).into_bytes(), whose(tenant).into_bytes());
    let mut copy = image.to_vec();
    let mut at = 0;
    while let Some(found) = copy[at..].iter().position(|byte| *byte == first[0]) {
        at += found;
        if copy[at..].starts_with(&first) {
            copy[at..at + first.len()].copy_from_slice(&other);
            at += first.len();
        } else {
            at += 1;
        }
    }
    copy
}

fn path_of(part: &Part) -> Told<&str> {
    part.url.strip_prefix("sqlite:").ok_or_else(|| format!("{} is not a file", part.url))
}

fn opened(url: &str) -> Told<Box<dyn Engine>> {
    let engine = engine::open(url).map_err(in_words)?;
    // The question is the gateway's cost, not the disk's: a commit does not wait for the disk.
    if url.starts_with("sqlite:") {
        engine.sync_each_change(false).map_err(in_words)?;
    }
    Ok(engine)
}

/// Runs queries against the tenants' databases.
struct Gateway<'c> {
    /// By database number: when it was last used, and the database. Closed before it is dropped.
    open: HashMap<usize, (u64, Box<dyn Engine>)>,
    databases: Rc<Lazy<'c>>,
    limit: usize,
    uses: u64,
    draw: Draw,
    next: u64,
}

impl Gateway<'_> {
    /// Calls a function with a tenant's database, opening it if necessary.
    fn with<T>(
        &mut self,
        tenant: u64,
        act: impl FnOnce(&Databases, &dyn Engine) -> Told<T>,
    ) -> Told<T> {
        let databases = LazyCell::force(&self.databases).as_ref().map_err(Clone::clone)?;
        let part = databases.part(tenant);
        if self.limit == 0 {
            return act(databases, &*opened(&databases.parts[part].url)?);
        }
        self.uses += 1;
        if !self.open.contains_key(&part) {
            if self.open.len() >= self.limit
                && let Some(oldest) =
                    self.open.iter().min_by_key(|(_, (used, _))| *used).map(|(part, _)| *part)
            {
                self.open.remove(&oldest);
            }
            self.open.insert(part, (self.uses, opened(&databases.parts[part].url)?));
        }
        let (used, engine) = self.open.get_mut(&part).expect("put there above");
        *used = self.uses;
        act(databases, &**engine)
    }

    fn query(&mut self, tenant: u64, first: u64) -> Told<Vec<(Vec<u8>, Vec<u8>)>> {
        self.with(tenant, |databases, engine| {
            let to = Range::prefix(&databases.prefix(tenant)).to;
            let range = Range { from: Some(databases.key(tenant, first)), to };
            engine.page(&databases.layout, &range, Order::Ascending, PAGE).map_err(in_words)
        })
    }

    fn write(&mut self, tenant: u64, id: u64) -> Told<()> {
        self.with(tenant, |databases, engine| {
            let key = databases.key(tenant, id);
            engine.put(&databases.layout, &key, &record(tenant, id)).map_err(in_words)
        })
    }

    /// Returns the number of tenants, and of records per tenant.
    fn size(&self) -> Told<(u64, u64)> {
        let databases = LazyCell::force(&self.databases).as_ref().map_err(Clone::clone)?;
        Ok((databases.tenants, databases.each))
    }

    fn query_any(&mut self) -> Told<()> {
        let (tenants, each) = self.size()?;
        let (tenant, first) = (self.draw.below(tenants), self.draw.below(each));
        self.query(tenant, first).map(drop)
    }

    fn write_any(&mut self) -> Told<()> {
        let (tenants, _) = self.size()?;
        self.next += 1;
        let tenant = self.draw.below(tenants);
        self.write(tenant, self.next)
    }

    /// Checks that the answer holds the tenant's own records and nobody else's.
    fn check_queries(&mut self) -> Told<()> {
        let (tenants, each) = self.size()?;
        // Databases to keep open are opened before anything is timed.
        let kept = tenants.min(u64::try_from(self.limit).unwrap_or(u64::MAX));
        (0..kept).try_for_each(|tenant| self.with(tenant, |_, _| Ok(())))?;
        let first = each / 2;
        for tenant in (0..tenants).step_by((tenants / 10).max(1) as usize) {
            let found = self.query(tenant, first)?;
            let wanted: Vec<Vec<u8>> =
                (first..each.min(first + PAGE as u64)).map(|id| record(tenant, id)).collect();
            // Records written by others in the meantime come after it.
            let found: Vec<Vec<u8>> =
                found.into_iter().take(wanted.len()).map(|(_, value)| value).collect();
            if found != wanted {
                return Err(format!("tenant {tenant} got the wrong records"));
            }
        }
        Ok(())
    }

    fn check_write(&mut self) -> Told<()> {
        self.next += 1;
        self.write(0, self.next)?;
        let found = self.query(0, self.next)?;
        match found.first() {
            Some((_, value)) if *value == record(0, self.next) => Ok(()),
            _ => Err("a written record was not read back".to_owned()),
        }
    }
}

/// Random numbers, the same in every run (SplitMix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        // For numbers this small, the modulo bias is negligible.
        mixed % limit.max(1)
    }
}
