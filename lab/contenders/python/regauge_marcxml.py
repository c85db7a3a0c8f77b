# contender: regauge (marcxml)
# library: regauge
# usual: yes
# format: marcxml
# gives: record
# install: the Python package of regauge (bindings/python)
# untrusted: safe
"""XMLReader over the bytes, XMLWriter. Every subfield is accessed, as in regauge (marc)."""
from io import BytesIO

import regauge
from regauge.marc import XMLReader, XMLWriter


def decode_stream(data):
    for record in XMLReader(BytesIO(data)):
        for field in record.fields:
            if field.is_control_field():
                field.data
            else:
                field.subfields
        yield record


def encode_stream(records):
    out = BytesIO()
    writer = XMLWriter(out)
    for record in records:
        writer.write(record)
    writer.close(close_fh=False)
    return out.getvalue()


def version():
    return regauge.__version__
