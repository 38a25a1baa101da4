"""An execution's trail: what the gate notes, kept with the journal's next row or at once."""

from collections.abc import Mapping, Sequence

from investigations.models import AgentExecution
from investigations.services.gate_records import SafetyRecord, record_acts
from safety.gate.events import SafetyAct
from tarsy.aio import WorkerLoop


class ExecutionTrail:
    """`safety.gate.events.SafetyEvents` over the database.

    The journal takes what waits along with the row it writes; so a refusal costs no transaction of
    its own, and no result is kept without what the gate did about it. `commit` raises LeaseLost
    once the lease is gone.
    """

    def __init__(
        self, execution: AgentExecution, loop: WorkerLoop, numbers: Mapping[str, int]
    ) -> None:
        self._execution = execution
        self._loop = loop
        self._numbers = dict(numbers)
        self._waiting: list[SafetyRecord] = []

    def learn(self, numbers: Mapping[str, int]) -> None:
        """The numbers of calls that were just proposed, by call id."""
        self._numbers.update(numbers)

    def note(self, act: SafetyAct) -> None:
        counts = tuple((each.counter, each.labels) for each in act.counts)
        number = self._numbers.get(act.call_id)
        self._waiting.append(SafetyRecord(act.kind, number, act.facts, counts))

    async def commit(self) -> None:
        if not self._waiting:
            return
        acts = self.take()
        try:
            await self._loop.db(record_acts, self._execution, acts)
        except Exception:
            self._waiting[:0] = acts
            raise

    def take(self) -> Sequence[SafetyRecord]:
        """What waits to be kept; whoever takes it keeps it."""
        acts, self._waiting = self._waiting, []
        return acts
