"""pymarc's MARC-8: control characters are left out, and what is no character is a blank."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata

from ... import _regauge

__all__ = ["MARC8ToUnicode", "marc8_to_unicode"]

_ESCAPE = b"\x1b"
_EACC = 0x31
#: Final bytes of the sets that there are.
_SETS = frozenset(b"4E321pQSBbgN")
#: Control characters, escape sequences, and a mark at the end. Without them, the core reads what is all characters alike,
#: and faster.
_UNUSUAL = re.compile(rb"[\x00-\x1f\x7f-\xa0]|[\xe0-\xff]\Z")
#: Characters of EACC that the Library of Congress has others for.
_OWN = {0x222A34: "\u3013", 0x223339: "\u3013", 0x217559: "\u3013", 0x6F7625: "\ue8b1", 0x6F773C: "\ue8cb"}
#: Characters of EACC that are in none of its tables.
_ODD = {
    0x21203D: "\u2026", 0x212040: "\u201c", 0x7F2014: "\u2014", 0x7F2019: "\u2019", 0x7F2020: "\u201d",
    0x7F2122: "\u2122",
}  # fmt: skip


@functools.lru_cache(4096)
def _character(charset: int, code: int) -> tuple[str, bool] | None:
    """Returns a character of a set, and whether it is a mark on the next one."""
    if charset == _EACC and code in _OWN:
        return _OWN[code], False
    return _regauge._marc.marc8_character(charset, code)


def marc8_to_unicode(marc8: bytes | str, hide_utf8_warnings: bool = False) -> str:
    """Converts MARC-8 to text."""
    if isinstance(marc8, bytes) and _UNUSUAL.search(marc8) is None:
        text, bad = _regauge._marc.marc8_decode(marc8)
        if not bad:
            return text
    try:
        return MARC8ToUnicode(quiet=hide_utf8_warnings).translate(marc8)
    except (IndexError, TypeError) as error:
        data: bytes = marc8  # type: ignore[assignment]
        why = "invalid multibyte character encoding"
        raise UnicodeDecodeError("marc8_to_unicode", data, 0, len(data), why) from error


class MARC8ToUnicode:
    """Converts MARC-8 to text.

    G0, G1 -- the sets that are in force first, as the final bytes of their escape sequences
    quiet -- whether nothing is written to stderr about what is no character
    """

    basic_latin = 0x42
    ansel = 0x45

    def __init__(self, G0: int = basic_latin, G1: int = ansel, quiet: bool = False) -> None:  # noqa: N803
        self.g0, self.g0_set = G0, {b"(", b",", b"$"}
        self.g1, self.g1_set = G1, {b")", b"-", b"$"}
        self.quiet = quiet

    def translate(self, marc8_string: bytes | str) -> str:
        """Returns the text of these bytes. The sets that are in force at their end stay so."""
        text: list[str] = []
        marks: list[str] = []
        at, end = 0, len(marc8_string)
        while at < end:
            if marc8_string[at : at + 1] == _ESCAPE:
                if end < at + 3 and marc8_string[at + 1 : at + 2] in self.g0_set:
                    # A sequence that is cut off: its escape stays visible.
                    text.append("\x1b")
                    at += 1
                    continue
                at, is_done = self._escape(marc8_string, at)
                if is_done:
                    continue
            code, at = self._code(marc8_string, at)
            if code < 0x20 or 0x80 < code < 0xA0:
                continue
            character, is_mark = self._find(code)
            if is_mark:
                marks.append(character)
                continue
            text.append(character)
            if code not in _ODD:
                text += marks
                marks = []
        return unicodedata.normalize("NFC", "".join(text))

    def _escape(self, data: bytes | str, at: int) -> tuple[int, bool]:
        """Designates a set; returns the offset after the sequence, and whether what follows may be another one."""
        kind = data[at + 1 : at + 2]
        if kind in self.g0_set:
            at += data[at + 1 : at + 3] == b"$,"
            self.g0 = ord(data[at + 2 : at + 3])
            return at + 3, True
        if kind in self.g1_set:
            self.g1 = ord(data[at + 2 : at + 3])
            return at + 3, True
        charset = ord(kind)
        if charset == 0x73:
            self.g0 = self.basic_latin
            return at + 2, at + 2 == len(data)
        if charset not in _SETS:
            return at, False
        self.g0 = charset
        return at + 2, False

    def _code(self, data: bytes | str, at: int) -> tuple[int, int]:
        """Returns the number of the next character, and the offset after it."""
        if self.g0 != _EACC:
            return ord(data[at : at + 1]), at + 1
        if len(data) < at + 3:
            sys.stderr.write(f"Multi-byte position {at + 3} exceeds length of marc8 string {len(data)}\n")
            return 0x20, at + 3
        first, second, third = (ord(data[place : place + 1]) for place in range(at, at + 3))
        return first << 16 | second << 8 | third, at + 3

    def _find(self, code: int) -> tuple[str, bool]:
        """Returns a character of the sets in force, and whether it is a mark on the next one."""
        found = _character(self.g1 if code > 0x80 and self.g0 != _EACC else self.g0, code)
        if found is not None:
            return found
        if code in _ODD:
            return _ODD[code], False
        if not self.quiet:
            sys.stderr.write(f"Unable to parse character 0x{code:x} in g0={self.g0} g1={self.g1}\n")
        return " ", False
