"""Packs look at a stand-in of a cluster through real programs, and what these answered is kept.

`LAB_KUBECTL` is a folder with kubectl of several versions, `kubectl.1.27` and so on; without it the
one on the search path is asked. `LAB_NODE_MODULES` is where npm put `kubernetes-mcp-server` and
`mcp-server-kubernetes`.
"""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from agents.ports import ReportProgress
from agents.types import Message, ToolCall, ToolResult, ToolTarget
from ops.server import build_server
from ops.settings import OpsSettings
from rules.run import OPENING, RulesTask, run_rules
from tests.agents.doubles import MemoryJournal
from tests.rules.lab.clusters.api import serve
from tests.rules.lab.clusters.scenes import ClusterScene
from tests.rules.lab.live import without_chance
from tests.rules.recorded import answers_of_host
from tests.rules.worlds import TOOLS, World, WorldResults, WorldToolbox, built_in_packs

_OF_THE_HOST = frozenset({"query", "probe", "changes", "metrics", "storage", "docker"})
_HOW_MUCH = ("lines", "limit", "tail")
_EMPTY_COUNTS = (
    "namespace",
    "name",
    "labelSelector",
    "fieldSelector",
    "previous",
    "container",
    "pod",
)
"""A look that names none of these is another one than a look that does."""


@dataclass
class ClusterToolbox(WorldToolbox):
    client: Client | None = None
    kubectl: str = "kubectl"
    environment: Mapping[str, str] = field(default_factory=dict)
    most: int = 0
    """After how many characters an answer is cut; 0 is never."""
    recorded: list[Mapping[str, Any]] = field(default_factory=list)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        target = self.identify(call)
        command = str(target.arguments.get("command", ""))
        if target.server == "ops" and (
            target.tool in _OF_THE_HOST
            or (target.tool == "read" and not command.startswith("kubectl"))
        ):
            return await super().execute(call, report_progress=report_progress)
        self.executed.append(call)
        is_command = target.server == "kubectl"
        text, failed = self._run(command) if is_command else await self._call(target)
        if self.most and len(text) > self.most:
            text = f"{text[: self.most]}\n... (output truncated)"
        self.recorded.append(_line_of(target, text, failed))
        return ToolResult(text, text, is_error=failed, size_bytes=len(text))

    def _run(self, command: str) -> tuple[str, bool]:
        words = shlex.split(command.removeprefix("kubectl "))
        done = subprocess.run(
            [self.kubectl, *words], capture_output=True, text=True, env=dict(self.environment)
        )
        return done.stdout or done.stderr, done.returncode != 0

    async def _call(self, target: ToolTarget) -> tuple[str, bool]:
        assert self.client is not None
        try:
            result = await self.client.call_tool(target.tool, dict(target.arguments))
        except Exception as error:
            return str(error), True
        text = "".join(getattr(part, "text", "") for part in result.content)
        return text, bool(result.is_error)


def _line_of(target: ToolTarget, text: str, failed: bool) -> Mapping[str, Any]:
    more = {"failed": True} if failed else {}
    if target.server == "kubectl":
        return {"command": target.arguments["command"], "text": text, **more}
    arguments = {name: value for name, value in target.arguments.items() if name not in _HOW_MUCH}
    if target.tool != "read":
        known = TOOLS[target.server][target.tool]
        arguments = {**{name: "" for name in _EMPTY_COUNTS if name in known}, **arguments}
    text = without_chance(text) if target.server == "ops" else text
    return {"tool": target.tool, "arguments": arguments, "text": text, **more}


async def look(scene: ClusterScene) -> str:
    """The world as one line of a file, with what the packs asked of it."""
    now = datetime.now(UTC)
    alert = {
        "labels": dict(scene.alert), "annotations": {"summary": scene.alert["alertname"]},
        "startsAt": (now - timedelta(minutes=scene.since)).isoformat(timespec="seconds"),
    }  # fmt: skip
    of_host = answers_of_host({}) if scene.server == "ops" else ()
    world = World(scene.name, alert, (scene.server,), of_host, now=now, words=scene.words)
    with serve(scene.make()) as port, tempfile.TemporaryDirectory() as home:
        _write_configuration(Path(home), port)
        async with _tools_of(scene, world, home) as toolbox:
            journal = MemoryJournal()
            task = RulesTask(
                packs=built_in_packs(), alert=alert, received=now, now=now,
                opening=(Message("user", OPENING),),
            )  # fmt: skip
            await run_rules(task, toolbox=toolbox, journal=journal, evidence=WorldResults(journal))
    return _dump(world, toolbox.recorded)


def _write_configuration(home: Path, port: int) -> None:
    told = {
        "apiVersion": "v1", "kind": "Config", "current-context": "prod",
        "clusters": [{"name": "prod", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "viewer", "user": {}}],
        "contexts": [{"name": "prod", "context": {"cluster": "prod", "user": "viewer"}}],
    }  # fmt: skip
    (home / ".kube").mkdir()
    (home / ".kube/config").write_text(json.dumps(told), encoding="utf-8")


@asynccontextmanager
async def _tools_of(scene: ClusterScene, world: World, home: str) -> AsyncIterator[ClusterToolbox]:
    folder = os.environ.get("LAB_KUBECTL")
    kubectl = f"{folder}/kubectl.1.{scene.minor}" if folder else str(shutil.which("kubectl"))
    (Path(home) / "kubectl").symlink_to(kubectl)
    environment = {
        "PATH": f"{home}:{os.environ['PATH']}", "HOME": home, "KUBECONFIG": f"{home}/.kube/config",
    }  # fmt: skip
    toolbox = ClusterToolbox(world, kubectl=kubectl, environment=environment, most=scene.most)
    if scene.server == "kubectl":
        yield toolbox
        return
    if scene.server == "ops":
        # `ops` hands its programs nothing of the environment but this.
        os.environ["HOME"] = home
        client = Client(build_server(OpsSettings(host="ops-1", container=None)))
    else:
        client = Client(_server(scene.server, environment), read_timeout_seconds=30)
    async with client:
        toolbox.client = client
        yield toolbox


def _server(name: str, environment: Mapping[str, str]) -> StdioServerParameters:
    modules = Path(os.environ["LAB_NODE_MODULES"])
    config = environment["KUBECONFIG"]
    if name == "kubernetes-server":
        program = "kubernetes-mcp-server-linux-amd64"
        return StdioServerParameters(
            command=str(modules / program / "bin" / program), env=dict(environment),
            args=["--kubeconfig", config, "--read-only", "--disable-multi-cluster"],
        )  # fmt: skip
    more = {"ALLOW_ONLY_NON_DESTRUCTIVE_TOOLS": "true", "KUBECONFIG_PATH": config}
    program = str(modules / "mcp-server-kubernetes/dist/index.js")
    return StdioServerParameters(command="node", args=[program], env={**environment, **more})


def _dump(world: World, recorded: Collection[Mapping[str, Any]]) -> str:
    # What `ops` refuses for its arguments, a world that does not know the call refuses as well.
    unlike = {
        json.dumps([each.get("command"), each.get("tool"), each.get("arguments")]): each
        for each in recorded
        if '"INVALID_INPUT"' not in each["text"]
    }
    told = {
        "world": world.name, "alert": world.alert, "words": list(world.words),
        "now": world.now.isoformat(timespec="seconds"), "servers": list(world.servers), "host": {},
        "answers": list(unlike.values()),
    }  # fmt: skip
    return json.dumps(told, ensure_ascii=False)
