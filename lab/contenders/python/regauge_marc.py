# contender: regauge (marc)
# library: regauge
# usual: yes
# format: marc
# gives: record
# install: the Python package of regauge (bindings/python)
# untrusted: safe
"""MARCReader over the bytes, `as_marc` of each record.

A regauge record keeps its bytes and parses fields on first access. The others parse everything up
front, so every subfield is accessed here, within the time.
"""
import regauge
from regauge.marc import MARCReader


def decode_stream(data):
    reader = MARCReader(data)
    for record in reader:
        if record is None:
            raise reader.current_exception
        for field in record.fields:
            if field.is_control_field():
                field.data
            else:
                field.subfields
        yield record


def encode_stream(records):
    return b"".join([record.as_marc() for record in records])


def version():
    return regauge.__version__
