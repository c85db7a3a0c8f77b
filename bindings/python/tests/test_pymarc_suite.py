"""pymarc's own test suite over regauge.compat.pymarc.

The suite comes from pymarc's source distribution, which pip fetches when the test runs; otherwise
the test is skipped. PYMARC_SDIST names a folder with the unpacked distribution instead.
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest

VERSION = "5.4.0"

CONFTEST = """
from regauge.compat import pymarc
pymarc.install()
"""


@pytest.fixture(scope="session")
def suite(tmp_path_factory):
    """The folder of pymarc's tests, without pymarc itself."""
    named = os.environ.get("PYMARC_SDIST")
    folder = tmp_path_factory.mktemp("pymarc")
    if named:
        source = pathlib.Path(named)
    else:
        # Not `:all:`, which would also compile its build dependencies from source, for minutes.
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary",
                   "pymarc", f"pymarc=={VERSION}", "-d", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True)
        archives = list(folder.glob("pymarc-*.tar.gz"))
        if done.returncode or not archives:
            pytest.skip("cannot fetch pymarc's source distribution")
        with tarfile.open(archives[0]) as archive:
            if sys.version_info >= (3, 12):
                archive.extractall(folder, filter="data")
            else:
                archive.extractall(folder)
        source = next(path for path in folder.iterdir() if path.is_dir())
    work = tmp_path_factory.mktemp("suite")
    import shutil

    shutil.copytree(source / "test", work / "test")
    (work / "conftest.py").write_text(CONFTEST)
    return work


def test_the_suite_passes(suite):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test", "-rfE"]
    done = subprocess.run(command, cwd=suite, capture_output=True, text=True)
    print(done.stdout)
    failed = set(re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)", done.stdout, re.MULTILINE))
    counted = re.search(r"(\d+) passed", done.stdout)
    assert counted and int(counted.group(1)) > 150, done.stdout + done.stderr
    assert not failed, sorted(failed)
    print(f"pymarc {VERSION}: {counted.group(1)} passed")
