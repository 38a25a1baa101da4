"""Every recorded case of the reference about commands and paths."""

import json
from pathlib import Path
from typing import Any

from safety.commands import Intent, Proof, prove, suggest_rewrite
from safety.paths.sensitive_paths import SensitivePaths
from tests.cases import for_each

FILE = Path(__file__).parent / "cases" / "reference.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
RISKS = ["read_only", "medium_write", "high_write"]

_ENDLESS = "it is a read, which says nothing about its end; as it has none, it may not run"
DIFFERENCES = {
    ("intent", "kubectl logs -f my-pod"): _ENDLESS,
    ("intent", "kubectl logs -f pod-name"): _ENDLESS,
    ("intent", "docker logs -f mycontainer"): _ENDLESS,
    ("intent", "watch -n 1 'ps aux'"): _ENDLESS,
    ("safety_readonly", "CAT /etc/hosts"): "programs are told apart by case, as the system does",
    ("sensitive_path", "/tmp/ai.enc.bak"): "a file of the other product",
    ("sensitive_command", "cp /var/lib/pulse/ai.enc /tmp"): "the same, and cp never runs anyway",
    ("command_policy", "ping -c 1 -W 1 10.0.0.1; echo ok"): "each part of a list is proven",
}
"""Where this product deliberately differs, each with its reason."""


@for_each(CASES, name=lambda case: f"{case['kind']}: {case['input']}")
def test_reference_case(case: dict[str, Any]):
    kind, given, expected = case["kind"], case["input"], case["expected"]

    found = _find(case)

    if (kind, given) in DIFFERENCES:
        assert found != expected, "this is no difference any more"
        assert not _may_wrongly_run(case)
    else:
        assert found == expected


def test_each_difference_is_about_a_case():
    known = {(case["kind"], case["input"]) for case in CASES}

    assert set(DIFFERENCES) <= known


def _find(case: dict[str, Any]) -> Any:
    """What this product says, in the words of the case."""
    given, expected = case["input"], case["expected"]
    if case["kind"] == "sensitive_path":
        return SensitivePaths().reason(given) is not None
    proof = prove(given)
    match case["kind"]:
        case "command_risk":
            return proof.risk.value
        case "command_risk_min":
            is_enough = RISKS.index(proof.risk.value) >= RISKS.index(expected)
            return expected if is_enough else proof.risk.value
        case "intent":
            return (
                "read_only_any"
                if expected == "read_only_any" and proof.is_read
                else (proof.intent.value)
            )
        case "interactive" | "interactive_doc":
            return _say_interactive(proof, expected)
        case "rewrite":
            rewrite = suggest_rewrite(given)
            is_automatic = rewrite is not None and rewrite.is_automatic
            return rewrite.command if rewrite and is_automatic == case["auto_recoverable"] else None
        case "safety_readonly":
            return proof.is_read
        case "sensitive_command":
            return proof.is_sensitive
        case "blocked_command":
            return expected and not proof.may_run
    return _say_policy(proof, expected)


def _say_interactive(proof: Proof, expected: str) -> str:
    category = proof.category.value if proof.category else ""
    match expected:
        case "allow":
            return "allow" if proof.may_run else "block"
        case "block":
            return "allow" if proof.may_run else "block"
        case "not_interactive":
            return "interactive" if category else "not_interactive"
        case "not_interactive_repl":
            return category if category == "interactive_repl" else expected
        case "not_flagged_as_unbounded_stream":
            return category if category == "unbounded_stream" else expected
    return category


def _say_policy(proof: Proof, expected: str) -> str:
    if proof.may_run:
        return "allow"
    return expected if expected in ("require_approval", "block") else "refused"


def _may_wrongly_run(case: dict[str, Any]) -> bool:
    """Whether the difference lets something through that the reference holds back."""
    if case["kind"] == "command_policy":
        return prove(case["input"]).intent is Intent.WRITE_OR_UNKNOWN
    return case["kind"] in ("intent", "sensitive_command") and prove(case["input"]).may_run
