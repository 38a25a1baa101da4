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
        render("every_agent/name", name=prompt.agent_name),
        render("every_agent/day", day=describe_day(prompt.now, prompt.holidays)),
        render(
            "investigation/rules",
            has_tools=prompt.has_tools,
            calls_at_once=not prompt.is_react,
            provider_tools=_name_provider_tools(prompt),
        ),
        render("every_agent/outside_rules", is_reader=False),
        render("every_agent/report_shape"),
        _prescribe_form(prompt, "report", can_call=prompt.has_tools),
        render("tools/server_instructions", said=_list_instructions(prompt)),
        render("tools/unavailable", names=sorted(prompt.unavailable), result="report"),
        render("every_agent/skills", skills=prompt.skills),
        render("every_agent/instructions", instructions=prompt.agent_instructions),
        render("investigation/focus"),
    )
    user = join_sections(
        render("tools/servers", words=_list_words(prompt), unavailable=_sort_errors(prompt)),
        render("tools/descriptions", servers=describe_tools(prompt.tools)),
        render("case/alert", alert=prompt.alert, shows_type=True),
        render("case/runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("case/previous_stages", stages=prompt.previous_stages, is_synthesis=False),
        render("investigation/task", has_tools=prompt.has_tools),
    )
    return Message("system", system), Message("user", user)


def build_synthesis(prompt: SynthesisInput) -> Opening:
    """The opening of an agent that makes one report of several investigations."""
    system = join_sections(
        render("every_agent/name", name=prompt.agent_name),
        render("every_agent/day", day=describe_day(prompt.now, prompt.holidays)),
        render("synthesis/rules", provider_tools=_name_provider_tools(prompt)),
        render("every_agent/outside_rules", is_reader=False),
        render("every_agent/report_shape"),
        render("every_agent/skills", skills=prompt.skills),
        render("every_agent/instructions", instructions=prompt.agent_instructions),
        render("synthesis/focus"),
    )
    completed = sum(1 for findings in prompt.findings if findings.is_completed)
    user = join_sections(
        render("case/alert", alert=prompt.alert, shows_type=False),
        render("case/runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("case/previous_stages", stages=prompt.previous_stages, is_synthesis=True),
        render("synthesis/findings", prompt=prompt, completed=completed),
        render("synthesis/task"),
    )
    return Message("system", system), Message("user", user)


def build_executive_summary(prompt: ExecutiveSummaryInput) -> Opening:
    """The opening of the call that puts a report into one to four lines."""
    return (
        Message(
            "system",
            join_sections(
                render("every_agent/name", name=prompt.agent_name),
                render("executive_summary/rules"),
                render("every_agent/outside_rules", is_reader=True),
            ),
        ),
        Message("user", render("executive_summary/task", prompt=prompt)),
    )


def build_chat(prompt: ChatInput) -> Opening:
    """The opening of an agent that answers a question about an investigation."""
    system = join_sections(
        render("every_agent/name", name=prompt.agent_name),
        render("every_agent/day", day=describe_day(prompt.now, prompt.holidays)),
        render(
            "chat/rules",
            has_tools=prompt.has_tools,
            can_recall=prompt.can_recall,
            provider_tools=_name_provider_tools(prompt),
        ),
        render("every_agent/outside_rules", is_reader=False),
        _prescribe_form(prompt, "answer", can_call=prompt.has_tools or prompt.can_recall),
        render("tools/server_instructions", said=_list_instructions(prompt)),
        render("tools/unavailable", names=sorted(prompt.unavailable), result="answer"),
        render("every_agent/skills", skills=prompt.skills),
        render("every_agent/instructions", instructions=prompt.agent_instructions),
    )
    user = join_sections(
        render("tools/servers", words=_list_words(prompt), unavailable=_sort_errors(prompt)),
        render("tools/descriptions", servers=describe_tools(prompt.tools)),
        render("case/alert", alert=prompt.alert, shows_type=True),
        render("case/runbook", runbook=prompt.runbook, problem=prompt.runbook_problem),
        render("chat/history", prompt=prompt),
        render("chat/task", prompt=prompt),
    )
    return Message("system", system), Message("user", user)


def _prescribe_form(prompt: PromptInput | ChatInput, result: str, *, can_call: bool) -> str:
    """How to call tools by text; empty for models that need not."""
    if not prompt.is_react:
        return ""
    return render("tools/react_rules", has_tools=can_call, result=result)


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
