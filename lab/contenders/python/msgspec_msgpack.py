# contender: msgspec (msgpack)
# library: msgspec
# usual: yes
# format: msgpack
# gives: data
# install: pip install msgspec
# untrusted: safe
"""A Decoder and an Encoder made once and used again, as msgspec's manual advises; no schema."""
import msgspec

decode = msgspec.msgpack.Decoder().decode
encode = msgspec.msgpack.Encoder().encode


def version():
    return msgspec.__version__
