"""The examples of the documentation run, and `help` shows them; the types check."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import os
import pathlib
import pkgutil
import subprocess
import sys

import pytest
from conftest import MARC

import regauge

FORMATS = [name for name in regauge.FORMATS if name not in MARC]
ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("function", ["loads", "dumps"])
def test_examples_of_formats(name, function):
    import datetime

    one = getattr(getattr(regauge, name), function)
    assert ">>>" in one.__doc__ and one.__text_signature__.startswith("(")
    test = doctest.DocTestParser().get_doctest(
        one.__doc__, {"datetime": datetime, "posix": os}, f"{name}.{function}", None, 0
    )
    assert test.examples
    results = doctest.DocTestRunner().run(test)
    assert results.failed == 0


def has_library(name):
    """Returns whether the library that a drop-in passes to is installed."""
    parts = name.split(".")
    needs = parts[:2] == ["regauge", "compat"] and parts[2:] and parts[2] in ("bson", "cbor2", "orjson", "yaml")
    return not needs or importlib.util.find_spec(parts[2]) is not None


def test_examples_of_modules():
    tried = 0
    for module in [regauge, *(
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(regauge.__path__, "regauge.")
        if not found.name.endswith("__main__") and "_regauge" not in found.name
        and "spark" not in found.name and has_library(found.name)
    )]:
        results = doctest.testmod(module)
        assert results.failed == 0, module.__name__
        tried += results.attempted
    assert tried > 20


def test_examples_of_the_guide():
    path = ROOT / "docs" / "python.md"
    if not path.exists():
        pytest.skip("the guide is not here")
    results = doctest.testfile(str(path), module_relative=False)
    assert results.failed == 0 and results.attempted > 10


def test_help_shows_an_example():
    import pydoc

    shown = pydoc.render_doc(regauge.yaml.loads, renderer=pydoc.plaintext)
    # Python 3.13 puts each argument on a line of its own.
    assert "loads(data,/,*,limits=None" in "".join(shown.split())
    assert ">>> regauge.yaml.loads(" in shown


def test_mypy_and_pyright(tmp_path):
    package = pathlib.Path(regauge.__file__).parent
    assert (package / "py.typed").exists()
    pytest.importorskip("mypy")
    # The data source can only be checked if pyspark is installed.
    spark = importlib.util.find_spec("pyspark") is not None
    files = [str(path) for path in sorted(package.rglob("*.py*"))
             if path.suffix in (".py", ".pyi") and (spark or path.name != "spark.py")]
    assert len(files) > 30
    # By module name, because mypy thinks that a file next to other packages shadows them.
    names = {str(pathlib.Path(path).relative_to(package.parent).with_suffix("")) for path in files}
    modules = [name.replace(os.sep, ".").removesuffix(".__init__") for name in sorted(names)]
    command = [sys.executable, "-m", "mypy", "--strict"]
    for name in modules:
        command += ["-m", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "no issues found" in done.stdout
    use = tmp_path / "use.py"
    use.write_text(
        "import regauge\n"
        "data: bytes = regauge.yaml.dumps({'a': 1}, indent=4)\n"
        "text: str = regauge.json.dumps([1], text=True)\n"
        "for one in regauge.msgpack.iter_load('path'):\n    print(one)\n"
        "with regauge.cbor.Writer('path', deterministic=True) as writer:\n    writer.write(1)\n"
        "regauge.json.loads(b'1', colour=1)  # type: ignore[call-arg]\n"
        "records: bytes = regauge.marc.dumps([], write_charset='marc8')\n"
        "regauge.marc.loads(b'', charset='latin1')  # type: ignore[arg-type]\n"
        "for record in regauge.marc.MARCReader(b''):\n    print(record.title)\n"
        "field = regauge.marc.Field('245', ['0', '0'], [regauge.marc.Subfield('a', 'A title')])\n"
        "wrong: int = field.value()  # type: ignore[assignment]\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", str(use)],
                          capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    pytest.importorskip("pyright")
    done = subprocess.run([sys.executable, "-m", "pyright", "--pythonpath", sys.executable, *files],
                          capture_output=True, text=True, cwd=tmp_path)
    if "errors, " not in done.stdout:
        pytest.skip("pyright cannot start: it fetches the runtime that it needs")
    assert done.returncode == 0, done.stdout
