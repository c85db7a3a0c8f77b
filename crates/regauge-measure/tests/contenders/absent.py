# contender: test absent
# library: absent
# format: json
# gives: data
# install: pip install absent
# untrusted: safe
"""Needs a library that nobody has."""
import regauge_no_such_library

decode = regauge_no_such_library.loads
encode = regauge_no_such_library.dumps


def version():
    return regauge_no_such_library.__version__
