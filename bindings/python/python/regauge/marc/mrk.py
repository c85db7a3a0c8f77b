"""MARCMaker, the lines of .mrk: records as dicts in the shape of MARC-in-JSON."""

from __future__ import annotations

from .._format import functions

__all__ = ["Writer", "dump", "dumps", "events", "iter_load", "load", "loads", "parse_events"]

loads, dumps, load, dump, iter_load, Writer, events, parse_events = functions("mrk")
