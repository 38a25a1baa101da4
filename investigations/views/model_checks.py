"""The models of the page System: how each is, its last check, and asking for another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from investigations.access.identity import actor_of
from investigations.rendering.provider_report import describe_costs, describe_settings
from investigations.roles import OPERATE
from investigations.selectors.configuration.models_in_use import ModelState, list_models
from investigations.selectors.system.provider_checks import ProviderCheck, read_checks
from investigations.services.provider_checks import ask_for_check
from investigations.views.access import for_those_who_may, for_viewers
from investigations.views.asking_workers import ask_worker


@dataclass(frozen=True)
class ModelRow:
    """A model in use and the last time somebody had it checked."""

    model: ModelState
    check: ProviderCheck | None = None
    refusal: str = ""

    @property
    def settings(self) -> str:
        report = self.check.report if self.check else None
        return describe_settings(report) if report and report.settings else ""

    @property
    def costs(self) -> str:
        report = self.check.report if self.check else None
        return describe_costs(report) if report and report.spent.requests else ""


def list_model_rows(
    models: Sequence[ModelState], checks: Mapping[str, ProviderCheck]
) -> list[ModelRow]:
    return [ModelRow(each, checks.get(each.provider_name)) for each in models]


@require_POST
@for_those_who_may(OPERATE)
def check_model(request: HttpRequest) -> HttpResponse:
    """Have a worker check a model now. A script gets the row, a browser the page again."""
    name = request.POST.get("provider", "")
    return ask_worker(
        request,
        name,
        lambda: ask_for_check(name, actor_of(request)),
        show_row=lambda refusal: _render_row(request, name, refusal),
        section="models",
    )


@never_cache
@require_safe
@for_viewers
def model_row(request: HttpRequest) -> HttpResponse:
    """The row of one model, while it is checked and after."""
    return _render_row(request, request.GET.get("provider", ""))


def _render_row(request: HttpRequest, provider_name: str, refusal: str = "") -> HttpResponse:
    found = [each for each in list_models() if each.provider_name == provider_name]
    if not found:
        raise Http404
    row = ModelRow(found[0], read_checks().get(provider_name), refusal)
    return render(request, "investigations/system/model.html", {"row": row})
