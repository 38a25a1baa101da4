"""The rehearsal model combines what agents reported, and nothing that they broke off."""

from agents.fencing import fence
from agents.rehearsal.findings import read_findings

REPORT = "## Conclusion\nThe disk is full.\n\nConfidence: high\n\n## Evidence\n- 97 % [T1]\n"
CUT = "## Conclusion\nThe disk\n"


def test_a_report_that_was_broken_off_and_written_anew_is_read_once():
    told = (
        f"#### Agent 1: DiskAgent\n\n**Said, broken off:**\n{fence(CUT, 'history')}\n\n"
        f"**Final analysis:**\n{fence(REPORT, 'history')}\n"
    )

    findings = read_findings(told)

    assert [(each.agent, each.conclusion) for each in findings] == [
        ("DiskAgent", "The disk is full.")
    ]
