# contender: test late when large
# library: late
# usual: yes
# format: json
# gives: data
# install: pip install late
# untrusted: safe
"""Takes longer than there is for the whole of large data."""
import json
import time


def decode(data):
    if len(data) > 1_000_000:
        time.sleep(60)
    return json.loads(data)


def encode(value):
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def version():
    return "1.0"
