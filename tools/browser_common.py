#!/usr/bin/env python3
"""Runs Chromium for the checks of pages: the report's, and the gateway's admin page.

    python3 tools/browser_common.py        installs playwright into build/browser

A check needs Chromium and the Python package playwright, which drives it and is used without its
own browsers. If one of them is missing, the check says so and does nothing.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / "build/browser"
PLAYWRIGHT = "playwright==1.65.2"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]

# Text with a contrast to its background below 4.5 to 1 (WCAG 2.2, 1.4.3).
CONTRAST = """() => {
  const parse = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const light = ([r, g, b]) => { const f = v => { v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; };
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const bad = new Set();
  for (const one of document.querySelectorAll('p, li, td, th, small, b, code, dt, dd, h1, h2, h3, a, button, label, span, summary, caption, figcaption, .tag, svg.chart text')) {
    if (!one.textContent.trim() || !one.getClientRects().length || one.closest('.unseen, .skip')) continue;
    const style = getComputedStyle(one);
    const front = parse(one.tagName === 'text' ? style.fill : style.color);
    let behind = null;
    for (let at = one; at && !behind; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour[3] > 0) behind = colour;
    }
    behind = behind || parse(getComputedStyle(document.body).backgroundColor);
    const [a, b] = [light(front), light(behind)];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.add(`${one.tagName} ${one.className.baseVal ?? one.className} ${ratio.toFixed(2)}: ${one.textContent.trim().slice(0, 30)}`);
  }
  return [...bad];
}"""


class Checks:
    """Counts the checks, and collects what they found."""

    def __init__(self):
        self.done = 0
        self.problems = []

    def that(self, holds, what):
        self.done += 1
        if not holds:
            self.problems.append(what)


def setup():
    """Installs playwright, unless it is there already."""
    if not (VENV / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
        subprocess.run([str(VENV / "bin/python"), "-m", "pip", "install", "--quiet", PLAYWRIGHT], check=True)


def look(name, act):
    """Calls `act` with a browser and a `Checks`; returns the exit status."""
    own = VENV / "bin/python"
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        if own.exists() and Path(sys.prefix).resolve() != VENV.resolve():
            os.execv(own, [str(own), *sys.argv])
        print("skipped: no playwright for Python (tools/browser_common.py gets it)")
        return 0
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        print("skipped: no Chromium")
        return 0
    checks = Checks()
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        act(browser, checks)
        browser.close()
    for problem in checks.problems:
        print(f"{name}: {problem}", file=sys.stderr)
    print(f"{name}: {checks.done - len(checks.problems)} of {checks.done} checks passed")
    return 1 if checks.problems else 0


if __name__ == "__main__":
    setup()
