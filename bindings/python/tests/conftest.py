"""Shared fixtures: the real data, if it is present."""

from __future__ import annotations

import os
import pathlib

import pytest

# The formats of records: their modules are in regauge.marc.
MARC = ("marc", "marcxml", "marc-json", "mrk", "alephseq")

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """Returns the folder of real documents, which `make data` fills. Without it the test is
    skipped, or fails with CI=true."""
    folder = ROOT / "build" / "data"
    if not folder.is_dir():
        missing = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        missing(f"{folder} does not exist: `make data` gets it")
    return folder


@pytest.fixture(scope="session")
def corpus() -> pathlib.Path:
    """Returns the corpus of the repository."""
    return ROOT / "corpus"
