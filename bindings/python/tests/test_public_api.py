"""The switch for code that reads CPython's memory: off if REGAUGE_PUBLIC_API is set, and off with a note
in an unknown CPython. The tests of values also run with it off: see tools/python_wheel.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from regauge import _regauge

UNKNOWN = "import sys; sys.version_info = (3, 99, 0, 'final', 0)\n"
NOTE = (
    "ImportWarning: regauge was not tested with the memory layout of CPython 3.99: "
    "it uses Python's public API, which is slower"
)
# Everything that has a fast path: shapes, keys, ints, text, lists, tuples, records.
CODE = """
import io, json, pathlib, regauge
from regauge.marc import Field, MARCReader, Record, Subfield
plain = [{"a": 1, "b": [0, -1, 2**29, 2**31, -2**59, 2**60, 2**64, -2**70], "text": ["", "a", "naïve", "中", "😀", "x" * 40]}] * 5
given = [*plain, {1: (1, "b")}, {f"key {n}": n for n in range(100)}]
again = regauge.pickle.loads(regauge.pickle.dumps(given))
assert again == given, again
assert regauge.json.dumps(plain, text=True) == json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
record = Record(fields=[Field("001", data="x1"), Field("245", ["0", " "], [Subfield("a", "Ünder"), Subfield("b", "b")])])
record.leader[9] = "a"
bytes = record.as_marc()
for read in MARCReader(bytes * 2):
    assert [str(field) for field in read] == [str(field) for field in record]
    assert read.as_marc() == bytes
    read.fields[0].data = "x2"
    assert b"x2" in read.as_marc()
print(regauge._regauge.READS_MEMORY)
"""


def run(code, *flags, public_api=None):
    """Returns what a new Python prints, and what it warns about."""
    environment = {key: value for key, value in os.environ.items() if key != "REGAUGE_PUBLIC_API"}
    environment["PYTHONIOENCODING"] = "utf-8"
    if public_api is not None:
        environment["REGAUGE_PUBLIC_API"] = public_api
    done = subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


# The wheel for all versions has no such code.
HERE = ".abi3." not in str(_regauge.__file__)


@pytest.mark.parametrize("value", ["1", "0", ""])
def test_the_variable_turns_it_off(value):
    assert run(CODE, "-Wdefault", public_api=value) == ("False", "")


def test_a_known_version():
    assert run(CODE, "-Wdefault") == (str(HERE), "")


def test_an_unknown_version():
    printed, told = run(UNKNOWN + CODE, "-Wdefault::ImportWarning")
    assert printed == "False"
    assert (NOTE in told) == HERE, told
    # Hidden by default, and not shown to those who asked for the public API.
    assert run(UNKNOWN + CODE) == ("False", "")
    assert run(UNKNOWN + CODE, "-Wdefault::ImportWarning", public_api="1") == ("False", "")


def test_this_process():
    assert _regauge.READS_MEMORY == (HERE and "REGAUGE_PUBLIC_API" not in os.environ)


def test_importing_the_package_is_quick():
    """What few programs need is imported when it is asked for; the rest takes a fifth of the time."""
    code = """
import sys, regauge
assert not {"regauge.marc", "regauge._store", "regauge._values", "dataclasses", "uuid"} & set(sys.modules), sorted(sys.modules)
assert set(regauge.__all__) <= set(dir(regauge))
for name in regauge.__all__:
    getattr(regauge, name)
try:
    regauge.nothing
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, env={
        **os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)})
    assert (done.stdout, done.stderr) == ("module 'regauge' has no attribute 'nothing'\n", ""), done
