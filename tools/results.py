#!/usr/bin/env python3
"""Measures the six published comparisons again, and writes the pages in docs/results/.

    python3 tools/results.py [--regauge PATH] [--dir FOLDER] [--budget SECONDS] [--only TASK …]
    python3 tools/results.py --render          # rewrites the pages from the saved results
    python3 tools/results.py --check           # checks that the pages match the saved results
    python3 tools/results.py --filled FILE     # lists published figures that a run lacks

Runs `regauge measure --task` for each task at its full budget, saves the results (without the
samples) in docs/results/TASK.json, and writes from these files docs/results/README.md, a chart for
each task, and the part of the README between the `results` marks. Every figure on those pages comes
from a saved file. Use an idle machine; a small --budget is for trying it out, and is refused for
the README if published rows stay empty.
"""

import argparse
import datetime
import json
import math
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/results"
README = ROOT / "README.md"
MARKS = ("<!-- results -->", "<!-- /results -->")

# Task, headline of its post, the index of its answer among the task's sentences, and the table and
# column of its chart.
TASKS = [
    ("marc-catalog", "msgpack is the fastest way to keep MARC records in MRI", 0,
     "MRI Ruby, MARC::Record objects", "Total"),
    ("object-store", "Base64 adds 10 to 12% to writing an object", 0,
     "Ruby's Marshal, all objects", "Time"),
    ("tenancy", "A database per tenant costs 5.3%", 0,
     "100 queries, each to a random tenant", "100 tenants"),
    ("ruby-types", "Always use Oj", 0, "An object of type Hash", "Round trips"),
    ("time-slice", "MessagePack decodes 1.6x faster than Oj", 0,
     "1,000 calls: a rehearsal, then the run", "Decode"),
    ("senators", "msgpack loads fastest, and YAML is hundreds of times slower", 0,
     "Python, to dictionaries and lists", "Load"),
]
KEPT = ("regauge", "command", "input", "machine", "task", "notes", "interrupted")
METHOD = ("seed", "budget_s", "took_s", "timed_documents")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=str(ROOT / "target/release/regauge"))
    parser.add_argument("--dir", default=str(ROOT / "build/contenders"), help="the folder of the set-up")
    parser.add_argument("--budget", type=int, help="seconds for each task, instead of its own budget")
    parser.add_argument("--only", action="append", choices=[task for task, *_ in TASKS])
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER, help="instead of docs/results")
    parser.add_argument("--render", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--filled", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.filled:
        sys.exit(tell_unfilled([json.loads(arguments.filled.read_text())]))
    if not (arguments.render or arguments.check):
        for task in arguments.only or [task for task, *_ in TASKS]:
            measure(task, arguments)
    kept = {path.stem: json.loads(path.read_text()) for path in sorted(arguments.folder.glob("*.json"))}
    missing = [task for task, *_ in TASKS if task not in kept]
    if missing:
        sys.exit(f"no kept results for {', '.join(missing)}: run without --only")
    empty = tell_unfilled(kept.values())
    pages = render(kept, arguments.folder)
    if arguments.folder == FOLDER and not empty:
        pages[README] = in_readme(README.read_text(), kept)
    if arguments.check:
        other = [path for path, text in pages.items() if not path.exists() or path.read_text() != text]
        if other or empty:
            sys.exit(f"out of date with the kept results: {', '.join(map(str, other))}; run with --render")
        return
    for path, text in pages.items():
        path.write_text(text)
        print(f"wrote {path}")
    sys.exit("the README was left unchanged" if empty else 0)


def measure(task, arguments):
    """Runs one task and saves its results, without the samples."""
    print(f"measuring {task}", file=sys.stderr)
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "report.json"
        command = [arguments.regauge, "measure", "--task", task, "--dir", arguments.dir, "--json", str(out)]
        if arguments.budget:
            command += ["--budget", str(arguments.budget)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        report = json.loads(out.read_text())
    kept = {key: report[key] for key in KEPT if key in report}
    # Local paths are private.
    kept["command"] = ["regauge", "measure", "--task", task] + (
        ["--budget", str(arguments.budget)] if arguments.budget else [])
    kept["method"] = {key: report["method"][key] for key in METHOD}
    kept["date"] = datetime.date.today().isoformat()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    (arguments.folder / f"{task}.json").write_text(text)


def tell_unfilled(reports):
    """Reports published figures without a current counterpart; returns how many there are."""
    count = 0
    for report in reports:
        task = report["task"]
        for table in task["tables"]:
            for row in table["rows"]:
                if not row["published"]:
                    continue
                for column, cell in zip(table["columns"], row["cells"]):
                    then = cell["published"] if cell["published"] is not None else cell["published_ratio"]
                    if then is not None and cell["today"] is None:
                        count += 1
                        why = row["note"] or "no reason given"
                        print(f"{task['name']}: {table['title']}, {row['name']}, {column['name']}: {why}",
                              file=sys.stderr)
    if count:
        print(f"{count} published figures have no current counterpart", file=sys.stderr)
    return count


def render(kept, folder):
    """Returns the pages by path."""
    pages = {}
    lines = ["# Six published comparisons, measured again", "",
             "Written by `make results` (`tools/results.py`) from the JSON files in this folder; do not edit. "
             "Machines differ, so compare ratios, not times. [docs/tasks.md](../tasks.md) explains how each "
             "task is measured.", ""]
    pages[folder / "headlines.svg"] = chart("Then and now, relative to each post's baseline", headline_rows(kept))
    lines += ["![The posts' ratios and today's](headlines.svg)", "", *answers(kept), ""]
    for task, *_, title, column in TASKS:
        report = kept[task]
        pages[folder / f"{task}.svg"] = chart(f"{title}: {column}", chart_rows(report, title, column))
        lines += page(task, report)
    pages[folder / "README.md"] = "\n".join(lines)
    return pages


def page(task, report):
    """Returns the section of a task."""
    machine, method = report["machine"], report["method"]
    memory = machine.get("memory_bytes")
    where = f"{machine['processor']}, {machine['cores']} cores"
    where += f", {memory / 2**30:.0f} GiB" if memory else ""
    yield from [f"## {task}", "", f"{report['task']['question']} {report['task']['source']}.", "",
                f"{report['date']}, {where}, {machine['system']}; regauge {report['regauge']}; "
                f"`{' '.join(report['command'])}`, {method['took_s']:.0f} s.", "", f"![]({task}.svg)", ""]
    yield from (f"- {sentence}" for sentence in report["task"]["changed"])
    yield ""
    for table in report["task"]["tables"]:
        yield from table_lines(table)
    notes = report.get("notes", [])
    yield from (f"- {note}" for note in notes)
    if notes:
        yield ""


def table_lines(table):
    """Formats a table as Markdown: the published figure, if any, next to the current one."""
    has = [any(published(cell, column) for row in table["rows"] for cell in [row["cells"][at]])
           for at, column in enumerate(table["columns"])]
    head = ["" if not table["baseline"] else f"vs {table['baseline']}"]
    for column, then in zip(table["columns"], has):
        head += [f"{column['name']}, published"] * then + [f"{column['name']}, today" if then else column["name"]]
    yield from [f"### {table['title']}", "", "| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    notes = []
    for row in table["rows"]:
        cells = []
        for column, cell, then in zip(table["columns"], row["cells"], has):
            cells += [published(cell, column) or "–"] * then + [today(cell, column) or "–"]
        yield "| " + " | ".join([row["name"].replace("|", "\\|"), *cells]) + " |"
        if row["note"]:
            notes.append(f"- {row['name']}: {row['note']}")
    yield ""
    if notes:
        yield from notes
        yield ""


def published(cell, column):
    value = None
    if cell["published"] is not None:
        value = number(cell["published"], column["unit"])
        if cell.get("published_to") is not None:
            value += f" to {number(cell['published_to'], column['unit'])}"
    return joined(value, cell["published_ratio"] and f"{cell['published_ratio']:.2f}")


def today(cell, column):
    value = cell["today"]
    if value is not None:
        value = interval(value) if column["unit"] == "ratio" else number(value["median"], column["unit"])
    return joined(value, cell["today_ratio"] and interval(cell["today_ratio"]))


def joined(value, ratio):
    return " · ".join(part for part in (value, ratio) if part)


def interval(one):
    low, high = f"{one['low']:.2f}", f"{one['high']:.2f}"
    if one.get("too_few"):
        return f"{one['median']:.2f} (too few)"
    return f"{one['median']:.2f}" + (f" ({low}–{high})" if low != high else "")


def number(value, unit):
    """Formats a figure like the terminal output: three digits, and a suitable unit."""
    if unit == "bytes":
        return f"{value:,.0f} B"
    if unit == "per second":
        return f"{three(value)}/s"
    if unit != "ns":
        return f"{value:.2f}"
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if value >= size:
            return f"{three(value / size)} {name}"
    return f"{three(value)} ns"


def three(value):
    digits = 0 if value <= 0 else max(0, 2 - math.floor(math.log10(value)))
    return f"{value:,.{digits}f}"


def answers(kept):
    """Returns the six headlines, each with the current answer."""
    for task, headline, place, *_ in TASKS:
        report = kept[task]["task"]
        yield f"- *{headline}.* {report['changed'][place]}"


def in_readme(text, kept):
    before, rest = text.split(MARKS[0], 1)
    _, after = rest.split(MARKS[1], 1)
    dates = sorted({report["date"] for report in kept.values()})
    body = ["", "![Six published comparisons, then and now](docs/results/headlines.svg)", "", *answers(kept), "",
            f"Measured {' to '.join(dict.fromkeys([dates[0], dates[-1]]))} with `make results`; all tables are in "
            "[docs/results](docs/results/README.md).", ""]
    return before + MARKS[0] + "\n".join(body) + MARKS[1] + after


def chart_rows(report, title, name):
    """Returns (label, published ratio, current ratio) for a table's column."""
    table = next(table for table in report["task"]["tables"] if table["title"] == title)
    at = next(at for at, column in enumerate(table["columns"]) if column["name"] == name)
    rows = []
    for row in table["rows"]:
        cell = row["cells"][at]
        if cell["today_ratio"] or cell["published_ratio"]:
            rows.append((row["name"].split(" · ")[0], cell["published_ratio"], cell["today_ratio"]))
    return rows


# The row of each task that its headline is about.
CHOSEN = {"marc-catalog": "msgpack", "object-store": "dump", "tenancy": "one per tenant, kept open",
          "ruby-types": "JSON (built-in ruby)", "time-slice": "Oj", "senators": "PyYAML (C Loader)"}


def headline_rows(kept):
    """Maps each task to the row that its headline is about."""
    words = {"marc-catalog": "MARC records in MRI: msgpack vs MARC 21",
             "object-store": "writing an object: with vs without Base64",
             "tenancy": "queries: a database per tenant vs one",
             "ruby-types": "a Hash: Ruby's json vs Oj", "time-slice": "decoding a slice: Oj vs MessagePack",
             "senators": "loading a document: PyYAML (C) vs json"}
    rows = []
    for task, _, _, title, column in TASKS:
        if task == "object-store":
            tables = kept[task]["task"]["tables"]
            table = next(one for one in tables if one["title"] == "Time with vs without Base64, Ruby")
            cell = next(row for row in table["rows"] if row["name"].split(" · ")[0] == "dump")["cells"][0]
            then = (cell["published"], cell.get("published_to") or cell["published"])
            rows.append((words[task], then, cell["today"]))
            continue
        found = {label: (then, now) for label, then, now in chart_rows(kept[task], title, column)}
        rows.append((words[task], *found[CHOSEN[task]]))
    return rows


def chart(title, rows):
    """Draws ratios on a logarithmic axis: a ring for the post's, a dot and interval for today's."""
    # A post gives a number or a range.
    rows = [(label, then if isinstance(then, tuple) or not then else (then, then), now)
            for label, then, now in rows]
    values = [one for _, then, now in rows for one in
              (*(then or ()), *((now["low"], now["high"]) if now else ())) if one > 0]
    low, high = min([0.8, *values]) / 1.1, max([1.25, *values]) * 1.1
    left, width, step, top = 300, 720, 26, 58
    height = top + step * len(rows) + 34

    def x(value):
        value = min(max(value, low), high)
        return left + (width - left - 24) * math.log(value / low) / math.log(high / low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
           f'height="{height}" font-family="sans-serif" font-size="13">',
           f'<rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="12" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
           '<circle cx="20" cy="42" r="5" fill="#fff" stroke="#777" stroke-width="2"/>'
           '<text x="32" y="46" fill="#555">published</text>'
           '<circle cx="118" cy="42" r="5" fill="#06c"/><text x="130" y="46" fill="#555">today, '
           'with its 95% interval; left is better</text>']
    for tick in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if low <= tick <= high:
            ink = "#999" if tick == 1 else "#e4e4e4"
            out.append(f'<path d="M{x(tick):.1f} {top}V{height - 28}" stroke="{ink}"/>'
                       f'<text x="{x(tick):.1f}" y="{height - 12}" text-anchor="middle" fill="#555">{tick}x</text>')
    for at, (label, then, now) in enumerate(rows):
        y = top + step * at + 15
        out.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{escape(label)}</text>')
        if then:
            first, last = map(x, then)
            out.append(f'<rect x="{first - 5:.1f}" y="{y - 5}" width="{last - first + 10:.1f}" height="10" rx="5" '
                       'fill="#fff" stroke="#777" stroke-width="2"/>')
        if now:
            if not now.get("too_few"):
                out.append(f'<path d="M{x(now["low"]):.1f} {y}H{x(now["high"]):.1f}" stroke="#06c" stroke-width="2"/>')
            out.append(f'<circle cx="{x(now["median"]):.1f}" cy="{y}" r="5" fill="#06c"/>')
    return "\n".join([*out, "</svg>", ""])


if __name__ == "__main__":
    main()
