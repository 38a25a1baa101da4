"""Every address against every role: a new one fails here until somebody says who may use it."""

import re
import uuid
from collections.abc import Iterable, Iterator

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from investigations.access.identity import Identity
from investigations.models import ApiToken
from investigations.roles import OPERATE, ROLES, SUBMIT, create_roles
from investigations.services.tokens import create_token
from tests.factories import (
    ApprovalRequestFactory,
    DeliveryFactory,
    IncidentFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    TimelineEventFactory,
    UserFactory,
    WindowFactory,
)

pytestmark = pytest.mark.slow

API = "api/v1/"
SESSION = f"{API}sessions/<uuid:session_id>"
PAGE = "sessions/<uuid:session_id>/"
TRACE = f"{PAGE}trace/"

# Who may use what: each address with its method, below the least that is needed.
ADDRESSES: dict[str, list[str]] = {
    "public": [
        "GET health", "GET healthz", "GET readyz", "GET login/", "GET login/link/<str:token>/",
        "POST logout/", "GET api/schema/", "GET api/docs/", "GET api/", "GET admin/login/",
        "POST admin/logout/",
        # From this machine, whoever asks; from elsewhere tests/tarsy/test_prometheus_metrics.py.
        "GET metrics",
    ],
    "view": [
        f"GET {API}alert-types", f"GET {API}runbooks", f"GET {API}sessions",
        f"GET {API}sessions/active", f"GET {API}sessions/filter-options",
        f"GET {API}sessions/triage/<str:group>", f"GET {SESSION}", f"GET {SESSION}/summary",
        f"GET {SESSION}/status", f"GET {SESSION}/timeline", f"GET {SESSION}/evidence",
        f"GET {SESSION}/trace", f"GET {SESSION}/trace/llm/<uuid:interaction_id>",
        f"GET {SESSION}/trace/mcp/<uuid:interaction_id>", f"GET {SESSION}/score",
        f"GET {SESSION}/review-activity", f"GET {SESSION}/memories",
        f"GET {SESSION}/injected-memories", f"GET {API}usage/summary", f"GET {API}approvals",
        f"GET {API}approvals/<uuid:approval_id>", f"GET {API}memories",
        f"GET {API}incidents", f"GET {API}incidents/<uuid:incident_id>",
        f"GET {API}maintenance", "GET maintenance/",
        f"GET {API}deliveries", f"GET {API}deliveries/<uuid:delivery_id>",
        f"GET {API}memories/<uuid:memory_id>", f"GET {API}system/warnings",
        f"GET {API}system/mcp-servers", f"GET {API}system/default-tools",
        f"GET {API}system/config", f"GET {API}system/config/skills/<str:name>",
        "GET ", "GET fragments/active/", "GET fragments/recent/", "GET fragments/new/",
        "GET fragments/hits/",
        f"GET {PAGE}", f"GET {PAGE}row/", f"GET {PAGE}facts/", f"GET {PAGE}workers/",
        f"GET {PAGE}lookers/",
        f"GET {PAGE}events/",
        f"GET {PAGE}events/<uuid:event_id>/", f"GET {PAGE}events/<uuid:event_id>/content/",
        f"GET {PAGE}events/<uuid:event_id>/chart/",
        f"GET {PAGE}stages/<uuid:stage_id>/",
        f"GET {PAGE}executions/<uuid:execution_id>/earlier/",
        f"GET {PAGE}calls/<int:number>/quote/",
        f"GET {PAGE}place/", f"GET {PAGE}search/", f"GET {PAGE}export/",
        "GET system/", "GET system/server/", "GET system/model/",
        f"GET {TRACE}", f"GET {TRACE}llm/<uuid:interaction_id>/",
        f"GET {TRACE}llm/<uuid:interaction_id>/messages/<int:place>/",
        f"GET {TRACE}agents/<uuid:execution_id>/<int:place>/",
        f"GET {TRACE}tools/<uuid:interaction_id>/",
        f"GET {TRACE}tools/<uuid:interaction_id>/arguments/",
        f"GET {TRACE}tools/<uuid:interaction_id>/result/",
    ],
    "submit": [
        f"POST {API}alerts", f"POST {API}webhooks", f"POST {API}webhooks/<str:source>",
        f"POST {API}webhooks/prometheus/api/v2/alerts",
        "GET submit-alert/", "POST submit-alert/preview/", "GET submit-alert/route/",
        "GET submit-alert/runbooks/", "GET sessions/retry/", "POST sessions/retry/",
    ],
    "operate": [
        f"POST {API}maintenance", f"DELETE {API}maintenance/<uuid:window_id>",
        "POST maintenance/open/", "POST maintenance/<uuid:window_id>/end/",
        f"POST {SESSION}/cancel", f"POST {SESSION}/chat/messages", f"POST {SESSION}/score",
        f"PATCH {API}sessions/review", f"PATCH {API}memories/<uuid:memory_id>",
        f"DELETE {API}memories/<uuid:memory_id>", f"POST {PAGE}cancel/",
        f"POST {PAGE}ask/", f"POST {PAGE}writes/<int:number>/check/",
        "POST system/try/", "POST system/check/",
        "GET sessions/cancel/", "POST sessions/cancel/", "POST sessions/acknowledge/",
    ],
    "decide": [
        f"POST {API}approvals/<uuid:approval_id>/approve",
        f"POST {API}approvals/<uuid:approval_id>/deny",
        "POST approvals/<uuid:approval_id>/approve/", "POST approvals/<uuid:approval_id>/deny/",
    ],
    "admin": [
        "GET admin/", "GET admin/password_change/", "GET admin/password_change/done/",
        "GET admin/jsi18n/", "GET admin/r/<path:content_type_id>/<path:object_id>/",
        "GET admin/(?P<url>.*)$", "GET sessions/delete/", "POST sessions/delete/",
    ],
    "superuser": [],
    "nobody": ["GET admin/autocomplete/"],
}  # fmt: skip
ADMIN_PAGES = {
    "": "admin", "<path:object_id>/change/": "admin", "<path:object_id>/history/": "admin",
    "<path:object_id>/": "admin", "export.<str:format_name>": "admin",
    "add/": "nobody", "<path:object_id>/delete/": "nobody",
}  # fmt: skip
"""The pages of each model of ours: to look at."""
BY_PERMISSION = (
    "admin/investigations/resourcenote/<path:object_id>/delete/",
    "admin/investigations/apitoken/add/",
)
LEVELS = {
    "stranger": ("public",),
    "viewer": ("public", "view"),
    "operator": ("public", "view", "submit", "operate"),
    "approver": ("public", "view", "submit", "operate", "decide"),
    "admin": ("public", "view", "submit", "operate", "decide", "admin"),
    "superuser": ("public", "view", "submit", "operate", "decide", "admin", "superuser"),
}
SCOPES = {"read": "view", "submit": "submit", "operate": "operate", "approve": "decide"}


def level_of_admin_page(pattern: str) -> str | None:
    """Of a page of a model; None for any other address."""
    found = re.match(r"admin/(auth|investigations)/\w+/(.*)", pattern)
    if found is None:
        return "admin" if pattern.startswith("admin/^(?P<app_label>") else None
    # Accounts and groups are handed out by nobody but a superuser: whoever may change an account
    # could make one of himself.
    if found[1] == "auth" and found[2] != "<path:object_id>/":
        return "superuser"
    if found[0] in BY_PERMISSION:
        return "superuser"
    return ADMIN_PAGES.get(found[2])


def patterns(routes: Iterable[URLPattern | URLResolver], before: str = "") -> Iterator[str]:
    for route in routes:
        here = before + str(route.pattern)
        if isinstance(route, URLResolver):
            yield from patterns(route.url_patterns, here)
        else:
            yield here


ALL = list(patterns(get_resolver().url_patterns))
LISTED = {address: level for level, listed in ADDRESSES.items() for address in listed}
MATRIX = LISTED | {
    f"GET {pattern}": level for pattern in ALL if (level := level_of_admin_page(pattern))
}


def test_somebody_has_said_who_may_use_each_address():
    said = {address.partition(" ")[2] for address in MATRIX}

    assert set(ALL) - said == set()
    assert {address.partition(" ")[2] for address in LISTED} - set(ALL) == set()


def test_every_method_of_the_api_is_in_the_matrix(document_methods):
    said = {address for address in LISTED if " api/v1/" in address}

    assert document_methods == said


@pytest.fixture
def document_methods() -> set[str]:
    """What each endpoint answers to, by its view."""
    found = set()
    for route, pattern in _endpoints(get_resolver().url_patterns):
        view = getattr(route.callback, "cls", None)
        if view is not None and pattern.startswith(API):
            methods = [name for name in ("get", "post", "put", "patch", "delete")
                       if hasattr(view, name)]  # fmt: skip
            found |= {f"{name.upper()} {pattern}" for name in methods}
    return found


def _endpoints(
    routes: Iterable[URLPattern | URLResolver], before: str = ""
) -> Iterator[tuple[URLPattern, str]]:
    for route in routes:
        here = before + str(route.pattern)
        if isinstance(route, URLResolver):
            yield from _endpoints(route.url_patterns, here)
        else:
            yield route, here


# ---- Asking -------------------------------------------------------------------------------------


@pytest.fixture
def addresses(settings, roles) -> dict[str, str]:
    """An address with real ids for each that has parameters."""
    settings.TARSY_AUTH = "login"
    event = TimelineEventFactory(tool_call=True)
    execution = event.execution
    model = LLMInteractionFactory(execution=execution)
    MCPInteractionFactory(execution=execution, id=model.pk)
    approval = ApprovalRequestFactory(execution=execution)
    values = {
        "session_id": event.session.pk, "event_id": event.pk, "stage_id": execution.stage_id,
        "execution_id": execution.pk, "interaction_id": model.pk, "approval_id": approval.pk,
        "window_id": WindowFactory().pk, "incident_id": IncidentFactory().pk,
        "delivery_id": DeliveryFactory().pk,
        "memory_id": uuid.uuid4(), "group": "reviewed", "name": "none", "token": "none",
        "format_name": "csv", "object_id": event.session.pk, "content_type_id": 1,
    }  # fmt: skip
    for_auth = {"object_id": Group.objects.get(name="viewer").pk, "id": UserFactory().pk}
    return {address: "/" + _fill(address.partition(" ")[2], values, for_auth) for address in MATRIX}


def _fill(pattern: str, values: dict[str, object], for_auth: dict[str, object]) -> str:
    if pattern.startswith("admin/auth/group"):
        values = values | for_auth
    elif pattern.startswith("admin/auth/user"):
        values = values | for_auth | {"object_id": for_auth["id"]}
    pattern = pattern.replace("(?P<url>.*)$", "nothing/")
    pattern = pattern.replace("^(?P<app_label>auth|investigations)/$", "investigations/")
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values.get(found[1], 1)), pattern)


def ask(client: Client, address: str, url: str, **headers: str) -> HttpResponse:
    method = address.partition(" ")[0]
    query = "?before=5&limit=5" if method == "GET" else ""
    body = {} if method == "GET" else {"data": b"{}", "content_type": "application/json"}
    headers = {"Origin": "http://localhost", "X-Requested-With": "test", **headers}
    return client.generic(method, url + query, headers=headers, **body)


def is_let_in(answer: HttpResponse) -> bool:
    """Whatever came of it: not found or nonsense is told to those only who may ask."""
    target = answer.headers.get("Location", "")
    return answer.status_code not in (401, 403) and "/login/?next=" not in target


def make_account(role: str) -> User:
    user = UserFactory(is_staff=role in ("admin", "superuser"), is_superuser=role == "superuser")
    if role in ROLES:
        user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def roles(db) -> None:
    """The groups, which tests that empty all tables take away."""
    create_roles()


@pytest.mark.parametrize("role", list(LEVELS))
def test_each_role_gets_what_its_level_allows_and_no_more(addresses, role):
    wrong = []
    account = None if role == "stranger" else make_account(role)
    for address, level in MATRIX.items():
        client = Client(headers={"host": "localhost"})
        if account is not None:
            client.force_login(account)
        answer = ask(client, address, addresses[address])
        # A login link that is used up says 403 to everybody.
        is_open = level == "public" and answer.status_code != 401
        if (is_open or is_let_in(answer)) != (level in LEVELS[role]):
            wrong.append(f"{address}: {answer.status_code}, needs {level}")

    assert wrong == []


@pytest.mark.parametrize("scope", ApiToken.Scope.values)
def test_a_token_is_good_for_its_scope_and_nothing_else(addresses, scope):
    owner = make_account("approver")
    token = create_token(owner=owner, name="pager", actor="test", scopes=[scope])
    client = Client(headers={"host": "localhost"})
    wrong = []
    for address, level in MATRIX.items():
        if f" {API}" not in address:
            continue
        answer = ask(client, address, addresses[address], Authorization=f"Bearer {token}")
        if is_let_in(answer) != (level == SCOPES[scope]):
            wrong.append(f"{address}: {answer.status_code}, needs {level}")

    assert wrong == []


@pytest.mark.parametrize("scope", ApiToken.Scope.values)
def test_a_token_gives_nobody_more_than_its_owner_may(addresses, scope):
    owner = make_account("viewer")
    token = create_token(owner=owner, name="pager", actor="test", scopes=["read", scope])
    client = Client(headers={"host": "localhost"})

    let_in = [
        address
        for address, level in MATRIX.items()
        if level in ("submit", "operate", "decide")
        and is_let_in(ask(client, address, addresses[address], Authorization=f"Bearer {token}"))
    ]

    assert let_in == []


# ---- Those who are in no group ------------------------------------------------------------------


@pytest.mark.parametrize(("default", "may_submit"), [("operator", True), ("viewer", False)])
def test_whoever_is_in_no_role_has_the_default_one(addresses, settings, default, may_submit):
    settings.DEFAULT_ROLE = default
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]
    alerts = f"POST {API}alerts"
    client = Client(headers={"host": "localhost"})
    by_name = ask(client, alerts, addresses[alerts], **{"X-Forwarded-User": "nobody-known"})
    client.force_login(UserFactory())
    by_login = ask(client, alerts, addresses[alerts])

    assert is_let_in(by_name) is is_let_in(by_login) is may_submit


def test_a_closed_account_gets_nothing_from_a_proxy(addresses, settings):
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.IDENTITY_HEADERS = ["X-Forwarded-User"]
    closed = UserFactory(is_active=False)
    alerts = f"POST {API}alerts"

    answer = ask(
        Client(headers={"host": "localhost"}), alerts, addresses[alerts],
        **{"X-Forwarded-User": closed.username},
    )  # fmt: skip

    assert answer.status_code == 401


def test_a_permission_given_by_hand_adds_to_a_role(db, roles):
    user = make_account("viewer")
    user.user_permissions.add(Permission.objects.get(codename=SUBMIT.partition(".")[2]))
    identity = Identity("x", "login", user.username)

    assert identity.may(SUBMIT)
    assert not identity.may(OPERATE)


def test_groups_that_were_changed_stay_as_they_are(db, roles):
    operators = Group.objects.get(name="operator")
    operators.permissions.clear()
    Group.objects.get(name="viewer").delete()

    create_roles()

    assert not operators.permissions.exists()
    viewers = Group.objects.get(name="viewer")
    assert [each.codename for each in viewers.permissions.all()] == ["view_alertsession"]
