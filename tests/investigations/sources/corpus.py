"""Posts of every source with what must be read in them; a file for each source in `posts/`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from investigations.sources.reading import AlertReading, Post, Reading

POSTS = Path(__file__).parent / "posts"


@dataclass(frozen=True)
class Case:
    source: str
    name: str
    post: Post
    expect: Mapping[str, Any]
    address: str = ""
    """The source at whose address alone the post is read as one of its own."""
    pair: str = ""
    """Posts of one file with the same word here are about the same alert."""


def read_cases() -> Iterator[Case]:
    for path in sorted(POSTS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            yield Case(
                source=path.stem,
                name=f"{path.stem}: {told['name']}",
                post=Post(told["body"], told.get("headers", {})),
                expect=told["expect"],
                address=told.get("address", ""),
                pair=told.get("pair", ""),
            )


def find_differences(case: Case, reading: Reading) -> list[str]:
    """What was read and should not have been, field by field."""
    expect = case.expect
    wrong = list(_compare("source", reading.source, expect.get("source", case.source)))
    if "notice" in expect:
        if not reading.notice.startswith(expect["notice"]):
            wrong.append(f"notice {reading.notice!r}")
    else:
        wrong += _compare("notice", reading.notice, "")
    for field in ("group_key", "delivery_id"):
        if field in expect:
            wrong += _compare(field, getattr(reading, field), expect[field])
    wrong += _compare(
        "unreadable", [each.place for each in reading.unreadable], expect.get("unreadable", [])
    )
    wrong += _compare("left_out", list(reading.left_out), expect.get("left_out", []))
    wrong += _compare("alerts", len(reading.alerts), len(expect["alerts"]))
    for alert, wanted in zip(reading.alerts, expect["alerts"], strict=False):
        wrong += _compare_alert(alert, wanted)
    return wrong


def _compare_alert(alert: AlertReading, wanted: Mapping[str, Any]) -> Iterator[str]:
    found = {
        "state": alert.state,
        "key": alert.key,
        "about": alert.about,
        "title": alert.title,
        "severity": alert.severity,
        "word": alert.severity_word,
        "reason": alert.reason,
        "service": alert.service,
        "cluster": alert.cluster,
        "namespace": alert.namespace,
        "link": alert.links.alert,
        "dashboard": alert.links.dashboard,
        "runbook": alert.links.runbook,
        "starts_at": alert.starts_at and alert.starts_at.isoformat(),
        "ends_at": alert.ends_at and alert.ends_at.isoformat(),
    }
    for field, value in wanted.items():
        if field == "label":
            yield from _compare(f"label {value[0]}", alert.labels.get(value[0]), value[1])
        elif field == "body_lacks":
            yield from _compare("body holds it", value in json.dumps(alert.body), False)
        else:
            yield from _compare(field, found[field], value)


def _compare(field: str, found: object, wanted: object) -> Iterator[str]:
    if found != wanted:
        yield f"{field}: {found!r} instead of {wanted!r}"
