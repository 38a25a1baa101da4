import asyncio
import json
import os
import threading
from dataclasses import replace
from datetime import timedelta

import psutil
import pytest
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations

from agents.ports import ProposedAnswer, Toolbox
from agents.types import CHANGES_SOMETHING, PastCall, ToolCall, ToolResult
from masking import MaskedText, Masker
from mcp_bridge import results
from mcp_bridge.results import WITHHELD
from mcp_bridge.toolbox import open_toolbox
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import Pass
from safety.refusals import Refusal
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import ReadsBut, quick, run, stdio
from tests.mcp_bridge.open_gate import OpenGate
from tests.safety.gate.calls import Desk
from tests.server_plans import CustomPattern, MaskingRules, ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def host_server() -> MCPServer:
    server = MCPServer("host", instructions="Read before you conclude.")

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def disk(path: str, limit: int | None = None) -> str:
        """Show how full a disk is."""
        return f"{path} is 91% full (limit {limit})"

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def query(search: str) -> str:
        """Answer in an envelope."""
        return json.dumps({"ok": search != "nothing", "data": {}, "error": {"code": "NOT_FOUND"}})

    @server.tool()
    def wipe(path: str) -> str:
        """Delete everything."""
        raise AssertionError("a write ran")

    return server


HOST = ServerPlan(TransportPlan("in_process"), tools=ReadsBut("wipe"))


def open_host(plan: ServerPlan = HOST, **options):
    options = {"deadlines": quick(), **options}
    return open_toolbox({"host": plan}, in_process={"host": host_server}, **options)


async def test_tools_of_every_server_are_offered_under_names_models_take():
    servers = {"host": HOST, "shell": stdio("normal")}

    async with open_toolbox(
        servers, in_process={"host": host_server}, deadlines=quick()
    ) as toolbox:
        port: Toolbox = toolbox
        names = {spec.name: spec.wire_name for spec in port.specs}

    assert names["host.disk"] == "host__disk"
    assert names["shell.echo"] == "shell__echo"


async def test_dead_servers_are_named_with_the_reason_and_the_others_work():
    servers = {
        "host": HOST,
        "missing": ServerPlan(TransportPlan("stdio", command="/no/such/program")),
        "dying": stdio("exit"),
        "silent": stdio("hang"),
        "refusing": ServerPlan(TransportPlan("http", url="http://127.0.0.1:9/mcp")),
        "badly_set": ServerPlan(TransportPlan("http", url="ftp://127.0.0.1/")),
        "unknown": ServerPlan(TransportPlan("in_process")),
    }

    async with open_toolbox(
        servers, in_process={"host": host_server}, deadlines=quick(start=3.0)
    ) as toolbox:
        result = await run(toolbox, "host__disk", '{"path": "/var"}')

        assert result.content == "/var is 91% full (limit None)"
        assert set(toolbox.unavailable) == set(servers) - {"host"}
        assert "/no/such/program" in toolbox.unavailable["missing"]
        assert "cannot start: api_key=[MASKED:" in toolbox.unavailable["dying"]
        assert "3 s" in toolbox.unavailable["silent"]
        assert "nothing answers" in toolbox.unavailable["refusing"]


async def test_the_operators_instructions_stand_apart_from_what_a_server_says_masked():
    plan = stdio("normal", instructions="Production only.")

    async with open_toolbox({"shell": plan}, deadlines=quick()) as toolbox:
        assert toolbox.instructions == {"shell": "Production only."}
        assert toolbox.server_words == {"shell": "Ask nicely. password=[MASKED:password#1]"}


async def test_writes_are_hidden_and_refused_when_called_anyway():
    async with open_host() as toolbox:
        result = await run(toolbox, "host__wipe", '{"path": "/"}')

        assert "host.wipe" not in {spec.name for spec in toolbox.specs}
        assert result.is_error
        assert "read-only" in result.content


async def test_annotations_of_an_untrusted_server_count_for_nothing():
    async with open_host(ServerPlan(TransportPlan("in_process"), trust_annotations=False)) as box:
        assert box.specs == ()
        assert (await run(box, "host__disk", '{"path": "/"}')).is_error


async def test_configured_class_wins_over_the_annotation():
    rules = {
        "disk": ClassRule("write"),
        "query": ClassRule(argument="search", values={"pods": "read"}),
    }
    plan = ServerPlan(TransportPlan("in_process"), tools=rules)

    async with open_host(plan) as toolbox:
        assert [spec.name for spec in toolbox.specs] == ["host.query"]
        assert not (await run(toolbox, "host__query", '{"search": "pods"}')).is_error
        assert "read-only" in (await run(toolbox, "host__query", '{"search": "x"}')).content


@pytest.mark.parametrize(("name", "is_ours"), [("ops", True), ("host", False)])
async def test_only_our_own_server_finds_for_the_gate_what_calls_may_be_about(name, is_ours):
    plan = ServerPlan(TransportPlan("in_process"), tools={"query": ClassRule("resolve")})

    async with open_toolbox(
        {name: plan}, in_process={name: host_server}, deadlines=quick()
    ) as toolbox:
        assert toolbox.identify(ToolCall("1", f"{name}__query", "{}")).resolves is is_ours


async def test_selection_narrows_tools_and_names_servers_that_do_not_exist():
    async with open_host(selection={"host": ["disk"], "ghost": None}) as toolbox:
        result = await run(toolbox, "host__query", '{"search": "x"}')

        assert [spec.name for spec in toolbox.specs] == ["host.disk"]
        assert toolbox.unavailable == {"ghost": "it is not configured"}
        assert "not among the tools selected" in result.content


async def test_unknown_tool_is_answered_with_the_names_that_exist():
    async with open_host() as toolbox:
        call = ToolCall("1", "host__disks\x1b[31m", "some text")
        target = toolbox.identify(call)
        result = await toolbox.execute(call, report_progress=lambda text: None)

    assert (target.server, target.tool) == ("", "host__disks")
    assert target.arguments == {"raw": "some text"}
    assert result.is_error
    assert "host__disk" in result.content
    assert "wipe" not in result.content


async def test_wrong_arguments_name_the_property_that_is_wrong():
    async with open_host() as toolbox:
        wrong = await run(toolbox, "host__disk", '{"path": "/", "limit": "many"}')
        missing = await run(toolbox, "host__disk", "{}")

    assert "`limit`: 'many' is neither integer nor null" in wrong.content
    assert "'path' is a required property" in missing.content
    assert "host__disk" in missing.content


async def test_arguments_in_any_form_reach_the_tool():
    async with open_host() as toolbox:
        pairs = await run(toolbox, "host__disk", "path: /var, limit: 3")

    assert pairs.content == "/var is 91% full (limit 3)"


async def test_envelope_that_says_not_ok_is_an_error():
    async with open_host() as toolbox:
        failed = await run(toolbox, "host__query", '{"search": "nothing"}')
        fine = await run(toolbox, "host__query", '{"search": "pods"}')

    assert failed.is_error
    assert "NOT_FOUND" in failed.content
    assert not fine.is_error


async def test_secrets_are_masked_in_results_errors_and_arguments():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        secret = await run(toolbox, "shell__secret")
        error = await run(toolbox, "shell__refuse")
        call = ToolCall("1", "shell__echo", '{"text": "password=Ex4mple-Pass"}')
        target = toolbox.identify(call)
        echoed = await toolbox.execute(call, report_progress=lambda text: None)

    masked = json.loads(secret.content)
    assert masked == {"password": echoed.content.removeprefix("password="), "host": "db-1"}
    assert secret.masked == 1
    assert error.is_error
    assert "no such pod; token=[MASKED:token#1]" in error.content
    assert echoed.content.startswith("password=[MASKED:password#")
    assert target.arguments == {"text": echoed.content}


async def test_secrets_in_descriptions_of_tools_and_arguments_are_masked():
    async with open_toolbox({"shell": stdio("told")}, deadlines=quick()) as toolbox:
        (spec,) = toolbox.specs

    assert "Ex4mple" not in f"{spec.description} {spec.input_schema}"
    assert "password=[MASKED:password#" in spec.description
    assert "password=[MASKED:password#" in json.dumps(spec.input_schema)


async def test_own_patterns_of_a_server_are_masked_too():
    own = CustomPattern("case-([0-9]+)", "case-[number]")
    plan = stdio("normal", data_masking=MaskingRules(custom_patterns=(own,)))

    async with open_toolbox({"shell": plan}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "shell__echo", '{"text": "see case-4711"}')

    assert result.content == "see case-[number]"


async def test_result_is_withheld_whole_when_masking_fails(monkeypatch):
    def fail(self, text):
        raise RuntimeError("no memory")

    async with open_host() as toolbox:
        monkeypatch.setattr(Masker, "mask", fail)
        result = await run(toolbox, "host__disk", '{"path": "/var"}')

    assert json.loads(result.content)["error"]["message"] == WITHHELD
    assert result.stored == result.content
    assert result.is_error


async def test_result_is_withheld_whole_when_masking_takes_too_long(monkeypatch):
    release = threading.Event()

    def hang(self, text):
        # Our own words, which tell of it, are masked in the loop's thread.
        if threading.current_thread() is not threading.main_thread():
            release.wait(20)
        return MaskedText(text, 0)

    monkeypatch.setattr(results, "MASKING_DEADLINE", 0.05)
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        monkeypatch.setattr(Masker, "mask", hang)
        result = await run(toolbox, "shell__lines")
        release.set()

    assert json.loads(result.content)["error"]["message"] == WITHHELD
    assert result.stored == result.content
    assert result.is_error


async def test_call_with_a_placeholder_is_refused_before_any_tool_sees_it():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        arguments = '{"text": "login with [MASKED:password#1]"}'
        refused = await run(toolbox, "shell__echo", arguments)
        about_it = await run(toolbox, "shell__echo", '{"text": "grep MASKED app.log"}')

    assert refused.is_error
    assert "Refused: the arguments contain [MASKED:password#1]." in refused.content
    assert about_it.content == "grep MASKED app.log"


async def test_every_kind_of_content_is_read_without_control_characters():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "shell__everything")

    assert result.content.split("\n") == [
        "red text",
        "[image image/png, 3 bytes]",
        "[audio audio/wav, 6 bytes]",
        "[resource file:///a.log]",
        "inner text",
        "[resource file:///a.bin: binary, 3 bytes]",
        "[resource b: file:///b.log, 12 bytes]",
        '{"rows": [1, 2]}',
    ]


async def test_long_results_are_cut_at_a_line_and_say_their_sizes():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        lines = await run(toolbox, "shell__lines")
        flood = await run(toolbox, "shell__flood")

    body, marker = lines.stored.rsplit("\n", 1)
    assert lines.truncated
    assert len(body.encode()) <= 32_000
    assert body.rsplit("\n", 1)[1].startswith("line ")
    assert marker == f"[truncated: showing {len(body)} of {lines.size_bytes} bytes]"
    assert 3_000_000 <= flood.size_bytes < 3_001_000
    assert len(flood.stored) < 33_000


@pytest.mark.parametrize("arguments", ["{}", '{"fails": true}'])
async def test_an_agent_is_given_a_result_up_to_what_the_configuration_says(arguments: str):
    as_it_is = stdio("normal")
    bounded = replace(as_it_is, max_result_tokens=1_000)
    async with open_toolbox({"all": as_it_is, "some": bounded}, deadlines=quick()) as toolbox:
        whole = await run(toolbox, "all__lines", arguments)
        cut = await run(toolbox, "some__lines", arguments)

    assert "line 19999" in whole.content
    assert "[truncated" not in whole.content
    assert len(cut.content.encode()) < 4_100
    assert "\n[truncated: showing " in cut.content
    assert len(whole.stored) < 33_000


async def test_a_server_has_a_time_of_its_own_for_its_tools():
    slow_server = stdio("normal", tool_call_timeout=timedelta(seconds=0.5))
    async with open_toolbox({"shell": slow_server}, deadlines=quick()) as toolbox:
        slow = await run(toolbox, "shell__sleep")

    assert "did not answer within 0.5 s" in slow.content


async def test_a_tool_has_a_time_of_its_own():
    times = {"sleep": timedelta(seconds=0.3)}
    server = stdio("normal", tool_call_timeouts=times)
    async with open_toolbox({"shell": server}, deadlines=quick()) as toolbox:
        slow = await run(toolbox, "shell__sleep")
        other = await run(toolbox, "shell__echo", '{"text": "still here"}')

    assert "did not answer within 0.3 s" in slow.content
    assert other.content == "still here"


async def test_a_tool_that_reports_progress_without_end_is_ended_where_all_of_its_time_is_over():
    server = MCPServer("busy")

    @server.tool()
    async def work(ctx: Context) -> str:
        while True:
            await ctx.report_progress(1, 2)
            await asyncio.sleep(0.05)

    plan = ServerPlan(
        TransportPlan("in_process"),
        tools={"work": ClassRule("read")},
        tool_call_timeout=timedelta(seconds=0.4),
        tool_call_limit=timedelta(seconds=0.6),
    )
    async with open_toolbox(
        {"busy": plan}, in_process={"busy": lambda: server}, deadlines=quick()
    ) as toolbox:
        result = await run(toolbox, "busy__work")

    assert result.is_error
    assert "did not end within 0.6 s, although it reported progress" in result.content


async def test_a_tool_that_reports_progress_is_alive():
    server = MCPServer("busy")

    @server.tool()
    async def work(ctx: Context) -> str:
        for step in range(40):
            await ctx.report_progress(step, 40)
            await asyncio.sleep(0.05)
        return "done"

    plan = ServerPlan(TransportPlan("in_process"), tools={"work": ClassRule("read")})
    async with open_toolbox(
        {"busy": plan}, in_process={"busy": lambda: server}, deadlines=quick(call=1.0)
    ) as toolbox:
        result = await run(toolbox, "busy__work")

    assert (result.is_error, result.content) == (False, "done")


async def test_slow_tool_ends_at_its_deadline_and_the_server_stays_usable():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick(call=0.5)) as toolbox:
        slow = await run(toolbox, "shell__sleep")
        after = await run(toolbox, "shell__echo", '{"text": "still here"}')

    assert slow.is_error
    assert "did not answer within 0.5 s" in slow.content
    assert after.content == "still here"


async def test_server_that_dies_in_a_call_is_started_again_for_the_next():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        died = await run(toolbox, "shell__die")
        after = await run(toolbox, "shell__echo", '{"text": "back"}')

    assert died.is_error
    assert "connection" in died.content
    assert after.content == "back"


async def test_read_is_repeated_when_the_server_was_gone_before_it():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        for child in psutil.Process().children():
            child.kill()
            child.wait(5)
        results = await asyncio.gather(
            *(run(toolbox, "shell__echo", f'{{"text": "{n}"}}') for n in range(3))
        )

    assert [result.content for result in results] == ["0", "1", "2"]


class PickyGate(OpenGate):
    """Lets everything pass but one text."""

    async def admit(self, request, look=None):
        if request.arguments.get("text") == "no":
            return Refusal("POLICY_BLOCKED", "not that one", rule="left_alone")
        return Pass(request, 0)


async def test_another_gate_may_offer_writes_and_still_refuse_single_calls():
    async with open_toolbox(
        {"shell": stdio("normal")}, gate=PickyGate(), deadlines=quick()
    ) as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        passed = await run(toolbox, "shell__delete", '{"text": "yes"}')
        refused = await run(toolbox, "shell__delete", '{"text": "no"}')

    assert "shell.delete" in offered
    assert passed.content == "deleted"
    assert json.loads(refused.content)["error"]["message"] == "not that one"


async def test_lost_write_is_never_sent_again():
    rules = {"die": ClassRule("write")}
    async with open_toolbox(
        {"shell": stdio("normal", tools=rules)}, gate=OpenGate(), deadlines=quick()
    ) as toolbox:
        result = await run(toolbox, "shell__die")

    assert result.is_error
    assert "Whether it took effect is unknown" in result.content


async def test_child_sees_only_the_listed_environment(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", "not-for-children")
    plan = stdio("normal")
    transport = TransportPlan(
        "stdio", plan.transport.command, plan.transport.args, env={"REGION": "eu"}
    )

    async with open_toolbox(
        {"shell": ServerPlan(transport, tools=ReadsBut("delete"))}, deadlines=quick()
    ) as toolbox:
        seen = json.loads((await run(toolbox, "shell__environment")).content)

    assert "GEMINI_API_KEY" not in seen
    assert seen["REGION"] == "eu"
    assert seen["PATH"] == os.environ["PATH"]


async def test_progress_is_reported_cleaned():
    heard: list[str] = []
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        call = ToolCall("1", "shell__progress", "{}")
        await toolbox.execute(call, report_progress=heard.append)

    assert heard == ["half way (1/2)"]


async def test_answer_that_is_no_mcp_result_by_the_letter_is_read_all_the_same():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "shell__broken")

    assert not result.is_error
    assert result.content == "not a list"


async def test_odd_tools_are_offered_in_a_form_every_provider_takes():
    async with open_toolbox({"shell": stdio("odd")}, deadlines=quick()) as toolbox:
        specs = {spec.name: spec for spec in toolbox.specs}
        unlimited = await run(toolbox, "shell__odd", '{"limit": null, "labels": {"a": "b"}}')
        wrong = await run(toolbox, "shell__odd", '{"mode": 3}')

    assert set(specs) == {
        "shell.odd", "shell.dotted.name", "shell.bad name", f"shell.{'n' * 100}"
    }  # fmt: skip
    assert all(len(spec.wire_name) <= 64 for spec in specs.values())
    odd = specs["shell.odd"]
    assert odd.description == "odd one"
    assert "$ref" not in json.dumps(odd.input_schema)
    shown = json.loads(json.dumps(odd.input_schema))
    assert shown["properties"]["untyped"]["description"] == "anything"
    assert json.loads(unlimited.content) == {"limit": None, "labels": {"a": "b"}}
    assert "`mode`" in wrong.content


@pytest.mark.parametrize("mode", ["pages", "loop"])
async def test_tools_of_all_pages_are_known_once(mode):
    async with open_toolbox({"shell": stdio(mode)}, deadlines=quick()) as toolbox:
        assert len(toolbox.specs) == 30


async def test_cancelled_agent_leaves_nothing_behind():
    entered = asyncio.Event()

    async def investigate():
        async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
            entered.set()
            await run(toolbox, "shell__sleep")

    task = asyncio.create_task(investigate())
    await asyncio.wait_for(entered.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_error_inside_the_toolbox_arrives_as_itself():
    with pytest.raises(ZeroDivisionError):
        async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()):
            raise ZeroDivisionError


# ---- The safety gate over real servers -----------------------------------------------------------


RULES = {"echo": ClassRule("read"), "delete": ClassRule("write", identifies=("text",))}


def open_shell(level, **options):
    gate = SafetyGate(level, desk=options.pop("desk", None))
    servers = {"shell": stdio("normal", tools=RULES)}
    return open_toolbox(servers, gate=gate, deadlines=quick(), **options)


def code_of(result) -> str:
    return json.loads(result.content)["error"]["code"]


async def test_every_refusal_of_ours_is_an_envelope_that_says_what_was_asked():
    selection = {"shell": ["echo", "sleep", "die"]}
    async with open_toolbox(
        {"shell": stdio("normal")}, selection=selection, deadlines=quick(call=0.5)
    ) as toolbox:
        unknown = await run(toolbox, "shell__ecko", '{"text": "x"}')
        unselected = await run(toolbox, "shell__flood")
        misfit = await run(toolbox, "shell__echo", '{"text": ["x"]}')
        secret = await run(toolbox, "shell__echo", '{"text": "[MASKED:password#1]"}')
        late = await run(toolbox, "shell__sleep")
        gone = await run(toolbox, "shell__die")

    told = [json.loads(each.content)["error"] for each in
            (unknown, unselected, misfit, secret, late, gone)]  # fmt: skip
    assert [(each["code"], each["blocked"]) for each in told] == [
        ("NOT_FOUND", True), ("POLICY_BLOCKED", True), ("INVALID_INPUT", True),
        ("INVALID_INPUT", True), ("EXECUTION_FAILED", False), ("EXECUTION_FAILED", False),
    ]  # fmt: skip
    assert all(each["failed"] is not each["blocked"] for each in told)
    asked = {"tool": "shell__ecko", "arguments": '{"text": "x"}'}
    assert told[0]["details"].items() >= asked.items()
    assert all(("to_allow" in each["details"]) == each["blocked"] for each in told)
    assert "shell__echo" in told[0]["message"]
    assert "did not answer within 0.5 s" in told[4]["message"]


async def test_read_only_offers_no_write_and_refuses_one_with_a_code():
    async with open_shell("read_only") as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        refused = await run(toolbox, "shell__delete", '{"text": "a"}')

    assert "shell.delete" not in offered
    assert refused.is_error
    assert code_of(refused) == "POLICY_BLOCKED"


async def test_controlled_offers_writes_and_without_anyone_to_ask_none_runs():
    async with open_shell("controlled") as toolbox:
        offered = {spec.name: spec.description for spec in toolbox.specs}
        early = await run(toolbox, "shell__delete", '{"text": "old"}')
        await run(toolbox, "shell__echo", '{"text": "old file"}')
        unseen = await run(toolbox, "shell__delete", '{"text": "other"}')
        asked = await run(toolbox, "shell__delete", '{"text": "old"}')

    assert offered["shell.delete"].endswith(f"\n{CHANGES_SOMETHING}.")
    assert CHANGES_SOMETHING not in offered["shell.echo"]
    assert [code_of(each) for each in (early, unseen, asked)] == [
        "FSM_BLOCKED",
        "STRICT_RESOLUTION",
        "APPROVAL_REQUIRED",
    ]


async def test_one_that_writes_unless_it_is_told_to_read_says_so():
    by_text = ClassRule("write", argument="text", values={"look": "read"})
    by_limit = ClassRule("write", argument="limit", values={"1": "read"})
    descriptions = []
    for rule in (by_text, by_limit):
        plan = stdio("normal", tools={"echo": rule})
        gate = SafetyGate("controlled", desk=Desk())
        async with open_toolbox({"shell": plan}, gate=gate, deadlines=quick()) as toolbox:
            descriptions += [each.description for each in toolbox.specs if "echo" in each.name]

    assert [CHANGES_SOMETHING in each for each in descriptions] == [False, True]


async def test_an_approved_write_blocks_the_answer_until_something_was_read():
    async with open_shell("controlled", desk=Desk()) as toolbox:
        await run(toolbox, "shell__echo", '{"text": "old file"}')
        deleted = await run(toolbox, "shell__delete", '{"text": "old"}')
        early = await toolbox.review_answer(ProposedAnswer("It is gone."))
        await run(toolbox, "shell__echo", '{"text": "nothing"}')
        late = await toolbox.review_answer(ProposedAnswer("It is gone."))

    assert deleted.content == "deleted"
    assert "shell.delete" in early.objection
    assert late.objection == ""


async def test_a_call_that_is_cut_short_leaves_its_write_unverified():
    rules = {"echo": ClassRule("read"), "sleep": ClassRule("write")}
    servers = {"shell": stdio("normal", tools=rules)}
    gate = SafetyGate("controlled", desk=Desk())
    async with open_toolbox(servers, gate=gate, deadlines=quick()) as toolbox:
        await run(toolbox, "shell__echo", '{"text": "x"}')
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await run(toolbox, "shell__sleep")
        again = await run(toolbox, "shell__sleep")

    assert code_of(again) == "FSM_BLOCKED"


async def test_an_interrupted_execution_goes_on_where_it_stood():
    read = PastCall(ToolCall("a", "shell__echo", '{"text": "old"}'), 1, ToolResult("old", "old"))
    write = PastCall(ToolCall("b", "shell__delete", '{"text": "old"}'), 2, ToolResult("ok", "ok"))
    opened = PastCall(ToolCall("call-1", "shell__delete", '{"text": "old"}'), 3)

    async with open_shell("controlled", desk=Desk(), past=[read, write]) as toolbox:
        unverified = await toolbox.review_answer(ProposedAnswer("Done."))
        blocked = await run(toolbox, "shell__delete", '{"text": "old"}')
    async with open_shell("autonomous", past=[read, opened]) as toolbox:
        resumed = await run(toolbox, "shell__delete", '{"text": "old"}')

    assert "shell.delete" in unverified.objection
    assert code_of(blocked) == "FSM_BLOCKED"
    assert code_of(resumed) == "APPROVAL_REQUIRED"
