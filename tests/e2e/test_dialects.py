"""An investigation and a question behind it with every family of models, on strict servers."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from django.db import connection

import config
from agents.our_lines import split_our_lines
from agents.rehearsal.dialects import find_dialect
from agents.rehearsal.loading import parse_script
from agents.rehearsal.server import LoggedRequest
from investigations.models import AlertSession, LLMInteraction, MCPInteraction, TimelineEvent
from tests.cases import check_each
from tests.e2e.conftest import SharedWorker
from tests.e2e.dialect_sessions import (
    EVERY,
    FALLBACKS,
    FAMILIES,
    FORCED,
    KEY,
    OPENAI_ADDRESS,
    SCRIPT,
    THROUGH_LITELLM,
    Family,
    Outcome,
    investigate_all,
    run_tool_server,
    write_configuration,
)
from tests.processes import start_worker
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

# The first test waits for all sessions.
pytestmark = [pytest.mark.worker, pytest.mark.timeout(600)]

REPORT = "## Conclusion\nThe gateway answered in 3 ms."
CALLS = [
    ("net", "ping", {"host": "gw-2"}),
    ("ops", "metrics", {"action": "load"}),
    ("net", "routes", {}),
    ("net", "ping", {"host": "gw-3 ✓"}),
]
BY_TEXT = [CALLS[0], CALLS[2], CALLS[3]]
SUMMARY = "The gateway answered in 3 ms."
LESSONS = {
    ("anthropic-gateway", "no_tools"),
    ("bedrock-gateway", "member"),
    ("bedrock-gateway", "no_tools"),
    ("deepseek", "no_thought"),
    ("gemini-openai", "no_signature"),
    ("llamacpp", "user_after_tool"),
    ("mistral", "call_id"),
    ("mistral", "member"),
    ("mistral", "user_after_tool"),
    ("moonshot", "no_thought"),
    ("openai", "tools_with_effort"),
    ("vllm-gemma", "system_role"),
    ("vllm-llama", "parallel_calls"),
}
"""What the address of a test says nothing of, so that it has to be learned."""


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
        environment = product_environment | {
            "CONFIG_DIR": str(folder),
            KEY: "k-0123456789",
            OPENAI_ADDRESS: f"{rehearsal.url.removesuffix('/v1')}/openai/v1",
        }
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


def test_every_family_brings_its_session_to_a_report(database: None, played: Played):
    def check(family: Family) -> None:
        session = AlertSession.objects.get(alert_type=family.name)

        assert (session.status, session.error_message) == ("completed", "")
        assert split_our_lines(session.final_analysis)[1].startswith(REPORT)
        assert split_our_lines(session.executive_summary)[1] == SUMMARY
        wanted = BY_TEXT if family.calls_by_text else CALLS
        assert calls_of(session, "Looker") == wanted
        assert switches_of(session) == []

    check_each(check, [*FAMILIES, *THROUGH_LITELLM], name_of)


def test_every_family_is_shown_thinking_and_counting_where_it_says_so(
    database: None, played: Played
):
    def check(family: Family) -> None:
        session = AlertSession.objects.get(alert_type=family.name)
        answers = LLMInteraction.objects.filter(session=session, error_message="")
        thoughts = answers.exclude(thinking_content="")

        says_thoughts = find_dialect(family.dialect).answer.thinking != "none"
        assert thoughts.exists() is says_thoughts
        assert all(answer.input_tokens for answer in answers)

    check_each(check, [*FAMILIES, *THROUGH_LITELLM], name_of)


def test_a_question_behind_the_report_is_answered_with_a_call_of_its_own(
    database: None, played: Played
):
    def check(family: Family) -> None:
        outcome = played.outcomes[family.name]

        assert outcome.chat.status == "completed"
        answer = TimelineEvent.objects.get(stage=outcome.chat, event_type="final_analysis")
        assert split_our_lines(answer.content)[1].startswith("The default route goes by gw-2 [T")
        assert calls_of(outcome.session, "ChatAgent") == [CALLS[2]]

    check_each(check, list(EVERY), name_of)


def test_another_family_goes_on_with_the_history_of_the_first(database: None, played: Played):
    def check(family: Family) -> None:
        session = AlertSession.objects.get(alert_type=family.name)

        assert (session.status, session.error_message) == ("completed", "")
        assert split_our_lines(session.final_analysis)[1].startswith(REPORT)
        assert calls_of(session, "Looker") == CALLS
        assert switches_of(session) == [(family.name, family.follower)]
        looks = LLMInteraction.objects.filter(
            session=session, execution__agent_name="Looker", error_message=""
        )
        who = list(looks.order_by("created_at").values_list("provider_name", flat=True))
        assert who == [family.name] * 2 + [family.follower] * 2

    check_each(check, list(FALLBACKS), name_of)


def test_every_family_can_be_made_to_conclude_without_tools(database: None, played: Played):
    def check(family: Family) -> None:
        session = AlertSession.objects.get(alert_type=family.name)

        assert (session.status, session.error_message) == ("completed", "")
        assert split_our_lines(session.final_analysis)[1].startswith(
            "The gateway answered in 3 ms [T1]"
        )
        final = TimelineEvent.objects.get(
            session=session, event_type="final_analysis", execution__agent_name="Looker"
        )
        assert final.metadata["forced_conclusion"] is True
        assert "written_by_code" not in final.metadata

    check_each(check, list(FORCED), name_of)


def test_a_refusal_is_a_lesson_that_nobody_needs_twice(database: None, played: Played):
    """One worker has learned it: all that a server refuses is refused to each model once, apart
    from requests that were on their way. That it cannot be given tools is said in each session."""
    refused = Counter(
        (request.dialect, request.model, request.fault)
        for request in played.rehearsal.requests
        if request.fault not in ("", "tools")
    )

    assert {key for key, count in refused.items() if count > 2} == set()
    assert {(dialect, fault) for dialect, _, fault in refused} <= LESSONS
    assert not [request for request in played.rehearsal.requests if is_unanswered(request)]


def name_of(family: Family) -> str:
    return family.name


def calls_of(session: AlertSession, agent: str) -> list[tuple[str, str, object]]:
    calls = MCPInteraction.objects.filter(
        session=session, interaction_type="tool_call", execution__agent_name=agent
    )
    found = calls.order_by("tool_number")
    return list(found.values_list("server_name", "tool_name", "tool_arguments"))


def switches_of(session: AlertSession) -> list[tuple[str, str]]:
    switches = TimelineEvent.objects.filter(
        session=session, event_type="provider_fallback", execution__agent_name="Looker"
    )
    names = ("original_provider", "fallback_provider")
    return [tuple(each.metadata[name] for name in names) for each in switches]


def is_unanswered(request: LoggedRequest) -> bool:
    """Whether the script had no answer, which says nothing of the product."""
    return request.rule is None and not request.fault
