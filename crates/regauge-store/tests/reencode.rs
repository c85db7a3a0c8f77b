//! Re-encoding: what a plan may say, and how a run ends early. `contract.rs` has what every engine does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regauge::Format;
use regauge_store::reencode::{self, Outcome, Plan};
use regauge_store::{Error, Store};

fn plan(rate: Option<f64>) -> Plan {
    Plan { to: "msgpack".parse().unwrap(), dry_run: false, rate }
}

fn run(
    store: &mut Store,
    plan: &Plan,
    progress: &mut dyn FnMut(&Outcome),
) -> Result<Outcome, Error> {
    reencode::reencode(store, plan, &mut |_| Ok(()), progress)
}

fn filled(values: u32) -> Store {
    let mut store =
        Store::open("sqlite::memory:", "objects", Some("json".parse().unwrap())).unwrap();
    let keys: Vec<String> = (0..values).map(|number| format!("{number:04}")).collect();
    let documents: Vec<(&[u8], Option<&[u8]>)> =
        keys.iter().map(|key| (key.as_bytes(), Some(&b"[1]"[..]))).collect();
    store.put_many(&documents, Format::Json).unwrap();
    store
}

#[test]
fn a_rate_is_above_0() {
    let mut store = filled(1);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = run(&mut store, &plan(Some(rate)), &mut |_| ()).unwrap_err();
        assert!(matches!(&refused, Error::Usage(text) if text.contains("above 0")), "{refused}");
        assert_eq!(store.settings().codec.to_string(), "json", "nothing was changed");
    }
}

#[test]
fn a_collection_must_exist() {
    let mut store = Store::open("sqlite::memory:", "objects", None).unwrap();
    let refused = run(&mut store, &plan(None), &mut |_| ()).unwrap_err();
    assert_eq!(refused.to_string(), "the database has no collection objects");
}

#[test]
fn a_run_that_waits_for_its_rate_can_be_stopped() {
    let mut store = filled(1_000);
    let stop = Arc::new(AtomicBool::new(false));
    store.stop = Some(Arc::clone(&stop));
    // 200 values are put back at once, after which a run at this rate would wait for 200 seconds.
    let mut calls_at_200 = 0;
    let ended = run(&mut store, &plan(Some(1.0)), &mut |outcome| {
        calls_at_200 += u32::from(outcome.values == 200);
        stop.store(calls_at_200 == 3, Ordering::Relaxed);
    });
    assert!(matches!(ended, Err(Error::Stopped)), "{ended:?}");
    store.stop = None;
    let rest = run(&mut store, &plan(None), &mut |_| ()).unwrap();
    assert_eq!((rest.changed, rest.already), (800, 200));
}
