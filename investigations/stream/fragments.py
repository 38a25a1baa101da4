"""Pieces of the session page for the stream, made with the templates of the page itself.

Each piece is one or more elements with an id: the page's script puts them in the place of the
element with the same id, or into the element that `data-into` names.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from django.template.loader import render_to_string

from agents.our_lines import leave_out_told
from config.words import list_names
from investigations.models import AlertSession
from investigations.rendering.markdown import CitedTool
from investigations.selectors.approvals import count_waiting, get_approval
from investigations.selectors.incidents import IncidentDetail, read_shown_incident
from investigations.selectors.session_page.conclusions import build_card, conclusion_of
from investigations.selectors.session_page.event_previews import (
    read_call,
    read_cited_tools,
    read_events,
)
from investigations.selectors.session_page.event_view import EventView
from investigations.selectors.session_page.page import (
    find_session,
    read_agent,
    read_session_page,
    read_stage,
)
from investigations.selectors.session_page.question_field import read_ask_field
from investigations.selectors.session_page.stage_view import SessionPage
from investigations.selectors.tool_counts import count_of_executions
from investigations.stream_messages import APPROVAL_DECIDED, APPROVAL_REQUESTED


def fragment_for(payload: Mapping[str, Any]) -> str | None:
    """The HTML that goes with a stored message, or None when it changes nothing on the page.

    Shows the state of now, not of the message: a page that catches up never goes back in time.
    The same for every viewer, so that sockets can share it.
    """
    return fragments_for([payload])[0]


def fragments_for(payloads: Sequence[Mapping[str, Any]]) -> list[str | None]:
    """The same for messages of one session: what several of them show is read and made once."""
    made: dict[tuple[object, ...], str | None] = {}
    readings: dict[str, _Reading] = {}
    events = [uuid.UUID(each["event_id"]) for each in payloads if _is_of_event(each)]
    fragments: list[str | None] = []
    for payload in payloads:
        render = _RENDERERS.get(str(payload.get("type")))
        if render is None:
            fragments.append(None)
            continue
        key = (render, *(payload.get(name) for name in _ABOUT))
        if key not in made:
            session = payload["session_id"]
            if session not in readings:
                readings[session] = _Reading(uuid.UUID(session), events)
            made[key] = render(payload, readings[session])
        fragments.append(made[key])
    return fragments


class _Reading:
    """What the fragments of a session need, read when the first of them asks for it."""

    def __init__(self, session_id: uuid.UUID, event_ids: Sequence[uuid.UUID]) -> None:
        self.session_id = session_id
        self._event_ids = event_ids

    @cached_property
    def events(self) -> Mapping[uuid.UUID, EventView]:
        return read_events(self.session_id, self._event_ids)

    @cached_property
    def tools(self) -> Mapping[int, CitedTool]:
        return read_cited_tools(self.session_id)

    @cached_property
    def tool_counts(self) -> Mapping[uuid.UUID, int]:
        return count_of_executions(self.session_id)

    @cached_property
    def session(self) -> AlertSession | None:
        return find_session(self.session_id)

    @cached_property
    def context(self) -> Mapping[str, object] | None:
        return None if self.session is None else session_context(read_session_page(self.session))

    @cached_property
    def incident(self) -> IncidentDetail | None:
        return read_shown_incident(self.session) if self.session else None


def session_context(page: SessionPage) -> dict[str, object]:
    """What the templates of a session's page need."""
    session = page.session
    claims = page.claims
    card = build_card(session.final_analysis, claims) if session.final_analysis else None
    return {
        "page": page,
        "session": session,
        "tools": claims.mark_misquoted(page.tools),
        "claims": claims,
        "unsupported": claims.marks,
        "summary": leave_out_told(session.executive_summary, session.final_analysis),
        "card": card,
        "so_far": "" if session.is_terminal else conclusion_of(session.final_analysis),
        "ask": read_ask_field(page, card),
        "waits_for": _waiting_words(page),
    }


def render_facts(page: SessionPage) -> str:
    """The numbers that grow while agents work: the session's and each agent's."""
    return render_to_string("investigations/session/facts_update.html", session_context(page))


def _is_of_event(payload: Mapping[str, Any]) -> bool:
    return _RENDERERS.get(str(payload.get("type"))) is _timeline_event


def _timeline_event(payload: Mapping[str, Any], reading: _Reading) -> str | None:
    view = reading.events.get(uuid.UUID(payload["event_id"]))
    if view is None:
        return None
    may_cite = view.event.event_type in view.event.MARKDOWN or "[T" in view.content
    tools = reading.tools if may_cite else {}
    if view.is_of_incident and reading.context is not None:
        return _news_of_incident(view, reading.context, reading.incident)
    if view.stands_on_card and reading.context is not None:
        return _event_and_card(view, reading.session_id, reading.context)
    # An error is told in one place; where that is, the session says.
    session = reading.session if view.event.event_type == view.event.Type.ERROR else None
    row = render_to_string(view.template, {"item": view, "tools": tools, "session": session})
    execution_id = view.event.execution_id
    if execution_id is None or view.event.event_type != view.event.Type.LLM_TOOL_CALL:
        return row
    # The figure on the card of its agent comes with the row that it counts, and never after it.
    context = {"execution_id": execution_id, "number": reading.tool_counts.get(execution_id, 0)}
    return row + render_to_string("investigations/session/tool_count.html", context)


def _news_of_incident(
    view: EventView, page: Mapping[str, object], incident: IncidentDetail | None
) -> str:
    """The event, and what the page says of the incident from now on."""
    context = {**page, "item": view, "incident": incident}
    return render_to_string("investigations/session/incident_update.html", context)


def _event_and_card(view: EventView, session_id: uuid.UUID, page: Mapping[str, object]) -> str:
    """The event, and what its agent's card and the line above the page say from now on."""
    execution_id = view.event.execution_id
    agent = read_agent(session_id, execution_id) if execution_id else None
    context = {**page, "item": view, "agent": agent}
    return render_to_string("investigations/session/agent_update.html", context)


def _stage_status(payload: Mapping[str, Any], reading: _Reading) -> str | None:
    stage = read_stage(reading.session_id, uuid.UUID(payload["stage_id"]))
    if reading.context is None or stage is None:
        return None
    context = {"item": stage, **reading.context}
    return render_to_string("investigations/session/stage_update.html", context)


def _execution_status(payload: Mapping[str, Any], reading: _Reading) -> str | None:
    agent = read_agent(reading.session_id, uuid.UUID(payload["execution_id"]))
    if agent is None:
        return None
    return render_to_string("investigations/session/agent_head.html", {"agent": agent})


def _session_status(_payload: Mapping[str, Any], reading: _Reading) -> str | None:
    if reading.context is None:
        return None
    context = {**reading.context, "incident": reading.incident}
    return render_to_string("investigations/session/session_update.html", context)


def _approval(payload: Mapping[str, Any], reading: _Reading) -> str | None:
    """The request itself, its call, the heads of session and agent, and for whom the bar above
    counts what waits, that count: a person is needed, or no longer."""
    if reading.context is None:
        return None
    approval = get_approval(uuid.UUID(payload["approval_id"]))
    context = {
        "approval": approval,
        "stage": read_stage(reading.session_id, approval.execution.stage_id),
        "item": read_call(approval.execution_id, approval.tool_number),
        "agent": read_agent(reading.session_id, uuid.UUID(payload["execution_id"])),
        "incident": reading.incident,
        "approvals": count_waiting(),
        **reading.context,
    }
    return render_to_string("investigations/session/approval_update.html", context)


def _waiting_words(page: SessionPage) -> str:
    """What a conclusion waits for, with names."""
    current = page.current
    if page.session.status == page.session.Status.PENDING:
        return "The investigation starts when a worker is free."
    if page.session.status == page.session.Status.CANCELLING:
        return "The agents are being stopped."
    if current is None:
        return "The next stage is about to start."
    if askers := current.askers:
        verb = "waits" if len(askers) == 1 else "wait"
        return f"{list_names(askers)} {verb} for a person to decide about a change."
    names = current.open_agents
    if not names:
        return f"{current.stage.stage_name} is closing."
    more = page.still_to_come
    follow = "stage follows" if more == 1 else "stages follow"
    after = f", then {more} more {follow}" if more else ""
    verb = "is" if len(names) == 1 else "are"
    return f"{current.stage.stage_name} ends when {list_names(names)} {verb} done{after}."


_ABOUT = ("session_id", "event_id", "stage_id", "execution_id", "approval_id")
"""What tells one message of a type from another: all of them show the state of now."""
_RENDERERS: Mapping[str, Callable[[Mapping[str, Any], _Reading], str | None]] = {
    "timeline_event.created": _timeline_event,
    "timeline_event.completed": _timeline_event,
    "stage.status": _stage_status,
    "execution.status": _execution_status,
    "session.status": _session_status,
    "session.updated": _session_status,
    APPROVAL_REQUESTED: _approval,
    APPROVAL_DECIDED: _approval,
}
