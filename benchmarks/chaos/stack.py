"""The processes of the product under faults: two workers, a web process, the model."""

import json
import os
import signal
import time
import urllib.request
from collections.abc import Collection
from pathlib import Path

from benchmarks.chaos.model import LOG_PATH, READY, ModelRequest
from benchmarks.chaos.presence import Start, read_starved
from benchmarks.lab import Lab
from benchmarks.scripts import Script
from tests.processes import Process, find_free_port

WORKERS = 2
RUN_VARIABLE = "TARSY_CHAOS_RUN"
"""Set in every process of a run to a value of its own, so that one left over can be found."""


class Worker:
    """A worker process and when it came to be what it is."""

    def __init__(self, lab: Lab) -> None:
        self._began = time.monotonic()
        self.process = lab.start_worker()
        self.is_stopped = False
        self.start: Start | None = None
        """What it took to be ready, once it is."""

    @property
    def pid(self) -> int:
        return self.process.child.pid

    def is_ready(self) -> bool:
        """It runs, and its threads do."""
        if self.process.child.poll() is not None or self.is_stopped:
            return False
        if self.start is None and " ready." in self.process.output:
            seconds = time.monotonic() - self._began
            self.start = Start(self.pid, seconds, read_starved(self.pid))
        return self.start is not None

    def freeze(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        self.is_stopped = True

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)
        self.is_stopped = False


class Stack:
    """Everything that runs; `stop` ends all of it, whatever state it is in."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.port = find_free_port()
        self.workers: list[Worker] = []
        self.web: Process | None = None
        self._model: Process | None = None
        self._every: list[tuple[str, Process]] = []
        self._every_worker: list[Worker] = []

    def start(self, script: Script) -> None:
        """Raises AssertionError with the log of what did not become ready."""
        path = self.lab.directory / "script.yaml"
        path.write_text(json.dumps(script), encoding="utf-8")
        arguments = ("--script", str(path), "--port", str(self.lab.model_port))
        self._model = Process(
            *("-m", "benchmarks.chaos.model", *arguments), environment=os.environ, ready=READY
        )
        self._keep("model", self._model)
        self.start_web()
        for _ in range(WORKERS):
            self.start_worker()
        for _, process in self._every:
            process.wait_until_ready()

    def start_worker(self) -> None:
        """Without waiting until it is ready."""
        worker = Worker(self.lab)
        self.workers.append(worker)
        self._every_worker.append(worker)
        self._keep("worker", worker.process)

    def start_web(self) -> None:
        self.web = self.lab.start_daphne(self.port)
        self._keep("web", self.web)

    def _keep(self, name: str, process: Process) -> None:
        self._every.append((name, process))

    def ready_workers(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.is_ready()]

    @property
    def starts(self) -> list[Start]:
        """Of every worker that there was and that was seen to be ready."""
        return [worker.start for worker in self._every_worker if worker.start is not None]

    def replace(self, worker: Worker) -> None:
        """Start another one in the place of a worker that has ended."""
        self.workers.remove(worker)
        self.start_worker()

    def find_died(self) -> list[Worker]:
        """Workers that ended though nobody ended them."""
        return [worker for worker in self.workers if worker.process.child.poll() is not None]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def model_log(self) -> list[ModelRequest]:
        page = f"http://127.0.0.1:{self.lab.model_port}{LOG_PATH}"
        with urllib.request.urlopen(page, timeout=20) as answer:
            return [ModelRequest(**entry) for entry in json.load(answer)]

    @property
    def started(self) -> int:
        """How many processes there were."""
        return len(self._every)

    def logs(self) -> list[tuple[str, str]]:
        """Name with process id, and output, of each process there was."""
        return [(f"{name}-{process.child.pid}", process.output) for name, process in self._every]

    def stop(self) -> None:
        """End all of it: politely, all at once, then by force."""
        alive = [process for _, process in self._every if process.child.poll() is None]
        for process in alive:
            os.kill(process.child.pid, signal.SIGCONT)
            process.child.send_signal(signal.SIGTERM)
        until = time.monotonic() + 15
        for process in alive:
            while process.child.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
            if process.child.poll() is None:
                process.kill()


def find_left_over(run: str, known: Collection[int] = ()) -> list[str]:
    """Processes that carry the mark of a run, or are known to be of it, as `pid command`."""
    mark = f"{RUN_VARIABLE}={run}".encode()
    found = []
    for directory in Path("/proc").iterdir():
        if not directory.name.isdigit() or int(directory.name) == os.getpid():
            continue
        try:
            is_marked = mark in (directory / "environ").read_bytes().split(b"\0")
            if not is_marked and int(directory.name) not in known:
                continue
            command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, UnicodeDecodeError):
            continue  # Ended in this moment, or not ours to look at.
        found.append(f"{directory.name} {command.strip()}")
    return found
