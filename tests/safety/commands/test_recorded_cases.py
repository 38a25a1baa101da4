"""The recorded cases of the reference about commands: intents, risks, rewrites, secret paths."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safety.commands import Intent, Risk, prove, prove_or_rewrite, suggest_rewrite
from safety.paths.sensitive_paths import SensitivePaths
from tests.cases import for_each

LINES = (Path(__file__).parent / "cases.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in LINES]

DIFFERENCES = {
    (
        "command_policy",
        "ping -c 1 -W 1 10.0.0.1; echo ok",
    ): "two reads in a row are a read: each part is proven, whatever stands between them",
    ("approval_risk", "apt install htop"): "what changes the packages of a machine is a high risk",
    ("safety_readonly", "CAT /etc/hosts"): "names of programs have one spelling, as on the machine",
    ("sensitive_path", "/tmp/ai.enc.bak"): "a store of the reference's own; this product has none",
    ("sensitive_command", ""): "no command is no read",
    ("auto_recovery", "strict"): "refusals state facts and propose no other call",
    ("auto_recovery", "legacy"): "the same, in an older form",
}
"""Where this product deliberately differs, each with its reason."""

_RISKS = {"low": Risk.READ_ONLY, "medium": Risk.MEDIUM_WRITE, "high": Risk.HIGH_WRITE}
_RANK = {Risk.READ_ONLY: 0, Risk.MEDIUM_WRITE: 1, Risk.HIGH_WRITE: 2}


def _difference(case: dict[str, Any]) -> str:
    given = case["input"]
    if case["kind"] == "auto_recovery":
        details = given["result"]["error"]
        given = "legacy" if details == 5 else details["details"].get("category", "")
    return DIFFERENCES.get((case["kind"], given), "")


def _check_command_risk(given: str, expected: str, case: dict[str, Any]) -> None:
    assert prove(given).risk == expected


def _check_command_risk_min(given: str, expected: str, case: dict[str, Any]) -> None:
    assert _RANK[prove(given).risk] >= _RANK[Risk(expected)]


def _check_intent(given: str, expected: str, case: dict[str, Any]) -> None:
    proof = prove(given)
    match expected:
        case "write_or_unknown":
            assert not proof.may_run
        case "read_only_any":
            assert proof.is_read
        case _:
            assert proof.intent is Intent(expected)
            assert proof.may_run
    assert case.get("reason_contains", "") in proof.reason


def _check_interactive(given: str, expected: str, case: dict[str, Any]) -> None:
    category = prove(given).category
    if expected.startswith("not_"):
        assert category != expected.removeprefix("not_").removeprefix("flagged_as_")
    else:
        assert category == expected


def _check_interactive_doc(given: str, expected: str, case: dict[str, Any]) -> None:
    proof = prove(given)
    if expected == "not_interactive":
        assert proof.category is None
    else:
        assert proof.may_run is (expected == "allow")


def _check_safety_readonly(given: str, expected: bool, case: dict[str, Any]) -> None:
    assert prove(given).may_run is expected


def _check_blocked_command(given: str, expected: bool, case: dict[str, Any]) -> None:
    assert prove(given).is_read is not expected


def _check_sensitive_path(given: str, expected: bool, case: dict[str, Any]) -> None:
    assert bool(SensitivePaths().reason(given)) is expected


def _check_sensitive_command(given: str, expected: bool, case: dict[str, Any]) -> None:
    assert prove(given).may_run is not expected


def _check_command_policy(given: str, expected: str, case: dict[str, Any]) -> None:
    assert prove(given).may_run is (expected == "allow")


def _check_approval_risk(given: str, expected: str, case: dict[str, Any]) -> None:
    assert prove(given).risk is _RISKS[expected]


def _check_rewrite(given: str, expected: str, case: dict[str, Any]) -> None:
    rewrite = suggest_rewrite(given)

    assert rewrite is not None
    assert (rewrite.command, rewrite.is_automatic) == (expected, case["auto_recoverable"])


def _check_auto_recovery(given: dict[str, Any], expected: object, case: dict[str, Any]) -> None:
    """A rewrite that does not end itself is not rewritten again."""
    recovery = prove_or_rewrite("watch tail -f /tmp/x")

    assert recovery.rewritten is not None
    assert recovery.to_run is None


CHECKS: dict[str, Callable[[Any, Any, dict[str, Any]], None]] = {
    name.removeprefix("_check_"): check
    for name, check in list(globals().items())
    if name.startswith("_check_")
}


@for_each(
    [case for case in CASES if not _difference(case)],
    name=lambda case: f"{case['kind']}: {case['input']}",
)
def test_a_command_is_judged_as_recorded(case: dict[str, Any]):
    CHECKS[case["kind"]](case["input"], case["expected"], case)


def test_every_difference_is_met_by_a_case():
    assert {_difference(case) for case in CASES} - {""} == set(DIFFERENCES.values())
