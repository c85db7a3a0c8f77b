#!/usr/bin/env python3
"""Opens reports in headless Chromium and checks what a reader would see: the answer first and the
rest folded, errors, requests, page width, cells that are truncated, broken inside a word or in a
scrolling box, sorting by mouse and keyboard, themes, contrast, labels that leave a chart or
overlap, printing. Reports are created by `regauge report` from the tests' results: unchanged,
without the task, of an interrupted run, and with hostile text in every place.

    python3 tools/report_check.py --regauge target/debug/regauge
    python3 tools/report_check.py --regauge target/debug/regauge --shots build/shots more.json

Its requirements are in `browser_common.py`; if they are missing it says so, and checks nothing.
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
FIXED = {"schema", "runtime", "gives", "outcome", "reach", "unit", "purpose"}


def hostile(value, key=None):
    if isinstance(value, str):
        return value if key in FIXED else HOSTILE
    if isinstance(value, list):
        return [hostile(one, key) for one in value]
    if isinstance(value, dict):
        return {name: hostile(one, name) for name, one in value.items()}
    return value


# Labels outside their chart, and overlapping pairs.
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


# Cells that are truncated, in a scrolling box, or break a word; code and long names may break.
CELLS = """() => {
  const bad = new Set();
  const name = cell => cell.textContent.trim().slice(0, 40);
  for (const cell of document.querySelectorAll('td, th')) {
    const box = cell.getBoundingClientRect();
    if (!cell.getClientRects().length || !box.width) continue;
    if (box.left < -1 || box.right > document.documentElement.clientWidth + 1) bad.add(`"${name(cell)}" leaves the page`);
    if (cell.scrollWidth > cell.clientWidth + 1) bad.add(`"${name(cell)}" is cut off`);
    for (let at = cell; at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (/auto|scroll/.test(style.overflowX + style.overflowY)) bad.add(`"${name(cell)}" is in a box that scrolls`);
    }
    if (cell.matches('.long, :has(code)')) continue;
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      for (const word of texts.currentNode.data.matchAll(/[\\p{L}\\p{N}_.]+/gu)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(one => Math.round(one.top)));
        if (lines.size > 1) bad.add(`"${word[0]}" is broken`);
      }
    }
  }
  return [...bad];
}"""

# Tables of times in which a size precedes decode and encode, in the visible order.
SIZE_FIRST = """() => [...document.querySelectorAll('#speed table')].filter(table => {
  const labels = [...table.tBodies[0].rows[0].cells].map(cell => cell.dataset.l);
  const [decode, encode, size] = ['decode', 'encode', 'size'].map(one => labels.indexOf(one));
  return decode >= 0 && size >= 0 && (size < decode || size < encode);
}).length"""


def first_screen(checks, page, results, name):
    """Checks the answer, the headline chart, and that nothing else is unfolded."""
    report = json.loads(results.read_text())
    place = "#task" if report["task"] else "#summary"
    table = page.locator(f"{place} table").first
    box = table.bounding_box()
    checks.that(box and box["y"] < 900, f"{name}: the first screen does not show the answer: {box}")
    first = page.evaluate("document.querySelector('main table').closest('section').id")
    checks.that(f"#{first}" == place, f"{name}: the first table is in {first!r}")
    open_parts = page.locator("details[open]").count()
    checks.that(open_parts == 0, f"{name}: {open_parts} parts are unfolded")
    charts = page.locator("main > section:not(#task) svg.chart:visible").count()
    checks.that(charts == 1, f"{name}: {charts} headline charts")
    if report["verdict"] and report["verdict"]["fields"]:
        answer = page.locator("table.answer").inner_text()
        checks.that(" timed" in answer, f"{name}: the answer does not say how many were timed")
        undecided = [one for one in report["verdict"]["fields"] if one["usual_timed"] < one["usual"]]
        checks.that(answer.count("No answer") >= len(undecided), f"{name}: a winner without its field")
    last = page.evaluate("[...document.querySelectorAll('main > section')].at(-1).id")
    checks.that(last == "unranked" or not report["missing"], f"{name}: the page ends with {last!r}")


def unfold(checks, page, name):
    """Opens a part through its link in the list, and all others."""
    page.locator("nav a[href='#speed']").click()
    page.wait_for_timeout(50)
    opened = page.evaluate("document.querySelector('#speed > details').open")
    checks.that(opened, f"{name}: the link to a part does not unfold it")
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")


def cells(checks, page, name):
    found = page.evaluate(CELLS)
    checks.that(not found, f"{name}: {len(found)} cells, {found[:5]}")
    checks.that(page.evaluate(SIZE_FIRST) == 0, f"{name}: a size stands before decode and encode")


def variants(report):
    """Returns the tests' results unchanged, without the task, and of an interrupted run."""
    plain = {**report, "task": None}
    stopped = json.loads(json.dumps(plain))
    stopped["interrupted"] = True
    stopped["costs"] = None
    for row in stopped["rows"][::2]:
        row["timing"] = None
    for field in stopped["verdict"]["fields"]:
        group = [row for row in stopped["rows"] if row["runtime"] == field["runtime"]
                 and row["gives"] == field["gives"]]
        open_ones = [row["contender"] for row in group if row["timing"] is None]
        field.update(found=len(group), timed=len(group) - len(open_ones), usual_timed=field["usual"] - 1)
        field["not_timed"] = [{"contender": name, "usual": True, "why": "the budget ran out", "is_ruled_out": False} for name in open_ones]
    return {"full": report, "plain": plain, "stopped": stopped, "hostile": hostile(report)}


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
    # The fonts are embedded: their addresses contain their bytes.
    asked = [url for url in seen["requests"] if url != path.as_uri() and not url.startswith("data:")]
    checks.that(not asked, f"{name}: asked for {asked[:3]}")
    checks.that(page.evaluate("window.broken") is None, f"{name}: a script of the data ran")


def layout(checks, page, name):
    width = page.evaluate("document.documentElement.clientWidth")
    found = page.evaluate("document.documentElement.scrollWidth")
    checks.that(found <= width, f"{name}: the page is {found} wide on {width}")
    parts = page.evaluate("document.querySelector('nav ul').scrollWidth - document.querySelector('nav ul').clientWidth")
    checks.that(parts <= 0, f"{name}: the list of parts is {parts} wider than the page")
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
        if any(head.startswith("vs best") for head in heads) and one.locator("tbody tr").count() > 4:
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
    checks.that(here.startswith("vs best"), f"{name}: after a head comes {here!r}")
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
    part = page.locator("details.part > summary").first
    part.focus()
    page.keyboard.press("Enter")
    checks.that(part.evaluate("one => one.parentElement.open"), f"{name}: Enter does not unfold a part")
    page.keyboard.press("Enter")


def themes(checks, page, name):
    ground = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
    fill = lambda: page.evaluate("getComputedStyle(document.querySelector('svg.chart rect')).fill")
    grounds, fills = [], []
    for label in ["Theme: light", "Theme: dark", "Theme: system"]:
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
    """Checks what the command does with the folder."""
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
        results = {}
        for name, report in variants(json.loads(RESULTS.read_text())).items():
            results[name] = temporary / f"{name}.json"
            results[name].write_text(json.dumps(report))
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
                first_screen(checks, page, path, title)
                layout(checks, page, title)
                if shots:
                    shots.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=shots / f"{name}-{width}-{theme}.png", full_page=True)
                unfold(checks, page, title)
                layout(checks, page, f"{title}, unfolded")
                cells(checks, page, title)
                if shots:
                    page.screenshot(path=shots / f"{name}-{width}-{theme}-unfolded.png", full_page=True)
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
