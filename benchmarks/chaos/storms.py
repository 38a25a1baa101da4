"""A source that goes mad beside the other clients: more incidents at once than anybody may look
into."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.chaos.outcome import Check
from benchmarks.chaos.posting import post_json
from benchmarks.chaos.sending import Sender

PATH = "/api/v1/webhooks/prometheus?alert_type=direct"
SOURCE = "prometheus"
ALERTS = 60
MOST = 10
"""`storm_after` of the configuration of these runs."""
_START = "2026-11-21T07:00:00Z"
_END = "2026-11-21T08:00:00Z"

Step = tuple[str, bool]
"""An alert, and whether it fires."""


@dataclass
class Storm(Sender):
    """Every alert twice, in any order, as fast as they are taken; then a part of them is over."""

    url: str
    chance: random.Random
    accepted: int = 0
    told: dict[str, bool] = field(default_factory=dict)
    """Of each alert whether it fires, as it was accepted last."""

    def __post_init__(self) -> None:
        super().__init__("storm")

    def _plan(self) -> Sequence[Step]:
        names = [f"host-{number:03}" for number in range(ALERTS)]
        begins = [(name, True) for name in (*names, *names)]
        self.chance.shuffle(begins)
        return [*begins, *((name, False) for name in self.chance.sample(names, k=ALERTS // 3))]

    def _post_all(self) -> None:
        for step in self._plan():
            while not self._post(step):
                if self._stop.wait(0.25):
                    return

    def _post(self, step: Step) -> bool:
        name, fires = step
        alert = {
            "labels": {"alertname": "Unreachable", "service": name, "severity": "warning"},
            "annotations": {"summary": f"{name} does not answer"},
            "startsAt": _START,
            "endsAt": "0001-01-01T00:00:00Z" if fires else _END,
        }
        answered, _ = post_json(self.url, [alert])
        if answered != 202:
            return False
        self.accepted += 1
        self.told[name] = fires
        return True


def check_storm(storm: Storm) -> Check:
    """Each alert is a member of one incident and in the state that was told; no more incidents are
    left, and looked into, than may be at once."""
    promise = "a storm leaves few incidents, and each of its alerts in one of them"
    return Check(promise, len(storm.told), [*_find_lost(storm), *_find_double(storm)])


def _find_lost(storm: Storm) -> Iterator[str]:
    from investigations.models import AlertEpisode

    rows = AlertEpisode.objects.filter(source=SOURCE).select_related("incident")
    found = {row.labels["service"]: row for row in rows}
    if len(rows) != len(storm.told):
        yield f"{len(storm.told)} alerts were told, and {len(rows)} are kept"
    for name, fires in storm.told.items():
        row = found.get(name)
        if row is not None and (row.state == "firing") != fires:
            yield f"{name} {'fires' if fires else 'is over'}, and is kept otherwise"
        if row is not None and (row.incident is None or row.incident.absorbed_by_id):
            yield f"{name} belongs to no incident that is there"


def _find_double(storm: Storm) -> Iterator[str]:
    from investigations.models import AlertSession, Incident

    left = Incident.objects.filter(source=SOURCE, absorbed_by=None)
    storms = left.filter(kind=Incident.Kind.STORM).count()
    if left.count() > MOST + storms:
        yield f"{left.count()} incidents are left, {storms} of them storms"
    members = sum(left.values_list("member_count", flat=True))
    if members != len(storm.told):
        yield f"the incidents count {members} members"
    began = AlertSession.objects.filter(source=SOURCE, started_at__isnull=False)
    for incident in left:
        times = began.filter(incident=incident).count()
        if times > 1:
            yield f"incident {incident.pk} was investigated {times} times"
    if began.count() > MOST + storms:
        yield f"{began.count()} investigations began"
