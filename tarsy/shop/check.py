"""The check from outside: orders as a customer does, and tells the alert intake what it saw.

    python -m tarsy.shop.check --home DIR

What it posts is what an Alertmanager posts. It knows nothing of the shop's inside.
"""

import http.client
import json
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tarsy.shop.front import Front
from tarsy.shop.layout import Layout, read_object, write_whole
from tarsy.shop.lifeline import begin, say

ALERT = "ShopCheckFailing"
ROUND_SECONDS = 1.0
WINDOW_ROUNDS = 5
FAILING_ROUNDS = 3
"""So many of the window before an alert is sent. It is over after a whole window of good ones."""
CONFIRMED_WITHIN = 6.0
_POST_SECONDS = 10.0
_NEVER = "0001-01-01T00:00:00Z"


@dataclass
class Journey:
    """Looks at the catalogue, orders, and watches that orders are completed."""

    front: Front
    _open: dict[int, float] = field(default_factory=dict)

    def find_fault(self) -> str:
        """What a customer would complain of; empty where all is well."""
        try:
            return self._look() or self._order() or self._follow()
        except OSError as error:
            return f"{self.front.url} does not answer as it must: {error}"

    def _look(self) -> str:
        answer = self.front.show("/")
        if answer.status != http.client.OK:
            return f"GET / answered {answer.status}: {answer.error}"
        return ""

    def _order(self) -> str:
        answer = self.front.order({"item": "check", "quantity": 1})
        if answer.status != http.client.OK:
            return f"POST /orders answered {answer.status}: {answer.error}"
        self._open[int(str(answer.body["order"]))] = time.monotonic()
        return ""

    def _follow(self) -> str:
        for number, since in list(self._open.items()):
            answer = self.front.show(f"/orders/{number}")
            if answer.body.get("state") == "done":
                del self._open[number]
                continue
            waited = time.monotonic() - since
            if waited > CONFIRMED_WITHIN:
                return f"order {number} was taken {waited:.0f} s ago and is not completed"
            return ""
        return ""


class Told(BaseModel):
    """An alert that was told and is not over."""

    model_config = ConfigDict(frozen=True)

    since: str
    fault: str
    endpoint: str

    @classmethod
    def read(cls, path: Path) -> "Told | None":
        """What is kept there; None where nothing is, or nothing that can be made out."""
        try:
            return cls.model_validate_json(path.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None


class Pager:
    """Tells the intake when a fault begins and when it is over.

    What it has told outlives it. An alert about a shop that is gone, as each demo opens another, is
    over.
    """

    def __init__(self, layout: Layout, endpoint: str) -> None:
        self._layout = layout
        self._endpoint = endpoint
        self._failed: deque[bool] = deque(maxlen=WINDOW_ROUNDS)
        kept = Told.read(layout.told)
        is_ours = kept is not None and kept.endpoint == endpoint
        self._told = kept if is_ours else None
        self._left = None if is_ours else kept

    def take(self, fault: str) -> None:
        """One round of the check. What it sees while a release is put in force alarms nobody."""
        if self._layout.silence.exists():
            return
        self._failed.append(bool(fault))
        if self._left is not None and self._layout.intake.exists() and self._end(self._left):
            self._left = None
        if self._told is None:
            if fault and sum(self._failed) >= FAILING_ROUNDS:
                self._begin(Told(since=_now(), fault=fault, endpoint=self._endpoint))
        elif not any(self._failed) and self._end(self._told):
            self._told = None

    def _begin(self, alert: Told) -> None:
        if self._post("firing", alert):
            self._told = alert
            write_whole(self._layout.told, alert.model_dump_json())

    def _end(self, alert: Told) -> bool:
        if not self._post("resolved", alert):
            return False
        self._layout.told.unlink(missing_ok=True)
        return True

    def _post(self, status: str, alert: Told) -> bool:
        intake = read_object(self._layout.intake)
        say(f"{'ERROR' if status == 'firing' else 'INFO'} {status}: {alert.fault}")
        if not intake.get("url"):
            return False
        body = json.dumps(_write_body(status, alert)).encode()
        headers = {"Content-Type": "application/json"}
        if token := intake.get("token"):
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(str(intake["url"]), body, headers)
        try:
            with urllib.request.urlopen(request, timeout=_POST_SECONDS) as answer:
                say(f"INFO the intake answered {answer.status}")
        except (OSError, urllib.error.URLError) as error:
            say(f"WARNING the intake did not take it, it is sent again: {error}")
            return False
        return True


def _write_body(status: str, alert: Told) -> dict[str, object]:
    labels = {
        "alertname": ALERT,
        "service": "shop-web",
        "severity": "critical",
        "instance": alert.endpoint,
        "host": socket.gethostname(),
        "job": "shop-check",
    }
    annotations = {
        "summary": "Customers cannot order in the shop",
        "description": f"The check from outside fails: {alert.fault}",
    }
    ends = _now() if status == "resolved" else _NEVER
    written = {
        "status": status,
        "labels": labels,
        "annotations": annotations,
        "startsAt": alert.since,
        "endsAt": ends,
        "generatorURL": alert.endpoint,
    }
    return {
        "version": "4",
        # Each shop is one of its own: what ailed another is no part of what ails this one.
        "groupKey": f'{{}}:{{alertname="{ALERT}", instance="{alert.endpoint}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "tarsy",
        "groupLabels": {"alertname": ALERT, "instance": alert.endpoint},
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": alert.endpoint,
        "alerts": [written],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def main() -> None:
    layout: Layout = begin("Checks the shop from outside.").layout
    front = Front.of(layout)
    journey, pager = Journey(front), Pager(layout, front.url)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    last = None
    while True:
        fault = journey.find_fault()
        if fault != last:
            say(f"ERROR {fault}" if fault else "INFO all is well")
            last = fault
        pager.take(fault)
        time.sleep(ROUND_SECONDS)


if __name__ == "__main__":
    main()
