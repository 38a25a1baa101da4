"""The probes. Each asks for one thing that an investigation needs, and judges what comes."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from agents.answers import says_cut
from agents.controllers import FunctionCalling, React
from agents.controllers.base import CallTools
from agents.controllers.written.values import read_text
from agents.llm.windows import find_window
from agents.prompts.nudges import ask_to_call_by_text
from agents.provider_check import questions
from agents.provider_check.asking import Asker, Reply, Unanswered
from agents.provider_check.questions import CODE, COUNTED, FIRST_WORD, LOOK_UP, SYSTEM
from agents.provider_check.report import Outcome, ProbeName
from agents.types import Message, ToolCall, Usage
from tarsy.errors import LLMError

LIMIT_TOKENS = 64
LARGEST_OVERFLOW = 300_000
"""Tokens of a question that is asked without being asked for by name."""
DEAREST_OVERFLOW = 0.50
"""Dollars that such a question may cost if it is taken."""
OUTPUT_RATE = 5
"""How many times as much as a token of a question one of an answer costs, with most vendors."""
_LONGEST_QUOTE = 160
_FENCED = re.compile(r"^```\w*\n(.*?)\n?```$", re.DOTALL)


@dataclass(frozen=True)
class Verdict:
    outcome: Outcome
    remark: str = ""


@dataclass
class Bench:
    """What probes share: the model, and the conversation that one of them has begun."""

    asker: Asker
    is_asked_for: bool = False
    """The probe was named: it may be dear."""
    called: list[Message] = field(default_factory=list)
    """A question with the model's own call and its result, once it has made one."""


WORKS = Verdict("works")


# ---- Text ---------------------------------------------------------------------------------------


async def answer_in_words(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.TEXT)
    if reply.text.strip():
        return WORKS
    return Verdict("fails", f"Its answer has no text{_tell_end(reply)}.")


async def stream_in_pieces(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.STREAM)
    if not reply.text.strip():
        return Verdict("fails", f"Its answer has no text{_tell_end(reply)}.")
    limits = []
    if reply.pieces < 2:
        limits.append("Its answers come in one piece, so nobody can read along.")
    if reply.usage.total_tokens is None:
        limits.append("It does not tell how many tokens it took, so nothing can be priced.")
    return Verdict("limited", " ".join(limits)) if limits else WORKS


async def keep_to_limit(bench: Bench) -> Verdict:
    """Summaries and short conclusions have a limit; a cut one must be known as such."""
    reply = await bench.asker.ask(questions.LIMIT, max_output_tokens=LIMIT_TOKENS)
    if says_cut(reply.finish_reason):
        return WORKS
    if _ends_count(reply.text):
        return Verdict("limited", "It takes no notice of the limit of an answer.")
    reason = reply.finish_reason or "nothing"
    remark = f"It ends a cut answer with {reason!r} and not 'length', so it would pass for whole."
    return Verdict("limited", remark)


async def answer_at_length(bench: Bench) -> Verdict:
    try:
        reply = await bench.asker.ask(questions.LONG)
    except Unanswered as late:
        if not late.so_far.text:
            raise
        written = len(late.so_far.text)
        return Verdict("limited", f"It is slow: {written:,} characters, then {late}.")
    if says_cut(reply.finish_reason):
        cut = f"It was cut after {len(reply.text):,} characters, so long reports will be."
        return Verdict("limited", f"{cut} Raise the output limit of its server.")
    if not _ends_count(reply.text):
        return Verdict("limited", f"It broke off or left numbers out: {_quote(reply.text[-80:])}")
    if not _is_counted_whole(reply.text):
        return Verdict("limited", "It left numbers out, so its length says nothing.")
    return WORKS


async def show_thoughts(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.THINKING)
    if reply.thinking.strip():
        return WORKS
    counted = reply.usage.thinking_tokens or 0
    if counted:
        return Verdict("limited", f"It thinks ({counted:,} tokens) and does not show what.")
    return Verdict("limited", "It shows no thoughts.")


async def answer_with_json(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.JSON_OBJECT)
    text = reply.text.strip()
    fenced = _FENCED.match(text)
    if read_text(fenced[1] if fenced else text) != {"service": "payments", "replicas": 3}:
        return Verdict("limited", f"It did not answer with the JSON asked for: {_quote(text)}")
    return Verdict("works", "Between fences, which are read." if fenced else "")


# ---- Calls --------------------------------------------------------------------------------------


async def call_a_tool(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.CALL, (LOOK_UP,))
    calls, is_written = _find_calls(reply)
    if not calls:
        return Verdict("fails", f"It answered in words where it was to call: {_quote(reply.text)}")
    call = calls[0]
    if call.name != LOOK_UP.wire_name:
        return Verdict("fails", f"It called {call.name!r}, which was not offered.")
    if read_text(call.arguments) != {"name": "alpha"}:
        return Verdict("fails", f"Its call has other arguments: {_quote(call.arguments)}")
    message = replace(reply.message, tool_calls=(call,))
    bench.called = [*questions.CALL, message, questions.bring_result(call)]
    if is_written:
        return Verdict("limited", "It writes its calls as text. They are read there and run.")
    return WORKS


async def call_two_at_once(bench: Bench) -> Verdict:
    reply = await bench.asker.ask(questions.PARALLEL, (LOOK_UP,))
    calls, _ = _find_calls(reply)
    if len(calls) < 2:
        return Verdict("limited", "It makes one call at a time, so investigations take longer.")
    codes = {"alpha": CODE, "beta": questions.OTHER_CODE}
    names = [str((read_text(call.arguments) or {}).get("name")) for call in calls]
    if sorted(names) != sorted(codes):
        written = " and ".join(call.arguments for call in calls)
        return Verdict("limited", f"Two calls at once have wrong arguments: {_quote(written)}")
    results = [
        questions.bring_result(call, codes[name]) for call, name in zip(calls, names, strict=True)
    ]
    said = replace(reply.message, tool_calls=calls)
    after = await bench.asker.ask((*questions.PARALLEL, said, *results), (LOOK_UP,))
    is_read = all(code in after.text for code in codes.values())
    return WORKS if is_read else Verdict("works", "It did not tell both results.")


async def read_a_result(bench: Bench) -> Verdict:
    """With its own call, and all that stood beside it, sent back."""
    reply = await bench.asker.ask(bench.called, (LOOK_UP,))
    if CODE in reply.text:
        bench.called.append(reply.message)
        return WORKS
    if reply.calls:
        return Verdict("limited", "It called the tool once more instead of reading its result.")
    return Verdict("fails", f"It did not read the result of its call: {_quote(reply.text)}")


async def conclude_without_tools(bench: Bench) -> Verdict:
    """As an agent that is made to conclude: a history with calls, a question, and no tools."""
    reply = await bench.asker.ask((*_up_to_result(bench.called), questions.TELL_CODE))
    return _judge_code(reply)


async def take_over(bench: Bench) -> Verdict:
    """As a fallback provider, with a history that another one began."""
    return _judge_code(await bench.asker.ask(questions.write_foreign_history(), (LOOK_UP,)))


async def call_by_text(bench: Bench) -> Verdict:
    """As an agent whose model calls no functions."""
    rules = Message("user", ask_to_call_by_text((LOOK_UP,)))
    opening = (SYSTEM, rules, Message("user", "Use the tool to find out which code alpha has."))
    react = React()
    reply = await bench.asker.ask(react.present(opening))
    decision = react.decide(reply.text, reply.calls, (LOOK_UP,))
    if not isinstance(decision, CallTools):
        return Verdict("fails", f"It wrote no action in the form it was told: {_quote(reply.text)}")
    (call,) = decision.calls
    if read_text(call.arguments) != {"name": "alpha"}:
        return Verdict("fails", f"Its action has other input: {_quote(call.arguments)}")
    said = Message("assistant", decision.kept or reply.text, (call,))
    result = react.write_result(call, f"[T1] The code is {CODE}.")
    reply = await bench.asker.ask(react.present((*opening, said, result)))
    if CODE in reply.text:
        return WORKS
    return Verdict("fails", f"It did not read the observation: {_quote(reply.text)}")


# ---- Too much -----------------------------------------------------------------------------------


async def overflow(bench: Bench) -> Verdict:
    settings = bench.asker.settings
    window = settings.context_window or find_window(settings.type, settings.model)
    tokens = window + window // 10
    if not bench.is_asked_for and (reason := _find_too_dear(bench, tokens)):
        return Verdict("skipped", f"{reason} `--only overflow` asks all the same.")
    try:
        reply = await bench.asker.ask(questions.write_long_question(tokens))
    except LLMError as error:
        if error.code == "context_window":
            return WORKS
        remark = f"A question that is too long is not known as such by its refusal. {error}"
        return Verdict("limited", remark)
    if FIRST_WORD in reply.text.lower():
        return Verdict("works", f"It reads more than {window:,} tokens; context_window may say so.")
    remark = (
        f"It takes a question of {tokens:,} tokens and forgets where it began. Say in "
        "context_window how many its server really takes."
    )
    return Verdict("limited", remark)


def _find_too_dear(bench: Bench, tokens: int) -> str:
    if tokens > LARGEST_OVERFLOW:
        return f"The question would have {tokens:,} tokens."
    dollars = _estimate_cost(bench.asker, tokens)
    return f"It might cost ${dollars:.2f}." if dollars > DEAREST_OVERFLOW else ""


def _estimate_cost(asker: Asker, tokens: int) -> float:
    """Of a question of so many tokens, by its rate or by what the others have cost."""
    known = asker.price_of(Usage(input_tokens=tokens, output_tokens=0))
    if known is not None:
        return known
    spent = asker.spent
    weight = spent.input_tokens + OUTPUT_RATE * spent.output_tokens
    return (spent.cost_usd or 0.0) / weight * tokens if weight else 0.0


# ---- Which there are, in order ------------------------------------------------------------------


@dataclass(frozen=True)
class Probe:
    run: Callable[[Bench], Awaitable[Verdict]]
    what: str
    """What it tries, for people."""
    needs: tuple[ProbeName, ...] = ()
    """Without these it tells nothing."""


PROBES: Mapping[ProbeName, Probe] = {
    "text": Probe(answer_in_words, "an answer in words"),
    "stream": Probe(stream_in_pieces, "an answer in pieces, and its tokens", ("text",)),
    "limit": Probe(keep_to_limit, "an answer that is cut at a limit", ("text",)),
    "call": Probe(call_a_tool, "a call of a tool", ("text",)),
    "parallel": Probe(call_two_at_once, "two calls at once", ("call",)),
    "result": Probe(read_a_result, "an answer to the result of a call", ("call",)),
    "conclusion": Probe(conclude_without_tools, "a conclusion without tools", ("call",)),
    "takeover": Probe(take_over, "a history from another provider", ("call",)),
    "react": Probe(call_by_text, "a call of a tool by text", ("text",)),
    "thinking": Probe(show_thoughts, "thoughts that are shown", ("text",)),
    "long": Probe(answer_at_length, "a long answer", ("text",)),
    "json": Probe(answer_with_json, "an answer in JSON", ("text",)),
    "overflow": Probe(overflow, "a question that is too long", ("text",)),
}


# ---- Judging ------------------------------------------------------------------------------------


def _find_calls(reply: Reply) -> tuple[tuple[ToolCall, ...], bool]:
    """The calls that an agent would run, and whether they were only written."""
    decision = FunctionCalling().decide(reply.text, reply.calls, (LOOK_UP,))
    if not isinstance(decision, CallTools):
        return (), False
    return decision.calls, not reply.calls


def _up_to_result(messages: list[Message]) -> list[Message]:
    return messages[: 1 + max(i for i, each in enumerate(messages) if each.role == "tool")]


def _judge_code(reply: Reply) -> Verdict:
    if CODE in reply.text:
        return WORKS
    if reply.calls:
        return Verdict("limited", "It called a tool where it was to answer.")
    if not reply.text.strip():
        return Verdict("fails", f"Its answer has no text{_tell_end(reply)}.")
    return Verdict("limited", f"It took no account of the result: {_quote(reply.text)}")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"(?<!\d)\d{1,6}(?!\d)", text)]


def _ends_count(text: str) -> bool:
    return _numbers(text)[-1:] == [COUNTED]


def _is_counted_whole(text: str) -> bool:
    numbers = _numbers(text)
    return len(numbers) >= COUNTED and sum(b == a + 1 for a, b in pairwise(numbers)) >= COUNTED - 2


def _tell_end(reply: Reply) -> str:
    return f" and ends with {reply.finish_reason!r}" if reply.finish_reason != "stop" else ""


def _quote(text: str) -> str:
    shown = " ".join(text.split())
    if len(shown) > _LONGEST_QUOTE:
        shown = f"{shown[: _LONGEST_QUOTE - 1]}…"
    return f"“{shown}”" if shown else "nothing"
