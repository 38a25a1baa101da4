"""What an alert chose holds at the run too, or the run says why it does not."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from config.model import Config
from investigations.engine import pipeline
from investigations.models import AgentExecution, LLMInteraction
from investigations.services.stages import advance_stage
from tarsy.aio import WorkerLoop
from tests.investigations.conftest import Configure
from tests.investigations.engine import committed, current_stage, executions_of, start_session

pytestmark = committed
BOUND = 60
CHAIN = """
agents: {Looker: {description: looks, mcp_servers: [ops]}}
agent_chains:
  single: {alert_types: [single], stages: [{name: look, agents: [{name: Looker}]}]}
mcp_servers: SERVERS
defaults: {alert_type: single, llm_provider: rehearsal}
"""
HOST = "{host: {transport: {type: stdio, command: /nonexistent}}}"


@pytest.fixture(autouse=True)
def nobody_answers(monkeypatch: pytest.MonkeyPatch, chains: Config, clean_redis) -> None:
    """No model is asked in these tests; this one would not answer."""
    monkeypatch.setenv("TARSY_REHEARSAL_URL", "http://127.0.0.1:9/v1")


def run_to_its_end(execution: AgentExecution, loop: WorkerLoop) -> AgentExecution:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipeline.run_execution, execution.pk, "worker-1", loop).result(BOUND)
    advance_stage(execution.stage_id)
    execution.refresh_from_db()
    return execution


def test_a_chosen_server_that_is_gone_by_now_fails_the_run_with_its_name(
    reconfigure: Configure, loop: WorkerLoop
):
    reconfigure(CHAIN.replace("SERVERS", HOST))
    session = start_session("single", mcp_selection={"servers": [{"name": "host"}]})
    reconfigure(CHAIN.replace("SERVERS", "{}"))

    execution = run_to_its_end(executions_of(current_stage(session))[0], loop)

    assert execution.status == "failed"
    assert "the alert chose can no longer be used: mcp.servers[0].name" in execution.error_message
    assert "'host'" in execution.error_message
    session.refresh_from_db()
    assert session.status == "failed"
    assert "'host'" in session.error_message
    assert not LLMInteraction.objects.exists()


@pytest.mark.parametrize(
    ("tools", "fails"), [(["gone"], True), (["gone", "metrics"], False)], ids=["all", "one of two"]
)
def test_chosen_tools_that_a_server_does_not_have_are_named(
    tools: list[str], fails: bool, reconfigure: Configure, loop: WorkerLoop
):
    reconfigure(CHAIN.replace("SERVERS", "{}"))
    session = start_session("single", mcp_selection={"servers": [{"name": "ops", "tools": tools}]})

    execution = run_to_its_end(executions_of(current_stage(session))[0], loop)

    assert execution.status == "failed"
    assert ('chose tools that "ops" does not offer: gone' in execution.error_message) is fails
    assert LLMInteraction.objects.exists() is not fails
