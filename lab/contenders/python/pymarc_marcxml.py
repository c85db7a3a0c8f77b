# contender: pymarc (marcxml)
# library: pymarc
# usual: yes
# format: marcxml
# gives: record
# install: pip install pymarc
# untrusted: safe
"""The SAX reader, which collects one record at a time in a list, and XMLWriter."""
from importlib.metadata import version as installed_version
from io import BytesIO

from pymarc import XMLWriter, parse_xml_to_array


def decode_stream(data):
    return parse_xml_to_array(BytesIO(data))


def encode_stream(records):
    out = BytesIO()
    writer = XMLWriter(out)
    for record in records:
        writer.write(record)
    writer.close(close_fh=False)
    return out.getvalue()


def version():
    return installed_version("pymarc")
