"""Which process of `pytest -n` runs which file, so that some wait while others compute.

End-to-end and browser tests wait for workers, pages and time limits. With every process at them at
once a part of the machine idles, and later there is nothing left to wait for while all of them
compute. So each third process takes the other files first. It starts no stack of the product then,
unless the files that wait are all that is left.

A file that cannot be imported ends the run before its first test, as it does without `-n`: nobody
should read after all the others that some were never run.
"""

import pytest
from typing_extensions import override
from xdist.dsession import DSession
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

ONE_IN = 3


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> "MixedScheduling | None":
    config.pluginmanager.register(UnreadableFiles(config.pluginmanager.getplugin("dsession")))
    return MixedScheduling(config, log) if config.getvalue("dist") == "loadfile" else None


class UnreadableFiles:
    """In the process that runs no tests itself; the others tell it what they could not collect."""

    def __init__(self, session: DSession) -> None:
        self._session = session

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._session.shouldstop = f"{report.nodeid} cannot be collected"


class MixedScheduling(LoadFileScheduling):
    """Whole files in their order, but for each third process, which takes those that wait last."""

    @override
    def _assign_work_unit(self, node: WorkerController) -> None:
        self.workqueue.move_to_end(self._choose_file(node), last=False)
        super()._assign_work_unit(node)

    def _choose_file(self, node: WorkerController) -> str:
        first = next(iter(self.workqueue))
        number = int(node.gateway.id.removeprefix("gw"))
        if number % ONE_IN != ONE_IN - 1:
            return first
        return next((file for file in self.workqueue if not _waits(file)), first)


def _waits(file: str) -> bool:
    """By its name, as only the processes that run tests know their marks."""
    return file.startswith(("tests/e2e/", "tests/embedded/")) or file.endswith("_browser.py")
