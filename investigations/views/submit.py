"""The page that sends an alert, and the piece of it that says what would run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from config import get_config
from config.model import Config
from config.schema.agents import NativeToolsConfig
from config.selection import ToolSelection, parse_selection
from investigations.access.identity import actor_of
from investigations.access.limits import count_request
from investigations.models import AlertSession
from investigations.rendering.curl import Curl, write_curl
from investigations.roles import SUBMIT
from investigations.selectors.configuration.plans import Plan, doubts_about, make_plan, read_usual
from investigations.selectors.sessions import count_active_and_queued
from investigations.selectors.system.tool_servers import ToolServer, list_tool_servers
from investigations.services.intake import DATA_LIMIT, preview_alert, read_alert, submit_alert
from investigations.services.runbooks import available_runbooks
from investigations.services.sessions import retry_session
from investigations.views.access import find_shown, for_those_who_may
from investigations.views.alert_form import (
    AlertForm,
    Row,
    form_of_session,
    read_form,
    read_session_id,
)
from investigations.views.form_errors import FORM, as_sentence, find_subject, say_error
from investigations.views.routing import list_sources
from tarsy.errors import Conflict, InvalidInput, QueueFull, TooManyRequests
from tarsy.proxies import address_asked

SHOWN_ROWS = 3
_SUBJECTS = {
    "data": "The alert",
    "alert_type": "The alert type",
    "runbook": "The runbook",
    "servers": "The choice of tool servers",
    "native_tools": "The choice of native tools",
    "fingerprint": "The fingerprint",
    "rows": "This row",
}
"""What an error is about, by its place on the page."""


@require_http_methods(["GET", "HEAD", "POST"])
@for_those_who_may(SUBMIT)
def submit(request: HttpRequest) -> HttpResponse:
    """The form; sent, it starts an investigation, or shows what is wrong with nothing lost.

    Nothing starts but for the button that says so.
    """
    if request.method in ("GET", "HEAD"):
        return _show_first(request)
    form, action = read_form(request.POST), request.POST.get("action", "preview")
    source = _find_source(request.POST)
    show = partial(_show, request, form, source=source)
    if action not in ("submit", "dry_run"):
        return show(spare_rows=1 if action == "add_row" else 0)
    try:
        if action == "dry_run":
            alert = read_alert(form.body())
            count_request(request, "requests")
            return show(dry_run=preview_alert(alert))
        session = _start(request, form, source)
    except InvalidInput as error:
        return show(errors=_place(error), status=422)
    except Conflict as error:
        return show(errors={FORM: as_sentence(str(error))}, status=409)
    except (QueueFull, TooManyRequests) as error:
        refused = show(errors={FORM: as_sentence(str(error))}, status=429)
        refused.headers["Retry-After"] = str(error.retry_after)
        return refused
    return redirect("session", session_id=session.pk)


def _start(request: HttpRequest, form: AlertForm, source: AlertSession | None) -> AlertSession:
    """What is filled from a session and still its alert is a retry of it, of the same incident.

    Any other alert is one by itself.
    """
    actor = actor_of(request)
    if source is not None and form.repeats(source):
        count_request(request, "alerts")
        return retry_session(source.pk, actor, form.choices())
    alert = read_alert(form.body())
    count_request(request, "alerts")
    return submit_alert(alert, author=actor)


def _find_source(asked: QueryDict) -> AlertSession | None:
    """The session that the form is filled from. Raises Http404 where it is named and not there."""
    wanted = asked.get("from", "")
    if not wanted:
        return None
    session_id = read_session_id(wanted)
    if session_id is None:
        raise Http404
    return find_shown(session_id)


@require_POST
@for_those_who_may(SUBMIT)
def preview(request: HttpRequest) -> HttpResponse:
    """What would run, and the same as a command, for what is filled in this far."""
    form = read_form(request.POST)
    context = {
        "source": _find_source(request.POST),
        **_preview_context(request, form, _read_servers()),
    }
    return render(request, "investigations/submit/preview.html", context)


@require_safe
@for_those_who_may(SUBMIT)
def runbooks(request: HttpRequest) -> HttpResponse:
    """The runbooks to choose from; it may take seconds to learn of them."""
    context = {"runbooks": available_runbooks()}
    return render(request, "investigations/submit/runbooks.html", context)


def _show_first(request: HttpRequest) -> HttpResponse:
    source = _find_source(request.GET)
    if source is None:
        form = AlertForm(alert_type=request.GET.get("alert_type", ""))
        return _show(request, form)
    form = form_of_session(source) if source.is_terminal else AlertForm()
    return _show(request, form, source=source)


def _show(
    request: HttpRequest,
    form: AlertForm,
    *,
    errors: Mapping[str, str] | None = None,
    dry_run: AlertSession | None = None,
    source: AlertSession | None = None,
    spare_rows: int = 0,
    status: int = 200,
) -> HttpResponse:
    config = get_config()
    form = replace(form, alert_type=form.alert_type or config.default_alert_type)
    blank = max(SHOWN_ROWS - len(form.rows), spare_rows)
    servers = _read_servers()
    choices = _list_choices(form, servers)
    context = {
        "form": form,
        "errors": errors or {},
        "rows": [
            (row, (errors or {}).get(f"rows[{index}]", ""))
            for index, row in enumerate((*form.rows, *(Row(),) * blank))
        ],
        "types": _list_types(config, form.alert_type),
        "native_tools": _list_native_tools(form),
        "runbooks": available_runbooks(patience=0),
        "runbook_domains": config.system.runbooks.allowed_domains,
        "lists_runbooks": bool(config.system.runbooks.repo_url),
        "uses_slack": config.system.slack.enabled or bool(form.fingerprint),
        "data_limit": DATA_LIMIT,
        "dry_run": dry_run,
        "no_json": form.find_json_fault() if dry_run else "",
        "source": source,
        "route_sources": list_sources(),
        "choices": choices,
        "chosen": [choice.words for choice in choices if choice.is_chosen],
        **_preview_context(request, form, servers),
    }
    return render(request, "investigations/submit.html", context, status=status)


def _read_servers() -> Mapping[str, ToolServer]:
    return {server.id: server for server in list_tool_servers()}


def _preview_context(
    request: HttpRequest, form: AlertForm, servers: Mapping[str, ToolServer]
) -> dict[str, object]:
    config = get_config()
    selection = _read_selection(form, config)
    plan = _make_plan(config, form, selection, servers)
    running, queued = count_active_and_queued()
    return {
        "alert_type": form.wanted_type or config.default_alert_type,
        "plan": plan,
        "doubts": doubts_about(plan, selection, servers) if plan else (),
        "usual": read_usual(plan.chain.name) if plan else None,
        "queued": queued,
        "is_full": running >= config.queue.max_concurrent_sessions,
        "curl": _write_curl(request, form),
        "needs_token": settings.TARSY_AUTH != "none",
    }


def _read_selection(form: AlertForm, config: Config) -> ToolSelection:
    """What was chosen; nothing where it is wrong, which is told when it is sent."""
    try:
        return parse_selection(form.wanted_selection, config)
    except InvalidInput:
        return ToolSelection()


def _make_plan(
    config: Config, form: AlertForm, selection: ToolSelection, servers: Mapping[str, ToolServer]
) -> Plan | None:
    chain = config.chain_for(form.wanted_type or config.default_alert_type)
    return make_plan(config, chain, selection, servers) if chain else None


def _write_curl(request: HttpRequest, form: AlertForm) -> Curl | None:
    """None while there is no alert to send yet, or its rows make none."""
    if form.is_empty:
        return None
    address = f"{address_asked(request)}/api/v1/alerts"
    try:
        body = form.body()
    except InvalidInput:
        return None
    return write_curl(body, address=address, needs_token=settings.TARSY_AUTH != "none")


def _place(error: InvalidInput) -> dict[str, str]:
    """An error by its place on the page."""
    name = error.field
    if name.startswith("mcp"):
        name = "native_tools" if name.startswith("mcp.native_tools") else "servers"
    if name == "slack_message_fingerprint":
        name = "fingerprint"
    subject = find_subject(name, _SUBJECTS)
    return {name if subject else FORM: say_error(error, subject)}


# ---- What there is to choose from ---------------------------------------------------------------


@dataclass(frozen=True)
class TypeChoice:
    name: str
    chain_id: str
    """Empty where no chain takes it any more."""
    is_chosen: bool


@dataclass(frozen=True)
class ToolChoice:
    name: str
    about: str
    is_chosen: bool
    writes: str = ""
    """Whether it can change things, in words; empty where it only reads or nobody has seen it."""


@dataclass(frozen=True)
class ServerChoice:
    """A tool server to tick, and its tools as far as they are known."""

    name: str
    is_chosen: bool
    state: str
    tools: tuple[ToolChoice, ...]

    @property
    def count_chosen(self) -> int:
        return sum(tool.is_chosen for tool in self.tools)

    @property
    def words(self) -> str:
        """The server, and how many of its tools where not all of them are meant."""
        some = f" ({self.count_chosen} of {len(self.tools)} tools)" if self.count_chosen else ""
        return f"{self.name}{some}"


@dataclass(frozen=True)
class NativeChoice:
    name: str
    said: str
    """`on`, `off`, or empty where it is left as configured."""

    @property
    def label(self) -> str:
        return self.name.replace("_", " ").capitalize()


def _list_types(config: Config, chosen: str) -> list[TypeChoice]:
    known = [
        TypeChoice(alert_type, chain.name, alert_type == chosen)
        for chain in config.chains.values()
        for alert_type in chain.alert_types
    ]
    if chosen not in {choice.name for choice in known}:
        known.append(TypeChoice(chosen, "", is_chosen=True))
    return sorted(known, key=lambda choice: choice.name)


def _list_choices(form: AlertForm, servers: Mapping[str, ToolServer]) -> list[ServerChoice]:
    """Every configured server, and those of an earlier alert that are configured no more."""
    gone = [name for name in form.servers if name not in servers]
    return [
        ServerChoice(
            name,
            name in form.servers,
            servers[name].state if name in servers else "gone",
            tuple(_list_tools(form.tools.get(name, ()), servers.get(name))),
        )
        for name in (*servers, *gone)
    ]


def _list_tools(chosen: Iterable[str], server: ToolServer | None) -> Iterable[ToolChoice]:
    tools = server.tools if server else ()
    for tool in tools:
        name = tool["name"]
        yield ToolChoice(name, tool["description"], name in chosen, _say_writes(tool))
    for name in sorted({*chosen} - {tool["name"] for tool in tools}):
        yield ToolChoice(name, "", is_chosen=True)


def _say_writes(tool: Mapping[str, Any]) -> str:
    """Whether some or all of a tool's actions are writes, or nobody has said that they are not."""
    if not tool.get("is_classed", True):
        return "nobody has classed it"
    kinds = set(tool["classes"].values())
    if "write" not in kinds:
        return ""
    return "writes" if kinds == {"write"} else "reads and writes"


def _list_native_tools(form: AlertForm) -> list[NativeChoice]:
    words = {True: "on", False: "off"}
    return [
        NativeChoice(name, words[form.native_tools[name]] if name in form.native_tools else "")
        for name in NativeToolsConfig.model_fields
    ]
