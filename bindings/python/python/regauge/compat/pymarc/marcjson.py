"""pymarc's MARC-in-JSON."""

from __future__ import annotations

from typing import Any

from .reader import JSONReader
from .record import Record

__all__ = ["JSONHandler", "parse_json_to_array"]


class JSONHandler:
    """Builds records from the result of json.load."""

    def __init__(self) -> None:
        self.records: list[Any] = []

    def element(self, element_dict: dict[str, Any], name: Any = None) -> None:
        """Adds the record of one dict."""
        self.process_record(Record.from_dict(element_dict))

    def elements(self, dict_list: Any) -> list[Any]:
        """Adds the records of a list of dicts, or of a single one."""
        for one in dict_list if isinstance(dict_list, list) else [dict_list]:
            self.element(one)
        return self.records

    def process_record(self, record: Any) -> None:
        """Called with each record; keeps it."""
        self.records.append(record)


def parse_json_to_array(json_file: Any) -> list[Any]:
    """Returns the records of MARC-in-JSON as a list."""
    return JSONHandler().elements(JSONReader(json_file).records)
