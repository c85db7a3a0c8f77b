#!/usr/bin/env python3
"""Writes the documents of the grid as JSON files into a folder:

    python3 benches/grid/documents.py build/grid

All JSON documents that `make data` fetches, and generated ones of the kinds that benchmarks leave out, with a fixed
seed. The bytes of the fetched ones are kept as they are.
"""

import argparse
import gzip
import json
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "build" / "data" / "json"
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюя"
CHINESE = "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生"
EMOJI = ["😀", "🎉", "👩‍💻", "🚀", "❤️", "👍🏽", "🇪🇺", "🍕"]
LATIN = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore".split()


def words(chance, letters, count, longest=9):
    """Returns words of random letters."""
    return ["".join(chance.choices(letters, k=chance.randint(2, longest))) for _ in range(count)]


def prose(chance, vocabulary, paragraphs, length, joined=" "):
    """Returns paragraphs of words."""
    return [{"title": joined.join(chance.choices(vocabulary, k=4)), "text": joined.join(chance.choices(vocabulary, k=length))}
            for _ in range(paragraphs)]


def deep(levels):
    """Returns maps in maps."""
    value = {"leaf": 1}
    for level in range(levels):
        value = {"name": f"level {level}", "child": value}
    return value


def description(chance, paths):
    """Returns an API description as OpenAPI writes it."""
    schema = {"type": "object", "properties": {"id": {"type": "integer", "format": "int64"}, "name": {"type": "string"}}}
    answer = {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}},
              "404": {"description": "There is no such resource."}}
    parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    return {"openapi": "3.1.0", "info": {"title": "Orders", "version": "1.2.0"}, "paths": {
        f"/{chance.choice(LATIN)}/{at}/{{id}}": {
            method: {"operationId": f"{method}{at}", "summary": " ".join(chance.choices(LATIN, k=8)), "tags": ["orders"],
                     "parameters": [parameter], "responses": answer} for method in ("get", "put", "delete")}
        for at in range(paths)}}


def geography(chance, features):
    """Returns GeoJSON: polygons of coordinates with six decimals."""
    return {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {"name": chance.choice(LATIN), "population": chance.randint(100, 10 ** 7)},
         "geometry": {"type": "Polygon", "coordinates": [
             [[round(chance.uniform(-180, 180), 6), round(chance.uniform(-90, 90), 6)] for _ in range(40)]]}}
        for _ in range(features)]}


def log(chance, lines):
    """Returns the lines of an access log."""
    return [{"ts": f"2026-11-{chance.randint(1, 30):02}T{chance.randint(0, 23):02}:15:{chance.randint(0, 59):02}.123Z",
             "level": chance.choice(["info", "warn", "error"]), "path": f"/api/v1/{chance.choice(LATIN)}/{chance.randint(1, 9999)}",
             "status": chance.choice([200, 200, 200, 304, 404, 500]), "ms": round(chance.expovariate(0.05), 3),
             "agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36", "user": None} for _ in range(lines)]


def configuration(chance, services):
    """Returns a configuration."""
    return {"version": 3, "services": {f"{chance.choice(LATIN)}-{at}": {
        "image": f"registry.example/{chance.choice(LATIN)}:{at}.0", "ports": [f"{8000 + at}:80"], "restart": "always",
        "environment": {word.upper(): str(chance.randint(0, 99)) for word in LATIN[:6]},
        "healthcheck": {"interval": "10s", "retries": 3, "disabled": False}, "replicas": chance.randint(1, 5)}
        for at in range(services)}}


def generated():
    """Yields the name, the value and the indentation of each generated document."""
    chance = random.Random(25)
    escapes = ['line\n', 'tab\t', '"quoted" ', 'C:\\dir\\file ', 'a/b ', '\u0007', '\u2028', 'plain ']
    yield "escapes", ["".join(chance.choices(escapes, k=20)) for _ in range(500)], None
    yield "cyrillic", prose(chance, words(chance, CYRILLIC, 400), 60, 120), None
    yield "chinese", prose(chance, words(chance, CHINESE, 400, 5), 60, 120, "，"), None
    yield "emoji", prose(chance, LATIN + EMOJI * 2, 60, 60), None
    yield "scripts-short", [{"a": chance.choice(words(chance, letters, 1)), "b": chance.choice(LATIN)}
                            for _ in range(1000) for letters in (CYRILLIC, CHINESE, "äöüßéèñ")], None
    yield "indent-deep", [deep(60) for _ in range(10)], 4
    yield "indent-wide", log(chance, 300), 4
    yield "prose-long", [" ".join(chance.choices(LATIN, k=4000)) for _ in range(10)], None
    yield "prose-latin1", prose(chance, words(chance, "abcdefghijklmnoäöüßé", 400), 60, 120), None
    yield "keys-short", [{key: at for at, key in enumerate("abcdefghijkl")} for _ in range(700)], None
    yield "keys-distinct", {word: at for at, word in enumerate(words(chance, "abcdefghijklmnopqrstuvwxyz", 6000, 14))}, None
    yield "api", description(chance, 60), None
    yield "api-indented", description(chance, 60), 2
    yield "geojson", geography(chance, 60), None
    yield "integers", [chance.randint(-10 ** chance.randint(1, 9), 10 ** chance.randint(1, 9)) for _ in range(10000)], None
    yield "integers-small", [chance.randint(0, 200) for _ in range(10000)], None
    yield "doubles", [chance.gauss(0, 1000) for _ in range(6000)], None
    yield "literals", [chance.choice([True, False, None]) for _ in range(20000)], None
    yield "strings-short", words(chance, "abcdefghijklmnopqrstuvwxyz", 10000), None
    yield "nested-empty", [[[], {}, [[]], {"a": {}}] for _ in range(2000)], None
    yield "log", log(chance, 400), None
    yield "configuration", configuration(chance, 60), 2


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(path for path in DATA.rglob("*.json*") if path.is_file())
    if not paths:
        sys.exit("no data: `make data` gets it")
    for path in paths:
        data = path.read_bytes()
        name = path.name.removesuffix(".gz").removesuffix(".json")
        (folder / f"{name}.json").write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
    for name, value, indent in generated():
        separators = None if indent else (",", ":")
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
