"""Recorded worlds: what tools answered while something was wrong, or nothing was.

A world is a YAML document: the alert, the tools that are offered, what they answer, and what is
wrong. Of several answers that fit a call, the first one counts; a call without one fails, as it
would on a machine that has no such program.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from agents.ports import ProposedAnswer, ReportProgress, Review
from agents.types import (
    AgentOutcome,
    Message,
    ServerOffer,
    StoredResult,
    ToolCall,
    ToolResult,
    ToolSpec,
    ToolTarget,
)
from config.pack_files import read_packs
from config.schema.packs import PackConfig
from rules.run import OPENING, RulesTask, run_rules
from tests.agents.doubles import MemoryJournal

FOLDER = Path(__file__).with_name("worlds")
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TOOLS: Mapping[str, Mapping[str, Collection[str]]] = {
    "ops": {
        "query": ("action", "query", "resource_id", "kind", "status", "limit", "offset"),
        "read": ("action", "command", "path", "lines", "unit", "since", "grep", "resource_id"),
        "metrics": ("action", "resource_id", "sort", "limit", "sample_seconds"),
        "storage": ("action", "path", "limit", "resource_id"),
        "kubernetes": (
            "type", "cluster", "namespace", "pod", "container", "deployment", "object", "lines",
            "status", "limit", "offset", "kind", "name", "previous",
        ),
        "docker": ("action", "container", "resource_id", "lines"),
        "probe": ("action", "resource_id"),
        "changes": ("action", "since", "around", "service", "limit"),
    },
    "kubernetes-server": {
        "pods_list": ("labelSelector", "fieldSelector"),
        "pods_list_in_namespace": ("namespace", "labelSelector", "fieldSelector"),
        "pods_get": ("name", "namespace"),
        "pods_log": ("name", "namespace", "container", "previous", "tail"),
        "events_list": ("namespace",),
        "resources_list": ("apiVersion", "kind", "namespace", "labelSelector", "fieldSelector"),
        "resources_get": ("apiVersion", "kind", "name", "namespace"),
        "nodes_top": ("name",),
    },
    "kubernetes": {
        "kubectl_get": (
            "resourceType", "name", "namespace", "output", "allNamespaces", "labelSelector",
            "fieldSelector", "sortBy", "context",
        ),
        "kubectl_describe": ("resourceType", "name", "namespace", "allNamespaces", "context"),
        "kubectl_logs": (
            "resourceType", "name", "namespace", "container", "tail", "since", "previous",
        ),
    },
    "kubectl": {"execute_kubectl": ("command", "timeout")},
}  # fmt: skip


@dataclass(frozen=True)
class World:
    """One recorded world. `cause` and `at` are patterns for the finding that is right, or `words`
    are for what it says; all are empty where nothing is wrong that the alert is about."""

    name: str
    alert: Mapping[str, Any]
    servers: tuple[str, ...]
    answers: tuple[Mapping[str, Any], ...]
    cause: str = ""
    at: str = ""
    now: datetime = NOW
    words: tuple[str, ...] = ()

    @property
    def is_well(self) -> bool:
        return not self.cause and not self.words


def read_worlds(path: Path) -> Iterator[World]:
    """The worlds of a file. A text stands in `answers` under the server's command, as in
    `exec: {"df -h": ...}`, or with the tool and the arguments that it answers."""
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        if document is None:
            continue
        yield World(
            name=f"{path.stem}/{document['world']}",
            alert=document.get("alert", {}),
            servers=tuple(document.get("servers", ("ops",))),
            answers=tuple(_read_answers(document)),
            cause=document.get("cause", ""),
            at=document.get("at", ""),
            now=document.get("now", NOW),
        )


def _read_answers(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for command, text in (document.get("commands") or {}).items():
        yield {"command": command, "text": text}
    yield from document.get("answers") or ()


@dataclass
class WorldToolbox:
    """The tools of a world."""

    world: World
    executed: list[ToolCall] = field(default_factory=list)
    results: dict[int, StoredResult] = field(default_factory=dict)
    proposed: list[ProposedAnswer] = field(default_factory=list)
    instructions: Mapping[str, str] = field(default_factory=dict)
    server_words: Mapping[str, str] = field(default_factory=dict)
    unavailable: Mapping[str, str] = field(default_factory=dict)
    offers: tuple[ServerOffer, ...] = ()

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(
            ToolSpec(
                f"{server}.{tool}", f"{server}__{tool}", tool,
                {"type": "object", "properties": {name: {} for name in names}},
            )
            for server in self.world.servers
            for tool, names in TOOLS[server].items()
        )  # fmt: skip

    async def refresh(self) -> None:
        """Nothing changes."""

    def identify(self, call: ToolCall) -> ToolTarget:
        server, _, tool = call.name.partition("__")
        return ToolTarget(server, tool, json.loads(call.arguments))

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        self.executed.append(call)
        target = self.identify(call)
        told = answer_call(self.world, target)
        shown, failed = told if told is not None else (_fail(target), True)
        return ToolResult(shown, shown, is_error=failed, size_bytes=len(shown))

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        self.proposed.append(answer)
        return Review(answer.text)


def answer_call(world: World, target: ToolTarget) -> tuple[str, bool] | None:
    """What the world says to a call, and whether that is an error; None where it knows nothing."""
    command = target.arguments.get("command")
    for each in world.answers:
        if "command" in each and not isinstance(command, str):
            continue
        if "command" in each:
            if isinstance(command, str) and _same_command(command, str(each["command"])):
                text = str(each["text"])
                return _envelope_of(command, text) if target.server == "ops" else text, False
            continue
        if each["tool"] != target.tool:
            continue
        wanted = each.get("arguments") or {}
        if all(_same(target.arguments.get(name), value) for name, value in wanted.items()):
            return str(each["text"]), bool(each.get("failed"))
    return None


def _same(given: object, wanted: object) -> bool:
    text = str("" if given is None else given)
    return text == str(wanted) or fnmatchcase(text, str(wanted))


def _same_command(given: str, recorded: str) -> bool:
    """The same words, in any order behind the first two: options may stand anywhere."""
    one, other = given.removeprefix("kubectl ").split(), recorded.removeprefix("kubectl ").split()
    return one[:1] == other[:1] and (sorted(one) == sorted(other) or fnmatchcase(given, recorded))


def _envelope_of(command: str, text: str) -> str:
    data = {"command": command, "exit_code": 0, "stdout": text, "stderr": "", "timed_out": False}
    return json.dumps({"ok": True, "data": data, "error": None, "meta": {"host": "web-1"}})


def _fail(target: ToolTarget) -> str:
    if target.server == "ops":
        error = {"code": "NOT_FOUND", "message": "There is no such thing here."}
        return json.dumps({"ok": False, "data": None, "error": error, "meta": {}})
    return "Error from server (NotFound): there is no such thing here"


@dataclass(frozen=True)
class WorldResults:
    journal: MemoryJournal

    async def read_evidence(
        self, numbers: Collection[int], quoted: Collection[int]
    ) -> Mapping[int, StoredResult]:
        return {
            record.number: StoredResult(record.target.name, record.result.content)
            for record in self.journal.tool_calls
            if record.number in numbers
        }


@dataclass(frozen=True)
class Investigated:
    """A world after rules looked at it."""

    world: World
    outcome: AgentOutcome
    journal: MemoryJournal
    toolbox: WorldToolbox

    @property
    def found(self) -> Mapping[str, Any]:
        rules: Any = self.journal.notes[-1].metadata["rules"]
        return rules  # type: ignore[no-any-return]

    @property
    def first(self) -> Mapping[str, Any]:
        causes = self.found["causes"]
        return causes[0]["finding"] if causes else {}

    @property
    def is_right(self) -> bool:
        """Whether the first cause is the right one; where nothing is wrong, whether there is
        none."""
        if self.world.is_well:
            return not self.first
        rule, things = self.first.get("rule", ""), [self.first.get("entity", "")]
        things += self.first.get("others", [])
        if self.world.words:
            # As a person reads it, without what keeps words from being Markdown.
            said = self.first.get("says", "").replace("\\", "")
            told = f"{' '.join(things)}: {said}" if self.first else ""
            return all(re.search(each, told, re.IGNORECASE) for each in self.world.words)
        return any(fnmatchcase(rule, each.strip()) for each in self.world.cause.split("|")) and any(
            fnmatchcase(thing, self.world.at or "*") for thing in things
        )


async def investigate(
    world: World,
    packs: Collection[PackConfig] | None = None,
    *,
    toolbox: WorldToolbox | None = None,
) -> Investigated:
    journal, toolbox = MemoryJournal(), toolbox or WorldToolbox(world)
    task = RulesTask(
        packs=tuple(packs if packs is not None else built_in_packs()),
        alert=dict(world.alert),
        received=world.now,
        now=world.now,
        opening=(Message("user", OPENING),),
    )
    outcome = await run_rules(
        task, toolbox=toolbox, journal=journal, evidence=WorldResults(journal)
    )
    return Investigated(world, outcome, journal, toolbox)


def built_in_packs() -> tuple[PackConfig, ...]:
    mistakes: list[Any] = []
    packs, _ = read_packs(Path("/nonexistent"), mistakes, [])
    assert mistakes == []
    return tuple(packs.values())
