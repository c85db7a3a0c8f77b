# contender: orjson
# library: orjson
# usual: yes
# format: json
# gives: data
# install: pip install orjson
# untrusted: safe
"""orjson needs no glue: bytes in, bytes out."""
import orjson

decode = orjson.loads
encode = orjson.dumps


def version():
    return orjson.__version__
