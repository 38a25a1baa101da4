"""What a run showed, and how it is printed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

SHOWN = 20
"""Broken promises of one kind that are printed."""
Figure = float | int | str | None


@dataclass(frozen=True)
class Check:
    """A promise, how much was looked at, and each way in which it was broken."""

    promise: str
    looked_at: int
    broken: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    table: Sequence[Sequence[str | int]]
    checks: tuple[Check, ...]
    figures: dict[str, Figure]
    notes: Sequence[str]

    @property
    def is_kept(self) -> bool:
        """Every promise was."""
        return not any(check.broken for check in self.checks)

    def with_check(self, check: Check) -> "Outcome":
        return replace(self, checks=(*self.checks, check))


def print_outcome(outcome: Outcome, *, seed: int) -> None:
    """The tables, what was broken, and one line of JSON."""
    print(f"\n== chaos, seed {seed}")
    head = ["fault", "times", "affected", "hit again", "max recovery s", "with a worker"]
    _print_table([head, *outcome.table])
    print()
    rows = [
        [check.promise, check.looked_at, len(check.broken) or "kept"] for check in outcome.checks
    ]
    _print_table([["promise", "looked at", "broken"], *rows])
    for note in outcome.notes:
        print(f"   {note}")
    for check in outcome.checks:
        for line in check.broken[:SHOWN]:
            print(f"BROKEN {check.promise}: {line}")
        if len(check.broken) > SHOWN:
            print(f"BROKEN {check.promise}: and {len(check.broken) - SHOWN} more")
    broken = sum(len(check.broken) for check in outcome.checks)
    figures = {"benchmark": "chaos", "seed": seed, "broken": broken, **outcome.figures}
    print(json.dumps(figures), flush=True)


def _print_table(rows: Sequence[Sequence[str | int]]) -> None:
    table = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for first, *others in table:
        cells = [each.rjust(width) for each, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
