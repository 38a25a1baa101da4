"""A worker process has one name, whoever asks for it first."""

from investigations.engine import worker
from tests.investigations.engine import run_at_once


def test_threads_that_ask_at_once_hear_one_name():
    for _ in range(50):
        worker._make_worker_id.cache_clear()

        names = run_at_once(*[worker.worker_id] * 6)

        assert len(set(names)) == 1
