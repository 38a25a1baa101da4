"""What every response carries, and how the web process writes its log."""

import json
import urllib.request
from contextlib import closing

import pytest
from django.test import Client

from tests.processes import find_free_port, start_web

POLICY = "camera=(), microphone=(), geolocation=()"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/login/", "/nope", "/api/v1/sessions", "/api/v1/nope",
                                  "/healthz", "/admin/login/", "/static/investigations/page.js",
                                  "/sessions/x/", "/login/link/x/"])  # fmt: skip
@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_every_response_refuses_frames_sniffing_and_devices(path: str, host: str):
    with closing(Client(headers={"host": host}).get(path)) as answer:
        headers = answer.headers

    assert headers["Permissions-Policy"] == POLICY
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "strict-origin-when-cross-origin"


@pytest.mark.worker
def test_the_web_process_writes_one_line_of_json_for_each_event(django_db_setup: None):
    port = find_free_port()
    web = start_web(port, LOG_FORMAT="json")
    try:
        web.wait_until_ready()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": "evil.test"})
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request, timeout=20)
    finally:
        web.stop()

    lines = [line for line in web.output.splitlines() if line.startswith(("{", "Traceback"))]
    said = [json.loads(line) for line in lines]
    assert any("evil.test" in line["event"] and "exception" in line for line in said)
