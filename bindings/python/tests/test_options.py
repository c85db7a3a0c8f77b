"""One option, one name: every row of the core's table, in every function, help and stub."""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import pathlib
import re
import typing
import warnings

import pytest
from conftest import MARC

import regauge
from regauge import _options, _regauge

SHORT = {
    "json": b"{}", "ndjson": b"{}\n", "yaml": b"a: 1\n", "msgpack": b"\x80", "cbor": b"\xa0",
    "bson": b"\x05\x00\x00\x00\x00", "marshal": b"\x04\x08{\x00", "pickle": b"}.",
    "marc": b"", "marcxml": b"<collection/>", "marc-json": b"", "mrk": b"", "alephseq": b"", "toml": b"", "csv": b"a\n1\n", "tsv": b"a\n1\n",
}
ROWS = [row for row in _regauge.option_table() if row[0] not in ("from_", "to")]


def module(name):
    return getattr(_regauge, name.replace("-", ""))


def take(call, *arguments, **options):
    # A document may be refused, but a keyword or its value may not.
    with contextlib.suppress(regauge.Error):
        done = call(*arguments, **options)
        if isinstance(done, (regauge.Documents, regauge.Events)):
            list(done)


def call_own(name, value, side, formats):
    """Calls every function that takes the option, in the format's module."""
    options = {name: value}
    for of in formats:
        if side in ("Read", "Both"):
            take(module(of).loads, SHORT[of], **options)
            take(_regauge.iter_load, of, SHORT[of], options)
            take(_regauge.events, of, SHORT[of], options)
        if side in ("Write", "Both"):
            take(module(of).dumps, [] if of.startswith("marc") else {}, **options)
            take(_regauge.writer, of, io.BytesIO(), options)


def call_generic(name, value, side, formats):
    """The same with the functions of all formats."""
    options = {name: value}
    for of in formats:
        if side in ("Read", "Both"):
            take(regauge.loads, SHORT[of], of, **options)
            take(regauge.load, io.BytesIO(SHORT[of]), of, **options)
            take(regauge.iter_load, SHORT[of], of, **options)
            take(regauge.events, SHORT[of], of, **options)
        if side in ("Write", "Both"):
            take(regauge.dumps, [] if of.startswith("marc") else {}, of, **options)
            take(regauge.open_writer, io.BytesIO(), of, **options)
        if options != {"duplicate_keys": "last"}:  # For map= only.
            take(regauge.convert_bytes, SHORT[of], of, of, **options)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[1])
def test_an_option_has_one_name(row):
    name, full, (old, old_generic), values, side, formats = row
    formats = formats or list(SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in values:
            call_own(name, eval(text), side, formats)
            call_generic(full, eval(text), side, formats)
            if formats == list(SHORT) and side != "Convert":
                regauge.Store("sqlite::memory:", "c", codec="json", **{name: eval(text)}).close()
    value = eval(values[0])
    for older in old if side != "Convert" else []:
        with pytest.warns(DeprecationWarning, match=f"^{older} is now {name}; ") as told:
            call_own(older, value, side, formats)
        assert {one.filename for one in told} == {__file__}
    for older in old_generic:
        with pytest.warns(DeprecationWarning, match=f"^{older} is now ") as told:
            call_generic(older, value, side, formats)
        assert {one.filename for one in told} == {__file__}
    assert name == full or name in old_generic or name == "from_"


def test_old_names_do_the_same():
    with pytest.warns(DeprecationWarning, match="non_finite is now allow_nan"):
        assert regauge.json.loads(b"[Infinity]", non_finite=True) == [float("inf")]
    with pytest.warns(DeprecationWarning, match="indent is now json_indent"):
        assert regauge.dumps([1], "json", indent=2) == regauge.dumps([1], "json", json_indent=2)
    with pytest.warns(DeprecationWarning, match="schema is now yaml_schema"):
        assert regauge.loads(b"[yes]", "yaml", schema="1.1") == [True]
    assert regauge.loads(b"[yes]", "yaml", yaml_schema="1.1") == [True]
    with pytest.warns(DeprecationWarning):
        old = regauge.convert_bytes(b"[[1]]", "json", "yaml", indent=4)
    assert old == regauge.convert_bytes(b"[[1]]", "json", "yaml", yaml_indent=4)


def test_options_of_other_formats():
    # The format may be found out from the data.
    assert regauge.loads(b"[1]", yaml_schema="1.1", json_comments=True) == [1]
    for call in (
        lambda: regauge.loads(b"[1]", "json", yaml_colour=1),
        lambda: regauge.json.loads(b"[1]", json_comments=True),
        lambda: regauge.json.loads(b"[1]", schema="1.1"),
        lambda: regauge.convert_bytes(b"[1]", "json", "yaml", colour=1),
    ):
        with pytest.raises(TypeError, match="found the keyword argument"):
            call()
    with pytest.raises(ValueError, match='found \'2\' as yaml_schema, expected "core"'):
        regauge.loads(b"[1]", "yaml", yaml_schema="2")


@pytest.mark.parametrize("name", regauge.FORMATS)
@pytest.mark.parametrize("function", ["loads", "dumps"])
def test_help_names_every_option(name, function):
    one = getattr(module(name), function)
    # `regauge.marc` names the options that records need.
    named = {parameter for parameter in inspect.signature(one).parameters} - {"data", "value"}
    taken = set(_regauge.keywords(function, name))
    assert named <= taken
    if name not in MARC:
        left_out = {"exact"} if name == "marshal" else set()
        assert taken - named <= left_out | {"bad", "on_bad"}, taken - named


@pytest.mark.parametrize("name", regauge.FORMATS)
def test_stubs_have_every_option(name):
    package = pathlib.Path(regauge.__file__).parent
    path = {"marc": "marc/__init__", "marcxml": "marc/xml", "marc-json": "marc/json", "mrk": "marc/mrk",
            "alephseq": "marc/alephseq"}.get(name, name)
    text = (package / f"{path}.pyi").read_text()
    for function in ("loads", "dumps", "events"):
        found = re.search(rf"def {function}\((?:.|\n)*?Unpack\[(\w+)\]", text)
        hints = set(typing.get_type_hints(getattr(_options, found[1])))
        taken = set(_regauge.keywords(function, name)) - {"text"}
        assert hints == taken, function


def test_stubs_export_what_their_modules_do():
    package = pathlib.Path(regauge.__file__).parent
    stubs = [path for path in package.rglob("*.pyi") if not path.name.startswith("_regauge") and "compat" not in path.parts]
    assert len(stubs) == len(regauge.FORMATS)
    for stub in stubs:
        parts = stub.relative_to(package.parent).with_suffix("").parts
        one = importlib.import_module(".".join(part for part in parts if part != "__init__"))
        tree = ast.parse(stub.read_text())
        [named] = [
            node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        ]
        assert ast.literal_eval(named) == one.__all__, stub
        bound = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                bound |= {name.asname or name.name for name in node.names}
        assert set(one.__all__) <= bound, stub
