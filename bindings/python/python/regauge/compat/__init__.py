"""Drop-in replacements: `from regauge.compat import msgpack`.

install() puts them in the place of the modules they replace, for code that cannot be changed:

    import regauge.compat
    regauge.compat.install("yaml", "msgpack")
"""

from __future__ import annotations

from ._install import install, uninstall

__all__ = ["install", "uninstall"]
