#!/usr/bin/env python3
"""Follows the guides that need a cache, with real Rails and Django: every command runs, in the order of its page, and
prints what the page shows. The settings for graphical clients are used as these clients use them.

    python3 tools/cache_servers.py run --only redis -- python3 tools/cache_guides_check.py path/to/regauge

The rules are those of crates/regauge-cli/tests/guides.rs: in an output, `…` stands for any text, and a line of it alone
for any lines. The pages' redis://localhost:6379 is the server of REGAUGE_TEST_REDIS, whose database 0 must be empty.
`--show` prints what the commands print instead of comparing it.
"""

import argparse
import base64
import functools
import os
import pickle
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import cache_apps
from migrate_check import Client

GUIDES = Path(__file__).resolve().parent.parent / "docs/guides"
ADDRESS = "redis://localhost:6379"
CORPUS = GUIDES.parent.parent / "corpus/envelopes"
CLIENTS = "redis-clients.md"
PAGES = {"leave-marshal.md": ("rails",), "leave-pickle.md": ("django",)}


def steps(text):
    """Yields the steps of a page: a file with its content, or a command with the lines that it prints."""
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.S | re.M):
        name = re.match(r"# (\S+\.\w+)\n", block)
        if language in ("python", "ruby") and name:
            yield "write", name[1], block
        elif language == "console":
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                lines = part.splitlines()
                command = [lines.pop(0)]
                while command[-1].endswith("\\"):
                    command.append(lines.pop(0))
                yield "run", "\n".join(command), lines
        elif language != "text":
            raise ValueError(f"a block marked {language} that nothing runs: {block[:60]}")


def is_as_shown(shown, printed):
    """Returns whether lines are as shown, where a line `…` stands for any lines."""
    if not shown:
        return not printed
    if shown[0] == "…":
        return any(is_as_shown(shown[1:], printed[at:]) for at in range(len(printed) + 1))
    wanted = ".*".join(re.escape(part) for part in shown[0].split("…"))
    is_like = bool(printed) and re.fullmatch(wanted, printed[0].rstrip()) is not None
    return is_like and is_as_shown(shown[1:], printed[1:])


def environment(regauge, needs):
    """Returns the environment in which the commands of a page run."""
    found, paths = dict(os.environ), [str(Path(regauge).resolve().parent)]
    if "rails" in needs:
        found |= cache_apps.rails()[0]
    if "django" in needs:
        paths.insert(0, str(Path(cache_apps.django()[0]).parent))
    return found | {"PATH": os.pathsep.join([*paths, os.environ["PATH"]])}


def follow(page, variables, url, show):
    """Follows a page. Returns what went wrong, or nothing."""
    text = (GUIDES / page).read_text().replace(ADDRESS, url)
    ran = 0
    with tempfile.TemporaryDirectory() as folder:
        for what, name, content in steps(text):
            if what == "write":
                Path(folder, name).write_text(content)
                continue
            done = subprocess.run(["sh", "-c", f"exec 2>&1\n{name}"], cwd=folder, env=variables, text=True,
                                  stdout=subprocess.PIPE, timeout=120)
            ran += 1
            if show:
                print(f"$ {name}\n{done.stdout}", end="")
                continue
            is_error = any(line.startswith("regauge: ") for line in content)
            if not is_as_shown(content, done.stdout.splitlines()) or done.returncode and not is_error:
                shown = "\n".join(content)
                said = f"{page}: `{name}` ended with {done.returncode} and printed"
                return f"{said}\n{done.stdout}\nthe page shows\n{shown}"
    return None if ran else f"{page} runs nothing"


def settings(page, client):
    """Returns the settings of a client on the page, as pairs of name and value."""
    block = re.search(rf"^```text\n{client}\n(.*?)^```$", page, re.S | re.M)[1]
    return [re.match(r"(.*?) {2,}(.*)", line).groups() for line in block.splitlines()]


def tiny_rdm(given, value, run):
    """Decodes a value as cmd_convert.go of Tiny RDM does. Returns None if the client would show it as it is."""
    encoded = base64.b64encode(value).decode()
    path, *arguments = [text for _, text in given]
    assert any("{VALUE}" in argument for argument in arguments)
    done = run([path, *(argument.strip().replace("{VALUE}", encoded) for argument in arguments)])
    return base64.b64decode(done.stdout) if done.returncode == 0 and done.stdout else None


def ardm(given, value, run):
    """Decodes a value as ViewerCustom.vue of Another Redis Desktop Manager does. Returns None if it shows an error."""
    digits = value.hex()
    command = f'"{given[0][1]}" {given[1][1]}'
    with tempfile.TemporaryDirectory() as folder:
        if len(digits) > 8000:
            path = Path(folder, "ardm_cv_6b6579")
            path.write_text(digits)
            command = command.replace("{HEX_FILE}", str(path), 1)
            command = command.replace("{HEX}", "<Content Too Long, Use {HEX_FILE} Instead!>", 1)
        else:
            command = command.replace("{HEX}", digits, 1).replace("{HEX_FILE}", "<Use {HEX} Instead!>", 1)
        done = run(["/bin/sh", "-c", command])
    # It takes whatever is on standard error for a failure.
    return done.stdout if done.returncode == 0 and not done.stderr else None


def decode(regauge):
    """Lets both clients show every value of the corpus, and a large one. Returns what is wrong, or nothing."""
    page = (GUIDES / CLIENTS).read_text()
    paths = os.pathsep.join([str(Path(regauge).resolve().parent), os.environ["PATH"]])
    files = sorted(path for path in CORPUS.glob("*/*") if path.name != "expected.json")
    large = pickle.dumps({"name": "Ada", "text": "long " * 10_000}, 4)
    values = [path.read_bytes() for path in files] + [large, b"\xff not known"]
    # Without the secret, neither the command nor a client can show these.
    sealed = {path.read_bytes() for path in files if "encrypted" in path.name or "cbc-" in path.name}
    told = asked = 0
    for client, act in (("tiny-rdm", tiny_rdm), ("ardm", ardm)):
        given = settings(page, client)
        for is_inspecting in (False, True):
            said, options = "convert -q - -", " --to json --objects data --on-loss wrap"
            words = given
            if is_inspecting:
                words = [(name, text.replace(said, "inspect -").replace(options, "")) for name, text in given]
            assert is_inspecting is (words != given), client
            for value in values[::5] if is_inspecting else values:
                run = functools.partial(subprocess.run, capture_output=True, env={**os.environ, "PATH": paths})
                # An encoded value is held in memory, so `inspect` can say more of it than of a pipe.
                own = run([regauge, "inspect", "-", "--input-encoding", "hex"], input=value.hex().encode()) \
                    if is_inspecting else run([regauge, *(said + options).split()], input=value)
                expected = own.stdout if own.returncode == 0 else None
                found = act(words, value, run)
                # The clients strip it, or show it in a field.
                if found is not None and expected is not None:
                    found, expected = found.strip(), expected.strip()
                if found != expected:
                    return f"{CLIENTS}: {client} shows {found!r:.300}, expected {expected!r:.300}"
                if value in sealed:
                    if found is not None and not is_inspecting:
                        return f"{CLIENTS}: {client} shows {found!r:.300} of an encrypted value"
                    continue
                told, asked = told + (found is not None), asked + 1
    print(f"{CLIENTS}: two clients show {told} of {asked} values")
    return None if told > 0.9 * asked else f"{CLIENTS}: only {told} of {asked} values are shown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("regauge")
    parser.add_argument("--only", choices=[*PAGES, CLIENTS])
    parser.add_argument("--require", action="append", default=[], choices=["rails", "django"])
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    if arguments.only in (None, CLIENTS) and (wrong := decode(arguments.regauge)):
        sys.exit(wrong)
    url = os.environ.get("REGAUGE_TEST_REDIS")
    if url is None:
        print("skipped: no redis")
        return
    client = Client(url)
    assert is_as_shown(["a …", "…"], ["a b", "c"]) and not is_as_shown(["a …"], ["b"])
    for page, needs in PAGES.items():
        if arguments.only not in (None, page):
            continue
        if client.one("DBSIZE"):
            sys.exit("the database is not empty")
        try:
            variables = environment(arguments.regauge, needs)
        except cache_apps.Missing as why:
            if set(needs) & set(arguments.require):
                sys.exit(f"{page}: {why}")
            print(f"skipped: {page}: {why}")
            continue
        wrong = follow(page, variables, url, arguments.show)
        client.one("FLUSHDB")
        if wrong:
            sys.exit(wrong)
        print(f"{page}: every command printed what the page shows")


if __name__ == "__main__":
    main()
