# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ for real, and Kafka as its tool prints."""

import contextlib
import time

from tests.rules.host_scenarios import FINE_UNITS, Host
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    RABBIT_HOST,
    broker,
    consume,
    make_queue,
    publish,
    start_rabbit,
)
from tests.rules.lab.third.queues import KAFKA, A, K
from tests.rules.third_half import FAILED, unit_of

_COOKIE = "12:48:01 rabbitmq-server[2210]: {error_logger,{{2026,11,30},{11,48,1}},\"Error when reading /var/lib/rabbitmq/.erlang.cookie: eacces\",[]}\n12:48:01 systemd[1]: rabbitmq-server.service: Main process exited, code=exited, status=1/FAILURE\n12:48:01 systemd[1]: rabbitmq-server.service: Failed with result 'exit-code'."
_NO_COOKIE = Host(
    commands=unit_of(
        "rabbitmq-server.service", "failed failed", "RabbitMQ Messaging Server", _COOKIE,
        FAILED.format("exit-code", 1, 5), FINE_UNITS,
    )
)  # fmt: skip


def not_up(_: Machine) -> None:
    """The host tells of it."""


def nobody_may_enter(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 220)
    machine.run("rabbitmqctl", "set_vhost_limits", "-p", "/", '{"max-connections": 2}')
    for _ in range(6):
        with contextlib.suppress(Exception):
            broker().connect()
    time.sleep(2)


def burst(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("thumbnails", 300)

    def draw(message: object) -> None:
        time.sleep(0.02)
        message.ack()  # type: ignore[attr-defined]

    consume("thumbnails", draw)
    make_queue("mail.retry")
    time.sleep(1)
    publish("thumbnails", 100)


def no_broker(machine: Machine) -> None:
    machine.stand_in(
        "kafka-consumer-groups.sh",
        "\nError: Executing consumer group command failed due to org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: describeGroups(api=DESCRIBE_GROUPS)\njava.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment. Call: describeGroups(api=DESCRIBE_GROUPS)\n\tat java.base/java.util.concurrent.CompletableFuture.reportGet(CompletableFuture.java:396)\n",
    )


SCENES = (
    Scene(
        "its cookie may not be read",
        {"alertname": "RabbitmqDown", **A},
        not_up,
        ("rabbitmq", "cookie|eacces|permission|may not"),
        _NO_COOKIE,
        "mq-2",
    ),
    Scene(
        "no more connections are let in",
        {"alertname": "RabbitmqQueueGrows", "queue": "invoices", **A},
        nobody_may_enter,
        ("connection", "limit|most|max"),
        RABBIT_HOST,
    ),
    Scene(
        "the broker does not answer",
        {"alertname": "KafkaConsumerLag", "consumergroup": "settlement", **K},
        no_broker,
        ("kafka|broker", "answer|reach|time|connect"),
        KAFKA,
        "kafka-1",
    ),
    Scene(
        "a burst is worked off",
        {"alertname": "RabbitmqQueueGrows", "queue": "thumbnails", **A},
        burst,
        (),
        RABBIT_HOST,
    ),
)
