"""`manage.py verify_audit`: whether the audit trail is as it was written."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from typing_extensions import override

from investigations.selectors.audit import (
    MAX_FAULTS,
    Head,
    TrailCheck,
    check_trail,
    has_row,
    read_head,
)

_HEAD = re.compile(r"(\d{1,18}):([0-9a-f]{64})")
_KEEP = (
    "What was cut off at the end, or written anew as a whole, shows only against a head that was "
    "kept elsewhere: keep this one, and give it with --expect next time."
)


class Command(BaseCommand):
    help = (
        "Check that no row of the audit trail was changed or removed. Exits with 1 when one was. "
        + _KEEP
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        since = "begin with this row, and trust what stands before it"
        expect = "a head that was kept: this row must still have this hash"
        head = "only print the head, as ROW:HASH, and check nothing"
        parser.add_argument("--since", type=int, default=0, metavar="ROW", help=since)
        parser.add_argument("--expect", type=_read_head, metavar="ROW:HASH", help=expect)
        parser.add_argument("--head", action="store_true", help=head)

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        if options["head"]:
            self.stdout.write(str(read_head() or ""))
            return
        found = check_trail(options["since"])
        reasons = [fault.reason for fault in found.faults]
        kept: Head | None = options["expect"]
        if kept is not None and not has_row(kept):
            reasons.append(f"row {kept.row} does not have the hash that was kept, or is gone")
        if reasons:
            raise CommandError(_explain(reasons, found), returncode=1)
        self.stdout.write(f"{found.checked:,} rows, each as it was written.")
        if found.head is not None:
            self.stdout.write(f"Head: {found.head}\n{_KEEP}")


def _read_head(text: str) -> Head:
    found = _HEAD.fullmatch(text.strip())
    if found is None:
        raise ArgumentTypeError("a head looks like ROW:HASH, as --head prints it")
    return Head(int(found[1]), found[2])


def _explain(reasons: list[str], found: TrailCheck) -> str:
    more = " There may be more." if len(found.faults) == MAX_FAULTS else ""
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return f"The audit trail is not as it was written.{more}\n{listed}"
