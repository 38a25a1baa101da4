"""What is not masked a second time held no secret the first time."""

import json

import pytest

from investigations.maskers import mask_alert_data
from investigations.models import AlertEpisode, AlertSession, Delivery, Incident
from investigations.services.deliveries import preview_delivery, read_delivery, take_delivery
from investigations.sources.reading import Post
from investigations.sources.registry import read_post
from masking.budget import Budget
from masking.masker import Masker
from masking.spans import Span
from tests.cases import for_each
from tests.investigations.sources.corpus import Case, read_cases

SECRET = "hunter2-correct-horse"


def dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@for_each(list(read_cases()), name=lambda case: case.name)
def test_no_part_of_a_post_without_secrets_holds_one(case: Case):
    whole = dump(case.post.body)
    if mask_alert_data(whole) != whole:
        return
    for alert in read_post(case.post).alerts:
        for value in (alert.body, dict(alert.labels), alert.links.alert, alert.key):
            text = dump(value)
            if text in whole:
                assert mask_alert_data(text) == text
                assert value != alert.key or mask_alert_data(alert.key) == alert.key


def post_of(*summaries: str) -> dict[str, object]:
    alerts = [
        {
            "status": "firing",
            "labels": {"alertname": "DiskFull", "instance": f"db-{number}"},
            "annotations": {"summary": summary},
            "fingerprint": f"7a1c0de9-{number}",
            "generatorURL": "http://prometheus.example.net/graph",
        }
        for number, summary in enumerate(summaries)
    ]
    return {"version": "4", "groupKey": "g", "receiver": "tarsy", "alerts": alerts}


@pytest.mark.django_db
@pytest.mark.parametrize("places", [(), (0,), (1,), (0, 1)])
def test_alerts_are_kept_masked_whichever_of_a_post_holds_a_secret(places):
    body = post_of(*(f"password={SECRET}" if n in places else "97 % full" for n in (0, 1)))

    take_delivery(read_delivery(Post(body)), body=body, author="ana")  # type: ignore[arg-type]

    kept = list(AlertEpisode.objects.order_by("key"))
    assert ["[MASKED:password#1]" in row.body for row in kept] == [n in places for n in (0, 1)]
    assert SECRET not in "".join((row.body + row.title) for row in kept)
    assert SECRET not in Delivery.objects.get().body
    assert [row.labels["instance"] for row in kept] == ["db-0", "db-1"]
    assert {row.link for row in kept} == {"http://prometheus.example.net/graph"}


@pytest.mark.django_db
def test_what_could_not_be_looked_at_as_a_whole_is_looked_at_in_its_parts(monkeypatch):
    """Masking a post may fail where masking what is kept of an alert does not."""
    body = post_of(f"password={SECRET}", *(["97 % full"] * 9))
    find = Masker._find_new

    def fail_on_long(self: Masker, text: str, budget: Budget) -> list[Span]:
        if len(text) > 1_000:
            raise RuntimeError("a fault of ours")
        return find(self, text, budget)

    monkeypatch.setattr(Masker, "_find_new", fail_on_long)

    take_delivery(read_delivery(Post(body)), body=body, author="ana")  # type: ignore[arg-type]

    assert SECRET not in "".join(row.body + row.title for row in AlertEpisode.objects.all())


@pytest.mark.django_db(transaction=True)
def test_a_preview_keeps_nothing_although_a_post_ends_its_transaction_with_its_last_write():
    outcome = preview_delivery(read_delivery(Post(post_of("97 % full"))))  # type: ignore[arg-type]

    assert outcome.alerts
    assert not any(model.objects.exists() for model in (AlertSession, Incident, Delivery))
