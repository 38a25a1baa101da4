"""Pieces of the session page for the stream, made with the templates of the page itself.

Each piece is one or more elements with an id: the page's script puts them in the place of the
element with the same id, or into the element that `data-into` names.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from investigations.asking import read_ask_field
from investigations.selectors.approvals import get_approval
from investigations.selectors.conclusions import build_card
from investigations.selectors.pages import (
    SessionPage,
    find_session,
    read_agent,
    read_cited_tools,
    read_event,
    read_session_page,
    read_stage,
)
from investigations.timeline import APPROVAL_DECIDED, APPROVAL_REQUESTED


def fragment_for(payload: Mapping[str, Any]) -> str | None:
    """The HTML that goes with a stored message, or None when it changes nothing on the page.

    Shows the state of now, not of the message: a page that catches up never goes back in time.
    The same for every viewer, so that sockets can share it.
    """
    render = _RENDERERS.get(str(payload.get("type")))
    return render(payload) if render else None


def session_context(page: SessionPage) -> dict[str, object]:
    """What the templates of a session's page need."""
    session = page.session
    card = build_card(session.final_analysis, page.tools) if session.final_analysis else None
    return {
        "page": page,
        "session": session,
        "tools": page.tools,
        "unsupported": page.unsupported,
        "card": card,
        "ask": read_ask_field(page, card),
        "waits_for": _waiting_words(page),
    }


def render_facts(page: SessionPage) -> str:
    """The numbers that grow while agents work: the session's and each agent's."""
    return render_to_string("investigations/session/facts_update.html", session_context(page))


def _timeline_event(payload: Mapping[str, Any]) -> str | None:
    session_id = uuid.UUID(payload["session_id"])
    view = read_event(session_id, uuid.UUID(payload["event_id"]))
    if view is None:
        return None
    tools = read_cited_tools(session_id) if view.event.event_type in view.event.MARKDOWN else {}
    return render_to_string(view.template, {"item": view, "tools": tools})


def _stage_status(payload: Mapping[str, Any]) -> str | None:
    session_id, stage_id = uuid.UUID(payload["session_id"]), uuid.UUID(payload["stage_id"])
    session, stage = find_session(session_id), read_stage(session_id, stage_id)
    if session is None or stage is None:
        return None
    context = {"item": stage, **session_context(read_session_page(session))}
    return render_to_string("investigations/session/stage_update.html", context)


def _execution_status(payload: Mapping[str, Any]) -> str | None:
    agent = read_agent(uuid.UUID(payload["session_id"]), uuid.UUID(payload["execution_id"]))
    if agent is None:
        return None
    return render_to_string("investigations/session/agent_head.html", {"agent": agent})


def _session_status(payload: Mapping[str, Any]) -> str | None:
    session = find_session(uuid.UUID(payload["session_id"]))
    if session is None:
        return None
    context = session_context(read_session_page(session))
    return render_to_string("investigations/session/session_update.html", context)


def _approval(payload: Mapping[str, Any]) -> str | None:
    """The request itself, and the heads of session and agent, which say that a person is needed."""
    session_id = uuid.UUID(payload["session_id"])
    session = find_session(session_id)
    if session is None:
        return None
    context = {
        "approval": get_approval(uuid.UUID(payload["approval_id"])),
        "agent": read_agent(session_id, uuid.UUID(payload["execution_id"])),
        **session_context(read_session_page(session)),
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
    names = current.open_agents
    if not names:
        return f"{current.stage.stage_name} is closing."
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    more = page.still_to_come
    follow = "stage follows" if more == 1 else "stages follow"
    after = f", then {more} more {follow}" if more else ""
    verb = "is" if len(names) == 1 else "are"
    return f"{current.stage.stage_name} ends when {listed} {verb} done{after}."


_RENDERERS = {
    "timeline_event.created": _timeline_event,
    "timeline_event.completed": _timeline_event,
    "stage.status": _stage_status,
    "execution.status": _execution_status,
    "session.status": _session_status,
    APPROVAL_REQUESTED: _approval,
    APPROVAL_DECIDED: _approval,
}
