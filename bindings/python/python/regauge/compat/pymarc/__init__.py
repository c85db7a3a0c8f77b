"""pymarc's interface over regauge's records: `from regauge.compat import pymarc`.

Difference from regauge.marc: a record is always written in UTF-8, as in pymarc, even an unchanged
one in MARC-8. install() makes `import pymarc` return this module, for code that cannot be changed.
"""

from __future__ import annotations

import sys

from . import constants, exceptions, field, leader, marc8, marcjson, marcxml, reader, record, writer
from .constants import *  # noqa: F403
from .exceptions import *  # noqa: F403
from .field import *  # noqa: F403
from .leader import *  # noqa: F403
from .marc8 import *  # noqa: F403
from .marcjson import *  # noqa: F403
from .marcxml import *  # noqa: F403
from .reader import *  # noqa: F403
from .record import *  # noqa: F403
from .writer import *  # noqa: F403

_MODULES = {
    "constants": constants, "exceptions": exceptions, "field": field, "leader": leader,
    "marc8": marc8, "marcjson": marcjson, "marcxml": marcxml, "reader": reader, "record": record,
    "writer": writer,
}


def install() -> None:
    """Makes `import pymarc`, and imports of its submodules, return these modules."""
    sys.modules["pymarc"] = sys.modules[__name__]
    for name, module in _MODULES.items():
        sys.modules[f"pymarc.{name}"] = module
