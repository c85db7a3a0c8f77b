"""PyYAML itself."""

from __future__ import annotations

from typing import Any

from .._peer import imported

yaml: Any = imported("yaml", "PyYAML")
