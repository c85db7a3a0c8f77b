"""Makes values as applications cache them: products, users, pages, settings.

`PLAIN` are values of JSON's types, `OBJECTS` those for which a pickle needs globals. Each takes random numbers and a
length, and fills the value with text of about that length.
"""

import collections
import dataclasses
import datetime
import decimal
import random
import sys
import types
import uuid

WORDS = """cotton kettle morning river blue garden letter paper window copper bicycle market lemon winter harbour
silver button planet orange mountain pencil travel coffee kitchen shadow camera engine forest ticket bottle small
large quick slow heavy light warm cold new old the and with for from over under after before without Größe café
naïve señor 東京 привет emoji🙂""".split()
NAMES = ["Ada", "Grace", "Linus", "Margaret", "Edsger", "Barbara", "Zoë", "José", "Ken", "Radia", "Yukihiro", "Guido"]
TEXT = " ".join(random.Random(0).choices(WORDS, k=40_000))
BEGAN = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)


def prose(rng, length):
    """Returns text of some length in characters."""
    at = rng.randrange(len(TEXT) - length) if length < len(TEXT) else 0
    return TEXT[at:at + length]


def moment(rng):
    return BEGAN + datetime.timedelta(seconds=rng.randrange(30_000_000), microseconds=rng.randrange(1_000_000))


def user(rng, length):
    name = rng.choice(NAMES)
    return {"id": rng.randrange(1, 10**6), "name": name, "email": f"{name.lower()}{rng.randrange(999)}@example.com",
            "admin": rng.random() < 0.05, "balance": round(rng.random() * 1000, 2), "manager": None,
            "roles": rng.sample(["reader", "editor", "buyer", "owner"], rng.randint(1, 3)),
            "about": prose(rng, length)}


def product(rng, length):
    return {"sku": f"SKU-{rng.randrange(10**7):07}", "title": prose(rng, 24), "price": rng.randrange(100, 10**6),
            "stock": rng.randrange(500), "weight": rng.random() * 20, "tags": rng.choices(WORDS, k=rng.randint(1, 5)),
            "sizes": {"S": rng.randrange(9), "M": rng.randrange(9), "L": rng.randrange(9)},
            "description": prose(rng, length)}


def rows(rng, length):
    """Returns a page of a list: small maps with the same keys."""
    return [{"id": rng.randrange(10**6), "title": prose(rng, rng.randint(8, 30)), "score": rng.randrange(-50, 5000),
             "published": rng.random() < 0.8} for _ in range(max(1, length // 70))]


def numbers(rng, length):
    return [rng.randrange(10**rng.randint(1, 12)) for _ in range(max(1, length // 7))]


def settings(rng, length):
    return {"theme": rng.choice(["dark", "light"]), "per_page": rng.choice([10, 20, 50, 100]), "beta": True,
            "limits": {"day": rng.randrange(10**4), "ratio": rng.random(), "burst": None},
            "flags": {f"flag_{word}": rng.random() < 0.5 for word in WORDS[:max(1, min(30, length // 25))]}}


def text(rng, length):
    return prose(rng, max(1, length))


def html(rng, length):
    """Returns a fragment of a page."""
    body = "".join(f"<li class=\"item\"><a href=\"/p/{rng.randrange(10**5)}\">{prose(rng, 20)}</a></li>"
                   for _ in range(max(1, length // 70)))
    return f"<ul id=\"list-{rng.randrange(10**4)}\">{body}</ul>"


PLAIN = {"user": user, "product": product, "rows": rows, "numbers": numbers, "settings": settings, "text": text,
         "html": html}

# An application's own classes, in a module that a pickle can name.
shop = types.ModuleType("shop")
shop.__path__ = []
models = types.ModuleType("shop.records")
sys.modules["shop"], sys.modules["shop.records"] = shop, models
shop.records = models

Point = collections.namedtuple("Point", "latitude longitude", module="shop.records")


@dataclasses.dataclass
class Basket:
    owner: int
    lines: list
    total: decimal.Decimal
    changed: datetime.datetime
    note: str = ""


class Page:
    """A page of search results, with attributes of its own."""

    def __init__(self, query, hits, total):
        self.query, self.hits, self.total = query, hits, total

    def __eq__(self, other):
        return isinstance(other, Page) and vars(self) == vars(other)


for one in (Point, Basket, Page):
    one.__module__ = "shop.records"
    setattr(models, one.__name__, one)


def order(rng, length):
    return {"number": uuid.UUID(int=rng.getrandbits(128), version=4), "placed": moment(rng), "day": moment(rng).date(),
            "total": decimal.Decimal(rng.randrange(10**7)) / 100, "wait": datetime.timedelta(minutes=rng.randrange(9999)),
            "note": prose(rng, length)}


def basket(rng, length):
    lines = [(rng.randrange(10**6), rng.randrange(1, 9)) for _ in range(rng.randint(1, 6))]
    return Basket(rng.randrange(10**6), lines, decimal.Decimal(rng.randrange(10**6)) / 100, moment(rng), prose(rng, length))


def page(rng, length):
    return Page(prose(rng, 12), rows(rng, length), rng.randrange(10**5))


def seen(rng, length):
    return {"ids": set(numbers(rng, length)), "kinds": frozenset({"a", "b"}), "raw": rng.randbytes(max(1, length // 4))}


def places(rng, length):
    return [Point(rng.uniform(-90, 90), rng.uniform(-180, 180)) for _ in range(max(1, length // 40))]


def ordered(rng, length):
    counts = collections.OrderedDict((word, rng.randrange(10**4)) for word in WORDS[:max(2, min(40, length // 15))])
    return {"counts": counts, "by": collections.defaultdict(list, {"a": [1, 2], "b": [rng.randrange(99)]})}


OBJECTS = {"order": order, "basket": basket, "page": page, "seen": seen, "places": places, "ordered": ordered}
KINDS = {"user": "user:{}:profile", "product": "product:{}", "rows": "posts.list:page:{}", "numbers": "feed:{}:ids",
         "settings": "settings:{}", "text": "note:{}", "html": "template.cache.sidebar.{}", "order": "order:{}",
         "basket": "basket:{}", "page": "search:{}", "seen": "seen:{}", "places": "places:{}", "ordered": "stats:{}"}


def pick(rng, length, objects=True):
    """Returns the name of a shape, and a value of it. Half of the values need no globals."""
    shapes = OBJECTS if objects and rng.random() < 0.5 else PLAIN
    name = rng.choice(list(shapes))
    return name, shapes[name](rng, length)


def key(shape, index):
    return KINDS[shape].format(index)
