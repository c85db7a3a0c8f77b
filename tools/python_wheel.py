#!/usr/bin/env python3
"""Builds the Python wheel with the command in it, installs it into a clean environment and runs the
tests there, against what was installed.

    python3 tools/python_wheel.py [--profile release] [--interpreter python3.12] [--abi3] [--peers]

Needs a release binary of the command (`make build`). Wheels come to build/python/wheels.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bindings" / "python"
BUILD = ROOT / "build" / "python"

# What the tests ask for, and the peers that they compare with.
TOOLS = ["pytest", "hypothesis"]
PEERS = ["attrs", "cbor2", "mypy", "msgpack", "numpy", "orjson", "pydantic", "pymongo", "pyright", "PyYAML",
         "rubymarshal"]


def run(*command, **options):
    """Runs a command, and stops if it fails."""
    print("+", " ".join(str(part) for part in command), flush=True)
    subprocess.run([str(part) for part in command], check=True, **options)


def environment(folder, interpreter, *packages):
    """A virtual environment with these packages; its interpreter."""
    run(interpreter, "-m", "venv", "--clear", folder)
    python = folder / "bin" / "python"
    if packages:
        run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="release", help="the profile that cargo builds with")
    parser.add_argument("--interpreter", default=sys.executable, help="whom the wheel is for")
    parser.add_argument("--abi3", action="store_true", help="one wheel for all versions")
    parser.add_argument("--peers", action="store_true", help="install the peers to compare with")
    parser.add_argument("--command", default=ROOT / "target" / "release" / "regauge",
                        type=pathlib.Path, help="the binary that goes into the wheel")
    arguments = parser.parse_args()

    if not arguments.command.exists():
        sys.exit(f"found no {arguments.command}: run `make build` first")
    scripts = PACKAGE / "regauge.data" / "scripts"
    scripts.mkdir(parents=True, exist_ok=True)
    shutil.copy2(arguments.command, scripts / "regauge")
    # A module that was put there for work on it must not go into the wheel.
    for stray in (PACKAGE / "python" / "regauge").glob("_regauge*.so"):
        stray.unlink()

    wheels = BUILD / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    maturin = environment(BUILD / "maturin", sys.executable, "maturin>=1.9,<2").parent / "maturin"
    command = [maturin, "build", "--profile", arguments.profile, "--out", wheels, "--locked",
               "--interpreter", arguments.interpreter, "--auditwheel", "skip"]
    if arguments.abi3:
        command += ["--features", "abi3"]
    run(*command, cwd=PACKAGE)
    wheel = next(wheels.glob("*.whl"))

    packages = [wheel, *TOOLS, *(PEERS if arguments.peers else [])]
    python = environment(BUILD / "venv", arguments.interpreter, *packages)
    # From another folder, so that what is installed is what is tested.
    run(python, "-P" if sys.version_info >= (3, 11) else "-I", "-m", "pytest", "-q", "-rs",
        PACKAGE / "tests", cwd=BUILD)
    run(python.parent / "regauge", "--version")
    run(python, "-m", "regauge", "--version", cwd=BUILD)
    print(f"{wheel.name}: built, installed and tested")


if __name__ == "__main__":
    main()
