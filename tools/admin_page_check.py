#!/usr/bin/env python3
"""Checks the gateway's admin page in headless Chromium, against a running gateway: tenants, sizes,
rates and errors as reported by the gateway's own API, the effect of its buttons, and that the token
is stored nowhere.

    python3 tools/admin_page_check.py --regauge target/debug/regauge [--shots build/shots]

Its requirements are in `browser_common.py`; if they are missing it says so, and checks nothing.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

import browser_common
from browser_common import CONTRAST
from gateway_check import wait

# More than a page of the table.
TENANTS = [f"tenant-{number:03}" for number in range(105)]
STORED = """() => { try { return localStorage.length + sessionStorage.length + document.cookie.length } catch { return 0 } }"""


class Gateway:
    """A gateway with its own data, and an admin token for it."""

    def __init__(self, regauge, folder):
        self.regauge, self.folder = regauge, folder
        self.token = self.command("token", "create")
        config = folder / "gateway.toml"
        config.write_text("listen = '127.0.0.1:0'\ndata = 'data'\nlog = 'info'\n")
        self.log = open(folder / "log", "w+")
        self.server = subprocess.Popen([regauge, "serve", "--config", config], stderr=self.log)
        self.address = wait(folder / "log", self.server)

    def command(self, *words):
        command = [self.regauge, "store", "tenants", "--data", self.folder / "data", *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def ask(self, method, path, token=None, body=None):
        """Returns the status and the document of an answer."""
        request = urllib.request.Request(self.address + path, method=method, data=body)
        request.add_header("Authorization", f"Bearer {token or self.token}")
        for name in ["Content-Type", "Accept"]:
            request.add_header(name, "application/json")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                text = answer.read()
                return answer.status, json.loads(text) if text else None
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def stop(self):
        self.server.send_signal(signal.SIGTERM)
        status = self.server.wait(60)
        self.log.close()
        return status


def fill(gateway):
    """Creates tenants; the first gets values, requests and two errors. Returns its token."""
    for name in TENANTS:
        status, _ = gateway.ask("POST", "/v1/admin/tenants", body=json.dumps({"id": name}).encode())
        assert status == 201, status
    path = f"/v1/admin/tenants/{TENANTS[0]}/tokens"
    _, made = gateway.ask("POST", path, body=b'{"scopes": ["read", "write"]}')
    token = made["token"]
    for number in range(7):
        value = json.dumps({"number": number, "text": "x" * 1000}).encode()
        status, _ = gateway.ask("PUT", f"/v1/objects/k{number}", token, value)
        assert status == 201, status
    assert gateway.ask("GET", "/v1/objects/absent", token)[0] == 404
    assert gateway.ask("PUT", "/v1/objects/broken", token, b"{]")[0] == 400
    return token


def row(page, name):
    """Returns the cells of a tenant, by column heading."""
    heads = page.locator("#main table").first.locator("thead th").all_inner_texts()
    line = page.locator("#tenants tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return dict(zip(heads, line.locator("th, td").all_inner_texts()))


def said(page, text):
    """Waits until the page shows this message."""
    page.locator("#said", has_text=text).wait_for(timeout=5_000)


def tables(checks, gateway, page, token):
    """Checks the tables against the API."""
    checks.that(page.locator("#tenants tr").count() == 100, "the first page has no 100 tenants")
    page.locator("#more").click()
    page.locator("#tenants tr").nth(len(TENANTS) - 1).wait_for(timeout=5_000)
    names = page.locator("#tenants th").all_inner_texts()
    checks.that(names == TENANTS, f"the tenants are others: {names[:3]}")
    checks.that(page.locator("#more").is_hidden(), "there are more tenants than all")
    _, told = gateway.ask("GET", "/v1/admin/tenants?limit=1")
    first, shown = told["tenants"][0], row(page, TENANTS[0])
    kilobytes = f"{first['file_bytes'] / 1000:.1f} KB"
    checks.that(shown["File"] == kilobytes and first["file_bytes"] > 7_000, f"the size is {shown['File']}, not {kilobytes}")
    rate = first["requests_last_minute"]
    checks.that(rate >= 9 and shown["Requests/min"] == str(rate), f"the rate is {shown['Requests/min']}, not {rate}")
    checks.that((shown["State"], shown["Place"], shown["Codec"]) == ("active", first["place"], first["codec"]), f"{shown}")
    page.get_by_role("button", name=f"Count the values of {TENANTS[0]}", exact=True).click()
    said(page, f"Counted {TENANTS[0]}")
    checks.that(row(page, TENANTS[0])["Values"].startswith("7 ("), f"counted {row(page, TENANTS[0])['Values']}")
    _, told = gateway.ask("GET", "/v1/admin/errors")
    lines = page.locator("#errors tr").all()
    found = [line.locator("td").all_inner_texts() for line in lines]
    wanted = [[one["tenant"], str(one["status"]), one["kind"], f"{one['method']} {one['route']}", one["request"]] for one in told["errors"]]
    checks.that([line[1:] for line in found] == wanted and len(found) == 2, f"the errors are {found}")
    checks.that([line[2] for line in found] == ["400", "404"], "the last error does not come first")
    checks.that(token not in page.content(), "a tenant's token is on the page")


def buttons(checks, gateway, page, token):
    """Checks the effect of the buttons on the tenants' own requests."""
    name = TENANTS[0]
    page.get_by_role("button", name=f"Suspend {name}", exact=True).click()
    said(page, "is suspended")
    checks.that(row(page, name)["State"] == "suspended", "the table does not show that a tenant is suspended")
    checks.that(gateway.ask("GET", "/v1/objects/k1", token)[0] == 403, "a suspended tenant reads")
    page.get_by_role("button", name=f"Resume {name}", exact=True).click()
    said(page, "is active again")
    checks.that(gateway.ask("GET", "/v1/objects/k1", token)[0] == 200, "a tenant that was resumed does not read")
    page.get_by_role("button", name=f"New token for {name}", exact=True).click()
    said(page, "Shown once")
    made = page.locator("#said").inner_text().rsplit(" ", 1)[1]
    checks.that(gateway.ask("GET", "/v1/objects/k1", made)[0] == 200, "the new token does not read")
    page.locator("#id").fill("from-the-page")
    page.locator("#id").press("Enter")
    said(page, "Created tenant from-the-page")
    checks.that(gateway.ask("GET", "/v1/admin/tenants/from-the-page")[0] == 200, "the page made no tenant")
    page.locator("#id").fill(name)
    page.locator("#id").press("Enter")
    page.locator("#said.error").wait_for(timeout=5_000)
    checks.that(name in page.locator("#said").inner_text(), "a tenant that is there already is made again")


def look(checks, gateway, browser, token, width, theme, shots):
    title = f"{width} wide, {theme}"
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    errors, asked = [], []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "status of 4" not in message.text else None)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(gateway.address + "/admin")
    checks.that(page.locator("#main").is_hidden(), f"{title}: tables before there is a token")
    page.keyboard.press("Tab")
    here = page.evaluate("document.activeElement.id")
    checks.that(here == "token", f"{title}: the first Tab leads to {here!r}")
    page.locator("#token").fill(gateway.token[:-1] + ("A" if gateway.token[-1] != "A" else "B"))
    page.keyboard.press("Enter")
    page.locator("#said.error").wait_for(timeout=5_000)
    checks.that(page.locator("#main").is_hidden(), f"{title}: tables for a wrong token")
    page.locator("#token").fill(token)
    page.keyboard.press("Enter")
    page.locator("#said.error").wait_for(timeout=5_000)
    checks.that(page.locator("#main").is_hidden(), f"{title}: tables for a tenant's token")
    page.locator("#token").fill(gateway.token)
    page.keyboard.press("Enter")
    said(page, "Open.")
    checks.that(page.locator("#token").input_value() == "", f"{title}: the token stays in its field")
    checks.that(gateway.token not in page.content() + page.url, f"{title}: the token is on the page")
    if theme == "light":
        tables(checks, gateway, page, token)
        if shots:
            page.screenshot(path=shots / f"admin-{width}-{theme}.png")
        buttons(checks, gateway, page, token)
    elif shots:
        page.screenshot(path=shots / f"admin-{width}-{theme}.png")
    found = page.evaluate("document.documentElement.scrollWidth")
    checks.that(found <= width, f"{title}: the page is {found} wide")
    low = page.evaluate(CONTRAST)
    checks.that(not low, f"{title}: low contrast {low[:4]}")
    checks.that(page.evaluate(STORED) == 0, f"{title}: something is stored")
    page.locator("#leave").click()
    checks.that(page.locator("#main").is_hidden() and page.locator("#tenants tr").count() == 0, f"{title}: the token is not forgotten")
    page.locator("#again").evaluate("one => one.click()")
    page.locator("#said.error").wait_for(timeout=5_000)
    checks.that(not errors, f"{title}: {errors[:3]}")
    strange = [url for url in asked if not url.startswith(gateway.address + "/")]
    checks.that(not strange and all(gateway.token not in url for url in asked), f"{title}: asked for {strange[:3]}")
    page.close()


def check(checks, regauge, browser, shots):
    if shots:
        shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        gateway = Gateway(regauge, Path(name))
        try:
            token = fill(gateway)
            for width, theme in [(1280, "light"), (390, "dark")]:
                look(checks, gateway, browser, token, width, theme, shots)
        finally:
            status = gateway.stop()
        checks.that(status == 0, f"the gateway ended with status {status}")


def main():
    parser = argparse.ArgumentParser(description="Looks at the gateway's page for administrators.")
    parser.add_argument("--regauge", type=Path, default="target/debug/regauge")
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    arguments = parser.parse_args()
    regauge = arguments.regauge.resolve()
    return browser_common.look(
        "admin_page_check", lambda browser, checks: check(checks, regauge, browser, arguments.shots))


if __name__ == "__main__":
    sys.exit(main())
