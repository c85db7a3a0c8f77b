"""regauge.compat.yaml compared with PyYAML, on the same values and documents."""

from __future__ import annotations

import datetime
import io
import re

import pytest
from drop_ins import VALUES, broken, compare, done

def test_yaml_reads_and_writes_as_pyyaml():
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    for one in VALUES:
        for options in ({}, {"sort_keys": False}, {"allow_unicode": True}, {"explicit_start": True},
                        {"default_flow_style": True}, {"indent": 4}, {"encoding": "utf-8"}):
            compare(yaml.safe_dump, theirs.safe_dump, one, **options)
        text = theirs.safe_dump(one, allow_unicode=True)
        compare(yaml.safe_load, theirs.safe_load, text)
        compare(yaml.safe_load, theirs.safe_load, text.encode())
        assert done(yaml.safe_load, io.StringIO(text)) == done(theirs.safe_load, io.StringIO(text))


@pytest.mark.parametrize("text", [
    "a:\tb\n", "- &a 1\n- &a 2\n", "{a: :b}\n", "[?x]\n", "! 12\n", "--- >\nx\n", "- |\n x", "<<: {a: 1}\nb: 2\n",
    "%FOO bar\n---\na\n", "{a\n: b}\n", "# c\n...\n", "=\n", "? [a]\n: b\n", ": b\n", "{a: 1,\n b\n c: 2}\n",
    "2001-12-14 21:59:43.123456789Z\n", "a: !!set {x, y}\n", "a: !!binary aGk=\n", "a: !!omap [b: 1]\n", "a: !x 1\n",
    'a: "\x7f"\n', "'\x80': 1\n", "a: '\x85\xa0 é'\n", "a: b: c\n", "'", "\ufeffa: 1\n", "- a\n- *b\n", "a: *a\n", "",
])
def test_yaml_where_the_versions_differ(text):
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    compare(yaml.safe_load, theirs.safe_load, text)
    compare(lambda text: list(yaml.safe_load_all(text)), lambda text: list(theirs.safe_load_all(text)), text)


@pytest.mark.parametrize("text, differs", [
    ("list: [1]\nurl: http://x.y/?a=b\n", False),
    ("list: [1]\ntext: |\n  [?x,\n   :y\n", False),
    ("a: b & c && d\nt: what! no\n", False),
    ("a: &b 1\nc: \"&b &b\"\n", False),
    ("a: b=\n", False),
    ("list: [?x]\n", True),
    ("a: {b: 1,\n  c\n  : d}\n", True),
    ("- &a 1\n- &a 2\n", True),
    ("- &a.b 1\n", True),
    ("- ! 12\n", True),
    ("- =\n", True),
])
def test_yaml_differences_are_not_found_in_text(text, differs):
    """What PyYAML reads differently in a flow collection, an anchor or a tag means nothing elsewhere."""
    theirs = pytest.importorskip("yaml")
    from regauge import _regauge
    from regauge.compat import yaml

    assert _regauge.yaml_differs(text) is differs
    for loader in ("SafeLoader", "CSafeLoader"):
        if hasattr(theirs, loader):
            compare(lambda text: yaml.load(text, getattr(yaml, loader)),
                    lambda text: theirs.load(text, getattr(theirs, loader)), text)


def test_yaml_text_of_any_kind_is_looked_at_once():
    """A look at the text from each bracket to the end of its line would take hours here."""
    from regauge import _regauge

    for unit in ["[", "{a,", "[!a", "\n", "[\n", " = ", '"', '"\n', "a: ", "&a ", "!"]:
        long, short = (_regauge.yaml_differs(f"[{unit * count}x") for count in (1_000_000, 1_000))
        assert long == short, unit


@pytest.mark.parametrize("text", [
    'a: !!int "5"\n', "!!binary aGk=\n", "a: !!timestamp 2001-12-14\n", '!!null ""\n', "a: !!set {a, b}\n",
    "a: !!float 1\n", "!!bool yes\n", "- !!str 1\n", "!!omap [a: 1]\n", "!!pairs [a: 1, a: 2]\n", "!x 1\n", "!x {a: 1}\n",
    "! a\n", "&a [*a]\n", "a: &x [1]\nb: *x\n", "&a {b: *a}\n", "a: &x 1\nb: *y\n", "<<: {a: 1}\nb: 2\n",
    "a: &m {x: 1}\nb: {<<: *m}\n", "a: what! no & yes * 2\n", "a:\n- 1\n- ~\n-\n", "1: a\ntrue: b\n1: c\n", "? [a]\n: b\n",
    "%TAG ! tag:x,2000:\n--- !y 1\n", "", "---\n", "...\n", "=\n", "a: 2001-12-14\n", "? {a: b}\n: c\n",
])
def test_yaml_text_only(text):
    """BaseLoader constructs text, lists and dicts, whatever tags say."""
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    for loader in ("BaseLoader", "CBaseLoader"):
        if hasattr(theirs, loader):
            for name in ("load", "load_all"):
                for data in (text, text.encode(), text.encode("utf-16")):
                    call = lambda module, data: getattr(module, name)(data, getattr(module, loader))
                    compare(lambda data: listed(call(yaml, data)), lambda data: listed(call(theirs, data)), data)


def listed(value):
    return list(value) if hasattr(value, "__next__") else value


def test_yaml_text_only_in_random_documents():
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    for seed, one in enumerate(VALUES):
        text = theirs.safe_dump(one, allow_unicode=True)
        for data in (text, broken(text.encode(), seed)):
            compare(lambda data: yaml.load(data, yaml.BaseLoader), lambda data: theirs.load(data, theirs.BaseLoader), data)


def test_yaml_errors_have_marks():
    pytest.importorskip("yaml")
    from regauge.compat import yaml

    with pytest.raises(yaml.YAMLError) as caught:
        yaml.safe_load("a: 1\nb: [\n")
    assert (caught.value.problem_mark.line, caught.value.problem_mark.column) == (2, 0)
    assert caught.value.__context__ is None


def test_yaml_constructors_and_representers():
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    class Loader(yaml.SafeLoader):
        pass

    class Dumper(yaml.SafeDumper):
        pass

    yaml.add_constructor("!up", lambda loader, node: loader.construct_scalar(node).upper(), Loader=Loader)
    assert yaml.load("a: !up b\nc: 1\n", Loader=Loader) == {"a": "B", "c": 1}
    assert yaml.load("c: 1\n", Loader=Loader) == {"c": 1}
    Loader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: f"int {node.value}")
    assert yaml.load("c: 1\n", Loader=Loader) == {"c": "int 1"}
    yaml.add_representer(int, lambda dumper, n: dumper.represent_scalar("!n", str(n)), Dumper=Dumper)
    assert yaml.dump({"a": 1}, Dumper=Dumper) == "a: !n '1'\n"
    assert yaml.safe_load("c: 1\n") == {"c": 1} and theirs.SafeLoader is yaml.SafeLoader


def only_ours(monkeypatch):
    """Lets PyYAML itself load and dump nothing."""
    from regauge.compat.yaml import _dump, _load

    def refuse(*arguments, **options):
        raise AssertionError("PyYAML was called")

    for module in (_load, _dump):
        for name in ("load", "dump", "dump_all"):
            monkeypatch.setattr(module.yaml, name, refuse)


def test_yaml_does_the_plain_call_itself(monkeypatch):
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    value = {"b": [1, {"c": "x y", "a": None}, []], "a": {}, "d": 1.5}
    wanted = theirs.safe_dump(value), theirs.dump(value, sort_keys=False), theirs.dump(value, explicit_start=True)
    only_ours(monkeypatch)
    assert (yaml.safe_dump(value), yaml.dump(value, sort_keys=False), yaml.dump(value, explicit_start=True)) == wanted
    assert yaml.safe_load("a: [1, {b: c}]\nd: 2001-12-14\n") == {"a": [1, {"b": "c"}], "d": datetime.date(2001, 12, 14)}


def test_yaml_without_timestamps(monkeypatch):
    """The usual subclass of a loader that leaves dates as text."""
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    def without(loader):
        made = type("WithoutTimes", (loader,), {})
        made.yaml_implicit_resolvers = {
            first: [(tag, regexp) for tag, regexp in resolvers if tag != "tag:yaml.org,2002:timestamp"]
            for first, resolvers in loader.yaml_implicit_resolvers.items()
        }
        return made

    text = "2001-12-14: [2001-12-14 1:2:3, 2001-12-14T21:59:43.10-05:00, 12:30:45, 1.5]\na: !!timestamp 2001-12-14\n"
    wanted = theirs.load(text, without(theirs.SafeLoader))
    assert wanted["2001-12-14"][0] == "2001-12-14 1:2:3" and wanted["a"] == datetime.date(2001, 12, 14)
    ours, full = without(yaml.SafeLoader), without(yaml.FullLoader)
    only_ours(monkeypatch)
    assert yaml.load(text, ours) == yaml.load(text, full) == wanted
    assert list(yaml.load_all("2001-12-14\n", ours)) == ["2001-12-14"]


def test_yaml_what_is_registered_between_two_calls():
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    class Loader(yaml.SafeLoader):
        pass

    class Dumper(yaml.SafeDumper):
        pass

    assert yaml.load("a: 12\n", Loader) == {"a": 12} and yaml.dump({"a": 12}, Dumper=Dumper) == "a: 12\n"
    Loader.yaml_implicit_resolvers = {first: list(known) for first, known in Loader.yaml_implicit_resolvers.items()}
    assert yaml.load("a: 12\n", Loader) == {"a": 12}
    Loader.yaml_implicit_resolvers["1"].insert(0, ("tag:yaml.org,2002:str", re.compile("12$")))
    assert yaml.load("a: 12\n", Loader) == theirs.load("a: 12\n", Loader) == {"a": "12"}
    Dumper.add_representer(int, lambda dumper, value: dumper.represent_str(hex(value)))
    assert yaml.dump({"a": 12}, Dumper=Dumper) == theirs.dump({"a": 12}, Dumper=Dumper) == "a: '0xc'\n"
    Loader.yaml_implicit_resolvers["1"].pop(0)
    assert yaml.load("a: 12\n", Loader) == {"a": 12}


def test_yaml_dumps_what_occurs_twice_and_what_is_wide():
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    inner, empty = [1], []
    deep: object = "x y"
    for _ in range(50):
        deep = {"key": deep}
    words = "word word " * 6
    for one in ([inner, inner], {"a": inner, "b": {"c": inner}}, [empty, empty], deep, {"k" * 90: "a b"},
                [f"{words}word"], {"k" * 15: f"{words}w"}, {"k" * 16: f"{words}w"}, {"a (b)": "a (b) -c"}, {"x)": "(y"},
                {"(a": 1}, ["x -y"], {"n": "N"}, ["inf ", " a", "a  b", "a- b", "/a b/c"], {"a": ("x",)}, {1: 2}, {"a": b"x"}):
        compare(yaml.safe_dump, theirs.safe_dump, one)


def test_yaml_runs_nothing():
    pytest.importorskip("yaml")
    from regauge.compat import yaml

    call = "!!python/object/apply:os.getcwd []\n"
    for load in (yaml.safe_load, yaml.full_load, yaml.unsafe_load):
        with pytest.raises(yaml.YAMLError):
            load(call)
    with pytest.raises(yaml.YAMLError, match="constructs no Python objects"):
        yaml.load(call, Loader=yaml.Loader)
    with pytest.raises(yaml.YAMLError, match="use SafeLoader"):
        yaml.load("a: 1\n", Loader=yaml.UnsafeLoader)
    assert yaml.load("a: !!python/tuple [1]\n", Loader=yaml.FullLoader) == {"a": (1,)}


@pytest.mark.parametrize("text", [
    ": 1", "{: 1}", "[: 1]", "- : 1", ":", "a: {b: 1, : 2}", "? : 1", "a:\n  : 1", "{ # x\n : 1}", '"": 1', "{'': 1}", "a: ''",
    "? a\n: b", "- a :\n", "x: [http://y, :z]",
])
def test_yaml_empty_keys_without_a_schema(text):
    theirs = pytest.importorskip("yaml")
    from regauge.compat import yaml

    for loader in ("BaseLoader", "CBaseLoader", "SafeLoader"):
        compare(lambda text: yaml.load(text, getattr(yaml, loader)), lambda text: theirs.load(text, getattr(theirs, loader)), text)
