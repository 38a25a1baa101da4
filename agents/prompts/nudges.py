"""What a model is told within a conversation when its last answer was of no use."""

from agents.prompts.rendering import render

LONGEST_EXCERPT = 2000


def ask_after_empty_answer() -> str:
    return render("nudge_empty")


def ask_for_text_without_tools() -> str:
    return render("nudge_no_tools")


def ask_after_repetition(text: str) -> str:
    return render("nudge_repetition", excerpt=_cut(text))


def ask_after_broken_answer(reason: str, text: str) -> str:
    return render("nudge_broken", reason=reason, excerpt=_cut(text))


def ask_to_conclude(iterations: int) -> str:
    """The question after the last iteration; it goes out without tools."""
    return render("forced_conclusion", iterations=iterations)


def ask_to_conclude_early() -> str:
    """The same before that, to a model that cannot keep to the format it was given."""
    return render("forced_conclusion_early")


def ask_for_react_format(reason: str, written: str, text: str) -> str:
    """Feedback on an answer that was neither an action nor a final answer."""
    return render("nudge_react", reason=reason, written=written, excerpt=_cut(text))


def _cut(text: str) -> str:
    # The end matters: the model is to go on from there.
    return text if len(text) <= LONGEST_EXCERPT else f"…{text[-LONGEST_EXCERPT:]}"
