#!/usr/bin/env python3
"""Runs real programs with and without `regauge.compat.install("yaml")`, and compares what they print.

    python3 tools/programs_check.py [--package FOLDER] [--rounds N]

The programs are installed from PyPI, at pinned versions, into a virtual environment in build/programs; they
read files of `make data`, and playbooks and a compose file that are written here. Prints for each command the median of its processor time without and with
regauge, in turn; exits with 1 if its output differs. The package is found as in drop_ins_check.py.
"""

import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys

from drop_ins_check import built, run

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "programs"
DATA = ROOT / "build" / "data" / "yaml"
VERSIONS = ("PyYAML==6.0.4", "Django==5.2.19", "mkdocs==1.6.1", "openapi-spec-validator==0.9.0", "yamllint==1.38.0",
            "ansible-lint==26.10.1", "podman-compose==1.6.0")

# Started by the interpreter before the program, as a line in a .pth file.
START = "import os; exec(\"if os.environ.get('DROP_INS'): import regauge.compat; regauge.compat.install('yaml')\")\n"

MANAGE = '''import sys
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["people"], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField", USE_TZ=False,
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "db.sqlite3"}})
from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
'''
MODELS = '''from django.db import models


class Legislator(models.Model):
    first = models.CharField(max_length=99)
    last = models.CharField(max_length=99)
    birthday = models.DateField(null=True)
    ids = models.JSONField()
    terms = models.JSONField()
'''
# Writes the fixture: the real file's records, as Django dumps them.
FIXTURE = '''import json, sys, yaml

rows = yaml.load(open(sys.argv[1]), yaml.CSafeLoader)
plain = lambda value: json.loads(json.dumps(value, default=str))
yaml.safe_dump([{"model": "people.legislator", "pk": number, "fields": {
    "first": row["name"]["first"], "last": row["name"]["last"], "birthday": row["bio"].get("birthday"),
    "ids": plain(row["id"]), "terms": plain(row["terms"])}} for number, row in enumerate(rows, 1)],
    open("legislators.yaml", "w"), sort_keys=False)
'''

TASK = '''
    - name: Create directory {number}
      ansible.builtin.file:
        path: /srv/app{number}
        state: directory
        owner: root
        mode: "0755"
      when: parts | length > {number}
'''
PLAY = '''---
- name: Configure group {number}
  hosts: group{number}
  become: true
  vars:
    parts: [one, two, three]
    ports:
      http: 80
      https: 443
  tasks:{tasks}'''
SERVICE = '''
  app{number}:
    image: registry.example/app:1.{number}
    command: ["serve", "--port", "8{number:03}"]
    ports: ["8{number:03}:80"]
    environment:
      LEVEL: info
      WORKERS: "{number}"
    depends_on: [store]
    restart: unless-stopped
    volumes:
    - data{number}:/var/lib/app:ro'''
# podman-compose asks for its version, and needs nothing else of it to print the configuration.
PODMAN = "#!/bin/sh\necho podman version 5.0.0\n"


def installed(package):
    """Returns the folder with the programs, whose interpreter finds the package."""
    place = BUILD / "venv" / "bin"
    if not (place / "python").exists():
        run(sys.executable, "-m", "venv", BUILD / "venv")
    run(place / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *VERSIONS)
    site = run(place / "python", "-c", "import site; print(site.getsitepackages()[0])").strip()
    (pathlib.Path(site) / "regauge-programs.pth").write_text(f"{package}\n{START}")
    return place


def projects(place):
    """Writes a project for each program that needs one; returns the commands, with the folder of each."""
    django, site = BUILD / "django", BUILD / "site"
    for folder in (django, site):
        shutil.rmtree(folder, ignore_errors=True)
    (django / "people").mkdir(parents=True)
    (django / "people" / "__init__.py").touch()
    (django / "manage.py").write_text(MANAGE)
    (django / "people" / "models.py").write_text(MODELS)
    run(place / "python", "-c", FIXTURE, DATA / "legislators-current.yaml", cwd=django)
    run(place / "python", "manage.py", "migrate", "--run-syncdb", "--verbosity", "0", cwd=django)
    shutil.copytree(ROOT / "docs", site / "docs")
    (site / "mkdocs.yml").write_text("site_name: regauge\ntheme: mkdocs\n")
    plays, compose = BUILD / "plays", BUILD / "compose"
    for folder in (plays, compose):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for number in range(6):
        tasks = "".join(TASK.format(number=task) for task in range(12))
        (plays / f"play{number}.yml").write_text(PLAY.format(number=number, tasks=tasks))
    services = "".join(SERVICE.format(number=number) for number in range(200))
    volumes = "".join(f"\n  data{number}: {{}}" for number in range(200))
    store = "\n  store:\n    image: registry.example/store:1"
    (compose / "compose.yaml").write_text(f"services:{store}{services}\nvolumes:{volumes}\n")
    (compose / "podman").write_text(PODMAN)
    (compose / "podman").chmod(0o755)
    manage = [place / "python", "manage.py"]
    return {
        "manage.py loaddata legislators.yaml": (django, [*manage, "loaddata", "legislators.yaml"]),
        "manage.py dumpdata people --format yaml": (django, [*manage, "dumpdata", "people", "--format", "yaml"]),
        "manage.py check": (django, [*manage, "check"]),
        "mkdocs build": (site, [place / "mkdocs", "--quiet", "build"]),
        "openapi-spec-validator twilio_api_v2010.yaml":
            (site, [place / "openapi-spec-validator", DATA / "openapi" / "twilio_api_v2010.yaml"]),
        "yamllint legislators-current.yaml": (site, [place / "yamllint", DATA / "legislators-current.yaml"]),
        "ansible-lint": (plays, [place / "ansible-lint", "--offline", "--nocolor", *sorted(plays.glob("*.yml"))]),
        "podman-compose config": (compose, [place / "podman-compose", "config"]),
    }


def timed(folder, command, drop_ins):
    """Returns the processor time of a command in seconds, and its exit status and output."""
    # A program starts others of its own, and finds what stands in its folder.
    path = os.pathsep.join([str(folder), str(command[0].parent), os.environ["PATH"]])
    environment = {**os.environ, "DROP_INS": drop_ins, "PATH": path, "ANSIBLE_HOME": str(BUILD / "ansible")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, (done.returncode, done.stdout, done.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--package", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    arguments = parser.parse_args()
    package = (arguments.package or built()).resolve()
    if not DATA.exists():
        sys.exit("found no files: run `make data` first")
    place = installed(package)
    differ = 0
    for name, (folder, command) in projects(place).items():
        times, outputs = ([], []), []
        for _ in range(arguments.rounds):
            for drop_ins, kept in zip(("", "yaml"), times):
                took, output = timed(folder, command, drop_ins)
                kept.append(took)
                outputs.append(output)
        is_same = all(output == outputs[0] for output in outputs)
        differ += not is_same
        without, with_it = map(statistics.median, times)
        print(f"{name}: {without:.2f} s, with regauge {with_it:.2f} s, {without / with_it:.2f}x; "
              f"{'the same output' if is_same else 'the output DIFFERS'}, status {outputs[0][0]}", flush=True)
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
