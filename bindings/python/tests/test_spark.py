"""The data source for PySpark, in local mode. Needs pyspark 4 and Java 17."""

from __future__ import annotations

import datetime
import decimal
import os
import re
import shutil
import sys
import textwrap

import pytest

import regauge

pyspark = pytest.importorskip("pyspark", minversion="4")
if shutil.which("java") is None:
    pytest.skip("no Java", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

import regauge.spark  # noqa: E402
from regauge.spark import RegaugeDataSource, _split  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    # Otherwise its workers are the python3 on the path, which may lack the package.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
               .config("spark.sql.shuffle.partitions", "2").getOrCreate())
    session.dataSource.register(RegaugeDataSource)
    yield session
    session.stop()


def records(count):
    return [
        {"leader": "00000nam a2200000 a 4500",
         "fields": [{"001": f"id{number}"},
                    {"245": {"ind1": "1", "ind2": "0", "subfields": [{"a": f"Title {number}"}, {"b": "é"}]}}]}
        for number in range(count)
    ]


def test_marc_is_split_at_records_and_written_again(spark, tmp_path):
    path = tmp_path / "in.mrc"
    regauge.marc.dump(records(500), path)
    parts = _split(str(path), "marc", 5_000)
    assert len(parts) > 5 and parts[0].start == 0 and parts[-1].end == path.stat().st_size
    assert all(one.end == other.start for one, other in zip(parts, parts[1:]))
    frame = (spark.read.format("regauge").option("format", "marc").option("split_bytes", "5000")
             .load(str(path)))
    assert frame.rdd.getNumPartitions() == len(parts)
    assert frame.count() == 500
    titles = {row.value for row in frame.selectExpr("explode(fields) as f").where("f.tag = '245'")
              .selectExpr("f.subfields[0].value as value").collect()}
    assert titles == {f"Title {number}" for number in range(500)}
    frame.write.format("regauge").option("format", "marc").mode("append").save(str(tmp_path / "out"))
    back = [one for part in sorted((tmp_path / "out").glob("part-*")) for one in regauge.marc.load(part)]
    key = lambda record: record["fields"][0]["001"]  # noqa: E731
    fields = [one["fields"] for one in sorted(back, key=key)]
    assert fields == [one["fields"] for one in sorted(records(500), key=key)]


@pytest.mark.parametrize("format", ["ndjson", "msgpack", "cbor", "bson", "yaml"])
def test_documents(spark, tmp_path, format):
    values = [{"id": number, "name": f"n{number}", "tags": ["a", "b"], "in": {"x": number / 2}}
              for number in range(200)]
    path = tmp_path / f"in.{format}"
    with regauge.open_writer(path, format) as writer:
        for value in values:
            writer.write(value)
    frame = spark.read.format("regauge").option("split_bytes", "2000").load(str(path))
    assert dict(frame.dtypes) == {"id": "bigint", "name": "string", "tags": "array<string>",
                                  "in": "struct<x:double>"}
    assert frame.selectExpr("sum(id)", "sum(in.x)").collect()[0][:] == (19900, 9950.0)
    out = tmp_path / "out"
    frame.write.format("regauge").option("format", format).mode("append").save(str(out))
    back = [one for part in out.glob("part-*") for one in regauge.iter_load(part, format)]
    assert sorted(back, key=lambda one: one["id"]) == values
    if format in ("ndjson", "bson"):
        assert frame.rdd.getNumPartitions() > 3


def load(spark, path, **options):
    return spark.read.format("regauge").options(**options).load(str(path))


def test_types(spark, tmp_path):
    when = datetime.datetime(2026, 10, 25, 0, 30, 0, 5, tzinfo=datetime.timezone.utc)
    values = [
        {"i": 2**64 - 1, "d": decimal.Decimal("12.50"), "t": when, "day": when.date(), "b": b"\0", "n": None},
        # The same hour in Berlin, the second time.
        {"i": 1, "d": decimal.Decimal("-0.125"), "t": when + datetime.timedelta(hours=1), "b": b""},
    ]
    path = tmp_path / "in.cbor"
    path.write_bytes(b"".join(map(regauge.cbor.dumps, values)))
    frame = load(spark, path)
    assert dict(frame.dtypes) == {"i": "decimal(20,0)", "d": "decimal(38,3)", "t": "timestamp", "day": "date",
                                  "b": "binary", "n": "string"}
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    try:
        frame.drop("i").coalesce(1).write.format("regauge").option("format", "cbor").mode("append").save(str(tmp_path / "out"))
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    assert [int(row.i) for row in frame.collect()] == [2**64 - 1, 1]
    [part] = (tmp_path / "out").glob("part-*")
    back = list(regauge.iter_load(part, "cbor"))
    assert [(one["d"], one["t"], one["day"], one["b"], one["n"]) for one in back] == [
        (one["d"], one["t"], one.get("day"), one["b"], None) for one in values]


def test_what_a_format_cannot_hold(spark, tmp_path):
    (tmp_path / "in.cbor").write_bytes(regauge.cbor.dumps({"b": b"\0"}))
    writer = load(spark, tmp_path / "in.cbor").write.format("regauge").option("format", "ndjson").mode("append")
    with pytest.raises(Exception, match=r"at \$\.b: .*on_loss"):
        writer.save(str(tmp_path / "out"))
    writer.option("on_loss", "wrap").save(str(tmp_path / "out"))
    [part] = (tmp_path / "out").glob("part-*")
    assert part.read_text() == '{"b":{"$binary":{"base64":"AA==","subType":"00"}}}\n'


def test_documents_that_are_no_maps(spark, tmp_path):
    (tmp_path / "in.ndjson").write_text("1\n2\n")
    assert [row.value for row in load(spark, tmp_path / "in.ndjson").collect()] == [1, 2]


@pytest.mark.parametrize(("text", "options", "message"), [
    ('{"a":1}\n{"a":2,"b":3}\n', {"sample": "1"},
     r'in\.ndjson, from byte 0: .*record 2, at \$\.b: .*pass \.schema\(…\) with .*option\("sample", …\)'),
    ('{"a":1}\n{"a":2.5}\n', {"sample": "1"}, r"in\.ndjson, from byte 0: .*record 2, at \$\.a"),
    ('{"a":1}\n{"a":"x"}\n', {}, r'option\("on_loss", "wrap"\).* \.schema\(…\)'),
    ('{"a":1}\n{bad\n', {"sample": "1"}, r"in\.ndjson"),
])
def test_what_does_not_fit_is_an_error(spark, tmp_path, text, options, message):
    (tmp_path / "in.ndjson").write_text(text)
    with pytest.raises(Exception, match=message):
        load(spark, tmp_path / "in.ndjson", **options).collect()
    rest = {"bad": "skip"} if "bad" in text else {"on_loss": "approximate"}
    assert load(spark, tmp_path / "in.ndjson", **options, **rest).collect()[0].a in (1, "1")


@pytest.mark.parametrize("format", ["ndjson", "msgpack", "csv", "toml", "json"])
def test_tasks_without_rows_write_no_file(spark, tmp_path, format):
    out = tmp_path / "out"
    last = spark.range(0, 40, 1, 4).where("id = 30")
    last.write.format("regauge").option("format", format).mode("overwrite").save(str(out))
    assert [one.name[:10] for one in out.iterdir() if one.name != "_SUCCESS"] == ["part-00000"]
    assert [int(row.id) for row in load(spark, out).collect()] == [30]
    last.where("id = 1").write.format("regauge").option("format", format).mode("overwrite").save(str(out))
    assert [one.name for one in out.iterdir()] == ["_SUCCESS"]
    assert load(spark, out, format=format).collect() == []
    assert spark.read.format("regauge").option("format", format).schema("id long").load(str(out)).collect() == []


@pytest.mark.parametrize("format", ["ndjson", "json", "toml", "marc"])
def test_empty_files_hold_no_records(spark, tmp_path, format):
    (tmp_path / f"a.{format}").write_bytes(b"")
    assert load(spark, tmp_path, format=format).collect() == []
    if format == "marc":
        regauge.marc.dump(records(1), tmp_path / "b.marc")
    else:
        (tmp_path / f"b.{format}").write_text("id = 1\n" if format == "toml" else '{"id":1}\n')
    assert load(spark, tmp_path, format=format).count() == 1


def test_a_folder_without_files_is_an_error(spark, tmp_path):
    with pytest.raises(Exception, match="found no file"):
        load(spark, tmp_path, format="ndjson")


def test_the_example_of_the_module(spark, tmp_path):
    (tmp_path / "records").mkdir()
    regauge.marc.dump(records(2), tmp_path / "records/a.mrc")
    example = re.search(r"(?:^    .*\n|^\n)+", regauge.spark.__doc__, re.M)[0]
    # Its paths are relative to where Spark was started.
    example = example.replace('"records/', f'"{tmp_path}/records/').replace('"out"', f'"{tmp_path}/out"')
    exec(textwrap.dedent(example), {"spark": spark})
    [part] = (tmp_path / "out").glob("part-*")
    assert [one["fields"][0]["data"] for one in regauge.iter_load(part, "ndjson")] == ["id0", "id1"]


def test_modes(spark, tmp_path):
    out = tmp_path / "out"
    write = lambda number, mode: (  # noqa: E731
        spark.range(number, number + 2, 1, 2).write.format("regauge").option("format", "ndjson").mode(mode).save(str(out)))
    read = lambda: [row.id for row in load(spark, out).collect()]  # noqa: E731
    write(1, "append")
    write(3, "append")
    (out / "notes.ndjson").write_text('{"id":0}\n')
    assert read() == [0, 1, 2, 3, 4]
    assert sorted(one.name[:11] for one in out.glob("part-*")) == [f"part-0000{number}-" for number in range(4)]
    write(5, "overwrite")
    assert read() == [0, 5, 6]


def test_several_paths(spark, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.ndjson").write_text(f'{{"name":"{name}"}}\n')
    frame = spark.read.format("regauge").load([str(tmp_path / "b.ndjson"), str(tmp_path / "a.ndjson")])
    assert [row.name for row in frame.collect()] == ["b", "a"]


def test_a_type_that_spark_lacks(spark, tmp_path):
    (tmp_path / "in.toml").write_text("[[a]]\nt = 10:11:12\n")
    with pytest.raises(Exception, match=r"the column a\[\]\.t of the type time64\[us\], which Spark lacks; pass \.schema"):
        load(spark, tmp_path / "in.toml")
    frame = spark.read.format("regauge").option("on_loss", "wrap").schema("a array<struct<t string>>")
    assert frame.load(str(tmp_path / "in.toml")).collect()[0].a[0].t == '{"$localTime":"10:11:12"}'


def test_wrong_options(spark, tmp_path):
    (tmp_path / "in.ndjson").write_text("1\n")
    for name in ("split_bytes", "sample"):
        for value in ("0", "-1", "1k"):
            with pytest.raises(Exception, match=f"found {value} for the option {name}, expected an integer from 1"):
                load(spark, tmp_path / "in.ndjson", **{name: value}).collect()
    with pytest.raises(Exception, match=r"found no path; pass one to load\(\) or save\(\)"):
        spark.read.format("regauge").option("format", "ndjson").load()
    with pytest.raises(Exception, match=r"found no path; pass one to load\(\) or save\(\)"):
        spark.range(1).write.format("regauge").option("format", "ndjson").mode("append").save()


def test_compressed_files_are_refused(spark, tmp_path):
    (tmp_path / "in.ndjson.gz").write_bytes(b"\x1f\x8b")
    with pytest.raises(Exception, match="compressed"):
        load(spark, tmp_path, format="ndjson")


def test_a_task_that_fails_leaves_no_file(spark, tmp_path):
    frame = spark.sql("select explode(array(1, 2)) as id, named_struct('a', 1) as leader, 1 as fields")
    with pytest.raises(Exception, match="leader|fields"):
        frame.write.format("regauge").option("format", "marc").mode("append").save(str(tmp_path / "out"))
    assert not list((tmp_path / "out").glob("*part*"))
