# contender: mrrc (marc)
# library: mrrc
# usual: yes
# format: marc
# gives: record
# install: pip install mrrc
# untrusted: safe
"""MARCReader over the bytes (the reader in Rust takes them without a file object).

In its default mode MARCReader yields None for a record that it cannot recover: that must be an
error here, or a record would go missing silently.

A field and its subfields become Python objects when they are asked for, so every subfield is
accessed here, within the time, as in regauge (marc).
"""
import mrrc


def decode_stream(data):
    for record in mrrc.MARCReader(data):
        if record is None:
            raise ValueError("mrrc.MARCReader gave None for a record")
        for field in record.fields():
            if field.is_control_field():
                field.data
            else:
                field.subfields()
        yield record


def encode_stream(records):
    return b"".join([record.as_marc() for record in records])


def version():
    return mrrc.__version__
