#!/usr/bin/env python3
"""Opens the pages of the built site in headless Chromium, from its folder, in two widths and both themes: no page
is wider than its window or reports an error, nothing comes from elsewhere, and the search finds a word.

    python3 tools/site_page_check.py [--shots build/shots]

Its requirements are in `browser_common.py`; if they are missing it says so, and checks nothing.
"""

import argparse
import sys
from pathlib import Path

import browser_common
from browser_common import CONTRAST, ROOT

SITE = ROOT / "build/site"
SIZES = [(1280, 900), (390, 844)]
# A word, and a page that has to be among its first results.
SEARCHES = [("MARCspec", "query.html"), ("adopt", "store.html"), ("each_by_tag", "api/ruby/marc.html")]
SHOTS = ["index.html", "guides/index.html", "guides/json-library.html", "measure.html", "formats/index.html",
         "formats/matrix.html", "results/index.html", "speed.html", "api.html", "api/ruby/store.html",
         "api/python/regauge/json.html", "api/rust/regauge/index.html"]

# Elements that leave the window, and are not in a box that scrolls.
WIDE = """() => {
  const width = document.documentElement.clientWidth, bad = [];
  if (document.documentElement.scrollWidth <= width) return bad;
  for (const one of document.querySelectorAll('body *')) {
    const box = one.getBoundingClientRect();
    if (box.right > width + 1 && !one.children.length) bad.push(`${one.tagName} ${one.textContent.trim().slice(0, 40)}`);
  }
  return bad.length ? bad : ['the page'];
}"""


def shown():
    """Returns the pages to look at; one of rustdoc's is enough, and pdoc's first leads to another at once."""
    pages = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html"))]
    return [page for page in pages if page == "api/rust/regauge/index.html"
            or not page.startswith(("api/rust/", "api/python/index"))]


def search(checks, page, word, wanted, title):
    """Checks that a word is found, with its page among the first ten."""
    page.goto((SITE / "index.html").as_uri())
    box = page.locator("input.sidebar-search")
    if not box.is_visible():
        page.locator("label[for=__navigation]").first.click()
    box.fill(word)
    box.press("Enter")
    page.locator("ul.search li a").first.wait_for(timeout=10_000)
    found = page.locator("ul.search li a").evaluate_all("all => all.slice(0, 10).map(one => one.href)")
    checks.that(any(wanted in one for one in found), f"{title}: {word} finds {found[:3]}")


def look(checks, browser, size, theme, shots):
    """Looks at every page in a width and a theme."""
    title = f"{size[0]} wide, {theme}"
    page = browser.new_page(viewport={"width": size[0], "height": size[1]}, color_scheme=theme)
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(f"{page.url}: {error}"))
    page.on("console", lambda message: errors.append(f"{page.url}: {message.text}") if message.type == "error" else None)
    page.on("request", lambda request: asked.append(request.url))
    for name in shown():
        page.goto((SITE / name).as_uri())
        wide = page.evaluate(WIDE)
        checks.that(not wide, f"{title}: {name} is too wide: {wide[:2]}")
        if not name.startswith("api/rust/"):
            low = page.evaluate(CONTRAST)
            checks.that(not low, f"{title}: {name}: low contrast {low[:2]}")
        if shots and name in SHOTS:
            page.screenshot(path=shots / f"{name.replace('/', '-')[:-5]}-{size[0]}-{theme}.png")
    for word, wanted in SEARCHES:
        search(checks, page, word, wanted, title)
        if shots and word == SEARCHES[0][0]:
            page.screenshot(path=shots / f"search-{size[0]}-{theme}.png")
    strange = [url for url in asked if not url.startswith((SITE.as_uri(), "data:"))]
    checks.that(not errors, f"{title}: {errors[:3]}")
    checks.that(not strange, f"{title}: asked for {strange[:3]}")
    page.close()


def check(checks, browser, shots):
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    checks.that((SITE / "index.html").exists(), "there is no site: make site")
    for size in SIZES:
        for theme in ["light", "dark"]:
            look(checks, browser, size, theme, shots)


def main():
    parser = argparse.ArgumentParser(description="Looks at the documentation site.")
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    arguments = parser.parse_args()
    return browser_common.look("site_page_check", lambda browser, checks: check(checks, browser, arguments.shots))


if __name__ == "__main__":
    sys.exit(main())
