"""The page about the product itself: what to do, how its parts are, what is configured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from config import get_config
from config.container_detection import find_container
from config.usage import chains_that_name, servers_in_use
from investigations.roles import OPERATE
from investigations.selectors.configuration.for_page import show_configuration
from investigations.selectors.configuration.models_in_use import list_models
from investigations.selectors.configuration.plans import make_plan
from investigations.selectors.system.last_hour import read_last_hour
from investigations.selectors.system.parts import product_versions, read_core
from investigations.selectors.system.provider_checks import read_checks
from investigations.selectors.system.senders import read_senders
from investigations.selectors.system.tool_servers import (
    ToolServer,
    describe_unwatched,
    list_tool_servers,
)
from investigations.selectors.system.trials import Trial, read_trials
from investigations.selectors.system.warnings import (
    list_warnings,
    warn_of_configuration,
)
from investigations.services.trials import ask_for_trial
from investigations.views.access import for_those_who_may, for_viewers
from investigations.views.asking_workers import ask_worker
from investigations.views.model_checks import list_model_rows
from investigations.views.todos import list_todos


@dataclass(frozen=True)
class ServerRow:
    """A tool server, the last time somebody had it tried, and what would use one unchecked."""

    server: ToolServer
    transport: str
    trial: Trial | None = None
    refusal: str = ""
    named_by: Sequence[str] = ()


@never_cache
@require_safe
@for_viewers
def system(request: HttpRequest) -> HttpResponse:
    """Everything at a glance; what is wrong first."""
    core = read_core()
    has_redis = core.redis.state != "down"
    servers = list_tool_servers() if has_redis else _servers_without_redis()
    rows = _list_rows(servers, read_trials() if has_redis else {})
    models = list_models()
    model_rows = list_model_rows(models, read_checks() if has_redis else {})
    warnings = list_warnings() if has_redis else warn_of_configuration()
    config = get_config()
    senders = read_senders()
    hour = read_last_hour()
    context = {
        "hour": hour,
        "todos": list(list_todos(core, models, warnings, senders, hour)),
        "core": core,
        "rows": rows,
        "container": find_container(),
        "watched_count": sum(1 for row in rows if row.server.state != "unwatched"),
        "up_count": sum(1 for row in rows if row.server.healthy),
        "is_waiting": any(row.trial and row.trial.is_under_way for row in rows)
        or any(row.check and row.check.is_under_way for row in model_rows),
        "model_rows": model_rows,
        "senders": senders,
        "sections": show_configuration(config),
        "plans": {name: make_plan(config, chain) for name, chain in config.chains.items()},
        "versions": {**product_versions(), **core.versions},
        "now": timezone.now(),
    }
    return render(request, "investigations/system.html", context)


@require_POST
@for_those_who_may(OPERATE)
def try_server(request: HttpRequest) -> HttpResponse:
    """Have a worker try a tool server now. A script gets the row, a browser the page again."""
    server_id = request.POST.get("server", "")
    return ask_worker(
        request,
        server_id,
        lambda: ask_for_trial(server_id),
        show_row=lambda refusal: _render_row(request, server_id, refusal),
        section="servers",
    )


@never_cache
@require_safe
@for_viewers
def server_row(request: HttpRequest) -> HttpResponse:
    """The row of one server; the whole page anew once a trial has changed what it is."""
    return _render_row(request, request.GET.get("id", ""))


def _render_row(request: HttpRequest, server_id: str, refusal: str = "") -> HttpResponse:
    servers = [each for each in list_tool_servers() if each.id == server_id]
    if not servers:
        raise Http404
    (row,) = _list_rows(servers, read_trials(), refusal)
    answer = render(request, "investigations/system/server.html", {"row": row})
    was = request.GET.get("was", row.server.state)
    if was != row.server.state:
        answer.headers["HX-Refresh"] = "true"
    return answer


def _list_rows(
    servers: Sequence[ToolServer], trials: Mapping[str, Trial], refusal: str = ""
) -> list[ServerRow]:
    """Those in use first, each group in order of name."""
    config = get_config()
    known = config.mcp_servers
    rows = [
        ServerRow(
            each,
            known[each.id].transport.type,
            trials.get(each.id),
            refusal,
            chains_that_name(config, each.id) if each.state == "unwatched" else (),
        )
        for each in servers
    ]
    return sorted(rows, key=lambda row: row.server.state == "unwatched")


def _servers_without_redis() -> list[ToolServer]:
    config = get_config()
    used = servers_in_use(config)
    return [
        ToolServer(name, "unknown", "Redis does not answer, which keeps what was seen")
        if name in used
        else describe_unwatched(name)
        for name in sorted(config.mcp_servers)
    ]
