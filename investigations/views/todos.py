"""What is wrong with the product itself, and what a person does about it: the grave first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from config import environment
from config.providers import REHEARSAL, choose_provider, how_to_configure
from config.words import count, list_names
from investigations.selectors.configuration.models_in_use import ModelState
from investigations.selectors.system.last_hour import MOST_CAUSES, LastHour
from investigations.selectors.system.parts import Core
from investigations.selectors.system.senders import SenderState
from investigations.selectors.system.warnings import SystemWarning


@dataclass(frozen=True)
class ToDo:
    """Something that is wrong, and what a person does about it."""

    tone: Literal["bad", "doubt"]
    title: str
    text: str
    since: datetime | None = None
    server_id: str = ""
    """The tool server that can be tried after it was put right."""


def list_todos(
    core: Core,
    models: Sequence[ModelState],
    warnings: Sequence[SystemWarning],
    senders: SenderState,
    hour: LastHour,
) -> Iterator[ToDo]:
    """The grave ones first."""
    todos = [
        *_about_no_model(models),
        *_about_parts(core),
        *_about_models(models),
        *_about_sessions(hour),
        *_about_senders(senders),
        *map(_about_warning, _others(warnings)),
    ]
    yield from sorted(todos, key=lambda todo: todo.tone != "bad")


def _about_parts(core: Core) -> Iterator[ToDo]:
    for part in core.parts:
        if part.trouble:
            yield ToDo("bad" if part.state == "down" else "doubt", part.trouble, part.to_do)


def _about_no_model(models: Sequence[ModelState]) -> Iterator[ToDo]:
    """Where none can answer, or only the scripted one does: with what to set."""
    text = how_to_configure()
    if models and _has_no_key(models):
        yield ToDo("bad", "No model is configured: whatever asks one fails", text)
    elif choose_provider(environment()) == REHEARSAL and any(
        model.provider_name == REHEARSAL for model in models
    ):
        said = "No model is configured: scripted answers stand in for one"
        yield ToDo("doubt", said, f"Tools and their results are real. {text}")


def _has_no_key(models: Sequence[ModelState]) -> bool:
    return all(model.state == "no_key" for model in models)


def _about_sessions(hour: LastHour) -> Iterator[ToDo]:
    """Failures of the last hour that nobody has acknowledged, by cause."""
    for group in hour.causes[:MOST_CAUSES]:
        text = f"{group.cause or 'No reason was told.'} The list has them under Needs you."
        at = group.newest.session.completed_at
        yield ToDo(
            "bad", f"{count(len(group.rows), 'session')} failed within the last hour", text, at
        )


def _about_models(models: Sequence[ModelState]) -> Iterator[ToDo]:
    for model in models:
        if model.state == "no_key" and not _has_no_key(models):
            title = f"The model provider {model.provider_name} has no key"
            yield ToDo("bad", title, model.to_do)
        if model.state == "failing":
            title = f"The model provider {model.provider_name} fails"
            yield ToDo("bad", title, f"{model.calls.error} {model.to_do}", model.calls.failed_at)
        if model.state == "unsteady":
            calls = model.calls
            failed = f"{calls.failed_lately} of {calls.lately}"
            title = f"{failed} calls of {model.provider_name} failed within the last hour"
            yield ToDo("doubt", title, f"{calls.error} {model.to_do}", calls.failed_at)


def _about_senders(senders: SenderState) -> Iterator[ToDo]:
    for rule in senders.closed:
        title = f"No post of {rule.source} is taken: its secret is missing"
        text = f"Set {list_names(rule.missing)} where the web processes run, and start them again."
        yield ToDo("bad", title, text)


def _others(warnings: Sequence[SystemWarning]) -> Iterator[SystemWarning]:
    """Without those on Redis and the workers, whose parts say the same."""
    return (each for each in warnings if each.category not in ("redis", "workers"))


def _about_warning(warning: SystemWarning) -> ToDo:
    if warning.category == "configuration":
        text = f"In {warning.details}. The files are read when a process starts."
        return ToDo("doubt", warning.message, text)
    title = warning.message[:1].upper() + warning.message[1:]
    return ToDo("bad", title, warning.details, warning.created_at, warning.server_id or "")
