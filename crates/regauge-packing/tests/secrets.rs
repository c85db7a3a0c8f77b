//! What frameworks signed and encrypted, with its secret: every file of `corpus/envelopes` that has one.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use regauge::convert::convert_bytes;
use regauge::envelope::{self, Ciphers, Hash, Keys, Opened, Peeled, Tools};
use regauge::options::{Envelopes, Secret};
use regauge::{ErrorKind, Format, Limits, Options, Result};
use regauge_packing::{Secrets, Values};
use serde_json::Value;

struct Case {
    path: PathBuf,
    bytes: Vec<u8>,
    /// What its framework made, as `expected.json` says it.
    made: Value,
}

impl Case {
    fn text(&self, name: &str) -> Option<&str> {
        self.made[name].as_str()
    }

    fn open(&self) -> Result<Peeled> {
        peel(&self.bytes, self.text("secret").unwrap(), self.text("salt"))
    }
}

fn cases() -> Vec<Case> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/envelopes");
    let mut cases = Vec::new();
    for folder in fs::read_dir(corpus).unwrap() {
        let folder = folder.unwrap().path();
        let index: Value =
            serde_json::from_slice(&fs::read(folder.join("expected.json")).unwrap()).unwrap();
        for (file, made) in index["files"].as_object().unwrap() {
            let path = folder.join(file);
            let bytes = fs::read(&path).unwrap();
            cases.push(Case { path, bytes, made: made.clone() });
        }
    }
    let count = |layer| cases.iter().filter(|case| case.text("layer") == Some(layer)).count();
    assert!(count("rails-signed") > 40 && count("rails-encrypted") > 60);
    cases
}

fn secret_cases() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.text("secret").is_some())
}

/// Whether keys are derived in a thousand rounds, which takes milliseconds for each wrong one.
fn is_derived(case: &Case) -> bool {
    case.text("layer").unwrap().starts_with("rails-")
}

/// One version of Rails is enough to be wrong with.
fn takes_long(case: &Case) -> bool {
    is_derived(case) && !case.path.to_string_lossy().contains("rails-7.1.6")
}

fn peel(bytes: &[u8], secret: &str, salt: Option<&str>) -> Result<Peeled> {
    peel_by(&Secrets, bytes, secret, salt)
}

fn peel_by(
    ciphers: &dyn Ciphers,
    bytes: &[u8],
    secret: &str,
    salt: Option<&str>,
) -> Result<Peeled> {
    let limits = Limits::default();
    let secret = Secret::new(secret.as_bytes()).unwrap();
    let keys = Some(Keys::new(&secret, salt, ciphers));
    let tools = Tools { limits: &limits, packer: &Values, keys };
    let told = Format::from_magic(&bytes[..bytes.len().min(4096)]);
    envelope::peel(bytes.to_vec(), told, Envelopes::Auto, &tools)
}

fn opened(peeled: Result<Peeled>) -> Opened {
    match peeled.unwrap() {
        Peeled::Opened(opened) => opened,
        Peeled::Bare(bytes) => panic!("{}", bytes.escape_ascii()),
    }
}

#[test]
fn each_file_is_opened_with_its_secret() {
    for case in secret_cases() {
        let name = case.path.display();
        let opened = opened(case.open());
        let [one] = opened.layers.as_slice() else { panic!("{name}: {}", opened.names()) };
        assert!(one.is_checked, "{name}");
        assert_eq!(one.row.name, case.text("layer").unwrap(), "{name}");
        assert_eq!(serde_json::json!(one.steps), case.made["steps"], "{name}");
        assert_eq!(Some(opened.format.name()), case.text("format"), "{name}");
        let json = convert_bytes(&opened.bytes, &Options::new(opened.format, Format::Json));
        let value: Value = serde_json::from_slice(&json.unwrap()).unwrap();
        assert_eq!(value, case.made["value"], "{name}");
        for fact in ["expires", "purpose", "signed"] {
            let found = one.facts.iter().find(|one| one.name == fact).map(envelope::Fact::words);
            assert_eq!(found, case.text(fact).map(|text| format!("{fact} {text}")), "{name}");
        }
        let signature = one.facts.iter().find(|one| one.name == "signature");
        let is_signed = case.text("layer") != Some("rails-encrypted");
        assert_eq!(
            signature.map(envelope::Fact::words).as_deref(),
            is_signed.then_some("signature checked")
        );
    }
}

#[test]
fn another_secret_or_salt_is_an_error() {
    for case in secret_cases().filter(|case| !takes_long(case)) {
        let name = case.path.display();
        let secret = case.text("secret").unwrap();
        // A key that the application derived itself, which no salt changes.
        let is_key = secret.starts_with("kkk");
        let another = format!("{secret}x");
        let wrong_salt = peel(&case.bytes, secret, Some("another purpose"));
        match (is_key, wrong_salt) {
            (true, peeled) => assert!(opened(peeled).layers[0].is_checked, "{name}"),
            (false, Ok(peeled)) => panic!("{name}: {peeled:?}"),
            (false, Err(error)) => assert_eq!(error.kind(), ErrorKind::Data, "{name}"),
        }
        for wrong in [another.as_str(), "x"] {
            let error = peel(&case.bytes, wrong, case.text("salt")).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Data, "{name}: {error}");
            assert!(!error.to_string().contains(secret), "{name}: {error}");
        }
    }
}

/// Whatever byte is another, nothing comes out.
#[test]
fn what_was_changed_is_not_opened() {
    for case in secret_cases().filter(|case| !takes_long(case)) {
        let step = if is_derived(&case) { 97 } else { 1 };
        for at in (0..case.bytes.len()).step_by(step) {
            let mut changed = case.bytes.clone();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let peeled = peel(&changed, case.text("secret").unwrap(), case.text("salt"));
            let found = peeled.map(drop).unwrap_err();
            assert_ne!(found.kind(), ErrorKind::Io, "{} at {at}", case.path.display());
        }
    }
}

/// A secret that nothing is checked with is an error: someone may have left out the signature.
#[test]
fn a_value_without_a_signature_is_an_error() {
    let mut count = 0;
    for case in cases().iter().filter(|case| case.text("secret").is_none()) {
        // What is in them is not looked for: an `auto` takes off only what can be nothing else.
        let error = peel(&case.bytes, "not a secret", None).map(drop).unwrap_err();
        assert!(error.to_string().starts_with("found nothing that is signed"), "{error}");
        count += 1;
    }
    assert!(count > 60, "{count}");
    for bytes in [&b"{\"id\": 7}"[..], b"", b"a:b:c"] {
        let error = peel(bytes, "not a secret", None).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Data);
    }
}

#[test]
fn messages_name_the_salts() {
    let find = |end: &str| cases().into_iter().find(|case| case.path.ends_with(end)).unwrap();
    let message =
        |case: &Case, salt| peel(&case.bytes, "x", salt).map(drop).unwrap_err().to_string();
    let session = find("django-5.2.19/session-dict.txt");
    assert_eq!(
        message(&session, None),
        "in a signed value of Django: found a wrong signature, expected that the secret made it with the salt \
         \"django.contrib.sessions.SessionStore\" or \"django.contrib.sessions.backends.signed_cookies\" or \
         \"django.core.signing\" or \"django.contrib.messages\"; set `salt` if the application passes another"
    );
    assert_eq!(
        message(&session, Some("mine")),
        "in a signed value of Django: found a wrong signature, expected that the secret made it with the salt \
         \"mine\"; read it unchecked without `secret`"
    );
    for file in ["cookie-encrypted-sha256.txt", "cookie-cbc-json-sha256.txt"] {
        assert_eq!(
            message(&find(&format!("rails-7.1.6/{file}")), Some("mine")),
            "in an encrypted message of Rails: found data that the secret does not decrypt, or that was changed, \
             expected that the secret encrypted it with the salt \"mine\""
        );
    }
    assert_eq!(message(&find("rails-5.1.7/cookie-cbc-marshal-sha1.txt"), None), NOT_DECRYPTED);
}

const NOT_DECRYPTED: &str = "in an encrypted message of Rails: found data that the secret does not decrypt, or that was \
                             changed, expected that the secret encrypted it with the salt \"encrypted cookie\"; set \
                             `salt` if the application passes another";

/// Counts what is decrypted with AES-CBC.
#[derive(Default)]
struct Counted(Cell<usize>);

impl Ciphers for Counted {
    fn hash(&self, hash: Hash, parts: &[&[u8]]) -> Vec<u8> {
        Secrets.hash(hash, parts)
    }

    fn hmac(&self, hash: Hash, key: &[u8], message: &[u8]) -> Vec<u8> {
        Secrets.hmac(hash, key, message)
    }

    fn is_hmac(&self, hash: Hash, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
        Secrets.is_hmac(hash, key, message, signature)
    }

    fn pbkdf2(&self, hash: Hash, secret: &[u8], salt: &[u8], rounds: u32, bytes: usize) -> Vec<u8> {
        Secrets.pbkdf2(hash, secret, salt, rounds, bytes)
    }

    fn decrypt(
        &self,
        key: &[u8; 32],
        vector: &[u8; 12],
        data: &[u8],
        tag: &[u8; 16],
    ) -> Option<Vec<u8>> {
        Secrets.decrypt(key, vector, data, tag)
    }

    fn decrypt_cbc(&self, key: &[u8; 32], vector: &[u8; 16], data: &[u8]) -> Option<Vec<u8>> {
        self.0.set(self.0.get() + 1);
        Secrets.decrypt_cbc(key, vector, data)
    }
}

/// An attacker who can tell wrong padding from a wrong signature can decrypt the rest byte by byte.
#[test]
fn no_padding_is_seen_without_a_signature() {
    let secret = "0123456789abcdef";
    // Two times 16 bytes of zeros, in base64.
    let text = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQT09LS1BQUFBQUFBQUFBQUFBQUFBQUFBQUFBPT0=";
    let message = |secret: &str| {
        let salt = b"signed encrypted cookie";
        let key = Secrets.pbkdf2(Hash::Sha256, secret.as_bytes(), salt, 1000, 64);
        let signature = Secrets.hmac(Hash::Sha1, &key, text.as_bytes());
        let digits: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{text}--{digits}")
    };
    for (signed_with, times) in [("another secret", 0), (secret, 1)] {
        let counted = Counted::default();
        let peeled = peel_by(&counted, message(signed_with).as_bytes(), secret, None);
        assert_eq!(peeled.map(drop).unwrap_err().to_string(), NOT_DECRYPTED, "{signed_with}");
        assert_eq!(counted.0.get(), times, "{signed_with}");
    }
}
