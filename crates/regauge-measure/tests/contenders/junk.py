# contender: test junk
# library: junk
# format: json
# gives: data
# install: pip install junk
# untrusted: safe
"""Writes into the middle of the protocol."""
import sys


def decode(data):
    answers = sys.modules["__main__"].answers
    answers.write("Segmentation fault, or is it?\n")
    answers.flush()
    return None


encode = bytes


def version():
    return "1.0"
