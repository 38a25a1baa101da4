"""What an alert tells of where it hurts, whatever shape it has."""

import json

import pytest

from agents import types
from investigations.models.sessions import INCONCLUSIVE
from investigations.services.titles import read_told
from investigations.sources.facts import AlertFacts, facts_of_alerts, facts_of_leaves
from investigations.sources.reading import Links, make_alert


def facts_of(alert: object) -> AlertFacts:
    text = alert if isinstance(alert, str) else json.dumps(alert)
    return facts_of_leaves(read_told(text).leaves)


@pytest.mark.parametrize(
    ("alert", "facts"),
    [
        (
            {"severity": "CRIT", "labels": {"service": "payments-api", "cluster": "prod-eu-1"}},
            AlertFacts(severity="critical", service="payments-api", cluster="prod-eu-1"),
        ),
        (
            "severity: page\nservice_name: basket\n",
            AlertFacts(severity="critical", service="basket"),
        ),
        ("alertname=X level=warn app=web", AlertFacts(severity="warning", service="web")),
        (
            {"data": {"generatorURL": "http://prom/graph?g0", "panelURL": "https://g/d/1"}},
            AlertFacts(links=Links(alert="http://prom/graph?g0", dashboard="https://g/d/1")),
        ),
        # The nearest to the top counts, and a word of no scale is none.
        ({"deep": {"service": "b"}, "service": "a", "priority": 7}, AlertFacts(service="a")),
        ({"severity": "purple", "level": "info"}, AlertFacts(severity="info")),
        # No address that a browser opens.
        ({"url": "javascript:alert(1)", "link": "?orgId=1"}, AlertFacts()),
        ("the disk of node-17 is full", AlertFacts()),
        ({"service": "\u202e\u200b"}, AlertFacts()),
    ],
)
def test_facts_are_found_by_the_names_of_fields(alert, facts):
    assert facts_of(alert) == facts


def alert(service: str, severity: str, **links: str):
    labels = {"service": service} if service else {}
    return make_alert(
        "firing", key=service, titles=("x",), body={}, severity=severity, labels=labels,
        links=Links(**links),
    )  # fmt: skip


def test_alerts_of_one_post_have_in_common_what_all_of_them_say():
    alike = [alert("web", "warning", alert="http://a/1"), alert("", "critical", alert="http://a/2")]

    assert facts_of_alerts("grafana", alike) == AlertFacts(
        "grafana", "critical", "web", links=Links(alert="http://a/1")
    )
    assert facts_of_alerts("grafana", [*alike, alert("db", "info")]).service == ""


def test_the_schema_knows_an_inconclusive_report_by_our_label():
    assert INCONCLUSIVE == types.INCONCLUSIVE
