# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ, other faults."""

import time

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    RABBIT_HOST,
    broker,
    consume,
    in_background,
    make_queue,
    publish,
    start_rabbit,
    tell_kafka,
)


def refused_messages_pile_up(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices.dead", 0)
    make_queue(
        "invoices",
        900,
        **{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "invoices.dead"},
    )
    consume("invoices", lambda m: m.reject(requeue=False), at_once=50)
    time.sleep(6)


def the_disk_is_nearly_full(machine: Machine) -> None:
    start_rabbit(machine, "disk_free_limit.absolute = 900GB")
    in_background(lambda: make_queue("invoices", 40))
    time.sleep(6)


def one_consumer_is_too_slow(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("thumbnails", 2500)
    consume("thumbnails", lambda m: (time.sleep(0.9), m.ack()), at_once=1)
    in_background(lambda: [(publish("thumbnails", 60), time.sleep(0.2)) for _ in range(60)])
    time.sleep(8)


def consumers_are_gone_from_one_of_many(machine: Machine) -> None:
    start_rabbit(machine)
    for name in ("mails", "exports", "webhooks"):
        make_queue(name, 4)
        consume(name, lambda m: m.ack())
    make_queue("payments", 640)
    time.sleep(6)


def a_queue_for_later(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 5)
    consume("invoices", lambda m: m.ack())
    make_queue(
        "retry.30m",
        7,
        **{
            "x-message-ttl": 1800000,
            "x-dead-letter-exchange": "",
            "x-dead-letter-routing-key": "invoices",
        },
    )
    time.sleep(6)


def idle_consumers(machine: Machine) -> None:
    start_rabbit(machine)
    for name in ("mails", "exports", "webhooks"):
        make_queue(name, 0)
        consume(name, lambda m: m.ack())
    time.sleep(6)


def a_full_and_swift_one(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("events", 0)
    for _ in range(3):
        consume("events", lambda m: m.ack(), at_once=100)
    in_background(lambda: [publish("events", 50) for _ in range(200)])
    time.sleep(6)
    assert broker() is not None


def one_partition_stands_still(machine: Machine) -> None:
    tell_kafka(
        machine,
        "mailer mails 0 88123 88125 2 mailer-1-77aa /10.0.0.9 mailer-1",
        "mailer mails 1 51200 88310 37110 mailer-2-19be /10.0.0.11 mailer-2",
        "mailer mails 2 88002 88003 1 mailer-3-c401 /10.0.0.12 mailer-3",
    )


def a_group_that_has_read_all(machine: Machine) -> None:
    tell_kafka(
        machine,
        *(f"nightly-export orders {n} {4400 + n} {4400 + n} 0 - - -" for n in range(3)),
        before="\nConsumer group 'nightly-export' has no active members.",
    )


_LABELS = {"job": "rabbitmq", "severity": "critical"}
SCENES = (
    Scene("refused messages pile up", {"alertname": "RabbitmqDeadLetters", **_LABELS}, refused_messages_pile_up,
          ("invoices\\.dead|dead.?letter|refused",), RABBIT_HOST, "queue-2"),
    Scene("the broker has too little disk", {"alertname": "RabbitmqPublishersBlocked", **_LABELS}, the_disk_is_nearly_full,
          ("disk",), RABBIT_HOST, "queue-2"),
    Scene("one consumer is too slow", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, one_consumer_is_too_slow,
          ("thumbnails", "consumer|slow|behind|wait"), RABBIT_HOST, "queue-2"),
    Scene("one queue of many has lost its consumers", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, consumers_are_gone_from_one_of_many,
          ("payments", "consumer|nobody reads"), RABBIT_HOST, "queue-2"),
    Scene("one partition stands still", {"alertname": "KafkaConsumerLag", "consumergroup": "mailer", "severity": "critical"}, one_partition_stands_still,
          ("mailer|mails", "lag|behind|37110|wait"), machine="queue-2", reaches_out=True),
    Scene("well: a group that has read all", {"alertname": "KafkaConsumerLag", "consumergroup": "nightly-export", "severity": "critical"}, a_group_that_has_read_all, machine="queue-2", reaches_out=True),
    Scene("well: a queue for later", {"alertname": "RabbitmqSlow", **_LABELS}, a_queue_for_later, (), RABBIT_HOST, "queue-2"),
    Scene("well: idle consumers", {"alertname": "RabbitmqSlow", **_LABELS}, idle_consumers, (), RABBIT_HOST, "queue-2"),
    Scene("well: many messages and swift consumers", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, a_full_and_swift_one, (), RABBIT_HOST, "queue-2"),
)  # fmt: skip
