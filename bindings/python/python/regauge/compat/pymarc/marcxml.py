"""pymarc's MARCXML."""

from __future__ import annotations

from typing import Any

from ...marc import _xml
from ...marc._xml import (
    MARC_XML_NS,
    MARC_XML_SCHEMA,
    XSI_NS,
    parse_xml,
    record_to_xml_node,
)
from .record import Record

__all__ = [
    "MARC_XML_NS", "MARC_XML_SCHEMA", "XSI_NS", "XmlHandler", "map_xml", "parse_xml",
    "parse_xml_to_array", "record_to_xml", "record_to_xml_node",
]


class XmlHandler(_xml.XmlHandler):
    """Builds records from the events of an XML parser."""

    record_class = Record


def map_xml(function: Any, *files: Any) -> None:
    """Calls a function with each record of these files."""
    handler = XmlHandler()
    handler.process_record = function  # type: ignore[method-assign]
    for file in files:
        parse_xml(file, handler)


def parse_xml_to_array(xml_file: Any, strict: bool = False, normalize_form: Any = None) -> list[Any]:
    """Returns the records of MARCXML as a list."""
    handler = XmlHandler(strict, normalize_form)
    parse_xml(xml_file, handler)
    return handler.records


def record_to_xml(record: Any, quiet: bool = False, namespace: bool = False) -> bytes:
    """Returns the record as bytes of XML."""
    return _xml.record_to_xml(record, quiet, namespace)
