"""What is sent through Redis, with Redis and without: nobody who sends ever hears of it."""

import uuid
from collections.abc import Iterator

import pytest
import redis
from django.conf import settings
from django.db import transaction

from investigations import doorbell, queue
from investigations.engine import worker
from tarsy.celery import app
from tests.investigations.engine import committed, sent
from tests.processes import find_free_port

pytestmark = pytest.mark.django_db

SESSION = uuid.uuid4()
SENDERS = {
    "stage": lambda: queue.enqueue_stage(uuid.uuid4(), [uuid.uuid4()]),
    "stage of many": lambda: queue.enqueue_stage(uuid.uuid4(), [uuid.uuid4() for _ in range(3)]),
    "execution": lambda: queue.enqueue_execution(uuid.uuid4(), uuid.uuid4()),
    "cancel": lambda: queue.broadcast_cancel(SESSION),
    "publish": lambda: doorbell.publish([("sessions", "{}")]),
    "publish_and_ring": lambda: doorbell.publish_and_ring([]),
    "presence": lambda: worker._tell_presence(3),
}


@pytest.fixture
def no_redis(settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Everything that sends finds a closed port."""
    url = f"redis://127.0.0.1:{find_free_port()}/0"
    settings.REDIS_URL = url
    doorbell._client.cache_clear()
    monkeypatch.setattr(app.conf, "broker_url", url)
    with app.connection_for_write(url) as broker:
        pool = broker.Pool(1)
        monkeypatch.setattr(app.amqp, "_producer_pool", None)
        monkeypatch.setattr(app, "_pool", pool)
        monkeypatch.setattr(
            app._local, "backend", type(app.backend)(app=app, url=url), raising=False
        )
        yield
        pool.force_close_all()
    doorbell._client.cache_clear()


@pytest.mark.parametrize("send", SENDERS.values(), ids=SENDERS.keys())
def test_without_redis_a_sender_goes_on(
    send, no_redis: None, django_capture_on_commit_callbacks, caplog
):
    with django_capture_on_commit_callbacks(execute=True) as callbacks:
        send()
        transaction.on_commit(lambda: None)

    assert callbacks
    assert {record.levelname for record in caplog.records if "investigations" in record.name} == {
        "WARNING"
    }


def test_without_redis_nobody_knows_what_waits(no_redis: None):
    assert queue.find_waiting() is None


def test_of_too_many_messages_nobody_knows_which_wait(
    clean_redis: redis.Redis, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(queue, "MOST_READ", 1)
    clean_redis.rpush("celery", '{"headers": {}}', '{"headers": {}}')

    assert queue.find_waiting() is None


@committed
def test_a_stage_is_sent_on_commit_and_carries_only_ids(clean_redis: redis.Redis):
    stage, executions = uuid.uuid4(), [uuid.uuid4(), uuid.uuid4()]

    with transaction.atomic():
        queue.enqueue_stage(stage, executions)
        assert sent(clean_redis) == []

    assert sent(clean_redis) == [("run_execution", str(each)) for each in executions]
    assert queue.find_waiting() == {str(each) for each in executions}


@committed
def test_what_is_rolled_back_is_not_sent(clean_redis: redis.Redis):
    def send_and_fail() -> None:
        with transaction.atomic():
            queue.enqueue_stage(uuid.uuid4(), [uuid.uuid4()])
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        send_and_fail()

    assert sent(clean_redis) == []


@committed
def test_a_sender_subscribes_to_no_results(clean_redis: redis.Redis):
    """Each subscription would stay for as long as the process lives."""
    for _ in range(3):
        queue.enqueue_stage(uuid.uuid4(), [uuid.uuid4(), uuid.uuid4()])

    assert clean_redis.pubsub_channels("celery-task-meta-*") == []
    assert settings.CELERY_RESULT_BACKEND.startswith("tarsy.chord_counter.ChordCounter+")


def test_what_beat_sends_is_a_task_of_ours():
    app.loader.import_default_modules()

    assert {each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()} <= set(app.tasks)
