"""Time zones in pickles."""

from __future__ import annotations

import datetime as dt
import pickle
import zoneinfo

import pytest

import regauge

WARSAW = zoneinfo.ZoneInfo("Europe/Warsaw")
CEST = dt.timezone(dt.timedelta(hours=2), "CEST")
ZONED = [
    dt.datetime(2020, 7, 1, 12, 0, 0, 123456, tzinfo=WARSAW),
    dt.datetime(2020, 10, 25, 2, 30, tzinfo=WARSAW, fold=1),
    dt.datetime(2020, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo("UTC")),
    dt.datetime(2020, 7, 1, 12, tzinfo=CEST),
    dt.datetime(2020, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(0), "GMT")),
    dt.datetime(2020, 7, 1, 12, tzinfo=dt.timezone.utc, fold=1),
    dt.datetime(2020, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(hours=-2)), fold=1),
    dt.datetime(2020, 7, 1, 12, tzinfo=dt.timezone(dt.timedelta(seconds=1.5))),
    dt.datetime(2020, 7, 1, 12, fold=1),
    dt.time(1, 2, 3, 4, tzinfo=WARSAW, fold=1),
    dt.time(1, tzinfo=dt.timezone.utc),
    dt.time(1, fold=1),
    CEST,
    dt.timezone.utc,
    WARSAW,
    [dt.datetime(2020, 7, day, tzinfo=WARSAW) for day in (1, 2)],
    [dt.datetime(2020, 7, 1, tzinfo=CEST)] * 2,
    {dt.datetime(2020, 7, 1, tzinfo=WARSAW): 1},
]


@pytest.mark.parametrize("value", ZONED, ids=repr)
@pytest.mark.parametrize("protocol", [0, 2, 3, 4, 5])
def test_pickle_holds_time_zones(value, protocol):
    written = regauge.pickle.dumps(value, protocol=protocol)
    for back in (pickle.loads(written), regauge.pickle.loads(written)):
        assert repr(back) == repr(value)
    # Python's own protocols 0 to 3 leave out fold.
    theirs = pickle.dumps(value, protocol)
    assert repr(regauge.pickle.loads(theirs)) == repr(pickle.loads(theirs))


class Lisbon(dt.tzinfo):
    def utcoffset(self, when):
        return dt.timedelta(hours=1)

    def dst(self, when):
        return dt.timedelta(0)

    def tzname(self, when):
        return "WEST"


class Utc(Lisbon):
    def utcoffset(self, when):
        return dt.timedelta(0)

    def tzname(self, when):
        return "UTC"


def test_pickle_refuses_other_time_zones():
    when = dt.datetime(2020, 7, 1, 12, tzinfo=Lisbon())
    for value in (when, when.timetz(), when.replace(tzinfo=Utc(), fold=1)):
        with pytest.raises(regauge.EncodeError, match="time zone .*, which regauge cannot put into a pickle") as caught:
            regauge.pickle.dumps({"at": [value]})
        assert caught.value.path == "$.at[0]" and "astimezone" in caught.value.hint
    as_utc = regauge.pickle.dumps(when, default=lambda value: value.astimezone(dt.timezone.utc))
    assert regauge.pickle.loads(as_utc) == when
    # UTC is UTC, whatever its class.
    back = regauge.pickle.loads(regauge.pickle.dumps(when.replace(tzinfo=Utc())))
    assert repr(back) == repr(when.replace(tzinfo=dt.timezone.utc))


@pytest.mark.parametrize("key", [
    "No/Such", "../etc/passwd", "/etc/passwd", "Europe", "posixrules", "a" * 300, "", 5, None,
])
def test_a_time_zone_of_no_database_stays_a_name(key, monkeypatch):
    monkeypatch.setattr(zoneinfo, "ZoneInfo", None)
    written = b"\x80\x04czoneinfo\nZoneInfo\n" + pickle.dumps(key)[2:-1] + b"\x85R."
    back = regauge.pickle.loads(written)
    assert back == regauge.Object("python", "call", "zoneinfo.ZoneInfo", {"args": [key]})


@pytest.mark.parametrize("state", [
    b"", b"\x07\xe4\x0d\x01\0\0\0\0\0\0", b"\x07\xe4\x07\x40\0\0\0\0\0\0", b"\x07\xe4\x07\x01\x18\0\0\0\0\0", b"\0" * 11,
])
def test_a_broken_time_in_a_zone_stays_data(state):
    for name, args in [("datetime.datetime", [state, CEST]), ("datetime.time", [state, CEST]),
                       ("datetime.datetime", [10**15, CEST]), ("datetime.timezone", [1]), ("datetime.timezone", [])]:
        call = regauge.Object("python", "call", name, {"args": args})
        assert regauge.pickle.loads(regauge.pickle.dumps(call)) == call
    # What was done with the result is not lost.
    call = regauge.Object("python", "call", "datetime.timezone", {"args": [dt.timedelta(0), "x"], "state": 1})
    assert regauge.pickle.loads(regauge.pickle.dumps(call)) == call
