"""The leader: 24 characters in named positions."""

from __future__ import annotations

from typing import Any

from ._exceptions import BadLeaderValue, RecordLeaderInvalid

LEADER_LEN = 24

def _place(start: int, length: int, text: str) -> property:
    def read(self: Leader) -> str:
        return self.leader[start : start + length]

    def write(self: Leader, value: str) -> None:
        if len(value) != length:
            raise BadLeaderValue(f"found {value!r}, expected {length} characters: {text}")
        self._replace_values(start, value)

    return property(read, write, doc=text)


class Leader:
    """A leader whose positions can be changed, by name or by index.

    >>> leader = Leader('00475cas a2200169 i 4500')
    >>> leader.record_status, leader[0:5]
    ('c', '00475')
    >>> leader.record_status = 'd'
    >>> str(leader)
    '00475das a2200169 i 4500'
    """

    __slots__ = ("leader",)

    record_length = _place(0, 5, "Record length (00-04).")
    record_status = _place(5, 1, "Record status (05).")
    type_of_record = _place(6, 1, "Type of record (06).")
    bibliographic_level = _place(7, 1, "Bibliographic level (07).")
    type_of_control = _place(8, 1, "Type of control (08).")
    coding_scheme = _place(9, 1, "Character coding scheme (09): 'a' is UTF-8, ' ' MARC-8.")
    indicator_count = _place(10, 1, "Indicator count (10).")
    subfield_code_count = _place(11, 1, "Subfield code count (11).")
    base_address = _place(12, 5, "Base address of data (12-16).")
    encoding_level = _place(17, 1, "Encoding level (17).")
    cataloging_form = _place(18, 1, "Descriptive cataloging form (18).")
    multipart_ressource = _place(19, 1, "Multipart resource record level (19).")
    length_of_field_length = _place(20, 1, "Length of the length-of-field portion (20).")
    starting_character_position_length = _place(
        21, 1, "Length of the starting-character-position portion (21)."
    )
    implementation_defined_length = _place(
        22, 1, "Length of the implementation-defined portion (22)."
    )

    def __init__(self, leader: str) -> None:
        if len(leader) != LEADER_LEN:
            raise RecordLeaderInvalid
        self.leader = leader

    def __str__(self) -> str:
        return self.leader

    def __repr__(self) -> str:
        return f"Leader({self.leader!r})"

    def __getitem__(self, item: Any) -> str:
        if isinstance(item, (slice, int)):
            return self.leader[item]
        value: str = getattr(self, item)
        return value

    def __setitem__(self, item: Any, value: str) -> None:
        if isinstance(item, slice):
            self._replace_values(item.start or 0, value)
        elif isinstance(item, int):
            self._replace_values(item, value)
        else:
            setattr(self, item, value)

    def _replace_values(self, position: int, value: str) -> None:
        if position < 0:
            raise IndexError("Position must be positive")
        end = position + len(value)
        if end > LEADER_LEN:
            raise BadLeaderValue(f"{value} is too long to be inserted at {position}")
        self.leader = self.leader[:position] + value + self.leader[end:]
