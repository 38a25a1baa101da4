"""Sending an alert by hand: the same body and the same checks as the API's."""

import json
import shlex
import subprocess
import time
from dataclasses import replace

import pytest
from django.http import QueryDict

from config.model import Config
from investigations.models import AlertSession
from investigations.rendering.curl import LONGEST_ARGUMENT, write_curl
from investigations.selectors.system import tool_servers
from investigations.services import intake
from investigations.services.intake import read_alert
from investigations.views.alert_form import AlertForm, form_of_session, read_form
from tests.factories import IncidentFactory, SessionFactory
from tests.investigations.conftest import CONFIG_DIR

pytestmark = pytest.mark.django_db
PATH = "/submit-alert/"
HOSTILE = "</textarea><script>alert(1)</script>'\"&"


@pytest.fixture(autouse=True)
def three_servers(reconfigure, clean_redis) -> Config:
    server = '{transport: {type: http, url: "http://127.0.0.1:1/mcp"}}'
    return reconfigure(
        f"{(CONFIG_DIR / 'tarsy.yaml').read_text()}\n"
        f"mcp_servers: {{metrics: {server}, cluster: {server}, 'a<b>': {server}}}\n"
        "system: {runbooks: {allowed_domains: [runbooks.example.org]}}\n"
    )


def send(client, action="submit", **fields):
    return client.post(PATH, {"mode": "text", "alert_type": "single", "action": action, **fields})


def test_strangers_may_not_submit(client):
    assert client.get(PATH).url == f"/login/?next={PATH}"
    assert client.post(PATH, {"text": "x", "action": "submit"}).status_code == 302
    assert client.post(f"{PATH}preview/", headers={"X-Requested-With": "fetch"}).status_code == 401
    assert not AlertSession.objects.exists()


def test_a_text_becomes_a_session_with_its_sender(viewer):
    answer = send(viewer, text="the load\r\nis high")

    session = AlertSession.objects.get()
    assert answer.url == f"/sessions/{session.pk}/"
    assert (session.alert_data, session.alert_type, session.author) == (
        "the load\nis high", "single", viewer.get("/").wsgi_request.user.username,
    )  # fmt: skip


def test_rows_make_the_same_session_as_an_object_sent_to_the_api(viewer, api_session):
    send(viewer, mode="rows", key=["alertname", "", "pod"], value=["Disk full", "", "x'y"])

    by_page = AlertSession.objects.get()
    by_api = api_session({"alert_type": "single", "data": {"alertname": "Disk full", "pod": "x'y"}})
    assert (by_page.alert_data, by_page.title) == (by_api.alert_data, by_api.title)


@pytest.fixture
def api_session():
    def make(body) -> AlertSession:
        return intake.submit_alert(read_alert(body), author="api")

    return make


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": " \n"}, "The alert must not be blank."),
        ({"text": "x", "alert_type": "nope"}, "&quot;nope&quot; is not known"),
        ({"text": "x", "runbook": "https://evil.example/a"}, "evil.example"),
        ({"text": "x", "runbook": "http://runbooks.example.org/a"}, "must start with https://"),
        ({"text": "x", "server": "gone"}, "There is no MCP server"),
        ({"text": "x" * (1024 * 1024 + 1)}, "The alert must not be larger than 1,048,576 bytes."),
        ({"mode": "rows", "key": [""], "value": ["lonely"]}, "This row has a value and no key."),
        ({"mode": "rows", "key": ["a", "a"], "value": ["1", "2"]}, "a second time"),
        ({"mode": "rows"}, "The alert must not be empty"),
    ],
)
@pytest.mark.parametrize("action", ["submit", "dry_run"])
def test_what_is_wrong_is_said_and_nothing_is_started(viewer, fields, said, action):
    page = send(viewer, action, **fields).content.decode()

    assert "Nothing was started." in page
    assert said in page
    assert not AlertSession.objects.exists()


def test_an_error_loses_nothing_of_what_was_filled_in(viewer):
    page = send(
        viewer, text=f"\n{HOSTILE}", runbook="https://evil.example/a", server=["metrics"],
        key=["k<1>"], value=["v<1>"], fingerprint="red alert",
        **{"tools:metrics": ["query"], "native:google_search": "on"},
    ).content.decode()  # fmt: skip

    assert "\n\n&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script>alert" not in page
    assert 'value="https://evil.example/a"' in page
    assert 'value="k&lt;1&gt;"' in page
    assert 'value="v&lt;1&gt;"' in page
    assert 'name="server" value="metrics" checked' in page
    assert 'name="tools:metrics" value="query" checked' in page
    assert '<option value="on" selected>' in page
    assert 'value="red alert"' in page


def test_names_from_the_configuration_are_text(viewer):
    page = viewer.get(PATH).content.decode()

    assert 'value="a&lt;b&gt;"' in page
    assert "<b>" not in page.split("a&lt;b&gt;")[1][:40]


def test_the_choice_of_tools_is_kept_as_the_api_would_keep_it(viewer):
    send(
        viewer, text="x", server=["metrics", "cluster"],
        **{"tools:cluster": ["pods", "nodes"], "native:code_execution": "off"},
    )  # fmt: skip

    assert AlertSession.objects.get().mcp_selection == {
        "servers": [{"name": "metrics"}, {"name": "cluster", "tools": ["pods", "nodes"]}],
        "native_tools": {"code_execution": False},
    }


def test_tools_without_their_server_choose_it():
    form = read_form(QueryDict("tools:cluster=pods"))

    assert form.selection() == {"servers": [{"name": "cluster", "tools": ["pods"]}]}


def test_the_choice_of_a_body_that_was_pasted_counts_before_the_one_of_the_form():
    chosen = {"servers": [{"name": "metrics"}]}
    form = AlertForm(text=json.dumps({"data": "x", "mcp": chosen}), servers=("cluster",))

    assert form.wanted_selection == form.body()["mcp"] == chosen
    assert replace(form, text="x").wanted_selection == {"servers": [{"name": "cluster"}]}
    assert AlertForm(text="x").wanted_selection is None


def test_without_a_choice_everything_stays_as_configured(viewer):
    send(viewer, text="x")

    assert AlertSession.objects.get().mcp_selection is None


@pytest.mark.parametrize("action", ["", "dry-run", "Submit"])
def test_nothing_starts_but_for_the_button_that_says_so(viewer, action):
    answer = send(viewer, action, text="the disk is full")

    assert answer.status_code == 200
    assert not AlertSession.objects.exists()


def test_a_dry_run_shows_what_would_be_stored_and_stores_nothing(viewer):
    page = send(viewer, "dry_run", text='{"alertname": "X", "password": "hunter2hunter2"}')

    text = page.content.decode()
    assert "Dry run: this alert would be taken in." in text
    stored = text.split('class="t-stored"')[1].split("</details>")[0]
    assert "hunter2" not in stored
    assert "[MASKED:" in stored
    assert not AlertSession.objects.exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"alertname": "X", }', "in line 1, column 20 it is none (Expecting property name"),
        ("[1, 2", "in line 1, column 6 it is none"),
        ('{"alertname": "X"}', ""),
        ("[FIRING] disk full", ""),
        ("disk full", ""),
    ],
)
def test_a_dry_run_says_when_what_begins_as_json_is_taken_as_text(viewer, text, told):
    page = send(viewer, "dry_run", text=text).content.decode()

    assert ("It is taken as text:" in page) == bool(told)
    assert told in page


def test_the_preview_follows_alert_type_and_choice(viewer):
    def ask(**fields) -> str:
        return viewer.post(f"{PATH}preview/", fields).content.decode()

    single = ask(alert_type="single")
    parallel = ask(alert_type="parallel", server="metrics")

    assert "Will run 2 stages, 2 agents" in single
    assert "no tools" in single
    assert "Will run 3 stages, 4 agents" in parallel
    assert "tools of metrics" in parallel
    assert "Alpha, Beta side by side" in parallel
    assert "Nothing would run" in ask(alert_type="nope")


def test_names_are_escaped_once(viewer):
    fields = {"alert_type": "single", "server": ["a<b>", "metrics"]}
    page = viewer.post(f"{PATH}preview/", fields).content.decode()

    assert "tools of a&lt;b&gt;, metrics" in page


def test_the_choice_says_how_many_tools_of_a_server_are_meant_and_which_can_write(
    viewer, clean_redis
):
    classes = {"pods": {"": "read"}, "apply": {"": "write"}, "docker": {"": "write", "ps": "read"}}
    tools = [
        {"name": name, "description": "", "classes": each, "schema_hash": "a"}
        for name, each in classes.items()
    ]
    clean_redis.set(tool_servers.TOOLS_KEY, json.dumps({"cluster": tools}))

    page = viewer.post(
        PATH, {"action": "preview", "server": ["cluster"], "tools:cluster": ["pods", "docker"]}
    ).content.decode()

    assert "only cluster (2 of 3 tools)</span>" in page
    ticks = page.split('name="tools:cluster"')[1:]
    assert [tick.count("t-quiet") for tick in ticks[:2]] == [0, 1]
    assert '<span class="t-quiet">writes</span>' in ticks[1]
    assert '<span class="t-quiet">reads and writes</span>' in ticks[2]


def test_the_plan_says_of_each_stage_how_many_tools_of_a_server_it_gets(viewer, clean_redis):
    tools = [
        {"name": name, "description": "", "classes": {"": "read"}, "schema_hash": "a"}
        for name in ("pods", "nodes", "events")
    ]
    clean_redis.set(tool_servers.TOOLS_KEY, json.dumps({"cluster": tools}))

    def ask(**fields) -> str:
        chosen = {"alert_type": "parallel", "server": ["cluster", "metrics"], **fields}
        return viewer.post(f"{PATH}preview/", chosen).content.decode()

    some = ask(**{"tools:cluster": ["pods", "nodes"]})
    unseen = ask(**{"tools:metrics": ["query"]})

    assert "tools of cluster (2 of 3 tools), metrics</p>" in some
    assert "reads cluster (2 of 3 tools), metrics</span>" in some
    assert "reads cluster, metrics (1 tool)</span>" in unseen
    assert "reads cluster, metrics</span>" in ask()


def test_what_would_not_go_as_one_may_think_is_told(viewer, clean_redis):
    now = time.time()
    health = {"id": "cluster", "healthy": False, "since": now, "checked_at": now, "error": "gone"}
    report = {"worker_id": "w", "reported_at": now, "servers": [health]}
    tool = {"name": "pods", "description": "", "classes": {"": "read"}, "schema_hash": "a"}
    clean_redis.set(tool_servers.HEALTH_KEY, json.dumps(report))
    clean_redis.set(tool_servers.TOOLS_KEY, json.dumps({"cluster": [tool]}))

    page = viewer.post(
        f"{PATH}preview/",
        {"alert_type": "single", "server": "cluster", "tools:cluster": ["pods", "nodes"],
         "native:google_search": "on"},
    ).content.decode()  # fmt: skip

    assert "cluster is down now. Agents run without it and say so." in page
    assert "cluster does not list nodes now." in page
    assert "No agent of this chain has a model with google_search." in page


def test_the_plan_says_which_tools_its_agents_will_not_be_offered(viewer, clean_redis):
    now = time.time()
    health = {"id": "cluster", "healthy": True, "since": now, "checked_at": now}
    report = {"worker_id": "w", "reported_at": now, "servers": [health]}
    tool = {"name": "pods", "description": "", "classes": {"": "write"}, "schema_hash": "a"}
    tools = [{**tool, "is_classed": False}, {**tool, "name": "scale", "is_classed": True}]
    clean_redis.set(tool_servers.HEALTH_KEY, json.dumps(report))
    clean_redis.set(tool_servers.TOOLS_KEY, json.dumps({"cluster": tools}))
    form = {"alert_type": "single", "server": "cluster"}

    page = viewer.post(f"{PATH}preview/", form).content.decode()

    choices = viewer.get(PATH).content.decode()

    assert "1 server, 1 tool that nobody has classed: not offered. cluster (1 of 2)" in page
    assert '<span class="t-quiet">nobody has classed it</span>' in choices
    assert "<code>manage.py mcp_tools cluster --suggest</code>" in page


def test_a_full_queue_is_said_and_the_form_stays(viewer, reconfigure):
    text = (CONFIG_DIR / "tarsy.yaml").read_text()
    reconfigure(text.replace("queue:", "queue:\n  max_queue_size: 1"))
    SessionFactory()

    page = send(viewer, text="one too many").content.decode()

    assert "1 sessions are waiting and at most 1 may" in page
    assert "one too many" in page


def test_usual_time_and_what_waits_are_told(viewer):
    for _ in range(4):
        SessionFactory(completed=True, chain_id="single")
    SessionFactory()

    page = viewer.get(PATH).content.decode()

    assert "Usually 3:00 to 3:00 min" in page
    assert "1 session is queued before it." in page


# ---- Once more ----------------------------------------------------------------------------------


def test_a_session_that_ended_fills_the_form(viewer):
    chosen = {"servers": [{"name": "cluster", "tools": ["pods"]}, {"name": "removed"}]}
    session = SessionFactory(
        failed=True, alert_type="two-stages", alert_data="as <stored>", mcp_selection=chosen,
        runbook_url="https://runbooks.example.org/a", slack_message_fingerprint="f",
    )  # fmt: skip

    page = viewer.get(f"{PATH}?from={session.pk}").content.decode()

    assert "secrets are masked and stay so" in page
    assert "as &lt;stored&gt;" in page
    assert '<option value="two-stages" selected>' in page
    assert 'value="https://runbooks.example.org/a"' in page
    assert 'name="tools:cluster" value="pods" checked' in page
    assert 'name="server" value="removed" checked' in page
    assert form_of_session(session).selection() == chosen


def _send_again(viewer, session, **changed):
    """Send the form as a browser has it from the page that *Retry* opens."""
    page = viewer.get(f"{PATH}?from={session.pk}").content.decode()
    assert f'<input type="hidden" name="from" value="{session.pk}">' in page
    return send(viewer, **{"text": session.alert_data, "from": str(session.pk), **changed})


def test_a_retry_belongs_to_the_incident_of_what_it_repeats(viewer):
    session = SessionFactory(
        completed=True, alert_type="single", alert_data="the load\nis high\n",
        title="Load", severity="critical", incident=IncidentFactory(),
    )  # fmt: skip

    answer = _send_again(viewer, session, text="the load\r\nis high\r\n", server="cluster")

    again = AlertSession.objects.exclude(pk=session.pk).get()
    assert answer.url == f"/sessions/{again.pk}/"
    assert again.incident_id == session.incident_id is not None
    assert (again.title, again.severity) == ("Load", "critical")
    assert again.mcp_selection == {"servers": [{"name": "cluster"}]}
    # A second click starts nothing.
    refused = _send_again(viewer, session)
    assert refused.status_code == 409
    assert f"retried already, as {again.pk}" in refused.content.decode()


def test_another_alert_in_the_form_of_a_retry_is_one_by_itself(viewer):
    session = SessionFactory(completed=True, alert_data="the load is high")

    answer = _send_again(viewer, session, text="the disk is full")

    again = AlertSession.objects.exclude(pk=session.pk).get()
    assert answer.url == f"/sessions/{again.pk}/"
    assert again.incident_id != session.incident_id


def test_a_session_that_still_runs_is_not_repeated(viewer):
    session = SessionFactory(running=True, alert_data="still at it")

    page = viewer.get(f"{PATH}?from={session.pk}").content.decode()

    assert "has not ended" in page
    assert "still at it" not in page


@pytest.mark.parametrize("wanted", ["x", "5f0c7d4e-0000-4000-8000-000000000001"])
def test_what_is_no_session_cannot_be_repeated(viewer, wanted):
    assert viewer.get(f"{PATH}?from={wanted}").status_code == 404


def test_only_sessions_that_ended_offer_to_be_repeated(viewer):
    ended, running = SessionFactory(failed=True), SessionFactory(running=True)

    assert f"{PATH}?from={ended.pk}" in viewer.get(f"/sessions/{ended.pk}/").content.decode()
    assert f"{PATH}?from=" not in viewer.get(f"/sessions/{running.pk}/").content.decode()


# ---- The same as curl ---------------------------------------------------------------------------

ODD = 'it\'s "quoted" $HOME `id` \\n !! \u202e\u0000x\n#{[*?]}\u00e9\U0001f600'


def arguments_of(command: str) -> list[str]:
    """What a real shell makes of a command."""
    shown = command.replace("curl ", "printf '%s\\0' ", 1)
    run = subprocess.run(["bash", "-c", shown], capture_output=True, check=True, env={"LANG": "C"})
    return run.stdout.decode().split("\0")[:-1]


@pytest.mark.parametrize("data", [ODD, {"k'ey": ODD, "b": "2"}, "plain"])
def test_a_shell_sends_exactly_the_body(three_servers, data):
    body = {"alert_type": "single", "data": data, "runbook": "https://runbooks.example.org/a"}

    curl = write_curl(body, address="http://localhost:8000/api/v1/alerts", needs_token=False)

    arguments = arguments_of(curl.command)
    assert arguments[:3] == ["-X", "POST", "http://localhost:8000/api/v1/alerts"]
    assert json.loads(arguments[-1]) == body
    assert "\u202e" not in curl.command


def test_the_command_holds_no_secret_and_the_token_is_a_variable(three_servers):
    body = {"data": "password=hunter2hunter2 on db"}

    curl = write_curl(body, address="http://h/", needs_token=True)

    assert "hunter2" not in curl.command
    assert '"Authorization: Bearer $TARSY_TOKEN"' in curl.command
    assert curl.is_masked


def test_a_body_too_long_for_a_command_goes_into_a_file(three_servers):
    curl = write_curl({"data": "x" * LONGEST_ARGUMENT}, address="http://h/", needs_token=False)

    assert shlex.split(curl.command)[-2:] == ["-d", "@alert.json"]
    assert json.loads(curl.file) == {"data": "x" * LONGEST_ARGUMENT}


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ('{"data": {"alertname": "Full"}}', {"data": {"alertname": "Full"}}),
        ('{"data": "full", "alert_type": "other"}', {"alert_type": "other", "data": "full"}),
        ('{"alertname": "Full"}', {"data": '{"alertname": "Full"}'}),
        ('{"data": 1, "more": 2}', {"data": '{"data": 1, "more": 2}'}),
        ('{"data": ', {"data": '{"data": '}),
    ],
)
def test_a_body_of_the_api_is_not_put_into_another(text, body):
    form = AlertForm(text=text, alert_type="single")

    assert form.body() == {"alert_type": "single", **body}
    assert form.wanted_type == form.body()["alert_type"]
