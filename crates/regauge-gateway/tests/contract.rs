//! The gateway's guarantees to its clients, over HTTP.

mod common;

use common::{Request, Response, Server, files};
use regauge_gateway::tenants::{Limits, Place, Scope};

const MSGPACK: &str = "application/vnd.msgpack";

async fn server(folder: &tempfile::TempDir) -> Server {
    Server::start(folder.path(), |_| ()).await
}

/// Runs on a tenant with a file of its own, and on one in the shared file.
const PLACES: [Place; 2] = [Place::Own, Place::Shared];

#[tokio::test(flavor = "multi_thread")]
async fn a_document_is_put_in_one_format_and_got_in_another() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for place in PLACES {
        for codec in ["json", "msgpack", "cbor+zstd", "marshal", "pickle+gzip", "yaml+lz4"] {
            let name = format!("t-{}-{}", place.name(), codec.replace('+', "-"));
            let (_, token) = server.both(&name, place, codec);
            let path = "/v1/objects/a/b";
            server.send(&Request::new("GET", path, &token)).await.status(404);
            let put = Request::new("PUT", path, &token).json(r#"{"n": [1, 2.5, null], "t": "é"}"#);
            let made = server.send(&put).await.status(201);
            let tag = made.header("etag").unwrap().to_owned();
            let get =
                |accept: &'static str| Request::new("GET", path, &token).with("accept", accept);
            let json = server.send(&get("application/json")).await.status(200);
            assert_eq!(json.text(), "{\"n\":[1,2.5,null],\"t\":\"é\"}", "{codec}");
            assert_eq!(json.header("content-type"), Some("application/json"));
            assert_eq!(json.header("regauge-codec"), Some(codec));
            let msgpack = server.send(&get(MSGPACK)).await.status(200);
            assert_eq!(
                msgpack.body,
                b"\x82\xA1n\x93\x01\xCB\x40\x04\0\0\0\0\0\0\xC0\xA1t\xA2\xC3\xA9"
            );
            // One value, one tag, apart from the format in it.
            assert_eq!(json.header("etag").unwrap()[..33], tag[..33]);
            assert_ne!(json.header("etag"), msgpack.header("etag"));
            // The stored format, by default.
            let stored = server.send(&Request::new("GET", path, &token)).await.status(200);
            assert_eq!(stored.header("etag"), Some(&*tag));
            let again = Request::new("PUT", path, &token).body(MSGPACK, &msgpack.body);
            server.send(&again).await.status(204);
            let head = server.send(&Request::new("HEAD", path, &token)).await;
            assert_eq!((head.status, head.body.len()), (200, 0));
            assert_eq!(head.header("content-length"), Some(&*stored.body.len().to_string()));
            server.send(&Request::new("DELETE", path, &token)).await.status(204);
            server.send(&Request::new("DELETE", path, &token)).await.status(404);
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_spoken_is_told_with_what_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "msgpack");
    let put = |media: &'static str, body: &'static [u8]| Request {
        body,
        ..Request::new("PUT", "/v1/objects/k", &token).with("content-type", media)
    };
    let wrong = server.send(&put("text/html", b"<p>")).await.status(415);
    assert!(wrong.header("accept").unwrap().starts_with("application/json, "));
    assert_eq!(wrong.json()["expected"][0], "application/json");
    server.send(&Request::new("PUT", "/v1/objects/k", &token)).await.status(415);
    let packed = put("application/json", b"{}").with("content-encoding", "gzip");
    let packed = server.send(&packed).await.status(415);
    assert_eq!(packed.header("accept-encoding"), Some("identity"));
    server.send(&put("application/json", b"{}")).await.status(201);
    let get = Request::new("GET", "/v1/objects/k", &token).with("accept", "text/html, image/*");
    let refused = server.send(&get).await.status(406);
    assert_eq!(refused.json()["expected"].as_array().unwrap().len(), 11);

    // JSON has no bytes, and nothing is lost silently.
    server.send(&put(MSGPACK, b"\x81\xA1b\xC4\x02\x00\xFF")).await.status(204);
    let json =
        |path: &'static str| Request::new("GET", path, &token).with("accept", "application/json");
    let refused = server.send(&json("/v1/objects/k")).await.status(406).json();
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("?on_loss=wrap") && !detail.contains("--"), "{detail}");
    assert_eq!((&refused["error"], &refused["path"]), (&"refused".into(), &"$.b".into()));
    let wrapped = server.send(&json("/v1/objects/k?on_loss=wrap")).await.status(200);
    assert!(wrapped.text().contains("AP8="), "{}", wrapped.text());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_notation_is_read_only_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "msgpack");
    let put = |path: &'static str, body: &'static str| Request::new("PUT", path, &token).json(body);
    let get = |path: &'static str, media: &'static str| {
        Request::new("GET", path, &token).with("accept", media)
    };
    const BYTES: &str = r#"{"b":{"$binary":{"base64":"AP8=","subType":"00"}}}"#;
    // By default it is ordinary data, and stays so on every route.
    server.send(&put("/v1/objects/plain", BYTES)).await.status(201);
    let plain = server.send(&get("/v1/objects/plain", "application/json")).await.status(200);
    assert_eq!(plain.text().trim_end(), BYTES);
    let wrapped = "/v1/objects/plain?on_loss=wrap";
    let wrapped = server.send(&get(wrapped, "application/json")).await.status(200).text();
    assert!(wrapped.contains(r#"{"$literal":{"$binary""#), "{wrapped}");
    // With unwrap, the bytes are stored, and come back in the notation.
    server.send(&put("/v1/objects/bytes?unwrap=true", BYTES)).await.status(201);
    let stored = server.send(&get("/v1/objects/bytes", MSGPACK)).await.status(200);
    assert_eq!(stored.body, b"\x81\xA1b\xC4\x02\x00\xFF");
    server.send(&get("/v1/objects/bytes", "application/json")).await.status(406);
    let wrapped = "/v1/objects/bytes?on_loss=wrap";
    let wrapped = server.send(&get(wrapped, "application/json")).await.status(200);
    assert_eq!(wrapped.text().trim_end(), BYTES);
    // On GET, unwrap applies to the stored document.
    let read = server.send(&get("/v1/objects/plain?unwrap=true", MSGPACK)).await.status(200);
    assert_eq!(read.body, b"\x81\xA1b\xC4\x02\x00\xFF");
    let batch = |path: &'static str| {
        let body = r#"{"operations":[{"op":"put","key":"c","value":{"$numberDouble":"NaN"}}]}"#;
        Request::new("POST", path, &token).json(body)
    };
    server.send(&batch("/v1/batch")).await.status(200);
    let text = server.send(&get("/v1/objects/c", "application/json")).await.status(200).text();
    assert_eq!(text.trim_end(), r#"{"$numberDouble":"NaN"}"#);
    server.send(&batch("/v1/batch?unwrap=true")).await.status(200);
    let stored = server.send(&get("/v1/objects/c", MSGPACK)).await.status(200);
    assert_eq!(stored.body[0], 0xCB, "a double");
    server.send(&put("/v1/objects/d?unwrap=perhaps", "{}")).await.status(400);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_document_is_named_with_its_place_and_nothing_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "json");
    let put = |body: &'static str| Request::new("PUT", "/v1/objects/k", &token).json(body);
    let broken = server.send(&put("{\"a\": [1, 2,, 3]}")).await.status(400).json();
    assert_eq!((&broken["offset"], &broken["line"]), (&12.into(), &1.into()));
    assert_eq!(broken["error"], "syntax");
    assert!(broken["detail"].as_str().unwrap().starts_with("json: byte 12"), "{broken}");
    for body in ["", "{", "1 2", "\u{feff}{"] {
        server.send(&put(body)).await.status(400);
    }
    let yaml =
        Request::new("PUT", "/v1/objects/k", &token).body("application/yaml", b"a: 1\n---\nb: 2\n");
    server.send(&yaml).await.status(422);
    // NaN is data that JSON, the tenant's codec, cannot hold.
    let nan = b"\xCB\x7F\xF8\0\0\0\0\0\0";
    let nan = Request::new("PUT", "/v1/objects/k", &token).body(MSGPACK, nan);
    assert_eq!(server.send(&nan).await.status(422).json()["error"], "refused");
    server.send(&Request::new("GET", "/v1/objects/k", &token)).await.status(404);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_keep_two_writers_from_overwriting_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for place in PLACES {
        let (_, token) = server.both(&format!("t-{}", place.name()), place, "json");
        let put = |body: &'static str| Request::new("PUT", "/v1/objects/k", &token).json(body);
        server.send(&put("1").with("if-match", "*")).await.status(412);
        let one = server.send(&put("1").with("if-none-match", "*")).await.status(201);
        let one = one.header("etag").unwrap();
        server.send(&put("2").with("if-none-match", "*")).await.status(412);
        let two = server.send(&put("2").with("if-match", one)).await.status(204);
        server.send(&put("3").with("if-match", one)).await.status(412);
        let get = Request::new("GET", "/v1/objects/k", &token);
        assert_eq!(server.send(&get).await.status(200).text(), "2");
        let two = two.header("etag").unwrap();
        let fresh = server.send(&get.clone().with("if-none-match", two)).await.status(304);
        assert!(fresh.body.is_empty());
        server.send(&get.clone().with("if-match", one)).await.status(412);
        server.send(&get.clone().with("if-match", "nonsense")).await.status(400);
        let delete = Request::new("DELETE", "/v1/objects/k", &token);
        server.send(&delete.clone().with("if-match", one)).await.status(412);
        server.send(&delete.clone().with("if-match", two)).await.status(204);
    }
    // Many concurrent clients, each adding one to what it has read.
    let (_, token) = server.both("counter", Place::Own, "json");
    let (server, token) = (std::sync::Arc::new(server), std::sync::Arc::new(token));
    server.send(&Request::new("PUT", "/v1/objects/n", &token).json("0")).await.status(201);
    let mut writers = Vec::new();
    for _ in 0..8 {
        let (server, token) = (server.clone(), token.clone());
        writers.push(tokio::spawn(async move {
            let mut done = 0;
            while done < 10 {
                let seen = server.send(&Request::new("GET", "/v1/objects/n", &token)).await;
                let next = (seen.text().parse::<u32>().unwrap() + 1).to_string();
                let put = Request::new("PUT", "/v1/objects/n", &token).json(&next);
                match server.send(&put.with("if-match", seen.header("etag").unwrap())).await.status
                {
                    204 => done += 1,
                    412 => {}
                    other => panic!("{other}"),
                }
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let last = server.send(&Request::new("GET", "/v1/objects/n", &token)).await;
    assert_eq!(last.text(), "80", "no addition is lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_bytes_and_a_listing_goes_through_them_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for place in PLACES {
        let (_, token) = server.both(&format!("t-{}", place.name()), place, "msgpack");
        let (_, other) = server.both(&format!("u-{}", place.name()), place, "msgpack");
        server.send(&Request::new("PUT", "/v1/objects/a", &other).json("0")).await.status(201);
        let paths = ["%00", "..", "a%20b", "a%2Fb", "a//b", "é", "%FF%FE", "x%3Fy"];
        for (number, path) in paths.iter().enumerate() {
            let path = format!("/v1/objects/{path}");
            let body = number.to_string();
            server.send(&Request::new("PUT", &path, &token).json(&body)).await.status(201);
        }
        // A slash is a slash, however it is written.
        let same =
            Request::new("GET", "/v1/objects/a/b", &token).with("accept", "application/json");
        assert_eq!(server.send(&same).await.status(200).text(), "3");
        let list = |path: String| {
            let (server, token) = (&server, &token);
            async move {
                let answer = server.send(&Request::new("GET", &path, token)).await.status(200);
                let lines = answer.text();
                lines
                    .lines()
                    .map(|one| serde_json::from_str(one).unwrap())
                    .collect::<Vec<serde_json::Value>>()
            }
        };
        let all = list("/v1/objects?values=true".to_owned()).await;
        let keys: Vec<_> = all.iter().map(|one| one["key"].as_str().unwrap_or("-")).collect();
        assert_eq!(keys, ["\0", "..", "a b", "a//b", "a/b", "x?y", "é", "-"]);
        assert_eq!(all[7]["key_base64"], "//4=");
        assert_eq!((&all[0]["value"], &all[4]["value"]), (&0.into(), &3.into()));
        assert_eq!(list("/v1/objects?prefix=a".to_owned()).await.len(), 3);
        assert_eq!(list("/v1/objects?prefix=%FF".to_owned()).await.len(), 1);
        // Two at a time, back and forth.
        for order in ["ascending", "descending"] {
            let mut found = Vec::new();
            let mut next = Some(format!("/v1/objects?limit=2&order={order}"));
            while let Some(path) = next {
                let mut lines = list(path).await;
                next =
                    lines.last().unwrap().get("next").map(|path| path.as_str().unwrap().to_owned());
                if next.is_some() {
                    lines.pop();
                }
                assert!(lines.len() <= 2);
                found.extend(lines.iter().map(|one| one["key"].as_str().unwrap_or("-").to_owned()));
            }
            if order == "descending" {
                found.reverse();
            }
            assert_eq!(found, keys, "{order}");
        }
        let wrong = [
            "limit=0",
            "limit=x",
            "limit=99999",
            "order=up",
            "tenant=a",
            "limit=1&limit=2",
            "prefix=%4",
        ];
        for wrong in wrong {
            let path = format!("/v1/objects?{wrong}");
            server.send(&Request::new("GET", &path, &token)).await.status(400);
        }
    }
    let (_, token) = server.both("long", Place::Own, "msgpack");
    let at = |length: usize| format!("/v1/objects/{}", "k".repeat(length));
    server.send(&Request::new("PUT", &at(1_024), &token).json("1")).await.status(201);
    server.send(&Request::new("PUT", &at(1_025), &token).json("1")).await.status(400);
    server.send(&Request::new("PUT", "/v1/objects/", &token).json("1")).await.status(404);
    server.send(&Request::new("PUT", "/v1/objects/%zz", &token).json("1")).await.status(400);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_listing_is_streamed_whole_and_a_damaged_value_is_told_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), |config| config.limits.page = 5_000).await;
    let (tenant, token) = server.both("t", Place::Own, "json");
    let one = |i: usize| format!("{{\"op\":\"put\",\"key\":\"{i:05}\",\"value\":{{\"i\":{i}}}}}");
    for part in 0..3 {
        let all: Vec<_> = (part * 900..part * 900 + 900).map(one).collect();
        let body = format!("{{\"operations\":[{}]}}", all.join(","));
        server.send(&Request::new("POST", "/v1/batch", &token).json(&body)).await.status(200);
    }
    let file = server.gateway.home().file(&tenant.id);
    let database = rusqlite::Connection::open(file).unwrap();
    let damage = "UPDATE objects SET value = substr(value, 1, 20) || x'00' || substr(value, 22) \
                  WHERE key = CAST('00700' AS BLOB)";
    assert_eq!(database.execute(damage, []).unwrap(), 1);
    let list = Request::new("GET", "/v1/objects?values=true&limit=5000", &token);
    let text = server.send(&list).await.status(200).text();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|one| serde_json::from_str(one).unwrap()).collect();
    assert_eq!(lines.len(), 2_700);
    for (i, line) in lines.iter().enumerate() {
        match i {
            700 => assert_eq!(line["problem"]["status"], 500, "{line}"),
            _ => assert_eq!(line["value"]["i"], i, "{line}"),
        }
    }
    let damaged = server.send(&Request::new("GET", "/v1/objects/00700", &token)).await.status(500);
    assert!(damaged.json()["detail"].as_str().unwrap().contains("checksum"), "{}", damaged.text());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_carried_out_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for place in PLACES {
        let (tenant, token) = server.both(&format!("t-{}", place.name()), place, "msgpack");
        let batch = |body: &'static str| Request::new("POST", "/v1/batch", &token).json(body);
        let answer = server
            .send(&batch(
                r#"{"operations":[{"op":"put","key":"a","value":{"x":1}},{"op":"get","key":"a"},
                   {"op":"put","key_base64":"//4=","value":[2]},{"op":"delete","key":"none"}]}"#,
            ))
            .await
            .status(200)
            .json();
        let statuses: Vec<_> =
            answer["results"].as_array().unwrap().iter().map(|one| &one["status"]).collect();
        assert_eq!(statuses, [200, 404, 200, 404], "gets see what was there before");
        assert_eq!(answer["results"][2]["key_base64"], "//4=");
        // An answer that cannot be written stops the batch before anything is changed.
        let bytes = b"\x82\xA1b\xC4\x01\xFF\xA1c\x01";
        let put = Request::new("PUT", "/v1/objects/bytes", &token).body(MSGPACK, bytes);
        server.send(&put).await.status(201);
        let refused = batch(
            r#"{"operations":[{"op":"put","key":"late","value":1},{"op":"get","key":"bytes"}]}"#,
        );
        server.send(&refused).await.status(406);
        server.send(&Request::new("GET", "/v1/objects/late", &token)).await.status(404);
        let answer = server
            .send(&batch(r#"{"operations":[{"op":"get","key":"a"},{"op":"delete","key":"a"}]}"#))
            .await;
        assert_eq!(answer.status(200).json()["results"][0]["value"]["x"], 1);
        for wrong in [
            "[]",
            "{}",
            r#"{"operations":[{"op":"put","key":"b"}]}"#,
            r#"{"operations":[{"op":"put","key":"b","value":1},{"op":"put","key":"","value":1}]}"#,
            r#"{"operations":[{"op":"put","key":"b","value":1},{"op":"drop","key":"b"}]}"#,
            r#"{"operations":[{"op":"get","key":"b","more":1}]}"#,
            r#"{"operations":[],"more":1}"#,
            r#"{"operations":[],"operations":[]}"#,
            r#"{"operations":[{"op":"put","key":"b","value":1,"value":2}]}"#,
            r#"{"operations":[{"op":"get","op":"delete","key":"b"}]}"#,
        ] {
            server.send(&batch(wrong)).await.status(400);
        }
        // A value that the codec cannot hold stops the whole batch.
        let big = batch(
            r#"{"operations":[{"op":"put","key":"b","value":1},{"op":"put","key":"c","value":123456789012345678901234567890}]}"#,
        );
        server.send(&big).await.status(422);
        server.send(&Request::new("GET", "/v1/objects/b", &token)).await.status(404);
        let reader = server.token(Some(&tenant), &[Scope::Read], None);
        let read = Request::new("POST", "/v1/batch", &reader);
        server
            .send(&read.clone().json(r#"{"operations":[{"op":"get","key":"a"}]}"#))
            .await
            .status(200);
        server.send(&read.json(r#"{"operations":[{"op":"delete","key":"a"}]}"#)).await.status(403);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_series_is_read_by_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for place in PLACES {
        let (_, token) = server.both(&format!("t-{}", place.name()), place, "msgpack");
        for second in [0_i64, 1, 2, 86_400, 200_000] {
            let path = format!("/v1/series/heat%2F1/{second}");
            let body = second.to_string();
            server.send(&Request::new("PUT", &path, &token).json(&body)).await.status(201);
        }
        let get = async |query: &str| -> Vec<i64> {
            let path = format!("/v1/series/heat%2F1{query}");
            let text = server.send(&Request::new("GET", &path, &token)).await.status(200).text();
            let lines =
                text.lines().map(|one| serde_json::from_str::<serde_json::Value>(one).unwrap());
            lines.filter_map(|one| one["value"].as_i64()).collect()
        };
        assert_eq!(get("").await, [0, 1, 2, 86_400, 200_000]);
        assert_eq!(get("?from=1&till=86400").await, [1, 2]);
        assert_eq!(get("?from=1970-01-02T00:00:00Z&order=descending").await, [200_000, 86_400]);
        assert_eq!(get("?limit=2").await, [0, 1]);
        let page = Request::new("GET", "/v1/series/heat%2F1?limit=2&order=descending", &token);
        let text = server.send(&page).await.status(200).text();
        let next: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        let next = Request::new("GET", next["next"].as_str().unwrap(), &token);
        assert!(
            server
                .send(&next)
                .await
                .status(200)
                .text()
                .starts_with("{\"time\":\"1970-01-01T00:00:02Z\",")
        );
        let one = Request::new("GET", "/v1/series/heat%2F1/1970-01-02T00:00:00Z", &token);
        assert_eq!(
            server.send(&one.with("accept", "application/json")).await.status(200).text(),
            "86400"
        );
        server.send(&Request::new("GET", "/v1/series/heat%2F1/soon", &token)).await.status(400);
        server.send(&Request::new("GET", "/v1/series/a%00b", &token)).await.status(400);
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_with_an_idempotency_key_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "json");
    let put = |key: &'static str, body: &'static str| {
        Request::new("PUT", "/v1/objects/k", &token).json(body).with("idempotency-key", key)
    };
    let new = |key, body| put(key, body).with("if-none-match", "*");
    let first = server.send(&new("one", "1")).await.status(201);
    let again = server.send(&new("one", "1")).await.status(201);
    assert_eq!(first.header("etag"), again.header("etag"));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    server.send(&new("two", "1")).await.status(412);
    server.send(&put("one", "2")).await.status(422);
    server.send(&put("", "2")).await.status(400);
    server.send(&put("a b", "2")).await.status(400);
    // Another tenant's keys are separate.
    let (_, other) = server.both("u", Place::Own, "json");
    let theirs =
        Request::new("PUT", "/v1/objects/k", &other).json("1").with("idempotency-key", "one");
    let theirs = server.send(&theirs.with("if-none-match", "*")).await.status(201);
    assert_eq!(theirs.header("idempotent-replayed"), None);
    // Everything survives a restart.
    server.stop().await;
    let server = self::server(&folder).await;
    let again = server.send(&new("one", "1")).await.status(201);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.header("etag"), first.header("etag"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenant_has_limits() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let limits = Limits { body_bytes: Some(1_000), depth: Some(5), ..Limits::default() };
    let tenant = server.tenant_with("small", Place::Own, "json", limits);
    let token = server.token(Some(&tenant), &[Scope::Read, Scope::Write], None);
    let put = |body| Request::new("PUT", "/v1/objects/k", &token).json(body);
    let (fits, long) = (format!("\"{}\"", "x".repeat(998)), format!("\"{}\"", "x".repeat(999)));
    server.send(&put(&fits)).await.status(201);
    assert_eq!(server.send(&put(&long)).await.status(413).json()["limit"], 1_000);
    server.send(&put("[[[[[]]]]]")).await.status(204);
    let deep = server.send(&put("[[[[[[]]]]]]")).await.status(413).json();
    assert_eq!(deep["error"], "limit", "{deep}");
    let limits = Limits { rate: Some(3), ..Limits::default() };
    let tenant = server.tenant_with("slow", Place::Own, "json", limits);
    let token = server.token(Some(&tenant), &[Scope::Read], None);
    let get = Request::new("GET", "/v1/objects/k", &token);
    let mut refused = None;
    for _ in 0..10 {
        let answer = server.send(&get).await;
        if answer.status == 429 {
            refused = Some(answer.status(429));
        }
    }
    assert_eq!(refused.expect("three a second").header("retry-after"), Some("1"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_and_scopes_are_kept_over_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (tenant, both) = server.both("t", Place::Own, "json");
    let read = server.token(Some(&tenant), &[Scope::Read], None);
    let short = server.token(Some(&tenant), &[Scope::Read], Some(1));
    let put = |token| Request::new("PUT", "/v1/objects/k", token).json("1");
    server.send(&put(&both)).await.status(201);
    server.stop().await;
    // Nothing on the disk contains a token, or a usable part of one.
    for (name, bytes) in files(folder.path()) {
        for token in [&both, &read] {
            let secret = &token.as_bytes()[21..];
            assert!(!bytes.windows(secret.len()).any(|part| part == secret), "{name}");
        }
    }
    let server = self::server(&folder).await;
    let get = |token| Request::new("GET", "/v1/objects/k", token);
    server.send(&get(&both)).await.status(200);
    server.send(&get(&read)).await.status(200);
    server.send(&put(&read)).await.status(403);
    tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
    let refused = server.send(&get(&short)).await.status(401);
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    server.send(&Request::new("GET", "/v1/admin/tenants", &both)).await.status(403);
    let admin = server.token(None, &[Scope::Admin], None);
    server.send(&get(&admin)).await.status(403);
    server.send(&Request::new("GET", "/v1/admin/tenants", &admin)).await.status(200);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_sees_that_it_lives_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    for path in
        ["/health", "/ready", "/openapi.json", "/admin", "/admin/page.js", "/admin/page.css"]
    {
        let answer = server.send(&Request::new("GET", path, "")).await.status(200);
        assert!(answer.header("x-request-id").is_some());
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
    let page = server.send(&Request::new("GET", "/admin", "")).await;
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    server.send(&Request::new("GET", "/metrics", "")).await.status(401);
    let token = server.token(None, &[Scope::Metrics], None);
    let metrics = server.send(&Request::new("GET", "/metrics", &token)).await.status(200).text();
    let line = "regauge_gateway_requests_total{method=\"GET\",route=\"/health\",status=\"200\"} 1";
    assert!(metrics.contains(line), "{metrics}");
    server.send(&Request::new("GET", "/nowhere", "")).await.status(404);
    let wrong = server.send(&Request::new("POST", "/health", "")).await.status(405);
    assert_eq!(wrong.header("allow"), Some("GET,HEAD"));
    let named = Request::new("GET", "/health", "").with("x-request-id", "my-name.1");
    assert_eq!(server.send(&named).await.header("x-request-id"), Some("my-name.1"));
    let named = Request::new("GET", "/health", "").with("x-request-id", "no \"name\"");
    assert_ne!(server.send(&named).await.header("x-request-id"), Some("no \"name\""));
    server.stop().await;
}

/// A change to the client in these tests must not go unnoticed.
#[test]
fn an_answer_in_chunks_is_put_together() {
    let bytes =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    assert_eq!(Response::parse(bytes).unwrap().body, b"abcde");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_of_a_batch_takes_along_what_it_refers_to() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "json");
    let body = "operations:\n- {op: put, key: a, value: &b {x: 1}}\n- {op: put, key: b, value: {y: *b}}\n\
                - {op: put, key: c, value: [*b, *b]}\n";
    let batch = |path| Request::new("POST", path, &token).body("application/yaml", body.as_bytes());
    server.send(&batch("/v1/batch?on_loss=wrap")).await.status(200);
    let get = async |key: &str, query: &str| {
        let path = format!("/v1/objects/{key}{query}");
        let get = Request::new("GET", &path, &token).with("accept", "application/json");
        server.send(&get).await.status(200).text()
    };
    assert_eq!(get("b", "?unwrap=true").await, "{\"y\":{\"x\":1}}");
    assert!(get("c", "").await.ends_with("{\"$alias\":1}]"));
    server.send(&batch("/v1/batch?on_loss=approximate")).await.status(200);
    assert_eq!(get("c", "").await, "[{\"x\":1},{\"x\":1}]");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_others_within_a_series_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "json");
    for path in [
        "/v1/series/s/0",
        "/v1/series/s/100000",
        "/v1/objects/s%00a",
        "/v1/objects/s%00zzzzzzzzzzzzzzzz",
    ] {
        server.send(&Request::new("PUT", path, &token).json("1")).await.status(201);
    }
    for order in ["ascending", "descending"] {
        let mut path = format!("/v1/series/s?limit=1&order={order}");
        let mut times = Vec::new();
        while times.len() < 5 {
            let text = server.send(&Request::new("GET", &path, &token)).await.status(200).text();
            let lines: Vec<serde_json::Value> =
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            times.extend(lines.iter().filter_map(|one| one["time"].as_str().map(str::to_owned)));
            let Some(next) = lines.last().and_then(|one| one["next"].as_str()) else { break };
            path = next.to_owned();
        }
        times.sort();
        assert_eq!(times, ["1970-01-01T00:00:00Z", "1970-01-02T03:46:40Z"], "{order}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_of_large_documents_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (_, token) = server.both("t", Place::Own, "json+zstd");
    let large = format!("\"{}\"", "x".repeat(1 << 20));
    for key in 0..9 {
        let path = format!("/v1/objects/{key}");
        server.send(&Request::new("PUT", &path, &token).json(&large)).await.status(201);
    }
    let list = Request::new("GET", "/v1/objects?values=true&limit=8", &token);
    let text = server.send(&list).await.status(200).text();
    assert_eq!(text.lines().count(), 9);
    assert!(text.lines().last().unwrap().contains("\"next\":"));
    let admin = server.token(None, &[Scope::Admin], None);
    let export = Request::new("GET", "/v1/admin/tenants/t/export", &admin);
    assert_eq!(server.send(&export).await.status(200).text().lines().count(), 9);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_does_not_use_up_an_idempotency_key() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(&folder).await;
    let (tenant, token) = server.both("t", Place::Own, "json");
    let reader = server.token(Some(&tenant), &[Scope::Read], None);
    let body = r#"{"operations":[{"op":"put","key":"a","value":1}]}"#;
    let batch =
        |token| Request::new("POST", "/v1/batch", token).with("idempotency-key", "k").json(body);
    server.send(&batch(&reader)).await.status(403);
    server.send(&batch(&token)).await.status(200);
    // An empty TOML file is a document.
    let put = Request::new("PUT", "/v1/objects/t", &token);
    server.send(&put.clone().body("application/toml", b"")).await.status(201);
    server.send(&put.json("")).await.status(400);
    server.stop().await;
}
