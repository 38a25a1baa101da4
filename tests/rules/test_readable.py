"""What rules say is told in the units and moments that people read, and code is left alone."""

import pytest

from rules.readable import make_readable, show_size
from safety.evidence import SettledCall
from safety.grounding.judge import find_unsupported


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 bytes"), (1000, "1000 bytes"), (1024, "1 KiB"), (8376136, "7.99 MiB"),
        (8388608, "8 MiB"), (12884901888, "12 GiB"), (107374182400, "100 GiB"),
        (1073741823, "1 GiB"), (5000000000, "4.66 GiB"), (10**18, "888 PiB"),
    ],
)  # fmt: skip
def test_a_size_is_shown_in_its_unit_to_three_figures(size, shown):
    assert show_size(size) == shown


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        ("(limit 12884901888 bytes, exit code 137)", "(limit 12 GiB, exit code 137)"),
        ("uses 8376136 of 8388608 bytes (99.9 %)", "uses 7.99 MiB of 8 MiB (99.9 %)"),
        ("99 of the 4194304 bytes", "99 bytes of the 4 MiB"),
        ("4096 of the machine's 8192 bytes", "4 KiB of the machine's 8 KiB"),
        ("990 of 1000 bytes", "990 of 1000 bytes"),
        ("1.5000 bytes, v2.4096 bytes", "1.5000 bytes, v2.4096 bytes"),
        ("since 2026-11-30T12:50:01Z.", "since 2026-11-30 12:50 UTC."),
        ("at 2026-12-01T07:41:42.998+02:00 ERROR", "at 2026-12-01 05:41 UTC ERROR"),
        ("2026-13-01T07:41:42Z", "2026-13-01T07:41:42Z"),
        ("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00"),
        ("`4096 bytes` and \\`4096 bytes", "`4096 bytes` and \\`4 KiB"),
        ("`x --at 2026-11-30T12:50:01Z`", "`x --at 2026-11-30T12:50:01Z`"),
    ],
)
def test_a_sentence_is_told_as_people_read_it(raw, read):
    assert make_readable(raw) == read
    assert make_readable(read) == read


RESULT = '{"used_memory_bytes": 8376136, "limit": 12884901888, "at": "2026-12-01T07:43:30+00:00"}'


@pytest.mark.parametrize(
    ("says", "is_proved"),
    [
        ("`web` uses 8376136 bytes", True),
        ("`web` has a limit of 12884901888 bytes", True),
        ("`web` has a limit of 13958643712 bytes", False),
        ("It was written at 2026-12-01T07:43:30+00:00", True),
    ],
)
def test_what_is_told_in_other_units_is_judged_by_the_figures_of_the_result(says, is_proved):
    call = SettledCall("c", "ops", "probe", "read", {}, "succeeded", RESULT)

    found = find_unsupported(f"{make_readable(says)}. [T1]", [call], cited={1: call})

    assert (not found) is is_proved
