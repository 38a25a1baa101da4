"""Only an act of ours that never was is certain; it goes, and the rest of the report stands."""

import pytest

from safety.evidence import Evidence, SettledCall
from safety.grounding.judge import find_unsupported
from safety.grounding.unsupported import Unsupported
from safety.grounding.withholding import WITHHELD, withhold
from tests.safety.gate.calls import settled

LOOK = settled(
    "k8s.pods", "read", "NAME    STATUS   RESTARTS\nweb-7   Running  3\nweb-8   Ready    0"
)
RESTART = settled("k8s.restart", "write", "restarted web-7", {"name": "web-7"})


def judge(answer: str, *calls: SettledCall, history: str = "") -> list[Unsupported]:
    evidence = Evidence()
    for call in calls or (LOOK,):
        evidence.add(call)
    return list(find_unsupported(answer, evidence, [("history", history), ("alert data", "web-7")]))


@pytest.mark.parametrize(
    "answer",
    [
        "I restarted web-7.",
        "I have deleted the pod.",
        "We've drained web-7 and it is empty.",
        "I looked at web-7 and restarted it.",
        "I put web-7 back into rotation.",
        "I stopped the service.",
        "I patched web-7.",
        "I added a note about web-7.",
    ],
)
def test_an_act_in_the_first_person_that_no_call_did_is_certain(answer):
    assert [each.kind for each in judge(answer) if each.is_phantom]


@pytest.mark.parametrize(
    "answer",
    [
        "I stopped the search after the first page.",
        "I started with web-7.",
        "I resolved the name of web-7.",
        "I set the time range to an hour.",
        "I have changed nothing, and restarted nothing.",
        "I asked for a restart of web-7.",
        "web-7 was restarted by the kubelet.",
        "Either web-7 was drained or its network is cut.",
        'The ticket says "I restarted web-7".',
        "I would have restarted web-7.",
        "Should I restart web-7?",
        "I reduced the list to what matters.",
        "I restarted my search with a wider time window.",
        "I reverted to the earlier query.",
        "I reloaded the dashboard.",
        "I scaled the graph to 24 h.",
        "I deleted duplicates from the list.",
    ],
)
def test_what_is_no_act_or_not_ours_holds_nothing_back(answer):
    assert [each for each in judge(answer) if each.is_phantom] == []


def test_an_act_that_a_call_did_stands_and_one_to_another_thing_does_not():
    assert judge("I restarted web-7.", LOOK, RESTART) == []
    (found,) = judge("I restarted web-8.", LOOK, RESTART)
    assert (found.is_phantom, found.reason) == (True, "no write was done to web-8")


def test_an_act_that_an_earlier_agent_tells_of_may_be_told_again():
    assert judge("We restarted web-7.", history="[T3] restart of web-7: verified") == []


def test_only_the_sentence_goes_and_other_marks_stay_where_they_are():
    answer = "- It has 3 restarts. I restarted web-7 at 04:12. It had 77 restarts before.\n- Fine."

    text, kept = withhold(answer, judge(answer))

    assert text == f"- It has 3 restarts. {WITHHELD} It had 77 restarts before.\n- Fine."
    assert [text[each.start : each.end] for each in kept] == ["77 restarts"]
