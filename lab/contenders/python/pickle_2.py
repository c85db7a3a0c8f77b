# contender: pickle (protocol 2)
# library: pickle
# format: pickle-2
# gives: data
# install: comes with Python
# untrusted: runs code: never load bytes that you did not write
"""Protocol 2, the last that Python 2 can read. It decodes bytes of that protocol too."""
import pickle
import platform
from functools import partial

decode = pickle.loads
encode = partial(pickle.dumps, protocol=2)


def version():
    return f"of Python {platform.python_version()}"
