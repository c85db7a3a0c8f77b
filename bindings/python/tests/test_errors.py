"""Errors, limits, policies and hooks."""

from __future__ import annotations

import decimal
import errno
import gc
import pickle

import pytest

import regauge


def test_where_and_what():
    with pytest.raises(regauge.DecodeError) as caught:
        regauge.json.loads(b'{"items": [1, {"when": tru}]}')
    error = caught.value
    assert isinstance(error, ValueError)
    assert error.kind == "syntax"
    assert error.offset == 23
    assert error.path == "$.items[1].when"
    assert (error.line, error.column) == (1, 24)
    assert "byte 23" in str(error)


def test_where_on_the_way_out():
    with pytest.raises(regauge.EncodeError) as caught:
        regauge.json.dumps({"items": [1, {"when": object()}]})
    error = caught.value
    assert isinstance(error, TypeError) and isinstance(error, ValueError)
    assert error.kind == "unrepresentable"
    assert error.path == "$.items[1].when"
    assert "type object" in str(error)
    with pytest.raises(regauge.EncodeError, match=r'on_loss="wrap"') as caught:
        regauge.json.dumps([b"a"])
    assert caught.value.kind == "refused"


@pytest.mark.parametrize("name", ["json", "msgpack", "cbor", "bson", "yaml", "marshal", "pickle"])
def test_cut_anywhere(name):
    module = getattr(regauge, name)
    value = {"a": [1, "text", {"b": None}], "c": 1.5}
    whole = module.dumps(value)
    for end in range(len(whole)):
        try:
            back = module.loads(whole[:end])
        except regauge.DecodeError as error:
            assert error.offset is not None
            assert error.kind in ("truncated", "syntax", "unsupported")
        else:
            # Only text can be valid when it is truncated.
            assert name == "yaml" or back == value


def test_more_than_one_document():
    for module, data in [
        (regauge.json, b"1 2"), (regauge.msgpack, b"\x01\x02"), (regauge.cbor, b"\x01\x02"),
        (regauge.yaml, b"--- 1\n--- 2\n"), (regauge.pickle, b"K\x01.K\x02."),
        (regauge.marshal, b"\x04\x080\x04\x080"),
    ]:
        with pytest.raises(regauge.DecodeError):
            module.loads(data)
        if module is not regauge.json:
            assert len(list(module.iter_load(data))) == 2


def test_limits():
    deep = b"[" * 600 + b"]" * 600
    with pytest.raises(regauge.LimitError, match=r'limits=\{"depth": …\}') as caught:
        regauge.json.loads(deep)
    assert caught.value.kind == "limit"
    assert isinstance(caught.value, regauge.DecodeError)
    assert isinstance(caught.value, regauge.EncodeError)
    regauge.json.loads(deep, limits={"depth": 600})
    with pytest.raises(regauge.LimitError):
        regauge.json.loads(b"1" * 5000)
    assert regauge.json.loads(b"1" * 5000, limits={"integer_digits": None}) > 10**4998
    with pytest.raises(ValueError, match="unknown limit `width`"):
        regauge.json.loads(b"1", limits={"width": 1})
    value = []
    for _ in range(600):
        value = [value]
    with pytest.raises(regauge.LimitError):
        regauge.json.dumps(value)
    assert regauge.json.dumps(value, limits={"depth": 700}) == b"[" * 601 + b"]" * 601


def test_billion_laughs():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    # References are kept, so nothing is multiplied.
    value = regauge.yaml.loads("\n".join(lines))
    assert value["a9"][0] is value["a8"]


def test_duplicate_keys():
    assert regauge.json.loads(b'{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(regauge.DecodeError, match="'a' a second time"):
        regauge.json.loads(b'{"b": {"a": 1, "a": 2}}', duplicate_keys="refuse")


@pytest.mark.parametrize("name, data", [
    ("yaml", b"1: a\ntrue: b\n1.0: c\n"),
    ("yaml", b"- &x {1: a, true: b, 1.0: c}\n"),
    ("msgpack", b"\x83\x01\xa1a\xc3\xa1b\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00\xa1c"),
    ("cbor", b"\xa3\x01\x61a\xf5\x61b\xf9\x3c\x00\x61c"),
    ("marshal", b"\x04\b{\bi\x06:\x06aT:\x06bf\x061:\x06c"),
    ("pickle", b"}(K\x01\x8c\x01a\x88\x8c\x01bG\x3f\xf0\x00\x00\x00\x00\x00\x00\x8c\x01cu."),
])
def test_keys_that_are_equal_in_python(name, data):
    """The last value wins, with the first key, as in json.loads and every dict; or it is an error."""
    one = regauge.loads(data, name)
    assert one in ({1: "c"}, [{1: "c"}])
    for options in ({}, {"object_pairs_hook": list}, {"object_hook": dict}):
        with pytest.raises(regauge.DecodeError, match="1 and True in one map, which are equal in Python") as caught:
            regauge.loads(data, name, duplicate_keys="refuse", **options)
        assert (caught.value.kind, caught.value.hint) == ("refused", 'pass duplicate_keys="last" to take the last')
        assert caught.value.path.endswith(".True")
        with pytest.raises(regauge.DecodeError, match="equal in Python"):
            list(regauge.iter_load(data, name, duplicate_keys="refuse", **options))


def test_many_equal_keys_are_found_at_once():
    """A look at every pair of keys would take hours."""
    keys = [*range(300_000), 299_999]
    data = b"{" + b",".join(b'"%d":0' % key for key in keys) + b"}"
    with pytest.raises(regauge.DecodeError, match="'299999' a second time"):
        regauge.json.loads(data, duplicate_keys="refuse")


@pytest.mark.parametrize("call", [
    lambda path: regauge.inspect(path),
    lambda path: regauge.inspect(path, "json"),
    lambda path: regauge.convert(path, "q.yaml"),
    lambda path: regauge.convert(path, "q.yaml", from_="json"),
    lambda path: regauge.iter_load(path),
    lambda path: regauge.events(path),
    lambda path: regauge.parse_events(path, object()),
    lambda path: regauge.json.iter_load(path),
    lambda path: regauge.json.events(path),
    lambda path: regauge.to_arrow(path),
    lambda path: regauge.load(path),
    lambda path: regauge.json.load(path),
    lambda path: regauge.json.Writer(path),
    lambda path: regauge.open_writer(path),
    lambda path: regauge.json.dump([], path),
])
def test_a_file_that_cannot_be_opened_is_named(call, tmp_path):
    path = str(tmp_path / "no such folder" / "a.json")
    with pytest.raises(FileNotFoundError) as caught:
        call(path)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, path)
    assert str(caught.value) == f"[Errno 2] No such file or directory: {path!r}"


def test_a_target_that_cannot_be_created_is_named(tmp_path):
    source, target = tmp_path / "a.json", tmp_path / "no such folder" / "b.yaml"
    source.write_bytes(b"1")
    with pytest.raises(FileNotFoundError) as caught:
        regauge.convert(source, target)
    assert caught.value.filename == str(target)


@pytest.mark.parametrize("call, expected", [
    (lambda: regauge.csv.loads(b"a", header=False), 'found False as header, expected "yes", "no"'),
    (lambda: regauge.yaml.loads(b"a", schema=1.1), "found 1.1 as schema, expected .*\"1.1\""),
    (lambda: regauge.json.dumps(1, indent="x"), "found 'x' as indent, expected a number from 0 to 16"),
    (lambda: regauge.marshal.loads(b"\x04\b0", types={"User": 5}), r"found 5 as types\['User'\], expected a function"),
    (lambda: regauge.marshal.loads(b"\x04\b0", types=5), "found 5 as types, expected a dict of functions"),
    (lambda: regauge.json.loads(b"1", object_hook=5), "found 5 as object_hook, expected a function"),
    (lambda: regauge.json.loads(b"1", limits=5), "found 5 as limits, expected a dict"),
    (lambda: regauge.json.loads(b"1", limits={"depth": -1}), r'found -1 as limits\["depth"\], expected a number'),
    (lambda: regauge.convert_bytes(b"1", "json", "json", map=5), "found 5 as map, expected a function"),
    (lambda: regauge.convert_bytes(b"1", "json", "json", only=5), "found 5 as only, expected a list of paths"),
    (lambda: regauge.convert_bytes(b"1", "json", "json", only="a"), "found 'a' as only, expected a list of paths"),
    (lambda: regauge.convert_bytes(b"1", "json", "json", rename=["a"]), r"found \['a'\] as rename, expected a dict"),
])
def test_an_argument_of_another_type_is_named(call, expected):
    with pytest.raises(TypeError, match=expected):
        call()


def test_a_number_out_of_bounds():
    for head in (-1, 0, 1 << 64):
        with pytest.raises(ValueError, match=f"found {head} as head, expected a number from 1"):
            regauge.convert_bytes(b"1", "json", "json", head=head)


def test_wrap_and_approximate():
    value = {"bytes": b"ab", "nan": float("inf"), 5: "five", "$x": 1}
    written = regauge.json.dumps(value, on_loss="wrap")
    assert regauge.json.loads(written, unwrap=True) == value
    assert regauge.json.dumps([b"ab", float("nan")], on_loss="approximate") == b'["YWI=",null]'


def test_numbers():
    assert regauge.json.loads(b"[1.10, 1e5]", numbers="exact") == [
        decimal.Decimal("1.10"), decimal.Decimal("1e5"),
    ]
    assert regauge.json.dumps(decimal.Decimal("3.14159265358979323846264338327950288")) == (
        b"3.14159265358979323846264338327950288"
    )


def test_hooks():
    pairs = regauge.json.loads(b'{"a": 1, "a": {"b": 2}}', object_pairs_hook=list)
    assert pairs == [("a", 1), ("a", [("b", 2)])]
    hooked = regauge.msgpack.loads(b"\x81\xa1a\x81\xa1b\x01", object_hook=lambda d: sorted(d.items()))
    assert hooked == [("a", [("b", 1)])]
    ext = regauge.msgpack.loads(b"\xd4\x05a", ext_hook=lambda code, data: (code, data))
    assert ext == (5, b"a")
    assert regauge.cbor.loads(b"\xd9\x04\xd2\x01", tag_hook=lambda tag, value: (tag, value)) == (1234, 1)
    assert regauge.yaml.loads("!foo 1", tag_hook=lambda tag, value: (tag, value)) == ("!foo", 1)
    assert regauge.yaml.loads("!foo a") == regauge.Object("yaml", "tag", "!foo", "a")
    with pytest.raises(ZeroDivisionError):
        regauge.json.loads(b'{"a": 1}', object_hook=lambda _: 1 // 0)
    with pytest.raises(TypeError, match="expected a function"):
        regauge.json.loads(b"{}", object_hook=1)
    with pytest.raises(TypeError, match="found the keyword argument ext_hook, which JSON"):
        regauge.json.loads(b"{}", ext_hook=print)


def test_the_record_that_cannot_be_written_is_named():
    for module, rows in [(regauge.csv, [{"a": "1", "b": "2"}] * 4 + [{"a": "3"}]), (regauge.ndjson, [1, 2, 3, 4, b"x"])]:
        with pytest.raises(regauge.EncodeError, match="record 5") as caught:
            module.dumps(rows)
        assert caught.value.record == 5


def test_default():
    class Other:
        pass

    assert regauge.json.dumps([Other()], default=lambda _: "other") == b'["other"]'
    with pytest.raises(regauge.LimitError, match="returned unknown objects 64 times"):
        regauge.json.dumps(Other(), default=lambda _: Other())
    with pytest.raises(ZeroDivisionError):
        regauge.json.dumps(Other(), default=lambda _: 1 // 0)
    # Objects in objects are not the same object again.
    value = None
    for _ in range(150):
        value = Order([value])
    assert regauge.json.loads(regauge.json.dumps([value, value], default=vars))[1]["fields"][0]["fields"]
    with pytest.raises(regauge.LimitError, match="the limit of depth"):
        regauge.json.dumps(value, default=vars, limits={"depth": 100})


class Order:
    def __init__(self, fields):
        self.fields = fields


def test_types_of_the_caller_and_nothing_else():
    written = pickle.dumps(Plain(1))
    name = f"{Plain.__module__}.Plain"
    assert regauge.pickle.loads(written) == regauge.Object("python", "object", name, {"a": 1})
    made = regauge.pickle.loads(written, types={name: Order})
    assert isinstance(made, Order) and made.fields == {"a": 1}
    called = regauge.pickle.loads(b"cos\nsystem\n(S'true'\ntR.")
    assert called == regauge.Object("python", "call", "os.system", {"args": ["true"]})
    ruby = b"\x04\x08o:\x08Foo\x06:\x07@ai\x06"
    assert regauge.marshal.loads(ruby) == regauge.Object("ruby", "object", "Foo", {"@a": 1})
    assert regauge.marshal.loads(ruby, types={"Foo": dict}) == {"@a": 1}


class Plain:
    def __init__(self, a):
        self.a = a


def test_the_collector_is_restored_on_every_way_out():
    assert gc.isenabled()
    good = b"[" + b",".join([b'{"a": [1, 2]}'] * 100) + b"]"
    for data in (good, good[:-1], b"x" * 1000, b"[" * 1000):
        try:
            regauge.json.loads(data)
        except regauge.DecodeError:
            pass
        assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        regauge.json.loads(good, object_hook=lambda _: 1 // 0)
    assert gc.isenabled()
    gc.disable()
    try:
        regauge.json.loads(good)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_containers_that_change_while_they_are_written():
    value = {"a": 1, "b": object(), "c": 3}

    def grow(_):
        value["d"] = 4
        return None

    with pytest.raises(regauge.EncodeError, match="changed its size"):
        regauge.json.dumps(value, default=grow)
    items = [object(), 1, 2]
    with pytest.raises(regauge.EncodeError, match="changed its size"):
        regauge.json.dumps(items, default=lambda _: items.clear())


def test_a_record_that_fails_leaves_no_trace(tmp_path):
    path = tmp_path / "records"
    for name in ("msgpack", "yaml", "pickle", "bson", "cbor", "ndjson", "marshal"):
        module = getattr(regauge, name)
        with module.Writer(path) as writer:
            writer.write({"a": 1})
            with pytest.raises(regauge.EncodeError):
                writer.write({"a": [1, {"b": object()}]})
            writer.write({"a": 2})
        assert list(module.iter_load(path)) == [{"a": 1}, {"a": 2}], name


def test_keys_without_a_hash():
    """The document's fault, even if hooks are called; an exception from a hook is its own."""
    for options in ({}, {"object_hook": lambda map: map}):
        with pytest.raises(regauge.DecodeError, match="a key that no dict can have") as caught:
            regauge.msgpack.loads(b"\x81\x81\x01\x02\x03", **options)
        assert "object_pairs_hook" in str(caught.value)
    with pytest.raises(TypeError, match="unhashable") as caught:
        regauge.json.loads(b'{"a": {}}', object_hook=lambda map: hash(map))
    assert not isinstance(caught.value, regauge.Error)
    found = regauge.msgpack.loads(b"\x81\x81\x01\x02\x03", object_pairs_hook=tuple)
    assert found == ((((1, 2),), 3),)
