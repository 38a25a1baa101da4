"""What small models really print, and what it is taken for."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.controllers.react_format import (
    Action,
    FinalAnswer,
    Malformed,
    ReactAnswer,
    parse_react,
    render_react,
)

OBJECT = '{"unit": "cart"}'


@pytest.mark.parametrize(
    ("text", "tool", "given"),
    [
        (f"Thought: look\nAction: ops.read\nAction Input: {OBJECT}", "ops.read", OBJECT),
        (
            f"**Thought:** look\n**Action:** `ops.read`\n**Action Input:** {OBJECT}",
            "ops.read",
            OBJECT,
        ),
        ("**Action: ops.read**\n**Action Input: cart**", "ops.read", "cart"),
        (f"## Action\nops.read\n\n## Action Input\n{OBJECT}", "ops.read", OBJECT),
        (f"THOUGHT: x\nACTION : ops.read\nACTION_INPUT : {OBJECT}", "ops.read", OBJECT),
        (f"Thought：看\nAction：ops.read\nAction Input：{OBJECT}", "ops.read", OBJECT),
        (f"1. Thought: x\n2. Action: ops.read\n3. Action Input: {OBJECT}", "ops.read", OBJECT),
        (f"> Action: ops.read\n> Action Input: {OBJECT}", "ops.read", OBJECT),
        (f"Thought: look. Action: ops.read Action Input: {OBJECT}", "ops.read", OBJECT),
        (f"Action: ops.read(unit)\nAction Input: {OBJECT}", "ops.read", OBJECT),
        (f"Action: ops.read # the unit\nAction Input: {OBJECT}", "ops.read", OBJECT),
        (f"Action: ops.read\nI take this one.\nAction Input: {OBJECT}", "ops.read", OBJECT),
        (f"Action: ops__read\nAction Input: {OBJECT}", "ops__read", OBJECT),
        ('Action: ops.read(unit="cart", lines=5)', "ops.read", 'unit="cart", lines=5'),
        ("Action: ops.read[cart]", "ops.read", "cart"),
        (f"Action: ops.read {OBJECT}", "ops.read", OBJECT),
        (f"Action: ops.read\n```json\n{OBJECT}\n```", "ops.read", OBJECT),
        (f"Action: ops.read\nArguments: {OBJECT}", "ops.read", OBJECT),
        ("Action: use the `ops.read` tool", "ops.read", ""),
        (f"Thought: I look, Action: ops.read Action Input: {OBJECT}", "ops.read", OBJECT),
        (f"**Action: ** ops.read\n**Action Input: ** {OBJECT}", "ops.read", OBJECT),
        ("Action: ops.read", "ops.read", ""),
        ("Action: ops.read\nAction Input:\nObservation: all is well", "ops.read", ""),
    ],
)
def test_an_action_is_found_in_whatever_dress(text, tool, given):
    assert parse_react(text).step == Action(tool, given)


@pytest.mark.parametrize(
    ("written", "given"),
    [
        (f"{OBJECT}\n\nI wait for the result.", OBJECT),
        (f"```json\n{OBJECT}\n```", OBJECT),
        (f"```{OBJECT}```", OBJECT),
        (f"{{{OBJECT}}}", OBJECT),
        (f"json\n{OBJECT}", OBJECT),
        ("{'unit': 'cart'}\n\nNow I wait.", "{'unit': 'cart'}"),
        ('{job="cart"} > 5', '{job="cart"} > 5'),
        ("`cart`", "cart"),
        ("```sql\nSELECT 1\n```\nThat is all.", "SELECT 1"),
        ("SELECT a\nFROM b\n**Observation:** 3", "SELECT a\nFROM b"),
        ("cart\nThought 2: and then", "cart"),
        ("cart\nAction: ops.list\nAction Input: {}", "cart"),
        ("\naction: logs\nunit: cart", "action: logs\nunit: cart"),
        ("\n  kind: Pod\n  meta:\n    name: x", "kind: Pod\nmeta:\n  name: x"),
        ('{"text": "a\nObservation: b"}', '{"text": "a\nObservation: b"}'),
        ('{"text": "}"}\nObservation: x', '{"text": "}"}'),
    ],
)
def test_the_input_ends_where_the_model_meant_it_to(written, given):
    assert parse_react(f"Action: ops.read\nAction Input: {written}").step == Action(
        "ops.read", given
    )


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thought: done\nFinal Answer: full", "full"),
        ("**Final Answer**\n\n## Conclusion\nfull", "## Conclusion\nfull"),
        ("**Final Answer: full**", "full"),
        ("## Final Answer\n\nFinal Answer: full", "full"),
        ("Thought: I know. Final answer: full", "full"),
        ("Thought：完成。Final Answer：満杯", "満杯"),
        ("Final Answer: do this\nAction: grow the disk\nAction Input: none", None),
        ("Action: None\nFinal Answer: full", "full"),
        ("Action: N/A\nAction Input: N/A\nFinal Answer: full", "full"),
        ("Action: Write the report\nFinal Answer: full", "full"),
        ("Action: Final Answer\nAction Input: full", "full"),
        ("Action: Finish[full]", "full"),
        ("Thought: last time Action: ops.read failed\nFinal Answer: full", "full"),
        ("Final Answer: full<|im_end|>", "full"),
        ("```\nThought: done\nFinal Answer: full\n```", "full"),
        ("Final Answer:\n```\ndf\n```\nfull", "```\ndf\n```\nfull"),
        ("Final Answer: it prints `</think>` and stops", "it prints `</think>` and stops"),
    ],
)
def test_all_behind_the_label_is_the_final_answer(text, answer):
    wanted = answer or "do this\nAction: grow the disk\nAction Input: none"

    assert parse_react(text).step == FinalAnswer(wanted)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        (f'{{"action": "ops.read", "action_input": {OBJECT}}}', Action("ops.read", OBJECT)),
        (f'{{"action": {{"name": "ops.read", "input": {OBJECT}}}}}', Action("ops.read", OBJECT)),
        (f'<tool_call>{{"name": "ops.read", "args": {OBJECT}}}', Action("ops.read", OBJECT)),
        (f'Action:\n```\n{{"tool": "ops.read", "input": {OBJECT}}}', Action("ops.read", OBJECT)),
        ('{"action": null, "final_answer": "full"}', FinalAnswer("full")),
        ('{"action": "ops.read", "final_answer": null}', Action("ops.read", "")),
        ('{"action": "final_answer", "action_input": "full"}', FinalAnswer("full")),
        ('Sure:\n{"Final Answer": "full"}', FinalAnswer("full")),
    ],
)  # fmt: skip
def test_a_step_may_be_written_as_one_json_object(text, step):
    assert parse_react(text).step == step


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("<think>\nAction: ops.drop\nAction Input: {}\n</think>\nAction: ops.read", "ops.read"),
        ("maybe\nAction: ops.drop\n</think>\nAction: ops.read", "ops.read"),
        ("[THINK]Action: ops.drop[/THINK]Action: ops.read", "ops.read"),
    ],
)
def test_a_draft_within_thinking_never_counts(text, tool):
    assert parse_react(text) == ReactAnswer("", Action(tool, ""))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("<think>hm</think>", "empty"),
        ("<think>\nAction: ops.read", "empty"),
        ("Final Answer:\n\n", "empty_answer"),
        ("**Final Answer:** **", "empty_answer"),
        ("The disk is full.", "no_action_or_answer"),
        ("Thought: Immediate Action: none. I go on.", "no_action_or_answer"),
        ("Action: None", "no_action"),
        ("Thought: x\nAction Input: {}", "no_action"),
        ("Action: read\nAction Input: {}", "tool_name"),
        ("Action: ops.\nAction Input: {}", "tool_name"),
        ("Action: .read\nAction Input: {}", "tool_name"),
        ("Action: look at ops.read now\nAction Input: {}", "tool_name"),
        ('{"action": "restart", "target": "cart"}', "no_action_or_answer"),
    ],
)
def test_what_is_neither_says_why(text, reason):
    step = parse_react(text).step

    assert isinstance(step, Malformed)
    assert step.reason == reason


def test_the_first_action_wins_and_an_answer_without_its_result_is_dropped():
    text = (
        "Thought: restart it\nAction: ops.control\nAction Input: {}\nObservation: restarted\n"
        "Action: ops.read\nAction Input: {}\nFinal Answer: I restarted it."
    )

    assert parse_react(text) == ReactAnswer("restart it", Action("ops.control", "{}"))


def test_the_thought_keeps_what_stands_before_its_label():
    assert parse_react("Well.\n\n**Thought:** a\nb\n\nAction: ops.read").thought == "Well.\n\na\nb"


NAMES = st.from_regex(r"[a-z][a-z0-9_-]{0,8}\.[a-z][a-z0-9_]{0,12}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PROSE = st.from_regex(r"[A-Za-z][a-z ,%0-9]{0,40}[a-z]", fullmatch=True)
LABELS = (
    "Thought:",
    "Action:",
    "Action Input:",
    "Final Answer:",
    "Observation:",
    "ops.read",
    "None",
)
MARKS = (
    "**",
    "__",
    "```",
    "\n",
    "\r",
    " ",
    "<think>",
    "</think>",
    "{",
    "}",
    '"',
    ": ",
    ">",
    "#",
    "(",
)
PIECES = st.sampled_from((*LABELS, *MARKS))


@given(NAMES, st.dictionaries(st.text(), VALUES, max_size=4), PROSE | st.just(""))
def test_a_well_formed_action_reads_back_exactly(name, arguments, thought):
    answer = ReactAnswer(thought, Action(name, json.dumps(arguments, indent=1)))

    assert parse_react(render_react(answer)) == answer


@given(PROSE, PROSE | st.just(""))
def test_a_well_formed_answer_reads_back_exactly(said, thought):
    answer = ReactAnswer(thought, FinalAnswer(said))

    assert parse_react(render_react(answer)) == answer


@given(st.lists(PIECES | st.text(max_size=5), max_size=40).map("".join))
def test_nothing_a_model_prints_raises(text):
    step = parse_react(text).step

    assert not isinstance(step, Action) or step.tool
    assert not isinstance(step, FinalAnswer) or step.text.strip()


@pytest.mark.parametrize(
    "piece",
    [". Action: x", "Action: x y\n", "Final Answer:\n", "*", "_", "{", '{"a":', "```\n", "<think>",
     "</think>", "> ", "---\n", "Action: a.b\nAction Input: x\naction: c\n", "Action:\n\n", "1"],
)  # fmt: skip
def test_hostile_text_of_any_length_is_read_to_its_end(piece):
    """Work that grew with the square of the length would not end before the test is stopped."""
    step = parse_react(piece * (200_000 // len(piece))).step

    assert isinstance(step, Action | FinalAnswer | Malformed)
