//! Tenants: created, suspended, moved, exported and dropped, and ten thousand of them.

mod common;

use std::time::{Duration, Instant};

use common::{Request, Server, files};
use regauge_gateway::tenants::{Home, Limits, Place, Scope, Scopes, State, TenantId};

async fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(folder.path(), |_| ()).await
}

fn ids(count: usize) -> Vec<TenantId> {
    (0..count).map(|number| format!("t{number:05}").parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_administrator_makes_suspends_and_drops_tenants() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let admin = server.token(None, &[Scope::Admin], None);
    let call = |method, path| Request::new(method, path, &admin);
    let all = "/v1/admin/tenants";
    for place in ["own", "shared"] {
        let body = format!("{{\"id\":\"acme\",\"place\":\"{place}\",\"codec\":\"cbor+zstd\"}}");
        let made = server.send(&call("POST", all).json(&body)).await.status(201).json();
        assert_eq!((&made["place"], &made["codec"]), (&place.into(), &"cbor+zstd".into()));
        server.send(&call("POST", all).json(&body)).await.status(409);
        let tokens = "/v1/admin/tenants/acme/tokens";
        let body = "{\"scopes\":[\"read\",\"write\"]}";
        let token = server.send(&call("POST", tokens).json(body)).await.status(201).json();
        let (number, token) = (token["id"].as_str().unwrap(), token["token"].as_str().unwrap());
        let put = Request::new("PUT", "/v1/objects/k", token).json("[1,2,3]");
        server.send(&put).await.status(201);
        let one = "/v1/admin/tenants/acme";
        let shown = server.send(&call("GET", one)).await.status(200).json();
        assert_eq!(shown["values"], 1);
        assert!(shown["requests_last_minute"].as_u64().unwrap() >= 1);

        let listed = server.send(&call("GET", tokens)).await.status(200).text();
        assert!(listed.contains(number) && !listed.contains(&token[21..]), "{listed}");
        let rotate = format!("{tokens}/{number}/rotate");
        let body = "{\"overlap_seconds\":0}";
        let new =
            server.send(&Request::new("POST", &rotate, &admin).json(body)).await.status(201).json();
        server.send(&put).await.status(401);
        let token = new["token"].as_str().unwrap();
        let get = Request::new("GET", "/v1/objects/k", token).with("accept", "application/json");
        server.send(&get).await.status(200);

        server.send(&call("PATCH", one).json("{\"state\":\"suspended\"}")).await.status(200);
        assert_eq!(
            server.send(&get).await.status(403).json()["type"],
            "urn:regauge:problem:suspended"
        );
        server.send(&call("PATCH", one).json("{\"state\":\"active\"}")).await.status(200);
        assert_eq!(server.send(&get).await.status(200).text(), "[1,2,3]");
        server.send(&call("PATCH", one).json("{\"limits\":{\"rate\":0}}")).await.status(400);
        let none = "{\"id\":\"none\",\"limits\":{\"concurrency\":0}}";
        server.send(&call("POST", all).json(none)).await.status(400);
        let gone = "{\"scopes\":[\"read\"],\"expires_in_seconds\":0}";
        server.send(&call("POST", tokens).json(gone)).await.status(400);
        server.send(&call("PATCH", one).json("{\"limits\":{\"rate\":1}}")).await.status(200);
        server.send(&get).await.status(200);
        server.send(&get).await.status(429);
        server.send(&call("PATCH", one).json("{\"limits\":{}}")).await.status(200);
        server.send(&call("PATCH", one).json("{\"state\":\"gone\"}")).await.status(400);
        server.send(&call("PATCH", one).json("{\"speed\":1}")).await.status(400);

        let export = server.send(&call("GET", "/v1/admin/tenants/acme/export")).await.status(200);
        assert_eq!(export.text(), "{\"key\":\"k\",\"value\":[1,2,3]}\n");
        let revoke = format!("{tokens}/{}", new["id"].as_str().unwrap());
        server.send(&Request::new("DELETE", &revoke, &admin)).await.status(204);
        server.send(&Request::new("DELETE", &revoke, &admin)).await.status(404);
        server.send(&get).await.status(401);
        server.send(&call("DELETE", one)).await.status(204);
        server.send(&call("DELETE", one)).await.status(404);
        server.send(&call("GET", one)).await.status(404);
        // The next owner of the name finds nothing.
        let (tenant, token) = server.both("acme", Place::Own, "json");
        let get = Request::new("GET", "/v1/objects/k", &token);
        server.send(&get).await.status(404);
        assert!(server.gateway.home().file(&tenant.id).exists());
        server.send(&call("DELETE", one)).await.status(204);
        assert!(!server.gateway.home().file(&tenant.id).exists());
    }
    for id in ["", "A", "../x", "a_b", "-"] {
        let body = serde_json::json!({"id": id}).to_string();
        server.send(&call("POST", all).json(&body)).await.status(400);
    }
    let errors = server.send(&call("GET", "/v1/admin/errors")).await.status(200).json();
    let kinds: Vec<_> =
        errors["errors"].as_array().unwrap().iter().map(|one| &one["kind"]).collect();
    assert!(kinds.contains(&&"not-found".into()), "{kinds:?}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_moves_while_its_clients_read_and_write() {
    let folder = tempfile::tempdir().unwrap();
    let server = std::sync::Arc::new(server(&folder).await);
    let admin = server.token(None, &[Scope::Admin], None);
    let (tenant, token) = server.both("mover", Place::Own, "json+zstd");
    let (_, neighbour) = server.both("neighbour", Place::Shared, "json");
    server.send(&Request::new("PUT", "/v1/objects/k0", &neighbour).json("7")).await.status(201);
    let client = {
        let (server, token) = (server.clone(), token.clone());
        tokio::spawn(async move {
            for number in 0..400_u32 {
                let (path, body) = (format!("/v1/objects/k{number}"), number.to_string());
                server.send(&Request::new("PUT", &path, &token).json(&body)).await.status(201);
                let got = server.send(&Request::new("GET", &path, &token)).await.status(200);
                assert_eq!(got.text(), body);
            }
        })
    };
    let mut moved = 0;
    while !client.is_finished() {
        for place in ["shared", "own"] {
            let body = format!("{{\"place\":\"{place}\"}}");
            let change = Request::new("PATCH", "/v1/admin/tenants/mover", &admin).json(&body);
            let shown = server.send(&change).await.status(200).json();
            assert_eq!(shown["place"], place);
            moved += shown["moved"]["values"].as_u64().unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    client.await.unwrap();
    assert!(moved > 100, "values were there to be moved: {moved}");
    let list = Request::new("GET", "/v1/objects?values=true", &token);
    let text = server.send(&list).await.status(200).text();
    assert_eq!(text.lines().count(), 400, "no write is lost");
    let list = Request::new("GET", "/v1/objects?values=true", &neighbour);
    assert_eq!(server.send(&list).await.status(200).text().lines().count(), 1);
    // Nothing of a tenant that has moved out remains in the shared file.
    let shared = rusqlite::Connection::open(folder.path().join("data/shared.db")).unwrap();
    let count = |sql: &str| shared.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM objects"), 1);
    assert_eq!(count("SELECT count(*) FROM regauge_notes"), 1);
    assert!(server.gateway.home().file(&tenant.id).exists());
}

#[test]
fn a_move_that_was_cut_off_leaves_the_values_where_they_count() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::open(folder.path()).unwrap();
    let id: TenantId = "t".parse().unwrap();
    let codec = "json".parse().unwrap();
    let tenant = home.registry.create(&id, Place::Own, codec, Limits::default()).unwrap();
    let mut store = home.store(&tenant).unwrap();
    for number in 0..1_200 {
        store.put(format!("{number:04}").as_bytes(), b"[1]", regauge::Format::Json).unwrap();
    }
    drop(store);
    let database = rusqlite::Connection::open(folder.path().join("tenants.db")).unwrap();
    let set = |place: &str, moving: &str| {
        let sql = "UPDATE tenants SET place = ?1, moving = ?2";
        database.execute(sql, [place, moving]).unwrap();
    };
    let count = |place| {
        let tenant = home.registry.get(&id).unwrap();
        let engine = home.engine(&tenant, place).unwrap();
        match regauge_store::Store::collections(&*engine).unwrap().is_empty() {
            true => 0,
            false => {
                let store = regauge_store::Store::with_engine(engine, "objects", None).unwrap();
                store.engine().count(&store.settings().layout).unwrap().0
            }
        }
    };
    let lock = home.lock().unwrap();
    assert!(home.lock().is_err(), "one at a time");
    // Killed during the copying: half of it is in the new place.
    let target = home.engine(&tenant, Place::Shared).unwrap();
    let mut half =
        regauge_store::Store::with_engine(target, "objects", Some(tenant.codec)).unwrap();
    half.put(b"0000", b"[1]", regauge::Format::Json).unwrap();
    drop(half);
    set("own", "copying");
    assert_eq!(home.recover(&lock).unwrap(), std::slice::from_ref(&id));
    assert_eq!((count(Place::Own), count(Place::Shared)), (1_200, 0));
    assert!(home.recover(&lock).unwrap().is_empty());
    // Killed during the cleanup: both places hold everything, and the new one is authoritative.
    let moved = home.move_tenant(&lock, &id, Place::Shared).unwrap();
    assert_eq!(moved.values, 1_200);
    assert!(!home.file(&id).exists());
    let source = home.engine(&tenant, Place::Own).unwrap();
    let mut rest =
        regauge_store::Store::with_engine(source, "objects", Some(tenant.codec)).unwrap();
    rest.put(b"0000", b"[1]", regauge::Format::Json).unwrap();
    drop(rest);
    set("shared", "cleaning");
    assert_eq!(home.recover(&lock).unwrap(), std::slice::from_ref(&id));
    assert!(!home.file(&id).exists());
    assert_eq!(count(Place::Shared), 1_200);
    assert!(home.move_tenant(&lock, &id, Place::Shared).is_err(), "it is there already");
    home.drop_tenant(&lock, &id).unwrap();
    let shared = rusqlite::Connection::open(folder.path().join("shared.db")).unwrap();
    let left = shared.query_row("SELECT count(*) FROM objects", [], |row| row.get::<_, i64>(0));
    assert_eq!(left.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_changes_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (tenant, token) = server.both("t", Place::Own, "json");
    let get = Request::new("GET", "/v1/objects/k", &token);
    server.send(&get).await.status(404);
    // The way the command line does it.
    let home = Home::open(&folder.path().join("data")).unwrap();
    let error = home.lock().err().unwrap().to_string();
    assert!(error.contains("use its HTTP API (/v1/admin), or stop it first"), "{error}");
    home.registry.set_state(&tenant.id, State::Suspended).unwrap();
    let begun = Instant::now();
    while server.send(&get).await.status != 403 {
        assert!(begun.elapsed() < Duration::from_secs(5), "the suspension is not seen");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    home.registry.set_state(&tenant.id, State::Active).unwrap();
    let (_, new) =
        home.registry.add_token(Some(&tenant), Scopes::of(&[Scope::Read]), None).unwrap();
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    server.send(&Request::new("GET", "/v1/objects/k", new.reveal())).await.status(404);
    server.stop().await;
}

/// Returns the number of files that this process has open.
fn open_files(under: &str) -> usize {
    let links = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
    targets.filter(|target| target.to_string_lossy().contains(under)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_tenants_need_no_ten_thousand_files() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| config.open_tenants = 16).await;
    let registry = &server.gateway.home().registry;
    let codec = "msgpack".parse().unwrap();
    let begun = Instant::now();
    let tenants = registry.create_many(&ids(10_000), Place::Own, codec, Limits::default()).unwrap();
    let all: Vec<_> = tenants.iter().map(Some).collect();
    let scopes = Scopes::of(&[Scope::Read, Scope::Write]);
    let tokens = registry.add_tokens(&all, scopes, None).unwrap();
    server.gateway.refresh().unwrap();
    println!("10,000 tenants and tokens made and read in {:?}", begun.elapsed());
    for round in 0..2 {
        for number in (0..10_000).step_by(199) {
            let (body, token) = (number.to_string(), tokens[number].1.reveal());
            let put = Request::new("PUT", "/v1/objects/k", token).json(&body);
            server.send(&put).await.status(if round == 0 { 201 } else { 204 });
            let get =
                Request::new("GET", "/v1/objects/k", token).with("accept", "application/json");
            assert_eq!(server.send(&get).await.status(200).text(), body);
        }
    }
    let open = open_files(&format!("{}/data/tenants/", folder.path().display()));
    assert!((16..=16 * 12).contains(&open), "{open} files of tenants are open");
    let made = files(&folder.path().join("data/tenants"));
    let databases = made.iter().filter(|(name, _)| name.ends_with(".db")).count();
    assert_eq!(databases, 51, "only tenants that were used have a file");
    // The same in a single file.
    let shared: Vec<TenantId> =
        (0..1_000).map(|number| format!("s{number:05}").parse().unwrap()).collect();
    let shared = registry.create_many(&shared, Place::Shared, codec, Limits::default()).unwrap();
    let all: Vec<_> = shared.iter().map(Some).collect();
    let tokens = registry.add_tokens(&all, scopes, None).unwrap();
    server.gateway.refresh().unwrap();
    for (number, (_, token)) in tokens.iter().enumerate().step_by(97) {
        let body = number.to_string();
        let put = Request::new("PUT", "/v1/objects/k", token.reveal()).json(&body);
        server.send(&put).await.status(201);
        let list = Request::new("GET", "/v1/objects?values=true", token.reveal());
        let text = server.send(&list).await.status(200).text();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains(&format!("\"value\":{number}}}")), "{text}");
    }
    server.stop().await;
}
