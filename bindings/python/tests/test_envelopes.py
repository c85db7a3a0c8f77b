"""Envelopes that frameworks made: taken off, named, and put back."""

from __future__ import annotations

import datetime
import json

import pytest

import regauge

HASH = {"id": 7, "name": "Ada", "price": 2.5, "tags": ["a", "b"], "in": {"yes": True, "none": None}}


@pytest.fixture(scope="module")
def made(corpus):
    """Returns what is expected of each file, by its path."""
    found = {}
    for path in sorted(corpus.glob("envelopes/*/expected.json")):
        for name, row in json.loads(path.read_text())["files"].items():
            found[path.parent / name] = row
    assert len(found) > 100
    return found


def test_every_file_is_named(made):
    opened = 0
    for path, row in made.items():
        if "error" in row:
            with pytest.raises(regauge.Error):
                regauge.open_envelope(path.read_bytes())
            continue
        inside = regauge.open_envelope(path.read_bytes())
        if row["layer"] is None:
            assert inside is None, path
            continue
        layer = inside.layers[-1]
        assert (layer["name"], layer["steps"], inside.format) == (row["layer"], row["steps"], row["format"]), path
        opened += 1
    assert opened > 100


def test_what_it_says_of_its_value(corpus):
    inside = regauge.open_envelope((corpus / "envelopes/rails-7.1.6/7.1-hash.bin").read_bytes())
    assert inside.layers == [{
        "name": "rails-cache-7.1", "title": "Rails.cache 7.1", "steps": [], "holds": "marshal", "version": "v\u00e94",
        "expires": datetime.datetime(2096, 10, 2, 7, 6, 40, tzinfo=datetime.timezone.utc),
    }]
    assert regauge.marshal.loads(inside.data)["name"] == "Ada"
    assert regauge.open_envelope(b'{"a": 1}') is None
    carried = regauge.open_envelope((corpus / "envelopes/activejob-7.1.6/sidekiq-retried.json").read_bytes())
    assert [layer["name"] for layer in carried.layers] == ["sidekiq-job", "active-job"]
    job = carried.layers[1]
    assert (job["class"], job["executions"], job["exceptions"]) == ("ReportJob", 2, "[IOError, EOFError] 2")
    assert regauge.json.loads(carried.data) == [7]


def test_a_conversion_takes_it_off(corpus, tmp_path):
    path = corpus / "envelopes/django-5.2.19/session-dict.txt"
    data = path.read_bytes()
    assert json.loads(regauge.convert_bytes(data, None, "json")) == HASH
    assert json.loads(regauge.convert_bytes(data, "json", "json", envelope="open")) == HASH
    target = tmp_path / "out.json"
    assert regauge.convert(path, target)["documents"] == 1
    assert json.loads(target.read_text()) == HASH
    with pytest.raises(ValueError, match="found no format"):
        regauge.convert_bytes(data, None, "json", envelope="none")
    # A name says what a file is.
    named = tmp_path / "in.json"
    named.write_bytes(data)
    with pytest.raises(regauge.DecodeError):
        regauge.convert(named, target)
    assert regauge.convert(named, target, envelope="open")["documents"] == 1


def test_a_conversion_puts_it_back(corpus, tmp_path):
    path = corpus / "envelopes/rails-7.1.6/7.1-hash.bin"
    options = {"envelope": "keep", "objects": "data"}
    kept = regauge.convert_bytes(path.read_bytes(), None, "msgpack", **options)
    inside = regauge.open_envelope(kept)
    assert (inside.layers[0]["name"], inside.format) == ("rails-cache-7.1", "msgpack")
    assert regauge.msgpack.loads(inside.data) == HASH
    target = tmp_path / "out.bin"
    regauge.convert(path, target, to="msgpack", **options)
    assert target.read_bytes() == kept
    with pytest.raises(regauge.EncodeError, match="found JSON to put into Rails.cache 7.1"):
        regauge.convert(path, target, to="json", **options)
    assert target.read_bytes() == kept


def test_an_input_without_one_is_refused():
    with pytest.raises(regauge.DecodeError, match="found no envelope, expected one of Rails.cache 7.1") as caught:
        regauge.convert_bytes(b'{"a": 1}', None, "json", envelope="open")
    assert caught.value.hint == "read it without envelope"


def test_a_secret_opens_what_it_signed_or_encrypted(made):
    checked = 0
    for path, row in made.items():
        if "secret" not in row:
            continue
        data, keys = path.read_bytes(), {"secret": row["secret"], "salt": row.get("salt")}
        inside = regauge.open_envelope(data, **keys)
        assert inside.layers[0].get("signature", "checked") == "checked", path
        assert regauge.loads(inside.data, inside.format) == row["value"], path
        keys["secret"] = row["secret"].encode()
        assert json.loads(regauge.convert_bytes(data, None, "json", **keys)) == row["value"], path
        keys["secret"] += b"x"
        with pytest.raises(regauge.DecodeError, match="found a wrong signature|does not decrypt") as caught:
            regauge.convert_bytes(data, None, "json", **keys)
        assert row["secret"] not in str(caught.value)
        checked += 1
    assert checked > 70


def test_a_secret_for_nothing_is_an_error(corpus, tmp_path):
    with pytest.raises(regauge.DecodeError, match="found nothing that is signed") as caught:
        regauge.convert_bytes(b'{"a": 1}', None, "json", secret="hush")
    assert caught.value.hint == "read it without secret"
    with pytest.raises(regauge.DecodeError, match="found nothing that is signed"):
        regauge.open_envelope(b'{"a": 1}', secret="hush")
    source = tmp_path / "in.json"
    source.write_bytes((corpus / "envelopes/django-5.2.19/session-dict.txt").read_bytes())
    target = tmp_path / "out.json"
    assert regauge.convert(source, target, secret="not a secret")["documents"] == 1
    assert json.loads(target.read_text()) == HASH
    with pytest.raises(regauge.DecodeError, match="found a wrong signature") as caught:
        regauge.convert(source, target, secret="hush")
    assert caught.value.hint == "pass salt=… if the application passes another"


@pytest.mark.parametrize(("secret", "raised"), [("", ValueError), (b"", ValueError), (7, TypeError), (["hush"], TypeError)])
def test_a_secret_is_bytes_or_text(secret, raised):
    with pytest.raises(raised, match="as secret, expected a secret that is not empty, as bytes or text") as caught:
        regauge.convert_bytes(b"[]", "json", "json", secret=secret)
    assert "hush" not in str(caught.value)
