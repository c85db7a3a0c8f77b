# contender: mrrc (marcxml)
# library: mrrc
# usual: yes
# format: marcxml
# gives: record
# install: pip install mrrc
# untrusted: safe
"""`xml_to_records` for a whole collection. mrrc writes each record as a separate XML document, so
its declaration is cut off to join them into one collection. Every subfield is accessed, as in mrrc
(marc)."""
import mrrc

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'


def decode_stream(data):
    for record in mrrc.xml_to_records(data.decode("utf-8")):
        for field in record.fields():
            if field.is_control_field():
                field.data
            else:
                field.subfields()
        yield record


def encode_stream(records):
    parts = [DECLARATION, '<collection xmlns="http://www.loc.gov/MARC21/slim">']
    for record in records:
        parts.append(record.to_xml().removeprefix(DECLARATION))
    parts.append("</collection>")
    return "".join(parts).encode("utf-8")


def version():
    return mrrc.__version__
