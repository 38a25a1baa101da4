"""`recall_result`: what comes back, page by page, and what is answered when nothing can."""

import pytest

from agents.controllers.react_names import ToolName as ReactToolName
from agents.controllers.react_names import read_tool_name
from agents.prompts.tools import describe_tools
from agents.recall import PAGE_CHARACTERS, RECALL, RECALL_SPEC, RecallToolbox
from agents.types import StoredResult, ToolCall
from mcp_bridge.names import ToolName, ToolNames
from tests.agents.doubles import MemoryResults, ScriptedToolbox

LINES = "\n".join(f"line {n}: {'ERROR' if n % 100 == 0 else 'fine'}" for n in range(2000))
KNOWN = MemoryResults(
    {
        5: StoredResult("ops.logs", LINES),
        6: StoredResult("ops.query", None),
        7: StoredResult("ops.query", "short"),
    }
)


def make(results=KNOWN, *, offers=True):
    return RecallToolbox(ScriptedToolbox({"read": "94 %"}), results, offers=offers)


async def recall(arguments: str):
    call = ToolCall("c1", RECALL, arguments)
    return await make().execute(call, report_progress=lambda text: None)


async def test_a_short_result_comes_back_whole():
    result = await recall('{"number": 7}')

    assert not result.is_error
    assert result.content == "T7 (ops.query), characters 0 to 5 of 5:\nshort"
    assert result.stored == result.content


async def test_a_long_result_comes_in_pages_that_join_to_the_whole():
    pages, offset = [], 0
    while True:
        result = await recall(f'{{"number": 5, "offset": {offset}}}')
        head, _, rest = result.content.partition("\n")
        page, more, _ = rest.partition(f"\n[{RECALL} ")
        assert len(page) <= PAGE_CHARACTERS
        pages.append(page)
        offset = int(head.split(" to ")[1].split(" of ")[0].replace(",", ""))
        if not more:
            break

    assert len(pages) > 1
    assert "".join(pages) == LINES


async def test_only_lines_with_a_text_can_be_asked_for_in_any_case():
    result = await recall('{"number": 5, "contains": "error"}')

    body = result.content.split("\n")[1:]
    assert len(body) == 20
    assert all("ERROR" in line for line in body)


async def test_no_line_with_the_text_is_an_answer_and_no_error():
    result = await recall('{"number": 5, "contains": "panic"}')

    assert not result.is_error
    assert "none of its 2,000 lines contains 'panic'" in result.content


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ('{"number": 99}', "no tool call T99"),
        ('{"number": 6}', "T6 (ops.query) is not finished"),
        ('{"number": 7, "offset": 5}', "ends before offset 5"),
        ('{"number": 7, "offset": -1}', "0 or more"),
        ('{"number": 7, "contains": ["a"]}', "contains is a text"),
        ('{"number": 0}', "needs the number"),
        ('{"number": true}', "needs the number"),
        ("{}", "needs the number"),
        ("the last one", "needs the number"),
        ("[" * 100_000, "needs the number"),
    ],
)
async def test_what_cannot_be_recalled_is_said_so_that_the_model_can_act(arguments, said):
    result = await recall(arguments)

    assert result.is_error
    assert said in result.content


@pytest.mark.parametrize(
    "arguments",
    ['{"number": 7}', '{"number": "T7"}', '{"number": "[T7]"}', '{"number": 7.0}', "7", '"T7"',
     "number: 7"],
)  # fmt: skip
async def test_the_number_is_understood_as_models_write_it(arguments):
    assert (await recall(arguments)).content.endswith("short")


async def test_other_calls_go_to_the_tools():
    toolbox = make()

    result = await toolbox.execute(ToolCall("c1", "ops__read", "{}"), report_progress=print)

    assert result.content == "94 %"
    assert toolbox.identify(ToolCall("c1", "ops__read", "{}")).name == "ops.read"


def test_it_is_a_tool_without_a_server_and_is_offered_last():
    toolbox = make()

    target = toolbox.identify(ToolCall("c1", RECALL, '{"number": 5}'))

    assert (target.server, target.tool, target.kind) == ("", RECALL, "recall")
    assert [spec.wire_name for spec in toolbox.specs] == ["ops__read", RECALL]


def test_it_is_offered_from_the_moment_there_is_a_use_for_it_and_never_without_results():
    waiting, nowhere = make(offers=False), make(None)

    before = len(waiting.specs)
    waiting.offer()
    nowhere.offer()

    assert (before, len(waiting.specs), len(nowhere.specs)) == (1, 2, 1)


async def test_without_results_the_name_is_an_unknown_tool():
    result = await make(None).execute(ToolCall("c1", RECALL, "{}"), report_progress=print)

    assert "There is no tool" in result.content


@pytest.mark.parametrize(
    ("server", "tool"), [("recall", "result"), ("recall_result", "x"), ("r", "recall_result")]
)
def test_no_tool_of_a_server_gets_its_name(server, tool):
    names = ToolNames([ToolName(server, tool)])

    assert names.wire(ToolName(server, tool)) != RECALL
    assert names.resolve(RECALL) is None


def test_a_model_that_calls_by_text_is_told_whose_tool_it_is():
    [described] = describe_tools((RECALL_SPEC,))

    assert described.name == "this system itself"
    assert "- number (integer from 1, required): The 5 of [T5]" in described.text


@pytest.mark.parametrize(
    "line", ["recall_result", "`recall_result`", "recall_result(number=5)", "use recall_result"]
)
def test_its_name_is_read_from_the_text_of_an_action(line):
    named = read_tool_name(line)

    assert isinstance(named, ReactToolName)
    assert named.name == RECALL


def test_a_word_that_begins_like_it_is_no_tool():
    assert not isinstance(read_tool_name("recall_results"), ReactToolName)
