"""What of several findings a report calls the cause, and what it says of the others."""

from datetime import UTC, datetime

import pytest

from rules.alerts import read_alert
from rules.findings import Finding
from rules.graph import Graph, is_named
from rules.ranking import rank
from rules.report import Told, name_thing, write_report

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ALERT = {"alertname": "CheckFailing", "labels": {"service": "shop-web"}}


def find(says: str, entity: str, sure: str = "certain") -> Finding:
    return Finding(f"pack.{says}", says, entity, "cause", "critical", sure)


def report_on(*findings: Finding) -> str:
    ranked = rank(findings, Graph(), read_alert(ALERT, NOON))
    return write_report(Told(ranked, calls=(1,)))


def test_what_is_wrong_with_the_thing_of_the_alert_is_never_called_untied():
    report = report_on(find("full", "service:shop-web"), find("slow", "service:shop-web", "likely"))

    assert "1. full.\n2. Seen beside it: slow." in report


def test_what_is_wrong_elsewhere_is_not_tied_to_the_alert():
    report = report_on(find("full", "service:shop-web"), find("old", "service:billing", "likely"))

    assert "2. Not tied to this alert: old." in report


def test_a_part_of_the_machine_is_named_as_people_do():
    assert name_thing("cpu:host") == "the processors of the host"
    assert name_thing("service:host-web") == "the service `host-web`"


@pytest.mark.parametrize(
    ("entity", "is_one"),
    [
        ("certificate:https://pay.example/", True),
        ("certificate:https://", False),
        ("filesystem:/", True),
        ("pod:shop/", False),
        ("node:", False),
    ],
)
def test_an_address_that_ends_in_a_slash_is_a_name_and_an_empty_one_is_none(entity, is_one):
    assert is_named(entity) is is_one


def test_what_is_unwell_on_a_machine_is_a_cause_of_an_alert_that_names_only_the_machine():
    graph = Graph()
    graph.add("host:dock-3", "filesystem:/")
    finding = find("It ends.", "container:shop-web-1", "likely")

    ranked = rank([finding], graph, read_alert({"labels": {"instance": "dock-3"}}))

    assert [each.finding for each in ranked.causes] == [finding]


def test_what_is_unwell_beside_the_service_that_an_alert_names_is_no_cause_of_it():
    graph = Graph()
    graph.add("service:checkout", "unit:checkout.service")
    labels = {"instance": "dock-3", "service": "checkout"}
    finding = find("It ends.", "container:other-1", "likely")

    ranked = rank([finding], graph, read_alert({"labels": labels}))

    assert ranked.causes == ()
    assert len(ranked.aside) == 1


@pytest.mark.parametrize("name", ["web", "shop-web", "bank/gateway"])
def test_of_things_that_an_alert_means_alike_a_report_names_the_first_by_name(name):
    kinds = ("workload", "service", "route", "queue", "probe", "ingress", "gateway", "claim", "app")
    graph = Graph()
    for kind in kinds:
        graph.add(f"{kind}:{name}", "pod:it-1")
    alert = read_alert({"labels": {"alertname": "Failing", "thing": name.rpartition("/")[2]}})

    ranked = rank([find("It ends.", "pod:it-1")], graph, alert)

    assert [link.entity for link in ranked.causes[0].chain] == ["pod:it-1", f"app:{name}"]
