# contender: test raises
# library: raises
# format: json
# gives: data
# install: pip install raises
# untrusted: safe
"""Refuses the data."""


def decode(data):
    raise ValueError("no, not this\nand not that")


encode = bytes


def version():
    return "1.0"
