# contender: test slow
# library: slow
# format: json
# gives: data
# install: pip install slow
# untrusted: safe
# usual: yes
# pace: 30 kB/s
"""Right, and slow."""
import json
import time


def decode(data):
    time.sleep(0.003)
    return json.loads(data)


def encode(value):
    time.sleep(0.003)
    return json.dumps(value, ensure_ascii=False).encode("utf-8")


def version():
    return "1.0"
