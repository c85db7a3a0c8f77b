# contender: pickle (protocol 0)
# library: pickle
# format: pickle-0
# gives: data
# install: comes with Python
# untrusted: runs code: never load bytes that you did not write
"""Protocol 0, text, which was the default of Python 2. It decodes bytes of that protocol too."""
import pickle
import platform
from functools import partial

decode = pickle.loads
encode = partial(pickle.dumps, protocol=0)


def version():
    return f"of Python {platform.python_version()}"
