"""pymarc's MARC-8."""

from __future__ import annotations

from ...marc import _field

__all__ = ["MARC8ToUnicode", "marc8_to_unicode"]


def marc8_to_unicode(marc8: bytes | str, hide_utf8_warnings: bool = False) -> str:
    """Converts MARC-8 to text. Invalid characters become blanks, as in pymarc."""
    return _field.marc8_to_unicode(marc8, hide_utf8_warnings).replace("\ufffd", " ")


class MARC8ToUnicode:
    """Converts MARC-8 to text."""

    def __init__(self, g0: int = 0x42, g1: int = 0x45, quiet: bool = False) -> None:
        self.g0, self.g1, self.quiet = g0, g1, quiet

    def translate(self, marc8_string: bytes) -> str:
        """Returns the text of these bytes."""
        return marc8_to_unicode(marc8_string, self.quiet)
