"""The configuration in force as people may see it.

How a tool server is reached is told field by field, since secrets live there: of arguments,
variables and headers only that they are there. What came from the environment is not told.
Everything else is told as it is, with addresses cut to what names a place, and every text masked.
"""

from collections.abc import Callable
from dataclasses import dataclass

from typing_extensions import override

from agents.llm.windows import count_priced_models
from agents.types import JSON
from config import get_config
from config.schema.fields import Block
from config.schema.servers import TransportConfig
from config.skills import Skill
from config.tree import Path
from investigations.maskers import product_masker
from investigations.selectors.configuration.walk import ConfigurationWalk, cut_addresses
from tarsy.errors import NotFound

REDACTED = "***"

Mask = Callable[[str], str]


def describe_configuration() -> dict[str, JSON]:
    """Everything that is in force, built-ins included, without a secret."""
    config = get_config()
    mask = product_masker()
    shown = _Description(config.from_environment, REDACTED, mask)
    return {
        "defaults": shown.say(config.defaults, ("defaults",)),
        "queue": shown.say(config.queue, ("queue",)),
        "system": _with_price_list(shown.say(config.system, ("system",))),
        "agents": shown.say(config.agents, ("agents",)),
        "chains": shown.say(config.chains, ("agent_chains",)),
        "mcp_servers": shown.say(config.mcp_servers, ("mcp_servers",)),
        "llm_providers": shown.say(config.llm_providers, ("llm_providers",)),
        "skills": {
            name: {"name": name, "description": mask(skill.description)}
            for name, skill in sorted(config.skills.items())
        },
    }


def _with_price_list(system: JSON) -> JSON:
    """Where prices come from: always from the list that was installed with the product."""
    if not isinstance(system, dict):
        return system
    entries = count_priced_models()
    catalog: JSON = {"source": "snapshot" if entries else "none", "entry_count": entries}
    estimation = system.get("cost_estimation")
    known = estimation if isinstance(estimation, dict) else {}
    return {**system, "cost_estimation": {**known, "catalog": catalog}}


def read_skill(name: str) -> Skill:
    """A skill, masked. Raises NotFound."""
    skill = get_config().skills.get(name)
    if skill is None:
        raise NotFound("there is no such skill")
    mask = product_masker()
    return Skill(skill.name, mask(skill.description), mask(skill.body), skill.file)


@dataclass(frozen=True)
class _Description(ConfigurationWalk):
    """For programs: every field, however empty, and every text masked."""

    mask: Mask

    @override
    def say_block(self, block: Block, path: Path) -> JSON:
        if isinstance(block, TransportConfig):
            return self._say_transport(block, path)
        return super().say_block(block, path)

    @override
    def say_withheld(self, value: object, path: Path) -> JSON:
        return self.unsaid

    @override
    def say_text(self, text: str) -> str:
        is_address = text.startswith(("http://", "https://"))
        return self.mask(cut_addresses(text) if is_address else text)

    def _say_transport(self, transport: TransportConfig, path: Path) -> JSON:
        def keys_of(name: str) -> list[JSON]:
            return [*sorted(self.say_key(key, (*path, name)) for key in getattr(transport, name))]

        def place_of(name: str) -> JSON:
            is_hidden = (*path, name) in self.hidden
            return self.unsaid if is_hidden else _place_of(getattr(transport, name))

        return {
            "type": transport.type,
            "command": self.say(transport.command, (*path, "command")),
            "args": [self.unsaid] * bool(transport.args),
            "env_keys": keys_of("env"),
            "url": place_of("url"),
            "bearer_token_set": bool(transport.bearer_token),
            "verify_ssl": transport.verify_ssl,
            "timeout": transport.timeout,
            "custom_header_keys": keys_of("custom_headers"),
            "session_cleanup_url": place_of("session_cleanup_url"),
        }


def _place_of(url: str | None) -> str | None:
    """An address without user, query and fragment, where secrets are put."""
    if not url:
        return None
    return cut_addresses("".join(url.split())) if "://" in url else REDACTED
