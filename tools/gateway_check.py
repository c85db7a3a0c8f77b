#!/usr/bin/env python3
"""Runs schemathesis on the gateway's own OpenAPI document, against a running gateway.

    python3 tools/gateway_check.py --regauge target/debug/regauge [--examples 60]

schemathesis is installed with pip, into an environment under build/; if it is unavailable, the
check is skipped with a message.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

VERSION = "4.32.5"
FOLDER = pathlib.Path("build/schemathesis")

# What a tenant's token allows, and what a gateway token allows. The public addresses are in the
# first part: they ignore tokens.
PARTS = [
    ("tenant", r"^/(v1/(objects|batch|series)|health|ready|openapi)"),
    ("gateway", r"^/v1/admin"),
]


# Permitted answers to a request that is valid by the document's own rules: no request schema can
# express that a tag is the value's own (412), that an accepted type is supported here (406), or
# that an idempotency key was used for this request before (422). 400 and 415 are not among them.
CHECKS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "3xx", 401, 403, 404, 406, 409, 412, 422, 429]
"""


def install():
    """Returns the schemathesis command, or nothing."""
    command = FOLDER / "bin" / "schemathesis"
    if not command.exists():
        made = subprocess.run([sys.executable, "-m", "venv", FOLDER], capture_output=True)
        if made.returncode == 0:
            made = subprocess.run(
                [FOLDER / "bin" / "pip", "install", "-q", f"schemathesis=={VERSION}"],
                capture_output=True, text=True)
        if made.returncode != 0:
            return None
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--regauge", type=pathlib.Path, default="target/debug/regauge")
    parser.add_argument("--examples", type=int, default=60)
    arguments = parser.parse_args()
    schemathesis = install()
    if schemathesis is None:
        print("skipped: pip cannot install schemathesis", file=sys.stderr)
        return
    regauge = arguments.regauge.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def tenants(*words):
            command = [regauge, "store", "tenants", "--data", folder / "data", *words]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        # JSON holds everything that a generator of JSON can produce; what a codec refuses is tested
        # elsewhere.
        tenants("create", "fuzzed", "--codec", "json")
        tokens = {"tenant": tenants("token", "create", "fuzzed"), "gateway": tenants("token", "create")}
        config = folder / "gateway.toml"
        config.write_text("listen = '127.0.0.1:0'\ndata = 'data'\nlog = 'info'\n"
                          "[limits]\nrate = 1000000\nburst = 1000000\n")
        (folder / "schemathesis.toml").write_text(CHECKS)
        log = open(folder / "log", "w+")
        server = subprocess.Popen([regauge, "serve", "--config", config], stderr=log)
        failed = []
        try:
            address = wait(folder / "log", server)
            for part, paths in PARTS:
                print(f"schemathesis {VERSION}, the addresses of a token of the {part}", flush=True)
                command = [
                    schemathesis.resolve(), "run", f"{address}/openapi.json",
                    "--header", f"Authorization: Bearer {tokens[part]}",
                    "--include-path-regex", paths,
                    "--max-examples", str(arguments.examples),
                    "--seed", "1", "--request-timeout", "10", "--no-color",
                ]
                ran = subprocess.run(command, cwd=folder, env={**os.environ, "COLUMNS": "100"})
                if ran.returncode != 0:
                    failed.append(part)
            with urllib.request.urlopen(f"{address}/health", timeout=10) as answer:
                assert answer.status == 200
        finally:
            server.send_signal(signal.SIGTERM)
            status = server.wait(60)
            log.close()
        if status != 0:
            failed.append(f"the gateway ended with status {status}")
        lines = (folder / "log").read_text().splitlines()
        broken = [line for line in lines if json.loads(line)["fields"].get("status", 0) >= 500]
        for line in broken[:10]:
            print(line, file=sys.stderr)
        print(f"{len(lines)} lines of log, {len(broken)} of failures")
        if failed or broken:
            sys.exit(f"failed: {', '.join(failed) or 'the gateway answered with 5xx'}")


def wait(log, server):
    """Returns the address that the gateway reports."""
    for _ in range(200):
        found = re.search(r'"address":"(http://[^"]+)"', log.read_text())
        if found:
            return found.group(1)
        if server.poll() is not None:
            sys.exit(f"the gateway ended: {log.read_text()}")
        time.sleep(0.05)
    sys.exit("the gateway does not listen")


if __name__ == "__main__":
    main()
