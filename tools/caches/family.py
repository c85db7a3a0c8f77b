"""Defines what a writer is: a family of values, each written by a framework, and a label for each key.

A label says what is in a key, before it is read back: its keys are those of `label` below. `survey.py`
turns labels into rows of the manifest. A family yields the label of a key once the key is complete.
"""

import importlib.metadata
import math
import pickletools
import random
import uuid
from dataclasses import dataclass

# Days for which keys with an expiry are kept: long enough that a dump can be loaded for a while.
TTL_DAYS = (2, 90)


class Missing(Exception):
    """The framework is unavailable here; the text says why."""


@dataclass(frozen=True)
class Run:
    """What a family is asked to write: how many values, of which mean size, into which database."""

    family: str
    host: str
    port: int
    database: int
    count: int
    seed: int
    size: int
    # Commands that run Ruby, each with its own Rails on the load path.
    rubies: tuple = ("ruby",)
    # How many values `check` reads.
    checks: int = 200

    @property
    def url(self):
        return f"redis://{self.host}:{self.port}/{self.database}"

    def client(self, **options):
        import redis

        return redis.Redis(host=self.host, port=self.port, db=self.database, **options)

    def random(self, index):
        """Returns the random numbers of a value, the same whether it is made or checked."""
        return random.Random(f"{self.seed}/{self.family}/{index}")

    def share(self, part):
        """Returns how many values are a share of all, at least one."""
        return max(1, int(self.count * part))

    def sample(self, count):
        """Returns some indexes below a count, in order."""
        chosen = random.Random(f"{self.seed}/{self.family}/sample")
        return sorted(chosen.sample(range(count), min(count, self.checks)))

    def length(self, rng):
        """Returns a length: log-normal around the mean, as sizes in caches are, up to 64 KiB."""
        spread = 0.9
        return min(65_536, int(rng.lognormvariate(math.log(max(self.size, 2)) - spread**2 / 2, spread)))


class Family:
    """A group of values that one framework writes.

    A subclass has a `name`, the `share` of all values, the Python `packages` that it needs, `make`, which
    writes the values and yields their labels, and `check`, which reads a sample with the framework and
    yields what it expected and found.
    """

    name = ""
    share = 0.0
    database = 0
    packages = ()

    def versions(self):
        """Returns the version of each package. Raises `Missing`."""
        try:
            return {package: importlib.metadata.version(package) for package in self.packages}
        except importlib.metadata.PackageNotFoundError as error:
            raise Missing(f"the Python package {error.args[0]} is not installed") from error

    def found_versions(self):
        """Returns the versions that only writing reveals: those of a program that this one started."""
        return {}

    def make(self, run):
        raise NotImplementedError

    def check(self, run):
        raise NotImplementedError


def label(key, codec, *, kind="string", framework, envelope=None, steps=(), names=(), content=None, fields=None,
          note=None):
    """Returns the label of a key.

    `codec` is that of the innermost value, `steps` what is taken off to get there, outermost first, `names` the
    classes or globals that the value names. The codec `scalar` stands for `integer`, `float` or `text`, whichever
    the bytes are. All elements of a list, set, sorted set or stream have this label; `fields` has those fields of a
    hash that differ, as labels of their own.
    """
    one = {"key": key, "kind": kind, "framework": framework, "envelope": envelope, "steps": list(steps),
           "codec": codec, "names": sorted(names)}
    for name, said in (("content", content), ("fields", fields), ("note", note)):
        if said is not None:
            one[name] = said
    return one


def field(codec, envelope=None, steps=(), names=(), content=None):
    """Returns the label of a field of a hash."""
    one = {"envelope": envelope, "steps": list(steps), "codec": codec, "names": sorted(names)}
    if content:
        one["content"] = content
    return one


def ttl(rng, share=0.7):
    """Returns an expiry in seconds, or none."""
    if rng.random() > share:
        return None
    return rng.randint(TTL_DAYS[0] * 24, TTL_DAYS[1] * 24) * 3600


def seeded_uuid(run, index):
    return str(uuid.UUID(int=run.random(f"uuid/{index}").getrandbits(128), version=4))


def seed_uuids(run):
    """Makes the identifiers that a framework draws the same in every run. Call it before importing the framework."""
    numbers = run.random("uuids")
    uuid.uuid4 = lambda: uuid.UUID(int=numbers.getrandbits(128), version=4)


def pickle_names(data):
    """Returns the globals that a pickle names, as `module.name`."""
    names, pushed, memo = set(), [], {}
    for opcode, argument, _ in pickletools.genops(data):
        match opcode.name:
            case "GLOBAL" | "INST":
                names.add(argument.replace(" ", "."))
                pushed.append(None)
            case "STACK_GLOBAL":
                names.add(f"{pushed[-2]}.{pushed[-1]}")
                pushed.append(None)
            case "MEMOIZE":
                memo[len(memo)] = pushed[-1] if pushed else None
            case "BINPUT" | "LONG_BINPUT" | "PUT":
                memo[argument] = pushed[-1] if pushed else None
            case "BINGET" | "LONG_BINGET" | "GET":
                pushed.append(memo.get(argument))
            case _:
                pushed.append(argument if isinstance(argument, str) else None)
    return names
