# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ for real, and Kafka as its tool prints."""

import time
from collections.abc import Callable

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    RABBIT_HOST,
    consume,
    make_queue,
    start_rabbit,
    with_units,
)


def forgotten(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("mail.out", 40)
    make_queue("orders.created", 900)
    consume("mail.out", lambda m: m.ack())
    time.sleep(1.5)


def poison(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 6)

    def reject(message: object) -> None:
        time.sleep(0.01)
        message.reject(requeue=True)  # type: ignore[attr-defined]

    consume("invoices", reject, at_once=1)
    time.sleep(6)


def no_right(machine: Machine) -> None:
    start_rabbit(machine)
    rabbit = ("rabbitmqctl",)
    for words in (("add_user", "shipping", "x"), ("add_vhost", "logistics")):
        machine.run(*rabbit, *words, may_fail=True)
    from kombu import Connection

    for _ in range(5):
        try:
            Connection("amqp://shipping:x@127.0.0.1:5672/logistics", connect_timeout=3).connect()
        except Exception:
            time.sleep(0.2)
    time.sleep(1)


def full(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("events", 120, **{"x-max-length": 100, "x-overflow": "reject-publish"})
    time.sleep(6)


def _kafka(*rows: str, before: str = "") -> Callable[[Machine], object]:
    """The table of `kafka-consumer-groups.sh --describe` with the widths of its own format: those
    of group, topic, consumer and host follow what is in them, those of numbers do not."""
    head = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID"
    lines = [line.split() for line in (head, *rows)]
    widest = [max(15, *(len(line[n]) for line in lines)) for n in range(9)]
    widths = [widest[0], widest[1], 10, 15, 15, 15, widest[6], widest[7], 0]
    table = "\n".join(
        " ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True))
        for line in lines
    )

    def set_off(machine: Machine) -> None:
        machine.stand_in("kafka-consumer-groups.sh", f"{before}\n{table}\n")

    return set_off


one_stuck = _kafka(
    *(
        f"search-indexer products {p} {5000 if p == 3 else 88120 + p} {88130 + p} {83133 if p == 3 else 10} consumer-search-indexer-{p // 2 + 1}-aa41 /10.4.0.{p // 2 + 11} consumer-search-indexer-{p // 2 + 1}"
        for p in range(6)
    )
)


rebalances = _kafka(
    *(f"pricing prices {p} {100 + p} {41000 + p} 40900 - - -" for p in range(4)),
    before="Warning: Consumer group 'pricing' is rebalancing.\n",
)


at_rest = _kafka(
    *(f"backfill-2025 orders {p} {700 + p} {700 + p} 0 - - -" for p in range(3)),
    before="Consumer group 'backfill-2025' has no active members.\n",
)


def empty(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("old.reports")
    make_queue("mail.out", 10)
    consume("mail.out", lambda m: m.ack())
    time.sleep(6)


A = {"job": "rabbitmq", "severity": "critical"}


K = {"job": "kafka", "severity": "warning"}


KAFKA = with_units("kafka.service loaded active running Apache Kafka broker")


SCENES = (
    Scene(
        "one queue of two has no reader",
        {"alertname": "RabbitmqQueueGrows", "queue": "orders.created", **A},
        forgotten,
        ("orders.created", "consum|reader|nobody"),
        RABBIT_HOST,
        "mq-1",
    ),
    Scene(
        "a message comes back for ever",
        {"alertname": "RabbitmqRedeliveries", "queue": "invoices", **A},
        poison,
        ("invoices", "redeliver|requeue|reject|return|again|back"),
        RABBIT_HOST,
    ),
    Scene(
        "a user may not enter its virtual host",
        {"alertname": "ShippingErrors", "service": "shipping"},
        no_right,
        ("shipping|logistics", "access|refus|permission|denied|may not"),
        RABBIT_HOST,
    ),
    Scene(
        "a bounded queue turns messages away",
        {"alertname": "EventsLost", "service": "events"},
        full,
        ("events", "limit|length|full|max|reject|consum|reader|nobody"),
        RABBIT_HOST,
    ),
    Scene(
        "one partition stands still",
        {"alertname": "KafkaConsumerLag", "consumergroup": "search-indexer", **K},
        one_stuck,
        ("search-indexer|products", r"\b3\b|one partition|partition"),
        KAFKA,
        "kafka-1",
    ),
    Scene(
        "a group never settles",
        {"alertname": "KafkaConsumerLag", "consumergroup": "pricing", **K},
        rebalances,
        ("pricing|prices", "rebalanc"),
        KAFKA,
    ),
    Scene(
        "an empty queue without a reader",
        {"alertname": "MailSlow", "queue": "mail.out", **A},
        empty,
        (),
        RABBIT_HOST,
    ),
    Scene(
        "a group that finished its work",
        {"alertname": "OrdersSlow", "topic": "orders", **K},
        at_rest,
        (),
        KAFKA,
    ),
)
