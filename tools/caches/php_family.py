"""Runs php_values.php, which writes values of PHP's serializers, sessions, and Laravel."""

import json
import shutil
import subprocess
from pathlib import Path

from caches.family import Missing
from caches.ruby_family import Program

PROGRAM = Path(__file__).resolve().parent / "php_values.php"


class Php(Program):
    """phpredis with each of its serializers, PHP's sessions, and Laravel's cache, sessions and queue."""

    name = "php"
    share = 0.09
    database = 12

    def commands(self, run, what):
        yield ["php", str(PROGRAM), what, run.host, str(run.port), str(run.database), str(run.count), str(run.seed),
               str(run.size), str(run.checks)]

    def versions(self):
        super().versions()
        if not shutil.which("php"):
            raise Missing("php is not installed")
        done = subprocess.run(["php", str(PROGRAM), "versions"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr or done.stdout)
        found = json.loads(done.stdout.splitlines()[0])
        if "missing" in found:
            raise Missing(found["missing"])
        return found["versions"]


FAMILIES = (Php(),)
