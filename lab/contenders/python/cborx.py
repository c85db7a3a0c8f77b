# contender: cborx
# library: cborx
# usual: yes
# format: cbor
# gives: data
# install: pip install cborx
# untrusted: safe
"""The interface of cbor2, with another implementation."""
from importlib.metadata import version as installed_version

import cborx

decode = cborx.loads
encode = cborx.dumps


def version():
    return installed_version("cborx")
