"""Files of another place, through the executor that leads there.

What `local.py` does with descriptors, a fixed script does there: it changes into the real
directory, touches nothing but one name in it, and asks the kernel what it has opened. Nothing of a
path or a content is ever read as text of the script.
"""

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from ops.envelope import ToolFailure
from ops.executors.base import Executor
from ops.file_edits.allowed_paths import EditablePaths, refuse_path
from ops.file_edits.changes import (
    MOVED,
    UNKNOWN,
    Change,
    FileState,
    changed_since,
    not_found,
    refuse_link,
    refuse_unexpected,
    refuse_unfit,
)
from ops.file_edits.content import FACTS, Part, digest, sha256
from ops.files import timestamp
from safety.checks import ABSENT
from safety.commands.script import Finished

_SECONDS = 20.0
_MAX_READ_BYTES = 8 << 20
_MAX_ANSWER_BYTES = 20_000
_NO_DIRECTORY, _MOVED, _ABSENT, _IRREGULAR, _NO_TOOLS, _CHANGED, _HALF = range(64, 71)

# $1 is the real directory, $2 the name. Afterwards descriptor 3 is the file, where there is one.
_ENTER = f"""
for tool in cat stat readlink sha256sum; do
  command -v "$tool" >/dev/null || {{ echo "$tool is not there" >&2; exit {_NO_TOOLS}; }}
done
[ -e /proc/self/fd ] || {{ echo "/proc is not there" >&2; exit {_NO_TOOLS}; }}
cd -P -- "$1" || exit {_NO_DIRECTORY}
[ "$(pwd -P)" = "$1" ] || exit {_MOVED}
there=
if [ -L "./$2" ]; then exit {_MOVED}; fi
if [ -e "./$2" ]; then
  [ -f "./$2" ] || exit {_IRREGULAR}
  exec 3< "./$2" || exit 1
  [ "$(readlink /proc/self/fd/3)" = "${{1%/}}/$2" ] || exit {_MOVED}
  there=yes
fi
"""
# Not every `cp` copies extended attributes and access control lists.
_SEE_KEEPING = """
if cp --help 2>&1 | grep -q -e --attributes-only; then keeps=yes; else keeps=no; fi
"""
_READ = (
    _ENTER
    + f"""
[ "$there" ] || exit {_ABSENT}
{_SEE_KEEPING}stat -L -c "%s %a %U %G %Y %h $keeps" /proc/self/fd/3 || exit 1
cat <&3
"""
)
# $3 is the hash that is expected, $4 that of the content, $5 a name that nothing bears yet.
_UNCHANGED = f"""
if [ "$there" ]; then
  [ "$(sha256sum <&3 | cut -c1-64)" = "$3" ] || exit {_CHANGED}
else
  [ "$3" = {ABSENT} ] || exit {_CHANGED}
fi
"""
_TAKE = """
umask 077
set -C
cat > "./$5" || exit 1
set +C
trap 'rm -f "./$5"' EXIT
[ "$(sha256sum < "./$5" | cut -c1-64)" = "$4" ] || { echo "it came through cut" >&2; exit 1; }
"""
_WRITE = (
    _ENTER
    + _UNCHANGED
    + _TAKE
    + f"""
if [ "$there" ]; then
  chown "$(stat -L -c %u:%g /proc/self/fd/3)" "./$5" || exit 1
  {_SEE_KEEPING}
  if [ $keeps = yes ]; then
    cp --attributes-only --preserve=all /proc/self/fd/3 "./$5" && touch "./$5" || exit 1
  fi
  chmod "$(stat -L -c %a /proc/self/fd/3)" "./$5" || exit 1
  [ "$(sha256sum < "./$2" | cut -c1-64)" = "$3" ] || exit {_CHANGED}
  mv -f -T "./$5" "./$2" || exit 1
else
  chmod 644 "./$5" || exit 1
  ln -T "./$5" "./$2" || exit {_CHANGED}
fi
"""
)
_APPEND = (
    _ENTER
    + _UNCHANGED
    + _TAKE
    + f"""
exec 4>> "./$2" || exit 1
[ "$(readlink /proc/self/fd/4)" = "${{1%/}}/$2" ] || exit {_MOVED}
same=$(stat -L -c %d:%i /proc/self/fd/3)
[ "$(stat -L -c %d:%i /proc/self/fd/4)" = "$same" ] || exit {_CHANGED}
cat "./$5" >&4 || exit {_HALF}
"""
)


@dataclass(frozen=True)
class RemoteFiles:
    """Implements `Files`."""

    paths: EditablePaths
    executor: Executor

    async def read(self, path: str, part: Part) -> FileState:
        self.paths.check(path, writes=False)
        real = await self._resolve(path)
        self.paths.check_resolved(real, writes=False, named=path)
        found = await self._look(real, part)
        if found is None:
            raise not_found(real, has_directory=True)
        return found

    async def write(self, path: str, content: bytes, expected: str) -> Change:
        return await self._change(_WRITE, path, content, expected)

    async def append(self, path: str, content: bytes, expected: str) -> Change:
        # A new file is made whole; only one that is there is added to.
        script = _WRITE if expected == ABSENT else _APPEND
        return await self._change(script, path, content, expected)

    async def _change(self, script: str, path: str, content: bytes, expected: str) -> Change:
        self.paths.check(path, writes=True)
        refuse_link(path, await self._resolve(path))
        self.paths.check_resolved(path, writes=True)
        before = await self._look(path, FACTS)
        refuse_unexpected(path, expected, before)
        refuse_unfit(before, is_append=script is _APPEND)
        if script is _WRITE and before is not None and before.digest.sha256 == sha256(content):
            return Change(path, before, before, 0, is_done=False)
        temporary = f".tarsy-{secrets.token_hex(8)}.tmp"
        words = (*os.path.split(path), expected, sha256(content), temporary)
        finished = await self._run(script, words, content)
        _refuse_unfinished(path, finished, expected)
        try:
            after = await self._look(path, FACTS)
        except ToolFailure:
            after = None
        return Change(path, before, after, len(content))

    async def _resolve(self, path: str) -> str:
        """Where a path leads over there; of a file that is not there yet, its directory does."""
        finished = await self.executor.run(
            ("readlink", "-f", path), seconds=_SECONDS, max_bytes=_MAX_ANSWER_BYTES
        )
        real = finished.stdout.decode("utf-8", "replace").removesuffix("\n")
        if finished.exit_code != 0 or not real.startswith("/"):
            raise not_found(path, has_directory=False)
        return real

    async def _look(self, path: str, part: Part) -> FileState | None:
        finished = await self._run(_READ, os.path.split(path), b"", _MAX_READ_BYTES)
        if finished.exit_code == _ABSENT:
            return None
        _refuse_unfinished(path, finished, UNKNOWN)
        line, _, content = finished.stdout.partition(b"\n")
        try:
            size, mode, owner, group, modified, links, keeps = line.decode().split(" ")
            return FileState(
                path=path,
                digest=digest(path, [content], int(size), part),
                mode=int(mode, 8),
                owner=owner,
                group=group,
                modified=timestamp(int(modified)),
                links=int(links),
                keeps_attributes=keeps == "yes",
            )
        except ValueError as error:
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"{path} cannot be looked at: 'stat' answers otherwise than expected over there.",
                details={"path": path},
            ) from error

    async def _run(
        self,
        script: str,
        words: Sequence[str],
        stdin: bytes,
        max_bytes: int = _MAX_ANSWER_BYTES,
    ) -> Finished:
        return await self.executor.run(
            ("sh", "-c", script, "sh", *words), seconds=_SECONDS, max_bytes=max_bytes, stdin=stdin
        )


def _refuse_unfinished(path: str, finished: Finished, expected: str) -> None:
    """Raises `ToolFailure` where a script did not do all of what it is for."""
    match finished.exit_code:
        case 0:
            return
        case code if code == _NO_DIRECTORY:
            raise not_found(path, has_directory=False)
        case code if code == _MOVED:
            raise refuse_path(path, MOVED)
        case code if code == _CHANGED:
            raise changed_since(path, expected, UNKNOWN)
        case code if code == _HALF:
            raise _tell_half(path, finished)
        case code if code == _IRREGULAR:
            raise ToolFailure(
                "INVALID_INPUT",
                f"{path} is no regular file; only those are read and written.",
                details={"path": path},
            )
    said = _said(finished)
    if finished.cut:
        said = f"it is larger than {_MAX_READ_BYTES} bytes"
    elif finished.timed_out:
        said = f"nothing came within {_SECONDS:g} s; whether it took effect is not known"
    is_missing = finished.exit_code == _NO_TOOLS
    raise ToolFailure(
        "EXECUTION_CONTEXT_UNAVAILABLE" if is_missing else "EXECUTION_FAILED",
        f"{path}: {said or 'no reason was given'}.",
        details={"path": path, "exit_code": finished.exit_code, "timed_out": finished.timed_out},
    )


def _tell_half(path: str, finished: Finished) -> ToolFailure:
    """An addition that ended in the middle: what of it is there stays there."""
    return ToolFailure(
        "EXECUTION_FAILED",
        f"{path}: {_said(finished) or 'no reason was given'}. The file was changed: a part of the "
        "content, or nothing of it, stands at its end now. Read it before you write again.",
        details={"path": path, "exit_code": finished.exit_code, "changed": True},
    )


def _said(finished: Finished) -> str:
    return finished.stderr.decode("utf-8", "replace").strip()[:300]
