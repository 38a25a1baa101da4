"""Masking: megabytes per second on ordinary text, and seconds for ten hostile megabytes."""

import base64
import json
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress

from benchmarks.figures import Report
from benchmarks.lab import Lab
from masking import Masker, TooMuchToMask, build_default_masker
from masking.token_rule import TokenRule
from masking.tokens import TOKEN_RULES

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
    "rows of databases": "INSERT INTO t (id, password) VALUES (1, ((((((((\n",
    "commands that print secrets": f"cat {'/secrets/key' * 31}&.\n",
    "escaped quotes and words": 'C:\\Users\\a\\n\\"x y\\" ',
}
_VOCABULARY = (
    "the request failed because pod restarted node memory pressure evicted image pull error "
    "timeout connection refused token expired password reset user login session key rotated secret "
    "volume config map value host port service endpoint retry deploy status ready trace id auth api"
)
WORDS = _VOCABULARY.split()


def measure(lab: Lab) -> Report:
    masker = build_default_masker()
    size = lab.choose(4, 1) * MB
    text = _make_mixed_text(size)
    masker.mask(text[:100_000])  # compile what is compiled at first use
    floor = _rate(lambda: re.sub(r"password=(\w+)", "x", text), len(text))
    rate = _rate(lambda: masker.mask(text), len(text))
    alternation = re.compile("|".join(f"(?:{rule.pattern})" for rule in _python_rules()), re.I)
    part = text[: MB // 4]
    standard = _rate(lambda: [alternation.sub("x", line) for line in part.split("\n")], len(part))
    alert = "".join(f"password=Abc{number:05d}x\n" for number in range(45_000))
    alert_seconds = _seconds(lambda: masker.mask_alert(alert))
    rows: list[list[str | float]] = [
        ["mixed logs and JSON, MB/s", rate],
        ["floor: one re.sub over it, MB/s", floor],
        ["its patterns as one alternation of the standard library, MB/s", standard],
        ["an alert of 45,000 secrets, s", alert_seconds],
    ]
    figures: dict[str, float | int | None] = {
        "mixed_mb_per_s": round(rate, 2),
        "floor_mb_per_s": round(floor, 2),
        "alternation_mb_per_s": round(standard, 3),
        "alert_of_45000_secrets_s": round(alert_seconds, 3),
    }
    unseen_bytes = lab.choose(1, 1) * MB
    for name, make_line in UNSEEN.items():
        pick = random.Random(5)
        unseen = _fill(unseen_bytes, lambda make=make_line, pick=pick: make(pick))
        seconds = _seconds(lambda text=unseen: masker.mask_alert(text))
        rows.append([f"an alert of {unseen_bytes // MB} MB of {name}, s", seconds])
        figures[f"unseen_{name.replace(' ', '_')}_s"] = round(seconds, 3)
    hostile_bytes = lab.choose(10, 1) * MIB
    for name, piece in HOSTILE.items():
        hostile = (piece * (hostile_bytes // len(piece) + 1))[:hostile_bytes]
        seconds = _seconds(lambda text=hostile: _mask_or_withhold(masker, text))
        rows.append([f"{hostile_bytes // MIB} MiB of {name}, s", seconds])
        figures[f"hostile_{name.replace(' ', '_')}_s"] = round(seconds, 3)
    notes = ("CPU seconds of one core, so that other load on the machine does not count.",)
    return Report(("text", "measured"), rows, figures, notes)


def _seconds(work: Callable[[], object]) -> float:
    """Of CPU."""
    began = time.process_time()
    work()
    return time.process_time() - began


def _mask_or_withhold(masker: Masker, text: str) -> None:
    """Withheld at once is as good an answer as masked."""
    with suppress(TooMuchToMask):
        masker.mask(text)


def _fill(size: int, make: Callable[[], str]) -> str:
    pieces: list[str] = []
    length = 0
    while length < size:
        pieces.append(make())
        length += len(pieces[-1])
    return "".join(pieces)[:size]


def _words(pick: random.Random, count: int) -> list[str]:
    return [pick.choice(WORDS) for _ in range(count)]


def _hex_line(pick: random.Random) -> str:
    data = " ".join(f"{byte:02x}" for byte in pick.randbytes(16))
    return (
        f"{pick.randrange(2**32):08x}  {data}  |{''.join(map(chr, pick.choices(PRINTED, k=16)))}|\n"
    )


PRINTED = range(33, 127)
UNSEEN: dict[str, Callable[[random.Random], str]] = {
    "base64 in one line": lambda pick: base64.b64encode(pick.randbytes(3000)).decode(),
    "base64 in lines": lambda pick: base64.b64encode(pick.randbytes(57)).decode() + "\n",
    "random characters": lambda pick: "".join(map(chr, pick.choices(range(32, 127), k=80))),
    "random lines": lambda pick: "".join(map(chr, pick.choices(range(32, 127), k=80))) + "\n",
    "minified JSON": lambda pick: json.dumps(
        {word: pick.random() for word in _words(pick, 5)}, separators=(",", ":")
    ),
    "words": lambda pick: " ".join(_words(pick, 12)) + pick.choice([". ", ", ", ": ", "=", "\n"]),
    "hex dumps": _hex_line,
    "URLs": lambda pick: "https://{}.example.com/{}?{}={}&{}={}\n".format(*_words(pick, 6)),
    "pairs": lambda pick: " ".join(f"{word}={pick.random()}" for word in _words(pick, 9)) + "\n",
    "JSON in strings": lambda pick: json.dumps(json.dumps({"a": _words(pick, 4)})) + "\n",
    "sources": lambda pick: "    self.{} = {}(key={}['{}'])\n".format(*_words(pick, 4)),
}
"""Plausible texts that no automaton has seen the like of."""


def _python_rules() -> list[TokenRule]:
    """The rules whose patterns the standard library can join: flags only stand at its beginning."""
    return [rule for rule in TOKEN_RULES if "(?i" not in rule.pattern]


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
