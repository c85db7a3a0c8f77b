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
"""
import mrrc


def decode_stream(data):
    for record in mrrc.MARCReader(data):
        if record is None:
            raise ValueError("mrrc.MARCReader gave None for a record")
        yield record


def encode_stream(records):
    return b"".join([record.as_marc() for record in records])


def version():
    return mrrc.__version__
