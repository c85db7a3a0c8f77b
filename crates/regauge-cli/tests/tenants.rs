//! `regauge store tenants` and `regauge serve`, the way users type them.

mod common;

use common::Folder;

const DATA: &str = "store tenants --data d";

#[test]
fn tenants_are_made_listed_suspended_moved_and_dropped() {
    let folder = Folder::new();
    let error = folder.run(&format!("{DATA} list")).status(2).stderr;
    assert!(error.contains("d is not a gateway data folder"), "{error}");
    folder.run(&format!("{DATA} create acme globex --codec json+zstd")).status(0);
    folder.run(&format!("{DATA} create acme")).status(2);
    folder.run(&format!("{DATA} create Acme")).status(2);
    folder.run(&format!("{DATA} create ../acme")).status(2);
    let list = folder.run(&format!("{DATA} list")).status(0).text();
    assert_eq!(list.lines().count(), 2);
    assert!(list.starts_with("acme "), "{list}");
    assert!(list.contains(" active    own    json+zstd "), "{list}");
    folder.run(&format!("{DATA} suspend acme")).status(0);
    let list = folder.run(&format!("{DATA} list --limit 1")).status(0).text();
    assert!(list.contains(" suspended "), "{list}");
    folder.run(&format!("{DATA} resume acme")).status(0);
    folder.run(&format!("{DATA} suspend nobody")).status(2);

    // A tenant's own file is an ordinary store.
    folder.write("one.json", r#"{"n": [1, 2.5], "t": "é"}"#);
    folder
        .run("store put --db sqlite:d/tenants/acme.db user/1 one.json --codec json+zstd")
        .status(0);
    let exported = "{\"key\":\"user/1\",\"value\":{\"n\":[1,2.5],\"t\":\"é\"}}\n";
    for place in ["shared", "own"] {
        let text = folder.run(&format!("{DATA} move acme --to {place}")).status(0).text();
        assert!(text.starts_with("1 values, ") && text.ends_with(" each compared with its copy\n"));
        folder.run(&format!("{DATA} move acme --to {place}")).status(2);
        let text = folder.run(&format!("{DATA} export acme")).status(0).text();
        assert_eq!(text, exported, "{place}");
    }
    folder.run(&format!("{DATA} export acme all.msgpack")).status(0);
    folder.run("convert all.msgpack all.ndjson").status(0);
    assert_eq!(folder.read("all.ndjson"), exported.as_bytes());
    folder.run(&format!("{DATA} export acme all.yaml")).status(2);

    folder.run(&format!("{DATA} drop acme --really globex")).status(2);
    folder.run(&format!("{DATA} drop acme --really acme")).status(0);
    let list = folder.run(&format!("{DATA} list")).status(0).text();
    assert!(list.starts_with("globex ") && list.lines().count() == 1, "{list}");
}

#[test]
fn tokens_are_shown_once_listed_without_secrets_rotated_and_revoked() {
    let folder = Folder::new();
    let admin = folder.run(&format!("{DATA} token create")).status(0).text();
    assert!(admin.starts_with("rgt_") && admin.trim_end().len() == 64, "{admin}");
    folder.run(&format!("{DATA} create acme")).status(0);
    let token = folder.run(&format!("{DATA} token create acme --expires 90d")).status(0).text();
    let number = &token[4..20];
    let list = folder.run(&format!("{DATA} token list acme")).status(0).text();
    assert!(list.starts_with(&format!("{number} read,write ")), "{list}");
    assert!(!list.contains(&token[21..40]), "{list}");
    folder.run(&format!("{DATA} token create acme --scope admin")).status(2);
    folder.run(&format!("{DATA} token create --scope read")).status(2);
    folder.run(&format!("{DATA} token create acme --scope everything")).status(2);
    for never in ["soon", "0d", "99999999d"] {
        let ran = folder.run(&format!("{DATA} token create acme --expires {never}")).status(2);
        assert!(ran.stderr.contains("expected"), "{}", ran.stderr);
    }
    let new =
        folder.run(&format!("{DATA} token rotate {number} acme --overlap 0s")).status(0).text();
    assert_ne!(new, token);
    folder.run(&format!("{DATA} token rotate 0123456789abcdef acme")).status(2);
    folder.run(&format!("{DATA} token revoke {number} acme")).status(0);
    folder.run(&format!("{DATA} token revoke {number} acme")).status(2);
    // A tenant's token can be revoked neither through another tenant nor as a gateway token.
    folder.run(&format!("{DATA} token revoke {}", &new[4..20])).status(2);
    assert_eq!(folder.run(&format!("{DATA} token list acme")).status(0).text().lines().count(), 1);
}

#[test]
fn serve_says_what_is_wrong_before_it_begins() {
    let folder = Folder::new();
    folder.write("gateway.toml", "listen = 'here'\n");
    let error = folder.run("serve --config gateway.toml").status(2).stderr;
    match cfg!(feature = "gateway") {
        true => assert!(error.contains("gateway.toml: ") && error.contains("line 1"), "{error}"),
        false => assert!(error.contains("--features gateway"), "{error}"),
    }
}
