#!/usr/bin/env python3
"""Builds the documentation site in build/site: the pages of docs/ and of the repository's root, with the API of
Rust, Python and Ruby.

    build/site-tools/bin/python tools/site_build.py

`make site` installs what it needs, which is in tools/site/requirements.txt. The pages are written for GitHub.
They are copied to build/site-pages, where a link to another page leads to its copy, and one to any other file
to the repository. A broken link, or a page that the navigation lacks, is an error.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "tools/site"
PAGES = ROOT / "build/site-pages"
SITE = ROOT / "build/site"
# What `make docs` has built.
RUST = ROOT / "target/doc"
REPOSITORY = "https://github.com/regauge/regauge"

# A folder stands for all of its pages.
NAVIGATION = {
    "Start here": ["guides"],
    "Measure": ["measure", "contenders", "tasks", "samples"],
    "Convert and keep": ["convert", "envelopes", "caches", "query", "store", "gateway"],
    "Languages": ["python", "ruby", "drop-ins", "api"],
    "Formats": ["formats"],
    "Evidence": ["safety", "speed", "results"],
    "Project": ["design", "support", "roadmap", "changelog", "contributing", "security"],
}

LINK = re.compile(r"(?<=\]\()([^)\s]+)(?=\))")
FENCE = re.compile(r"^ *(```|~~~)")


def pages():
    """Returns the name of each page in the site, by its path in the repository."""
    found = {"README.md": "index.md"}
    for name in ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]:
        found[name] = name.lower()
    for path in sorted(ROOT.glob("docs/**/*.md")):
        name = path.relative_to(ROOT / "docs").as_posix()
        found[f"docs/{name}"] = re.sub(r"README\.md$", "index.md", name)
    return found


def images():
    """Returns the name of each picture in the site, by its path in the repository."""
    return {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix()
            for path in ROOT.glob("docs/**/*.svg")}


def site_link(link, source, names):
    """Returns where a link of the page `source` leads in the site; None if it leads nowhere."""
    if re.match(r"[a-z]+:|#", link):
        return link
    path, sharp, anchor = link.partition("#")
    target = PurePosixPath(os.path.normpath(PurePosixPath(source).parent / path))
    here = ROOT / target
    if (here / "README.md").is_file() and str(target / "README.md") in names:
        target /= "README.md"
    if str(target) in names:
        folder = PurePosixPath(names[source]).parent
        return os.path.relpath(names[str(target)], folder) + sharp + anchor
    if not here.exists():
        return None
    return f"{REPOSITORY}/{'tree' if here.is_dir() else 'blob'}/main/{target}{sharp}{anchor}"


def copied(source, names, problems):
    """Returns the text of a page with the site's links; code is left alone."""
    lines, fenced = [], False
    for number, line in enumerate((ROOT / source).read_text().splitlines(), 1):
        fenced ^= bool(FENCE.match(line))
        for link in [] if fenced else LINK.findall(line):
            to = site_link(link, source, names)
            if to is None:
                problems.append(f"{source}:{number}: no file at {link}")
            else:
                line = line.replace(f"]({link})", f"]({to})")
        lines.append(line)
    return "\n".join(lines) + "\n"


def toctree(entries, caption=""):
    """Returns the directive that puts pages into the navigation."""
    options = f":caption: {caption}\n" if caption else ""
    return "\n".join(["", "```{toctree}", f":hidden:\n{options}", *entries, "```", ""])


def collect():
    """Copies the pages, with the navigation, into build/site-pages; returns the problems."""
    names = pages()
    pictures = images()
    problems = []
    for source, name in names.items():
        text = copied(source, names | pictures, problems)
        if name == "index.md":
            for caption, entries in NAVIGATION.items():
                entries = [f"{one}/index" if (ROOT / "docs" / one).is_dir() else one for one in entries]
                text += toctree(entries, caption)
        elif name.endswith("/index.md"):
            folder = (ROOT / source).parent
            others = sorted(path.stem for path in folder.glob("*.md") if path.name != "README.md")
            text += toctree(others) if others else ""
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / name).write_text(text)
    for source, name in pictures.items():
        shutil.copy(ROOT / source, PAGES / name)
    return problems


def version():
    """Returns the version in the workspace's Cargo.toml."""
    return re.search(r'^version = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.M)[1]


def ruby_pages():
    """Writes the pages of the gem's API among the others; returns what is missing for them."""
    if shutil.which("ruby") is None:
        return "ruby"
    subprocess.run(["ruby", ROOT / "tools/site_ruby.rb", PAGES / "api/ruby"], check=True)
    return None


def python_pages():
    """Writes the pages of the Python package's API into the site."""
    subprocess.run([sys.executable, ROOT / "tools/site_python.py", SITE / "api/python"], check=True)


def rust_pages():
    """Copies the pages of the crates' API into the site."""
    shutil.copytree(RUST, SITE / "api/rust")


def api_page(ruby, rust):
    """Writes the page that has the languages side by side, without links to what is missing."""
    text = (OWN / "api.md").read_text()
    if rust:
        text = re.sub(r"\[([^]]*)\]\(rust:[^)]*\)", r"\1", text)
    if ruby:
        text = re.sub(r"\[([^]]*)\]\(api/ruby[^)]*\)", r"\1", text)
    else:
        text += toctree(["Ruby: Regauge <api/ruby/index>"])
    (PAGES / "api.md").write_text(text)


def sphinx():
    """Builds the pages; a warning is an error."""
    environment = os.environ | {"SITE_VERSION": version(), "SITE_REPOSITORY": REPOSITORY}
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-j", "auto", "-c", OWN,
               "-d", ROOT / "build/site-cache", PAGES, SITE]
    return subprocess.run(command, env=environment).returncode == 0


def main():
    for folder in [PAGES, SITE]:
        shutil.rmtree(folder, ignore_errors=True)
    problems = collect()
    ruby = ruby_pages()
    rust = None if (RUST / "regauge/index.html").exists() else "target/doc, which `make docs` builds with cargo"
    api_page(ruby, rust)
    if not sphinx():
        problems.append("Sphinx had warnings, which are above")
    python_pages()
    if not rust:
        rust_pages()
    for language, missing in [("Rust", rust), ("Ruby", ruby)]:
        if missing:
            print(f"site_build: THE API OF {language.upper()} IS NOT IN THE SITE: found no {missing}", file=sys.stderr)
            if os.environ.get("CI"):
                problems.append(f"in CI, the API of {language} has to be in the site")
    for problem in problems:
        print(f"site_build: {problem}", file=sys.stderr)
    files = [path for path in SITE.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"site_build: {len(files)} files, {size:.1f} MB: {(SITE / 'index.html').relative_to(ROOT)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
