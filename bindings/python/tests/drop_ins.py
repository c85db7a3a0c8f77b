"""Values, and comparisons of a drop-in with what it stands for."""

from __future__ import annotations

import math
import random

WORDS = [
    "a", "name", "yes", "No", "y", "null", "~", "true", "1", "1.5", "1e3", "0x1f", "012", "1_000", "12:30:45",
    "2001-01-01", "2001-12-14T21:59:43.10-05:00", "a b", "a: b", "- x", "#c", "x #y", "é", "日本", "😀", "a\nb",
    "tab\t", "", "=", "<<", "word " * 25, "x" * 90, "'q'", '"d"', "a/b.c", "@e", "&a", "*b", "!t", "%p", "v1.0",
    "Hello World (x)", "http://x.y/z?a=b&c", "C:\\x", "[x", "{y", "\u0085", "\ufeff", "\u2028", "nan", "-", "?",
]
NUMBERS = [
    0, 1, -1, 127, 255, 65536, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 2**63, 2**64 - 1, 2**64, 10**25, 0.0,
    -0.0, 1.5, 1 / 3, 1e15, 1e16, 1e17, 1e-4, 1e-5, 1e22, 5e-324, 35127583244683.8125, math.inf, -math.inf,
    math.nan, None, True, False,
]


def value(random, depth=0):
    """Returns a value of plain data."""
    kind = random.random()
    if depth > 4 or kind < 0.4:
        return random.choice(WORDS if random.random() < 0.6 else NUMBERS)
    if kind < 0.7:
        return [value(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice(WORDS): value(random, depth + 1) for _ in range(random.randrange(4))}


VALUES = [value(random.Random(seed)) for seed in range(400)]


def done(call, *arguments, **options):
    """Returns what a call returned or the type of what it raised."""
    try:
        return repr(call(*arguments, **options))
    except Exception as error:
        return type(error).__name__


def compare(ours, theirs, *arguments, **options):
    assert done(ours, *arguments, **options) == done(theirs, *arguments, **options), (arguments, options)


def broken(document, seed):
    """Returns a document with one byte changed."""
    changed = bytearray(document)
    at = random.Random(seed)
    changed[at.randrange(len(changed))] = at.randrange(256)
    return bytes(changed)
