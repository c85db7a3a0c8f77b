#!/usr/bin/env python3
"""Lints the native part of the Python package, builds the wheel including the command, installs it into a clean
environment and runs the tests there, against the installed package.

    python3 tools/python_wheel.py [--interpreter python3.12 …] [--all] [--abi3] [--peers] [--spark auto]

The default is the interpreter that runs this; `--all` uses every CPython 3.10 or later in the path
or from pyenv and uv. Needs a binary of the command (`make build`). Wheels are written to
build/python/wheels. Anything unavailable here is skipped and named.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bindings" / "python"
BUILD = ROOT / "build" / "python"
# Where maturin looks for programs to put into a wheel. An sdist has none.
SCRIPTS = PACKAGE / "regauge._regauge.data" / "scripts"

# Requirements of the tests, and the peers for comparison; cassandra-driver is for tools/migrate_sql_check.py.
TOOLS = ["pytest", "hypothesis"]
PEERS = ["attrs", "cassandra-driver", "cbor2", "diskcache", "duckdb", "kombu", "msgpack", "mypy", "numpy", "orjson",
         "polars", "pyarrow", "pydantic", "pymongo", "pyright", "PyYAML", "rubymarshal"]
# Test files that read or build Python objects: they run with and without `REGAUGE_PUBLIC_API`.
VALUES = ["changed_while_written", "drop_ins", "events", "formats", "keys", "map", "marc", "properties", "python_types",
          "public_api", "shapes", "wrap"]
ABOUT = """
import json, platform, sys, sysconfig
print(json.dumps({"implementation": platform.python_implementation(), "version": sys.version_info[:3],
                  "free": bool(sysconfig.get_config_var("Py_GIL_DISABLED")), "path": sys.executable}))
"""


def run(*command, **options):
    """Runs a command, prints how long it took, and stops if it fails."""
    print("+", " ".join(str(part) for part in command), flush=True)
    started = time.monotonic()
    subprocess.run([str(part) for part in command], check=True, **options)
    print(f"  ({time.monotonic() - started:.0f} s)", flush=True)


def works(*command):
    """Returns whether a command runs and succeeds."""
    try:
        done = subprocess.run([str(part) for part in command], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def about(interpreter):
    """Describes an interpreter, or returns None if it cannot be run or is too old."""
    try:
        said = subprocess.run([str(interpreter), "-c", ABOUT], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    known = json.loads(said.stdout)
    if known["implementation"] != "CPython":
        print(f"skipped: {interpreter}, a {known['implementation']}: the objects are built by CPython's C API")
        return None
    return known if tuple(known["version"]) >= (3, 10) else None


def interpreters():
    """Returns every CPython found here, one per version."""
    homes = [pathlib.Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions",
             pathlib.Path("~/.local/share/uv/python").expanduser()]
    candidates = [sys.executable]
    for minor in range(10, 20):
        candidates += [shutil.which(f"python3.{minor}{suffix}") for suffix in ("", "t")]
    for home in homes:
        candidates += sorted(home.glob("*/bin/python3")) + sorted(home.glob("*/bin/python3.*t"))
    found = {}
    for candidate in filter(None, candidates):
        known = about(candidate)
        if known:
            found.setdefault((tuple(known["version"][:2]), known["free"]), known)
    return [found[version] for version in sorted(found)]


def install(python, packages, needed):
    """Installs what is available for this interpreter, without compiling anything."""
    print("+ installing", *packages, flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    if works(*pip, *packages):
        return
    for package in packages:
        if not works(*pip, package):
            if needed:
                sys.exit(f"{package} cannot be installed for {python}: is the network there?")
            print(f"skipped: {package}, which has no wheel here; its tests skip", flush=True)


def environment(folder, interpreter):
    """Creates an empty virtual environment; returns its interpreter."""
    run(interpreter, "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def wants_spark(said):
    """Returns whether to test PySpark: `auto` means if Java is installed."""
    if said != "auto":
        return said == "yes"
    if shutil.which("java") is None:
        print("skipped: the PySpark data source, because Java is not installed", flush=True)
        return False
    return True


def lint(interpreter, arguments):
    """Clippy without a warning, in the folder and profile of the build, whose C libraries it shares."""
    run("cargo", "clippy", "--quiet", "--profile", arguments.profile, "--locked", "--", "-D", "warnings",
        cwd=PACKAGE, env={**os.environ, "PYO3_PYTHON": str(interpreter)})


def with_zig(maturin):
    """Returns the environment in which maturin finds zig, a module of the Python beside it."""
    return {**os.environ, "PATH": f"{maturin.parent}{os.pathsep}{os.environ['PATH']}"}


def build(maturin, interpreter, arguments, abi3):
    """Builds one wheel; returns its path."""
    fresh = BUILD / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    command = [maturin, "build", "--profile", arguments.profile, "--out", fresh, "--locked",
               "--interpreter", interpreter]
    command += ["--zig", "--compatibility", "manylinux2014"] if arguments.portable else ["--auditwheel", "skip"]
    if abi3:
        command += ["--features", "abi3"]
    run(*command, cwd=PACKAGE, env=with_zig(maturin) if arguments.portable else None)
    [wheel] = fresh.glob("*.whl")
    return pathlib.Path(shutil.move(wheel, BUILD / "wheels" / wheel.name))


def check(wheel, interpreter, label, arguments):
    """Installs a wheel into an empty environment and runs the tests there."""
    python = environment(BUILD / f"venv-{label}", interpreter)
    install(python, TOOLS, needed=True)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    if arguments.peers:
        install(python, PEERS, needed=False)
    if arguments.peers and arguments.spark and not works(
        python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{wheel}[spark]"
    ):
        print("skipped: the data source of PySpark, which cannot be installed here", flush=True)
    # From another folder, so that the installed package is tested.
    run(python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider",
        PACKAGE / "tests", cwd=BUILD)
    # The tests of values again as in a CPython whose memory is not known.
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        *(PACKAGE / "tests" / f"test_{name}.py" for name in VALUES), cwd=BUILD,
        env={**os.environ, "REGAUGE_PUBLIC_API": "1"})
    run(python.parent / "regauge", "--version")
    run(python, "-m", "regauge", "--version", cwd=BUILD)
    # Here are the readers of Parquet that the command's files are compared with.
    run(python, ROOT / "tools" / "parquet_check.py", "--regauge", python.parent / "regauge")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="release", help="the profile that cargo builds with")
    parser.add_argument("--interpreter", action="append", help="whom a wheel is for")
    parser.add_argument("--all", action="store_true", help="a wheel for every interpreter that is here")
    parser.add_argument("--abi3", action="store_true", help="the wheel for all versions, too")
    parser.add_argument("--portable", action="store_true",
                        help="for every Linux since 2014, as PyPI wants it: linked by zig against glibc 2.17")
    parser.add_argument("--peers", action="store_true", help="install the peers to compare with")
    parser.add_argument("--spark", default="no", choices=["auto", "yes", "no"],
                        help="install PySpark (450 MB) and try the data source")
    parser.add_argument("--command", default=ROOT / "target" / "release" / "regauge",
                        type=pathlib.Path, help="the binary to put into the wheel")
    arguments = parser.parse_args()
    arguments.spark = wants_spark(arguments.spark)

    if not arguments.command.exists():
        sys.exit(f"found no {arguments.command}: run `make build` first")
    if arguments.all:
        chosen = interpreters()
    else:
        chosen = [about(one) for one in arguments.interpreter or [sys.executable]]
    if not chosen or None in chosen:
        sys.exit("found no CPython of 3.10 or later to build for")
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    shutil.copy2(arguments.command, SCRIPTS / "regauge")
    # A module that was put there for development must not go into the wheel.
    for stray in (PACKAGE / "python" / "regauge").glob("_regauge*.so"):
        stray.unlink()

    if not arguments.portable:
        lint(chosen[0]["path"], arguments)
    shutil.rmtree(BUILD / "wheels", ignore_errors=True)
    (BUILD / "wheels").mkdir(parents=True)
    python = environment(BUILD / "maturin", sys.executable)
    install(python, ["maturin[zig]>=1.9,<2" if arguments.portable else "maturin>=1.9,<2"], needed=True)
    maturin = python.parent / "maturin"
    built = []
    for known in chosen:
        label = "{}.{}".format(*known["version"]) + ("t" if known["free"] else "")
        wheel = build(maturin, known["path"], arguments, abi3=False)
        check(wheel, known["path"], label, arguments)
        built.append((wheel.name, label))
    if arguments.abi3:
        # A free-threaded build does not accept stable-ABI wheels.
        with_lock = [known for known in chosen if not known["free"]]
        wheel = build(maturin, with_lock[0]["path"], arguments, abi3=True)
        for known in {with_lock[0]["path"]: with_lock[0], with_lock[-1]["path"]: with_lock[-1]}.values():
            label = "{}.{}-abi3".format(*known["version"])
            check(wheel, known["path"], label, arguments)
            built.append((wheel.name, label))
    for name, label in built:
        print(f"{name}: built, installed and tested on CPython {label}")


if __name__ == "__main__":
    main()
