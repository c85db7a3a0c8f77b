"""The data source for PySpark, in local mode. Needs pyspark 4 and Java 17."""

from __future__ import annotations

import os
import shutil
import sys

import pytest

import regauge

pyspark = pytest.importorskip("pyspark", minversion="4")
if shutil.which("java") is None:
    pytest.skip("no Java", allow_module_level=True)

from pyspark.sql import SparkSession  # noqa: E402

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
