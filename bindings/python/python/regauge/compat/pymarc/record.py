"""pymarc's record."""

from ...marc import _record
from ...marc._record import map_marc8_record, normalize_subfield_code
from .marc8 import marc8_to_unicode

__all__ = ["Record", "map_marc8_record", "normalize_subfield_code"]


class Record(_record.Record):
    """A record that is always written in UTF-8."""

    __slots__ = ()

    _keeps_bytes = False
    _from_marc8 = staticmethod(marc8_to_unicode)
