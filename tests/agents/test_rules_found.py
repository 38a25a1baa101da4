# ruff: noqa: E501  # a finding on one line
"""Certain findings of rules against what a later report says of them."""

from agents.rules_found import join_same, list_passed_over, read_certain
from agents.types import NOT_ADDRESSED

FOUND = {"causes": [
    {"finding": {"sure": "certain", "entity": "filesystem:/var", "says": "`/var` is 99 % full", "calls": [3]}},
    {"finding": {"sure": "likely", "entity": "unit:a.service", "says": "it fails", "calls": [4]}},
    "nonsense",
]}  # fmt: skip
CERTAIN = read_certain(FOUND)


def test_only_what_is_certain_has_to_be_taken_up():
    assert [each.name for each in CERTAIN] == ["/var"]
    assert read_certain({}) == read_certain({"causes": [{"finding": None}, 3]}) == ()


def test_a_report_that_cites_for_or_against_a_finding_passes():
    for text in (
        "## Conclusion\nThe log fills var. Confidence: high\n\n## Evidence\n1. It is full [T3]",
        "1. The file system /var has space again, 40 % are used [T9]",
    ):
        assert list_passed_over(text, CERTAIN) == ()


def test_a_report_that_ignores_or_contradicts_it_without_a_citation_is_marked():
    for text in ("", "1. The network is slow [T9]", "/var is fine.\n\n1. The network is slow [T9]"):
        [line] = list_passed_over(text, CERTAIN)
        assert line.startswith(NOT_ADDRESSED)
        assert "99 % full" in line
        assert "[T3]" in line


def test_a_finding_that_was_told_twice_is_one_and_rests_on_the_calls_of_both():
    first, again, other = (
        read_certain({"causes": [{"finding": {
            "sure": "certain", "rule": "host.full", "entity": of, "says": says, "calls": [call],
        }}]})
        for of, says, call in (("fs:/var", "for 14 s", 3), ("fs:/var", "for 16 s", 5), ("fs:/", "full", 6))
    )  # fmt: skip

    joined = join_same((*first, *again, *other))

    assert [(each.name, each.says, each.calls) for each in joined] == [
        ("/var", "for 16 s", (5, 3)), ("/", "full", (6,)),
    ]  # fmt: skip
    assert len(list_passed_over("1. The network is slow [T9]", joined)) == 2
    assert len(list_passed_over("1. It was seen [T3]", joined)) == 1
