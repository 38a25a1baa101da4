"""The worker of gunicorn that serves HTTP: it leaves to others what it has no thread for."""

from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker
from typing_extensions import override


class EvenWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Accepts a connection only while one of its threads is idle.

    A kept connection stays with the process that accepted it. By itself, the process that happens
    to be quicker accepts nearly all that are opened at the same moment: they wait for each other
    there for as long as they are kept, while the other process has nothing to do.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._in_hand = 0

    @override
    def enqueue_req(self, conn: TConn) -> None:
        self._in_hand += 1
        super().enqueue_req(conn)
        if self._in_hand >= self.cfg.threads:
            super().set_accept_enabled(False)

    @override
    def finish_request(self, conn: TConn, fs: Any) -> None:
        self._in_hand -= 1
        super().finish_request(conn, fs)

    @override
    def set_accept_enabled(self, enabled: bool) -> None:
        """The loop asks for it in each round in which it differs from what is."""
        super().set_accept_enabled(enabled and self._in_hand < self.cfg.threads)
