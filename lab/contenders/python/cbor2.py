# contender: cbor2
# library: cbor2
# usual: yes
# format: cbor
# gives: data
# install: pip install cbor2
# untrusted: safe
"""cbor2 needs no glue: bytes in, bytes out."""
from importlib.metadata import version as installed_version

import cbor2

decode = cbor2.loads
encode = cbor2.dumps


def version():
    return installed_version("cbor2")
