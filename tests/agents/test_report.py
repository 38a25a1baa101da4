

def test_the_reason_for_a_confidence_is_no_part_of_the_conclusion():
    report = parse_report(
        "## Conclusion\nThe disk is full [T1]. Confidence: high (measured by the calls below)\n"
    )

    assert report is not None
    assert (report.conclusion, report.confidence) == ("The disk is full [T1].", "high")
