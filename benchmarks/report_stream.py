"""How late the words of a report reach the page, for what the masker holds back of them."""

import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from benchmarks.figures import Report
from benchmarks.lab import Lab
from masking import StreamMasker, build_default_masker
from masking.stream import NOT_YET

REPORTS = Path(__file__).parents[1] / "tests" / "masking" / "reports"
TOKENS_A_SECOND = 40
TOGETHER = TOKENS_A_SECOND // 10
"""Tokens that are shown together: a hundred milliseconds of them."""
LATE = 0.5


def measure(lab: Lab) -> Report:
    rows: list[list[str | int | float]] = []
    total = late = marks = 0
    longest = 0.0
    for path in sorted(REPORTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        played = _Playing(text)
        rows.append(
            [path.stem, len(text), played.late, 100 * played.late / len(text), played.stood,
             played.marks, played.cpu / played.pieces * 1e6]
        )  # fmt: skip
        total, late, marks = total + len(text), late + played.late, marks + played.marks
        longest = max(longest, played.stood)
    figures: dict[str, float | int | None] = {
        "late_percent": round(100 * late / total, 2),
        "longest_standstill_s": round(longest, 2),
        "not_shown_until_the_end": marks,
    }
    columns = ("report", "characters", "late", "% late", "longest standstill s", "left out", "us")
    notes = (
        f"Played at {TOKENS_A_SECOND} tokens a second; late is more than {LATE} s after the model "
        "said it; us: CPU for each 100 ms.",
        f"{figures['late_percent']} % late of {total:,} characters. Goal: under 1 %.",
    )
    return Report(columns, rows, figures, notes)


class _Playing:
    """A report said token by token, by a clock that is only counted."""

    def __init__(self, text: str) -> None:
        masker = StreamMasker(build_default_masker().cover)
        self.late = self.marks = self.pieces = 0
        self.stood = self.cpu = last = 0.0
        said_at: list[float] = []
        shown = 0
        tokens = list(_tokens(text))
        for start in range(0, len(tokens), TOGETHER):
            together = tokens[start : start + TOGETHER]
            for number, token in enumerate(together, start):
                said_at += [number / TOKENS_A_SECOND] * len(token)
            now = (start + len(together) - 1) / TOKENS_A_SECOND
            began = time.thread_time()
            came = masker.add("".join(together))
            self.cpu += time.thread_time() - began
            self.pieces += 1
            self.marks += came.count(NOT_YET)
            upto = shown + len(came)
            self.late += sum(now - at > LATE for at in said_at[shown:upto])
            if came:
                self.stood, last = max(self.stood, now - last), now
            shown = upto


def _tokens(text: str) -> Iterator[str]:
    # The encoding comes with litellm: nothing is fetched, and it need not be imported.
    found = find_spec("litellm")
    if found is None or found.origin is None:
        raise RuntimeError("litellm is not installed")
    tokenizers = Path(found.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(tokenizers)
    import tiktoken

    encoding = tiktoken.get_encoding("cl100k_base")
    waiting = b""
    for token in encoding.encode(text, disallowed_special=()):
        waiting += encoding.decode_single_token_bytes(token)
        try:
            yield waiting.decode()
        except UnicodeDecodeError:
            continue
        waiting = b""
