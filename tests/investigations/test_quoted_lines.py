"""The line below a claim shows its quote first, as it is cut where there is no more room."""

import pytest

from agents.citations import Ref
from agents.types import StoredResult
from investigations.selectors.quoted_lines import list_quoted_lines
from safety.grounding.claim_states import ClaimState, JudgedClaim
from safety.grounding.claims import Claim
from safety.grounding.proofs import Proofs

QUOTE = "exitCode: 137"


@pytest.mark.parametrize(
    ("line", "before"),
    [
        (f"    {QUOTE}, reason: OOMKilled", ""),
        (f"state: {QUOTE}, reason: OOMKilled", "state: "),
        (f"2026-11-30T11:04:14Z kubelet shop/cart terminated {QUOTE}, more", "…terminated "),
        (f"{'x' * 5_000} {QUOTE}", "…xxxxxxxxxxx "),
    ],
)
def test_a_quoted_line_begins_a_few_characters_before_its_quote(line, before):
    ref = Ref(1, QUOTE)
    results = {1: StoredResult("pods_get", f"an earlier line\n{line}\na later line")}
    sighting = Proofs(results).find(ref)
    claim = JudgedClaim(Claim(0, 1, (ref,)), ClaimState.PROVED, sightings=((ref, sighting),))

    (shown,) = list_quoted_lines([claim], results)

    assert (shown.before, shown.quote) == (before, QUOTE)
