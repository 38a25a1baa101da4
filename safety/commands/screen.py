"""What a script reads is masked as it stands, before a program can print parts of it.

Behind `cut`, `awk` or `xxd` a secret has lost the name that tells it. So files and what comes down
a pipe are masked where they are still whole; no program gets to see what its reader may not.
"""

import asyncio
import json
import re
from collections.abc import Callable
from typing import TypeVar

from masking import Masker, TooMuchToMask
from safety.commands.output_shape import Shape
from safety.commands.script import Command, Finished
from safety.commands.templates import COMPUTING_TEMPLATE, keeps_texts

MAX_LOOKED_AT = 8 << 20
"""Bytes of one file, or of one pipe, that are looked at."""
MAX_AROUND_LINES = 1 << 20
"""Bytes that are looked at of what surrounds lines which are printed whole themselves."""
AROUND_SECONDS = 3.0
"""How long these are printed for, and how much CPU goes into looking at them then."""
_SECONDS = 10.0
_SHORTEST = 4
_PIECE = re.compile(r"[^\r\n]+")

T = TypeVar("T")


class Withheld(Exception):
    """The output may hold parts of secrets, and says why and what would be right."""


class Screen:
    """Between one script and what it reads. Remembers what it found until the script has ended.

    What cannot be looked at is withheld; with `or_leave` it stays as it is, for programs whose
    lines are masked as they are printed.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._secrets: dict[bytes, bytes] = {}
        self.masked: dict[str, int] = {}
        """How many secrets were masked in what, before a program read it."""
        self.unseen: set[str] = set()
        """Of which programs' lines not all was looked at that surrounds them."""

    async def mask(self, data: bytes, source: str, *, or_leave: bool = False) -> bytes:
        """The same without its secrets and those that are known by now, which is the same object
        where it holds none."""
        masked, count = await self._look(self._mask, data, source, (data, 0) if or_leave else None)
        cleaned, known = self._clean(masked)
        if count + known == 0:
            return data
        self.masked[source] = self.masked.get(source, 0) + count + known
        return cleaned

    async def learn(
        self, data: bytes, source: str, *, or_leave: bool = False, seconds: float = _SECONDS
    ) -> bool:
        """Remembers the secrets of what programs read as it is; False where there are none."""
        nothing: dict[bytes, bytes] = {}
        otherwise = nothing if or_leave else None
        found = await self._look(self._find, data, source, otherwise, seconds)
        self._secrets.update(found)
        return bool(found)

    async def learn_whole(self, data: bytes, command: Command, *, is_all: bool) -> None:
        """Remembers the secrets in the whole of what a command prints lines or parts of.

        Raises `Withheld` where it holds some and the command computes with texts. `is_all` tells
        whether there is no more of it than `data`.
        """
        source = command.argv[0]
        if command.shape is Shape.LINES:
            has_secrets = await self._learn_around(data, source, is_all=is_all)
        else:
            has_secrets = await self.learn(data, source)
        if has_secrets and not keeps_texts(command.argv):
            raise Withheld(COMPUTING_TEMPLATE)

    def sweep(self, finished: Finished) -> Finished:
        """The output without the secrets that are known by now."""
        if not self._secrets:
            return finished
        return Finished(
            finished.exit_code,
            self._clean(finished.stdout)[0],
            self._clean(finished.stderr)[0],
            timed_out=finished.timed_out,
            cut=finished.cut,
        )

    async def _learn_around(self, data: bytes, source: str, *, is_all: bool) -> bool:
        """Remembers the secrets in what surrounds lines that will be masked as they are printed.

        What cannot be looked at in `AROUND_SECONDS` tells nothing of them, which is remembered, as
        it is where `data` is not all there is.
        """
        try:
            has_secrets = await self.learn(data, source, seconds=AROUND_SECONDS)
        except Withheld:
            has_secrets = is_all = False
        if not is_all:
            self.unseen.add(source)
        return has_secrets

    def _clean(self, output: bytes) -> tuple[bytes, int]:
        """The output without the secrets that are known, and how many there were."""
        if not self._secrets:
            return output, 0
        known = sorted(self._secrets, key=len, reverse=True)
        pattern = re.compile(b"|".join(map(re.escape, known)))
        return pattern.subn(lambda match: self._secrets[match[0]], output)

    async def _look(
        self,
        look: Callable[[bytes, float], T],
        data: bytes,
        source: str,
        otherwise: T | None,
        seconds: float = _SECONDS,
    ) -> T:
        try:
            async with asyncio.timeout(_SECONDS):
                # Nobody can end a thread: it is told how much CPU it may take.
                return await asyncio.to_thread(look, data, seconds)
        except (TimeoutError, TooMuchToMask) as error:
            if otherwise is not None:
                return otherwise
            why = (
                "it takes too long to look for secrets in"
                if isinstance(error, TimeoutError)
                else "too much looks like a secret in"
            )
            raise Withheld(f"{why} {source}; read less of it") from error

    def _mask(self, data: bytes, seconds: float) -> tuple[bytes, int]:
        masked = self._masker.mask(_decode(data), seconds=seconds)
        text, count = masked.text, masked.count
        if "\0" in text:
            # Words that a NUL divides: masked where they stand, so that it goes on dividing them.
            for secret, wording in self._find_in_words(text, seconds).items():
                count += text.count(secret)
                text = text.replace(secret, wording)
        return _encode(text), count

    def _find(self, data: bytes, seconds: float) -> dict[bytes, bytes]:
        text = _decode(data)
        found = self._masker.find_secrets(text, seconds=seconds)
        if "\0" in text:
            found |= self._find_in_words(text, seconds)
        # A field of JSON is printed without the escapes that it is written with.
        found |= {_unescape(secret): found[secret] for secret in found if "\\" in secret}
        return {
            _encode(bare): _encode(wording)
            for secret, wording in found.items()
            for piece in _PIECE.findall(secret)
            # Elsewhere a line is indented in another way.
            if len(bare := piece.strip()) >= _SHORTEST
        }

    def _find_in_words(self, text: str, seconds: float) -> dict[str, str]:
        found = self._masker.find_secrets(text.replace("\0", " "), seconds=seconds)
        return {secret: wording for secret, wording in found.items() if len(secret) >= _SHORTEST}


def _unescape(secret: str) -> str:
    try:
        return str(json.loads(f'"{secret}"', strict=False))
    except ValueError:
        return secret


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
