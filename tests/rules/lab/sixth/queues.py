# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ for real, and Kafka as its tool prints."""

import time

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import RABBIT_HOST, in_background, make_queue, publish, start_rabbit
from tests.rules.lab.third.queues import KAFKA, K, _kafka

never_committed = _kafka(
    *(
        f"audit-sink audit {p} - {91200 + 3 * p} - consumer-audit-sink-1-0c1b /10.4.0.31 consumer-audit-sink-1"
        for p in range(4)
    )
)

retired = _kafka(
    *(
        f"orders-api orders {p} {71200 + p} {71201 + p} 1 consumer-orders-api-{p}-7d11 /10.4.0.{21 + p} consumer-orders-api-{p}"
        for p in range(3)
    ),
    "console-consumer-50211 orders 0 12 71201 71189 - - -",
    "console-consumer-50211 orders 1 9 71202 71193 - - -",
)


def memory_alarm(machine: Machine) -> None:
    start_rabbit(machine, "vm_memory_high_watermark.absolute = 20MB")
    make_queue("orders", 0)
    in_background(lambda: publish("orders", 50))
    time.sleep(3)


SCENES = (
    Scene(
        "publishers are held for the memory",
        {"alertname": "OrdersNotAccepted", "service": "orders"},
        memory_alarm,
        ("memory", "alarm|watermark|limit|block|held"),
        RABBIT_HOST,
        "mq-1",
    ),
    Scene(
        "a group reads and never commits",
        {"alertname": "KafkaConsumerLag", "consumergroup": "audit-sink", **K},
        never_committed,
        ("audit", "commit|offset"),
        KAFKA,
        "kafka-1",
    ),
    Scene(
        "somebody once read along by hand",
        {"alertname": "KafkaConsumerLag", "consumergroup": "orders-api", **K},
        retired,
        (),
        KAFKA,
        "kafka-1",
    ),
)
