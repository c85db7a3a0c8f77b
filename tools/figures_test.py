#!/usr/bin/env python3
"""Tests tools/figures.py: what it saves, what it renders, and what its check refuses."""

import json
import tempfile
import unittest
from pathlib import Path

import figures
from figures_tables import PROGRAMS, TABLES, amount, routes, spread, times

LINES = [
    {"table": "JSON to MessagePack", "case": "a", "route": "ours", "unit": "ns", "bytes": 3_000, "samples": [1_000, 3_000, 2_000]},
    {"table": "JSON to MessagePack", "case": "a", "route": "peer", "unit": "ns", "bytes": 3_000, "samples": [4_000, 3_000, 3_000]},
]
RESULT = {"date": "2026-11-23", "regauge": "0.1.0, abc", "profile": "release", "command": "make figures ONLY=codecs",
          "machine": {"processor": "a processor", "cores": 2}, "versions": {"serde_json": "1"}}


class Figures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, kept = Path(folder.name), Path(folder.name) / "docs" / "results" / "bench"
        kept.mkdir(parents=True)
        before = figures.ROOT, figures.KEPT
        self.addCleanup(lambda: setattr(figures, "ROOT", before[0]) or setattr(figures, "KEPT", before[1]))
        figures.ROOT, figures.KEPT = self.root, kept
        self.rows = figures.condensed([dict(line) for line in LINES])
        (kept / "codecs.json").write_text(json.dumps({**RESULT, "rows": self.rows}))
        self.page = self.root / "docs" / "page.md"
        self.page.write_text("".join(f"<!-- figures: codecs {table} -->\n<!-- /figures -->\n"
                                     for table in ("to-msgpack", "about")))

    def wrong(self):
        return "\n".join(figures.pages(figures.check))

    def test_medians_and_the_ratios_of_rounds_are_kept(self):
        ours, peer = self.rows
        self.assertEqual((ours["median"], ours["least"], ours["most"], ours["rounds"]), (2_000, 1_000, 3_000, 3))
        self.assertEqual(peer["ratio"], [1.5, 1.0, 4.0])

    def test_a_table_shows_losses_in_bold(self):
        table = routes("JSON to MessagePack")({"rows": self.rows})
        self.assertEqual(table[2:], ["| ours | 1.50 GB/s |", "| peer | 1.50x |"])
        self.assertEqual((times(0.9), times(12.34), times(1.5, goal=3)), ("**0.90x**", "12.3x", "**1.50x**"))
        self.assertEqual(spread([0.9, 0.8, 1.2]), "**0.90** (0.80–1.20)")
        self.assertEqual((amount(0.0405, "s"), amount(1234, "1/s")), ("40.5 ms", "1,234 1/s"))

    def test_a_page_is_written_once_and_then_agrees(self):
        self.assertIn("a table is not what was measured", self.wrong())
        self.assertEqual(figures.pages(figures.write), [])
        self.assertIn("| peer | 1.50x |", self.page.read_text())
        self.assertEqual(self.wrong(), "")

    def test_a_figure_that_was_changed_by_hand_is_found(self):
        figures.pages(figures.write)
        self.page.write_text(self.page.read_text().replace("1.50x", "2.50x"))
        self.assertIn("docs/page.md: a table is not what was measured", self.wrong())

    def test_a_marker_needs_a_result_an_about_and_an_end(self):
        for text, problem in [
            ("<!-- figures: store rusqlite -->\n<!-- /figures -->\n", "there is no docs/results/bench/store.json"),
            ("<!-- figures: codecs to-msgpack -->\n<!-- /figures -->\n", "<!-- figures: codecs about --> is missing"),
            ("<!-- figures: codecs to-msgpack -->\n", "is not closed"),
            ("<!-- figures: codecs other -->\n<!-- /figures -->\n", "has no table other"),
            ("", "codecs.json: no page shows it"),
        ]:
            self.page.write_text(text)
            self.assertIn(problem, self.wrong())

    def test_every_table_has_a_program(self):
        self.assertEqual({name for name, _ in TABLES} - set(PROGRAMS), set())


if __name__ == "__main__":
    unittest.main()
