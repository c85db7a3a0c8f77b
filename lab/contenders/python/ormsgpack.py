# contender: ormsgpack
# library: ormsgpack
# usual: yes
# format: msgpack
# gives: data
# install: pip install ormsgpack
# untrusted: safe
"""ormsgpack needs no glue: bytes in, bytes out."""
import ormsgpack

decode = ormsgpack.unpackb
encode = ormsgpack.packb


def version():
    return ormsgpack.__version__
