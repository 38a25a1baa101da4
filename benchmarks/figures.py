"""What a benchmark hands back, how it is printed, and how processes are weighed."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Cell = str | int | float


@dataclass(frozen=True)
class Report:
    """A table for people, the same figures by name for machines, and what to know about them."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    figures: Mapping[str, float | int | None]
    notes: Sequence[str] = field(default=())


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` of the values do not exceed (nearest rank)."""
    if not values:
        raise ValueError("there is nothing to take a percentile of")
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def to_ms(seconds: float) -> float:
    return round(seconds * 1000, 2)


def print_report(name: str, report: Report, *, seconds: float, load: tuple[float, float]) -> None:
    """The table, the notes, then one line of JSON."""
    print(f"\n== {name} ({seconds:.0f} s, load average {load[0]:.1f} -> {load[1]:.1f})")
    table = [[str(column) for column in report.columns]]
    table += [[_spell(cell) for cell in row] for row in report.rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    for row in table:
        first, *others = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join([first, *(cell.strip().rjust(len(cell)) for cell in others)]).rstrip())
    for note in report.notes:
        print(f"   {note}")
    line = {"benchmark": name, "load_before": load[0], "load_after": load[1], **report.figures}
    print(json.dumps(line), flush=True)


def _spell(cell: Cell) -> str:
    if isinstance(cell, float):
        return f"{cell:,.2f}" if abs(cell) < 100 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


# ---- Processes ----------------------------------------------------------------------------------


def cpu_seconds(pid: int, *, with_ended: bool = False) -> float:
    """User and system time so far of a process and of its living children; `with_ended`, also of
    the children that it has had."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    ticks = sum(map(int, fields[11 : 15 if with_ended else 13]))
    own = ticks / os.sysconf("SC_CLK_TCK")
    return own + sum(cpu_seconds(child, with_ended=with_ended) for child in _children(pid))


def resident_mb(pid: int) -> float:
    """Memory that is held in RAM."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    return [int(child) for child in listed.split()]
