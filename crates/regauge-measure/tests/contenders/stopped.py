# contender: test stopped
# library: stopped
# format: json
# gives: data
# install: pip install stopped
# untrusted: safe
"""Does what the document says, each of which one of the bounds is for."""
import json
import os
import signal
import subprocess


class Later:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGSEGV)


def decode(data):
    word = json.loads(data)
    if word == "refuse":
        raise ValueError("no, not this")
    if word == "ask":
        return bytes(8 << 30)
    if word == "grow":
        kept = []
        while True:
            kept.append(b"x" * (1 << 20))
    if word == "child":
        subprocess.Popen(["sleep", "31556926.5"])
    if word in ("endless", "child"):
        while True:
            pass
    if word == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if word == "later":
        return Later()
    return word


def encode(value):
    return json.dumps(value).encode("utf-8")


def version():
    return "1.0"
