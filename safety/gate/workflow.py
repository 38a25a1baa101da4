"""How far an execution has come: RESOLVING, READING, WRITING, VERIFYING.

Pure values: every step gives a new one, so that the stored calls of an interrupted execution,
taken in order, lead to the state it had.
"""

from dataclasses import asdict, dataclass, replace
from typing import Literal

from agents.types import JSON
from safety.tool_rules import ToolClass

State = Literal["RESOLVING", "READING", "WRITING", "VERIFYING"]


@dataclass(frozen=True)
class Workflow:
    """The fields of the trace. Times are seconds of the monotonic clock the gate was given."""

    state: State = "RESOLVING"
    wrote_this_episode: bool = False
    read_after_write: bool = False
    consecutive_verify_blocks: int = 0
    last_write_tool: str = ""
    last_write_at: float | None = None
    last_read_tool: str = ""
    last_read_at: float | None = None

    def find_block(self, kind: ToolClass) -> str:
        """Why a call of this class may not run now; empty where it may."""
        if kind != "write" or self.state == "READING":
            return ""
        match self.state:
            case "RESOLVING":
                return "no resource was resolved and nothing was read in this execution yet"
            case "WRITING":
                return f"the write {self.last_write_tool} has not ended"
            case _:
                return f"no read has succeeded since the write {self.last_write_tool}"

    @property
    def may_answer(self) -> bool:
        """Whether a final answer may pass: never while the last write is unconfirmed."""
        return self.state not in ("WRITING", "VERIFYING") or self.read_after_write

    def count_block(self) -> "Workflow":
        """A write was refused. Counted for the trace; no number of refusals waives anything."""
        if self.state != "VERIFYING":
            return self
        return replace(self, consecutive_verify_blocks=self.consecutive_verify_blocks + 1)

    def begin_write(self, tool: str) -> "Workflow":
        """A write was let through and is under way."""
        return replace(self, state="WRITING", last_write_tool=tool)

    def abandon_write(self, before: "Workflow") -> "Workflow":
        """The write that was let through did not run after all."""
        return replace(
            self,
            state="READING",
            last_write_tool=before.last_write_tool,
            last_write_at=before.last_write_at,
        )

    def note_undone(self) -> "Workflow":
        """A write that was let through was not carried out, so there is nothing to verify."""
        return replace(self, state="READING") if self.state == "WRITING" else self

    def note_write(self, tool: str, at: float) -> "Workflow":
        """A write reached its server; whatever it answered has to be verified."""
        return replace(
            self,
            state="VERIFYING",
            wrote_this_episode=True,
            read_after_write=False,
            consecutive_verify_blocks=0,
            last_write_tool=tool,
            last_write_at=at,
        )

    def note_read(self, tool: str, at: float, *, verifies: bool = True) -> "Workflow":
        """A resolve or a read succeeded; `verifies` when it began after the last write ended."""
        read = replace(self, last_read_tool=tool, last_read_at=at)
        if self.state == "RESOLVING":
            return replace(read, state="READING")
        if self.state == "VERIFYING" and verifies:
            return replace(read, read_after_write=True, consecutive_verify_blocks=0)
        return read

    def complete_verification(self) -> "Workflow":
        """Go on reading and writing. To be called as soon as the verifying read succeeded."""
        if self.state != "VERIFYING" or not self.read_after_write:
            return self
        return replace(self, state="READING", read_after_write=False, consecutive_verify_blocks=0)

    def reset(self, *, keep_progress: bool = False) -> "Workflow":
        """Begin anew; with `keep_progress` resolved resources are left, so reading goes on."""
        if not keep_progress:
            return Workflow()
        state: State = "READING" if self.state == "VERIFYING" else self.state
        return replace(self, state=state, wrote_this_episode=False, read_after_write=False)

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)
