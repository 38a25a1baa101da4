"""A check of what is no working model ends soon, with a reason that a person can act on."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agents.llm.settings import ProviderSettings
from agents.provider_check.report import ProviderReport
from tests.agents.doubles import READ_ONLY
from tests.agents.provider_check.checking import KEY, check
from tests.agents.wire_server import Wire, chunk, drip, fall_silent, refuse, stream
from tests.certificates import write_certificate

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

PAGE = "<html><head><title>Sign in to Example</title></head><body>...</body></html>"


def settings(base_url: str, kind: str = "openai", **more) -> ProviderSettings:
    given = {"api_key": KEY, "api_key_env": "LAB_KEY", "base_url": base_url} | more
    return ProviderSettings("lab", kind, "lab-1", **given)


async def send_much(wire: Wire) -> None:
    """Ten megabytes of text in one answer."""
    await wire.send_head()
    for _ in range(100):
        await wire.send_event(chunk({"content": "x" * 100_000}))
    await wire.send_event(chunk({}, "stop"))
    await wire.end()


async def send_one_body(wire: Wire) -> None:
    """Ten megabytes of JSON that say nothing."""
    await wire.send_head(200, "application/json")
    await wire.send('{"filler": "')
    for _ in range(100):
        await wire.send("x" * 100_000)
    await wire.send('"}')
    await wire.end()


BUSY = {"error": {"message": "Slow down."}}


async def test_a_model_that_asks_for_a_moment_gets_it_and_for_an_hour_is_told(wire):
    fine = stream(chunk({"content": "ready"}), chunk({}, "stop"))

    wire.plays = [refuse(429, BUSY, retry_after="1"), fine]
    patient = await check(settings(wire.base_url), "text", probe_seconds=10.0)
    wire.plays = [refuse(429, BUSY, retry_after="3600")]
    busy = await check(settings(wire.base_url), "text", probe_seconds=10.0)

    assert patient.find("text").outcome == "works"
    assert patient.spent.requests == 2
    assert (busy.find("text").outcome, busy.spent.requests) == ("fails", 1)
    assert "429 (too many requests): Slow down" in busy.find("text").remark


async def send_page(wire: Wire) -> None:
    await wire.send_head(200, "text/html")
    await wire.send(PAGE)
    await wire.end()


REFUSED = {"error": {"message": f"Incorrect API key provided: {KEY}", "type": "invalid_api_key"}}
UNKNOWN = {"error": {"message": "The model `lab-1` does not exist", "code": "model_not_found"}}
BAD = {
    "hangs": (fall_silent(), "did not begin to answer within 0.9 s"),
    "stops in the middle": (fall_silent(chunk({"content": "re"})), "The answer broke off."),
    "never ends": (drip(chunk({"content": "x"})), "did not finish its answer within 0.9 s"),
    "says too much": (send_much, "It said more than 50,000 characters and was stopped."),
    "sends one huge body": (send_one_body, "something that is not JSON"),
    "is a login page": (send_page, "answered with a page or a text that is no answer of a model: "
                        "Sign in to Example. Check base_url"),
    "refuses the key": (refuse(401, REFUSED), "Set LAB_KEY to a valid key"),
    "knows no such model": (refuse(404, UNKNOWN), "Check model and base_url"),
    "says nothing": (stream(chunk({}, "stop")), "Its answer has no text."),
    "has no credit": (refuse(402, {"error": {"message": "Insufficient Balance"}}), "no credit"),
}  # fmt: skip
SLOW = frozenset({"hangs", "stops in the middle", "never ends"})


@pytest.mark.parametrize("name", BAD)
async def test_a_bad_server_is_told_as_what_it_is_and_asked_nothing_more(wire, name):
    play, reason = BAD[name]
    wire.plays = [play]

    report = await check(settings(wire.base_url), probe_seconds=1.0 if name in SLOW else 5.0)

    assert_told(report, reason)
    assert len(wire.requests) <= 3
    assert KEY not in str(report)


def assert_told(report: ProviderReport, reason: str) -> None:
    text, *others = report.findings
    assert (text.probe, text.outcome) == ("text", "fails")
    assert reason in text.remark
    assert {each.outcome for each in others} == {"skipped"}
    assert not report.can_investigate
    assert report.verdict == "No investigation can run on it: text failed."


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
async def test_why_a_server_cannot_be_reached_is_told_on_either_way(warm, kind, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with serve(tmp_path) as (trusted_by_none, plain):
        reasons = {
            f"https://{trusted_by_none}/v1": "its certificate is not trusted (self-signed",
            f"https://{plain}/v1": "it speaks no TLS; its address may begin with http://",
            f"http://127.0.0.1:{port}/v1": "nothing listens there",
            "http://nowhere.invalid/v1": "its name is not known here",
        }

        reports = await asyncio.gather(
            *(check(settings(address, kind), "text", probe_seconds=10.0) for address in reasons)
        )

    for report, reason in zip(reports, reasons.values(), strict=True):
        assert reason in report.findings[0].remark
        assert report.findings[0].remark.startswith("The provider lab (model lab-1) at http")


@asynccontextmanager
async def serve(folder: Path) -> AsyncIterator[tuple[str, str]]:
    """One server with a certificate of its own, and one that speaks no TLS."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*write_certificate(folder))

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(64)
        writer.write(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    secure = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    plain = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with secure, plain:
        yield tuple(f"127.0.0.1:{each.sockets[0].getsockname()[1]}" for each in (secure, plain))
