"""An investigation and a question behind it with every family of models, on strict servers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from django.db import connection

import config
from agents.rehearsal.dialects import find_dialect
from agents.rehearsal.loading import parse_script
from investigations.models import AlertSession, LLMInteraction, MCPInteraction, TimelineEvent
from tests.cases import check_each
from tests.e2e.conftest import SharedWorker
from tests.e2e.dialect_sessions import (
    FALLBACKS,
    FAMILIES,
    KEY,
    SCRIPT,
    Family,
    Outcome,
    investigate_all,
    run_tool_server,
    write_configuration,
)
from tests.processes import start_worker
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

pytestmark = pytest.mark.worker

REPORT = "## Conclusion\nThe gateway answered in 3 ms."
CALLS = [
    ("net", "ping", {"host": "gw-2"}),
    ("ops", "metrics", {"action": "load"}),
    ("net", "routes", {}),
    ("net", "ping", {"host": "gw-3 ✓"}),
]
BY_TEXT = [CALLS[0], CALLS[2], CALLS[3]]


@dataclass(frozen=True)
class Played:
    outcomes: Mapping[str, Outcome]
    rehearsal: RunningRehearsal


@pytest.fixture(scope="module")
def played(
    shared_worker: SharedWorker,
    product_environment: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
    django_db_blocker,
) -> Iterator[Played]:
    """All sessions, run once: each test looks at them."""
    folder = tmp_path_factory.mktemp("config")
    shared_worker.stop()
    rehearsal = start_rehearsal(parse_script(SCRIPT))
    with run_tool_server() as tools_url, pytest.MonkeyPatch.context() as patch:
        tarsy, providers = write_configuration(rehearsal.url, tools_url)
        (folder / "tarsy.yaml").write_text(tarsy, encoding="utf-8")
        (folder / "llm-providers.yaml").write_text(providers, encoding="utf-8")
        environment = product_environment | {"CONFIG_DIR": str(folder), KEY: "k-0123456789"}
        for name, value in environment.items():
            patch.setenv(name, value)
        with django_db_blocker.unblock():
            worker = start_worker(**environment)
            try:
                worker.wait_until_ready()
                config.configure(folder)
                yield Played(investigate_all(), rehearsal)
            finally:
                worker.stop()
                rehearsal.stop()
                config.configure(None)
                AlertSession.objects.all()._raw_delete(connection.alias)
                connection.close()


@pytest.fixture
def database(played: Played, django_db_blocker) -> Iterator[None]:
    """What all sessions have left. Not `live_db`, which deletes it behind each test."""
    with django_db_blocker.unblock():
        yield
        connection.close()


def test_explore(database: None, played: Played):
    out = []
    for family in (*FAMILIES, *FALLBACKS):
        session = AlertSession.objects.get(alert_type=family.name)
        chat = played.outcomes.get(family.name)
        out.append(
            f"=== {family.name}: {session.status} {session.error_message!r} chat={chat and chat.chat.status}"
        )
        out.append(
            f"   report: {session.final_analysis[:120]!r} summary {session.executive_summary!r} {session.executive_summary_error!r}"
        )
        out.append(f"   calls: {calls_of(session)}")
        for event in TimelineEvent.objects.filter(
            session=session,
            event_type__in=["error", "notice", "provider_fallback", "final_analysis"],
        ).order_by("sequence_number"):
            out.append(f"   {event.event_type}: {event.content[:400]!r}")
        n = TimelineEvent.objects.filter(session=session, event_type="llm_thinking").count()
        rows = (
            LLMInteraction.objects.filter(session=session)
            .order_by("created_at")
            .values_list(
                "provider_name",
                "interaction_type",
                "input_tokens",
                "output_tokens",
                "thinking_tokens",
                "error_message",
            )
        )
        out.append(f"   thinking events {n}; interactions {list(rows)}")
    faults = [
        (r.dialect, r.model, r.agent, r.turn, r.fault)
        for r in played.rehearsal.requests
        if r.fault or r.rule is None
    ]
    out += [str(f) for f in faults]
    out.append(f"{len(played.rehearsal.requests)} requests")
    from pathlib import Path

    Path("/tmp/fresh/explore.txt").write_text("\n".join(out))


def calls_of(session: AlertSession) -> list[tuple[str, str, object]]:
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    found = calls.order_by("tool_number")
    return list(found.values_list("server_name", "tool_name", "tool_arguments"))
