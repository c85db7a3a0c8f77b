"""Defines what each published benchmark runs, and how its tables look. Used by tools/figures.py."""

import statistics
from dataclasses import dataclass, field


@dataclass
class Program:
    """A benchmark. Commands are run in a shell, in the repository; {profile}, {target}, {python},
    {newer} and {ruby} are filled in."""

    what: str
    minutes: int
    run: list
    build: list
    crates: tuple = ()
    # Sources of versions that are neither in Cargo.lock nor reported by the benchmark.
    versions: dict = field(default_factory=dict)

    def shown(self):
        """Returns the commands as a reader would repeat them."""
        return self.build + self.run


def bench(name, what, minutes, *crates, words="", before="", versions=()):
    """Returns a program of the crate regauge-bench."""
    return Program(what, minutes, [f"{before}target/{{target}}/{name}{words}"],
                   [f"cargo build --profile {{profile}} -p regauge-bench --bin {name}"], crates, dict(versions))


COMMAND = ["cargo build --profile {profile} -p regauge-cli"]
# Installs a command to compare with into the folder that figures.py puts first in the path. The
# others are measured where they are installed: yaz-marcdump (Debian's yaz), bsondump (MongoDB's
# database tools).
PEERS = ["command -v build/figures/bin/xt || cargo install --quiet --root build/figures xt || true"]
PACKAGE = ["cd bindings/python && cargo build --profile {profile}",
           "cp bindings/python/target/{target}/lib_regauge.so bindings/python/python/regauge/_regauge.so"]
PYTHON = "PYTHONPATH=bindings/python/python {python} bindings/python/benches/"
# For another interpreter, which gets a copy of the package.
PACKAGE_NEWER = ["cd bindings/python && PYO3_PYTHON={newer} cargo build --profile {profile} --target-dir target/newer",
                 "rm -rf build/figures/newer && mkdir -p build/figures/newer",
                 "cp -r bindings/python/python/regauge build/figures/newer/regauge",
                 "cp bindings/python/target/newer/{target}/lib_regauge.so build/figures/newer/regauge/_regauge.so"]
PYTHON_NEWER = "PYTHONPATH=build/figures/newer {newer} bindings/python/benches/"
GEM = ["cd bindings/ruby && PROFILE={profile} rake compile"]
RUBY = "{ruby} -Ibindings/ruby/lib bindings/ruby/benches/"
DOCUMENTS_OF_GRID = "{python} benches/grid/documents.py build/grid"
GATEWAY = ["cargo build --profile {profile} -p regauge-gateway --example load"]
LOAD = "target/{target}/examples/load "

# Ordered by relevance to a reader.
PROGRAMS = {
    "codecs": bench("codecs", "JSON and MessagePack in memory", 2,
                    "serde_json", "rmp-serde", "sonic-rs", "simd-json", words=" 11"),
    "whole": Program("whole processes beside xt, rapidyaml, bsondump, yaz-marcdump", 15,
                     ["{python} benches/whole.py --regauge target/{target}/regauge"], COMMAND + PEERS),
    "query": Program("filters and selection beside jaq and jq", 5,
                     ["{python} benches/query.py --regauge target/{target}/regauge"],
                     COMMAND + ["command -v build/figures/bin/jaq || cargo install --quiet --root build/figures jaq || true"]),
    "python": Program("the Python package beside orjson, msgspec, …", 1, [PYTHON + "compare.py"], PACKAGE),
    "python-newer": Program("the same on a newer CPython (PYTHON_NEWER, python3.13)", 1,
                            [PYTHON_NEWER + "compare.py"], PACKAGE_NEWER),
    "ruby": Program("the gem beside json, Oj, msgpack, …", 1,
                    [f"ROUNDS=9 {RUBY}codecs.rb {table}" for table in
                     ("json", "msgpack", "cbor", "bson", "yaml", "marshal")], GEM),
    "ruby-marc": Program("the gem beside ruby-marc (RUBY_MARC_LIB names its lib)", 1, [f"ROUNDS=9 {RUBY}codecs.rb marc"],
                         GEM),
    "ruby-newer": Program("both with the Ruby of a newer Debian, which root can unpack", 6,
                          ["PROFILE={profile} ROUNDS=9 tools/newer_ruby.sh sh -c 'rake compile && for table in json "
                           "msgpack cbor bson yaml marshal marc; do ruby -Ilib benches/codecs.rb $table || exit 1; done'"],
                          []),
    "gateway": Program("requests to the gateway, from memory and from the database", 2,
                       [LOAD + "ratio", LOAD + "half"], GATEWAY),
    "gateway-tenants": Program("1,000 tenants of the gateway beside one", 4, [LOAD + "tenants"], GATEWAY),
    "grid": Program("the Python package on every document beside the fastest library", 5,
                    [DOCUMENTS_OF_GRID, "PYTHONPATH=bindings/python/python {python} benches/grid/python.py build/grid"],
                    PACKAGE),
    "grid-ruby": Program("the gem on every document beside the fastest library", 5,
                         [DOCUMENTS_OF_GRID, "{ruby} -Ibindings/ruby/lib benches/grid/ruby.rb build/grid"], GEM),
    "slices": Program("batches of slices to Python's objects", 1,
                      ["PYTHONPATH=bindings/python/python {python} benches/slices.py --rounds 15 --codec msgpack "
                       "--codec msgpack+lz4 --codec msgpack+zstd"], PACKAGE),
    "slices-ruby": Program("batches of slices to Ruby's objects", 1, [f"ROUNDS=15 {RUBY}slices.rb"], GEM),
    "store": bench("store", "the store beside bare rusqlite", 4, "rusqlite", words=" 15"),
    "python-store": Program("the Python store beside diskcache and sqlitedict", 3,
                            [PYTHON + "store.py --cpu --rounds 15 --values 200"], PACKAGE),
    "ruby-store": Program("the Ruby store beside Active Record", 2, [f"ROUNDS=5 {RUBY}store.rb"], GEM),
    "binary": bench("binary", "CBOR and BSON in memory", 2, "bson", "ciborium", "cbor4ii", "serde_json", words=" 9"),
    "serde": bench("serde", "Rust's own types", 1, "serde_json", "rmp-serde", words=" 15"),
    "yaml": bench("yaml", "YAML to events", 1, "saphyr-parser", words=" 9", before="RAPIDYAML_PYTHON={python} ",
                  versions={"rapidyaml": "{python} -c 'import importlib.metadata as m; print(m.version(\"rapidyaml\"))'",
                            "libyaml": "pkg-config --modversion yaml-0.1"}),
    "pickle": bench("pickle", "pickle to JSON", 2, "serde-pickle", words=" 9"),
    "marshal": bench("marshal", "Marshal to JSON", 2, "alox-48", words=" 9",
                     versions={"Ruby": "ruby -e 'print RUBY_VERSION'"}),
    "memory": Program("peak memory of converting 1 GB files", 8,
                      ["{python} tools/memory_check.py --regauge target/{target}/regauge"], COMMAND),
    "caches": Program("a dump of Redis: counted, looked into, and 10 GB of it", 4,
                      ["{python} benches/caches.py --rounds 3 --regauge target/{target}/regauge"], COMMAND),
    "caches-live": Program("what looking into a Redis costs it, and its other clients", 6,
                           ["{python} benches/caches_live.py --regauge target/{target}/regauge"],
                           ["cargo build --profile {profile} -p regauge-cli --features servers"]),
    "gateway-soak": Program("ten minutes of reads, writes and misses", 11, [LOAD + "soak 600"], GATEWAY),
}


def about(result):
    """Returns the origin of a table: the block `about`."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    machine = result["machine"]
    place = ", ".join(part for part in (
        f"{machine['cores']} cores of {machine['processor']}", machine.get("system"), machine.get("kernel")) if part)
    rounds = sorted({row["rounds"] for row in result["rows"]})
    shown = f"{rounds[0]}" if len(rounds) == 1 else f"{rounds[0]} to {rounds[-1]}"
    shown = "one round" if rounds == [1] else f"medians of {shown} rounds"
    profile = "" if result["profile"] == "release" else f", built with the quick profile `{result['profile']}`"
    return [f"*{result['date']}, regauge {result['regauge']}{profile}; {place}; {shown}; "
            f"{versions}. Again: `{result['command']}`.*"]


def amount(value, unit):
    """Formats a quantity with three digits."""
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}.get(unit)
    if scale is None:
        return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"
    for name, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)):
        if value * scale >= size or name == "ns":
            return f"{digits(value * scale / size)} {name}"


def digits(value):
    """Formats a number with about three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 99.5 else f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def times(ratio, goal=1.0):
    """Formats a multiple of our time; where we are slower, in bold."""
    return f"**{ratio:.2f}x**" if ratio < goal - 0.005 else f"{digits(ratio)}x"


def spread(ratio, goal=1.0):
    """Formats a ratio with those of the rounds; where we are slower, in bold."""
    median, least, most = ratio
    shown = f"{median:.2f}" if median < 9.95 else digits(median)
    shown = f"**{shown}**" if median < goal - 0.005 else shown
    return shown if least == most else f"{shown} ({digits(least)}–{digits(most)})"


def at_most(value, goal, unit):
    """Formats a quantity that should be small, in bold if it is not."""
    return f"**{value:.1f}{unit}**" if value > goal else f"{value:.1f}{unit}"


def rate(row):
    """Formats bytes per second."""
    scale = {"ns": 1e9, "us": 1e6, "s": 1.0}[row["unit"]]
    megabytes = row["bytes"] / row["median"] * scale / 1e6
    return f"{megabytes / 1e3:.2f} GB/s" if megabytes >= 995 else f"{digits(megabytes)} MB/s"


def of(result, *tables):
    return [row for row in result["rows"] if row["table"] in tables]


def unique(values):
    return list(dict.fromkeys(values))


def header(first, *names):
    """Returns the head of a table: the first column is text, and so are those of peers."""
    columns = "".join("---|" if name in ("peer", "against the fastest of") else "--:|" for name in names)
    return ["| " + " | ".join((first, *names)) + " |", "|---|" + columns]


def line(*cells):
    return "| " + " | ".join(cells) + " |"


def routes(table, title=None):
    """Builds a row per route, a column per case: our speed, then the others' time as a multiple."""
    def render(result):
        rows = of(result, table)
        cases = unique(row["case"] for row in rows)
        text = header(title or f"{table}, peer's time over ours", *cases)
        for at, route in enumerate(unique(row["route"] for row in rows)):
            found = {row["case"]: row for row in rows if row["route"] == route}
            # Bold marks where peers are faster.
            goal = 0.0 if route.startswith("regauge") else 1.0
            shown = [(times(found[case]["ratio"][0], goal) if at else rate(found[case])) if case in found
                     else "cannot read it" for case in cases]
            text.append(line(route, *shown))
        return text
    return render


def label(table):
    """Returns the heading of a table of bindings/python/benches/compare.py."""
    words = table.split(" ")
    said = LABELS.get(table) or " ".join([LABELS.get(words[0], words[0]), *words[1:]])
    return said.replace("YAML 1.1 loads", "YAML loads, schema 1.1")


LABELS = {
    "json": "JSON", "pickle": "pickle", "msgpack": "MessagePack", "cbor": "CBOR", "bson": "BSON", "yaml": "YAML", "marshal": "Ruby Marshal",
    "marc read": "MARC 21, reading", "marc touch": "MARC 21, reading and touching every subfield",
    "marc write": "MARC 21, writing", "marcxml read": "MARCXML, reading",
    "marcxml touch": "MARCXML, reading and touching every subfield", "marcxml write": "MARCXML, writing",
}


def fastest(rows, table, case):
    """Returns our route, and that of the fastest peer; nothing if it was not measured."""
    here = [row for row in rows if row["table"] == table and row["case"] == case]
    if len(here) < 2:
        return None
    return here[0], min(here[1:], key=lambda row: row["ratio"][0])


def operations(title, *tables, goals=False):
    """Builds a row per table and a column per case: the fastest peer's time over ours."""
    def render(result):
        rows = of(result, *tables)
        cases = unique(row["case"] for row in rows)
        text = header(title, "against the fastest of", *(["wanted"] if goals else []), *cases)
        for table in [one for one in tables if any(row["table"] == one for row in rows)]:
            here = [row for row in rows if row["table"] == table]
            peers = unique(row["route"] for row in here if row["route"] != here[0]["route"])
            cells = [fastest(here, table, case) for case in cases]
            wanted = [digits(here[0]["goal"])] if goals else []
            shown = ["" if cell is None else times(cell[1]["ratio"][0], cell[0].get("goal", 1.0)) for cell in cells]
            text.append(line(label(table), ", ".join(peers), *wanted, *shown))
        return text
    return render


def listing(table, first, size=None, only=lambda case: True):
    """Builds a row per case: ours, and each peer with its ratio and those of the rounds."""
    def render(result):
        rows = [row for row in of(result, table) if only(row["case"])]
        peers = unique(row["route"] for row in rows if row is not next(r for r in rows if r["case"] == row["case"]))
        text = header(first, "regauge", *(f"{peer}: its time over ours" for peer in peers))
        for case in unique(row["case"] for row in rows):
            ours, *others = [row for row in rows if row["case"] == case]
            value = size(ours) if size else amount(ours["median"], ours["unit"])
            found = {row["route"]: spread(row["ratio"], row.get("goal", 1.0)) for row in others}
            text.append(line(case, value, *(found.get(peer, "") for peer in peers)))
        return text
    return render


def amounts(table, first):
    """Builds a row per case: the measurements of every route."""
    def render(result):
        rows = of(result, table)
        names = unique(row["route"] for row in rows)
        text = header(first, *names)
        for case in unique(row["case"] for row in rows):
            found = {row["route"]: amount(row["median"], row["unit"]) for row in rows if row["case"] == case}
            text.append(line(case, *(found.get(name, "") for name in names)))
        return text
    return render


def each(row):
    """Returns the time per value of a sample."""
    return amount(row["median"] / row["bytes"], row["unit"])


def whole(result):
    """Builds whole-process rows: our MB per second of CPU time, and the peers' multiples."""
    rows = [row for row in of(result, "processor time") if "over cores" not in row["case"]]
    text = header("", "regauge, MB per CPU second", "peer", "peer's time over ours")
    for case in unique(row["case"] for row in rows):
        ours, *others = [row for row in rows if row["case"] == case]
        speed = f"{ours['bytes'] / ours['median'] / 1e6:,.0f}"
        text.append(line(case, speed, " / ".join(row["route"] for row in others) or "not installed",
                         " / ".join(spread(row["ratio"]) for row in others)))
    return text


def cores(result):
    """Compares the same conversion on one core and on two."""
    text = header("", "by the clock", "processor time", "speed by the clock")
    clock, cpu = ([row for row in of(result, table) if "over cores" in row["case"]]
                  for table in ("clock", "processor time"))
    for wall, spent in zip(clock, cpu):
        faster = clock[0]["median"] / wall["median"]
        text.append(line(wall["route"], amount(wall["median"], "s"), amount(spent["median"], "s"), f"{faster:.2f}x"))
    return text


def memory(result):
    """Shows the peak resident memory of conversions."""
    text = header("`regauge …`", "peak")
    for row in of(result, "peak memory"):
        text.append(line(f"`{row['case']}`", amount(row["median"], "MB")))
    return text


def caches(result):
    """Shows the rate and the peak memory of looking into a dump."""
    text = header("a dump of 1 GB", "MB a second of one core", "MB a second by the clock, all cores", "peak memory")
    peaks = {row["case"]: row["median"] for row in of(result, "peak memory")}
    for row, clock in zip(of(result, "processor time"), of(result, "clock")):
        rates = (f"{one['bytes'] / one['median'] / 1e6:,.0f}" for one in (row, clock))
        text.append(line(row["case"], *rates, amount(peaks.pop(row["case"]), "MB")))
    return [*text, *(line(case, "", "", amount(peak, "MB")) for case, peak in peaks.items())]


def grid(result):
    """Builds a row per document, a column per operation: the fastest peer's time over ours."""
    tables = unique(row["table"] for row in result["rows"])
    text = header("document", *(label(table) for table in tables))
    for case in sorted(unique(row["case"] for row in result["rows"])):
        found = [fastest(result["rows"], table, case) for table in tables]
        text.append(line(case, *("" if pair is None else times(pair[1]["ratio"][0]) for pair in found)))
    return text


def grid_summary(result):
    """Builds a row per operation: the median and the least ratio over all documents, and how many are below 1."""
    text = header("peer's time over ours", "against the fastest of", "documents", "median", "least", "below 1.0")
    for table in unique(row["table"] for row in result["rows"]):
        rows = of(result, table)
        cells = [fastest(rows, table, case) for case in unique(row["case"] for row in rows)]
        ratios = [peer["ratio"][0] for _, peer in cells]
        least = min(cells, key=lambda pair: pair[1]["ratio"][0])[1]
        text.append(line(label(table), ", ".join(sorted({peer["route"] for _, peer in cells})), str(len(cells)),
                         times(statistics.median(ratios)), f"{times(least['ratio'][0])} ({least['case']})",
                         str(sum(ratio < 0.995 for ratio in ratios))))
    return text


def slices(result):
    """Builds a column per codec: the driver's time over the store's."""
    tables = unique(row["table"] for row in result["rows"])
    text = header("driver's time over the store's", "driver", *tables)
    for case in unique(row["case"] for row in result["rows"]):
        found = [fastest(result["rows"], table, case) for table in tables]
        text.append(line(case, amount(found[0][1]["median"], "s"), *(spread(peer["ratio"]) for _, peer in found)))
    return text


def gateway(result):
    """Shows a gateway's throughput, answering from its memory and from the database."""
    found = {(row["table"], row["case"], row["route"]): row for row in result["rows"]}
    text = header("", "wanted", "documents read lately", "each from the database")
    get = [found["get", case, "regauge"] for case in ("memory", "database")]
    static = found["get", "memory", "static bytes"]
    shown = [f"{spread(row['ratio'], 0.7)}, {row['median']:,.0f} a second" for row in get]
    text.append(line(f"GET over static bytes of the same server ({static['median']:,.0f} a second)", "0.7", *shown))
    shown = [f"{at_most(found['half', case, 'p99']['median'], 5, ' ms')} (p50 {found['half', case, 'p50']['median']:.1f} ms, at "
             f"{found['half', case, 'rate']['median']:,.0f} a second)" for case in ("memory", "database")]
    return [*text, line("p99 at half of the highest rate", "5 ms", *shown)]


def tenants(result):
    """Shows the cost of many tenants relative to one."""
    found = {(row["case"], row["route"]): row for row in result["rows"]}
    text = header("", "wanted", "documents read lately", "each from the database")
    cost = lambda row: " to ".join(  # noqa: E731
        f"{(1 - one) * 100:.1f}" for one in (row["ratio"][2], row["ratio"][1]))
    rows = [found[case, "1,000 tenants"] for case in ("memory", "database", "database, a quarter open")]
    shown = [f"{at_most((1 - row['ratio'][0]) * 100, 5.3, '%')} ({cost(row)}%)" for row in rows]
    text.append(line("what 1,000 tenants with a file each cost against one", "5.3%", *shown[:2]))
    text.append(line("the same with `open_tenants = 250`: most requests open a file", "", "", shown[2]))
    kept = [amount(found[case, "memory of a tenant"]["median"], "KB") + ", " +
            amount(found[case, "files of a tenant"]["median"], "files") for case in ("memory", "database")]
    text.append(line("memory and files of one of 1,000 open tenants, all of the gateway's counted", "", *kept))
    return text


def soak(result):
    """Shows memory over the minutes of a soak."""
    found = {row["route"]: row for row in result["rows"]}
    requests, seconds = found["requests"]["median"], found["seconds"]["median"]
    return [f"{requests:,.0f} requests in {seconds:.0f} s, {requests / seconds:,.0f} a second; resident memory: "
            f"{found['resident at two thirds']['median']:.1f} MB after two thirds of the time, "
            f"{found['resident at the end']['median']:.1f} MB at the end."]


DOCUMENTS = ("JSON", "MessagePack", "CBOR", "BSON", "Marshal")
PYTHON_ROWS = [f"{name} {way}" for name in ("json", "msgpack", "cbor", "bson", "yaml", "yaml 1.1", "pickle", "marshal")
               for way in ("loads", "dumps")]
MARC_ROWS = ("marc read", "marc touch", "marc write", "marcxml read", "marcxml touch", "marcxml write")
RUBY_ROWS = [f"{name} {way}" for name in DOCUMENTS for way in ("load", "dump")]
RUBY_OBJECTS = (
    "objects one by one, dump", "objects one by one, load", "objects in one array, dump", "objects in one array, load")
RUBY_MARC = (
    "MARC 21 to records, all read", "MARC 21 to MARC::Record", "records to MARC 21", "untouched records to MARC 21",
    "MARC::Records to MARC 21", "MARCXML to records, all read", "records to MARCXML")


def single(*tables):
    """Builds a row for each table with a single input."""
    def render(result):
        text = header("", "peer", "peer's time over ours")
        for table in tables:
            if found := fastest(result["rows"], table, ""):
                text.append(line(table, found[1]["route"], spread(found[1]["ratio"])))
        return text
    return render


TABLES = {
    ("codecs", "to-msgpack"): routes("JSON to MessagePack"),
    ("codecs", "to-json"): routes("MessagePack to JSON"),
    ("binary", "to-json"): routes("to JSON", "to JSON, time over that of our CBOR"),
    ("binary", "from-json"): routes("from JSON", "from JSON, time over that of our CBOR"),
    ("marshal", "to-json"): routes("Marshal to JSON"),
    ("pickle", "to-json"): routes("pickle to JSON"),
    ("serde", "from-json"): routes("a struct from JSON", "structs from JSON, peer's time over ours"),
    ("serde", "from-msgpack"): routes("a struct from MessagePack", "structs from MessagePack, peer's time over ours"),
    ("serde", "to-json"): routes("JSON from a struct", "structs to JSON, peer's time over ours"),
    ("serde", "to-msgpack"): routes("MessagePack from a struct", "structs to MessagePack, peer's time over ours"),
    ("yaml", "events"): routes("YAML", "YAML, time over that of our events"),
    ("whole", "processes"): whole,
    ("query", "filters"): listing("clock", "NDJSON of tweets, by the clock"),
    ("whole", "cores"): cores,
    ("memory", "peak"): memory,
    ("caches", "rates"): caches,
    ("caches-live", "cost"): amounts("live", "300,000 keys"),
    ("store", "rusqlite"): listing("store", "rusqlite's time over ours, by the clock", each),
    ("grid", "summary"): grid_summary,
    ("grid", "documents"): grid,
    ("grid-ruby", "summary"): grid_summary,
    ("grid-ruby", "documents"): grid,
    ("slices", "python"): slices,
    ("slices-ruby", "ruby"): slices,
    ("gateway", "speed"): gateway,
    ("gateway-tenants", "cost"): tenants,
    ("gateway-soak", "memory"): soak,
    ("python", "formats"): operations("peer's time over ours", *PYTHON_ROWS, goals=True),
    ("python-newer", "formats"): operations("peer's time over ours", *PYTHON_ROWS, goals=True),
    ("python-newer", "marc"): operations("peer's time over ours", *MARC_ROWS, goals=True),
    ("python", "marc"): operations("peer's time over ours", *MARC_ROWS, goals=True),
    ("python", "memory"): amounts("memory", "peak memory of loading"),
    ("python-store", "peers"): listing("store", "processor time of a value"),
    ("ruby", "documents"): operations("peer's time over ours", *RUBY_ROWS),
    ("ruby", "yaml"): operations("peer's time over ours", "YAML load", "YAML dump"),
    ("ruby", "objects"): single(*RUBY_OBJECTS),
    ("ruby-marc", "records"): single(*RUBY_MARC),
    ("ruby-newer", "documents"): operations("peer's time over ours", *RUBY_ROWS),
    ("ruby-newer", "yaml"): operations("peer's time over ours", "YAML load", "YAML dump"),
    ("ruby-newer", "others"): single(*RUBY_OBJECTS, *RUBY_MARC),
    ("ruby-store", "clock"): listing("clock", "by the clock", each),
    ("ruby-store", "cpu"): listing("processor time", "processor time", each),
}
