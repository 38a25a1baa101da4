"""Declared services seen from outside: real listeners, a real store, real directories."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from ops.probes.endpoint import probe_endpoint
from ops.server import build_server
from ops.services.declaration import (
    DeclaredService,
    MessageQueue,
    Repair,
    Space,
    load_services,
)
from tarsy.errors import ConfigError
from tests.certificates import write_certificate
from tests.ops.calls import call_tool
from tests.processes import find_free_port


class Page(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.end_headers()
        self.wfile.write(b"pool is exhausted")

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def listening(status: int = 200, folder: Path | None = None) -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Page)
    server.status = status  # type: ignore[attr-defined]
    scheme = "http"
    if folder is not None:
        if not (folder / "cert.pem").exists():
            write_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        scheme = "https"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"{scheme}://127.0.0.1:{server.server_port}/healthz"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def service(tmp_path: Path) -> DeclaredService:
    return DeclaredService(
        name="web",
        argv=("/bin/true",),
        pid_file=tmp_path / "web.pid",
        log_file=tmp_path / "web.log",
    )


@pytest.fixture
def ops(settings):
    async def call(service: DeclaredService, tool: str, **arguments: object):
        server = build_server(replace(settings, services=(service,)))
        return await call_tool(server, tool, arguments)

    return call


async def probe(ops, service: DeclaredService):
    reply = await ops(service, "probe", action="service", resource_id="web")
    return reply["data"]


def test_a_page_that_answers_is_well():
    with listening() as url:
        state = probe_endpoint(url, None)

    assert (state.fault, state.status, state.problem) == (None, 200, "")


def test_an_error_page_is_told_with_what_it_says():
    with listening(503) as url:
        state = probe_endpoint(url, None)

    assert state.fault == "status"
    assert "answers 503: pool is exhausted" in state.problem


def test_a_port_at_which_nobody_listens_is_refused():
    state = probe_endpoint(f"http://127.0.0.1:{find_free_port()}/", None)

    assert state.fault == "refused"


def test_a_certificate_that_nobody_vouches_for_is_shown_and_is_a_fault(tmp_path):
    with listening(folder=tmp_path) as url:
        foreign = probe_endpoint(url, None)
        known = probe_endpoint(url, tmp_path / "cert.pem")

    assert (foreign.fault, known.fault) == ("tls", None)
    assert foreign.certificate["is_expired"] is False
    assert datetime.fromisoformat(str(foreign.certificate["not_after"])) > datetime.now(UTC)


VERSION_3, VERSION_8 = bytes([0xA0, 3, 2, 1, 2]), bytes([0xA0, 3, 2, 1, 7])


async def test_a_certificate_that_cannot_be_read_ends_no_probe_and_is_told(ops, service, tmp_path):
    file, _ = write_certificate(tmp_path)
    der = ssl.PEM_cert_to_DER_cert(file.read_text())
    file.write_text(ssl.DER_cert_to_PEM_cert(der.replace(VERSION_3, VERSION_8, 1)))

    with listening(folder=tmp_path) as url:
        data = await probe(ops, replace(service, endpoint=url))

    assert "7 is not a valid X509 version" in data["endpoint"]["certificate"]["unreadable"]
    assert data["endpoint"]["fault"] == "tls"
    assert data["is_well"] is False


async def test_a_stopped_service_is_not_well(ops, service):
    data = await probe(ops, service)

    assert data["is_well"] is False
    assert data["problems"] == ["web does not run"]


async def test_a_full_directory_names_what_fills_it(ops, service, tmp_path):
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "debug.log").write_bytes(b"x" * 960)
    (spool / "small").write_bytes(b"x" * 10)

    data = await probe(ops, replace(service, space=Space(spool, 1000)))

    assert data["space"]["used_percent"] == 97.0
    assert data["space"]["largest"][0] == {
        "path": str(spool / "debug.log"), "bytes": 960, "percent": 96.0,
    }  # fmt: skip
    assert f"{spool} holds 970 of 1000 bytes" in data["problems"]


async def test_a_directory_of_which_not_all_is_counted_says_so(ops, service, tmp_path, monkeypatch):
    monkeypatch.setattr("ops.probes.space.MOST_FILES", 3)
    spool = tmp_path / "spool"
    spool.mkdir()
    declared = replace(service, space=Space(spool, 1000))
    replies = []
    for number in (3, 4):
        (spool / str(number)).write_bytes(b"x" * 10)
        (spool / f"{number} more").write_bytes(b"x" * 10)
        replies.append(await ops(declared, "probe", action="services"))

    whole, part = replies
    said = "only its first 3 files were counted, it holds more"
    assert (whole["data"]["services"][0]["space"]["left_out"], whole["meta"]["cuts"]) == (None, [])
    assert part["data"]["services"][0]["space"]["left_out"] == said
    assert part["data"]["services"][0]["space"]["used_bytes"] == 30
    assert part["meta"]["cuts"] == [f"web: of {spool} {said}"]


async def test_a_directory_that_is_not_there_is_told_and_not_taken_for_an_empty_one(
    ops, service, tmp_path
):
    data = await probe(ops, replace(service, space=Space(tmp_path / "gone", 1000)))

    assert "No such file" in data["space"]["left_out"]


async def test_all_declared_services_are_looked_at_in_one_call(ops, service):
    reply = await ops(service, "probe", action="services")

    [row] = reply["data"]["services"]
    assert (row["resource_id"], row["is_well"]) == ("service:web-1:web", False)


async def test_only_declared_services_are_probed(ops, service):
    reply = await ops(service, "probe", action="service", resource_id="host:web-1")

    assert "is not declared" in reply["error"]["message"]


async def test_the_password_of_a_store_that_does_not_answer_is_not_told(ops, service, tmp_path):
    address = tmp_path / "store.url"
    address.write_text(f"redis://:hunter2hunter2@127.0.0.1:{find_free_port()}/0")
    queue = MessageQueue("web", "waiting")

    data = await probe(ops, replace(service, store_file=address, queue=queue))

    assert data["is_well"] is False
    assert "does not answer" in data["store"]["problems"][0]
    assert "hunter2" not in str(data)


@pytest.mark.parametrize(
    "url", ["redis://:x@127.0.0.1:hunter2/0", "postgresql://shop:hunter2%zz@127.0.0.1/shop"]
)
async def test_an_address_that_is_no_url_is_a_problem_of_its_store_and_is_not_told(
    ops, service, tmp_path, url
):
    address = tmp_path / "store.url"
    address.write_text(url)
    queue = MessageQueue("web", "waiting")

    data = await probe(ops, replace(service, store_file=address, queue=queue))

    assert any("no URL that can be read" in each for each in data["store"]["problems"])
    assert "hunter2" not in str(data)


@pytest.fixture
def mended(service, tmp_path) -> DeclaredService:
    repair = Repair("tidy", ("/usr/bin/touch", str(tmp_path / "tidied")), "tidies up")
    return replace(service, repairs=(repair,))


def ask_for(repair: str, runs: str) -> dict[str, str]:
    return {
        "type": "service", "action": "repair", "resource_id": "service:web-1:web",
        "repair": repair, "runs": runs,
    }  # fmt: skip


async def test_a_repair_runs_what_was_declared_and_shown(ops, mended, tmp_path):
    shown = (await ops(mended, "query", action="get", resource_id="web"))["data"]
    [offered] = shown["attributes"]["repairs"]

    reply = await ops(mended, "control", **ask_for(offered["repair"], offered["runs"]))

    assert reply["ok"], reply
    assert "repair" in shown["allowed_actions"]
    assert offered["runs"] == f"/usr/bin/touch {tmp_path / 'tidied'}"
    assert (tmp_path / "tidied").exists()


async def test_a_repair_that_runs_something_else_than_was_shown_is_not_carried_out(
    ops, mended, tmp_path
):
    reply = await ops(mended, "control", **ask_for("tidy", "/usr/bin/touch /tmp/other"))

    assert reply["error"]["code"] == "INVALID_INPUT"
    assert not (tmp_path / "tidied").exists()


async def test_a_repair_that_fails_says_what_it_said(ops, service):
    broken = Repair("tidy", ("/bin/sh", "-c", "echo no right >&2; exit 3"), "tidies up")
    declared = replace(service, repairs=(broken,))

    reply = await ops(declared, "control", **ask_for("tidy", broken.runs))

    assert "exit code 3: no right" in reply["error"]["message"]


async def test_a_service_without_repairs_offers_none(ops, service):
    reply = await ops(service, "control", **ask_for("tidy", "tidy"))

    assert reply["error"]["code"] == "ACTION_NOT_ALLOWED"


@pytest.mark.parametrize("port", ["99999", "0", "http"])
def test_an_endpoint_whose_port_is_none_is_refused_when_it_is_declared(tmp_path, port):
    path = tmp_path / "services.yaml"
    path.write_text(
        "services:\n  web:\n    argv: [/bin/true]\n"
        f"    pid_file: {tmp_path}/web.pid\n    log_file: {tmp_path}/web.log\n"
        f"    endpoint: https://127.0.0.1:{port}/\n"
    )

    with pytest.raises(ConfigError) as refused:
        load_services(path)

    assert "services.web.endpoint: must have a port from 1 to 65535" in str(refused.value)
