"""What is done to the stack, when, and whom it hit."""

import heapq
import os
import random
import signal
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

import redis

from benchmarks.chaos.posting import post_json
from benchmarks.chaos.presence import Presence
from benchmarks.chaos.stack import Stack, Worker

WEB_KILLED = "Daphne SIGKILL"


@dataclass
class Fault:
    """One fault and what it may have held up: executions, or sessions that ran none just then."""

    kind: str
    at: float
    executions: frozenset[uuid.UUID] = frozenset()
    sessions: frozenset[uuid.UUID] = frozenset()
    is_of_worker: bool = False
    """Its executions lost their worker, so that whatever hit them before is of the past."""
    is_to_end: bool = False
    """Meant to end its sessions, so that nothing less counts as getting on."""


@dataclass
class Injector:
    """Injects one fault after the other, and undoes in time what has to be undone."""

    stack: Stack
    schedule: random.Random
    """Of which fault comes when: never asked about what the stack does, so a seed repeats it."""
    targets: random.Random
    freeze_seconds: float
    done: list[Fault] = field(default_factory=list)
    skipped: int = 0
    sigterm_exits: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    cancelled: set[uuid.UUID] = field(default_factory=set)
    presence: Presence = field(default_factory=Presence)

    def __post_init__(self) -> None:
        self._later: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._kinds: dict[str, Callable[[str], bool]] = {
            "worker SIGKILL": self._kill_worker,
            "worker SIGTERM": self._end_worker,
            "worker SIGSTOP past its lease": self._freeze_worker,
            "Redis FLUSHALL": self._flush,
            "Redis CLIENT KILL": self._cut_redis,
            "PostgreSQL backends killed": self._cut_postgres,
            WEB_KILLED: self._kill_web,
            "session cancelled": self._cancel,
        }
        self._bag: list[str] = []

    @property
    def kinds(self) -> list[str]:
        return list(self._kinds)

    def inject(self) -> None:
        """The next fault; each kind comes once before one comes again."""
        if not self._bag:
            self._bag = list(self._kinds)
            self.schedule.shuffle(self._bag)
        kind = self._bag.pop()
        if not self._kinds[kind](kind):
            self.skipped += 1

    def tend(self) -> None:
        """Do what has come due: thaw what was frozen, see whether what was told to end has.

        And look whether there is a worker.
        """
        while self._later and self._later[0][0] <= time.monotonic():
            heapq.heappop(self._later)[2]()
        self.presence.note(is_there=bool(self.stack.ready_workers()), at=time.time())

    @property
    def is_settled(self) -> bool:
        return not self._later

    def _in(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._later, (time.monotonic() + seconds, next(self._numbers), act))

    # ---- Workers --------------------------------------------------------------------------------

    def _choose_worker(self) -> Worker | None:
        """One that is ready, if possible one that has something to lose."""
        ready = self.stack.ready_workers()
        busy = [worker for worker in ready if _executions_of(worker)]
        return self.targets.choice(busy or ready) if ready else None

    def _kill_worker(self, kind: str) -> bool:
        worker = self._choose_worker()
        if worker is None:
            return False
        self._note(kind, worker)
        worker.process.kill()
        self.stack.replace(worker)
        return True

    def _end_worker(self, kind: str) -> bool:
        worker = self._choose_worker()
        if worker is None:
            return False
        self._note(kind, worker)
        told = time.monotonic()
        worker.process.child.send_signal(signal.SIGTERM)
        self.stack.replace(worker)

        def see_end() -> None:
            waited = time.monotonic() - told
            if worker.process.child.poll() is not None:
                self.sigterm_exits.append(waited)
                if worker.process.child.returncode:
                    code = worker.process.child.returncode
                    self.failures.append(f"worker {worker.pid} ended with {code} after SIGTERM")
            elif waited < 15:
                self._in(0.1, see_end)
            else:
                self.failures.append(f"worker {worker.pid} ran on 15 s after SIGTERM")
                worker.process.kill()

        self._in(0.1, see_end)
        return True

    def _freeze_worker(self, kind: str) -> bool:
        worker = self._choose_worker()
        if worker is None:
            return False
        self._note(kind, worker)
        worker.freeze()
        self._in(self.freeze_seconds, worker.thaw)
        return True

    # ---- Servers --------------------------------------------------------------------------------

    def _flush(self, kind: str) -> bool:
        self._note(kind)
        with _redis() as client:
            client.flushall()
        return True

    def _cut_redis(self, kind: str) -> bool:
        self._note(kind)
        with _redis() as client:
            for each in ("normal", "pubsub"):
                client.execute_command("CLIENT", "KILL", "TYPE", each, "SKIPME", "yes")
        return True

    def _cut_postgres(self, kind: str) -> bool:
        from django.db import connection

        self._note(kind)
        # Not those of the server itself: autovacuum may be ended by few.
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                " AND backend_type = 'client backend'"
            )
        return True

    def _kill_web(self, kind: str) -> bool:
        web = self.stack.web
        if web is None or "Listening on TCP" not in web.output:
            return False
        self.done.append(Fault(kind, time.time()))
        web.kill()
        self.stack.start_web()
        return True

    # ---- Sessions -------------------------------------------------------------------------------

    def _cancel(self, kind: str) -> bool:
        from investigations.models import AlertSession

        status = self.targets.choice(("pending", "in_progress", "in_progress"))
        running = AlertSession.objects.exclude(status__in=AlertSession.TERMINAL)
        found = list(running.filter(status=status).order_by("created_at").values_list("id"))
        if not found:
            return False
        [session_id] = self.targets.choice(found)
        at = time.time()
        code, _ = post_json(self.stack.url(f"/api/v1/sessions/{session_id}/cancel"), {})
        if code != 200:
            return False  # It has just ended, or nobody listens; then nothing was promised.
        self.cancelled.add(session_id)
        hit = frozenset({session_id})
        self.done.append(Fault(kind, at, sessions=hit, is_to_end=True))
        return True

    # ---- Whom it hits ---------------------------------------------------------------------------

    def _note(self, kind: str, worker: Worker | None = None) -> None:
        """Write down, before it happens, whom a fault of a worker or of a server hits."""
        from investigations.models import AgentExecution, AlertSession

        at = time.time()
        running = AgentExecution.objects.filter(status__in=AgentExecution.OPEN)
        between = AlertSession.objects.exclude(status__in=AlertSession.TERMINAL).exclude(
            pk__in=running.values("session_id")
        )
        hit = running.values_list("id", flat=True) if worker is None else _executions_of(worker)
        sessions = frozenset(between.values_list("id", flat=True))
        self.done.append(Fault(kind, at, frozenset(hit), sessions, is_of_worker=worker is not None))


def _executions_of(worker: Worker) -> list[uuid.UUID]:
    from investigations.models import AgentExecution

    owned = AgentExecution.objects.filter(status="active", worker_id__contains=f"-{worker.pid}-")
    return list(owned.values_list("id", flat=True))


def _redis() -> redis.Redis:
    return redis.Redis.from_url(os.environ["REDIS_URL"])
