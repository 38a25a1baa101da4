"""Whatever reads a text from outside takes time that grows with its length and no faster.

A worker holds many sessions, so one text that freezes it stops them all. Every reader gets texts
made to set its patterns and loops against themselves, at growing sizes.
"""

import ast
import gc
import importlib
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from mcp_types import CallToolResult, TextContent

from agents.citations import Ref, find_citations, find_in_plain_text
from agents.compaction import fit_conversation
from agents.controllers.react import React
from agents.controllers.written import read_written
from agents.llm.asked_wait import read_asked_wait
from agents.llm.bodies import BodyReader, ForeignText
from agents.llm.error_bodies import find_body, read_error
from agents.llm.head_thoughts import HeadThoughts
from agents.llm.sse import EventReader
from agents.our_lines import disarm, put_above, split_our_lines
from agents.repetition import RepetitionWatch
from agents.types import Message, StoredResult, ToolSpec
from investigations.notifications.messages import end_message, escape
from investigations.rendering.curl import write_curl
from investigations.rendering.marked_text import render_marked
from investigations.selectors.claims import ReportClaims
from investigations.selectors.session_page.conclusions import build_card
from investigations.selectors.session_page.unsupported import (
    UnsupportedSpan,
    locate_unsupported,
    relocate,
)
from investigations.selectors.trace.not_run import read_not_run
from masking.visible_text import clean_line
from mcp_bridge.arguments import parse_arguments
from mcp_bridge.content import read_json, read_result
from safety.evidence import Evidence, SettledCall, judge_outcome
from safety.grounding.claim_states import judge_claims
from safety.grounding.facts import Facts
from safety.grounding.judge import find_unsupported
from safety.grounding.likely_passages import Source, find_likely_passage
from safety.grounding.phantoms import find_phantoms, find_written_calls
from safety.grounding.proofs import Proofs
from tarsy.errors import TarsyError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
Read = Callable[[str], object]


def _sight(quote: str, text: str) -> object:
    return Proofs({1: StoredResult("t", text)}).find(Ref(1, quote))


def _call(text: str) -> SettledCall:
    return SettledCall("1", "ops", "query", "read", {"kind": "pods"}, "succeeded", text)


def _evidence(text: str) -> Evidence:
    evidence = Evidence()
    evidence.add(_call(text))
    return evidence


ANSWER = (
    "## Conclusion\nThe pod basket-7d9f-x2x1v was restarted 6 times by kubelet since 12:04 [T1], "
    'its memory is at 98% of 512Mi, and "the log says out of memory". No errors were found. '
    "nginx is running on node-a-1. I restarted the deployment.\n"
)
RESULT = "basket-7d9f-x2x1v 0/1 CrashLoopBackOff 6 restarts 98% of 512Mi at 2026-01-02T12:04:05Z"
SPECS = (ToolSpec("ops.query", "ops__query", "Looks", {}),)
SPAN = (UnsupportedSpan(3, 40, "number", "no result says so"),)

# Readers that want more than the text, by the module they are in.
READERS: dict[str, Read] = {
    "safety.grounding, the answer": lambda text: find_unsupported(text, _evidence(RESULT)),
    "safety.grounding, the result": lambda text: find_unsupported(ANSWER, _evidence(text)),
    "safety.grounding, what was given": lambda text: find_unsupported(
        ANSWER, Evidence(), [("alert", text)], ["ops__query"]
    ),
    "safety.grounding, answer and result": lambda text: find_unsupported(
        ANSWER + text[: len(text) // 2], _evidence(text)
    ),
    "safety.grounding.phantoms.find_phantoms": lambda text: list(find_phantoms(text, text)),
    "safety.grounding.phantoms.find_written_calls": lambda text: list(
        find_written_calls(text, ["ops__query", "kubectl"])
    ),
    "safety.grounding.likely_passages, the claim": lambda text: (
        find_likely_passage(text, Source(RESULT))
    ),
    "safety.grounding.likely_passages, the result": lambda text: (
        find_likely_passage(ANSWER, Source(text))
    ),
    "agents.citations": lambda text: (
        find_citations(text), find_in_plain_text(text), find_citations(f'[T1 "{text}"]')
    ),
    "safety.grounding.proofs, the quote": lambda text: _sight(text, RESULT),
    "safety.grounding.proofs, the result": lambda text: _sight("restarts: 14", text),
    "safety.grounding.claim_states": lambda text: judge_claims(
        f'{text} [T1 "{text[:300]}"]', {1: StoredResult("t", text)}
    ),
    "safety.grounding.likely_passages, both": lambda text: (
        find_likely_passage(text[:4_000], Source(text))
    ),
    "safety.grounding.facts": lambda text: Facts([_call(text)]).row_counts,
    "safety.evidence.judge_outcome": lambda text: (
        judge_outcome(text, is_error=True), judge_outcome(text, is_error=False)
    ),
    "safety.evidence.has_returned": lambda text: _evidence(text).has_returned("node-1"),
    "safety.evidence, the name": lambda text: (
        _evidence(RESULT).has_returned(text[:4_000])
    ),
    "mcp_bridge.arguments": parse_arguments,
    "mcp_bridge.arguments, in an object": lambda text: parse_arguments("{" + text),
    "mcp_bridge.arguments, behind a key": lambda text: parse_arguments("a: " + text),
    "mcp_bridge.arguments, as YAML": lambda text: parse_arguments("a:\n  b: 1\n" + text),
    "mcp_bridge.content": lambda text: (
        read_result(_result(text)), read_json(_result(text)), read_result(_result('{"ok"' + text))
    ),
    "masking.visible_text.clean_line": lambda text: clean_line(text, 200),
    "agents.controllers.react": lambda text: _react(text),
    "agents.controllers.react, behind an action": lambda text: _react(
        f"Thought: look\nAction: ops.query\nAction Input: {text}"
    ),
    "agents.controllers.react, as the action": lambda text: _react(f"Action: {text}"),
    "agents.controllers.react, an answer": lambda text: _react(f"Final Answer: {text}"),
    "agents.controllers.written": lambda text: read_written(text, SPECS),
    "agents.controllers.written, behind a mark": lambda text: read_written(
        f"<tool_call>{text}", SPECS
    ),
    "agents.controllers.written, behind a name": lambda text: read_written(
        f"ops__query({text}", SPECS
    ),
    "agents.llm.head_thoughts": lambda text: _thoughts(text),
    "agents.llm.bodies": lambda text: _body(text),
    "agents.llm.error_bodies": lambda text: (
        read_error({"error": {"message": text, "code": text}}, "").is_overflow(400),
        read_error(None, f"<{text}").message,
        find_body(text),
        find_body(f"b'{text}'"),
    ),
    "agents.llm.asked_wait": lambda text: read_asked_wait(
        {"retry-after": text, "date": text, "x-ratelimit-reset": text},
        {"error": {"message": text, "details": [{"retryDelay": text}]}},
        text,
        is_rate_limit=True,
    ),
    "agents.llm.sse": lambda text: _events(text),
    "agents.repetition": lambda text: _watch(text),
    "agents.compaction": lambda text: fit_conversation(
        [Message("system", "x"), Message("user", text), Message("assistant", text)],
        limit=2_000,
    ),
    "investigations.rendering.marked_text": lambda text: render_marked(text, SPAN),
    "investigations.rendering.curl": lambda text: write_curl(
        {"x": text, "y": [text]}, address="http://localhost/api/v1/alerts", needs_token=True
    ),
    "investigations.notifications.messages": lambda text: (
        end_message(status="completed", title=text, detail=text, link="http://x/"),
        escape(text, limit=2_000),
    ),
    "investigations.selectors.session_page.conclusions": lambda text: (
        build_card(text, ReportClaims()), build_card("## Conclusion\n" + text, ReportClaims()),
        split_our_lines(text), put_above(("**Changed:** x",), text), disarm(text),
        build_card(
            f"## Conclusion\nx\n\n## Evidence\n- {text}\n\n## Next steps\n1. {text}",
            ReportClaims(),
        ),
    ),
    "investigations.selectors.session_page.unsupported": lambda text: (
        locate_unsupported(text, {"unsupported": [{"start": 9, "end": 14, "text": text[:9]}] * 50}),
        relocate(text[: len(text) // 2], text, SPAN),
    ),
    "investigations.selectors.trace.not_run": lambda text: read_not_run('{"ok": false' + text),
}  # fmt: skip


def _result(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _react(text: str) -> object:
    controller = React()
    return controller.decide(text, ()), controller.conclude(text)


def _thoughts(text: str) -> object:
    head = HeadThoughts()
    parts = [head.feed(text[start : start + 40]) for start in range(0, len(text), 40)]
    return parts, head.finish()


def _body(text: str) -> object:
    reader = BodyReader()
    data = text.encode("utf-8", "replace")
    with suppress(ForeignText):
        for start in range(0, len(data), 1000):
            reader.feed(data[start : start + 1000])
        return reader.finish()


def _events(text: str) -> object:
    reader = EventReader()
    data = text.encode("utf-8", "replace")
    for start in range(0, len(data), 1000):
        reader.feed(b"data: " + data[start : start + 1000])
    return reader.finish()


def _watch(text: str) -> bool:
    watch = RepetitionWatch()
    return any(watch.add(text[start : start + 40]) for start in range(0, len(text), 40))


# ---- Those that take a text and nothing else are found, so that a new one is among them ----------

PACKAGES = (
    "masking/visible_text", "safety", "safety/gate", "safety/grounding", "safety/paths",
    "mcp_bridge", "mcp_bridge/wire",
    "agents", "agents/controllers", "agents/controllers/written", "agents/llm",
    "investigations", "investigations/access",
    "investigations/engine", "investigations/models", "investigations/rendering",
    "investigations/runbooks", "investigations/selectors", "investigations/selectors/configuration",
    "investigations/selectors/session_list", "investigations/selectors/session_page",
    "investigations/selectors/system", "investigations/selectors/trace", "investigations/services",
    "investigations/stream", "investigations/templatetags", "investigations/views",
)  # fmt: skip
NAMES = {
    "text", "answer", "markdown", "report", "html", "claim", "body", "line", "alert_data",
    "analysis", "value", "words", "given", "content", "path", "address",
}  # fmt: skip
OF_OURS = {
    "safety.word_lists.word_list": "lists of our own",
    "safety.word_lists.word_set": "lists of our own",
    "investigations.templatetags.display.icon": "names of ours",
    "investigations.templatetags.display.markdown": "is render_markdown and nothing else",
    "investigations.templatetags.display.hashed": "hashes of ours",
    "investigations.maskers.mask_alert_data": "has a budget of its own",
    "investigations.selectors.tokens.find_token": "looks for a hash",
    "investigations.services.notes.mask_note": "the masker has a budget of its own",
    "investigations.templatetags.trace.is_safe": "reads nothing",
    "investigations.templatetags.trace.listed": "reads nothing",
    "safety.evidence.match_whole": "makes a pattern; looked for by has_returned",
}


def _find_readers() -> Iterator[tuple[str, Read]]:
    for package in PACKAGES:
        whole = ROOT / package
        for path in sorted(whole.glob("*.py")) or [whole.with_suffix(".py")]:
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                name = f"{module}.{getattr(node, 'name', '')}"
                if (
                    isinstance(node, ast.FunctionDef)
                    and _reads_one_text(node)
                    and name not in OF_OURS
                ):
                    yield name, _late(module, node.name)


def _reads_one_text(node: ast.FunctionDef) -> bool:
    given, defaults = node.args.args, node.args.defaults
    if not given or len(given) - len(defaults) > 1 or any(d is None for d in node.args.kw_defaults):
        return False
    kind = ast.unparse(given[0].annotation) if given[0].annotation else ""
    is_public = not node.name.startswith("_")
    return is_public and given[0].arg in NAMES and kind in ("str", "object")


def _late(module: str, name: str) -> Read:
    def read(text: str) -> object:
        found = getattr(importlib.import_module(module), name)(text)
        return list(found) if isinstance(found, Iterator) else found

    return read


READERS |= dict(_find_readers())

# ---- Texts --------------------------------------------------------------------------------------

UNITS = (
    "[", "]", "{", "(", ")", "\\", '"', "'", "\n", " ", "\t", "-", "|", "`", "~", "a", "A", "1",
    ".", ",", ":", "<", ">", "&", "@", "/", "*", "_", "#", "=", "!", "?", "%", "$", ";", "\r",
    "\x1b", "\x85", "\u202e", "\u00e9", "\u2028", "\u0301", "\ufeff", "\U000e0041", "\ufe0f",
    "\u200d\U0001f600", "\n{", "\n[", "\n ", " \n", "\n- ", "\n1. ", "\n> ", "\n# ", "\n|",
    "\n```", "\n~~~", "\n\n", "\n\t", '{"a":', '{"', '"a', '\\"', "[{", "](", "[a](", "![",
    "[a]: ", "<a ", "<a href='", "</", "<!--", "&#", "&#1", "&a", "http://", "http://a@", "http:",
    "www.", "a@", "a@b", "a.b", "//", "/a", "/host",
    "/mnt", "\\\\", "**a", "*a ", "_a", "a_", "__", "~~", "a-",
    "a-1", "a.", "a1", "a:", "a=", "a='", "a: ", "a b ", "1.", "1,", "1,111", "1:1", "12:04 ",
    "2026-01-02 ", "1Gi ", "1 ", "0x", "1.1.1.1 ", "v1.", "98% ", "[T1", "[T1]", "[T1, T2", "T1 ",
    "<think>", "</think>", "\nAction:", "\nThought: ", "Action Input: ", "Final Answer:",
    "\nObservation", "Action: a.b ", "is running ", "was not ", "the alert says ",
    "I restarted the ", "has been restarted ", "no errors ", "by kubelet ", "because, ", "; ",
    ". A", "confidence: ", "(confidence ", "\n## Evidence\n", "\n## Conclusion\n", "e.g. ",
    "\u201c", "\u2026", "--- ", "\x1b[", "\x1b]", "\x1b[1", "\x9b", "a\u0301", "a\u202e",
    "key: value\n", "- a: b\n", "a: [", "&a ", "*a\n", "a: |\n", "? a\n", "'''", "$(", "${",
    "data: ", "event: x\n", ' {"ok":', "://", "!://", "http://a/(", "//[", "1:11:11:", "::", "[::",
    "[::1]", "%41", "xn--", "a.service ", "node-a ", "aB", "tool_call>", "```json", "( ",
)  # fmt: skip
LARGE_UNITS = (
    "[", "{", "\n{", "\n[", '{"a":', "\\", '"', "'", " ", "\n", "-", "|", "`", "a", "1", ".", ",",
    "](", "<", "&#", "http://", "@", "a-", "a.", "//", "//[", "a: ", "\x1b]", "\u202e", "\u2028",
)  # fmt: skip
LARGE = (
    "safety.refusals.read_envelope", "safety.gate.destinations.find_destinations",
    "safety.gate.destinations.starts_with_address", "mcp_bridge.arguments.parse_arguments",
    "safety.evidence.judge_outcome", "mcp_bridge.content",
    "investigations.rendering.markdown.render_markdown", "masking.visible_text.clean_text",
    "agents.controllers.react_format.parse_react", "investigations.models.foreign_json.read_json",
    "investigations.models.foreign_json.read_column",
    "investigations.rendering.plain_text.show_invisible",
    "investigations.templatetags.display.pretty", "investigations.services.titles.title_of",
    "investigations.selectors.session_page.conclusions.first_words",
    "safety.grounding.likely_passages, both",
)  # fmt: skip
"""Those that get the whole of what a tool, a model or a sender may send."""


def fill(unit: str, size: int) -> str:
    return "x " + unit * (size // len(unit)) + "\n"


# ---- Measuring ----------------------------------------------------------------------------------

SIZE, GROWTH = 1_000, 4
MOST_GROWTH = 8
"""Times as long for four times the text: half way from what grows with the length (4) to what grows
with its square (16), as a busy machine disturbs either."""
SLOW = 0.0005
"""Seconds of CPU for 4,000 characters; what takes less holds nobody up even as the square, since
no text is longer than some 400,000."""
LARGE_SIZE = 48_000


@pytest.fixture(scope="module")
def _garbage_of_before() -> None:
    """What other tests have left is collected once and then passed over."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _collect_no_garbage(_garbage_of_before: None) -> Iterator[None]:
    """A collection falls on whoever allocates next, however short its text."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def seconds(read: Read, text: str) -> float:
    """CPU of this thread: what else the machine does counts for nothing."""
    begun = time.thread_time()
    with suppress(ValueError, TarsyError):
        read(text)
    return time.thread_time() - begun


def grows_too_fast(read: Read, unit: str, size: int) -> bool:
    """Judged by one look, and where that is bad by the best of several, here and once more above:
    what disturbs a measurement seldom comes each time, and never with the length of the text."""
    took = seconds(read, fill(unit, GROWTH * size))
    if took < SLOW * size / SIZE or took < MOST_GROWTH * seconds(read, fill(unit, size)):
        return False
    return all(
        _best(read, fill(unit, GROWTH * each)) > MOST_GROWTH * _best(read, fill(unit, each))
        for each in (size, GROWTH * size)
    )


def _best(read: Read, text: str) -> float:
    return min(seconds(read, text) for _ in range(4))


@pytest.mark.parametrize("name", list(READERS))
def test_time_grows_with_the_length_of_a_text_and_no_faster(name):
    read = READERS[name]
    seconds(read, "once, for whatever is made on the first call")

    grown = [unit for unit in UNITS if grows_too_fast(read, unit, SIZE)]

    assert grown == []


@pytest.mark.parametrize("name", LARGE)
def test_the_largest_texts_hold_nobody_up(name):
    grown = [unit for unit in LARGE_UNITS if grows_too_fast(READERS[name], unit, LARGE_SIZE)]

    assert grown == []


def test_a_reader_that_goes_back_for_each_character_is_caught():
    grown = grows_too_fast(
        lambda text: [text[:end].isprintable() for end in range(len(text))], "a", SIZE
    )

    assert grown


def test_a_reader_that_reads_every_character_twice_is_not():
    grown = grows_too_fast(lambda text: [ord(letter) for letter in text + text], "a", SIZE)

    assert not grown
