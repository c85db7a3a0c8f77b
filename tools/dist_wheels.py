#!/usr/bin/env python3
"""Builds the wheels for other Linux systems than this one, and the source distribution, and checks each:

    python3 tools/dist_wheels.py [--profile release] [--only musllinux_1_2_x86_64 …] [--version 3.11 …]

    dist/regauge-VERSION-cp311-cp311-manylinux2014_aarch64.manylinux_2_17_aarch64.whl
    dist/regauge-VERSION-cp311-cp311-musllinux_1_2_x86_64.whl
    …
    dist/regauge-VERSION.tar.gz

`make dist-wheels` builds those for glibc and this architecture with tools/python_wheel.py, in the interpreters that
are here. The others are linked by zig for interpreters that maturin knows; a wheel has the static binary of its
architecture. Each has to keep the rules of its tag. Those for glibc on aarch64 are then installed into an empty folder
and tested in QEMU, with Debian's Python; those for musl and this architecture if `--musl-python` names a CPython 3.11
that was built with musl. The source distribution is built and tested in an empty environment.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

from dist_common import ARCHITECTURES, DIST, need, need_target, own_architecture, report, said, unpacked
from python_wheel import BUILD, PACKAGE, SCRIPTS, VALUES, environment, install, interpreters, run, with_zig

# Each libc, as Rust calls it and as its tag for maturin begins.
LIBCS = {"gnu": "manylinux2014", "musl": "musllinux_1_2"}
MACHINES = {"x86_64": "Advanced Micro Devices X86-64", "aarch64": "AArch64"}
# The environment that has maturin, zig and auditwheel.
TOOLS = BUILD / "dist-tools"
# Debian's release with a Python that the tests can run in.
SUITE, PYTHON = "bookworm", "3.11"


def platforms():
    """Returns (architecture, libc) of every platform but that of this machine."""
    return [(architecture, libc) for architecture in ARCHITECTURES for libc in LIBCS
            if (architecture, libc) != (own_architecture(), "gnu")]


def name_of(platform):
    """Returns the tag of a platform, as `--only` takes it."""
    return f"{LIBCS[platform[1]]}_{platform[0]}"


def put_command(architecture):
    """Puts the static binary of an architecture where maturin takes it from."""
    SCRIPTS.mkdir(parents=True, exist_ok=True)
    (SCRIPTS / "regauge").write_bytes(unpacked(architecture)["regauge"])
    (SCRIPTS / "regauge").chmod(0o755)


def build(maturin, platform, version, profile):
    """Builds the wheel of a platform for one CPython, or for all (`abi3`); returns its path."""
    architecture, libc = platform
    fresh = BUILD / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    target = f"{architecture}-unknown-linux-{libc}"
    need_target(target)
    which = ["--features", "abi3", "--interpreter", "python3.10"] if version == "abi3" else \
        ["--interpreter", f"python{version}"]
    run(maturin, "build", "--profile", profile, "--out", fresh, "--locked", "--zig", "--target", target,
        "--compatibility", LIBCS[libc], *which, cwd=PACKAGE, env=with_zig(maturin))
    [wheel] = fresh.glob("*.whl")
    return pathlib.Path(shutil.copy2(wheel, DIST / wheel.name))


def check_rules(auditwheel, wheel, platform):
    """Holds a wheel against the rules of its tag, and looks at what is in it."""
    architecture, libc = platform
    if libc == "gnu" and f'"manylinux_2_17_{architecture}"' not in (shown := said(auditwheel, "show", wheel)):
        sys.exit(f"{wheel.name}: auditwheel does not find manylinux_2_17_{architecture}\n{shown}")
    folder = BUILD / "looked-at"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    programs = [*folder.glob("regauge/_regauge*.so"), *folder.glob("*.data/scripts/regauge")]
    if len(programs) != 2:
        sys.exit(f"{wheel.name}: found {len(programs)} programs, expected the extension and the command")
    for program in programs:
        if MACHINES[architecture] not in said("readelf", "--file-header", program):
            sys.exit(f"{wheel.name}: {program.name} is not for {architecture}")
    # auditwheel knows musl's library by the name that Alpine gives it. zig calls it libc.so, which musl's loader
    # takes for itself.
    needed = re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "--dynamic", *programs))
    if libc == "musl" and needed != ["libc.so"]:
        sys.exit(f"{wheel.name}: needs {needed}, expected musl alone")


def foreign_python(architecture):
    """Unpacks Debian's Python for another architecture; returns a script that runs it, or None."""
    emulator = shutil.which(f"qemu-{architecture}-static")
    root = BUILD / f"debian-{architecture}"
    if emulator is None or shutil.which("mmdebstrap") is None:
        print("skipped: the tests in QEMU need qemu-user-static and mmdebstrap", flush=True)
        return None
    if not (root / f"usr/bin/python{PYTHON}").exists():
        shutil.rmtree(root, ignore_errors=True)
        sites = said("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").splitlines()
        mirror = next(site for site in sites if "security" not in site)
        # Only unpacked: nothing of that architecture has to run.
        run("mmdebstrap", "--quiet", "--variant=extract", "--architectures=arm64",
            "--include=python3,libpython3-stdlib", SUITE, root, f"deb {mirror} {SUITE} main")
    script = BUILD / f"python-{architecture}"
    script.write_text(f"#!/bin/sh\nexec {emulator} -L '{root}' '{root}/usr/bin/python{PYTHON}' \"$@\"\n")
    script.chmod(0o755)
    return script


def runner_of(platform, musl_python):
    """Returns the Python of a platform, or None if there is none."""
    architecture, libc = platform
    if libc == "gnu":
        return foreign_python(architecture)
    return musl_python if architecture == own_architecture() else None


def check_foreign(python, wheel, platform):
    """Installs a wheel and what its tests need into an empty folder, and tests it there."""
    folder = BUILD / f"site-{name_of(platform)}"
    shutil.rmtree(folder, ignore_errors=True)
    run(TOOLS / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", folder,
        "--platform", name_of(platform), "--python-version", PYTHON, "--implementation", "cp",
        "--only-binary", ":all:", wheel, "pytest", "hypothesis")
    # Tests that start Python again have to start the script.
    start = f"import sys; sys.executable = {str(python)!r}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    tests = [PACKAGE / "tests" / f"test_{name}.py" for name in VALUES]
    for more in [{}, {"REGAUGE_PUBLIC_API": "1"}]:
        run(python, "-c", start, "-q", "-p", "no:cacheprovider", *tests, cwd=BUILD,
            env={**os.environ, "PYTHONPATH": str(folder), **more})
    emulator = [] if platform[0] == own_architecture() else [f"qemu-{platform[0]}-static"]
    run(*emulator, folder / "bin" / "regauge", "--version")


def check_sdist(sdist, interpreter, profile):
    """Builds the source distribution where nothing of the repository is, and tests what it installs."""
    python = environment(BUILD / "venv-sdist", interpreter)
    install(python, ["pytest", "hypothesis"], needed=True)
    folder = BUILD / "sdist"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", sdist, cwd=folder,
        env={**os.environ, "MATURIN_PEP517_ARGS": f"--profile {profile}"})
    run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
        *(PACKAGE / "tests" / f"test_{name}.py" for name in VALUES), cwd=folder)


def main():
    names = {name_of(one): one for one in platforms()}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", default="release", help="the profile that cargo builds with")
    parser.add_argument("--only", action="append", choices=[*names, "sdist"], help="default: all")
    parser.add_argument("--version", action="append", help="3.11, or abi3; default: every CPython here, and abi3")
    parser.add_argument("--musl-python", help=f"a CPython {PYTHON} that was built with musl")
    arguments = parser.parse_args()
    need("readelf", "binutils")
    DIST.mkdir(exist_ok=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    known = interpreters()
    here = ["{}.{}".format(*one["version"]) + ("t" if one["free"] else "") for one in known]
    versions = arguments.version or [*here, "abi3"]
    python = environment(TOOLS, sys.executable)
    install(python, ["maturin[zig]>=1.9,<2", "auditwheel==6.8.2"], needed=True)
    maturin, auditwheel = python.parent / "maturin", python.parent / "auditwheel"
    for name, platform in names.items():
        if arguments.only and name not in arguments.only:
            continue
        put_command(platform[0])
        runner = runner_of(platform, arguments.musl_python)
        for version in versions:
            wheel = build(maturin, platform, version, arguments.profile)
            check_rules(auditwheel, wheel, platform)
            tested = runner is not None and version in (PYTHON, "abi3")
            if tested:
                check_foreign(runner, wheel, platform)
            report(wheel)
            print(f"  keeps the rules of its tag; {f'tested on CPython {PYTHON}' if tested else 'not run'}", flush=True)
    if not arguments.only or "sdist" in arguments.only:
        shutil.rmtree(BUILD / "fresh-sdist", ignore_errors=True)
        run(maturin, "sdist", "--out", BUILD / "fresh-sdist", cwd=PACKAGE)
        [sdist] = (BUILD / "fresh-sdist").glob("*.tar.gz")
        shutil.copy2(sdist, DIST / sdist.name)
        check_sdist(DIST / sdist.name, known[-1]["path"], arguments.profile)
        report(DIST / sdist.name)
        print("  built and tested in an empty environment", flush=True)


if __name__ == "__main__":
    main()
