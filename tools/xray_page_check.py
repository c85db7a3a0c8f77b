#!/usr/bin/env python3
"""Opens the page of `regauge xray --out` in headless Chromium, and checks what a reader would see: the advice on the
first screen, the details folded, no requests, nothing cut off or broken inside a word, both themes, printing. The
pages are made from a dump with values of several frameworks, one whose keys hold HTML and control characters, one
without keys, and one key in two.

    python3 tools/xray_page_check.py --regauge target/debug/regauge
    python3 tools/xray_page_check.py --regauge target/debug/regauge --shots build/shots dump.rdb

Its requirements are in `browser_common.py`; if they are missing it says so, and checks nothing.
"""

import argparse
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import browser_common
from browser_common import ROOT
from report_check import CELLS, HOSTILE, layout, open_page, printing, quiet, themes

CORPUS = ROOT / "corpus/envelopes"


def dump(keys):
    """Returns a dump of these keys and values: version 3, which has no checksum."""
    parts = [b"REDIS0003\xfe\x00"]
    for key, value in keys:
        parts.append(b"\x00")
        for part in (key, value):
            parts.append(b"\x80" + struct.pack(">I", len(part)) + part)
    return b"".join([*parts, b"\xff"])


def mixed(mark=b""):
    """Returns keys of several frameworks, each with `mark` in its name."""
    rails = (CORPUS / "rails-7.1.6/7.1-hash.bin").read_bytes()
    django = (CORPUS / "django-5.2.19/session-dict.txt").read_bytes()
    keys = []
    for n in range(40):
        keys.append((b"views/%sproducts/%d-20261126" % (mark, n), rails))
        keys.append((b"%s:1:session:%032x" % (mark, n), django))
        keys.append((b"%suser:%d:cart" % (mark, n), b"\x04\x08o:\x08Foo\x06:\x0b@itemsi\x06"))
        keys.append((b"%slist:%d" % (mark, n), b'{"list": [1, 2.5, null], "name": "a name that is repeated"}'))
        keys.append((b"%shits:%d" % (mark, n), b"%d" % n))
    keys += [(b"%sgroup%c:x" % (mark, letter), b"text " * letter) for letter in range(103, 123)]
    keys.append((mark + b"evil", b"cos\nsystem\n(S'id'\ntR."))
    keys.append((mark + b"odd\x00\xff\x1b[31m", b"\xfe\xfe\x00\xff\x01" + mark))
    return keys


def first_screen(checks, page, name, is_empty):
    """Checks that the answer comes first, and that details are folded."""
    first = page.evaluate("document.querySelector('main section').id")
    checks.that(first == "summary", f"{name}: the first part is {first!r}")
    box = page.locator("#summary .lead").bounding_box()
    checks.that(box and box["y"] < 900, f"{name}: the first screen does not show the answer: {box}")
    checks.that(page.locator("details[open]").count() == 0, f"{name}: parts are unfolded")
    cards = page.locator("#summary .cards li").count()
    checks.that((cards == 0) == is_empty, f"{name}: {cards} pieces of advice")
    last = page.evaluate("[...document.querySelectorAll('main > section')].at(-1).id")
    checks.that(last == "limits", f"{name}: the page ends with {last!r}")


def look(checks, browser, path, name, shots):
    is_empty = name == "empty"
    for width, theme in [(1280, "light"), (1280, "dark"), (400, "light"), (400, "dark")]:
        title = f"{name}, {width} wide, {theme}"
        page, seen = open_page(browser, path, width, theme)
        first_screen(checks, page, title, is_empty)
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=shots / f"{name}-{width}-{theme}.png", full_page=True)
        for part in page.locator("details").all():
            part.evaluate("one => one.open = true")
        found = page.evaluate(CELLS)
        checks.that(not found, f"{title}: {len(found)} cells, {found[:5]}")
        if shots:
            page.screenshot(path=shots / f"{name}-{width}-{theme}-unfolded.png", full_page=True)
        if not is_empty:
            layout(checks, page, title)
            themes(checks, page, title)
            printing(checks, page, title)
        quiet(checks, page, seen, path, title)
        page.close()


def check(checks, regauge, browser, more, shots):
    hostile = HOSTILE.encode().replace(b":", b"").replace(b"/", b"")
    dumps = {"mixed": (mixed(), []), "hostile": (mixed(hostile), []), "empty": ([], []), "sampled": (mixed(), ["--one-in", "2"])}
    with tempfile.TemporaryDirectory() as folder:
        sources = {}
        for name, (keys, options) in dumps.items():
            path = Path(folder).resolve() / f"{name}.rdb"
            path.write_bytes(dump(keys))
            sources[name] = (path, options)
        sources.update({Path(one).stem: (Path(one).resolve(), ["--time"]) for one in more})
        for name, (source, options) in sources.items():
            out = Path(folder).resolve() / f"{name}.html"
            done = subprocess.run([regauge, "xray", source, "--out", out, *options], capture_output=True, text=True)
            checks.that(done.returncode == 0 and done.stdout.endswith(f"\nPage: {out}\n"), f"{name}: {done.stdout[-80:]}{done.stderr}")
            if out.exists():
                look(checks, browser, out, name, shots)


def main():
    parser = argparse.ArgumentParser(description="Looks at pages of `regauge xray` in a browser.")
    parser.add_argument("--regauge", default="target/debug/regauge")
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    parser.add_argument("more", nargs="*", help="other dumps to look at, with --time")
    arguments = parser.parse_args()
    regauge = str(Path(arguments.regauge).resolve())
    return browser_common.look(
        "xray_page_check",
        lambda browser, checks: check(checks, regauge, browser, arguments.more, arguments.shots))


if __name__ == "__main__":
    sys.exit(main())
