"""What the model says in the benchmarks. A script is YAML, so JSON does."""

import random
from typing import Any

from benchmarks.model import STAMP

Rule = dict[str, Any]
Script = dict[str, list[Rule]]

TOKENS_PER_SECOND = 50
TOKENS_PER_ITERATION = 100
_TOOL_CALL = {"name": "ops__metrics", "arguments": {"action": "load"}}
# The opening of the call and its arguments, as the rehearsal server cuts them.
_TOKENS_OF_CALL = 4
_REPORT = """## Conclusion
The load is normal. Confidence: high

## Evidence
1. The host answered.

## Next steps
1. Nothing.
"""


def _say(text: str, **more: object) -> dict[str, object]:
    return {"text": text, "usage": {"input_tokens": 2000, "output_tokens": 100}, **more}


def _words(count: int) -> str:
    """Words of one token each, never the same sentence twice in a row."""
    pick = random.Random(7)
    known = ["disk", "load", "host", "memory", "the", "is", "full", "not", "still", "swap", "log"]
    return " ".join(pick.choice(known) for _ in range(count))


def _conclude() -> list[Rule]:
    return [
        {"when": {"agent": "^ExecSummaryAgent"}, "reply": _say("The load was normal.")},
        {"reply": _say(_REPORT)},
    ]


def conclude_at_once() -> Script:
    return {"rules": _conclude()}


def iterate(rounds: tuple[int, ...]) -> Script:
    """Alerts that say `rounds N` get N iterations of 100 tokens at 50 per second with one call."""
    text = _words(TOKENS_PER_ITERATION - _TOKENS_OF_CALL)
    reply = _say(text, tool_calls=[_TOOL_CALL], tokens_per_second=TOKENS_PER_SECOND)
    summary, conclusion = _conclude()
    iterations = [
        {"when": {"turn": f"0-{count - 1}", "anywhere": rf"rounds {count}\b"}, "reply": reply}
        for count in rounds
    ]
    return {"rules": [summary, *iterations, conclusion]}


def stream_stamps(tokens: int) -> Script:
    """One answer in which every token is the time at which it was sent."""
    text = " ".join([STAMP] * tokens)
    reply = _say(text, chunk_size=len(STAMP) + 1, tokens_per_second=TOKENS_PER_SECOND)
    summary, conclusion = _conclude()
    return {"rules": [summary, {"when": {"turn": 0}, "reply": reply}, conclusion]}


WAITING = "wait for the model"


def wait_and_stream(seconds: float, tokens: int) -> Script:
    """Alerts that say WAITING are answered nothing for so long; the others as `stream_stamps`."""
    waiting = {"when": {"turn": 0, "anywhere": WAITING}, "reply": _say(_REPORT, delay=seconds)}
    summary, *others = stream_stamps(tokens)["rules"]
    return {"rules": [summary, waiting, *others]}


def hold_first_answer() -> Script:
    """Every agent's first answer stops after three words until `gate` is released."""
    reply = _say(_words(20), tool_calls=[_TOOL_CALL], hold="gate", hold_after=3)
    summary, conclusion = _conclude()
    return {"rules": [summary, {"when": {"turn": 0}, "reply": reply}, conclusion]}
