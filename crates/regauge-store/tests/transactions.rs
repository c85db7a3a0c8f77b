//! Transactions that a caller begins and ends, and the order in which keys were put: SQLite has both.

use std::path::Path;

use regauge::Format;
use regauge_store::{Error, Order, Store};

fn store(path: &Path) -> Store {
    let url = format!("sqlite:{}", path.join("store.db").display());
    Store::open(&url, "objects", Some("json".parse().unwrap())).unwrap()
}

fn by_age(store: &Store, after: Option<i64>, order: Order, limit: usize) -> Vec<(i64, Vec<u8>)> {
    store.engine().keys_by_age(&store.settings().layout, after, order, limit).unwrap()
}

#[test]
fn a_transaction_is_stored_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (store(folder.path()), store(folder.path()));
    one.put(b"old", b"0", Format::Json).unwrap();
    for commit in [false, true] {
        one.engine().begin().unwrap();
        one.put(b"a", b"1", Format::Json).unwrap();
        assert!(one.delete(b"old").unwrap());
        one.put_many(&[(b"b", Some(b"2")), (b"c", Some(b"3"))], Format::Json).unwrap();
        // What fails within is undone alone.
        let failed = one.put_many(&[(b"d", Some(b"4")), (b"e", Some(b"{"))], Format::Json);
        assert!(matches!(failed, Err(Error::Document { .. })));
        assert_eq!(one.get(b"b", Format::Json).unwrap().unwrap(), b"2");
        // Others see what was there before.
        assert!(two.exists(b"old").unwrap() && !two.exists(b"a").unwrap());
        one.engine().end(commit).unwrap();
        for store in [&mut one, &mut two] {
            assert_eq!(store.exists(b"old").unwrap(), !commit);
            assert_eq!(store.get(b"a", Format::Json).unwrap().is_some(), commit);
            assert_eq!(store.exists(b"c").unwrap(), commit);
            assert!(!store.exists(b"d").unwrap());
        }
    }
}

#[test]
fn a_second_begin_and_an_end_without_one_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let one = store(folder.path());
    assert!(one.engine().end(true).is_err());
    one.engine().begin().unwrap();
    assert!(one.engine().begin().is_err());
    one.engine().end(false).unwrap();
}

#[test]
fn keys_come_in_the_order_in_which_they_were_put_first() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    for key in ["c", "a", "d", "b", "a"] {
        store.put(key.as_bytes(), b"1", Format::Json).unwrap();
    }
    store.delete(b"d").unwrap();
    let keys =
        |found: &[(i64, Vec<u8>)]| found.iter().map(|(_, key)| key.clone()).collect::<Vec<_>>();
    let found = by_age(&store, None, Order::Ascending, 10);
    assert_eq!(keys(&found), [b"c", b"a", b"b"]);
    assert_eq!(keys(&by_age(&store, Some(found[0].0), Order::Ascending, 1)), [b"a"]);
    assert_eq!(keys(&by_age(&store, None, Order::Descending, 2)), [b"b", b"a"]);
    assert_eq!(keys(&by_age(&store, Some(found[1].0), Order::Descending, 9)), [b"c"]);
}
