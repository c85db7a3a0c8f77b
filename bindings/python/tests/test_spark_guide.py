"""docs/guides/spark.md, followed from its start to its end: a cluster of three processes. Needs pyspark 4, Java 17
and the command; a million records with REGAUGE_SPARK_RECORDS=1000000."""

from __future__ import annotations

import fnmatch
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", minversion="4")
if shutil.which("java") is None:
    pytest.skip("no Java", allow_module_level=True)

GUIDE = pathlib.Path(__file__).parents[3] / "docs/guides/spark.md"
MARK = "== next command"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_the_guide(tmp_path):
    text = GUIDE.read_text().replace("7077", str(free_port()))
    text = text.replace("1000000", os.environ.get("REGAUGE_SPARK_RECORDS", "20000"))
    commands, shown = [], []
    for language, block in re.findall(r"```(\w+)\n(.*?)```", text, re.S):
        if language == "python":
            name = re.match(r"# (\S+\.py)\n", block)[1]
            (tmp_path / name).write_text(block)
            continue
        for line in block.splitlines():
            if line.startswith("$ "):
                commands.append(line[2:])
                shown.append("")
            else:
                shown[-1] += line + "\n"
    assert len(commands) > 8
    # One shell, with job control, for all of them; it takes the cluster with it if a command fails.
    script = "set -m\ntrap 'kill $(jobs -p) 2>/dev/null' EXIT\n"
    script += "".join(f"echo '{MARK}'\n{command}\n" for command in commands)
    command = shutil.which("regauge") or pytest.skip("no command regauge")
    paths = [os.path.dirname(sys.executable), os.path.dirname(command), os.environ["PATH"]]
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, env={**os.environ, "PATH": os.pathsep.join(paths)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
    logs = "".join(one.read_text()[-3000:] for one in sorted(tmp_path.glob("*.log")))
    printed = [re.sub(r"^\[\d+\].*\n", "", one, flags=re.M) for one in done.stdout.split(MARK + "\n")[1:]]
    for command, expected, found in zip(commands, shown, printed):
        assert fnmatch.fnmatch(found, expected.replace("…", "*")), f"{command}\n{found}\n{logs}"
    assert len(printed) == len(commands)
    # The work was done by both workers.
    assert len(list((tmp_path / "work").glob("app-*/*"))) == 2, logs
