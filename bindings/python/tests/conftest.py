"""What the tests share: the real data, where it is present."""

from __future__ import annotations

import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]


def data_folder() -> pathlib.Path | None:
    """The folder of real documents: $REGAUGE_DATA, or `shared/data` beside the repository."""
    named = os.environ.get("REGAUGE_DATA")
    folder = pathlib.Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def data() -> pathlib.Path:
    """The folder of real documents; skips the test where it is absent."""
    folder = data_folder()
    if folder is None:
        pytest.skip("no real data: set REGAUGE_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def corpus() -> pathlib.Path:
    """The corpus of the repository."""
    return ROOT / "corpus"
