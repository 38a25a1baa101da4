"""Checks of models that people ask for: what is under way and what came of the last one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from agents.provider_check.report import LONGEST_CHECK_SECONDS, ProbeName, ProviderReport
from investigations.selectors.system.asked_work import EXPIRES_SECONDS, AskedWork, read_kept

CHECKS_KEY = "tarsy:model_providers:checks"
"""Redis hash: provider -> JSON of its last check."""
_SLACK_SECONDS = 5
LONGEST_SECONDS = EXPIRES_SECONDS + int(LONGEST_CHECK_SECONDS) + _SLACK_SECONDS


@dataclass(frozen=True)
class ProviderCheck(AskedWork):
    """The check of one model that somebody asked for."""

    longest_seconds = LONGEST_SECONDS
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
    return read_kept(CHECKS_KEY, _read)


def _read(text: bytes) -> ProviderCheck:
    told: dict[str, Any] = json.loads(text)
    report = told.pop("report", None)
    return ProviderCheck(**told, report=ProviderReport.from_json(report) if report else None)
