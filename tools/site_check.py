#!/usr/bin/env python3
"""Checks every link of the built site: that its page exists, and its anchor in it; that nothing is loaded from
another host. Asks no network; links to other hosts are counted. The links in rustdoc's own pages are left to
rustdoc, which `make test` lets fail for a broken one.

    python3 tools/site_check.py [build/site]
"""

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
# What a browser loads by itself.
LOADED = {"img", "script", "link", "iframe", "source", "use", "image"}
RUST = Path("api/rust")
SHOWN = 50


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(value for name in ("id", "name") if (value := found.get(name)))
        for name in ("href", "src", "xlink:href"):
            if found.get(name) is not None:
                loads = tag in LOADED and found.get("rel") not in ("canonical", "next", "prev", "search")
                self.links.append((found[name], loads, self.getpos()[0]))


def target(path, link):
    """Returns the file that a link of a page leads to."""
    place = unquote(urlsplit(link).path)
    found = Path(os.path.normpath(path.parent / place)) if place else path
    return found / "index.html" if found.is_dir() else found


def problems(path, pages, counts):
    """Yields what is wrong with the links of a page."""
    for link, loads, line in pages[path].links:
        parts = urlsplit(link)
        if parts.scheme in ("data", "javascript", "mailto"):
            continue
        if parts.scheme or parts.netloc:
            counts["outside"] += 1
            if loads:
                yield line, f"loads {link} from another host"
            continue
        counts["inside"] += 1
        to = target(path, link)
        anchor = parts.fragment
        if not to.is_file():
            yield line, f"no page at {link}"
        elif anchor and to in pages and not pages[to].anchors & {anchor, unquote(anchor)}:
            yield line, f"no anchor at {link}"


def main():
    site = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/site").resolve()
    pages = {path: Page(path) for path in sorted(site.rglob("*.html"))}
    counts = {"inside": 0, "outside": 0}
    found = [f"{path.relative_to(site)}:{line}: {what}"
             for path in pages if RUST not in path.relative_to(site).parents
             for line, what in problems(path, pages, counts)]
    for problem in found[:SHOWN]:
        print(f"site_check: {problem}", file=sys.stderr)
    if len(found) > SHOWN:
        print(f"site_check: and {len(found) - SHOWN} more", file=sys.stderr)
    print(f"site_check: {len(pages)} pages, {counts['inside']} links within the site and {counts['outside']} to "
          f"others, {len(found)} broken")
    return 1 if found or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
