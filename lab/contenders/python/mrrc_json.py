# contender: mrrc (json)
# library: mrrc
# format: marc-json
# gives: record
# install: pip install mrrc
# untrusted: safe
"""The functions of mrrc that read and write MARC-in-JSON like pymarc: `to_json` and `to_marcjson`,
though faster, use formats of mrrc's own that no other library reads. Every subfield is accessed, as in
mrrc (marc)."""
import mrrc


def decode(data):
    record = mrrc.parse_json_to_array(data.decode("utf-8"))[0]
    for field in record.fields():
        if field.is_control_field():
            field.data
        else:
            field.subfields()
    return record


def encode(record):
    return record.as_json(ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def version():
    return mrrc.__version__
