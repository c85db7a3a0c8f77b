#!/usr/bin/env python3
"""Runs the test suites of other libraries against the modules of `regauge.compat`.

    python3 tools/drop_ins_check.py [--only msgpack yaml …] [--package FOLDER]

Fetches each library's source distribution with pip, at a pinned version whose checksum is verified,
and runs its tests with `regauge.compat.install` in a virtual environment in build/drop-ins. The
package is that in FOLDER; without one, that of the repository if `make python-test` has built it, or
the wheel of `make wheel-check`. Prints how many tests passed; exits with 1 if a test fails that is
not in tools/drop_ins.json, with its reason, or if one of that list passes.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "drop-ins"
KNOWN = ROOT / "tools" / "drop_ins.json"

# Runs in the process of the tests, before anything imports the library.
PLUGIN = '''
import json, os, sys
import regauge.compat

name = os.environ["DROP_IN"]
if name == "json":
    import test.support.import_helper as helper
    fresh = helper.import_fresh_module
    from regauge.compat import json as ours
    # The suite imports the library afresh; without its C part nothing differs here.
    helper.import_fresh_module = lambda name, *rest, **more: (
        ours if name == "json" else getattr(ours, name[5:]) if name.startswith("json.") else fresh(name, *rest, **more))
    import unittest

    def pytest_collection_modifyitems(items):
        # Its test cases inherit from classes that pytest takes for tests.
        items[:] = [item for item in items if issubclass(item.cls or object, unittest.TestCase)]

if name == "diskcache":
    # Not a whole module: its classes are replaced in the library's.
    import diskcache
    from regauge.compat import diskcache as ours
    for one in ours.__all__:
        setattr(diskcache, one, getattr(ours, one))
        setattr(diskcache.core, one, getattr(ours, one))
else:
    regauge.compat.install(name)
results = {}

def pytest_runtest_logreport(report):
    if report.when == "call" or report.failed or report.skipped:
        if results.get(report.nodeid) != "failed":
            results[report.nodeid] = report.outcome

def pytest_collectreport(report):
    if report.failed:
        results[report.nodeid or "collection"] = "failed"

def pytest_sessionfinish(session):
    with open(os.environ["DROP_IN_RESULTS"], "w") as file:
        json.dump(results, file)
'''


def run(*command, **options):
    """Runs a command; stops if it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def environment(libraries):
    """Returns the interpreter of a virtual environment with the libraries at their versions."""
    python = BUILD / "venv" / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", BUILD / "venv")
    wanted = ["pytest", "hypothesis", "typing_extensions"]
    for library in libraries.values():
        if library["sha256"]:
            wanted.append(f"{library['package']}=={library['version']}")
        wanted += library.get("needs", [])
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    return python


def built():
    """Returns the folder of the package that was built last."""
    tree = ROOT / "bindings" / "python" / "python"
    if any(tree.glob("regauge/_regauge*.so")):
        return tree
    wheels = list((ROOT / "build" / "python" / "wheels").glob("*.whl"))
    if not wheels:
        sys.exit("found no package: run `make python-test` or `make wheel-check` first")
    folder = BUILD / "package"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheels[0]) as wheel:
        wheel.extractall(folder)
    return folder


def fetch(python, name, library):
    """Returns the folder of the unpacked source distribution."""
    folder = BUILD / name
    package, version = library["package"], library["version"]
    [*archives] = folder.glob("*.tar.gz")
    if not archives:
        folder.mkdir(parents=True, exist_ok=True)
        wanted = folder / "wanted.txt"
        wanted.write_text(f"{package}=={version} --hash=sha256:{library['sha256']}\n")
        run(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
            "--no-binary", package, "--require-hashes", "-r", wanted, "-d", folder)
        archives = list(folder.glob("*.tar.gz"))
    with tarfile.open(archives[0]) as archive:
        top = archive.getnames()[0].split("/")[0]
        shutil.rmtree(folder / top, ignore_errors=True)
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    return folder / top


def suite(python, name, library):
    """Copies the tests, without the library; returns their folder."""
    work = BUILD / name / "suite"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    if library["sha256"]:
        source = fetch(python, name, library)
    else:
        where = "import os, test; print(os.path.dirname(test.__file__))"
        source = pathlib.Path(run(python, "-c", where).strip())
    for part in library["tests"]:
        shutil.copytree(source / part, work / pathlib.Path(part).name)
    return work


def results_of(python, name, library, package):
    """Runs a suite; returns the outcome of each test."""
    work = suite(python, name, library)
    (work / "drop_in_plugin.py").write_text(PLUGIN)
    results = work / "results.json"
    start = work / library.get("start", ".")
    path = os.pathsep.join(str(part) for part in (package, work, start))
    settings = {**os.environ, "PYTHONPATH": path, "DROP_IN": name, "DROP_IN_RESULTS": str(results)}
    done = subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "drop_in_plugin", "-p", "no:cacheprovider",
         *library.get("files", ["."])],
        cwd=start, env=settings, capture_output=True, text=True)
    if not results.exists():
        sys.exit(f"{name}: the suite did not run\n{done.stdout}{done.stderr}")
    return json.loads(results.read_text())


def judge(name, library, results):
    """Prints how a suite went; returns whether it went as listed."""
    failed = {test for test, outcome in results.items() if outcome == "failed"}
    passed = {test for test, outcome in results.items() if outcome == "passed"}
    patterns = [pattern for known in library["differences"] for pattern in known["tests"]]
    unlisted = sorted(test for test in failed if not any(fnmatch.fnmatchcase(test, one) for one in patterns))
    unneeded = sorted(one for one in patterns if not fnmatch.filter(failed, one))
    mixed = sorted(test for test in passed if any(fnmatch.fnmatchcase(test, one) for one in patterns))
    total = len(failed) + len(passed)
    share = 100 * len(passed) / max(total, 1)
    print(f"{name} {library['version']}: {len(passed)} of {total} passed ({share:.1f}%), "
          f"{len(failed)} differ, {len(results) - total} skipped")
    for test in unlisted:
        print(f"  fails, and is not listed: {test}")
    for test in (*unneeded, *mixed):
        print(f"  is listed, and passes: {test}")
    if total < library["at_least"]:
        print(f"  found {total} tests, expected at least {library['at_least']}")
    return not (unlisted or unneeded or mixed) and total >= library["at_least"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = json.loads(KNOWN.read_text())
    parser.add_argument("--only", nargs="+", choices=sorted(known), default=list(known))
    parser.add_argument("--package", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    package = arguments.package or built()
    python = environment({name: known[name] for name in arguments.only})
    judged = [judge(name, known[name], results_of(python, name, known[name], package))
              for name in arguments.only]
    return 0 if all(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
