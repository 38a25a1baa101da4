"""A client of the REST API that goes on whatever happens, and writes down what it was told."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchmarks.chaos.sending import Sender
from benchmarks.chaos.workload import PlannedAlert

REFUSED = 0
"""Instead of a status: no connection, or none that lasted until an answer."""


@dataclass(frozen=True)
class Post:
    alert: PlannedAlert
    sent: float
    answered: float
    status: int
    session_id: str = ""


def post_json(url: str, body: object, *, timeout: float = 15.0) -> tuple[int, dict[str, object]]:
    """Status and JSON of the answer; `REFUSED` and nothing where there was none."""
    request = urllib.request.Request(
        url, data=json.dumps(body).encode(), headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, {}
    except (OSError, ValueError):
        return REFUSED, {}


@dataclass
class Poster(Sender):
    """Posts alerts at a steady rate on a thread of its own; one that is refused is sent again."""

    url: str
    alerts: Sequence[PlannedAlert]
    every: float
    posts: list[Post] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__("poster")

    def _post_all(self) -> None:
        due = time.monotonic()
        for alert in self.alerts:
            if self._stop.wait(max(0.0, due - time.monotonic())):
                return
            due += self.every
            while self._post(alert) != 202:
                if self._stop.wait(0.25):
                    return

    def _post(self, alert: PlannedAlert) -> int:
        sent = time.time()
        status, answer = post_json(self.url, {"alert_type": alert.alert_type, "data": alert.data})
        identity = str(answer.get("session_id", ""))
        self.posts.append(Post(alert, sent, time.time(), status, identity))
        return status
