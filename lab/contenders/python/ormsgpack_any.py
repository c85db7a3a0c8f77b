# contender: ormsgpack (any)
# library: ormsgpack
# format: msgpack
# gives: data
# install: pip install ormsgpack
# untrusted: safe
"""ormsgpack with the options that it needs for keys that are not text and for timestamps; other data
is read faster without."""
from functools import partial

import ormsgpack

_option = ormsgpack.OPT_NON_STR_KEYS | ormsgpack.OPT_DATETIME_AS_TIMESTAMP_EXT

decode = partial(ormsgpack.unpackb, option=_option)
encode = partial(ormsgpack.packb, option=_option)


def version():
    return ormsgpack.__version__
