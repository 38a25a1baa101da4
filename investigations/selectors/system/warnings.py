"""What an operator should know: the product runs, and something about it is not as it should be."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

import redis
from django.utils import timezone

from config import environment, get_config
from config.access import config_dir
from config.check import check
from config.usage import servers_in_use
from investigations.selectors.configuration.models_in_use import has_usable_model
from investigations.selectors.configuration.unclassed import find_unclassed_in_use, topics_seen
from investigations.selectors.system.last_hour import failing_providers
from investigations.selectors.system.tool_servers import (
    HealthReport,
    ToolServer,
    list_tool_servers,
    moment_of,
    read_health,
    silence_of,
)
from investigations.selectors.system.workers import (
    are_coming,
    client,
    live_workers,
    read_workers,
)
from tarsy.errors import Mistake

_NAMESPACE = uuid.UUID("6f0f0a3c-6a2b-4d54-9b0e-0d6a8f9f7f11")


Category = Literal["configuration", "mcp_health", "mcp_tools", "redis", "workers"]
CATEGORIES: tuple[Category, ...] = get_args(Category)


@dataclass(frozen=True)
class SystemWarning:
    """One of them. Its id is the same as long as it says the same."""

    category: Category
    message: str
    details: str
    created_at: datetime
    """Since when it is known: for the configuration when it was read, else this moment."""
    server_id: str | None = None
    """The tool server it is about: there is one at most, from its failure to its recovery."""

    @property
    def id(self) -> str:
        said = f"{self.message}\0{self.details}"
        if self.server_id is not None:
            # The reason may change while it stays away; that is the same warning.
            said = f"{self.server_id}\0{self.created_at.isoformat()}"
        return str(uuid.uuid5(_NAMESPACE, f"{self.category}\0{said}"))


def list_warnings() -> list[SystemWarning]:
    """Every warning there is now, the lasting ones last."""
    servers = list_tool_servers()
    return [
        *_about_processes(),
        *_about_environments(),
        *_about_unclassed_tools({each.id: each for each in servers}),
        *warn_of_configuration(servers),
    ]


def warn_of_configuration(servers: Iterable[ToolServer] = ()) -> list[SystemWarning]:
    """What is written in the files and has no effect, or not the one that its writer may want.

    Left out is what is known better, because the tools of these servers have been seen.
    """
    known = topics_seen(servers)
    return [
        warning
        for topic, warning in _about_configuration(config_dir())
        if not topic or topic not in known
    ]


def is_in_trouble() -> bool:
    """Whether something that agents need is missing or refuses them now."""
    return bool(_about_processes()) or not has_usable_model() or bool(failing_providers())


def _about_processes() -> list[SystemWarning]:
    now = timezone.now()
    try:
        workers = read_workers(client())
    except redis.RedisError as error:
        details = "Pages are not live, and new alerts are noticed a little later."
        reason = f"Redis does not answer ({type(error).__name__})"
        return [SystemWarning("redis", reason, details, now)]
    if any(worker.is_live for worker in workers):
        return _about_tool_servers(read_health())
    if are_coming(workers):
        return []
    details = "Alerts are taken in and wait until a worker starts."
    return [SystemWarning("workers", "no worker was heard of lately", details, now)]


def _about_environments() -> list[SystemWarning]:
    """What workers lack, as they tell it: this process may have other variables than they have."""
    now = timezone.now()
    lacking = dict.fromkeys(need for worker in live_workers() for need in worker.needs)
    return [
        SystemWarning("configuration", need.message, _explain_lack(need), now) for need in lacking
    ]


def _explain_lack(need: Mistake) -> str:
    return (
        f"{need.file}, line {need.line}. It is missing where the workers run: set it there and "
        "start them again."
    )


def _about_tool_servers(report: HealthReport | None) -> list[SystemWarning]:
    """What the monitor saw, or that it is silent: an old report says nothing of now."""
    config = get_config()
    watched = servers_in_use(config)
    if all(config.mcp_servers[name].transport.type == "in_process" for name in watched):
        return []
    if silence := silence_of(report):
        details = "Whether the tool servers are available is not known; a worker's log says why."
        since = moment_of(report.reported_at) if report else timezone.now()
        return [SystemWarning("mcp_health", silence, details, since)]
    seen = report.servers if report else {}
    return [
        SystemWarning(
            "mcp_health",
            f"the tool server {name} is not available",
            f"{seen[name].error}. Agents work without its tools. "
            f"`manage.py mcp_tools {name}` tries it by hand.",
            moment_of(seen[name].since),
            name,
        )
        for name in watched
        if name in seen and not seen[name].healthy
    ]


def _about_unclassed_tools(servers: Mapping[str, ToolServer]) -> list[SystemWarning]:
    """What agents do not get for want of a class, as the monitor counted it."""
    unclassed = find_unclassed_in_use(get_config(), servers)
    if not unclassed:
        return []
    return [SystemWarning("mcp_tools", unclassed.sentence, unclassed.details, timezone.now())]


@lru_cache(maxsize=1)
def _about_configuration(directory: Path) -> tuple[tuple[str, SystemWarning], ...]:
    """As this process read it when it was first asked: changes count after a restart.

    Each with its topic.
    """
    now = timezone.now()
    return tuple(
        (
            found.topic,
            SystemWarning("configuration", found.message, f"{found.file}, line {found.line}", now),
        )
        for found in check(directory, environment()).warnings
    )
