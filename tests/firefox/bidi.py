"""Firefox as the distribution ships it, driven over WebDriver BiDi, which it speaks by itself."""

import asyncio
import itertools
import json
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

PROGRAMS = ("firefox-esr", "firefox")
_LISTENING = re.compile(rb"BiDi listening on (ws://\S+)")
PATIENCE = 60
# As WebDriver names them.
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c"}
PREFERENCES = {
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
}


def find_firefox() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Firefox:
    """One tab, and all that its pages complained of."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.complaints: list[str] = []
        self._tab = ""

    async def begin(self) -> None:
        await self._call("session.new", capabilities={})
        await self._call("session.subscribe", events=["log.entryAdded"])
        tree = await self._call("browsingContext.getTree")
        self._tab = tree["contexts"][0]["context"]

    async def open(self, url: str) -> None:
        await self._call("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    async def ask(self, expression: str) -> Any:
        """What a piece of JavaScript gives, by way of JSON."""
        answer = await self._call(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise AssertionError(answer["exceptionDetails"]["text"])
        said = answer["result"].get("value")
        return None if said is None else json.loads(said)

    async def wait_for(self, condition: str) -> None:
        for _ in range(PATIENCE * 10):
            if await self.ask(f"Boolean({condition})"):
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"not within {PATIENCE} s: {condition}")

    async def resize(self, width: int, height: int) -> None:
        viewport = {"width": width, "height": height}
        await self._call("browsingContext.setViewport", context=self._tab, viewport=viewport)

    async def press(self, key: str) -> None:
        """One key, as a person presses it; a character, or a name of `KEYS`."""
        value = KEYS.get(key, key)
        actions = [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        source = {"type": "key", "id": "keyboard", "actions": actions}
        await self._call("input.performActions", context=self._tab, actions=[source])

    async def activate(self) -> None:
        """Press what has the focus. Without a screen a key does so on no page at all, however bare,
        so that the click which it stands for is made here."""
        await self.ask("document.activeElement.click() ?? 1")

    async def _call(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(await asyncio.wait_for(self._socket.recv(), PATIENCE))
            if message.get("method") == "log.entryAdded":
                entry = message["params"]
                if entry["level"] in ("error", "warn"):
                    self.complaints.append(entry["text"])
            elif message.get("id") == number:
                if message["type"] == "error":
                    raise AssertionError(f"{method}: {message['message']}")
                return message["result"]


@asynccontextmanager
async def open_firefox(program: str, profile: Path) -> AsyncIterator[Firefox]:
    lines = [f"user_pref({json.dumps(name)}, {json.dumps(v)});" for name, v in PREFERENCES.items()]
    (profile / "user.js").write_text("\n".join(lines), encoding="ascii")
    process = await asyncio.create_subprocess_exec(
        *(program, "--headless", "--no-remote", "--profile", str(profile)),
        *("--remote-debugging-port", "0"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        address = await asyncio.wait_for(_read_address(process), PATIENCE)
        async with connect(f"{address}/session", max_size=None) as socket:
            firefox = Firefox(socket)
            await firefox.begin()
            yield firefox
    finally:
        process.terminate()
        await process.wait()


async def _read_address(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    async for line in process.stderr:
        if found := _LISTENING.search(line):
            return found[1].decode("ascii")
    raise AssertionError("Firefox ended before it listened")
