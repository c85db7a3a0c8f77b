#!/usr/bin/env python3
"""Tests what tools/results.py makes of results: saved figures, and reasons for empty ones."""

import contextlib
import io
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import results


def estimate(median, low=None, high=None):
    return {"median": median, "low": low or median, "high": high or median}


def cell(published=None, ratio=None, today=None, today_ratio=None, to=None):
    cell = {"published": published, "published_ratio": ratio, "today": today, "today_ratio": today_ratio}
    return cell | ({"published_to": to} if to else {})


def table(title, column, rows, unit="ns", baseline="first"):
    rows = [{"name": name, "published": published, "cells": [one], "note": note}
            for name, published, one, note in rows]
    return {"title": title, "columns": [{"name": column, "unit": unit, "less_is_better": True}],
            "rows": rows, "baseline": baseline}


def report(task, title, column):
    full = cell(18.2e9, 1.0, estimate(2e9), estimate(1.0))
    half = cell(9.9e9, 0.54, estimate(0.44e9), estimate(0.22, 0.2, 0.25))
    rows = [("first · gem 1.3", True, full, None), ("other · oj 3", True, half, "a remark"),
            ("new", False, cell(None, None, estimate(1500.0), estimate(0.1, 0.1, 0.3)), None),
            (results.CHOSEN[task] + " · 2", True, dict(half), None)]
    tables = [table(title, column, rows)]
    if task == "object-store":
        dump = cell(1.1, None, estimate(1.2, 1.1, 1.3), None, 1.12)
        tables.append(table("Time with vs without Base64, Ruby", "Time ratio", [("dump", True, dump, None)],
                            "ratio", None))
    return {"regauge": "1", "command": ["regauge"], "input": {}, "date": "2026-11-23",
            "machine": {"processor": "A", "cores": 2, "memory_bytes": 8 << 30, "system": "Linux"},
            "method": {"took_s": 12.3}, "notes": ["a note"],
            "task": {"name": task, "question": "Which?", "source": '"Title"', "tables": tables,
                     "changed": [f"{task} has an answer."]}}


def main():
    kept = {task: report(task, title, column) for task, _, _, title, column in results.TASKS}
    pages = results.render(kept, pathlib.Path("folder"))
    text = pages[pathlib.Path("folder/README.md")]
    for words in ["| vs first | Total, published | Total, today |",
                  "| first · gem 1.3 | 18.2 s · 1.00 | 2.00 s · 1.00 |",
                  "| other · oj 3 | 9.90 s · 0.54 | 440 ms · 0.22 (0.20–0.25) |",
                  "| new | – | 1.50 µs · 0.10 (0.10–0.30) |", "- other · oj 3: a remark",
                  "| dump | 1.10 to 1.12 | 1.20 (1.10–1.30) |", "- *Always use Oj.* ruby-types has an answer.",
                  "2026-11-23, A, 2 cores, 8 GiB, Linux; regauge 1; `regauge`, 12 s."]:
        assert words in text, f"{words}\n---\n{text}"
    for path, page in pages.items():
        if path.suffix == ".svg":
            xml.etree.ElementTree.fromstring(page)
    assert sum(path.suffix == ".svg" for path in pages) == len(kept) + 1
    # A point for each headline, and one in the legend.
    assert pages[pathlib.Path("folder/headlines.svg")].count('r="5" fill="#06c"') == len(kept) + 1

    before = f"a\n{results.MARKS[0]}\nold\n{results.MARKS[1]}\nb"
    readme = results.in_readme(before, kept)
    assert readme.startswith("a\n") and readme.endswith("\nb") and "old" not in readme
    assert readme.count("has an answer") == 6 and results.in_readme(readme, kept) == readme
    assert all(mark in results.README.read_text() for mark in results.MARKS)

    with contextlib.redirect_stderr(io.StringIO()) as told:
        assert results.tell_unfilled(kept.values()) == 0 and told.getvalue() == ""
        row = kept["senators"]["task"]["tables"][0]["rows"][1]
        row["cells"][0]["today"] = None
        assert results.tell_unfilled(kept.values()) == 1
    assert "senators: Python, to dictionaries and lists, other · oj 3, Load: a remark" in told.getvalue()
    few = {"median": 1.0, "low": 0.1, "high": 9.0, "too_few": True}
    assert results.interval(few) == "1.00 (too few)"
    print("results.py: all as expected")


if __name__ == "__main__":
    main()
