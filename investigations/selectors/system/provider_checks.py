"""Checks of models that people ask for: what is under way and what came of the last one."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast, get_args

import redis

from agents.provider_check.report import LONGEST_CHECK_SECONDS, ProbeName, ProviderReport
from investigations.selectors.system.workers import client

CHECKS_KEY = "tarsy:model_providers:checks"
"""Redis hash: provider -> JSON of its last check."""
EXPIRES_SECONDS = 15
"""A worker that is free later than this need not begin: nobody waits any more."""
_SLACK_SECONDS = 5
LONGEST_SECONDS = EXPIRES_SECONDS + int(LONGEST_CHECK_SECONDS) + _SLACK_SECONDS
"""A check that has not ended by then was never begun, or lost with its worker. No shorter than one
may take, or a second one of the same model would begin beside it."""


@dataclass(frozen=True)
class ProviderCheck:
    """Moments are seconds of the system clock; `ended_at` is None while it is under way."""

    asked_at: float
    asked_by: str
    ended_at: float | None = None
    report: ProviderReport | None = None
    """As far as it is known."""
    trouble: str = ""
    """Why there is no whole report."""

    @property
    def progress(self) -> str:
        """How many probes are done, of how many."""
        done = len(self.report.findings) if self.report else 0
        return f"{done} of {len(get_args(ProbeName))}"

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None and time.time() - self.asked_at < LONGEST_SECONDS

    @property
    def is_lost(self) -> bool:
        return self.ended_at is None and not self.is_under_way

    @property
    def asked(self) -> datetime:
        return datetime.fromtimestamp(self.asked_at, UTC)

    @property
    def ended(self) -> datetime | None:
        return None if self.ended_at is None else datetime.fromtimestamp(self.ended_at, UTC)

    def to_json(self) -> str:
        told = {
            "asked_at": self.asked_at,
            "asked_by": self.asked_by,
            "ended_at": self.ended_at,
            "trouble": self.trouble,
            "report": self.report.to_json() if self.report else None,
        }
        return json.dumps(told)


def read_checks() -> Mapping[str, ProviderCheck]:
    """The last check of each provider; none when Redis does not answer."""
    try:
        kept = cast(Mapping[bytes, bytes], client().hgetall(CHECKS_KEY))
    except redis.RedisError:
        return {}
    read = {name.decode(): _read(text) for name, text in kept.items()}
    return {name: check for name, check in read.items() if check is not None}


def _read(text: bytes) -> ProviderCheck | None:
    """None for one that another version has written."""
    try:
        told: dict[str, Any] = json.loads(text)
        report = told.pop("report", None)
        check = ProviderCheck(**told, report=ProviderReport.from_json(report) if report else None)
        # A moment that no clock can show is as odd as none.
        _ = check.asked, check.ended
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return check
