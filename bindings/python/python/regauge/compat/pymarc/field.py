"""pymarc's fields."""

from ...marc._field import Field, Indicators, RawField, Subfield, map_marc8_field

__all__ = ["Field", "Indicators", "RawField", "Subfield", "map_marc8_field"]
