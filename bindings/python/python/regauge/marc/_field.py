"""Fields and subfields."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .. import _regauge

END_OF_FIELD = "\x1e"
END_OF_RECORD = "\x1d"
SUBFIELD_INDICATOR = "\x1f"

_logger = logging.getLogger("regauge.marc")


class Subfield(NamedTuple):
    """A subfield's code and value."""

    code: str
    value: str


class Indicators(NamedTuple):
    """The two indicators of a data field."""

    first: str
    second: str


_BLANK = Indicators(" ", " ")


def _is_control(tag: str) -> bool:
    # Only numeric tags: FMT and the like are data fields here, as in pymarc and ruby-marc.
    return tag < "010" and tag.isdigit()


class Field:
    """A field: a tag, and either data (a control field) or indicators and subfields.

    >>> field = Field('245', Indicators('0', '1'), [Subfield('a', 'A title :'), Subfield('b', 'more')])
    >>> field['a'], field.indicator2, str(field)
    ('A title :', '1', '=245  01$aA title :$bmore')
    >>> Field('001', data='fol05731351').data
    'fol05731351'
    """

    __slots__ = ("tag", "data", "_indicators", "subfields", "control_field", "_position")

    tag: str
    data: str | None
    subfields: list[Subfield]
    control_field: bool
    _indicators: Indicators | None

    def __init__(
        self,
        tag: str,
        indicators: Sequence[str] | None = None,
        subfields: list[Subfield] | None = None,
        data: str | None = None,
    ) -> None:
        if not isinstance(tag, str):
            tag = str(tag)
        self.tag = tag.zfill(3) if tag.isdigit() else tag
        if subfields and isinstance(subfields[0], str):
            raise ValueError(
                "found strings as subfields, expected Subfield(code, value); "
                "Field.convert_legacy_subfields turns a list of strings into them"
            )
        self.control_field = _is_control(self.tag)
        self._indicators = None
        self.subfields = []
        self.data = None
        if self.control_field:
            self.data = data
        else:
            self.subfields = subfields or []
            if indicators:
                self.indicators = indicators
            else:
                self._indicators = _BLANK

    @property
    def indicators(self) -> Indicators | None:
        """Returns the two indicators; None for a control field."""
        return self._indicators

    @indicators.setter
    def indicators(self, value: Sequence[str] | None) -> None:
        if value is None:
            return
        if len(value) != 2:
            raise ValueError(
                f"found {len(value)} indicators, expected two: Indicators(first, second)"
            )
        self._indicators = value if isinstance(value, Indicators) else Indicators(*value)

    @property
    def indicator1(self) -> str:
        """Returns the first indicator; "" for a control field."""
        return self._indicators.first if self._indicators else ""

    @indicator1.setter
    def indicator1(self, value: str) -> None:
        self._indicators = Indicators(value, self.indicator2)

    @property
    def indicator2(self) -> str:
        """Returns the second indicator; "" for a control field."""
        return self._indicators.second if self._indicators else ""

    @indicator2.setter
    def indicator2(self, value: str) -> None:
        self._indicators = Indicators(self.indicator1, value)

    @classmethod
    def convert_legacy_subfields(cls, subfields: list[str]) -> list[Subfield]:
        """Builds subfields from a list of alternating codes and values.

        >>> Field.convert_legacy_subfields(['a', 'A title'])
        [Subfield(code='a', value='A title')]
        """
        if len(subfields) % 2:
            raise ValueError(f"found {len(subfields)} strings, expected pairs of code and value")
        turns = iter(subfields)
        return [Subfield(code, value) for code, value in zip(turns, turns)]

    def __iter__(self) -> Iterator[Subfield]:
        self._position = 0
        # A separate iterator, so that two can run over the field at once.
        return iter(() if self.control_field else self.subfields)

    def __next__(self) -> Subfield:
        """Like pymarc, returns the next subfield after iter(field)."""
        if self.control_field or self._position >= len(self.subfields):
            raise StopIteration
        self._position += 1
        return self.subfields[self._position - 1]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"

    def __str__(self) -> str:
        """Returns the field as a line of MARCMaker."""
        if self.control_field:
            return f"={self.tag}  {(self.data or '').replace(' ', chr(92))}"
        marks = "".join("\\" if one in (" ", "\\") else str(one) for one in self._indicators or ())
        parts = "".join(f"${code}{value}" for code, value in self.subfields)
        return f"={self.tag}  {marks}{parts}"

    def get(self, code: str, default: Any = None) -> Any:
        """Returns the value of the first subfield with this code."""
        for one, value in self.subfields:
            if one == code:
                return value
        return default

    def __getitem__(self, code: str) -> str:
        for one, value in self.subfields:
            if one == code:
                return value
        raise KeyError(code)

    def __contains__(self, code: str) -> bool:
        return any(one == code for one, _ in self.subfields)

    def __setitem__(self, code: str, value: str) -> None:
        if self.control_field:
            raise KeyError("field is a control field")
        places = [at for at, subfield in enumerate(self.subfields) if subfield.code == code]
        if len(places) != 1:
            found = "no code" if not places else "more than one code"
            raise KeyError(f"{found} '{code}'")
        self.subfields[places[0]] = Subfield(code, value)

    def value(self) -> str:
        """Returns the values of all subfields joined together, or the data of a control field."""
        if self.control_field:
            return self.data or ""
        return " ".join(value.strip() for _, value in self.subfields)

    def get_subfields(self, *codes: str) -> list[str]:
        """Returns the values of all subfields with one of these codes, in order."""
        return [value for code, value in self.subfields if code in codes]

    def add_subfield(self, code: str, value: str, pos: int | None = None) -> None:
        """Adds a subfield at the end, or before the one at this index."""
        if self.control_field:
            return
        place = len(self.subfields) if pos is None else pos
        self.subfields.insert(place, Subfield(code, value))

    def delete_subfield(self, code: str) -> str | None:
        """Removes the first subfield with this code, and returns its value."""
        for at, subfield in enumerate(self.subfields):
            if subfield.code == code:
                return self.subfields.pop(at).value
        return None

    def subfields_as_dict(self) -> dict[str, list[str]]:
        """Returns the values by code."""
        found: dict[str, list[str]] = {}
        for code, value in self.subfields:
            found.setdefault(code, []).append(value)
        return found

    def is_control_field(self) -> bool:
        """Returns whether the field has data instead of subfields."""
        return self.control_field

    def linkage_occurrence_num(self) -> str | None:
        """Returns the occurrence number in subfield 6 ("880-01/$1" has "01"), or None."""
        linkage: str = self.get("6", "")
        return linkage.split("-")[1].split("/")[0] if linkage else None

    def as_marc(self, encoding: str) -> bytes:
        """Returns the field's bytes in ISO 2709, including its terminator."""
        if self.control_field:
            return f"{self.data}{END_OF_FIELD}".encode(encoding)
        parts = "".join(f"{SUBFIELD_INDICATOR}{code}{value}" for code, value in self.subfields)
        return f"{self.indicator1}{self.indicator2}{parts}{END_OF_FIELD}".encode(encoding)

    as_marc21 = as_marc

    def format_field(self) -> str:
        """Like value(), but for display: subject subdivisions follow " -- "."""
        if self.control_field:
            return self.data or ""
        divides = "vxyz" if self.is_subject_field() else ""
        parts = (
            f" -- {value}" if code and code in divides else f" {value}"
            for code, value in self.subfields
            if code != "6"
        )
        return "".join(parts).strip()

    def is_subject_field(self) -> bool:
        """Returns whether the tag is one of 6XX."""
        return self.tag.startswith("6")


class RawField(Field):
    """A field whose data and values are the raw bytes of the record."""

    __slots__ = ()

    def as_marc(self, encoding: str | None = None) -> bytes:
        """Returns the field's bytes; the encoding is ignored."""
        if encoding is not None:
            _logger.warning("found the encoding %s for a raw field, which has its bytes", encoding)
        end = END_OF_FIELD.encode()
        if self.control_field:
            data: Any = self.data
            return bytes(data) + end
        made = (self.indicator1 + self.indicator2).encode("ascii")
        for code, value in self.subfields:
            made += SUBFIELD_INDICATOR.encode() + code.encode("ascii") + value  # type: ignore[operator]
        return made + end

    as_marc21 = as_marc


def marc8_to_unicode(marc8: bytes | str, hide_utf8_warnings: bool = False) -> str:
    """Converts MARC-8 to text. Invalid characters become U+FFFD, and are logged."""
    if isinstance(marc8, str):
        return marc8
    text, bad = _regauge._marc.marc8_decode(marc8)
    if bad and not hide_utf8_warnings:
        _logger.warning("found %d characters that are not MARC-8 in %r", bad, marc8)
    return text


def map_marc8_field(field: Field) -> Field:
    """Converts the bytes of a raw field to text."""
    if field.control_field:
        field.data = marc8_to_unicode(field.data)  # type: ignore[arg-type]
    else:
        field.subfields = [
            Subfield(code, marc8_to_unicode(value))
            for code, value in field.subfields
        ]
    return field
