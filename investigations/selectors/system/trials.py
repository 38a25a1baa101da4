"""Trials of tool servers that people ask for: what is under way and what came of the last one."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass

from investigations.selectors.system.asked_work import EXPIRES_SECONDS, AskedWork, read_kept

TRIALS_KEY = "tarsy:tool_servers:trials"
"""Redis hash: server id -> JSON of its last trial."""
START_SECONDS = 20.0
CLOSE_SECONDS = 8.0
_SLACK_SECONDS = 2
LONGEST_SECONDS = EXPIRES_SECONDS + math.ceil(START_SECONDS + CLOSE_SECONDS) + _SLACK_SECONDS


@dataclass(frozen=True)
class Trial(AskedWork):
    """The trial of one server that somebody asked for."""

    longest_seconds = LONGEST_SECONDS
    asked_at: float
    ended_at: float | None = None
    error: str = ""
    latency_ms: int | None = None
    tool_count: int = 0


def read_trials() -> Mapping[str, Trial]:
    """The last trial of each server; none when Redis does not answer."""
    return read_kept(TRIALS_KEY, lambda text: Trial(**json.loads(text)))
