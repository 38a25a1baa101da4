"""What comes down the pipes of a script on this machine, masked on its way where it has to be."""

import asyncio
import os
import re
from contextlib import suppress

from safety.commands.file_screening import look_at_files
from safety.commands.output_shape import Shape
from safety.commands.screen import MAX_LOOKED_AT, Screen, Withheld
from safety.commands.script import Command

_CHUNK = 65_536
_PATIENCE_SECONDS = 2.0
"""How long programs that keep lines wait for all of what comes to them."""
_NAMES = re.compile(rb"[^\0\n]+")


def places_to_mask(commands: tuple[Command, ...]) -> dict[int, bool]:
    """Behind which commands is masked; True where nothing may go on as it is.

    As early as possible, because there the text is whole, and before anything makes parts of it.
    """
    if len(commands) == 1:
        return {}
    parting = next(
        (
            place
            for place, command in enumerate(commands[1:], 1)
            if command.shape is Shape.PARTS or command.takes_names
        ),
        None,
    )
    if parting is None:
        return {0: False}
    return {0: parting == 1, parting - 1: True}


def only_measures(commands: tuple[Command, ...]) -> bool:
    """Whether nothing but a count or a checksum of whole texts is printed."""
    return commands[-1].shape is Shape.MEASURE and all(
        command.argv[0].endswith("cat") and command.shape is Shape.LINES
        for command in commands[:-1]
    )


class Pump:
    """Carries what one command prints to the next one."""

    def __init__(self, screen: Screen, before: Command, behind: Command, *, is_strict: bool):
        self._screen = screen
        self._source = f"the output of {before.argv[0]}"
        self._behind = behind
        self._is_strict = is_strict
        self.is_waiting = True

    @property
    def delay(self) -> str:
        """Why nothing has come through."""
        return (
            f"{self._source} did not end, and all of it is looked at for secrets before "
            f"{self._behind.argv[0]} makes parts of it: put `head -n` in between"
        )

    async def run(self, reading: asyncio.StreamReader, writing: asyncio.StreamWriter) -> None:
        """Raises `Withheld` where there is more than can be masked and it may not go on so."""
        try:
            data, is_whole = await self._take(reading)
            if is_whole:
                await self._look_behind(data)
                data = await self._screen.mask(data, self._source, or_leave=not self._is_strict)
            else:
                await self._screen.learn(data, self._source, or_leave=True)
            self.is_waiting = False
            with suppress(ConnectionError):
                await self._pass_on(data, reading, writing, is_whole=is_whole)
        finally:
            writing.close()

    async def _take(self, reading: asyncio.StreamReader) -> tuple[bytes, bool]:
        data = bytearray(await reading.read(_CHUNK))
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + _PATIENCE_SECONDS
        chunk = bytes(data)
        while chunk and len(data) <= MAX_LOOKED_AT:
            try:
                async with asyncio.timeout_at(None if self._is_strict else ends_at):
                    chunk = await reading.read(_CHUNK)
            except TimeoutError:
                return bytes(data), False
            data += chunk
        if chunk and self._is_strict:
            raise Withheld(
                f"{self._source} is more than {MAX_LOOKED_AT >> 20} MiB, too much to be looked at "
                f"for secrets before {self._behind.argv[0]} makes parts of it: put `grep`, "
                "`head -n` or `tail -n` in between"
            )
        return bytes(data), not chunk

    async def _look_behind(self, data: bytes) -> None:
        if self._behind.takes_names:
            found = _NAMES.findall(data)
            words = (*found, *(word for line in found for word in line.split()))
            names = (os.fsdecode(name) for name in dict.fromkeys(words) if name.startswith(b"/"))
            await look_at_files(self._screen, names, self._behind, "what xargs is given")

    async def _pass_on(
        self,
        data: bytes,
        reading: asyncio.StreamReader,
        writing: asyncio.StreamWriter,
        *,
        is_whole: bool,
    ) -> None:
        writing.write(data)
        await writing.drain()
        while not is_whole and (chunk := await reading.read(_CHUNK)):
            writing.write(chunk)
            await writing.drain()


async def open_ends(
    reading: int, writing: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, asyncio.ReadTransport]:
    """Both descriptors as streams, which own them from then on."""
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader()
    source, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reading, "rb", buffering=0)
    )
    sink, protocol = await loop.connect_write_pipe(
        lambda: asyncio.streams.FlowControlMixin(loop=loop),
        os.fdopen(writing, "wb", buffering=0),
    )
    return stream, asyncio.StreamWriter(sink, protocol, None, loop), source
