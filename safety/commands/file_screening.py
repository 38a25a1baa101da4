"""Files that a script is about to read, looked at before it does."""

import asyncio
import fcntl
import os
import stat
import zlib
from collections.abc import Iterable
from itertools import islice

from safety.commands.output_shape import Shape
from safety.commands.screen import MAX_LOOKED_AT, Screen, Withheld
from safety.commands.script import Command
from safety.word_lists import word_set

MAX_FILES = 500
_GZIP = b"\x1f\x8b"
_PACKED = (_GZIP, b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18")
_UNPACKING = word_set("zgrep zegrep zfgrep")
_FIRST_DESCRIPTOR = 200
_TOO_LARGE = (
    "{path} has more than {size} MiB, too much to be looked at for secrets, and {program} prints "
    "parts of lines, where the name that tells a secret may be missing: put `grep`, `head -n` or "
    "`tail -n` in front of it"
)


class Substitutes:
    """Masked copies of files that hold secrets, in memory, under descriptors that programs open."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._next = _FIRST_DESCRIPTOR
        self._names: dict[bytes, bytes] = {}

    async def open(self, command: Command) -> tuple[tuple[str, ...], list[int]]:
        """The argument vector that reads no secret, and the descriptors that it needs."""
        argv, descriptors = list(command.argv), []
        for path in command.reads:
            descriptor = await self.open_masked(path, command)
            if descriptor is None:
                continue
            descriptors.append(descriptor)
            shown = f"/proc/self/fd/{descriptor}"
            self._names[shown.encode()] = os.fsencode(path)
            _replace_last(argv, path, shown)
        return tuple(argv), descriptors

    async def open_masked(self, path: str, command: Command) -> int | None:
        """A descriptor of the masked copy; None where the file may be read as it is."""
        if command.shape is Shape.MEASURE:
            return None
        full = os.path.join("/", path)  # noqa: PTH118 - text that may not be a path
        if command.reads_trees and (files := await asyncio.to_thread(_files_below, full)):
            await look_at_files(self._screen, files, command, path)
            return None
        data = text_of(await asyncio.to_thread(read_file, full), command)
        if not data:
            return None
        if len(data) > MAX_LOOKED_AT:
            refuse_large(path, command)
            return None
        masked = await self._screen.mask(data, path, or_leave=command.shape is Shape.LINES)
        return None if masked is data else self._keep(masked)

    def name_again(self, output: bytearray) -> None:
        """Puts the names of the files where programs printed those of the copies."""
        for shown, path in self._names.items():
            if shown in output:
                output[:] = output.replace(shown, path)

    def _keep(self, data: bytes) -> int:
        made = os.memfd_create("masked", os.MFD_CLOEXEC)
        try:
            # High, as scripts redirect the low ones, and never the same twice.
            descriptor = fcntl.fcntl(made, fcntl.F_DUPFD_CLOEXEC, self._next)
        finally:
            os.close(made)
        self._next = descriptor + 1
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor


def read_file(path: str) -> bytes:
    """What is in a regular file, or one byte more than is looked at; nothing where it is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return b""
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        try:
            return file.read(MAX_LOOKED_AT + 1)
        except OSError:
            return b""


def text_of(data: bytes, command: Command) -> bytes:
    """What the program reads of the content of a file: packed, it is no text but for `zgrep`."""
    if not data.startswith(_PACKED):
        return data
    if command.argv[0] not in _UNPACKING or not data.startswith(_GZIP):
        return b""
    text = b""
    while data.startswith(_GZIP) and len(text) <= MAX_LOOKED_AT:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        try:
            text += member.decompress(data, MAX_LOOKED_AT + 1 - len(text))
        except zlib.error:
            return text
        data = member.unused_data
    return text


async def look_at_files(screen: Screen, paths: Iterable[str], command: Command, place: str) -> None:
    """Learns the secrets of files that a program finds by itself.

    Raises `Withheld` where there are some, or too many files, and the program prints parts.
    """
    left, number, has_secrets = MAX_LOOKED_AT, 0, False
    for number, path in enumerate(paths, 1):
        data = await asyncio.to_thread(read_file, path)
        left -= len(data)
        if left < 0 or number > MAX_FILES:
            break
        keeps_lines = command.shape is Shape.LINES
        has_secrets |= bool(data) and await screen.learn(data, path, or_leave=keeps_lines)
    is_whole = left >= 0 and number <= MAX_FILES
    if command.shape is Shape.PARTS and (has_secrets or not is_whole):
        why = "holds secrets" if has_secrets else "is too much to be looked at for secrets"
        raise Withheld(
            f"{place} {why}, and {command.argv[0]} would print parts of lines, where the name that "
            "tells a secret may be missing: let it print whole lines, or name one file"
        )


def refuse_large(path: str, command: Command) -> None:
    """Lines stay as they are and are masked as they are printed; parts of them cannot be."""
    if command.shape is Shape.PARTS:
        size, program = MAX_LOOKED_AT >> 20, command.argv[0]
        raise Withheld(_TOO_LARGE.format(path=path, size=size, program=program))


def _files_below(directory: str) -> list[str]:
    """One more than is looked at, where there are more; none where it is no directory."""
    found = (
        os.path.join(folder, name)  # noqa: PTH118 - text that may not be a path
        for folder, _, names in os.walk(directory)
        for name in names
    )
    return list(islice(found, MAX_FILES + 1))


def _replace_last(argv: list[str], path: str, shown: str) -> None:
    """Files stand behind patterns, alone or joined to their option."""
    for place in range(len(argv) - 1, 0, -1):
        word = argv[place]
        if word == path or (word.startswith("-") and word.endswith(path)):
            argv[place] = word[: len(word) - len(path)] + shown
            return
