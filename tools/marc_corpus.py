#!/usr/bin/env python3
"""Writes corpus/marc: small made-up records, each demonstrating one thing.

Run from the root of the repository: python3 tools/marc_corpus.py
The messages for the invalid files are written by: BLESS=1 cargo test -p regauge --test corpus
"""

import os

UTF8 = "00000nam a2200000   4500"
MARC8 = "00000nam  2200000   4500"


def record(leader, fields, length=None, base=None, directory=None):
    """Returns the bytes of a record with correct numbers, unless overridden."""
    entries, data = b"", b""
    for tag, content in fields:
        content = content if isinstance(content, bytes) else content.encode()
        entries += b"%s%04d%05d" % (tag.encode("latin-1"), len(content) + 1, len(data))
        data += content + b"\x1e"
    entries = directory if directory is not None else entries
    right_base = 24 + len(entries) + 1
    right_length = right_base + len(data) + 1
    head = leader.encode("latin-1")
    numbers = b"%05d" % (right_length if length is None else length)
    head = numbers + head[5:12] + b"%05d" % (right_base if base is None else base) + head[17:]
    return head + entries + b"\x1e" + data + b"\x1d"


TITLE = ("245", "10\x1faA title /\x1fcby somebody.")
ID = ("001", "made-up 1")

VALID = {
    "one.mrc": record(UTF8, [ID, ("008", "260101s2026    xx            000 0 eng d"), TITLE]),
    "empty.mrc": b"",
    "no_fields.mrc": record(UTF8, []),
    "utf8.mrc": record(UTF8, [ID, ("245", "00\x1faНазвание и 書名 \U0001f4da e\u0301")]),
    "marc8.mrc": record(
        MARC8,
        [
            ID,
            ("100", b"1 \x1faDvo\xe9r\xe2ak, Anton\xe2in"),
            ("245", b"10\x1faCaf\xe2e \x1b(NmOSKWA\x1b(B \x1b$1!0!!0#\x1b(B"),
            ("500", b"  \x1faH\x1bb2\x1bsO, \xc3 1999"),
        ],
    ),
    "utf8_under_blank_leader.mrc": record(MARC8, [ID, ("245", "10\x1fa\u00e9t\u00e9")]),
    "unimarc.mrc": record(
        "00000nam0 2200000   450 ",
        [("001", "u1"), ("100", "  \x1fa20260101d2026    u  y0frey50      ba"), ("200", "1 \x1fa\u00c9t\u00e9\x1ff\u00c9mile")],
    ),
    "odd_fields.mrc": record(
        UTF8,
        [
            ID,
            ("007", "\x1fav\x1fbf"),
            ("FMT", "BK"),
            ("LKR", ""),
            ("240", "10"),
            ("245", "\x1fano indicators"),
            ("246", "1\x1faone indicator"),
            ("247", "1 \\\x1fathree indicators"),
            ("500", "  \x1fa\x1fb\x1f\x1f"),
            ("501", "  \x1f\u00e9 a code beyond ASCII"),
        ],
    ),
    "between_records.mrc": b"\xef\xbb\xbf\r\n" + record(UTF8, [ID]) + b"\r\n\0\x1a " + record(UTF8, [TITLE]),
    "several.mrc": b"".join(record(UTF8 if n % 2 else MARC8, [("001", f"r{n}"), TITLE]) for n in range(20)),
    "control_characters.mrc": record("00000nam a2200000   45\x020", [("001", "a\x01b"), ("245", "1\x02\x1f\x03\x00\x7f\r\n\t")]),
}

INVALID = {
    "not_marc.mrc": b"This is a text and no record at all.",
    "cut_in_leader.mrc": record(UTF8, [ID])[:17],
    "cut_in_directory.mrc": record(UTF8, [ID, TITLE])[:40],
    "cut_in_data.mrc": record(UTF8, [ID, TITLE])[:-5],
    "base_is_no_number.mrc": record(UTF8, [ID]).replace(b"00037", b"0003x"),
    "base_is_wrong.mrc": record(UTF8, [ID, TITLE], base=30),
    "directory_of_wrong_length.mrc": record(UTF8, [ID], directory=b"0010010000001"),
    "entry_is_no_number.mrc": record(UTF8, [ID], directory=b"00100x000000"),
    "entry_is_too_short.mrc": record(UTF8, [ID], directory=b"001000900000"),
    "entry_is_too_long.mrc": record(UTF8, [ID], directory=b"001999900000"),
    "entries_overlap.mrc": record(UTF8, [ID], directory=b"001001000000" * 2),
    "tag_is_not_printable.mrc": record(UTF8, [("00\x01", "x")]),
    "terminator_in_field.mrc": record(UTF8, [ID, ("245", "10\x1faa\x1eb")]),
    "not_utf8.mrc": record(UTF8, [ID, ("245", b"10\x1faCaf\xe9")]),
    "not_marc8.mrc": record(MARC8, [ID, ("245", b"10\x1faa\xff")]),
    "bad_escape.mrc": record(MARC8, [ID, ("245", b"10\x1faa\x1b(zb")]),
}

LEADER = "<leader>00000nam a2200000   4500</leader>"
FIELD = '<datafield tag="245" ind1="1" ind2="0"><subfield code="a">A title</subfield></datafield>'
SLIM = 'xmlns="http://www.loc.gov/MARC21/slim"'

VALID_XML = {
    "one.marcxml": f"<record {SLIM}>{LEADER}{FIELD}</record>",
    "empty.marcxml": f'<?xml version="1.0" encoding="UTF-8"?>\n<collection {SLIM}/>\n',
    "indented.marcxml": f"""<?xml version="1.0" encoding="utf-8" standalone='yes'?>
<!-- a comment with <record> in it -->
<?an instruction with <record>?>
<!DOCTYPE collection SYSTEM "marc.dtd">
<collection {SLIM}>
  <record>
    {LEADER}
    <controlfield tag="001">made-up 1</controlfield>
    <controlfield tag='008'
      >  blanks kept  </controlfield>
    <datafield tag="245" ind1="1" ind2="0">
      <subfield code="a">A &amp; B &lt;c&gt; &#x00e9;&#233; "d" 'e'</subfield>
      <subfield code="b"><![CDATA[<&]]]]><![CDATA[>]]></subfield>
      <subfield code="c">a<!-- b -->c<?d e?>f</subfield>
      <subfield code="d"/>
    </datafield>
    <datafield ind2='&#x20;' tag='&#50;46' ind1=''></datafield>
  </record>
</collection>
""",
    "prefix.marcxml": f'<m:collection xmlns:m="http://www.loc.gov/MARC21/slim"><m:record><m:leader>00000nam a2200000   4500</m:leader><m:controlfield tag="001">x</m:controlfield></m:record></m:collection>',
    "carried.marcxml": f'<record>{LEADER.replace(" a2", "  2")}<?regauge charset="utf-8"?><controlfield tag="001">a<?regauge u+0001?>b</controlfield><datafield tag="245" ind1="1" ind2="0"><subfield code="&#xFFFD;"><?regauge code u+0002?>\u00e9</subfield></datafield></record>',
    "several.marcxml": f"<collection>{''.join(f'<record>{LEADER}<controlfield tag={chr(34)}001{chr(34)}>r{n}</controlfield>{FIELD}</record>' for n in range(20))}</collection>",
}

INVALID_XML = {
    "text.marcxml": "a text",
    "latin1.marcxml": '<?xml version="1.0" encoding="ISO-8859-1"?><record/>',
    "entities.marcxml": '<!DOCTYPE record [<!ENTITY a "b">]><record/>',
    "unknown_entity.marcxml": f"<record>{LEADER}<controlfield tag='001'>&nbsp;</controlfield></record>",
    "lone_ampersand.marcxml": f"<record>{LEADER}<controlfield tag='001'>a & b</controlfield></record>",
    "control_character.marcxml": f"<record>{LEADER}<controlfield tag='001'>a\x07b</controlfield></record>",
    "control_reference.marcxml": f"<record>{LEADER}<controlfield tag='001'>a&#7;b</controlfield></record>",
    "end_of_cdata.marcxml": f"<record>{LEADER}<controlfield tag='001'>a]]>b</controlfield></record>",
    "no_end.marcxml": f"<collection><record>{LEADER}",
    "wrong_end.marcxml": f"<record>{LEADER}<controlfield tag='001'>a</subfield></record>",
    "no_tag.marcxml": f"<record>{LEADER}<controlfield>a</controlfield></record>",
    "no_code.marcxml": f"<record>{LEADER}{FIELD.replace(' code=', ' kode=')}</record>",
    "twice.marcxml": f"<record>{LEADER}<controlfield tag='001' tag='002'/></record>",
    "unquoted.marcxml": f"<record>{LEADER}<controlfield tag=001>a</controlfield></record>",
    "angle_in_attribute.marcxml": f"<record>{LEADER}<controlfield tag='<01'>a</controlfield></record>",
    "two_leaders.marcxml": f"<record>{LEADER}{LEADER}</record>",
    "unknown_element.marcxml": f"<record>{LEADER}<field/></record>",
    "text_between.marcxml": f"<record>{LEADER}text</record>",
    "field_outside.marcxml": f"<collection>{FIELD}</collection>",
    "record_in_record.marcxml": f"<record>{LEADER}<record>{LEADER}</record></record>",
}


def write(folder, files):
    os.makedirs(folder, exist_ok=True)
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())


write("corpus/marc/valid", {**VALID, **VALID_XML})
write("corpus/marc/invalid", {**INVALID, **INVALID_XML})
