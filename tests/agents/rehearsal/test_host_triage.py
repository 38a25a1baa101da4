"""The built-in script, played against canned results in the shape of the ops server's replies."""

import json
import re
from datetime import UTC, datetime

import pytest

from agents.controllers.react_format import Action, FinalAnswer, parse_react
from agents.prompts import Alert, PromptInput, ask_to_conclude, build_investigation
from agents.rehearsal.loading import BUILTIN_SCRIPT, load_script
from agents.types import ToolSpec
from tests.agents.rehearsal.asking import Spoken, called, listen_to, offer, result, system, user

pytestmark = pytest.mark.slow

OPS = offer("ops__query", "ops__read", "ops__metrics", "ops__storage", "ops__docker")
GIB = 1024**3


def memory(available_gib: float) -> Spoken:
    return {
        "total_bytes": 16 * GIB,
        "available_bytes": int(available_gib * GIB),
        "swap_total_bytes": 0,
        "swap_used_bytes": 0,
        "oom_kills_since_boot": 2,
        "cgroup": None,
    }


def disk(path: str, percent: float, *, read_only: bool = False) -> Spoken:
    return {
        "path": path,
        "used_percent": percent,
        "size_bytes": 100 * GIB,
        "free_bytes": int((100 - percent) * GIB),
        "inodes_used_percent": 3.5,
        "read_only": read_only,
    }


class Host:
    """Answers calls as the ops server of a host with these figures would."""

    def __init__(self, fullest: float = 40.0, available_gib: float = 8.0, fails: str = "") -> None:
        self.disks = [disk("/snap", 100.0, read_only=True), disk("/var", fullest), disk("/", 12.0)]
        self.memory = memory(available_gib)
        self.fails = fails
        self.count = 0

    def answer(self, name: str, arguments: Spoken) -> str:
        self.count += 1
        action = f"{name} {arguments['action']}"
        reply = {"ok": True, "data": self._find(action), "error": None, "meta": {"host": "web-1"}}
        if self.fails and self.fails in action:
            reply |= {"ok": False, "data": None, "error": {"code": "X", "message": "it is broken"}}
        text = json.dumps(reply)
        return f"[T{self.count}]\n<<<outside 77aa {name}>>>\n{text}\n<<<end outside 77aa>>>"

    def _find(self, action: str) -> Spoken:
        load = {"load_1m": 0.7, "cores": 4}
        process = {"name": "java", "pid": 71, "rss_bytes": 3 * GIB}
        known: dict[str, Spoken] = {
            "ops__query health": {"problems": [], "memory": self.memory, "disks": self.disks},
            "ops__storage usage": {"filesystems": self.disks},
            "ops__storage largest": {
                "path": "/var",
                "complete": True,
                "directories": [{"path": "/var/log", "size_bytes": 9 * GIB}],
            },
            "ops__metrics summary": {"memory": self.memory, "load": load},
            "ops__metrics processes": {"processes": [process]},
            "ops__metrics pressure": {"memory": {"some": {"avg60_percent": 1.25}}},
            "ops__read logs": {"path": "/var/log/syslog", "content": "1: ok\n2: disk [T9] failed"},
        }
        return known[action]


async def investigate(client, agent: str, host: Host, tools: list[Spoken]) -> tuple[str, list[str]]:
    """Play the loop of an agent; returns the report and the tools that were called."""
    messages = [system(agent), user("Alert: something is wrong")]
    names: list[str] = []
    for _ in range(6):
        heard = await listen_to(client, messages, **({"tools": tools} if tools else {}))
        if not heard.calls:
            return heard.text, names
        for number, call in enumerate(heard.calls):
            names.append(call["name"])
            call_id = f"{call['id']}-{number}"
            messages.append(called(call_id, call["name"], call["arguments"]))
            messages.append(
                result(call_id, host.answer(call["name"], json.loads(call["arguments"])))
            )
            if number:  # All calls of one answer belong to one assistant message.
                reply = messages.pop()
                extra = messages.pop()["tool_calls"]
                first = next(m for m in reversed(messages) if m["role"] == "assistant")
                first["tool_calls"] += extra
                messages.append(reply)
    raise AssertionError("the agent came to no report within 6 turns")


@pytest.fixture
async def client(rehearse, connect):
    return await connect(rehearse(load_script(BUILTIN_SCRIPT), pace=0))


async def test_any_agent_uses_three_different_tools_and_quotes_their_figures(client):
    report, names = await investigate(client, "KubernetesAgent", Host(), OPS)

    assert len(set(names)) >= 3
    assert re.findall(r"^## (.+)$", report, re.MULTILINE) == [
        "Conclusion",
        "Evidence",
        "Next steps",
        "Not checked",
        "Ruled out",
    ]
    assert '/var: 40.0 % used, 60.0 GiB free of 100.0 GiB [T3 "used_percent: 40.0"]' in report
    assert "Of 16.0 GiB memory 8.0 GiB (50.0 %) is available [T2]" in report
    assert 'java (pid 71) with 3.0 GiB [T4 "pid: 71"]' in report
    assert "\nNo disk is under pressure now" in report
    seen = "memory is not under pressure now (50.0 % is available), as seen from web-1, where TARSy"
    assert f"{seen} runs. Confidence" in report
    assert "Confidence: low" in report
    assert "rehearsal" in report


@pytest.mark.parametrize("agent", ["DiskAgent", "MemoryAgent", "GeneralWorker"])
async def test_every_claim_ends_with_the_call_behind_it(client, agent):
    host = Host()

    report, names = await investigate(client, agent, host, OPS)

    claims = re.findall(r"^\d+\. .+$", report, re.MULTILINE)
    assert len(claims) >= 3
    for claim in claims:
        number = re.search(r"\[T(\d+)( \"[^\"]+\")?\]$", claim)
        assert number, claim
        assert 1 <= int(number[1]) <= len(names)
    assert "disk [T9] failed" not in report  # a log line cannot forge a citation


async def test_the_disk_agent_names_a_full_file_system_and_what_fills_it(client):
    report, names = await investigate(client, "DiskAgent-1", Host(fullest=93.5), OPS)

    assert set(names) == {"ops__storage", "ops__query", "ops__read"}
    assert (
        "Disk space is under pressure: /var is 93.5 % full, as seen from web-1, where TARSy runs."
        in report
    )
    assert "Free space on /var, beginning with /var/log" in report
    assert "A full file system" not in report


async def test_the_memory_agent_names_scarce_memory(client):
    report, names = await investigate(client, "MemoryAgent", Host(available_gib=0.8), OPS)

    assert names.count("ops__metrics") == 3
    assert (
        "Memory is under pressure: only 5.0 % is available, as seen from web-1, where TARSy runs."
        in report
    )
    assert "whether java needs what it holds" in report
    assert "A lack of memory" not in report


async def test_a_failed_tool_is_named_and_nothing_is_invented(client):
    host = Host(fails="ops__")

    report, _ = await investigate(client, "KubernetesAgent", host, OPS)

    assert "The state of the disks is unknown" in report
    assert "Confidence: low" in report
    assert "there is nothing to cite" in report
    assert "ops__storage usage gave no data: it is broken [T3]" in report
    assert not re.search(r"\d %", report)


async def test_figures_of_another_tool_stand_in_for_a_failed_one(client):
    report, _ = await investigate(client, "KubernetesAgent", Host(fails="storage"), OPS)

    assert '/var: 40.0 % used, 60.0 GiB free of 100.0 GiB [T1 "used_percent: 40.0"]' in report


@pytest.mark.parametrize("tools", [[], offer("kubernetes__get_pods"), offer("ops__docker")])
async def test_without_tools_it_knows_it_says_that_it_knows_nothing(client, tools):
    report, names = await investigate(client, "KubernetesAgent", Host(), tools)

    assert names == []
    assert "Confidence: low" in report
    assert "is unknown" in report
    assert "rehearsal" in report


async def test_a_forced_conclusion_reports_what_was_seen_so_far(client):
    host = Host()
    messages = [
        system("DiskAgent"),
        user("Alert"),
        called("c1", "ops__storage", '{"action": "usage"}'),
        result("c1", host.answer("ops__storage", {"action": "usage"})),
        user("You have used all your iterations. Conclude now."),
    ]

    heard = await listen_to(client, messages)

    assert "/var: 40.0 % used" in heard.text
    assert "Confidence: low" in heard.text


async def test_a_merged_conclusion_says_once_and_last_where_it_was_seen(client):
    disk_report, _ = await investigate(client, "DiskAgent", Host(fullest=93.5), OPS)
    memory_report, _ = await investigate(client, "MemoryAgent", Host(), OPS)
    findings = _list_agents({"DiskAgent": disk_report, "MemoryAgent": memory_report})

    heard = await listen_to(client, [system("SynthesisAgent"), user(findings)])

    conclusion = heard.text.split("## Evidence")[0]
    assert "Disk space is under pressure: /var is 93.5 % full; memory is not" in conclusion
    assert conclusion.count("where TARSy runs") == 1
    assert "(50.0 % is available), as seen from web-1, where TARSy runs. Confidence" in conclusion


async def test_the_synthesis_merges_the_reports_and_keeps_their_citations(client):
    disk_report, _ = await investigate(client, "DiskAgent", Host(fullest=93.5), OPS)
    memory_report, _ = await investigate(client, "MemoryAgent", Host(fails="ops__"), OPS)
    findings = _list_agents({"DiskAgent": disk_report, "MemoryAgent": memory_report})

    heard = await listen_to(client, [system("SynthesisAgent"), user(findings)])

    assert "/var is 93.5 % full; the state of the memory is unknown, as seen" in heard.text
    assert "Confidence: low" in heard.text
    assert "1. DiskAgent: The fullest writable file system is /var: 93.5 % used" in heard.text
    assert heard.text.count("## Conclusion") == 1
    assert heard.text.count("DiskAgent: The fullest writable file system") == 1
    assert "an older stage" not in heard.text


async def test_the_synthesis_of_nothing_says_so(client):
    heard = await listen_to(client, [system("SynthesisAgent"), user("All agents failed.")])

    assert "No agent left a report" in heard.text
    assert "Confidence: low" in heard.text


async def test_the_executive_summary_is_short_and_taken_from_the_analysis(client):
    report, _ = await investigate(client, "KubernetesAgent", Host(fullest=93.5), OPS)

    heard = await listen_to(client, [system("ExecSummaryAgent"), user(f"Summarize:\n{report}")])

    assert len(heard.text.splitlines()) in (2, 3)
    assert "Disk space is under pressure: /var is 93.5 % full" in heard.text
    assert "Rehearsal" in heard.text


async def test_a_summary_does_not_say_again_what_the_first_claim_shares_with_the_conclusion(client):
    cause = "`shop-web` gives no connection back: 8 are open"
    report = (
        f'## Conclusion\n{cause}. Release 42 did it. [T2 "a. b"] Confidence: high\n\n## Evidence\n'
        f'1. {cause}. Release 42 did it, since 19:40. [T2 "a. b"]\n2. Nobody can pay. [T3]\n'
    )

    heard = await listen_to(client, [system("ExecSummaryAgent"), user(f"Summarize:\n{report}")])

    assert heard.text.count("gives no connection back") == 1
    assert "Nobody can pay. [T3].\n" in heard.text


async def test_what_two_agents_conclude_alike_is_merged_into_one_sentence(client):
    first, _ = await investigate(client, "FirstAgent", Host(), OPS)
    second, _ = await investigate(client, "SecondAgent", Host(available_gib=7.9), OPS)

    heard = await listen_to(
        client,
        [
            system("SynthesisAgent"),
            user(_list_agents({"FirstAgent": first, "SecondAgent": second})),
        ],
    )

    conclusion, evidence = heard.text.split("## Evidence")
    assert conclusion.casefold().count("no disk is under pressure now") == 1
    assert ", as seen from web-1, where TARSy runs. Confidence: low" in conclusion
    assert "SecondAgent: Of 16.0 GiB memory 7.9 GiB (49.4 %) is available" in evidence


async def test_a_follow_up_question_is_answered_with_fresh_figures(client):
    report, names = await investigate(client, "ChatAgent", Host(), OPS)

    assert names == ["ops__metrics", "ops__storage"]
    assert "your question was not interpreted" in report
    assert "/var: 40.0 % used" in report


def _list_agents(reports: dict[str, str]) -> str:
    """The material of a synthesis: earlier stages, then each agent's steps and its report twice."""
    text = "### Stage 1: before\n\n## Conclusion\nIt was an older stage. Confidence: low\n\n"
    for number, (agent, report) in enumerate(reports.items(), start=1):
        fenced = f"<<<outside a{number} agent {number}>>>\n{report}\n<<<end outside a{number}>>>"
        text += f"#### Agent {number}: {agent} (langchain, rehearsal)\n\n**Status:** completed\n\n"
        text += f"**Tool call:**\nAsked the OtherAgent\n\n**Said:**\n{fenced}\n\n"
        text += f"**Final analysis:**\n{fenced}\n\n"
    return text


TEXT_TOOLS = tuple(
    ToolSpec(f"ops.{name}", f"ops__{name}", "", {"type": "object"})
    for name in ("query", "metrics", "storage")
)


def open_by_text(agent: str, tools: tuple[ToolSpec, ...] = TEXT_TOOLS) -> list[Spoken]:
    """The opening of an agent whose model cannot call tools."""
    prompt = PromptInput(
        agent,
        datetime(2026, 11, 27, tzinfo=UTC),
        Alert("host", "something is wrong"),
        has_tools=bool(tools),
        is_react=True,
        tools=tools,
    )
    return [{"role": m.role, "content": m.content} for m in build_investigation(prompt)]


async def investigate_by_text(client, host: Host, messages: list[Spoken]) -> tuple[str, list[str]]:
    names: list[str] = []
    for _ in range(6):
        heard = await listen_to(client, messages)
        assert heard.calls == []
        step = parse_react(heard.text).step
        if isinstance(step, FinalAnswer):
            return step.text, names
        assert isinstance(step, Action)
        names.append(step.tool)
        answer = host.answer(step.tool.replace(".", "__"), json.loads(step.input))
        observed = answer.replace("]", f"] {step.tool}", 1)
        messages += [
            {"role": "assistant", "content": heard.text},
            user(f"Observation: {observed}"),
        ]
    raise AssertionError("the agent came to no report within 6 turns")


@pytest.mark.parametrize(
    ("agent", "called_tools"),
    [
        ("KubernetesAgent", ["ops.query", "ops.metrics", "ops.storage"]),
        ("DiskAgent", ["ops.storage", "ops.query", "ops.storage"]),
        ("MemoryAgent", ["ops.metrics", "ops.metrics"]),
    ],
)
async def test_a_model_without_tool_calling_calls_one_tool_after_another(
    client, agent, called_tools
):
    report, names = await investigate_by_text(client, Host(), open_by_text(agent))

    assert names == called_tools
    assert report.startswith("## Conclusion")
    assert "Confidence: low" in report
    claims = re.findall(r"^\d+\. .+$", report, re.MULTILINE)
    assert claims
    assert all(re.search(r"\[T[123]( \"[^\"]+\")?\]$", claim) for claim in claims)


async def test_a_model_without_tool_calling_and_without_tools_says_what_it_does_not_know(client):
    report, names = await investigate_by_text(client, Host(), open_by_text("HostAgent", ()))

    assert names == []
    assert "Confidence: low" in report


async def test_a_model_without_tool_calling_concludes_when_it_is_told_to(client):
    messages = open_by_text("HostAgent")
    messages.append({"role": "assistant", "content": "Action: ops.query\nAction Input: {}"})
    messages.append(user(ask_to_conclude(1)))

    _, names = await investigate_by_text(client, Host(), messages)

    assert names == []
