# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ for real, and Kafka as its tool prints."""

import time

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    RABBIT_HOST,
    consume,
    in_background,
    make_queue,
    publish,
    start_rabbit,
)
from tests.rules.lab.third.queues import KAFKA, A, K, _kafka


def disk_alarm(machine: Machine) -> None:
    start_rabbit(machine, "disk_free_limit.absolute = 100TB")
    make_queue("orders", 0)
    in_background(lambda: publish("orders", 50))
    time.sleep(2)


def holds_all(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("thumbnails", 400)
    consume("thumbnails", lambda m: None, at_once=250)
    time.sleep(6)


def dead_letters(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("payments.dead")
    make_queue(
        "payments",
        300,
        **{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "payments.dead"},
    )
    consume("payments", lambda m: m.reject(requeue=False))
    time.sleep(6)


nobody = _kafka(
    *(
        f"billing-v2 payments {p} {8800 + p} {19400 + 7 * p} {19400 + 7 * p - 8800 - p} - - -"
        for p in range(6)
    ),
    before="Consumer group 'billing-v2' has no active members.\n",
)


behind = _kafka(
    *(
        f"clickstream-etl clicks {p} {1200000 + p} {2400000 + p} 1200000 consumer-etl-1-77ab /10.4.0.9 consumer-etl-1"
        for p in range(8)
    )
)


small_lag = _kafka(
    *(
        f"search-indexer products {p} {88120 + p} {88123 + p} 3 consumer-search-indexer-{p}-aa41 /10.4.0.{p + 11} consumer-search-indexer-{p}"
        for p in range(6)
    ),
    *(
        f"search-indexer prices {p} 4 4 0 consumer-search-indexer-{p}-aa41 /10.4.0.{p + 11} consumer-search-indexer-{p}"
        for p in range(2)
    ),
)


def few_dead(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("payments.dead", 3)
    make_queue("payments", 50)
    consume("payments", lambda m: m.ack())
    time.sleep(6)


SCENES = (
    Scene(
        "publishers are held for the disk",
        {"alertname": "OrdersNotAccepted", "service": "orders"},
        disk_alarm,
        ("disk", "alarm|free|limit|space"),
        RABBIT_HOST,
        "mq-1",
    ),
    Scene(
        "a reader takes and never confirms",
        {"alertname": "RabbitmqUnacked", "queue": "thumbnails", **A},
        holds_all,
        ("thumbnails", "unack|acknowledg|confirm"),
        RABBIT_HOST,
    ),
    Scene(
        "every payment is rejected",
        {"alertname": "DeadLetters", "queue": "payments.dead", **A},
        dead_letters,
        ("payments", "dead|reject"),
        RABBIT_HOST,
    ),
    Scene(
        "a group of consumers is gone",
        {"alertname": "KafkaConsumerLag", "consumergroup": "billing-v2", **K},
        nobody,
        ("billing-v2|payments", "no (active )?(member|consumer|reader)|nobody"),
        KAFKA,
        "kafka-1",
    ),
    Scene(
        "one consumer is too slow for eight partitions",
        {"alertname": "KafkaConsumerLag", "consumergroup": "clickstream-etl", **K},
        behind,
        ("clickstream-etl|clicks", "lag|behind|slow|keep"),
        KAFKA,
    ),
    Scene(
        "three old dead letters",
        {"alertname": "PaymentsSlow", "queue": "payments", **A},
        few_dead,
        (),
        RABBIT_HOST,
    ),
    Scene(
        "a lag of a moment",
        {"alertname": "KafkaConsumerLag", "consumergroup": "search-indexer", **K},
        small_lag,
        (),
        KAFKA,
    ),
)
