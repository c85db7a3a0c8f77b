#!/usr/bin/env python3
"""Runs the benchmarks with published figures, saves their measurements, and writes the tables.

    python3 tools/figures.py list                       lists them, and how long each takes
    python3 tools/figures.py run [--built] NAME… | all  runs them, saves docs/results/bench/NAME.json
    python3 tools/figures.py write                      writes every table in docs/ from those files
    python3 tools/figures.py check                      fails if a page differs from them; `make lint`

A table is embedded in a page between `<!-- figures: NAME TABLE -->` and `<!-- /figures -->`, and is
never edited by hand. `about` is also a table: machine, date, versions and command of NAME, which
every page with a table of NAME must show. tools/figures_tables.py defines what NAME runs and how
its tables look.

A benchmark appends its measurements to the file named by REGAUGE_BENCH_JSON (benches/record.py).
For each route, the median, minimum and maximum of its samples are saved, and of the ratios to the
first route of its table and case, round by round.
"""

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from figures_tables import PROGRAMS, TABLES, about

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "docs" / "results" / "bench"
MARKER = re.compile(r"<!-- figures: (\S+) (\S+) -->\n(.*?)<!-- /figures -->", re.DOTALL)


def said(*command):
    """Returns what a command prints, or nothing if it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine():
    """Returns what a reader needs to know before comparing figures with another machine's."""
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    system = re.search(r'PRETTY_NAME="?([^"\n]*)', Path("/etc/os-release").read_text())
    return {"processor": cpu[1].strip() if cpu else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "kernel": f"{platform.system()} {platform.release()}", "system": system[1] if system else "",
            "load": os.getloadavg()[0]}


def built_from():
    """Returns the versions of the package and the commit, marked if anything but docs/ changed."""
    version = re.search(r'(?m)^version = "(.*)"', (ROOT / "Cargo.toml").read_text())
    changed = said("git", "status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs")
    return f"{version[1] if version else '?'}, {said('git', 'describe', '--always')}{'-changed' if changed else ''}"


def crates(names):
    """Returns the versions in Cargo.lock that regauge-bench is built with."""
    lock = (ROOT / "Cargo.lock").read_text()
    ours = re.search(r'name = "regauge-bench"\n.*?dependencies = \[(.*?)\]', lock, re.DOTALL)[1]
    all_of_them = dict(re.findall(r'name = "(.*)"\nversion = "(.*)"', lock))
    # The version follows the name if the lock has several.
    return {name: version or all_of_them[name] for name, version in re.findall(r'"(\S+?)(?: (\S+))?"', ours)
            if name in names}


def condensed(lines):
    """Summarises the samples of each route."""
    first, rows = {}, []
    for line in lines:
        samples = line.pop("samples")
        base = first.setdefault((line["table"], line["case"]), samples)
        if len(base) == len(samples):
            ratios = sorted(one / other for one, other in zip(samples, base))
        else:
            ratios = [statistics.median(samples) / statistics.median(base)] * 3
        ratio = [statistics.median(samples) / statistics.median(base), ratios[0], ratios[-1]]
        digits = lambda value: float(f"{value:.4g}")  # noqa: E731
        rows.append({**line, "rounds": len(samples), "median": digits(statistics.median(samples)),
                     "least": digits(min(samples)), "most": digits(max(samples)),
                     "ratio": [digits(one) for one in ratio]})
    return rows


def run(name, built, profile):
    """Runs a benchmark and saves its measurements."""
    program = PROGRAMS[name]
    words = {"profile": profile, "target": "debug" if profile == "dev" else profile, "python": sys.executable,
             "newer": os.environ.get("PYTHON_NEWER", "python3.13"), "ruby": os.environ.get("RUBY", "ruby")}
    for command in [] if built else program.build:
        print("+", command.format(**words), flush=True)
        subprocess.run(command.format(**words), shell=True, check=True, cwd=ROOT)
    here = machine()
    (ROOT / "build").mkdir(exist_ok=True)
    # In the repository, because some programs run where nothing else can be seen.
    with tempfile.NamedTemporaryFile("r", suffix=".ndjson", dir=ROOT / "build") as file:
        for command in program.run:
            print("+", command.format(**words), flush=True)
            environment = {**os.environ, "REGAUGE_BENCH_JSON": file.name,
                           "PATH": f"{ROOT / 'build/figures/bin'}{os.pathsep}{os.environ['PATH']}"}
            subprocess.run(command.format(**words), shell=True, check=True, cwd=ROOT, env=environment)
        lines = [json.loads(line) for line in file]
    versions = {"rustc": said("rustc", "--version").split(" ")[1], **crates(program.crates)}
    for peer, command in program.versions.items():
        versions[peer] = said("sh", "-c", command.format(**words)) or "unknown"
    for line in lines:
        versions.update(line.get("versions", {}))
    versions.pop("regauge", None)
    rows = condensed([line for line in lines if "versions" not in line])
    if not rows:
        raise RuntimeError("nothing was recorded")
    kept = {"name": name, "date": datetime.date.today().isoformat(), "regauge": built_from(), "profile": profile,
            "command": f"make figures ONLY={name}", "runs": [one.format(**{**words, "python": "python3"}) for one in program.shown()],
            "machine": here, "versions": versions}
    KEPT.mkdir(parents=True, exist_ok=True)
    text = json.dumps(kept, indent=1, ensure_ascii=False)[:-2] + ',\n "rows": [\n'
    text += ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows) + "\n ]\n}\n"
    (KEPT / f"{name}.json").write_text(text.replace(str(ROOT), "."))
    print(f"kept docs/results/bench/{name}.json: {len(rows)} routes", flush=True)


def rendering(name, table):
    """Returns the lines of a table, or an error message if there are none."""
    path = KEPT / f"{name}.json"
    if not path.is_file():
        raise LookupError(f"there is no {path.relative_to(ROOT)}; python3 tools/figures.py run {name}")
    result = json.loads(path.read_text())
    if table == "about":
        return about(result)
    if (name, table) not in TABLES:
        raise LookupError(f"tools/figures_tables.py has no table {table} of {name}")
    return TABLES[name, table](result)


def pages(act):
    """Calls `act` with every page that has markers, old and new. Returns the problems found."""
    wrong, used = [], set()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        text = path.read_text()
        shown, explained = set(), set()

        def block(match):
            name, table, _ = match.groups()
            (explained if table == "about" else shown).add(name)
            try:
                body = "\n".join(rendering(name, table))
            except LookupError as error:
                wrong.append(f"{path.relative_to(ROOT)}: {error}")
                return match[0]
            return f"<!-- figures: {name} {table} -->\n{body}\n<!-- /figures -->"

        new = MARKER.sub(block, text)
        if text.count("<!-- figures:") != len(MARKER.findall(text)):
            wrong.append(f"{path.relative_to(ROOT)}: a marker of figures is not closed, or misspelt")
        for name in sorted(shown - explained):
            wrong.append(f"{path.relative_to(ROOT)}: <!-- figures: {name} about --> is missing")
        used |= shown
        if new != text:
            act(path, new, wrong)
    for path in sorted(KEPT.glob("*.json")):
        if path.stem not in used:
            wrong.append(f"{path.relative_to(ROOT)}: no page shows it")
    return wrong


def check(path, _, wrong):
    wrong.append(f"{path.relative_to(ROOT)}: a table is not what was measured; python3 tools/figures.py write")


def write(path, new, _):
    path.write_text(new)
    print(f"wrote {path.relative_to(ROOT)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("what", choices=["list", "run", "write", "check"])
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, or all")
    parser.add_argument("--built", action="store_true", help="run what was built before")
    parser.add_argument("--profile", default="release", help="what cargo builds with (release)")
    arguments = parser.parse_intermixed_args()
    if arguments.what == "list":
        for name, program in PROGRAMS.items():
            print(f"{name:14} {program.minutes:3} min  {program.what}")
        return 0
    if arguments.what == "run":
        names = list(PROGRAMS) if arguments.names == ["all"] else arguments.names
        unknown = [name for name in names if name not in PROGRAMS]
        if unknown or not names:
            parser.error(f"found {unknown or 'no name'}, expected all or some of: {', '.join(PROGRAMS)}")
        # One that cannot be run here does not stop the others.
        failed = []
        for name in names:
            try:
                run(name, arguments.built, arguments.profile)
            except (subprocess.CalledProcessError, RuntimeError) as error:
                print(f"{name}: {error}", file=sys.stderr)
                failed.append(name)
        if failed:
            print(f"not measured: {', '.join(failed)}", file=sys.stderr)
        return 1 if failed else 0
    wrong = pages(write if arguments.what == "write" else check)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
