"""What expressions of packs read out of texts."""

from datetime import UTC, datetime

import pytest

from rules.functions import read_moment


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("Mon 2026-11-30 12:00:00 UTC", "2026-11-30T12:00:00"),
        ("Mon 2026-11-30 12:00:00 CET", "2026-11-30T11:00:00"),
        ("Mon 2026-07-06 12:00:00 CEST", "2026-07-06T10:00:00"),
        ("Mon 2026-11-30 12:00:00 EST", "2026-11-30T17:00:00"),
        ("Mon Nov 30 12:00:00 JST 2026", "2026-11-30T03:00:00"),
        ("Mon Nov 30 12:00:00 2026", "2026-11-30T12:00:00"),
    ],
)
def test_a_moment_with_the_name_of_its_zone_is_read_in_that_zone(written, moment):
    read = read_moment(written)

    assert read is not None
    assert read.astimezone(UTC) == datetime.fromisoformat(moment).replace(tzinfo=UTC)


@pytest.mark.parametrize("zone", ["IST", "CST", "XYZ"])
def test_a_zone_whose_name_means_several_hours_or_none_makes_no_moment(zone):
    assert read_moment(f"Mon 2026-11-30 12:00:00 {zone}") is None
