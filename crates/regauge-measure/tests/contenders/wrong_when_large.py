# contender: test wrong when large
# library: wrong-when-large
# format: json
# gives: data
# install: pip install wrong-when-large
# untrusted: safe
"""Changes the last of many elements."""
import json

decode = json.loads


def encode(value):
    if len(value) > 2_000:
        value = [*value[:-1], "another"]
    return json.dumps(value).encode("utf-8")


def version():
    return "1.0"
