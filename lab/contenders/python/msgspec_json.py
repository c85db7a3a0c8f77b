# contender: msgspec (json)
# library: msgspec
# usual: yes
# format: json
# gives: data
# install: pip install msgspec
# untrusted: safe
"""A Decoder and an Encoder made once and used again, as msgspec's manual advises; no schema."""
import msgspec

decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode


def version():
    return msgspec.__version__
