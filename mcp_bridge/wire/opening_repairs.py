"""Makes of how a server introduces itself what the SDK can read: it offers tools all the same."""

from collections.abc import Mapping

from mcp_types import Implementation, ServerCapabilities
from pydantic import BaseModel, ValidationError

from agents.types import JSON

_USUAL: Mapping[str, tuple[type[BaseModel], dict[str, JSON]]] = {
    "capabilities": (ServerCapabilities, {"tools": {}}),
    "serverInfo": (Implementation, {"name": "unnamed", "version": "unknown"}),
}


def repair_opening(result: dict[str, JSON]) -> None:
    """Put in what is missing or odd; leave out what nobody needs and nobody can read."""
    for name, (model, usual) in _USUAL.items():
        if not _fits(model, result.get(name)):
            result[name] = dict(usual)
    for name, kind in (("instructions", str), ("_meta", dict)):
        if not isinstance(result.get(name), kind):
            result.pop(name, None)


def _fits(model: type[BaseModel], value: JSON) -> bool:
    try:
        model.model_validate(value, by_name=False)
    except ValidationError:
        return False
    return True
