# contender: msgspec (json)
# library: msgspec
# usual: yes
# format: json
# gives: data
# install: pip install msgspec
# untrusted: safe
"""A reused Decoder and Encoder, as msgspec's manual recommends; no schema."""
import msgspec

decode = msgspec.json.Decoder().decode
encode = msgspec.json.Encoder().encode


def version():
    return msgspec.__version__
