#!/usr/bin/env python3
"""Runs the tests of the gem's JRuby backend, on JRuby.

    python3 tools/jruby_check.py --regauge target/debug/regauge

JRuby is the jar named by JRUBY_JAR, one that Maven has fetched before, or one that it fetches now.
Without Java, or without a jar, it says so and does nothing.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# 10 needs Java 21; this one runs on the 17 of Debian 12.
VERSION = "9.4.15.0"
ARTIFACT = f"org.jruby:jruby-complete:{VERSION}"


def skip(reason):
    """Exits successfully, with the reason."""
    print(f"skipped: {reason}")
    sys.exit(0)


def jar():
    """Returns the path of JRuby's jar."""
    if named := os.environ.get("JRUBY_JAR"):
        return pathlib.Path(named)
    fetched = pathlib.Path.home() / f".m2/repository/org/jruby/jruby-complete/{VERSION}/jruby-complete-{VERSION}.jar"
    if not fetched.exists():
        maven = shutil.which("mvn") or skip("no JRUBY_JAR, and no mvn that could fetch one")
        command = [maven, "--batch-mode", "--quiet", "dependency:get", f"-Dartifact={ARTIFACT}", "-Dtransitive=false"]
        if subprocess.run(command, cwd=ROOT / "tools", check=False).returncode or not fetched.exists():
            skip(f"Maven cannot fetch {ARTIFACT}")
    return fetched


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--regauge", default=ROOT / "target/debug/regauge", type=pathlib.Path)
    arguments = parser.parse_args()
    java = shutil.which("java") or skip("no Java")
    if not arguments.regauge.exists():
        sys.exit(f"found no {arguments.regauge}: build the command first")
    gem = ROOT / "bindings/ruby"
    environment = {**os.environ, "REGAUGE_COMMAND": str(arguments.regauge.resolve())}
    command = [java, "-jar", jar(), f"-I{gem / 'lib'}", gem / "test/front_check.rb"]
    sys.exit(subprocess.run([str(part) for part in command], env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
