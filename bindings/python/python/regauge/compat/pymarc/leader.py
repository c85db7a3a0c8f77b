"""pymarc's leader."""

from ...marc._leader import Leader

__all__ = ["Leader"]
