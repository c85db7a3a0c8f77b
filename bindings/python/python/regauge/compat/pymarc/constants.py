"""The characters and lengths of ISO 2709."""

from ...marc._field import END_OF_FIELD, END_OF_RECORD, SUBFIELD_INDICATOR
from ...marc._leader import LEADER_LEN
from ...marc._record import DIRECTORY_ENTRY_LEN

__all__ = [
    "DIRECTORY_ENTRY_LEN", "END_OF_FIELD", "END_OF_RECORD", "LEADER_LEN", "SUBFIELD_INDICATOR",
]
