"""What the applications of tools/move_check.py and tools/cache_guides_check.py run on: Rails with the gem, Django with
the package.

Rails is the installed one if it is 7.1 or later, whose entries hold MessagePack; else that of Debian's SUITE, unpacked
into build/rails without being installed. The gem is that of the sources, after `make gem-check` or `make gem`.
Django is of PyPI, in a virtual environment of its own, build/caches-python, with the wheel of `make wheel-check` or
`make wheel`. REGAUGE_WHEEL and REGAUGE_GEM_LIB name others.
"""

import functools
import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = "trixie"
VERSIONS = 'require "logger"; require "active_support"; require "active_support/cache/redis_cache_store"; ' \
    'require "regauge"; print ActiveSupport.version'


class Missing(Exception):
    """An application cannot run here; the text says why."""


def run(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(f"{command[0]} failed: {said[-1] if said else done.returncode}")
    return done.stdout


def unpacked(folder):
    """Unpacks Rails' cache of Debian's SUITE into a folder. Returns the folder of its library."""
    libraries = f"{folder}/usr/share/rubygems-integration/all/gems/activesupport-*/lib"
    if not glob.glob(libraries):
        sites = run("apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages").split()
        site = next((one for one in sites if "security" not in one), None)
        if site is None:
            raise Missing("apt names no mirror")
        with tempfile.TemporaryDirectory() as work:
            os.chmod(work, 0o755)
            for name in ("lists/partial", "cache/archives/partial"):
                Path(work, name).mkdir(parents=True)
            key = "/usr/share/keyrings/debian-archive-keyring.gpg"
            Path(work, "sources.list").write_text(f"deb [signed-by={key}] {site} {SUITE} main\n")
            places = {"Dir::Etc::SourceList": "sources.list", "Dir::State::Lists": "lists", "Dir::Cache": "cache"}
            options = [word for name, at in places.items() for word in ("-o", f"{name}={work}/{at}")]
            options += ["-o", "Dir::Etc::SourceParts=/dev/null", "-o", "Acquire::Check-Valid-Until=false"]
            run("apt-get", *options, "update", "-qq")
            run("apt-get", *options, "download", "-qq", "ruby-activesupport", cwd=work)
            folder.mkdir(parents=True, exist_ok=True)
            run("dpkg", "-x", *glob.glob(f"{work}/*.deb"), folder)
    return glob.glob(libraries)[0]


@functools.cache
def rails():
    """Returns the environment in which Ruby has Rails 7.1 or later, a client and the gem, and the version of Rails."""
    if shutil.which("ruby") is None:
        raise Missing("no ruby")
    gem = os.environ.get("REGAUGE_GEM_LIB", str(ROOT / "bindings/ruby/lib"))
    if not glob.glob(f"{gem}/regauge/native.*"):
        raise Missing("the gem is not built: make gem-check")
    environment = {**os.environ, "RUBYLIB": gem}
    try:
        version = run("ruby", "-e", VERSIONS, env=environment)
    except Missing:
        version = "0"
    if tuple(map(int, version.split(".")[:2])) < (7, 1):
        # Debian's packages have what it needs: ruby-redis, ruby-i18n, ruby-tzinfo, ruby-concurrent.
        environment["RUBYLIB"] = f"{unpacked(ROOT / 'build/rails')}:{gem}"
        version = run("ruby", "-e", VERSIONS, env=environment)
    return environment, version


@functools.cache
def django():
    """Returns a Python that has Django, a client of Redis and the package, and Django's version."""
    wheels = [os.environ["REGAUGE_WHEEL"]] if "REGAUGE_WHEEL" in os.environ else glob.glob(
        f"{ROOT}/build/python/wheels/regauge-*-cp{sys.version_info[0]}{sys.version_info[1]}-*.whl")
    if not wheels:
        raise Missing("the wheel is not built: make wheel-check")
    folder = ROOT / "build/caches-python"
    python = folder / "bin/python3"
    if not python.exists():
        run(sys.executable, "-m", "venv", folder)
        run(python, "-m", "pip", "install", "--quiet", "Django>=5.2,<6", "redis")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheels[0])
    return str(python), run(python, "-c", "import django, regauge, redis; print(django.__version__)").strip()
