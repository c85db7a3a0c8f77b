#!/usr/bin/env python3
"""Writes the API pages of the Python package with pdoc, without building its extension.

    build/site-tools/bin/python tools/site_python.py build/site/api/python

The names of `regauge._regauge` come from its stub, `_regauge.pyi`, and their descriptions from the comments in
bindings/python/src, which are what `help` shows. Nothing in this stand-in can be called.
"""

import __future__
import ast
import importlib
import re
import sys
import types
import warnings
from pathlib import Path

import pdoc
import pdoc.doc_pyi
import pdoc.render
from jinja2 import pass_context

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "bindings/python/python"
RUST = ROOT / "bindings/python/src"
# Without the command and the data source of PySpark, which needs PySpark.
MODULES = ["regauge", "!regauge.__main__", "!regauge.spark"]

TEXT = r'"((?:[^"\\]|\\.)*)"'
# A row of formats.rs: module, then signature, macro and description, of loads and of dumps.
FORMAT = re.compile(
    rf'^    (\w+) \w+\n +\({TEXT},\s+(?:(\w+)!\()?{TEXT}\)?\)\n +\({TEXT},\s+(?:(\w+)!\()?{TEXT}\)?\)$', re.M)
# What has a comment, with its attributes; or the beginning of a class's methods.
COMMENTED = re.compile(
    r"((?:^ *///.*\n)+)((?: *#\[.*\]\n)*) *(?:pub(?:\([a-z]+\))? )?(?:fn|struct) (\w+)|^impl Py(\w+) \{", re.M)
OPTION = re.compile(r"^(\w+(?:,\s\w+)*) -- ", re.M)


def stand_in():
    """Returns a module with the names of the extension, made from its stub, and lets it be imported."""
    path = PACKAGE / "regauge/_regauge.pyi"
    module = types.ModuleType("regauge._regauge")
    module.__package__ = "regauge"
    sys.modules[module.__name__] = module
    tree = ast.parse(path.read_text())
    # The package imports the extension, so it cannot be imported here.
    tree.body = [one for one in tree.body if not (isinstance(one, ast.ImportFrom) and one.level)]
    exec(compile(tree, path, "exec", __future__.annotations.compiler_flag), vars(module))
    for name, kind in module.__annotations__.items():
        setattr(module, name, getattr(module, kind, pdoc.doc.empty))
    return module


def rust_text(literal):
    """Returns the text of a Rust string literal."""
    return re.sub(r"\\(.)", lambda found: {"n": "\n", "t": "\t"}.get(found[1], found[1]), literal)


def describe_formats(module):
    """Gives each format its `loads` and `dumps`, with signature and description from formats.rs; returns the names."""
    source = (RUST / "formats.rs").read_text()
    common = {name: re.search(rf"macro_rules! {name} .*?\$text,\s+{TEXT}", source, re.S)[1]
              for name in ["loading", "dumping"]}
    rows = FORMAT.findall(source)
    listed = [name for name, kind in module.__annotations__.items() if kind == "_Format"]
    if sorted(listed) != sorted(row[0] for row in rows):
        sys.exit(f"site_python: found {[row[0] for row in rows]} in formats.rs, expected {listed}")
    for format_name, *cells in rows:
        functions = types.SimpleNamespace(__name__="regauge._format")
        for name, (signature, macro, text) in {"loads": cells[:3], "dumps": cells[3:]}.items():
            exec(f"def {name}{signature}: ...", vars(functions))
            getattr(functions, name).__doc__ = rust_text(text + common.get(macro, ""))
        setattr(module, format_name, functions)
    return [row[0] for row in rows]


def describe_rest(module):
    """Describes the functions, the classes and their methods as the comments before them do."""
    for path in sorted(RUST.rglob("*.rs")):
        methods = {}
        for comment, attributes, name, class_name in COMMENTED.findall(path.read_text()):
            if class_name:
                methods = vars(getattr(module, class_name, object))
                continue
            names = vars(module) if re.search(r"#\[py(class|function)\b", attributes) else methods
            target = names.get(name.removeprefix("Py"))
            if target is not None:
                target.__doc__ = re.sub(r"^ */// ?", "", comment, flags=re.M)


def show_inherited(module):
    """Moves the methods of the extension's store, which is private, to the store that inherits them."""
    store = importlib.import_module("regauge").Store
    for name, member in list(vars(module.Store).items()):
        if not name.startswith("_"):
            delattr(module.Store, name)
            if name not in vars(store):
                setattr(store, name, member)


def main():
    target = Path(sys.argv[1])
    sys.path.insert(0, str(PACKAGE))
    module = stand_in()
    formats = describe_formats(module)
    describe_rest(module)
    show_inherited(module)
    markdown = pdoc.render.env.filters["to_markdown"]
    # The stubs of the formats have the options in types; the signatures in formats.rs have them by name.
    stub = pdoc.doc_pyi.find_stub_file
    pdoc.doc_pyi.find_stub_file = lambda name: None if name.removeprefix("regauge.") in formats else stub(name)
    # `name -- text` describes an option.
    pdoc.render.env.filters["to_markdown"] = pass_context(
        lambda context, text: markdown(context, OPTION.sub(r"- **\1**: ", text)))
    # Types that a type checker finds in other modules than Python does.
    warnings.filterwarnings("ignore", "Error parsing type annotation")
    pdoc.render.configure(footer_text="regauge", template_directory=ROOT / "tools/site/pdoc", show_source=False)
    pdoc.pdoc(*MODULES, output_directory=target)
    print(f"site_python: {len(list(target.rglob('*.html')))} pages, {len(formats)} formats")


if __name__ == "__main__":
    sys.exit(main())
