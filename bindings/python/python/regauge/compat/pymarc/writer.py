"""pymarc's writers."""

from ...marc._writers import JSONWriter, MARCWriter, TextWriter, Writer, XMLWriter

__all__ = ["JSONWriter", "MARCWriter", "TextWriter", "Writer", "XMLWriter"]
