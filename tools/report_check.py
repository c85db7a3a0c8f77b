#!/usr/bin/env python3
"""Opens reports in headless Chromium and looks at what a reader would meet: errors, requests, page
width, sorting by mouse and keyboard, themes, contrast, labels that leave a chart or stand on each
other, printing. Reports are made by `regauge report` from the tests' results, as they are and with
hostile text in every place.

    python3 tools/report_check.py --regauge target/debug/regauge
    python3 tools/report_check.py --regauge target/debug/regauge --shots build/shots more.json

What it needs is in `browser_common.py`; where that is missing it says so, and checks nothing.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import browser_common
from browser_common import CONTRAST, ROOT

RESULTS = ROOT / "crates/regauge-report/tests/full.json"

HOSTILE = (
    "=</title></style></script><script>window.broken=1</script>\u202e\"'>"
    "<img src=x onerror=window.broken=1>&lt;]]><!-- -->"
)
FIXED = {"schema", "runtime", "gives", "outcome", "reach", "unit"}


def hostile(value, key=None):
    if isinstance(value, str):
        return value if key in FIXED else HOSTILE
    if isinstance(value, list):
        return [hostile(one, key) for one in value]
    if isinstance(value, dict):
        return {name: hostile(one, name) for name, one in value.items()}
    return value


# Labels that leave their chart, and pairs that stand on each other.
LABELS = """() => {
  const bad = [];
  for (const svg of document.querySelectorAll('svg.chart')) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const texts = [...svg.querySelectorAll('text')].map(one => [one.textContent.trim(), one.getBoundingClientRect()]);
    texts.forEach(([text, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
        bad.push(`"${text}" leaves its chart`);
      for (const [other, next] of texts.slice(index + 1)) {
        const wide = Math.min(box.right, next.right) - Math.max(box.left, next.left);
        const high = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
        if (wide > 1 && high > 4) bad.push(`"${text}" stands on "${other}"`);
      }
    });
  }
  return bad;
}"""


def open_page(browser, path, width, theme):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    seen = {"errors": [], "requests": []}
    page.on("console", lambda message: seen["errors"].append(message.text))
    page.on("pageerror", lambda error: seen["errors"].append(str(error)))
    page.on("dialog", lambda dialog: (seen["errors"].append("a dialog"), dialog.dismiss()))
    page.on("request", lambda request: seen["requests"].append(request.url))
    page.goto(path.as_uri())
    page.evaluate("document.fonts.ready")
    return page, seen


def quiet(checks, page, seen, path, name):
    checks.that(not seen["errors"], f"{name}: {seen['errors'][:3]}")
    # The fonts are in the page: their addresses hold their bytes.
    asked = [url for url in seen["requests"] if url != path.as_uri() and not url.startswith("data:")]
    checks.that(not asked, f"{name}: asked for {asked[:3]}")
    checks.that(page.evaluate("window.broken") is None, f"{name}: a script of the data ran")


def layout(checks, page, name):
    width = page.evaluate("document.documentElement.clientWidth")
    found = page.evaluate("document.documentElement.scrollWidth")
    checks.that(found <= width, f"{name}: the page is {found} wide on {width}")
    labels = page.evaluate(LABELS)
    checks.that(not labels, f"{name}: {len(labels)} labels, {labels[:4]}")
    wide = page.evaluate("innerWidth > 704")
    shown = page.locator("svg.chart.wide:visible").count()
    small = page.locator("svg.chart.narrow:visible").count()
    checks.that((shown > 0, small > 0) == (wide, not wide), f"{name}: {shown} wide, {small} narrow charts")


def sorting(checks, page, name):
    count = page.locator("#speed table").count()
    found = None
    for index in range(count):
        one = page.locator("#speed table").nth(index)
        heads = one.locator("thead th").all_inner_texts()
        if any(head.startswith("to best") for head in heads) and one.locator("tbody tr").count() > 4:
            found = one
            break
    checks.that(found is not None, f"{name}: no table of times")
    if found is None:
        return
    table = found
    column = next(i for i, head in enumerate(heads) if head.startswith("total"))
    button, head = table.locator("thead button").nth(column), table.locator("thead th").nth(column)

    def values():
        cells = table.locator(f"tbody tr > :nth-child({column + 1})")
        return cells.evaluate_all("all => all.map(one => 'none' in one.dataset ? null : Number(one.dataset.k))")

    def is_sorted(down):
        found = values()
        figures = [one for one in found if one is not None]
        empty_last = all(one is None for one in found[len(figures):])
        return empty_last and len(figures) > 3 and figures == sorted(figures, reverse=down)

    table.locator("thead button").nth(0).click()
    names = table.locator("tbody th").evaluate_all("all => all.map(one => one.textContent.toLowerCase())")
    checks.that(names == sorted(names), f"{name}: names are not sorted by a click: {names}")
    button.click()
    checks.that(head.get_attribute("aria-sort") == "ascending" and is_sorted(False), f"{name}: a click does not sort up: {values()}")
    button.click()
    checks.that(head.get_attribute("aria-sort") == "descending" and is_sorted(True), f"{name}: a second click does not sort down: {values()}")
    sorts = table.locator("thead th").evaluate_all("all => all.map(one => one.getAttribute('aria-sort'))")
    checks.that(sum(one != "none" for one in sorts) == 1, f"{name}: more than one column says it is sorted")
    button.focus()
    page.keyboard.press("Enter")
    checks.that(is_sorted(False), f"{name}: Enter does not sort")
    page.keyboard.press("Space")
    checks.that(is_sorted(True), f"{name}: the space bar does not sort")
    page.keyboard.press("Tab")
    here = page.evaluate("document.activeElement.textContent")
    checks.that(here.startswith("to best"), f"{name}: after a head comes {here!r}")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    checks.that(outline == "solid", f"{name}: the focus is not seen")
    said = page.locator("#said").inner_text()
    checks.that(said == "Sorted by total, descending", f"{name}: said {said!r}")


def keyboard(checks, page, name):
    page.keyboard.press("Tab")
    box = page.locator(".skip").bounding_box()
    checks.that(box and box["x"] >= 0, f"{name}: the first Tab does not show the way past the head")
    page.keyboard.press("Enter")
    here = page.evaluate("document.activeElement.id")
    checks.that(here == "summary", f"{name}: the skip link leads to {here!r}")
    box = page.locator(".box").first
    box.focus()
    checks.that(box.evaluate("one => one === document.activeElement"), f"{name}: a table's box takes no focus")


def themes(checks, page, name):
    ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    fill = lambda: page.evaluate("getComputedStyle(document.querySelector('svg.chart rect')).fill")
    grounds, fills = [], []
    for label in ["Theme: light", "Theme: dark", "Theme: as the system"]:
        page.locator("#theme").click()
        checks.that(page.locator("#theme").inner_text() == label, f"{name}: the theme does not become {label}")
        grounds.append(ground())
        fills.append(fill())
        low = page.evaluate(CONTRAST)
        checks.that(not low, f"{name}, {label}: low contrast {low[:4]}")
    checks.that(len(set(grounds[:2])) == 2 and len(set(fills[:2])) == 2, f"{name}: light and dark are the same")
    checks.that(grounds[2] in grounds[:2], f"{name}: the system's theme is none of both")
    stored = page.evaluate("(() => { try { return localStorage.length + document.cookie.length } catch { return 0 } })()")
    checks.that(stored == 0, f"{name}: something is stored")
    return grounds


def printing(checks, page, name):
    page.emulate_media(media="print")
    hidden = page.evaluate("[...document.querySelectorAll('.box')].filter(one => one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflowY !== 'visible').length")
    checks.that(hidden == 0, f"{name}: {hidden} tables are cut on paper")
    checks.that(page.locator("nav:visible, #theme:visible").count() == 0, f"{name}: buttons on paper")
    pdf = page.pdf(format="A4")
    checks.that(pdf.startswith(b"%PDF") and len(pdf) > 50_000, f"{name}: no paper")
    page.emulate_media(media="screen")
    return pdf


def command(checks, regauge, results, folder):
    """What the command does with the folder."""
    run = lambda *words: subprocess.run([regauge, "report", str(results), "--out", str(folder), *words], capture_output=True, text=True)
    done = run()
    checks.that(done.returncode == 0 and done.stdout.strip() == str(folder / "report.html"), f"regauge report: {done.stdout}{done.stderr}")
    again = run()
    checks.that(again.returncode == 2 and "--force" in again.stderr, f"a report is replaced unasked: {again.stderr}")
    checks.that(run("--force").returncode == 0, "--force does not replace a report")
    mine = folder / "mine.txt"
    mine.write_text("mine")
    kept = run("--force")
    checks.that(kept.returncode == 2 and mine.exists(), f"--force replaces more than a report: {kept.stderr}")
    mine.unlink()


def check(checks, regauge, browser, more, shots):
    with tempfile.TemporaryDirectory() as name:
        temporary = Path(name).resolve()
        results = {"full": RESULTS, "hostile": temporary / "hostile.json"}
        results["hostile"].write_text(json.dumps(hostile(json.loads(RESULTS.read_text()))))
        results.update({Path(one).stem: Path(one) for one in more})
        for name, path in results.items():
            folder = temporary / name
            command(checks, regauge, path, folder)
            page_path = folder / "report.html"
            if not page_path.exists():
                continue
            for width, theme in [(1280, "light"), (390, "dark")]:
                title = f"{name}, {width} wide, {theme}"
                page, seen = open_page(browser, page_path, width, theme)
                if name == "full":
                    keyboard(checks, page, title)
                layout(checks, page, title)
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=shots / f"{name}-{width}-{theme}.png", full_page=True)
                if name == "full":
                    sorting(checks, page, title)
                themes(checks, page, title)
                pdf = printing(checks, page, title)
                if shots:
                    (shots / f"{name}-{width}.pdf").write_bytes(pdf)
                quiet(checks, page, seen, page_path, title)
                page.close()


def main():
    parser = argparse.ArgumentParser(description="Looks at reports in a browser.")
    parser.add_argument("--regauge", default="target/debug/regauge")
    parser.add_argument("--shots", type=Path, help="a folder for pictures and PDF")
    parser.add_argument("more", nargs="*", help="other results to look at")
    arguments = parser.parse_args()
    regauge = str(Path(arguments.regauge).resolve())
    return browser_common.look(
        "report_check",
        lambda browser, checks: check(checks, regauge, browser, arguments.more, arguments.shots))


if __name__ == "__main__":
    sys.exit(main())
