"""Events: they are those of the document, whatever the format, and however large it is."""

from __future__ import annotations

import contextlib
import io
import pathlib
import pickle
import subprocess
import sys
import threading

import pytest

import regauge

NAMES = {
    "json": "json", "ndjson": "ndjson", "yaml": "yaml", "yml": "yaml", "msgpack": "msgpack",
    "cbor": "cbor", "bson": "bson", "marshal": "marshal", "pickle": "pickle", "mrc": "marc",
    "marcxml": "marcxml", "xml": "marcxml", "mrk": "mrk", "seq": "alephseq", "toml": "toml", "csv": "csv", "tsv": "tsv",
}


def built(events):
    """Returns the documents of a stream of events."""
    documents, stack, keys = [], [], []
    for kind, value in events:
        if kind in ("begin_document", "begin_array"):
            stack.append([])
            continue
        if kind == "begin_map":
            stack.append({})
            keys.append(None)
            continue
        if kind == "key":
            keys[-1] = value
            continue
        if kind == "end_document":
            [document] = stack.pop()
            assert not stack
            documents.append(document)
            continue
        if kind in ("end_map", "end_array"):
            value = stack.pop()
            if kind == "end_map":
                keys.pop()
        if isinstance(stack[-1], dict):
            stack[-1][keys[-1]] = value
        else:
            stack[-1].append(value)
    assert not stack
    return documents


class Handler:
    """Collects the events that its methods are called with."""

    def __init__(self):
        self.events = []

    def __getattr__(self, kind):
        if kind not in ("begin_document", "end_document", "begin_map", "end_map", "begin_array",
                        "end_array", "key", "value"):
            raise AttributeError(kind)
        return lambda *value: self.events.append((kind, *value) if value else (kind, None))


class Slow(io.RawIOBase):
    """Gives a few bytes at a time."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def read(self, size=-1):
        return self.data.read(min(size, 7) if size >= 0 else 7)


def same(found, expected):
    # By what they show: NaN differs from itself, and 1 is True.
    return repr(found) == repr(expected)


def test_events_of_the_corpus_build_what_iter_load_gives(corpus):
    compared, cyclic = 0, []
    for path in sorted(corpus.glob("*/valid/*")):
        name = NAMES.get(path.suffix.lstrip("."))
        if name is None:
            continue
        if name in ("json", "ndjson") and "marc" in path.parts:
            name = "marc-json"
        data = path.read_bytes()
        try:
            expected = list(regauge._regauge.iter_load(name, data))
        except regauge.Error as error:
            # A dict cannot be a key of a dict, but it may be the value of an event.
            assert "found a key that no dict can have" in str(error), path
            with contextlib.suppress(regauge.DecodeError):
                list(regauge.events(data, name))
            continue
        try:
            found = built(regauge.events(data, name))
        except regauge.DecodeError:
            # A value that contains itself has no end.
            cyclic.append(path.name)
            continue
        assert same(found, expected), path
        assert same(built(regauge.events(Slow(data), name)), expected), path
        assert same(built(regauge.events(path, name)), expected), path
        handler = Handler()
        regauge.parse_events(data, handler, name)
        assert same(handler.events, [tuple(event) for event in regauge.events(data, name)])
        compared += 1
    assert compared > 100
    assert len(cyclic) < 12, cyclic


def test_errors_of_the_corpus_are_those_of_iter_load(corpus):
    compared = 0
    for path in sorted(corpus.glob("*/invalid/*")):
        name = NAMES.get(path.suffix.lstrip("."))
        if name is None:
            continue
        try:
            list(regauge._regauge.iter_load(name, path))
        except regauge.Error as error:
            # By the functions of modules, whose hints name the same keywords.
            with pytest.raises(regauge.Error) as caught:
                list(regauge._regauge.events(name, path))
            # With references, Marshal and pickle are read by another loop, which may find another error.
            if name not in ("marshal", "pickle"):
                assert str(caught.value) == str(error), path
                assert (caught.value.offset, caught.value.path) == (error.offset, error.path)
                compared += 1
    assert compared > 100


def test_the_shape_of_an_event():
    events = list(regauge.events(b'{"a": [1]}', "json"))
    assert events[2] == ("key", "a") == regauge.Event("key", "a")
    assert isinstance(events[2], regauge.Event) and events[2].kind == "key" and events[2].value == "a"
    assert events[1] == ("begin_map", None) and events[1] is list(regauge.events(b"{}"))[1]
    assert pickle.loads(pickle.dumps(events)) == events
    assert [kind for kind, _ in events] == [
        "begin_document", "begin_map", "key", "begin_array", "value", "end_array", "end_map",
        "end_document",
    ]
    assert [kind for kind, _ in regauge.events(b"1\n2\n", "ndjson")] == [
        "begin_document", "value", "end_document"] * 2
    assert list(regauge.events(b"", "ndjson")) == []


def test_values_are_those_that_loads_gives():
    import datetime

    value = {"when": datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc), 5: b"x", (1, 2): 2**70}
    for module in (regauge.cbor, regauge.pickle, regauge.yaml):
        assert built(module.events(module.dumps(value))) == [module.loads(module.dumps(value))]
    # A value of a named type is one event.
    kinds = [kind for kind, _ in regauge.pickle.events(pickle.dumps([(1, {2}), [3]]))]
    assert kinds == ["begin_document", "begin_array", "value", "begin_array", "value", "end_array",
                     "end_array", "end_document"]
    tag = regauge.yaml.events(b"- !a {b: [1]}\n", tag_hook=lambda tag, value: (tag, value))
    assert [value for kind, value in tag if kind == "value"] == [("!a", {"b": [1]})]
    [ext] = [value for kind, value in regauge.msgpack.events(b"\xd4\x05a") if kind == "value"]
    assert ext == regauge.ExtType(5, b"a")
    # Shared values are repeated; those that contain themselves are refused.
    assert built(regauge.events(b"a: &x [1]\nb: *x\n", "yaml")) == [{"a": [1], "b": [1]}]
    with pytest.raises(regauge.DecodeError):
        list(regauge.events(b"&x [*x]", "yaml"))


def test_options():
    assert [value for kind, value in regauge.json.events(b'{"a": 1, "a": 2}') if kind == "value"] == [1, 2]
    with pytest.raises(regauge.DecodeError, match="second time") as caught:
        list(regauge.json.events(b'{"a": 1, "a": 2}', duplicate_keys="refuse"))
    assert caught.value.kind == "refused"
    written = regauge.json.dumps({"a": [b"x"]}, on_loss="wrap")
    assert built(regauge.json.events(written, unwrap=True)) == [{"a": [b"x"]}]
    assert built(regauge.json.events(b"[1, /* */]", comments=True, trailing_commas=True)) == [[1]]
    with pytest.raises(TypeError, match="object_hook"):
        regauge.json.events(b"1", object_hook=dict)
    with pytest.raises(regauge.LimitError):
        list(regauge.json.events(b"[" * 600))
    with pytest.raises(ValueError, match="found no format"):
        regauge.events(io.BytesIO(b"1"))
    with pytest.raises(ValueError, match="found no format"):
        regauge.events(b"hello")
    with pytest.raises(FileNotFoundError):
        regauge.events("none.json")


def test_broken_records():
    told = []
    data = b'{"a": 1}\n{"a": tru}\n[2]\n'
    events = regauge.events(data, "ndjson", bad="skip", on_bad=lambda error, data: told.append((error.record, data)))
    assert built(events) == [{"a": 1}, [2]]
    assert told == [(2, b'{"a": tru}\n')] and events.bad_records == 1
    with pytest.raises(regauge.DecodeError) as caught:
        seen = []
        for event in regauge.events(data, "ndjson"):
            seen.append(event.kind)
    # What was read before the error has been given out.
    assert caught.value.record == 2 and seen.count("begin_document") == 2 and seen[-1] == "key"


def test_skip():
    data = b'{"a": {"b": [1, {"c": 2}]}, "d": 3, "e": [4, 5, 6], "f": "g"}\n[6]\n7'
    for source in (data, Slow(data)):
        events = regauge.events(source, "ndjson")
        seen = []
        for kind, value in events:
            seen.append(value if kind in ("key", "value") else kind)
            if value in ("a", "d") or (kind == "value" and value == 4):
                events.skip()
            if value == 5:
                events.skip()
            if kind == "begin_array" and "f" in seen:
                events.skip()
                events.skip()
        assert seen == ["begin_document", "begin_map", "a", "d", "e", "begin_array", 4, 5, 6, "end_array",
                        "f", "g", "end_map", "end_document", "begin_document", "begin_array",
                        "end_document", "begin_document", 7, "end_document"]
    # Over a large part, natively; and an error there is raised.
    large = b'{"skipped": [' + b'{"a": 1},' * 100_000 + b'1], "wanted": 5}'
    events = regauge.json.events(large)
    for kind, value in events:
        if kind == "key" and value == "skipped":
            events.skip()
        elif kind == "key":
            assert value == "wanted" and next(events) == ("value", 5)
    events = regauge.json.events(large[:-20])
    for kind, value in events:
        if value == "skipped":
            with pytest.raises(regauge.DecodeError):
                events.skip()
    events = regauge.json.events(b"[1, 2]")
    assert next(events).kind == "begin_document"
    events.skip()
    assert list(events) == []


def test_handlers():
    class Keys:
        def __init__(self):
            self.found = []

        def key(self, key):
            self.found.append(key)

    keys = Keys()
    assert regauge.parse_events(b'{"a": {"b": 1}}', keys) is None
    assert keys.found == ["a", "b"]
    with pytest.raises(TypeError, match="none of the methods begin_document"):
        regauge.parse_events(b"1", object(), "json")

    class Stop:
        def value(self, value):
            raise KeyError(value)

    with pytest.raises(KeyError):
        regauge.json.parse_events(b"[1]", Stop())
    with pytest.raises(regauge.DecodeError) as caught:
        regauge.parse_events(b'{"a": [1, x]}', keys, "json")
    assert caught.value.path == "$.a[1]"
    assert keys.found == ["a", "b", "a"]


def test_closing_and_sharing(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"[" + b"1," * 300_000 + b"1]")
    with regauge.events(path) as events:
        assert next(events).kind == "begin_document"
    assert list(events) == []
    events = regauge.events(path)
    counts = []

    def count():
        counts.append(sum(1 for event in events if event.kind == "value"))

    threads = [threading.Thread(target=count) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 300_001
    assert events.offset == path.stat().st_size

    class Raises(io.RawIOBase):
        def read(self, size=-1):
            raise OSError("closed")

    with pytest.raises(OSError, match="closed"):
        list(regauge.events(Raises(), "json"))


MEMORY = """
import resource, sys
import regauge

class Stream:
    # 200 MB of JSON in one document, made as it is read.
    def __init__(self):
        row = b'{"id": 12345, "name": "a customer with a name", "tags": ["a", "b"], "text": "%s"},' % (b"x" * 4000)
        self.part = row * 240
        self.left = 200
        self.begun = False
    def read(self, size):
        self.waiting = getattr(self, "waiting", b"")
        if not self.waiting:
            if not self.begun:
                self.begun = True
                self.waiting = b'{"rows": ['
            elif self.left > 0:
                self.left -= 1
                self.waiting = self.part
            elif self.left == 0:
                self.left -= 1
                self.waiting = b'1], "last": "found"}'
        part, self.waiting = self.waiting[:size], self.waiting[size:]
        return part

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

before = peak()
found, count, events = None, 0, regauge.events(Stream(), "json")
for kind, value in events:
    count += 1
    if kind == "key" and value == "last":
        found = next(events).value
offset = events.offset
print(found, count, offset, peak() - before)
"""


def test_memory_is_bounded():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, count, offset, grown = done.stdout.split()
    assert found == "found" and int(count) > 500_000 and int(offset) > 190_000_000
    assert int(grown) < 64, f"{grown} MB"


def test_the_example_of_the_guide(tmp_path):
    guide = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "python.md").read_text()
    [example] = [code for code in guide.split("```python\n")[1:] if code.startswith("def total")]
    names = {"regauge": regauge}
    exec(example.split("```")[0], names)
    path = tmp_path / "orders.json"
    path.write_bytes(b'{"shop": {"amount": 9}, "orders": [{"id": [1], "amount": 5}, {"amount": 2.5, "by": {"amount": 7}}]}')
    assert names["total"](path) == 7.5
