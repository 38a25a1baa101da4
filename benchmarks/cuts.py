"""Seconds until a page in a browser says that it is not live, for each way to be cut off."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Page, sync_playwright

from benchmarks.figures import Report
from benchmarks.lab import Lab, find_free_port
from tests.browser import LAUNCH_OPTIONS, find_chromium

PATIENCE = 90.0


def measure(lab: Lab) -> Report:
    chromium = find_chromium()
    if chromium is None:
        return Report(("cut", "s"), [], {}, ("No Chromium here: nothing was measured.",))
    lab.clear()
    session = lab.submit("direct")
    path = f"/sessions/{session.pk}/"
    rows: list[list[str | int | float]] = []
    with lab.daphne() as (web, port), _dropping_proxy(port) as proxy, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))

        def cut(name: str, address: int, *, how: str) -> None:
            page = browser.new_page(base_url=f"http://127.0.0.1:{address}")
            with page.expect_websocket() as opened:
                page.goto(path)
            opened.value.wait_for_event("framereceived")
            page.wait_for_timeout(1000)
            began = time.monotonic()
            match how:
                case "offline":
                    page.context.set_offline(True)
                case "proxy":
                    proxy.is_dropping = True
                case "stop":
                    os.kill(web.child.pid, signal.SIGSTOP)
                case "kill":
                    os.kill(web.child.pid, signal.SIGKILL)
            rows.append([name, _seconds_until_strip(page, began)])
            if how == "stop":
                os.kill(web.child.pid, signal.SIGCONT)
            page.close()

        cut("browser offline", port, how="offline")
        cut("a proxy that drops silently", proxy.port, how="proxy")
        cut("web process stopped (SIGSTOP)", port, how="stop")
        cut("web process killed", port, how="kill")
        browser.close()
    lab.clear()
    figures = {str(name): float(seconds) for name, seconds in rows}
    return Report(("cut", "s until the strip"), rows, figures, ("Goal: 25 s, at once offline.",))


def _seconds_until_strip(page: Page, began: float) -> float:
    page.locator("#strip").wait_for(state="visible", timeout=PATIENCE * 1000)
    return round(time.monotonic() - began, 2)


class _Proxy:
    """Passes everything on until it is told to drop it, and then neither closes nor says so."""

    def __init__(self, to_port: int) -> None:
        self.port = find_free_port()
        self.is_dropping = False
        self._to_port = to_port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def start(self) -> None:
        self._thread.start()
        server = asyncio.start_server(self._serve, "127.0.0.1", self.port)
        asyncio.run_coroutine_threadsafe(server, self._loop).result(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
        await asyncio.gather(self._pump(reader, to_writer), self._pump(to_reader, writer))

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65_536):
                if not self.is_dropping:
                    writer.write(data)
                    await writer.drain()
            writer.close()
        except OSError:
            writer.close()


@contextmanager
def _dropping_proxy(to_port: int) -> Iterator[_Proxy]:
    proxy = _Proxy(to_port)
    proxy.start()
    try:
        yield proxy
    finally:
        proxy.stop()
