"""Builds the messages that open a conversation.

The system message holds what the operator and this product say. Whatever came from outside, and
that includes what tool servers say about themselves, stands fenced in the user message.
"""

from collections.abc import Mapping

from agents.prompts.day import describe_day
from agents.prompts.inputs import (
    ChatInput,
    ExecutiveSummaryInput,
    PromptInput,
    SynthesisInput,
)
from agents.prompts.rendering import join_sections, render
from agents.prompts.tools import describe_tools
from agents.types import Message

Opening = tuple[Message, Message]


def build_investigation(prompt: PromptInput) -> Opening:
    """The opening of an agent that investigates, with tools or from what it is given."""
    system = join_sections(
        render("agent_name", name=prompt.agent_name),
        render("day", day=describe_day(prompt.now, prompt.holidays)),
        render(
            "investigation_rules",
            has_tools=prompt.has_tools,
            calls_at_once=not prompt.is_react,
            provider_tools=_name_provider_tools(prompt),
        ),
        render("outside_rules", is_reader=False),
        render("report_shape"),
        _prescribe_form(prompt, "report", can_call=prompt.has_tools),
        render("server_instructions", said=_list_instructions(prompt)),
        render("unavailable_names", names=sorted(prompt.unavailable), result="report"),
        render("skills", skills=prompt.skills),
        render("agent_instructions", instructions=prompt.agent_instructions),
        render("investigation_focus"),
    )
    user = join_sections(
        render("servers", words=_list_words(prompt), unavailable=_sort_errors(prompt)),
        render("tools", servers=describe_tools(prompt.tools)),
        render("alert", alert=prompt.alert, shows_type=True),
        render("runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("previous_stages", stages=prompt.previous_stages, is_synthesis=False),
        render("investigation_task", has_tools=prompt.has_tools),
    )
    return Message("system", system), Message("user", user)


def build_synthesis(prompt: SynthesisInput) -> Opening:
    """The opening of an agent that makes one report of several investigations."""
    system = join_sections(
        render("agent_name", name=prompt.agent_name),
        render("day", day=describe_day(prompt.now, prompt.holidays)),
        render("synthesis_rules", provider_tools=_name_provider_tools(prompt)),
        render("outside_rules", is_reader=False),
        render("report_shape"),
        render("skills", skills=prompt.skills),
        render("agent_instructions", instructions=prompt.agent_instructions),
        render("synthesis_focus"),
    )
    completed = sum(1 for findings in prompt.findings if findings.is_completed)
    user = join_sections(
        render("alert", alert=prompt.alert, shows_type=False),
        render("runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("previous_stages", stages=prompt.previous_stages, is_synthesis=True),
        render("findings", prompt=prompt, completed=completed),
        render("synthesis_task"),
    )
    return Message("system", system), Message("user", user)


def build_executive_summary(prompt: ExecutiveSummaryInput) -> Opening:
    """The opening of the call that puts a report into one to four lines."""
    return (
        Message(
            "system",
            join_sections(
                render("agent_name", name=prompt.agent_name),
                render("summary_rules"),
                render("outside_rules", is_reader=True),
            ),
        ),
        Message("user", render("summary_task", prompt=prompt)),
    )


def build_chat(prompt: ChatInput) -> Opening:
    """The opening of an agent that answers a question about an investigation."""
    system = join_sections(
        render("agent_name", name=prompt.agent_name),
        render("day", day=describe_day(prompt.now, prompt.holidays)),
        render(
            "chat_rules",
            has_tools=prompt.has_tools,
            can_recall=prompt.can_recall,
            provider_tools=_name_provider_tools(prompt),
        ),
        render("outside_rules", is_reader=False),
        _prescribe_form(prompt, "answer", can_call=prompt.has_tools or prompt.can_recall),
        render("server_instructions", said=_list_instructions(prompt)),
        render("unavailable_names", names=sorted(prompt.unavailable), result="answer"),
        render("skills", skills=prompt.skills),
        render("agent_instructions", instructions=prompt.agent_instructions),
    )
    user = join_sections(
        render("servers", words=_list_words(prompt), unavailable=_sort_errors(prompt)),
        render("tools", servers=describe_tools(prompt.tools)),
        render("alert", alert=prompt.alert, shows_type=True),
        render("runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("chat_history", prompt=prompt),
        render("chat_task", prompt=prompt),
    )
    return Message("system", system), Message("user", user)


def _prescribe_form(prompt: PromptInput | ChatInput, result: str, *, can_call: bool) -> str:
    """How to call tools by text; empty for models that need not."""
    if not prompt.is_react:
        return ""
    return render("react_rules", has_tools=can_call, result=result)


_PROVIDER_TOOLS = {
    "google_search": "search the web",
    "url_context": "read web pages",
    "code_execution": "run code of its own",
}


def _name_provider_tools(prompt: PromptInput | SynthesisInput | ChatInput) -> str:
    """What the model's provider does by itself, as a list of verbs."""
    return ", ".join(_PROVIDER_TOOLS.get(name, name) for name in prompt.provider_tools)


def _list_instructions(prompt: PromptInput | ChatInput) -> list[tuple[str, str]]:
    return _drop_empty(prompt.server_instructions)


def _list_words(prompt: PromptInput | ChatInput) -> list[tuple[str, str]]:
    return _drop_empty(prompt.server_words)


def _drop_empty(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, text.strip()) for name, text in texts.items() if text.strip()]


def _sort_errors(prompt: PromptInput | ChatInput) -> list[tuple[str, str]]:
    return sorted(prompt.unavailable.items())
