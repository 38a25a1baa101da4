"""One loop for all agents of a process: stops have reasons, connections have a bound."""

import asyncio
import contextvars
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest
from django.conf import settings
from django.db import connection, connections

from tarsy import aio
from tarsy.aio import WorkerLoop
from tests.processes import wait_for

BOUND = 20


def run_in_thread(loop: WorkerLoop, key, main):
    return ThreadPoolExecutor(1).submit(loop.run, key, main)


def wait_until_running(loop: WorkerLoop, *keys: str) -> None:
    wait_for(lambda: set(keys) <= set(loop.running_keys()), what=f"{keys} to run")


def test_a_coroutine_gives_its_result_and_its_error_to_the_thread(loop: WorkerLoop):
    async def answer():
        return 42

    async def fail():
        raise ValueError("no")

    assert loop.run("a", answer) == 42
    with pytest.raises(ValueError, match="no"):
        loop.run("b", fail)
    assert loop.running_keys() == []


def test_what_is_stopped_learns_why_and_the_first_reason_counts(loop: WorkerLoop):
    async def wait_for_stop(key):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            loop.stop(key, "interrupted")
            return loop.stop_reason(key)

    running = {
        key: run_in_thread(loop, key, lambda key=key: wait_for_stop(key))
        for key in ("cancelled", "lease_lost")
    }
    wait_until_running(loop, *running)
    for key in running:
        loop.stop(key, key)
    loop.stop("nothing runs under this key", "cancelled")

    assert {key: future.result(BOUND) for key, future in running.items()} == {
        "cancelled": "cancelled",
        "lease_lost": "lease_lost",
    }
    assert loop.stop_reason("cancelled") is None


def test_stopping_all_stops_what_runs_and_what_comes_later(loop: WorkerLoop):
    async def say_why(key):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return loop.stop_reason(key)

    first = run_in_thread(loop, "first", lambda: say_why("first"))
    wait_until_running(loop, "first")
    assert not loop.is_stopping

    loop.stop_all("interrupted")

    assert loop.is_stopping
    assert first.result(BOUND) == "interrupted"
    assert run_in_thread(loop, "late", lambda: say_why("late")).result(BOUND) == "interrupted"


def test_a_coroutine_that_does_not_mind_a_stop_raises_in_its_thread(loop: WorkerLoop):
    async def wait():
        await asyncio.Event().wait()

    future = run_in_thread(loop, "a", wait)
    wait_until_running(loop, "a")
    loop.stop("a", "cancelled")

    with pytest.raises(CancelledError):
        future.result(BOUND)
    assert loop.running_keys() == []


def test_a_database_call_that_began_ends_before_a_stop_goes_on(loop: WorkerLoop):
    began, may_end, ended = threading.Event(), threading.Event(), threading.Event()

    def write():
        began.set()
        assert may_end.wait(BOUND)
        ended.set()

    async def main():
        try:
            await loop.db(write)
        except asyncio.CancelledError:
            return "ended" if ended.is_set() else "cut off"

    future = run_in_thread(loop, "a", main)
    assert began.wait(BOUND)
    loop.stop("a", "interrupted")
    loop.run("b", lambda: asyncio.sleep(0))  # The stop has been delivered by now.
    assert not future.done()
    may_end.set()

    assert future.result(BOUND) == "ended"


def test_a_database_call_that_waits_for_a_thread_is_not_dropped_by_a_stop(loop: WorkerLoop):
    may_end = threading.Event()
    written = []

    async def main():
        blockers = [loop.db(may_end.wait, BOUND) for _ in range(settings.DATABASE_THREADS)]
        busy = asyncio.gather(*blockers)
        await asyncio.sleep(0)
        try:
            await loop.db(written.append, "written")
        except asyncio.CancelledError:
            await busy
            return list(written)

    future = run_in_thread(loop, "a", main)
    wait_until_running(loop, "a")
    loop.stop("a", "interrupted")
    may_end.set()

    assert future.result(BOUND) == ["written"]


def test_an_error_of_a_database_call_reaches_its_caller(loop: WorkerLoop):
    def fail():
        raise LookupError("no row")

    async def main():
        await loop.db(fail)

    with pytest.raises(LookupError, match="no row"):
        loop.run("a", main)


def test_log_context_goes_along_into_the_database_thread(loop: WorkerLoop):
    session: contextvars.ContextVar[str] = contextvars.ContextVar("session", default="")

    async def main():
        session.set("1a2b")
        return await loop.db(session.get)

    assert loop.run("a", main) == "1a2b"


def read_backend_pid() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end_backends(pids: set[int]) -> None:
    """End them and wait until they are gone: one that is still ending takes another query."""
    milliseconds = BOUND * 1000
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT bool_and(pg_terminate_backend(pid, %s)) FROM unnest(%s) AS pid",
            [milliseconds, list(pids)],
        )
        assert cursor.fetchone() == (True,)


async def ask_often(loop: WorkerLoop, times: int) -> set[int]:
    return set(await asyncio.gather(*(loop.db(read_backend_pid) for _ in range(times))))


@pytest.mark.django_db(transaction=True, available_apps=["investigations"])
def test_many_calls_share_a_fixed_number_of_connections_and_survive_their_loss(
    loop: WorkerLoop, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "CONN_MAX_AGE", 60)
        pids = loop.run("a", lambda: ask_often(loop, 50))
        assert 1 <= len(pids) <= settings.DATABASE_THREADS

        end_backends(pids)

        again = loop.run("b", lambda: ask_often(loop, 50))
        assert not again & pids
        close_connections_of(loop)


def close_connections_of(loop: WorkerLoop) -> None:
    """Reach each thread once, by holding all of them at the same time."""
    gate = threading.Barrier(settings.DATABASE_THREADS)

    def close() -> None:
        gate.wait(BOUND)
        connections.close_all()

    async def main():
        await asyncio.gather(*(loop.db(close) for _ in range(settings.DATABASE_THREADS)))

    loop.run("close", main)


def test_threads_outside_the_loop_use_the_same_database_threads(loop: WorkerLoop):
    names = {
        loop.run_in_database_thread(lambda: threading.current_thread().name) for _ in range(20)
    }
    assert len(names) <= settings.DATABASE_THREADS
    assert all(name.startswith("db") for name in names)


def test_messages_go_out_in_order_and_too_many_are_dropped(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(aio, "MAX_UNSENT", 2)
    loop = WorkerLoop()
    is_sending, may_send, sent = threading.Event(), threading.Event(), []

    def wait(_):
        is_sending.set()
        may_send.wait(BOUND)

    loop.send_soon(wait, None)
    assert is_sending.wait(BOUND)
    for number in range(10):
        loop.send_soon(sent.extend, number)
    may_send.set()

    wait_for(lambda: len(sent) == 2, what="what was not dropped")
    wait_for(lambda: loop.send_soon(sent.extend, "later") or "later" in sent)
    assert sent[:2] == [0, 1]


def test_what_waits_for_one_sender_goes_out_together(loop: WorkerLoop):
    is_sending, may_send, batches = threading.Event(), threading.Event(), []

    def wait(_):
        is_sending.set()
        may_send.wait(BOUND)

    loop.send_soon(wait, None)
    assert is_sending.wait(BOUND)
    for number in range(3):
        loop.send_soon(batches.append, number)
    may_send.set()

    wait_for(lambda: batches == [[0, 1, 2]])


def test_a_message_that_cannot_be_sent_does_not_stop_the_next(loop: WorkerLoop):
    sent = []

    def fail(_):
        raise OSError("no Redis")

    loop.send_soon(fail, None)
    loop.send_soon(sent.extend, "next")

    wait_for(lambda: sent == ["next"])
