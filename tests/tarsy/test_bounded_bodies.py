"""A body larger than we read is refused while it comes, by the server that serves everything."""

import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from django.core.management import call_command
from django.db import connections

from tests.processes import find_free_port, start_web

pytestmark = pytest.mark.slow

LIMIT = 2 * 1024 * 1024
CHUNK = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"


@pytest.fixture(scope="module")
def port(django_db_setup: None, django_db_blocker) -> Iterator[int]:
    port = find_free_port()
    with django_db_blocker.unblock():
        process = start_web(port, TARSY_AUTH="none")
        process.wait_until_ready()
    yield port
    process.stop()
    # The alerts that it took are no beginning for the tests of others.
    with django_db_blocker.unblock():
        call_command("flush", verbosity=0, interactive=False)
        connections.close_all()


def begin(port: int, path: str, *headers: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers)
    connection.sendall("\r\n".join((*lines, "", "")).encode())
    return connection


def read_answer(connection: socket.socket) -> tuple[int, bytes]:
    with http.client.HTTPResponse(connection) as answer:
        answer.begin()
        return answer.status, answer.read()


@pytest.mark.parametrize("expect", [(), ("Expect: 100-continue",)])
def test_a_length_that_is_too_large_is_refused_before_the_body_comes(port, expect):
    with begin(port, "/api/v1/alerts", f"Content-Length: {1024 * LIMIT}", *expect) as connection:
        status, body = read_answer(connection)

    assert status == 413
    assert json.loads(body) == {
        "message": "body: must not be larger than 2,097,152 bytes", "field": "body",
    }  # fmt: skip


def test_a_person_reads_the_page_that_says_how_much_a_form_may_have(port):
    with begin(port, "/submit-alert/", f"Content-Length: {LIMIT + 1}") as connection:
        status, body = read_answer(connection)

    assert status == 413
    assert "2.0\xa0MB" in body.decode()


def test_a_body_of_unknown_length_is_refused_at_the_chunk_that_is_one_too_many(port):
    with begin(port, "/api/v1/alerts", "Transfer-Encoding: chunked") as connection:
        for _ in range(LIMIT // 0x10000 + 1):
            connection.sendall(CHUNK)
        status, _ = read_answer(connection)

    assert status == 413


def test_who_never_stops_sending_is_cut_off(port):
    sent = 0
    chunked = begin(port, "/api/v1/alerts", "Transfer-Encoding: chunked")
    with chunked as connection, suppress(ConnectionError):
        for _ in range(4096):
            connection.sendall(CHUNK)
            sent += 1

    assert LIMIT < sent * 0x10000 < 4096 * 0x10000


def test_a_body_within_the_limit_is_read_whole(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    body = json.dumps({"data": "x" * 1_000_000}).ljust(LIMIT).encode()

    connection.request("POST", "/api/v1/alerts", iter([body[:9], body[9:]]),
                       {"Content-Type": "application/json"}, encode_chunked=True)  # fmt: skip

    with connection.getresponse() as answer:
        assert answer.status == 202
    connection.close()


def test_what_is_refused_harms_no_request_after_it(port):
    for _ in range(3):
        with begin(port, "/api/v1/alerts", f"Content-Length: {LIMIT + 1}") as connection:
            read_answer(connection)

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/healthz")

    with connection.getresponse() as answer:
        assert answer.status == 200
    connection.close()
