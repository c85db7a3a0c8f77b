#!/usr/bin/env python3
"""Prints the sizes of a binary MARC file in five formats, plain and gzipped, for docs/samples.md.

    regauge sample catalog > catalog.mrc
    python3 tools/sample_check.py catalog.mrc [--tags]

Needs the Python package msgpack and a ruby on the path. regauge itself is not involved, so that the
table is independent evidence: the records are parsed here, with an assertion for each rule of ISO
2709. `--tags` adds the frequency of each tag.
"""

import collections
import gzip
import json
import re
import subprocess
import sys
from xml.sax.saxutils import escape

import msgpack

# Objects laid out like those of ruby-marc 1.3, for Marshal. Reads NDJSON, writes Marshal.
RUBY = """
require 'json'
module MARC
  class ControlField; def initialize(t, v) = (@tag, @value = t, v); end
  class Subfield; def initialize(c, v) = (@code, @value = c, v); end
  class DataField
    def initialize(t, a, b, s) = (@tag, @indicator1, @indicator2, @subfields = t, a, b, s)
  end
  class FieldMap < Array; end
  class Record; def initialize(l, f) = (@fields, @leader = f, l); end
end
$stdin.each_line do |line|
  record = JSON.parse(line)
  fields = MARC::FieldMap.new
  record['fields'].each do |field|
    tag, value = field.first
    fields << if value.is_a?(String)
      MARC::ControlField.new(tag.dup, value)
    else
      parts = value['subfields'].map { |s| MARC::Subfield.new(s.first[0].dup, s.first[1]) }
      MARC::DataField.new(tag.dup, value['ind1'], value['ind2'], parts)
    end
  end
  $stdout.write Marshal.dump(MARC::Record.new(record['leader'], fields))
end
"""


def parse(data):
    """Parses the records of `data` into MARC-in-JSON."""
    position = 0
    while position < len(data):
        length = int(data[position : position + 5])
        record = data[position : position + length]
        assert record[-1] == 0x1D, f"byte {position}: the record does not end where it says"
        position += length
        base = int(record[12:17])
        directory = record[24 : base - 1]
        assert record[base - 1] == 0x1E and len(directory) % 12 == 0
        fields, end = [], 0
        for at in range(0, len(directory), 12):
            tag = directory[at : at + 3].decode()
            size, start = int(directory[at + 3 : at + 7]), int(directory[at + 7 : at + 12])
            assert start == end, "a gap between fields"
            end += size
            field = record[base + start : base + end]
            assert field[-1] == 0x1E
            text = field[:-1].decode("utf-8")
            assert not re.search("[\x00-\x1e\x7f]", text), text
            if tag < "010":
                fields.append({tag: text})
                continue
            indicators, *subfields = text.split("\x1f")
            assert len(indicators) == 2 and subfields and all(len(s) > 1 for s in subfields), text
            fields.append({tag: {"ind1": indicators[0], "ind2": indicators[1],
                                 "subfields": [{s[0]: s[1:]} for s in subfields]}})
        assert base + end + 1 == length
        yield {"leader": record[:24].decode(), "fields": fields}


def marcxml(record, indented):
    """Formats the record as MARCXML, indented by two spaces or in one line."""
    step = (lambda depth: "\n" + "  " * depth) if indented else (lambda depth: "")
    out = [step(1), "<record>", step(2), f"<leader>{record['leader']}</leader>"]
    for field in record["fields"]:
        ((tag, value),) = field.items()
        out.append(step(2))
        if isinstance(value, str):
            out.append(f'<controlfield tag="{tag}">{escape(value)}</controlfield>')
            continue
        out.append(f'<datafield tag="{tag}" ind1="{value["ind1"]}" ind2="{value["ind2"]}">')
        for subfield in value["subfields"]:
            ((code, text),) = subfield.items()
            out += [step(3), f'<subfield code="{code}">{escape(text)}</subfield>']
        out += [step(2), "</datafield>"]
    out += [step(1), "</record>"]
    return "".join(out)


def collection(records, indented):
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    head += '<collection xmlns="http://www.loc.gov/MARC21/slim">'
    body = "".join(marcxml(record, indented) for record in records)
    return (head + body + ("\n" if indented else "") + "</collection>\n").encode()


def main():
    with open(sys.argv[1], "rb") as file:
        marc = file.read()
    records = list(parse(marc))
    lines = [json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in records]
    ndjson = "".join(lines).encode()
    ruby = subprocess.run(["ruby", "-Ku", "-e", RUBY], input=ndjson, capture_output=True, check=True)
    forms = {
        "MARC 21": marc,
        "MessagePack": b"".join(msgpack.packb(record) for record in records),
        "NDJSON": ndjson,
        "Marshal": ruby.stdout,
        "MARCXML": collection(records, False),
        "MARCXML, indented": collection(records, True),
    }
    count = len(records)
    tags, present, subfields = collections.Counter(), collections.Counter(), 0
    for record in records:
        names = [tag for field in record["fields"] for tag in field]
        tags.update(names)
        present.update(set(names))
        values = [value for field in record["fields"] for value in field.values()]
        subfields += sum(len(v["subfields"]) for v in values if not isinstance(v, str))
    print(f"{count} records, {len(marc) / count:.0f} bytes, {tags.total() / count:.1f} fields and "
          f"{subfields / count:.1f} subfields each")
    packed = {name: len(gzip.compress(form, 6)) for name, form in forms.items()}
    print(f"gzip leaves {100 * packed['MARC 21'] / len(marc):.1f}% of MARC 21")
    for name, form in forms.items():
        print(f"{name:18} {len(form):11,} {100 * len(form) / len(marc):6.1f}%  gzipped "
              f"{packed[name]:11,} {100 * packed[name] / packed['MARC 21']:6.1f}%")
    if "--tags" in sys.argv:
        for tag in sorted(tags):
            print(f"{tag}  in {100 * present[tag] / count:5.1f}%  {tags[tag] / present[tag]:.2f} each")


if __name__ == "__main__":
    main()
