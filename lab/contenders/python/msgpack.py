# contender: msgpack
# library: msgpack
# usual: yes
# format: msgpack
# gives: data
# install: pip install msgpack
# untrusted: safe
"""A single Packer for all calls; `strict_map_key` off, because MessagePack allows any key."""
from functools import partial

import msgpack

decode = partial(msgpack.unpackb, strict_map_key=False)
encode = msgpack.Packer().pack


def version():
    return ".".join(str(part) for part in msgpack.version)
