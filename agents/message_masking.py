"""What is kept of a model's answer: everything but the secrets in it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from agents.types import JSON, Message

_OPAQUE = ("signature", "encrypted", "redacted")
"""In the names of fields that mean nothing to anyone but their provider."""


def mask_message(message: Message, mask: Callable[[str], str]) -> Message:
    """The message masked: text, names and arguments of calls, and what its provider attached."""
    return replace(
        message,
        content=mask(message.content),
        tool_calls=tuple(
            replace(call, name=mask(call.name), arguments=mask(call.arguments))
            for call in message.tool_calls
        ),
        provider_fields=_mask_fields(message.provider_fields, mask),
    )


def _mask_fields(fields: Mapping[str, JSON], mask: Callable[[str], str]) -> dict[str, JSON]:
    kept: dict[str, JSON] = {}
    for name, value in fields.items():
        masked = _mask_value(name, value, mask)
        # A provider refuses thoughts that do not fit its signature; it goes on without them.
        if masked == value or not _is_signed(value):
            kept[name] = masked
    return kept


def _mask_value(name: str, value: JSON, mask: Callable[[str], str]) -> JSON:
    if isinstance(value, str):
        return value if _is_opaque(name) else mask(value)
    if isinstance(value, list):
        return [_mask_value(name, each, mask) for each in value]
    if isinstance(value, dict):
        if _is_opaque(value.get("type")):
            return value
        return {key: _mask_value(key, each, mask) for key, each in value.items()}
    return value


def _is_opaque(name: JSON) -> bool:
    return isinstance(name, str) and any(word in name for word in _OPAQUE)


def _is_signed(value: JSON) -> bool:
    return "signature" in json.dumps(value)
