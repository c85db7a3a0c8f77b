# contender: pymarc (json)
# library: pymarc
# usual: yes
# format: marc-json
# gives: record
# install: pip install pymarc
# untrusted: safe
"""JSONReader on each line. It gets a file object: given text, it would ask the file system whether
a file of that name exists."""
from importlib.metadata import version as installed_version
from io import BytesIO

from pymarc import JSONReader


def decode(data):
    return next(iter(JSONReader(BytesIO(data))))


def encode(record):
    return record.as_json(ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def version():
    return installed_version("pymarc")
