"""Sphinx's configuration; tools/site_build.py collects the pages and calls it."""

import os

project = "regauge"
copyright = "the regauge authors"
html_title = f"regauge {os.environ['SITE_VERSION']}"

extensions = ["myst_parser"]
# The anchors that GitHub gives to headings.
myst_heading_anchors = 6
# The pages that other programs write, next to Sphinx's.
myst_url_schemes = {
    "http": None, "https": None, "mailto": None,
    "rust": "api/rust/{{path}}#{{fragment}}",
    "python": "api/python/{{path}}#{{fragment}}",
}
# An example may leave something out, with an ellipsis.
suppress_warnings = ["misc.highlighting_failure"]
# Most blocks are commands, output or excerpts of files; the others name their language.
highlight_language = "none"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["offline.js"]
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [{
        "name": "The repository",
        "url": os.environ["SITE_REPOSITORY"],
        "html": "Repository",
        "class": "",
    }],
}
