//! `--secret-file` and `--salt`: what is signed is checked, and what is encrypted is decrypted.

mod common;

use std::path::Path;

use common::Folder;
use serde_json::{Value, json};

const HASH: &str = "{\"id\":7,\"name\":\"Ada\",\"price\":2.5,\"tags\":[\"a\",\"b\"],\"in\":{\"yes\":true,\"none\":null}}\n";

/// Returns a folder with `value.txt`, which a framework made, and the files of two secrets.
fn folder(path: &str, secret: &str) -> Folder {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    let folder = Folder::new();
    folder.write("value.txt", std::fs::read(corpus.join(path)).unwrap());
    folder.write("secret.txt", format!("{secret}\n"));
    folder.write("other.txt", "another secret");
    folder
}

#[test]
fn a_conversion_checks_and_decrypts() {
    let base = "0123456789abcdef".repeat(8);
    for (path, secret, flags, note) in [
        (
            "rails-7.1.6/cookie-encrypted-sha256.txt",
            base.as_str(),
            "",
            "an encrypted message of Rails, base64, aes-256-gcm (purpose cookie._session)",
        ),
        (
            "rails-8.0.5.1/app-encrypted-sha256.txt",
            &base,
            "--salt reports",
            "an encrypted message of Rails, base64, aes-256-gcm",
        ),
        (
            "rails-5.1.7/cookie-cbc-marshal-sha1.txt",
            &base,
            "",
            "an encrypted message of Rails, base64, aes-256-cbc",
        ),
        (
            "rails-7.1.6/cookie-cbc-json-sha256.txt",
            &base,
            "",
            "an encrypted message of Rails, base64, aes-256-cbc (purpose cookie._session)",
        ),
        (
            "rails-8.0.5.1/app-cbc-one-sha256.txt",
            &base,
            "--salt reports",
            "an encrypted message of Rails, base64, aes-256-cbc",
        ),
        (
            "rails-6.1.7.10/cookie-signed-sha1.txt",
            &base,
            "",
            "a signed message of Rails, base64 (expires 2096-10-02T07:06:40.000Z; purpose cookie.user; signature checked)",
        ),
        (
            "django-5.2.19/session-dict.txt",
            "not a secret",
            "",
            "a signed value of Django, base64 (signed 2027-01-15T08:00:00Z; signature checked)",
        ),
        (
            "flask-3.1.3/timed-salt-sha1.txt",
            "not a secret",
            "--salt email-confirm",
            "a signed value of Flask (itsdangerous), base64 (signed 2027-01-15T08:00:00Z; signature checked)",
        ),
    ] {
        let folder = folder(path, secret);
        let convert = |file: &str| {
            folder.run(&format!("convert value.txt - --to json --secret-file {file} {flags}"))
        };
        let ran = convert("secret.txt").status(0);
        assert_eq!(ran.text(), HASH, "{path}");
        assert_eq!(ran.stderr, format!("regauge: value.txt: envelope: {note}, taken off\n"));
        let ran = convert("other.txt").status(1);
        assert!(ran.stdout.is_empty());
        assert!(
            ran.stderr.contains(": found a wrong signature, expected that the secret made it")
                || ran.stderr.contains(": found data that the secret does not decrypt"),
            "{}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("another secret"), "{}", ran.stderr);
    }
}

#[test]
fn inspect_says_that_it_was_checked() {
    let folder = folder("flask-3.1.3/session-dict.txt", "not a secret");
    let text = folder.run("inspect value.txt --secret-file secret.txt").silent().text();
    assert!(text.contains("; signature checked\n"), "{text}");
    let text = folder.run("inspect value.txt").silent().text();
    assert!(text.contains("; signature not checked\n"), "{text}");
    let ran = folder.run("inspect value.txt --secret-file other.txt").status(1);
    assert_eq!(
        ran.stderr,
        "regauge: value.txt: in a signed value of Flask (itsdangerous): found a wrong signature, expected that the \
         secret made it with the salt \"cookie-session\" or \"itsdangerous\" or \"itsdangerous.Signer\" or \
         \"wtf-csrf-token\"; pass --salt … if the application passes another\n"
    );
    folder
        .run("convert value.txt out.json --secret-file secret.txt --report report.json -q")
        .silent();
    let report: Value = serde_json::from_slice(&folder.read("report.json")).unwrap();
    assert_eq!(report["envelopes"][0]["signature"], json!("checked"));
}

#[test]
fn encrypted_data_asks_for_the_secret() {
    for file in ["rails-7.0.10/cookie-encrypted-sha1.txt", "rails-5.1.7/cookie-cbc-json-sha1.txt"] {
        let folder = folder(file, "");
        let ran = folder.run("convert value.txt - --to json").status(1);
        assert_eq!(
            ran.stderr,
            "regauge: value.txt: in an encrypted message of Rails: found encrypted data, which only the secret of the \
             application opens; pass --secret-file … to decrypt it\n"
        );
    }
}

/// Someone may have left out the signature.
#[test]
fn a_secret_for_nothing_is_an_error() {
    let folder = folder("rails-7.1.6/7.1-hash.bin", "not a secret");
    folder.write("plain.json", HASH);
    let wrong = "found nothing that is signed or encrypted, expected what the secret is for; read it without \
                 --secret-file\n";
    for input in ["plain.json", "value.txt", "plain.json --envelope none"] {
        let ran = folder.run(&format!("convert {input} - --to json --secret-file secret.txt"));
        let ran = ran.status(1);
        assert!(ran.stderr.ends_with(wrong) && ran.stdout.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn a_file_without_a_secret_is_wrong_usage() {
    let folder = folder("django-5.2.19/session-dict.txt", "");
    folder.write("long.txt", vec![b'a'; (64 << 10) + 1]);
    for (flags, expected) in [
        ("--secret-file secret.txt", "secret.txt: is empty, expected a secret"),
        ("--secret-file missing.txt", "missing.txt: No such file or directory"),
        ("--secret-file long.txt", "long.txt: has more than 65536 bytes, expected a secret"),
        ("--salt orders", "--salt goes with a secret; pass --secret-file, too"),
    ] {
        let ran = folder.run(&format!("inspect value.txt {flags}")).status(2);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}
