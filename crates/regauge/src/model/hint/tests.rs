//! Hints in the words of each surface.

use super::*;

fn rendered(hint: &Hint) -> [String; 4] {
    let languages = [Language::Command, Language::Python, Language::Ruby, Language::Rust];
    languages.map(|language| {
        hint.render(&Surface { language, is_generic: false, takes: &|_| true }).unwrap_or_default()
    })
}

/// A surface that takes everything, in the four languages.
#[test]
fn values() {
    let check = |hint: Hint, expected: [&str; 4]| assert_eq!(rendered(&hint), expected);
    check(
        Hint::on(Opt::JsonNan),
        [
            "pass --json-allow-nan",
            "pass allow_nan=True",
            "pass allow_nan: true",
            "set `json_read.non_finite`",
        ],
    );
    check(
        Hint::set(Opt::YamlSchema, "1.1"),
        [
            "pass --yaml-schema 1.1",
            "pass schema=\"1.1\"",
            "pass schema: \"1.1\"",
            "set `yaml.schema` to `Yaml11`",
        ],
    );
    check(
        Hint::set_any(Opt::PickleProtocol, &["4", "5"]),
        [
            "pass --pickle-protocol 4 or 5",
            "pass protocol=4 or 5",
            "pass protocol: 4 or 5",
            "set `pickle.protocol` to 4 or 5",
        ],
    );
    check(
        Hint::set_any(Opt::PickleStrings, &["utf8", "latin1", "bytes"]),
        [
            "pass --pickle-strings utf8, latin1 or bytes",
            "pass strings=\"utf8\", \"latin1\" or \"bytes\"",
            "pass strings: :utf8, :latin1 or :bytes",
            "set `pickle.strings` to `Utf8`, `Latin1` or `Bytes`",
        ],
    );
    check(
        Hint::set(Opt::DuplicateKeys, "keep"),
        [
            "pass --duplicate-keys keep",
            "pass duplicate_keys=\"keep\"",
            "pass duplicate_keys: :keep",
            "set `duplicate_keys` to `Keep`",
        ],
    );
    check(
        Hint::set(Opt::Bad, "stop"),
        ["pass --bad stop", "pass bad=\"stop\"", "pass bad: :stop", "set `skip_bad` to `false`"],
    );
    check(
        Hint::unlimited(Limit::Expansion).when("you trust the file"),
        [
            "pass --limit expansion=none if you trust the file",
            "pass limits={\"expansion\": None} if you trust the file",
            "pass limits: { expansion: nil } if you trust the file",
            "set `limits.expansion` to its `MAX` if you trust the file",
        ],
    );
    check(
        Hint::give(Opt::BsonDocumentBytes).to("raise it"),
        [
            "pass --bson-document-bytes … to raise it",
            "pass document_bytes=… to raise it",
            "pass document_bytes: … to raise it",
            "set `bson.document_bytes` to raise it",
        ],
    );
    check(
        Hint::into(Format::Ndjson),
        [
            "pass --to ndjson",
            "pass to=\"ndjson\"",
            "pass to: :ndjson",
            "set `to` to `Format::Ndjson`",
        ],
    );
    check(
        Hint::without("convert", Opt::CborDeterministic)
            .or(Hint::set(Opt::OnLoss, "wrap").to("keep it")),
        [
            "convert without --cbor-deterministic, or pass --on-loss wrap to keep it",
            "convert without deterministic, or pass on_loss=\"wrap\" to keep it",
            "convert without deterministic:, or pass on_loss: :wrap to keep it",
            "convert without `cbor.deterministic`, or set `on_loss` to `Wrap` to keep it",
        ],
    );
}

/// A conversion keeps both of two equal keys, and a function that builds maps the last.
#[test]
fn equal_keys() {
    let hint = Hint::set(Opt::DuplicateKeys, "keep");
    let builds = |language| Surface { language, is_generic: false, takes: &|opt| opt != Opt::To };
    let python = hint.render(&builds(Language::Python)).unwrap();
    assert_eq!(python, "pass duplicate_keys=\"last\"");
    assert_eq!(hint.render(&builds(Language::Ruby)).unwrap(), "pass duplicate_keys: :last");
}

/// In functions of all formats, the format is part of a name.
#[test]
fn generic_names() {
    let hint = Hint::on(Opt::JsonNan).or(Hint::set(Opt::OnLoss, "wrap"));
    let rendered = [Language::Command, Language::Python, Language::Ruby].map(|language| {
        hint.render(&Surface { language, is_generic: true, takes: &|_| true }).unwrap()
    });
    assert_eq!(
        rendered,
        [
            "pass --json-allow-nan, or --on-loss wrap",
            "pass json_allow_nan=True, or on_loss=\"wrap\"",
            "pass json_allow_nan: true, or on_loss: :wrap",
        ]
    );
}

/// Options that a function does not take are not suggested; plain text is always kept.
#[test]
fn what_is_not_taken_is_left_out() {
    let hint = Hint::say("a pickle is read as a whole")
        .then(Hint::raise(Limit::RecordBytes))
        .or(Hint::set(Opt::Documents, "split"))
        .then(Hint::command("`regauge inspect` lists them"));
    let some = |opt| opt == Opt::Documents;
    let python =
        |takes| hint.render(&Surface { language: Language::Python, is_generic: false, takes });
    assert_eq!(
        hint.render(&Surface::COMMAND).unwrap(),
        "a pickle is read as a whole; pass --limit record_bytes=… to raise it, or --documents \
         split; `regauge inspect` lists them"
    );
    assert_eq!(
        hint.to_string(),
        "a pickle is read as a whole; set `limits.record_bytes` to raise it, or `documents` to \
         `Split`"
    );
    assert_eq!(python(&some).unwrap(), "a pickle is read as a whole; pass documents=\"split\"");
    assert_eq!(python(&|_| false).unwrap(), "a pickle is read as a whole");
    let ruby = Surface { language: Language::Ruby, is_generic: false, takes: &|_| false };
    assert_eq!(Hint::on(Opt::CborIndefinite).render(&ruby), None);
    assert_eq!(Hint::from(Format::Ndjson).render(&ruby).unwrap(), "use Regauge::NDJSON");
}
