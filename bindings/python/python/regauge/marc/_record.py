"""Records."""

from __future__ import annotations

import json
import re
import unicodedata
import warnings
from collections.abc import Iterator
from typing import Any

from .. import _regauge
from ._exceptions import (
    BadSubfieldCodeWarning,
    BaseAddressInvalid,
    BaseAddressNotFound,
    FieldNotFound,
    MissingLinkedFields,
    NoFieldsFound,
    RecordDirectoryInvalid,
    RecordLeaderInvalid,
    TruncatedRecord,
)
from ._field import (
    END_OF_FIELD,
    END_OF_RECORD,
    SUBFIELD_INDICATOR,
    Field,
    Indicators,
    RawField,
    Subfield,
    _logger,
    map_marc8_field,
    marc8_to_unicode,
)
from ._leader import LEADER_LEN, Leader

DIRECTORY_ENTRY_LEN = 12

_native = _regauge._marc
_make_fields = _native.fields
_isbn = re.compile(r"[0-9\-xX]+")


class Record:
    """A record: a leader and a list of fields.

    >>> record = Record()
    >>> record.add_field(Field('245', ['0', '1'], [Subfield('a', 'A title')]))
    >>> record['245']['a'], record.title, '500' in record
    ('A title', 'A title', False)
    >>> Record(record.as_marc()).title
    'A title'

    A record that was read keeps its bytes, and creates its fields on first access; an unchanged
    record is written with the exact bytes that it was read from.
    """

    __slots__ = (
        "leader", "_fields", "_later", "_raw", "_first", "_regular", "pos", "force_utf8", "to_unicode", "_at"
    )

    # Whether the bytes of an unchanged record are kept whatever their charset is.
    _keeps_bytes = True
    _from_marc8 = staticmethod(marc8_to_unicode)

    leader: Leader
    # For a record read from MARCXML, until its fields are accessed.
    _later: Any

    def __init__(
        self,
        data: str | bytes = "",
        fields: list[Field] | None = None,
        to_unicode: bool = True,
        force_utf8: bool = False,
        hide_utf8_warnings: bool = False,
        utf8_handling: str = "strict",
        leader: str = " " * LEADER_LEN,
        file_encoding: str = "iso8859-1",
    ) -> None:
        self._fields: list[Field] | None = None
        self._raw: bytes | None = None
        self._first: str | None = None
        self._regular = False
        self.pos = 0
        self.force_utf8 = force_utf8
        self.to_unicode = to_unicode
        if fields:
            self.leader = Leader(f"{leader[0:10]}22{leader[12:20]}4500")
            self._fields = fields
        elif data:
            self.decode_marc(
                data, to_unicode, force_utf8, hide_utf8_warnings, utf8_handling, file_encoding
            )
        else:
            made = f"{leader[0:10]}22{leader[12:20]}4500"
            self.leader = Leader(made[0:9] + "a" + made[10:] if force_utf8 else made)
            self._fields = []

    @classmethod
    def _of_later(cls, leader: str, fields: Any) -> Record:
        """Creates a record whose fields are created later."""
        record = cls.__new__(cls)
        record.leader = Leader(leader)
        record._first = None
        record._raw = None
        record._fields = None
        record._later = fields
        record._regular = False
        record.pos = 0
        record.force_utf8 = False
        record.to_unicode = True
        return record

    @property
    def fields(self) -> list[Field]:
        """Returns the fields, creating them from the input on first access."""
        made = self._fields
        if made is None:
            raw = self._raw
            if raw is not None:
                return _make_fields(self, raw, Field, Subfield, Indicators)
            later = self._later
            if later is not None:
                made = _native.settle(self, later.make(Field, Subfield, Indicators))
                self._later = None
            else:
                # Another thread has just created them.
                made = self._fields
                assert made is not None
        return made

    @fields.setter
    def fields(self, value: list[Field]) -> None:
        self._fields = value

    def __str__(self) -> str:
        """Returns the record in MARCMaker format: a line per field."""
        return "\n".join([f"=LDR  {self.leader}", *map(str, self.fields)]) + "\n"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.leader} {len(self.fields)} fields>"

    def get(self, tag: str, default: Any = None) -> Any:
        """Returns the first field with this tag."""
        for field in self.fields:
            if field.tag == tag:
                return field
        return default

    def __getitem__(self, tag: str) -> Field:
        for field in self.fields:
            if field.tag == tag:
                return field
        raise KeyError(tag)

    def __contains__(self, tag: str) -> bool:
        return any(field.tag == tag for field in self.fields)

    def __iter__(self) -> Iterator[Field]:
        self._at = 0
        # A separate iterator, so that two can run over the record at once.
        return iter(self.fields)

    def __next__(self) -> Field:
        """Like pymarc, returns the next field after iter(record)."""
        if self._at >= len(self.fields):
            raise StopIteration
        self._at += 1
        return self.fields[self._at - 1]

    def add_field(self, *fields: Field) -> None:
        """Adds fields at the end."""
        self.fields.extend(fields)

    def add_grouped_field(self, *fields: Field) -> None:
        """Adds each field after the others of its hundred (2XX, 3XX, …)."""
        for field in fields:
            self._insert(field, 1)

    def add_ordered_field(self, *fields: Field) -> None:
        """Adds each field where it belongs in tag order."""
        for field in fields:
            self._insert(field, 3)

    def _insert(self, field: Field, digits: int) -> None:
        place = len(self.fields)
        if field.tag.isdigit():
            mine = int(field.tag[:digits])
            for at, other in enumerate(self.fields):
                if not other.tag.isdigit() or int(other.tag[:digits]) > mine:
                    place = at
                    break
        self.fields.insert(place, field)

    def remove_field(self, *fields: Field) -> None:
        """Removes these fields."""
        for field in fields:
            try:
                self.fields.remove(field)
            except ValueError:
                raise FieldNotFound from None

    def remove_fields(self, *tags: str) -> None:
        """Removes all fields with these tags."""
        self.fields[:] = [field for field in self.fields if field.tag not in tags]

    def get_fields(self, *args: str) -> list[Field]:
        """Returns the fields with these tags, in order; without a tag, all of them."""
        if not args:
            return self.fields
        return [field for field in self.fields if field.tag in args]

    def get_linked_fields(self, field: Field) -> list[Field]:
        """Returns the 880 fields that belong to this field."""
        number = field.linkage_occurrence_num()
        linked = [one for one in self.get_fields("880") if one.linkage_occurrence_num() == number]
        if number is not None and not linked:
            raise MissingLinkedFields(field)
        return linked

    def decode_marc(
        self,
        marc: Any,
        to_unicode: bool = True,
        force_utf8: bool = False,
        hide_utf8_warnings: bool = False,
        utf8_handling: str = "strict",
        encoding: str = "iso8859-1",
    ) -> None:
        """Fills the record from its bytes in ISO 2709."""
        marc = bytes(marc)
        if to_unicode and encoding == "iso8859-1":
            utf8 = force_utf8 or marc[9:10] == b"a"
            if _native.is_regular(marc, utf8):
                self.leader = Leader(marc[:LEADER_LEN].decode("ascii"))
                self._first = self.leader.leader
                self._raw = marc
                self._fields = None
                self._regular = True
                return
        leader = marc[:LEADER_LEN].decode("ascii")
        if len(leader) != LEADER_LEN:
            raise RecordLeaderInvalid
        self.leader = Leader(leader)
        utf8 = leader[9] == "a" or force_utf8
        fields = []
        for tag, content in _entries(marc, leader):
            control = tag < "010" and tag.isdigit()
            if not to_unicode:
                fields.append(_raw_field(tag, content, control))
            elif control:
                text = content.decode("utf-8" if utf8 or self.force_utf8 else encoding)
                fields.append(Field(tag, data=text))
            else:
                first, second, parts = _split(content)
                subfields = []
                for code, value in parts:
                    if utf8:
                        text = value.decode("utf-8", utf8_handling)
                    elif encoding == "iso8859-1":
                        text = self._from_marc8(value, hide_utf8_warnings)
                    else:
                        text = value.decode(encoding)
                    subfields.append(Subfield(code, text))
                fields.append(Field(tag, Indicators(first, second), subfields))
        if not fields:
            raise NoFieldsFound
        self._fields = fields
        # What these fields were created from, to detect changes later.
        if to_unicode:
            self._raw = marc
            self._first = leader

    def _is_unchanged(self) -> bool:
        """Returns whether the record still matches the bytes it was read from."""
        if self._raw is None or self.leader.leader != self._first:
            return False
        if self._fields is None:
            return True
        again = type(self)(self._raw, force_utf8=self.force_utf8, hide_utf8_warnings=True)
        mine, read = self._fields, again.fields
        return len(mine) == len(read) and all(map(_same, mine, read))

    def as_marc(self) -> bytes:
        """Returns the record's bytes in ISO 2709: the exact bytes it was read from if it is
        unchanged, else UTF-8."""
        raw = self._raw
        if raw is not None and (self._keeps_bytes or self.leader.leader[9] == "a"):
            if self._fields is None and self.leader.leader == self._first:
                return raw
            if self._keeps_bytes and not self._regular and self._is_unchanged():
                return raw
        if self.to_unicode:
            if not isinstance(self.leader, Leader):
                self.leader = Leader(self.leader)
            if not self._keeps_bytes or raw is None or not raw.isascii():
                self.leader.coding_scheme = "a"
        leader = str(self.leader)
        utf8 = leader[9] == "a" or self.force_utf8
        if utf8 or (raw is not None and raw.isascii()):
            made: bytes | None = _native.encode(leader, self.fields, Field)
            if made is not None and (utf8 or made.isascii()):
                return made
            if not utf8:
                self.leader.coding_scheme = "a"
                leader, utf8 = str(self.leader), True
        return self._as_marc_with_care(leader, "utf-8" if utf8 else "iso8859-1")

    def _as_marc_with_care(self, leader: str, encoding: str) -> bytes:
        directory, body = b"", b""
        for field in self.fields:
            raw = isinstance(field, RawField)
            data = field.as_marc() if raw else field.as_marc(encoding)  # type: ignore[call-arg]
            directory += f"{field.tag:>03}{len(data):04d}{len(body):05d}".encode(encoding)
            body += data
        directory += END_OF_FIELD.encode()
        base = LEADER_LEN + len(directory)
        body += END_OF_RECORD.encode()
        head = f"{base + len(body):0>5}{leader[5:12]}{base:0>5}{leader[17:]}"
        return head.encode(encoding) + directory + body

    as_marc21 = as_marc

    def as_dict(self) -> dict[str, Any]:
        """Returns the record in the shape of MARC-in-JSON."""
        fields: list[dict[str, Any]] = []
        for field in self.fields:
            if field.control_field:
                fields.append({field.tag: field.data})
            else:
                subfields = [{code: value} for code, value in field.subfields]
                first, second = field.indicator1, field.indicator2
                fields.append({field.tag: {"ind1": first, "ind2": second, "subfields": subfields}})
        return {"leader": str(self.leader), "fields": fields}

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Record:
        """Creates a record from a dict in the shape of MARC-in-JSON."""
        record = cls()
        record.leader = Leader(value["leader"])
        for entry in value["fields"]:
            for tag, content in entry.items():
                if isinstance(content, dict):
                    pairs = [pair for one in content["subfields"] for pair in one.items()]
                    subfields = [Subfield(code, text) for code, text in pairs]
                    indicators = Indicators(content["ind1"], content["ind2"])
                    record.add_field(Field(tag, indicators, subfields))
                else:
                    record.add_field(Field(tag, data=content))
        return record

    def as_json(self, **kwargs: Any) -> str:
        """Returns the record as MARC-in-JSON; takes the arguments of json.dumps."""
        return json.dumps(self.as_dict(), **kwargs)

    def _title_of(self, tag: str) -> str | None:
        field = self.get(tag)
        if field is None:
            return None
        title: str | None = field.get("a")
        rest = field.get("b")
        return f"{title} {rest}" if title and rest else title

    @property
    def title(self) -> str | None:
        """The title: 245 $a and $b."""
        return self._title_of("245")

    @property
    def issn_title(self) -> str | None:
        """The key title: 222 $a and $b."""
        return self._title_of("222")

    @property
    def isbn(self) -> str | None:
        """The first ISBN, without hyphens and trailing qualifiers."""
        field = self.get("020")
        found = _isbn.search((field and field.get("a")) or "")
        return found.group().replace("-", "") if found else None

    @property
    def issn(self) -> str | None:
        """The ISSN: 022 $a."""
        field = self.get("022")
        return field.get("a") if field else None

    @property
    def issnl(self) -> str | None:
        """The ISSN-L: 022 $l."""
        field = self.get("022")
        return field.get("l") if field else None

    def _formatted(self, *tags: str) -> str | None:
        for tag in tags:
            field = self.get(tag)
            if field:
                text: str = field.format_field()
                return text
        return None

    @property
    def sudoc(self) -> str | None:
        """The classification number of the Superintendent of Documents: 086."""
        return self._formatted("086")

    @property
    def author(self) -> str | None:
        """The author: 100, 110 or 111."""
        return self._formatted("100", "110", "111")

    @property
    def uniformtitle(self) -> str | None:
        """The uniform title: 130 or 240."""
        return self._formatted("130", "240")

    @property
    def series(self) -> list[Field]:
        """Series: 440, 490 and 8XX."""
        return self.get_fields("440", "490", "800", "810", "811", "830")

    @property
    def subjects(self) -> list[Field]:
        """Subjects: 6XX."""
        return self.get_fields(*_SUBJECTS)

    @property
    def addedentries(self) -> list[Field]:
        """Added entries: 7XX."""
        return self.get_fields(*_ADDED)

    @property
    def location(self) -> list[Field]:
        """Locations: 852."""
        return self.get_fields("852")

    @property
    def notes(self) -> list[Field]:
        """Notes: 5XX."""
        return self.get_fields(*_NOTES)

    @property
    def physicaldescription(self) -> list[Field]:
        """Physical descriptions: 300."""
        return self.get_fields("300")

    def _published(self, code: str) -> str | None:
        for field in self.get_fields("260", "264"):
            if field.tag == "260" or field.indicator2 == "1":
                value: str | None = field.get(code)
                return value
        return None

    @property
    def publisher(self) -> str | None:
        """The publisher: 260 $b, or 264 $b with the second indicator 1."""
        return self._published("b")

    @property
    def pubyear(self) -> str | None:
        """The year of publication: 260 $c, or 264 $c with the second indicator 1."""
        return self._published("c")


# https://www.loc.gov/marc/bibliographic/, plus the local tags that pymarc includes.
_SUBJECTS = "600 610 611 630 648 650 651 653 654 655 656 657 658 662 690 691 696 697 698 699".split()
_ADDED = "700 710 711 720 730 740 752 753 754 790 791 792 793 796 797 798 799".split()
_NOTES = (
    "500 501 502 504 505 506 507 508 510 511 513 514 515 516 518 520 521 522 524 525 526 530 533"
    " 534 535 536 538 540 541 544 545 546 547 550 552 555 556 561 562 563 565 567 580 581 583 584"
    " 585 586 590 591 592 593 594 595 596 597 598 599"
).split()


def _same(one: Field, other: Field) -> bool:
    """Returns whether two fields have the same content."""
    return (
        one.tag == other.tag
        and one.data == other.data
        and one._indicators == other._indicators
        and one.subfields == other.subfields
    )


def _entries(marc: bytes, leader: str) -> Any:
    """Yields the tag and the content of each field in the directory, as far as it makes sense."""
    base = int(marc[12:17])
    if base <= 0:
        raise BaseAddressNotFound
    if base >= len(marc):
        raise BaseAddressInvalid
    if len(marc) < int(leader[:5]):
        raise TruncatedRecord
    directory = marc[LEADER_LEN : base - 1].decode("ascii")
    if len(directory) % DIRECTORY_ENTRY_LEN:
        raise RecordDirectoryInvalid
    for at in range(0, len(directory), DIRECTORY_ENTRY_LEN):
        entry = directory[at : at + DIRECTORY_ENTRY_LEN]
        start = base + int(entry[7:])
        yield entry[:3], marc[start : start + int(entry[3:7]) - 1]


def _split(content: bytes) -> tuple[str, str, list[tuple[str, bytes]]]:
    """Returns the indicators and the subfields of a data field: always two indicators."""
    head, *pieces = content.split(SUBFIELD_INDICATOR.encode())
    indicators = head.decode("ascii")
    if len(indicators) != 2:
        _logger.warning("found %d indicators, expected two: %r", len(indicators), content)
    first, second = (indicators + "  ")[:1], (indicators + "  ")[1:2]
    parts = []
    for piece in pieces:
        if not piece:
            continue
        code, skipped = chr(piece[0]), 1
        if piece[0] >= 0x80:
            warnings.warn(BadSubfieldCodeWarning(piece), stacklevel=3)
            code, skipped = normalize_subfield_code(piece)
        parts.append((code, piece[skipped:]))
    return first, second, parts


def _fields_of(document: bytes) -> Any:
    """Returns fields that are created later, from a copy of them."""
    return _native.Fields(document)


def _raw_field(tag: str, content: bytes, control: bool) -> Field:
    """Returns the field with bytes instead of text."""
    if control:
        return RawField(tag, data=content)  # type: ignore[arg-type]
    first, second, parts = _split(content)
    subfields = [Subfield(code, value) for code, value in parts]  # type: ignore[arg-type]
    return RawField(tag, Indicators(first, second), subfields)


def normalize_subfield_code(subfield: bytes) -> tuple[str, int]:
    """Returns the nearest ASCII character of a non-ASCII code, and its length in bytes."""
    try:
        text = subfield.decode("utf-8")
        length = len(text[0].encode())
    except UnicodeDecodeError:
        text, length = subfield.decode("latin-1"), 1
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return plain[0], length


def map_marc8_record(record: Record) -> Record:
    """Converts the bytes of a record of raw fields to text."""
    record.fields = [map_marc8_field(field) for field in record.fields]
    record.leader.coding_scheme = "a"
    return record
