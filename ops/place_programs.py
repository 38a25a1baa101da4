"""Fixed commands that only read, wherever a resource is: what they print, or why they did not."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ops.envelope import Json, ToolFailure
from ops.executors.base import Executor

_SECONDS = 10.0
_MAX_BYTES = 1 << 20
_MAX_REASON_CHARS = 200


@dataclass
class PlacePrograms:
    """Programs of one place, some of which may not be there or may not answer."""

    executor: Executor
    place: str
    missing: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)

    async def ask(
        self, *argv: str, seconds: float = _SECONDS, takes_part: bool = False
    ) -> str | None:
        """What a program prints; None where it is not there or fails, which is kept.

        `takes_part`: also what it prints although it says that it failed, as for one of many names.
        Raises `ToolFailure` where the way itself is broken.
        """
        program = argv[0]
        try:
            finished = await self.executor.run(argv, seconds=seconds, max_bytes=_MAX_BYTES)
        except ToolFailure as failure:
            if failure.details.get("program") != program:
                raise
            self.missing.append(program)
            return None
        if finished.exit_code in (126, 127):
            self.missing.append(program)
            return None
        if finished.exit_code != 0 and not (takes_part and finished.exit_code is not None):
            said = finished.stderr.decode("utf-8", "replace").strip() or "it gave no reason"
            late = f"no answer within {seconds:.0f} s"
            self.failed[program] = late if finished.timed_out else said[:_MAX_REASON_CHARS]
            return None
        return finished.stdout.decode("utf-8", "replace")

    def no_answer(self, what: str) -> ToolFailure:
        """Why there is no answer at all."""
        reasons = [f"{program}: {reason}" for program, reason in self.failed.items()]
        if reasons:
            return ToolFailure(
                "EXECUTION_FAILED",
                f"{self.place} does not tell its {what}. {'; '.join(reasons)}",
                retryable=True,
                details={"target_host": self.place},
            )
        programs: list[Json] = list(dict.fromkeys(self.missing))
        return ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"{self.place} has no {' or '.join(map(str, programs))}, so its {what} cannot be seen.",
            details={"target_host": self.place, "programs": programs},
        )

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(f"{program} did not answer: {why}" for program, why in self.failed.items())


def read_table(text: str, *names: str, separator: str | None = None) -> list[dict[str, str]]:
    """Rows of words under these names; lines with fewer words are passed over."""
    rows = []
    for line in text.splitlines():
        words = line.strip().split(separator, len(names) - 1)
        if len(words) == len(names):
            rows.append({name: word.strip() for name, word in zip(names, words, strict=True)})
    return rows


def number_of(text: str) -> int | float | None:
    """`12`, `12.5` and `12%` as numbers; None for what is none."""
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    return int(value) if value.is_integer() else value


def as_rows(rows: Sequence[dict[str, str]], *numbers: str) -> list[Json]:
    """The same with these columns as numbers."""
    return [
        {name: number_of(word) if name in numbers else word for name, word in row.items()}
        for row in rows
    ]
