"""MARCXML: records as dicts in the shape of MARC-in-JSON."""

from __future__ import annotations

from .._format import functions

__all__ = ["Writer", "dump", "dumps", "iter_load", "load", "loads"]

loads, dumps, load, dump, iter_load, Writer = functions("marcxml")
