"""Sessions with every family of models: their configuration, their script, one worker for all."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from mcp.server import MCPServer

from agents.rehearsal.dialects import PLAIN, find_dialect, list_dialects
from investigations.models import AlertSession, Stage
from investigations.services.chat import ask_question
from tests.e2e.conftest import submit, wait_until_ended
from tests.mcp_bridge.test_http_servers import serving
from tests.processes import wait_for

KEY = "A_MODEL_KEY"
QUESTION = "Is it still so?"
_TYPES = {"anthropic": "anthropic", "gemini": "google", "xai": "xai"}


@dataclass(frozen=True)
class Family:
    """One session: `name` is its alert type; `follower` is the family that takes over in it."""

    name: str
    dialect: str
    model: str = ""
    follower: str = ""
    kind: str = ""
    """The type of the provider in YAML, where it is not the usual one of the dialect."""
    has_address: bool = True

    @property
    def calls_by_text(self) -> bool:
        """Whether its servers refuse tools, so that agents write their calls."""
        return any(refusal.fault == "tools" for refusal in find_dialect(self.dialect).refuses)

    @property
    def own_model(self) -> str:
        return self.model or find_dialect(self.dialect).models[0]


_OTHERWISE = (PLAIN, "openai-responses")
"""The second has rows of its own."""
_SINGLE = "vllm-llama"
"""Gets each call in a message of its own, so that the script counts one turn more."""
FAMILIES = (
    *(Family(name, name) for name in list_dialects() if name not in _OTHERWISE),
    # The same servers with models whose names say nothing: what they need has to be learned.
    Family("mistral-unknown", "mistral", "lab-m"),
    Family("bedrock-unknown", "bedrock-gateway", "lab-b"),
    Family("moonshot-unknown", "moonshot", "lab-k"),
    Family("gemini-unknown", "gemini-openai", "lab-g"),
    # Thinks as much as it likes, through litellm.
    Family("anthropic-adaptive", "anthropic", "claude-opus-4-7"),
    # Not through litellm, as the other one is.
    Family("xai-direct", "xai", "grok-4.1", kind="openai"),
)
THROUGH_LITELLM = (
    Family("openai-litellm", "openai", "gpt-5.2", has_address=False),
    Family("openai-responses", "openai-responses", "gpt-5.6-terra", has_address=False),
    *(
        Family(f"{name}-litellm", name, kind="xai")
        for name in list_dialects()
        if find_dialect(name).wire == "chat" and name not in (*_OTHERWISE, "openai", "xai")
    ),
)
"""OpenAI as it is usually asked, and those that go by the one type that takes an address there."""
OPENAI_ADDRESS = "OPENAI_API_BASE"
"""What litellm reads for who gives it no address."""
FALLBACKS = (
    Family("openai-anthropic", "openai", "gpt-5.6-sol", "anthropic"),
    Family("gemini-mistral", "gemini", "gemini-3-flash-preview", "mistral"),
    Family("deepseek-bedrock", "deepseek", "deepseek-v4-flash", "bedrock-gateway"),
    Family("openai-text", "openai", "gpt-5.6-luna", "text-calls"),
    Family("anthropic-gemini", "anthropic", "claude-opus-4-5", "gemini"),
    Family("mistral-deepseek", "mistral", "mistral-medium-latest", "deepseek"),
    Family("vllm-gemini-openai", "vllm", "lab/falls", "gemini-openai"),
    Family("anthropic-openai", "anthropic", "claude-opus-4-6", "openai-responses"),
    Family("moonshot-anthropic", "moonshot", "kimi-k2.5", "anthropic"),
)

FORCED = (
    Family("forced-bedrock", "bedrock-gateway", "amazon.nova-pro"),
    Family("forced-bedrock-unknown", "bedrock-gateway", "lab-forced-b"),
    Family("forced-mistral", "mistral", "mistral-small-latest"),
    Family("forced-mistral-unknown", "mistral", "lab-forced-m"),
    Family("forced-llamacpp", "llamacpp", "gguf-forced"),
    Family("forced-openai", "openai", "gpt-5.6-sol-mini"),
    Family("forced-responses", "openai-responses", "gpt-5.4", has_address=False),
    Family("forced-gateway", "anthropic-gateway", "claude-haiku-4-5"),
    Family("forced-anthropic", "anthropic", "claude-haiku-4-5"),
    Family("forced-gemini", "gemini", "gemini-3-pro-preview"),
    Family("forced-moonshot", "moonshot", "kimi-k2-thinking"),
    Family("forced-text", "text-calls", "gemma3:1b"),
)
"""They may ask twice and must conclude then, without tools."""
EVERY = (*FAMILIES, *THROUGH_LITELLM, *FALLBACKS, *FORCED)

SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The gateway answered in 3 ms.}
  - when: {agent: ^Looker, model: "^(?:FALLING)$", turn: 2+}
    reply: {error: {status: 401, message: This key was revoked.}}
  - when: {agent: ^Looker, model: "^(?:FORCED)$", turn: 2+}
    reply: {text: "The gateway answered in 3 ms [T{{ results[0].number }}]."}

  - when: {agent: ^Looker, tools: [], turn: 0}
    reply:
      text: |
        Thought: I look at the gateway first.
        Action: net.ping
        Action Input: {"host": "gw-2"}
  - when: {agent: ^Looker, tools: [], turn: 1}
    reply: {text: "Thought: Now the routes.\\nAction: net.routes\\nAction Input: {}"}
  - when: {agent: ^Looker, tools: [], turn: 2}
    reply:
      text: |
        Thought: And the other one.
        Action: net.ping
        Action Input: {"host": "gw-3 ✓"}
  - when: {agent: ^Looker, tools: []}
    reply:
      text: |
        Thought: That is enough.
        Final Answer:
        ## Conclusion
        The gateway answered in 3 ms. Confidence: high

        ## Evidence
        1. It answered in 3 ms. [T{{ results[0].number }}]
  - when: {agent: ^ChatAgent, tools: [], turn: 0}
    reply: {text: "Thought: Again.\\nAction: net.routes\\nAction Input: {}"}
  - when: {agent: ^ChatAgent, tools: []}
    reply: {text: "Final Answer: The default route goes by gw-2 [T{{ results[-1].number }}]."}

  - when: {agent: ^Looker, model: "^SINGLE$", turn: 2}
    reply: {tool_calls: [{name: net__routes}]}
  - when: {agent: ^Looker, model: "^SINGLE$", turn: 3}
    reply: {tool_calls: [{name: net__ping, arguments: {host: gw-3 ✓}}]}
  - when: {agent: ^Looker, turn: 0}
    reply:
      thinking: I look at the gateway and at the load.
      text: Looking at the gateway.
      tool_calls:
        - {name: net__ping, arguments: {host: gw-2}}
        - {name: ops__metrics, arguments: {action: load}}
  - when: {agent: ^Looker, turn: 1}
    reply:
      thinking: Now the routes.
      tool_calls: [{name: net__routes}]
  - when: {agent: ^Looker, turn: 2}
    reply:
      thinking: And the other one.
      text: One more.
      tool_calls: [{name: net__ping, arguments: {host: gw-3 ✓}}]
  - when: {agent: ^Looker}
    reply:
      thinking: That is enough.
      text: |
        ## Conclusion
        The gateway answered in 3 ms. Confidence: high

        ## Evidence
        1. It answered in 3 ms. [T{{ results[0].number }}]
  - when: {agent: ^ChatAgent, turn: 0}
    reply:
      thinking: I look once more.
      tool_calls: [{name: net__routes, arguments: {}}]
  - when: {agent: ^ChatAgent}
    reply: {text: "The default route goes by gw-2 [T{{ results[-1].number }}]."}
"""
for _name, _models in (
    ("FALLING", [each.model for each in FALLBACKS]),
    ("FORCED", [each.model for each in FORCED]),
    ("SINGLE", find_dialect(_SINGLE).models),
):
    SCRIPT = SCRIPT.replace(_name, "|".join(_models))


@contextmanager
def run_tool_server() -> Iterator[str]:
    """A real tool server on a port of its own; gives its address."""
    server = MCPServer("net")

    @server.tool()
    def ping(host: str) -> str:
        """Ask a host whether it is there."""
        return f"{host} answered in 3 ms"

    @server.tool()
    def routes() -> str:
        """List the routes."""
        return "default via gw-2"

    with serving(server.streamable_http_app()) as url:
        yield f"{url}/mcp"


def write_configuration(rehearsal_url: str, tools_url: str) -> tuple[str, str]:
    """`tarsy.yaml` and `llm-providers.yaml`."""
    chains = {
        each.name: {
            "alert_types": [each.name],
            "llm_provider": each.name,
            "fallback_providers": [{"provider": each.follower, "backend": "langchain"}]
            if each.follower
            else [],
            "stages": [{"name": "look", "agents": [{"name": "Looker"}]}],
            "chat": {"enabled": True, "agent": "ChatAgent"},
            **({"max_iterations": 2} if each in FORCED else {}),
        }
        for each in EVERY
    }
    tarsy: dict[str, Any] = {
        "agents": {"Looker": {"description": "Looks", "mcp_servers": ["net", "ops"]}},
        "agent_chains": chains,
        "mcp_servers": {
            "net": {
                "transport": {"type": "http", "url": tools_url},
                "tools": {"ping": "read", "routes": "read"},
            }
        },
        "defaults": {"alert_type": FAMILIES[0].name, "llm_provider": FAMILIES[0].name},
        "queue": {
            "max_concurrent_sessions": len(chains),
            "poll_interval": "500ms",
            "poll_interval_jitter": "100ms",
        },
    }
    providers = {
        each.name: _write_provider(each, rehearsal_url.removesuffix("/v1")) for each in EVERY
    }
    return yaml.safe_dump(tarsy), yaml.safe_dump({"llm_providers": providers})


def _write_provider(family: Family, address: str) -> Mapping[str, object]:
    kind = family.kind or _TYPES.get(family.dialect, "openai")
    path = "" if kind == "anthropic" else "/v1"
    return {
        "type": kind,
        "model": family.own_model,
        "api_key_env": KEY,
        **({"base_url": f"{address}/{family.dialect}{path}"} if family.has_address else {}),
    }


@dataclass(frozen=True)
class Outcome:
    session: AlertSession
    chat: Stage


def investigate_all() -> Mapping[str, Outcome]:
    """A session of each, all at once, and a question to each of them behind it."""
    sessions = {each.name: submit(each.name) for each in EVERY}
    for session in sessions.values():
        wait_until_ended(session, within=240)
    questions = {
        name: ask_question(session.pk, QUESTION, author="ana")
        for name, session in sessions.items()
        if session.status == "completed"
    }

    def are_answered() -> bool:
        stages = Stage.objects.filter(pk__in=[each.stage_id for each in questions.values()])
        return all(stage.is_terminal for stage in stages)

    wait_for(are_answered, within=240, what="the answers")
    return {
        name: Outcome(sessions[name], Stage.objects.get(pk=question.stage_id))
        for name, question in questions.items()
    }
