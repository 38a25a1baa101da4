# ruff: noqa: E501  # a scene is told in one line
"""RabbitMQ."""

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
    tell_kafka,
)


def nobody_reads(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("mails", 3)
    consume("mails", lambda m: m.ack())
    make_queue("invoices", 1800)
    time.sleep(6)


def memory_is_short(machine: Machine) -> None:
    start_rabbit(machine, "vm_memory_high_watermark.absolute = 40MB")
    in_background(lambda: make_queue("invoices", 40))
    time.sleep(6)


def messages_are_never_settled(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 1200)
    consume("invoices", lambda m: None, at_once=400)
    time.sleep(6)


def it_does_not_run(machine: Machine) -> None:
    start_rabbit(machine)
    machine.run("pkill", "-KILL", "-u", "rabbitmq")
    time.sleep(1)


def all_is_well(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 12)
    consume("invoices", lambda m: m.ack())
    time.sleep(6)


def a_queue_that_is_not_used(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 40)
    consume("invoices", lambda m: m.ack())
    make_queue("old-exports", 0)
    time.sleep(6)


def a_small_peak(machine: Machine) -> None:
    start_rabbit(machine)
    make_queue("invoices", 0)
    consume("invoices", lambda m: (time.sleep(0.01), m.ack()))
    publish("invoices", 60)
    time.sleep(5)


def a_group_has_no_members(machine: Machine) -> None:
    tell_kafka(
        machine,
        *(
            f"billing orders {n} {91000 + n} {107400 + n * 30} {16400 + n * 29} - - -"
            for n in range(3)
        ),
        before="\nConsumer group 'billing' has no active members.",
    )


def a_group_follows(machine: Machine) -> None:
    tell_kafka(
        machine,
        *(
            f"billing orders {n} {107400 + n} {107404 + n} 4 billing-{n}-4c1f /10.0.0.7 billing-{n}"
            for n in range(3)
        ),
    )


_LABELS = {"job": "rabbitmq", "severity": "critical"}
SCENES = (
    Scene("nobody reads a queue", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, nobody_reads,
          ("invoices", "consumer|nobody reads|no one reads"), RABBIT_HOST, "queue-1"),
    Scene("the broker has too little memory", {"alertname": "RabbitmqPublishersBlocked", **_LABELS}, memory_is_short,
          ("memory",), RABBIT_HOST, "queue-1"),
    Scene("a consumer settles nothing", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, messages_are_never_settled,
          ("invoices", "ack|settle|confirm|unacknowledged"), RABBIT_HOST, "queue-1"),
    Scene("the broker does not run", {"alertname": "RabbitmqDown", **_LABELS}, it_does_not_run,
          ("rabbit|broker|node", "not (run|answer)|down|refus|reach|stopped"), RABBIT_HOST, "queue-1"),
    Scene("a consumer group has no members", {"alertname": "KafkaConsumerLag", "consumergroup": "billing", "severity": "critical"}, a_group_has_no_members,
          ("billing", "member|consumer|nobody reads|no one reads"), machine="queue-1", reaches_out=True),
    Scene("well: a consumer group follows", {"alertname": "KafkaConsumerLag", "consumergroup": "billing", "severity": "critical"}, a_group_follows, machine="queue-1", reaches_out=True),
    Scene("well: a queue that is read", {"alertname": "RabbitmqSlow", **_LABELS}, all_is_well, (), RABBIT_HOST, "queue-1"),
    Scene("well: an empty queue that nobody reads", {"alertname": "RabbitmqSlow", **_LABELS}, a_queue_that_is_not_used, (), RABBIT_HOST, "queue-1"),
    Scene("well: a small peak", {"alertname": "RabbitmqMessagesPileUp", **_LABELS}, a_small_peak, (), RABBIT_HOST, "queue-1"),
)  # fmt: skip
