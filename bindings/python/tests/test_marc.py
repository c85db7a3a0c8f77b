"""Records: read, touched, edited, written."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import random

import pytest

import regauge
from regauge import marc
from regauge.compat import pymarc

RECORD = marc.Record(
    fields=[
        marc.Field("001", data="ocm00123"),
        marc.Field("245", ["1", "0"], [marc.Subfield("a", "Kön :"), marc.Subfield("b", "more")]),
        marc.Field("650", [" ", "0"], [marc.Subfield("a", "Topic"), marc.Subfield("x", "Aspect")]),
    ]
).as_marc()


def test_read_edit_write():
    record = marc.Record(RECORD)
    assert record.title == "Kön : more"
    assert record["001"].data == "ocm00123"
    assert record["650"].format_field() == "Topic -- Aspect"
    assert record.subjects[0].get_subfields("a", "x") == ["Topic", "Aspect"]
    record["245"]["a"] = "Other"
    record.add_ordered_field(marc.Field("500", subfields=[marc.Subfield("a", "Note")]))
    assert [field.tag for field in record] == ["001", "245", "500", "650"]
    again = marc.Record(record.as_marc())
    assert again.title == "Other more"
    assert again.as_dict()["fields"] == record.as_dict()["fields"]
    with pytest.raises(KeyError):
        record["999"]


def test_as_the_core_reads_it():
    assert regauge.marc.loads(RECORD) == [marc.Record(RECORD).as_dict()]
    assert regauge.marc.dumps([marc.Record(RECORD).as_dict()]) == RECORD
    xml = regauge.marc.xml.dumps([marc.Record(RECORD).as_dict()])
    [record] = marc.XMLReader(xml)
    assert record.as_dict()["fields"] == marc.Record(RECORD).as_dict()["fields"]
    [record] = marc.JSONReader(marc.Record(RECORD).as_json())
    assert record.as_marc() == RECORD


def test_records_of_xml_make_their_fields_when_they_are_asked_for():
    xml = regauge.marc.xml.dumps([marc.Record(RECORD).as_dict()] * 5)
    untouched, copied, deep, pickled, changed = marc.XMLReader(xml)
    expected = marc.Record(RECORD).as_dict()["fields"]
    copied, deep = copy.copy(copied), copy.deepcopy(deep)
    pickled = pickle.loads(pickle.dumps(pickled))
    for record in (untouched, copied, deep, pickled):
        assert record.as_dict()["fields"] == expected
        assert record.fields is record.fields
        assert record.as_marc() == RECORD
    changed["245"]["a"] = "Other"
    again = copy.deepcopy(changed)
    assert again.title == "Other more" and again["245"] is not changed["245"]
    changed.fields = []
    assert changed.as_dict()["fields"] == []


def test_broken_records_are_told():
    broken = b"00026x" + b"x" * 19 + b"\x1d"
    reader = marc.MARCReader(RECORD + broken + RECORD)
    first, second, third = reader
    assert first.title == third.title and second is None
    assert reader.bad_records == 1
    told = []
    records = list(regauge.marc.iter_load(
        RECORD + b"00030" + RECORD[5:] + RECORD, bad="skip",
        on_bad=lambda error, data: told.append((error.kind, data)),
    ))
    assert len(records) + len(told) >= 2
    assert records[0] == marc.Record(RECORD).as_dict()


def test_writers():
    record = marc.Record(RECORD)
    out = io.BytesIO()
    writer = marc.XMLWriter(out)
    writer.write(record)
    writer.write(record)
    writer.close(close_fh=False)
    for again in regauge.marc.xml.loads(out.getvalue()):
        assert again["fields"] == record.as_dict()["fields"]
    assert [one.title for one in marc.XMLReader(out.getvalue())] == [record.title] * 2
    out = io.BytesIO()
    marc.XMLWriter(out).close(close_fh=False)
    assert regauge.marc.xml.loads(out.getvalue()) == []
    with pytest.raises(marc.WriteNeedsRecord):
        marc.MARCWriter(io.BytesIO()).write("record")


def test_byte_identical_round_trips_of_real_records(data):
    """Every record that is read keeps its bytes, accessed or not."""
    read = kept = touched = 0
    for path in sorted((data / "marc" / "binary").rglob("*")):
        if not path.is_file():
            continue
        reader = marc.MARCReader(path.read_bytes(), hide_utf8_warnings=True)
        for record in reader:
            if record is None:
                continue
            read += 1
            chunk = reader.current_chunk
            kept += record.as_marc() == chunk
            for field in record.fields:
                for subfield in field.subfields:
                    assert isinstance(subfield.value, str)
            touched += record.as_marc() == chunk
    print(f"{read} records read, {kept} kept untouched, {touched} kept touched")
    assert read > 15_000
    assert kept == touched == read


def test_lazy_and_eager_agree_on_real_records(data):
    """The native fields equal those that the Python code creates."""
    compared = 0
    for path in sorted((data / "marc" / "binary").rglob("*"))[:60]:
        if not path.is_file():
            continue
        for record in marc.MARCReader(path.read_bytes(), hide_utf8_warnings=True):
            if record is None or record._fields is not None:
                continue
            slow = marc.Record(record.as_marc(), file_encoding="utf-8")
            assert slow._fields is not None
            assert slow.as_dict() == record.as_dict()
            compared += 1
    assert compared > 500


def test_compat_writes_utf8():
    record = pymarc.Record(RECORD)
    assert record.leader.coding_scheme == "a"
    assert isinstance(next(iter(pymarc.MARCReader(RECORD))), pymarc.Record)


def _record_of_xml(record, head):
    made = regauge._regauge._marc.write_xml(str(record.leader), record.fields, marc.Field, head)
    return made[made.index(b"<record>"):]


@pytest.mark.parametrize("field", [
    marc.Field("001", data="a & b"), marc.Field("001", data="x\r\ny"), marc.Field("009", data=""),
    marc.Field("245", ["1", '"'], [marc.Subfield("a", "x")]), marc.Field("245", ["1", "0"], []),
    marc.Field("245", ["é", "0"], [marc.Subfield("a", "x")]),
    marc.Field("24X", ["1", "0"], [marc.Subfield("a", "x")]),
    marc.Field("245", ["1", "0"], [marc.Subfield("<", "x")]),
    marc.Field("245", ["1", "0"], [marc.Subfield("é", "x")]),
    marc.Field("245", ["1", "0"], [marc.Subfield("a", "\ufffd\uff01 <tag>")]),
    marc.Field("245", ["1", "0"], [marc.Subfield("a", ""), marc.Subfield("9", "𝄞 ü")]),
    marc.Field("245", ["z", " "], [marc.Subfield("a", "x" * 100)]),
])
def test_the_quick_way_to_xml_is_the_slow_one(field):
    record = marc.Record(fields=[field])
    slow = _record_of_xml(record, True)
    assert _record_of_xml(record, False) == slow
    assert regauge.marc.xml.loads(b"<collection>" + slow + b"</collection>")


def test_the_quick_way_to_xml_on_real_records(data):
    compared = 0
    for path in sorted((data / "marc" / "binary").rglob("*"))[:60]:
        if not path.is_file():
            continue
        for record in marc.MARCReader(path.read_bytes(), hide_utf8_warnings=True):
            if record is None:
                continue
            try:
                slow = _record_of_xml(record, True)
            except (regauge.Error, TypeError):
                continue
            assert _record_of_xml(record, False) == slow
            compared += 1
    assert compared > 500


def test_marc_8_is_read_as_pymarc_reads_it():
    theirs = pytest.importorskip("pymarc.marc8")
    tables = importlib.import_module("pymarc.marc8_mapping").CODESETS
    from regauge.compat.pymarc import marc8

    def read(library, data, *sets):
        try:
            if not sets:
                return library.marc8_to_unicode(data, hide_utf8_warnings=True)
            converter = library.MARC8ToUnicode(*sets, quiet=True)
            return converter.translate(data), converter.translate(b"a\xe2e\xc1"), converter.g0, converter.g1
        except (UnicodeDecodeError, TypeError) as error:
            return type(error).__name__

    for data, text in ((b"a\nb", "ab"), (b"\x88The \x89book", "The book"), (b"\xc3\x9f", "\xa9"), (b"e\xcc\x81x", "e x")):
        assert read(marc8, data) == read(theirs, data) == text
    pieces = [b"\x1b", b"\x1b(N", b"\x1b$1", b"\x1b$,1", b"\x1bg", b"\x1bs", b"\x1b)Q", b"\x1b-4", b"\x1b(", b"\x1b(!E",
              b"!0!", b"\x1bx", b"\x1b)", b"\x7f \x19", b"\xe2e", b"text", b"\xa9\xc3\x81"]
    chance = random.Random(8)
    for _ in range(5000):
        data = b"".join(chance.choice([*pieces, bytes([chance.randrange(256)])]) for _ in range(chance.randrange(8)))
        assert read(marc8, data) == read(theirs, data), data
        sets = chance.choice(b"4E321pQSBbgNx"), chance.choice(b"4E321pQSBbgNx")
        assert read(marc8, data, *sets) == read(theirs, data, *sets), (data, sets)
    for charset, table in tables.items():
        for code in range(0x21, 0xFF) if charset != 0x31 else table:
            data = code.to_bytes(3, "big") if charset == 0x31 else bytes([code])
            assert read(marc8, data, charset, charset) == read(theirs, data, charset, charset), (charset, code)
    converter = marc8.MARC8ToUnicode(G0=ord("N"), G1=ord("Q"))
    assert (converter.g0, converter.g1, converter.translate(b"A\xc0")) == (0x4E, 0x51, "а\u0491")
