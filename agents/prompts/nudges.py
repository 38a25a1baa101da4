"""What a model is told within a conversation: its answer was of no use, its tools are others."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.prompts.rendering import render
from agents.prompts.tools import describe_tools
from agents.records import IncidentNews
from agents.types import ToolSpec

LONGEST_EXCERPT = 2000
TOOLS_CHANGED = "## Your tools have changed"
"""How the message begins that tells of it."""
ALERTS_CHANGED = "## What became of the alerts meanwhile"
"""How the message begins that tells of alerts that came and went."""
CALL_BY_TEXT = "## From now on you call tools by writing"
"""How the message begins from which on an execution goes on without calls of functions."""


@dataclass(frozen=True)
class ServerNews:
    """What is new about one tool server, with the names under which the model calls its tools.

    Where it has just joined, `instructions` are the operator's and `words` its own, which are text
    from outside.
    """

    name: str
    tools: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    instructions: str = ""
    words: str = ""
    more: int = 0
    """How many there are beside `tools`, and beside `gone`: too many to be named."""
    more_gone: int = 0


def tell_of_tools(
    joined: Sequence[ServerNews],
    left: Sequence[ServerNews],
    changed: Sequence[ServerNews],
    described: Sequence[ToolSpec] = (),
) -> str:
    """What can be called from now on; `described` are tools of which the model is told by text."""
    text = render("tools/descriptions", servers=describe_tools(described)) if described else ""
    return render(
        "tools/changed", head=TOOLS_CHANGED, joined=joined, left=left, changed=changed,
        described=text,
    )  # fmt: skip


def tell_of_alerts(news: IncidentNews) -> str:
    """Which alerts of the incident came, came back and are over; titles are text from outside."""
    groups = (
        ("These alerts have joined", news.joined, news.more_joined),
        ("These fire again", news.reopened, news.more_reopened),
        ("These are over", news.resolved, news.more_resolved),
    )
    return render(
        "nudges/incident_news", head=ALERTS_CHANGED, groups=groups, firing=news.firing,
        is_over=news.firing == 0, over_since=news.over_since, must_conclude=news.must_conclude,
    )  # fmt: skip


def ask_after_empty_answer() -> str:
    return render("nudges/empty_answer")


def ask_for_text_without_tools() -> str:
    return render("nudges/no_tools")


def ask_to_be_shorter() -> str:
    return render("nudges/shorter")


def ask_to_call_by_text(specs: Sequence[ToolSpec]) -> str:
    """The same tools for a model that turned out to know no calls of functions."""
    rules = render("tools/react_rules", has_tools=True, result="answer")
    tools = render("tools/descriptions", servers=describe_tools(specs))
    return render("nudges/call_by_text", head=CALL_BY_TEXT, rules=rules, tools=tools)


def ask_for_real_call() -> str:
    return render("nudges/written_call")


def ask_for_own_action() -> str:
    """Where a model has repeated, in the format of its actions, what others wrote."""
    return render("nudges/quoted_action")


def ask_after_repetition(text: str) -> str:
    return render("nudges/repetition", excerpt=_cut(text))


def ask_after_broken_answer(reason: str, text: str) -> str:
    return render("nudges/broken_answer", reason=reason, excerpt=_cut(text))


def ask_to_conclude(iterations: int) -> str:
    """The question after the last iteration; it goes out without tools."""
    return render("nudges/conclude", iterations=iterations)


def ask_to_conclude_early() -> str:
    """The same before that, to a model that cannot keep to the format it was given."""
    return render("nudges/conclude_early")


def ask_for_react_format(reason: str, written: str, text: str) -> str:
    """Feedback on an answer that was neither an action nor a final answer."""
    return render("nudges/react_format", reason=reason, written=written, excerpt=_cut(text))


def _cut(text: str) -> str:
    # The end matters: the model is to go on from there.
    return text if len(text) <= LONGEST_EXCERPT else f"…{text[-LONGEST_EXCERPT:]}"
