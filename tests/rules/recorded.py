"""Worlds that were recorded from real servers: one a line, on a host on which the rest is well."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.rules.host_scenarios import Host, answers_of
from tests.rules.worlds import FOLDER, World


def read_recorded(folder: Path = FOLDER) -> Iterator[World]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield read_line(path.stem, line)


def read_line(group: str, line: str) -> World:
    document = json.loads(line)
    return World(
        name=f"{group}/{document['world']}",
        alert=document["alert"],
        servers=tuple(document.get("servers", ("ops",))),
        answers=(*document["answers"], *answers_of_host(document["host"])),
        words=tuple(document["words"]),
        now=datetime.fromisoformat(document["now"]),
    )


def answers_of_host(told: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    return tuple(answers_of(Host(**told)))


def tell_host(host: Host) -> dict[str, Any]:
    """What differs from a host on which all is well."""
    plain = Host()
    return {
        name.name: getattr(host, name.name)
        for name in dataclasses.fields(Host)
        if getattr(host, name.name) != getattr(plain, name.name)
    }
