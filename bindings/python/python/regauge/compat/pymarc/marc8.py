"""pymarc's MARC-8."""

from __future__ import annotations

from ...marc._field import marc8_to_unicode

__all__ = ["MARC8ToUnicode", "marc8_to_unicode"]


class MARC8ToUnicode:
    """Turns MARC-8 into text."""

    def __init__(self, g0: int = 0x42, g1: int = 0x45, quiet: bool = False) -> None:
        self.g0, self.g1, self.quiet = g0, g1, quiet

    def translate(self, marc8_string: bytes) -> str:
        """The text of these bytes."""
        return marc8_to_unicode(marc8_string, self.quiet)
