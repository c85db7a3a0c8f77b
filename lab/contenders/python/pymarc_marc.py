# contender: pymarc (marc)
# library: pymarc
# usual: yes
# format: marc
# gives: record
# install: pip install pymarc
# untrusted: safe
"""MARCReader over the bytes, `as_marc` of each record, as MARCWriter does.

MARCReader yields None for a record that it cannot read: that must be an error here, or a record
would go missing silently.
"""
from importlib.metadata import version as installed_version

from pymarc import MARCReader


def decode_stream(data):
    reader = MARCReader(data)
    for record in reader:
        if record is None:
            raise reader.current_exception
        yield record


def encode_stream(records):
    return b"".join([record.as_marc() for record in records])


def version():
    return installed_version("pymarc")
