"""What a worker does with messages whose connection is gone."""

import redis
from kombu import Queue

from tarsy.worker import app


def test_a_task_that_outlives_its_connection_is_acknowledged_without_an_error(
    clean_redis: redis.Redis,
) -> None:
    queue = Queue("outlived", routing_key="outlived")
    with app.connection_for_read() as broker:
        channel = broker.channel()
        bound = queue(channel)
        bound.declare()
        for number in range(2):
            broker.Producer(channel).publish(number, routing_key="outlived")
        messages = [bound.get(no_ack=False), bound.get(no_ack=False)]
        assert [message.payload for message in messages] == [0, 1]

        channel.close()
        messages[0].ack()
        messages[1].reject(requeue=True)

    assert clean_redis.hlen("unacked") == 2, "Redis delivers them again, to whoever is there"


def test_a_task_that_ends_on_its_connection_is_acknowledged(clean_redis: redis.Redis) -> None:
    queue = Queue("in-time", routing_key="in-time")
    with app.connection_for_read() as broker:
        channel = broker.channel()
        bound = queue(channel)
        bound.declare()
        broker.Producer(channel).publish(1, routing_key="in-time")
        message = bound.get(no_ack=False)
        assert message is not None

        message.ack()

        assert clean_redis.hlen("unacked") == 0
        channel.close()
