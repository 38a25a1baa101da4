"""`manage.py classify_command`: whether a command is proven to be a read, one JSON line each."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from safety.commands import prove


class Command(BaseCommand):
    help = "Say of shell commands whether they only read and end by themselves. Runs none of them."
    requires_system_checks = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("commands", nargs="*", help="without any, one a line from the input")
        parser.add_argument(
            "--jsonl", action="store_true", help='the input holds lines of {"id", "command"}'
        )

    @override
    def handle(self, *args: object, **options: object) -> None:
        given = options["commands"]
        named = [str(command) for command in given] if isinstance(given, list) else []
        if named and options["jsonl"]:
            raise CommandError("--jsonl reads the input; give no commands with it")
        if options["jsonl"]:
            pairs = _read_records()
        else:
            pairs = enumerate(named or (line.rstrip("\n") for line in sys.stdin), 1)
        for identity, command in pairs:
            self.stdout.write(_describe(identity, command))


def _read_records() -> Iterator[tuple[object, str]]:
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            yield record["id"], record["command"]
        except (ValueError, KeyError, TypeError) as error:
            raise CommandError(f"line {number}: not an object with id and command") from error


def _describe(identity: object, command: object) -> str:
    if not isinstance(command, str):
        raise CommandError(f"{identity}: the command is not a text")
    proof = prove(command)
    return json.dumps(
        {
            "id": identity,
            "intent": proof.intent,
            "bounded": proof.bounded,
            "risk": proof.risk,
            "reason": proof.reason,
        }
    )
