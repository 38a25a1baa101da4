"""What a strict server refuses of a request, in the words of its dialect."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from agents.rehearsal.dialects.dialect import Dialect, Refusal
from agents.rehearsal.dialects.faults import find_fault
from agents.rehearsal.wire import encode_failure, fill


@dataclass(frozen=True)
class Refused:
    """An answer to a request that the server does not take."""

    fault: str
    status: int
    body: bytes = field(repr=False)


def find_refusal(dialect: Dialect, chat: Mapping[str, Any]) -> Refused | None:
    """The first of the dialect's refusals that fits a request in the shape of chat completions."""
    for refusal in dialect.refuses:
        found = find_fault(chat, refusal.fault, refusal.names, refusal.form, refusal.limit)
        if found:
            return Refused(refusal.fault, refusal.status, _write(refusal, found, dialect))
    return None


def _write(refusal: Refusal, found: str, dialect: Dialect) -> bytes:
    values: Mapping[str, JsonValue] = {"$found": found, "$limit": refusal.limit}
    if refusal.body is not None:
        return json.dumps(fill(refusal.body, values)).encode()
    message = str(fill(refusal.message, {name: str(value) for name, value in values.items()}))
    return encode_failure(
        message, dialect, status=refusal.status, kind=refusal.type, code=refusal.code
    )
