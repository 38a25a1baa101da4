"""A request to the API as a command for a shell: quoted, and without a secret in it."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote

from agents.types import JSON
from investigations.maskers import mask_alert_data
from investigations.models.foreign_json import read_json
from investigations.rendering.plain_text import has_shape

LONGEST_ARGUMENT = 100_000
"""Bytes of a body in a command; Linux takes 131,072 for one argument."""

FILE = "alert.json"
_NOT_ASCII = re.compile(r"[^\x20-\x7e]+")
_MASKED = ("data", "slack_message_fingerprint")


@dataclass(frozen=True)
class Curl:
    """A command; `file` is what has to stand in `alert.json`, empty where the command has it."""

    command: str
    file: str
    is_masked: bool
    """Something was taken out: the alert would be stored without it as well."""


def write_curl(body: Mapping[str, JSON], *, address: str, needs_token: bool) -> Curl:
    """The command that submits a body at an address. The token is a variable of the shell's."""
    masked = {name: _mask(value) if name in _MASKED else value for name, value in body.items()}
    text = _dump(masked)
    is_long = len(text.encode()) > LONGEST_ARGUMENT
    lines = [f"curl -X POST {quote(address)}", "  -H 'Content-Type: application/json'"]
    if needs_token:
        lines.append('  -H "Authorization: Bearer $TARSY_TOKEN"')
    lines.append(f"  -d @{FILE}" if is_long else f"  -d {_quote(text)}")
    return Curl(" \\\n".join(lines), text if is_long else "", masked != body)


def _mask(value: JSON) -> JSON:
    """As the intake would mask it."""
    if isinstance(value, str):
        return mask_alert_data(value)
    masked = mask_alert_data(json.dumps(value, ensure_ascii=False, indent=2))
    try:
        return read_json(masked)
    except ValueError:
        return masked


def _dump(body: Mapping[str, JSON]) -> str:
    """JSON in which nothing is invisible: what has no shape stands as its number."""
    return _NOT_ASCII.sub(_spell, json.dumps(body, ensure_ascii=False))


def _spell(found: re.Match[str]) -> str:
    return "".join(each if has_shape(each) else json.dumps(each)[1:-1] for each in found[0])


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
