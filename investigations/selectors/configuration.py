"""The configuration in force as people may see it.

How a tool server is reached is told field by field, since secrets live there: of arguments,
variables and headers only that they are there. Everything else is told as it is, with addresses
cut to what names a place, and every text masked.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from agents.types import JSON
from config import get_config
from config.schema.fields import Block
from config.schema.servers import MCPServerConfig, TransportConfig
from config.skills import Skill
from investigations.masking import product_masker
from tarsy.errors import NotFound

REDACTED = "***"

Mask = Callable[[str], str]


def describe_configuration() -> dict[str, JSON]:
    """Everything that is in force, built-ins included, without a secret."""
    config = get_config()
    mask = product_masker()
    return {
        "defaults": _describe(config.defaults, mask),
        "queue": _describe(config.queue, mask),
        "system": _describe(config.system, mask),
        "agents": _describe(config.agents, mask),
        "chains": _describe(config.chains, mask),
        "mcp_servers": {
            name: _describe_server(server, mask)
            for name, server in sorted(config.mcp_servers.items())
        },
        "llm_providers": _describe(config.llm_providers, mask),
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


def _describe_server(server: MCPServerConfig, mask: Mask) -> dict[str, JSON]:
    rest = {
        name: _describe(getattr(server, name), mask)
        for name in type(server).model_fields
        if name != "transport"
    }
    return {"transport": _describe_transport(server.transport, mask), **rest}


def _describe_transport(transport: TransportConfig, mask: Mask) -> dict[str, JSON]:
    return {
        "type": transport.type,
        "command": mask(transport.command),
        "args": [REDACTED] * bool(transport.args),
        "env_keys": [*sorted(transport.env)],
        "url": _place_of(transport.url),
        "bearer_token_set": bool(transport.bearer_token),
        "verify_ssl": transport.verify_ssl,
        "timeout": transport.timeout,
        "custom_header_keys": [*sorted(transport.custom_headers)],
        "session_cleanup_url": _place_of(transport.session_cleanup_url),
    }


def _describe(value: object, mask: Mask) -> JSON:
    if isinstance(value, Block):
        fields = type(value).model_fields
        return {name: _describe(getattr(value, name), mask) for name in fields}
    if isinstance(value, Mapping):
        return {str(name): _describe(each, mask) for name, each in sorted(value.items())}
    if isinstance(value, tuple):
        return [_describe(each, mask) for each in value]
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, str):
        return _place_of(value) if value.startswith(("http://", "https://")) else mask(value)
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
