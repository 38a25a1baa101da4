"""Numbers, units and moments are read as people and tools write them."""

import pytest

from safety.grounding.moments import find_dates, find_moments, find_short_dates, find_times
from safety.grounding.quantities import find_claimed, find_numbers
from safety.grounding.records import find_records
from safety.grounding.separators import settle_separators
from safety.grounding.zones import find_offsets

GIB = 2.0**30


def read(text: str) -> list[tuple[float, str]]:
    """What a passage states, in base units."""
    return [(round(each.bases[0], 6), each.family) for each in find_claimed(text)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It moves 8.75 Gbit/s", [(1093750000.0, "bytes")]),
        ("15 of 16 GiB", [(15 * GIB, "bytes"), (16 * GIB, "bytes")]),
        ("1.84 million keys", [(1840000.0, "")]),
        ("900 thousand of them", [(900000.0, "")]),
        ("three and a half minutes", [(210.0, "seconds")]),
        ("11 minutes and 18 seconds", [(678.0, "seconds")]),
        ("it is 3h22m old", [(12120.0, "seconds")]),
        ("two hundred requests", [(200.0, "")]),
        ("at 2.4 GHz", [(2.4e9, "hertz")]),
        ("52 per cent", [(52.0, "percent")]),
        ("a 45-second lag", [(45.0, "seconds")]),
        ("1 234 567 rows", [(1234567.0, "")]),
        ("1.234,5 MB", [(1234.5e6, "bytes")]),
        ("on 10.0.0.3 with v1.30.6", []),
        ("see api-7 and p99", []),
    ],
)
def test_a_figure_of_prose_is_read_with_its_unit(text, wanted):
    assert read(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tx_mbit:8750", [(8750 * 125000.0, "bytes")]),
        ("vm:pve-4:203 mem=15GiB/16GiB", [(203.0, ""), (15 * GIB, "bytes"), (16 * GIB, "bytes")]),
        ('{"p95_seconds": 0.84, "mhz": 2400}', [(0.84, "seconds"), (2.4e9, "hertz")]),
        ("errors_per_second 2", [(2.0, "")]),
        ('x_bytes{instance="a"} 7', [(7.0, "bytes")]),
        ("drops:1_204_331", [(1204331.0, "")]),
        ("hit_ratio 0.25", [(25.0, "percent")]),
        ("BackOff (x201 over 57m)", [(201.0, ""), (3420.0, "seconds")]),
    ],
)  # fmt: skip
def test_a_figure_of_a_result_is_read_with_the_unit_of_its_key(text, wanted):
    assert [(round(each.bases[0], 6), each.family) for each in find_numbers(text)] == wanted


def test_a_dashboard_with_commas_for_points_is_read_as_one():
    assert settle_separators("a 86.065.485 b 0,43") == "a 86,065,485 b 0.43"
    assert settle_separators("a 86,065,485 b 0.43") == "a 86,065,485 b 0.43"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("In Berlin it was 23:58", (60, 120)),
        ("at 14:40 CEST", (120,)),
        ("7:02 am (EDT)", (-240,)),
        ("16:00 UTC+5:30", (330,)),
        ("at 10:00 UTC", ()),
    ],
)
def test_a_zone_is_known_wherever_the_passage_names_it(text, minutes):
    assert find_offsets(text).minutes == minutes
    assert next(find_times(text)).offsets.minutes == minutes


def test_dates_are_read_with_and_without_a_year():
    text = "notAfter=Oct 20 03:14:06 2026 GMT"
    (moment,) = find_moments(text)

    assert moment.seconds == 1792466046.0
    assert [f"{day}" for day, _, _ in find_dates("on 3 Oct 2026, 06.10.2026")] == [
        "2026-10-03", "2026-10-06"
    ]  # fmt: skip
    assert [(day.month, day.day) for day, _, _ in find_short_dates("Sept 13 and 3 October")] == [
        (10, 3), (9, 13)
    ]  # fmt: skip
    assert list(find_short_dates("you may 5 times")) == []


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "a-1", "n": 5}, {"name": "a-2", "n": 6}]',
        '{"a-1": {"n": 5}, "a-2": {"n": 6}}',
        "NAME  N\na-1   5\na-2   6",
        "name=a-1 n=5\nname=a-2 n=6",
        "# a-1\nn: 5\n# a-2\nn: 6",
        "Name:  a-1\nN:     5\n\nName:  a-2\nN:     6",
        'n{instance="a-1"} 5\nn{instance="a-2"} 6',
        "name,n\na-1,5\na-2,6",
    ],
)
def test_a_result_of_any_form_is_cut_into_what_it_tells_of_one_thing(text):
    told = {
        name: [each.number for record in find_records(text) if name in record.words
               for _, each in record.figures]
        for name in ("a-1", "a-2")
    }  # fmt: skip

    assert told == {"a-1": [5.0], "a-2": [6.0]}
