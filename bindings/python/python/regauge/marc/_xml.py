"""MARCXML as in pymarc: with Python's own XML parser, and its handlers."""

from __future__ import annotations

import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any
from xml.sax import make_parser
from xml.sax.handler import ContentHandler, feature_namespaces

from ._field import Field, Indicators, marc8_to_unicode
from ._leader import Leader
from ._record import Record

MARC_XML_NS = "http://www.loc.gov/MARC21/slim"
XSI_NS = "http://www.w3.org/2001/XMLSchema-instance"
MARC_XML_SCHEMA = f"{MARC_XML_NS} http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd"


class XmlHandler(ContentHandler):
    """Builds records from the events of an XML parser; a subclass can override process_record.

    strict -- skips elements of other namespaces
    normalize_form -- Unicode normalization form of all text: "NFC", "NFD", …
    """

    record_class: type[Record] = Record

    def __init__(self, strict: bool = False, normalize_form: Any = None) -> None:
        super().__init__()
        self.records: list[Record] = []
        self.normalize_form = normalize_form
        self._strict = strict
        self._record: Record | None = None
        self._field: Field | None = None
        self._code: str | None = None
        self._parts: list[str] = []

    def startElementNS(self, name: Any, qname: Any, attrs: Any) -> None:  # noqa: N802
        """Called when an element starts."""
        space, element = name
        if self._strict and space != MARC_XML_NS:
            return
        self._parts = []
        if element == "record":
            self._record = self.record_class()
        elif element == "controlfield":
            self._field = Field(attrs.getValue((None, "tag")))
        elif element == "datafield":
            first, second = attrs.get((None, "ind1"), " "), attrs.get((None, "ind2"), " ")
            self._field = Field(attrs.getValue((None, "tag")), Indicators(first, second))
        elif element == "subfield":
            self._code = attrs[(None, "code")]

    def endElementNS(self, name: Any, qname: Any) -> None:  # noqa: N802
        """Called when an element ends."""
        space, element = name
        if self._strict and space != MARC_XML_NS:
            return
        text, self._parts = "".join(self._parts), []
        if self.normalize_form is not None:
            text = unicodedata.normalize(self.normalize_form, text)
        record, field = self._record, self._field
        if record is None:
            return
        if element == "record":
            self._record = None
            self.process_record(record)
        elif element == "leader":
            record.leader = Leader(text)
        elif element == "subfield" and field is not None and self._code:
            field.add_subfield(self._code, text)
            self._code = None
        elif element in ("controlfield", "datafield") and field is not None:
            if element == "controlfield":
                field.data = text
            record.add_field(field)
            self._field = None

    def characters(self, content: str) -> None:
        """Called with a piece of text."""
        self._parts.append(content)

    def process_record(self, record: Record) -> None:
        """Called with each record; keeps it."""
        self.records.append(record)


def parse_xml(xml_file: Any, handler: XmlHandler) -> None:
    """Reads MARCXML from a path or a file into a handler."""
    parser = make_parser()
    parser.setContentHandler(handler)
    parser.setFeature(feature_namespaces, True)
    parser.parse(xml_file)


def map_xml(function: Callable[[Record], Any], *files: Any) -> None:
    """Calls a function with each record of these files."""
    handler = XmlHandler()
    handler.process_record = function  # type: ignore[method-assign, assignment]
    for file in files:
        parse_xml(file, handler)


def parse_xml_to_array(
    xml_file: Any, strict: bool = False, normalize_form: Any = None
) -> list[Record]:
    """Returns the records of MARCXML as a list."""
    handler = XmlHandler(strict, normalize_form)
    parse_xml(xml_file, handler)
    return handler.records


def record_to_xml_node(record: Record, quiet: bool = False, namespace: bool = False) -> Any:
    """Returns the record as an element of xml.etree."""

    def text(value: Any) -> str:
        return value if isinstance(value, str) else marc8_to_unicode(value, quiet)

    root = ET.Element("record")
    if namespace:
        root.set("xmlns", MARC_XML_NS)
        root.set("xmlns:xsi", XSI_NS)
        root.set("xsi:schemaLocation", MARC_XML_SCHEMA)
    ET.SubElement(root, "leader").text = str(record.leader)
    for field in record.fields:
        if field.control_field:
            node = ET.SubElement(root, "controlfield", {"tag": field.tag})
            node.text = text(field.data)
            continue
        attributes = {"ind1": field.indicator1, "ind2": field.indicator2, "tag": field.tag}
        node = ET.SubElement(root, "datafield", attributes)
        for code, value in field.subfields:
            ET.SubElement(node, "subfield", {"code": code}).text = text(value)
    return root


def record_to_xml(
    record: Record, quiet: bool = False, namespace: bool = False, encoding: str = "us-ascii"
) -> bytes:
    """Returns the record as bytes of XML."""
    made: bytes = ET.tostring(record_to_xml_node(record, quiet, namespace), encoding=encoding)
    return made
