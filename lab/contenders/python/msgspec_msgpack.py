# contender: msgspec (msgpack)
# library: msgspec
# usual: yes
# format: msgpack
# gives: data
# install: pip install msgspec
# untrusted: safe
"""A reused Decoder and Encoder, as msgspec's manual recommends; no schema."""
import msgspec

decode = msgspec.msgpack.Decoder().decode
encode = msgspec.msgpack.Encoder().encode


def version():
    return msgspec.__version__
