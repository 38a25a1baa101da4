"""The configuration in force as people may see it.

How a tool server is reached is told field by field, since secrets live there: of arguments,
variables and headers only that they are there. What came from the environment is not told.
Everything else is told as it is, with addresses cut to what names a place, and every text masked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from agents.types import JSON
from config import get_config
from config.schema.fields import Block
from config.schema.servers import TransportConfig
from config.skills import Skill
from config.tree import Path
from investigations.masking import product_masker
from tarsy.errors import NotFound

REDACTED = "***"

Mask = Callable[[str], str]


def describe_configuration() -> dict[str, JSON]:
    """Everything that is in force, built-ins included, without a secret."""
    config = get_config()
    mask = product_masker()
    shown = _Description(config.from_environment, mask)
    return {
        "defaults": shown.of(config.defaults, ("defaults",)),
        "queue": shown.of(config.queue, ("queue",)),
        "system": shown.of(config.system, ("system",)),
        "agents": shown.of(config.agents, ("agents",)),
        "chains": shown.of(config.chains, ("agent_chains",)),
        "mcp_servers": shown.of(config.mcp_servers, ("mcp_servers",)),
        "llm_providers": shown.of(config.llm_providers, ("llm_providers",)),
        "skills": {
            name: {"name": name, "description": mask(skill.description)}
            for name, skill in sorted(config.skills.items())
        },
    }


def read_skill(name: str) -> Skill:
    """A skill, masked. Raises NotFound."""
    skill = get_config().skills.get(name)
    if skill is None:
        raise NotFound("there is no such skill")
    mask = product_masker()
    return Skill(skill.name, mask(skill.description), mask(skill.body), skill.file)


@dataclass(frozen=True)
class _Description:
    """Says values as JSON; those that came from the environment are not for everybody."""

    hidden: frozenset[Path]
    mask: Mask

    def of(self, value: object, path: Path) -> JSON:
        if path in self.hidden:
            return REDACTED
        if isinstance(value, TransportConfig):
            return self._of_transport(value, path)
        if isinstance(value, Block):
            fields = type(value).model_fields
            return {name: self.of(getattr(value, name), (*path, name)) for name in fields}
        if isinstance(value, Mapping):
            return {
                REDACTED if (*path, name) in self.hidden else str(name): self.of(
                    each, (*path, name)
                )
                for name, each in sorted(value.items())
            }
        if isinstance(value, tuple):
            return [self.of(each, (*path, place)) for place, each in enumerate(value)]
        return self._of_scalar(value)

    def _of_transport(self, transport: TransportConfig, path: Path) -> JSON:
        def place_of(name: str) -> JSON:
            is_hidden = (*path, name) in self.hidden
            return REDACTED if is_hidden else _place_of(getattr(transport, name))

        return {
            "type": transport.type,
            "command": self.of(transport.command, (*path, "command")),
            "args": [REDACTED] * bool(transport.args),
            "env_keys": [*sorted(transport.env)],
            "url": place_of("url"),
            "bearer_token_set": bool(transport.bearer_token),
            "verify_ssl": transport.verify_ssl,
            "timeout": transport.timeout,
            "custom_header_keys": [*sorted(transport.custom_headers)],
            "session_cleanup_url": place_of("session_cleanup_url"),
        }

    def _of_scalar(self, value: object) -> JSON:
        if isinstance(value, timedelta):
            return format_duration(value)
        if isinstance(value, datetime):
            return value.isoformat()
        if isinstance(value, str):
            is_address = value.startswith(("http://", "https://"))
            return _place_of(value) if is_address else self.mask(value)
        if value is None or isinstance(value, bool | int | float):
            return value
        raise TypeError(f"nobody said how to show a {type(value).__name__}")


def _place_of(url: str | None) -> str | None:
    """An address without user, query and fragment, where secrets are put."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return REDACTED
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def format_duration(duration: timedelta) -> str:
    """As the files have it: `1h30m`, `500ms`."""
    milliseconds = round(duration.total_seconds() * 1000)
    parts = []
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)):
        count, milliseconds = divmod(milliseconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
