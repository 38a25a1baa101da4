"""`manage.py route`: what would become of a post of an alert source. Nothing is started or kept."""

import sys
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from config.words import list_names
from investigations.api.parsing import parse_json
from investigations.services.deliveries import Outcome, preview_delivery, read_delivery
from investigations.services.incidents.taking import Taken
from investigations.sources.content import unpack
from investigations.sources.reading import Post
from tarsy.errors import InvalidInput, NotFound, QueueFull

MOST_SHOWN = 100
MOST_FIELDS = 20


class Command(BaseCommand):
    help = (
        "Say what would become of a post of an alert source: as which source it is read, and for "
        "each alert its incident, chain and rule, and whether it would be investigated. Starts "
        "nothing and keeps nothing. Exits 1 where the post would be refused."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--source", default="", help="as in the address; else told by shape")
        parser.add_argument("--data", required=True, help="a file with the post; - is stdin")
        parser.add_argument("--alert-type", default="", help="as in the query of the address")

    @override
    def handle(self, *args: object, **options: object) -> None:
        body = _read_body(str(options["data"]))
        try:
            post = Post(parse_json(unpack(body, encoding="", content_type="", charset="")))
            reading = read_delivery(post, str(options["source"]))
            outcome = preview_delivery(reading, alert_type=str(options["alert_type"]))
        except (InvalidInput, NotFound, QueueFull) as error:
            raise CommandError(f"This post would be refused: {error}") from error
        self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        reading = outcome.reading
        self.stdout.write(f"read as a post of {reading.source}: {outcome.message}")
        for each in outcome.alerts[:MOST_SHOWN]:
            self.stdout.write(f"- {_describe(each)}")
        for place in reading.unreadable:
            self.stdout.write(f"- {place.place}: {place.reason}")
        if len(outcome.alerts) > MOST_SHOWN:
            self.stdout.write(f"and {len(outcome.alerts) - MOST_SHOWN:,} more")


def _read_body(name: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}") from error


def _describe(taken: Taken) -> str:
    alert, incident, session = taken.alert, taken.incident, taken.session
    lines = [f"{alert.title or alert.key} ({alert.severity}): {taken.outcome}", f"key {alert.key}"]
    if alert.key_from:
        fields = list_names(list(alert.key_from[:MOST_FIELDS]))
        lines.append(f"made of {fields}; `key` of an entry in `alert_sources` names others")
    if incident is not None:
        lines.append(f"group {incident.group_key}")
        lines += [f"team {incident.team}"] if incident.team else []
        lines += [incident.rule] if incident.rule else []
    if session is not None and session.chain_id:
        lines.append(f"alert type {session.alert_type}, chain {session.chain_id}")
    return "\n    ".join(lines)
