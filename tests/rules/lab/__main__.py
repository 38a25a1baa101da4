"""Set faults off on machines of their own and record what the tools of `ops` say to the packs."""

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

from mcp import Client

from agents.types import Message
from ops.server import build_server
from ops.services.declaration import DeclaredService, load_services
from ops.settings import OpsSettings
from ops.targets import Targets
from rules.run import OPENING, RulesTask, run_rules
from tests.agents.doubles import MemoryJournal
from tests.rules.lab.clusters.looking import look
from tests.rules.lab.clusters.scenes import ClusterScene
from tests.rules.lab.live import NEVER_LIVE, LiveToolbox, dump
from tests.rules.lab.machine import Machine, run_apart
from tests.rules.lab.scenes import Scene
from tests.rules.recorded import answers_of_host, tell_host
from tests.rules.worlds import FOLDER, World, WorldResults, built_in_packs

_DECLARED = Path("/etc/shop/ops-services.yaml")
_SINCE_THE_ALERT = timedelta(minutes=8)
_OF_THE_HOST = frozenset({"kubernetes", "metrics", "storage"})


def main() -> None:
    asked = _read_arguments()
    scenes = _scenes_of(asked.half, asked.group)
    path = FOLDER / asked.half / f"{asked.group}.jsonl"
    known = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = {json.loads(line)["world"]: line for line in known}
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in asked.names or scenes:
        print(name, file=sys.stderr, flush=True)
        scene = scenes[name]
        if line := _record(scene):
            lines[name] = line
        kept = [lines[each] for each in scenes if each in lines]
        path.write_text("".join(f"{each}\n" for each in kept), encoding="utf-8")


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.rules.lab", description=__doc__)
    halves = ["first", "second", "third", "fourth", "fifth", "sixth"]
    halves += ["eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth"]
    parser.add_argument("half", choices=halves)
    parser.add_argument("group", help="such as postgres, or over_kubectl for clusters")
    parser.add_argument("names", nargs="*", help="scenes; every one if left out")
    return parser.parse_args()


def _scenes_of(half: str, group: str) -> Mapping[str, Scene | ClusterScene]:
    module = "clusters" if group.startswith("over_") else group
    found: Sequence[Scene | ClusterScene] = import_module(f"tests.rules.lab.{half}.{module}").SCENES
    return {
        scene.name: scene
        for scene in found
        if isinstance(scene, Scene) or group == f"over_{scene.server.replace('-', '_')}"
    }


def _record(scene: Scene | ClusterScene) -> str:
    """One line of a file; nothing where a scene could not be set off."""
    if isinstance(scene, ClusterScene):
        return asyncio.run(look(scene))
    return run_apart(lambda: asyncio.run(_record_machine(scene)))


def _set_off(scene: Scene) -> tuple[tuple[DeclaredService, ...], tuple[str, ...]]:
    """Which services are declared then, and which programs are not on that machine."""
    machine = Machine(scene.machine)
    machine.make()
    scene.set_off(machine)
    # The machine that lends its programs has an nginx; this one only where a scene sets one up.
    absent = () if Path("/etc/nginx/nginx.conf").exists() else ("nginx ",)
    declared = load_services(_DECLARED) if _DECLARED.exists() else ()
    return declared, (*NEVER_LIVE, *absent)


async def _record_machine(scene: Scene) -> str:
    declared, not_here = _set_off(scene)
    now = datetime.now(UTC)
    alert = {
        "labels": {"instance": scene.machine, **scene.alert},
        "annotations": {"summary": f"{scene.alert['alertname']} on {scene.machine}"},
        "startsAt": (now - _SINCE_THE_ALERT).isoformat(timespec="seconds"),
    }  # fmt: skip
    host = tell_host(scene.host)
    world = World(scene.name, alert, ("ops",), answers_of_host(host), now=now, words=scene.words)
    # Units are told by the host, so that only declared services are asked for.
    unknown = frozenset({"query", "probe", "changes"} if not declared else ())
    settings = OpsSettings(
        host=scene.machine,
        container=None,
        services=declared,
        targets=Targets(may_reach_out=scene.reaches_out),
    )
    async with Client(build_server(settings)) as client:
        toolbox = LiveToolbox(
            world, client=client, of_the_host=_OF_THE_HOST | unknown, not_here=not_here
        )
        journal = MemoryJournal()
        task = RulesTask(
            packs=built_in_packs(),
            alert=dict(alert),
            received=now,
            now=now,
            opening=(Message("user", OPENING),),
        )
        await run_rules(task, toolbox=toolbox, journal=journal, evidence=WorldResults(journal))
    return dump(world, host, toolbox.recorded)


main()
