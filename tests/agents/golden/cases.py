"""What is asked of each type of provider for the golden requests."""

from dataclasses import dataclass

from agents.llm.settings import NativeTool, ProviderSettings
from agents.types import Message, ToolCall, ToolSpec

QUESTION = (Message("system", "Be brief."), Message("user", "What is full?"))
READ = ToolSpec(
    "ops.read",
    "ops__read",
    "Reads a path",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
GOOGLE_ID = "call_0123456789__thought__c2lnbmF0dXJlK29mL2dvb2dsZQ=="
BY_GOOGLE = {
    "provider": "google-default",
    "fields": {
        "provider_specific_fields": {"thought_signatures": ["c2lnbmF0dXJlK29mL2dvb2dsZQ=="]}
    },
}
BY_CLAUDE = {
    "provider": "anthropic-default",
    "fields": {
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "b2YgY2xhdWRl"}]
    },
}


def continue_from(call_id: str, fields) -> tuple[Message, ...]:
    """A conversation in which some provider has called a tool."""
    called = ToolCall(call_id, "ops__read", '{"path": "/"}')
    return (
        *QUESTION,
        Message("assistant", "I look.", (called,), provider_fields=fields),
        Message("tool", "[T1] 94 % used", tool_call_id=call_id, tool_name="ops__read"),
    )


AFTER_GOOGLE = continue_from(GOOGLE_ID, BY_GOOGLE)
AFTER_CLAUDE = continue_from("toolu_1", BY_CLAUDE)


@dataclass(frozen=True)
class Case:
    """One request. `name` is the file it is kept in."""

    name: str
    type: str
    model: str
    messages: tuple[Message, ...] = QUESTION
    tools: tuple[ToolSpec, ...] = (READ,)
    native_tools: frozenset[NativeTool] = frozenset()
    is_direct: bool = False

    def make_settings(self, base_url: str, credentials: str) -> ProviderSettings:
        # Anthropic's addresses carry their version themselves.
        is_bare = "claude" in self.model
        is_vertex = self.type == "vertexai"
        return ProviderSettings(
            f"{self.type}-default",
            self.type,
            self.model,
            api_key="" if is_vertex else "secret-key",
            base_url=base_url.removesuffix("/v1") if is_bare else base_url,
            backend="google-native" if self.type == "google" else "langchain",
            native_tools=self.native_tools,
            vertex_project="project-1" if is_vertex else "",
            vertex_location="europe-west1" if is_vertex else "",
            vertex_credentials=credentials if is_vertex else "",
        )


CASES = (
    Case("google_functions", "google", "gemini-3.7-flash"),
    Case("google_pro_budget", "google", "gemini-2.5-pro"),
    Case("google_flash_budget", "google", "gemini-2.5-flash"),
    Case(
        "google_native_tools",
        "google",
        "gemini-3.7-flash",
        tools=(),
        native_tools=frozenset({"google_search", "url_context", "code_execution"}),
    ),
    Case(
        "google_functions_win_over_native_tools",
        "google",
        "gemini-3.7-flash",
        native_tools=frozenset({"google_search", "url_context"}),
    ),
    Case(
        "google_image",
        "google",
        "gemini-3.1-flash-image",
        native_tools=frozenset({"google_search", "url_context"}),
    ),
    Case("google_after_itself", "google", "gemini-3.7-flash", AFTER_GOOGLE),
    Case("google_after_claude", "google", "gemini-3.7-flash", AFTER_CLAUDE),
    Case("openai", "openai", "gpt-5.2"),
    Case("openai_chat_model", "openai", "gpt-5-chat-latest"),
    Case("openai_older_model", "openai", "gpt-4o"),
    Case("openai_after_google", "openai", "gpt-5.2", AFTER_GOOGLE),
    Case("anthropic_adaptive", "anthropic", "claude-sonnet-5"),
    Case("anthropic_budget", "anthropic", "claude-sonnet-4-5"),
    Case("anthropic_budget_after_itself", "anthropic", "claude-sonnet-4-5", AFTER_CLAUDE),
    Case("anthropic_budget_after_google", "anthropic", "claude-sonnet-4-5", AFTER_GOOGLE),
    Case("anthropic_adaptive_after_google", "anthropic", "claude-sonnet-5", AFTER_GOOGLE),
    Case("anthropic_conclusion_without_tools", "anthropic", "claude-sonnet-5", AFTER_CLAUDE, ()),
    Case("xai", "xai", "grok-4.6"),
    Case("xai_after_google", "xai", "grok-4.6", AFTER_GOOGLE),
    Case("vertexai_claude", "vertexai", "claude-sonnet-5"),
    Case("vertexai_gemini", "vertexai", "gemini-3.7-flash"),
    Case("compatible", "openai", "llama-4", is_direct=True),
    Case("compatible_after_google", "openai", "llama-4", AFTER_GOOGLE, is_direct=True),
)
