# contender: ormsgpack
# library: ormsgpack
# usual: yes
# format: msgpack
# gives: data
# install: pip install ormsgpack
# untrusted: safe
"""ormsgpack needs no glue: bytes in, bytes out. It refuses keys that are not text, and timestamps, as it
does by default: `ormsgpack (any)` takes them."""
import ormsgpack

decode = ormsgpack.unpackb
encode = ormsgpack.packb


def version():
    return ormsgpack.__version__
