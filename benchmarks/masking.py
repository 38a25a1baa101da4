"""Masking: megabytes per second on ordinary text, and seconds for ten hostile megabytes."""

import json
import random
import re
import time
from collections.abc import Callable

from benchmarks.figures import Report
from benchmarks.lab import Lab
from mcp_bridge.masking import build_default_masker

MB = 1_000_000
MIB = 1024 * 1024

HOSTILE: dict[str, str] = {
    "one letter": "a",
    "open braces": "{",
    "open brackets": "[",
    "quotes": '"',
    "backslashes": "\\",
    "escaped quotes": '\\"',
    "spaces": " ",
    "empty lines": "\n",
    "names and equals": "password=",
    "colons": "a:",
    "assignments": "api_key=abcdefgh12345678\n",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo",
    "PEM heads": "-----BEGIN PRIVATE KEY-----\n",
    "Bearer": "Bearer ",
    "at signs": "a@",
    "deep keys": '{"a":',
    "YAML": "data:\n  key: value\n",
}


def measure(lab: Lab) -> Report:
    masker = build_default_masker()
    size = lab.choose(4, 1) * MB
    text = _make_mixed_text(size)
    masker.mask(text[:100_000])  # compile what is compiled at first use
    floor = _rate(lambda: re.sub(r"password=(\w+)", "x", text), len(text))
    rate = _rate(lambda: masker.mask(text), len(text))
    rows: list[list[str | float]] = [
        ["mixed logs and JSON, MB/s", rate],
        ["floor: one re.sub over it, MB/s", floor],
    ]
    figures: dict[str, float | int | None] = {
        "mixed_mb_per_s": round(rate, 2),
        "floor_mb_per_s": round(floor, 2),
    }
    hostile_bytes = lab.choose(10, 1) * MIB
    for name, piece in HOSTILE.items():
        began = time.process_time()
        masker.mask((piece * (hostile_bytes // len(piece) + 1))[:hostile_bytes])
        seconds = time.process_time() - began
        rows.append([f"{hostile_bytes // MIB} MiB of {name}, s", seconds])
        figures[f"hostile_{name.replace(' ', '_')}_s"] = round(seconds, 3)
    notes = ("CPU seconds of one core, so that other load on the machine does not count.",)
    return Report(("text", "measured"), rows, figures, notes)


def _rate(work: Callable[[], object], size: int) -> float:
    """Megabytes per second of CPU, the better of two."""
    took = []
    for _ in range(2):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return size / MB / min(took)


def _make_mixed_text(size: int) -> str:
    """Log lines, and JSON in between; a secret in one of a hundred lines."""
    pick = random.Random(11)
    lines: list[str] = []
    length = 0
    while length < size:
        line = _make_line(pick)
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)[:size]


def _make_line(pick: random.Random) -> str:
    number = pick.randrange(10**6)
    match pick.randrange(100):
        case 0:
            return f"2026-01-05T10:14:02Z app[{number}]: connecting with password=hunter{number}"
        case kind if kind < 30:
            record = {
                "ts": number,
                "level": "info",
                "msg": "request done",
                "path": f"/api/{number}",
            }
            return json.dumps(record | {"status": 200, "took_ms": number % 977})
        case _:
            return (
                f"2026-01-05T10:14:{number % 60:02d}Z node-{number % 9} kubelet[{number}]: "
                f"Pod default/web-{number:x} container app restarted, exit code {number % 255}"
            )
