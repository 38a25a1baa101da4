"""Several reports as one, where no model is there to join them."""

from agents.report import parse_report
from agents.types import INCONCLUSIVE
from rules.merging import merge_reports

SURE = (
    "## Conclusion\nThe disk is full [T1]. Confidence: medium\n\n"
    "## Evidence\n1. It is at 99 % [T1]."
)
GUESS = "## Conclusion\nThe network is slow. Confidence: high\n\n## Evidence\n1. It feels slow."


def test_the_surest_conclusion_comes_first_and_every_claim_stays():
    merged = parse_report(merge_reports([("Guess", GUESS), ("Rules", SURE)]))

    assert merged.conclusion.startswith("The network is slow")
    assert [claim.text for claim in merged.claims] == ["It feels slow.", "It is at 99 % [T1]."]


def test_a_report_that_rests_on_no_look_comes_last_and_is_told_as_such():
    text = merge_reports([("Guess", f"{INCONCLUSIVE} nothing.\n\n{GUESS}"), ("Rules", SURE)])

    assert parse_report(text).conclusion.startswith("The disk is full")
    assert "Guess concludes, and looked at nothing: The network is slow" in text


def test_a_report_without_the_shape_is_not_lost():
    text = merge_reports([("Rules", SURE), ("Writer", "It was the cable, I am told.")])

    assert parse_report(text).conclusion.startswith("The disk is full")
    assert text.endswith("### Writer\nIt was the cable, I am told.")
