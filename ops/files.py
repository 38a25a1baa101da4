"""Reading files: regular text files only, bounded in bytes, lines and time."""

import getpass
import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ops.bounded import Deadline
from ops.envelope import Answer, ToolFailure
from ops.line_filter import LineFilter
from safety.paths.sensitive_paths import SensitivePaths

MAX_LINES = 1000
_MAX_TEXT_BYTES = 120_000
_MAX_LINE_BYTES = 4_000
_MAX_SCAN_BYTES = 64 << 20
_MAX_TAIL_SCAN_BYTES = 16 << 20
_CHUNK = 65_536
KEY_BEGIN = re.compile(rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY")
KEY_END = re.compile(rb"-----END [A-Z0-9 ]*PRIVATE KEY")
_MAX_KEY_LINES = 400
_SNIFF_BYTES = 8_192
_CONTROL = frozenset(range(32)) - {9, 10, 12, 13, 27}
_MAGIC = {
    b"\x1f\x8b": "gzip data",
    b"\xfd7zXZ": "xz data",
    b"BZh": "bzip2 data",
    b"\x28\xb5\x2f\xfd": "zstd data",
    b"PK\x03\x04": "a zip archive",
    b"\x7fELF": "an executable",
    b"SQLite format 3": "an SQLite database",
    b"LPKSHHRH": "a systemd journal (use action 'logs')",
}


@dataclass(frozen=True)
class OpenFile:
    """A regular file that may be read, open for reading."""

    path: str
    descriptor: int
    size: int
    modified: str


@dataclass(frozen=True)
class Line:
    """One line. `number` counts from 1; `full` is its length before it was cut."""

    number: int
    text: bytes
    full: int


@contextmanager
def open_file(path: str, sensitive: SensitivePaths) -> Iterator[OpenFile]:
    """Opens a file that may be read, or says why not. Never blocks on fifos or devices."""
    resolved = allowed_path(path, sensitive)
    try:
        status = os.lstat(resolved)
        _refuse_irregular(path, status)
        # Not following and not blocking: the file may have been replaced since.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY
        descriptor = os.open(resolved, flags)
    except OSError as error:
        raise unreadable(path, error) from error
    try:
        status = os.fstat(descriptor)
        _refuse_irregular(path, status)
        _refuse_if_moved(path, descriptor, status, sensitive)
        modified = timestamp(status.st_mtime)
        yield OpenFile(resolved, descriptor, status.st_size, modified)
    except OSError as error:
        raise unreadable(path, error) from error
    finally:
        os.close(descriptor)


def allowed_path(path: str, sensitive: SensitivePaths) -> str:
    """The path without links, if it is absolute and not sensitive."""
    if not path:
        raise ToolFailure("INVALID_INPUT", "'path' is missing: give an absolute path.")
    if "\0" in path or not path.startswith("/") or len(path) > 4096:
        raise ToolFailure(
            "INVALID_INPUT",
            "'path' must be absolute (start with '/'), without NUL and below 4096 characters; "
            "'~' and variables are not expanded.",
        )
    reason = sensitive.reason(path)
    if reason:
        raise refusal(path, reason)
    return os.path.realpath(path)


def refusal(path: str, reason: str) -> ToolFailure:
    return ToolFailure(
        "POLICY_BLOCKED",
        f"{path} is not read out: {reason}. Neither another attempt nor another way to it "
        "changes that.",
        details={"path": path, "reason": reason},
        rule="secret",
    )


def unreadable(path: str, error: OSError) -> ToolFailure:
    """What an operating system error about a path means for the caller."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        parent = _nearest_directory(path)
        return ToolFailure(
            "NOT_FOUND",
            f"{path} does not exist. The nearest directory that does is {parent}; use action "
            f"'find' with path '{parent}'.",
            details={"path": path, "nearest_directory": parent},
        )
    hint = ""
    if isinstance(error, PermissionError):
        hint = (
            f" This server runs as user {getpass.getuser()}, who may not read it; something else "
            "must be read, or an operator must start the server as another user."
        )
    return ToolFailure(
        "EXECUTION_FAILED",
        f"{path} cannot be read: {error.strerror or error}.{hint}",
        details={"path": path, "errno": error.errno},
    )


def read_file(
    path: str,
    sensitive: SensitivePaths,
    deadline: Deadline,
    *,
    start_line: int,
    lines: int,
    accepts: LineFilter | None,
) -> Answer:
    """Lines from `start_line` on; with a filter, the first `lines` that match."""
    with open_file(path, sensitive) as file:
        _refuse_binary(file, _read_chunk(file.descriptor)[:_SNIFF_BYTES])
        os.lseek(file.descriptor, 0, os.SEEK_SET)
        taken: list[Line] = []
        cuts: list[str] = []
        budget = _MAX_TEXT_BYTES
        scan = _Scan()
        lines_read = _iterate_lines(file.descriptor, _MAX_SCAN_BYTES, deadline, scan)
        for line in _without_keys(file, lines_read):
            if line.number < start_line or (accepts and not accepts(line.text)):
                continue
            if len(taken) >= lines or budget < len(line.text):
                cuts.append(
                    f"content: ends before line {line.number}; go on with start_line={line.number}"
                )
                break
            taken.append(line)
            budget -= len(line.text)
        if scan.stopped:
            cuts.append(
                f"content: stopped after {scan.seen} of {file.size} bytes; use grep or tail"
            )
        return _text_answer(file, taken, cuts, accepts is not None)


def tail_file(
    path: str,
    sensitive: SensitivePaths,
    deadline: Deadline,
    *,
    lines: int,
    accepts: LineFilter | None,
) -> Answer:
    """The last lines; with a filter, the last `lines` that match in the last 16 MiB."""
    with open_file(path, sensitive) as file:
        window = _MAX_TAIL_SCAN_BYTES if accepts else lines * _MAX_LINE_BYTES
        start = max(0, file.size - window)
        # A log cut while its writer went on has a hole of NULs in front; its end is text.
        _refuse_binary(file, _read_end(file).lstrip(b"\0"))
        os.lseek(file.descriptor, start, os.SEEK_SET)
        last: deque[Line] = deque(maxlen=lines)
        scan = _Scan()
        found = 0
        lines_read = _iterate_lines(file.descriptor, window + _CHUNK, deadline, scan)
        for line in _without_keys(file, lines_read):
            if (start and line.number == 1) or (accepts and not accepts(line.text)):
                continue  # The first line of a window is most likely half a line.
            last.append(line)
            found += 1
        taken = _fit_from_end(last)
        cuts = []
        if scan.stopped and scan.seen < file.size - start:
            cuts.append("content: time ran out before the end of the file; ask without 'grep'")
        elif start and not found and not accepts:
            cuts.append(f"content: the last line is longer than {window} bytes; use action 'file'")
        elif start or found > len(taken):
            cuts.append(f"content: the last {len(taken)} lines of {file.size} bytes")
        return _text_answer(file, taken, cuts, accepts is not None, numbered=not start)


@dataclass
class _Scan:
    """How far a scan came and whether a bound ended it."""

    seen: int = 0
    stopped: bool = False


def _iterate_lines(
    descriptor: int, max_bytes: int, deadline: Deadline, scan: _Scan
) -> Iterator[Line]:
    number, part, full = 1, bytearray(), 0
    while True:
        if scan.seen >= max_bytes or deadline.passed:
            scan.stopped = True
            return
        chunk = _read_chunk(descriptor)
        if not chunk:
            break
        scan.seen += len(chunk)
        pieces = chunk.split(b"\n")
        for piece in pieces[:-1]:
            part += piece[: max(0, _MAX_LINE_BYTES - len(part))]
            yield Line(number, bytes(part), full + len(piece))
            number, part, full = number + 1, bytearray(), 0
        part += pieces[-1][: max(0, _MAX_LINE_BYTES - len(part))]
        full += len(pieces[-1])
    if full:
        yield Line(number, bytes(part), full)


def _without_keys(file: OpenFile, lines: Iterator[Line]) -> Iterator[Line]:
    """Puts one marker in place of each private key, whatever the file is called."""
    left = 0
    for line in lines:
        ends = KEY_END.search(line.text)
        if KEY_BEGIN.search(line.text):
            left = _MAX_KEY_LINES
            yield Line(line.number, b"[private key left out]", 0)
        elif ends and not left:
            raise refusal(file.path, "the part asked for starts within a private key")
        elif not left:
            yield line
        left = 0 if ends else max(0, left - 1)


def _read_chunk(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return b""  # Some files under /proc and /sys wait for news; what is there now is enough.


def _fit_from_end(lines: deque[Line]) -> list[Line]:
    taken: list[Line] = []
    budget = _MAX_TEXT_BYTES
    for line in reversed(lines):
        budget -= len(line.text)
        if budget < 0:
            break
        taken.append(line)
    return taken[::-1]


def _text_answer(
    file: OpenFile, taken: list[Line], cuts: list[str], filtered: bool, *, numbered: bool = True
) -> Answer:
    content = "\n".join(_show(line) for line in taken)
    data: dict[str, str | int | bool | None] = {
        "path": file.path,
        "size_bytes": file.size,
        "modified": file.modified,
        "lines": len(taken),
        "first_line": taken[0].number if taken and numbered else None,
        "last_line": taken[-1].number if taken and numbered else None,
        "content": content,
    }
    if filtered and not taken:
        data["note"] = "no line matches 'grep'"
    replaced = content.count("�")
    if replaced:
        data["note"] = f"{replaced} characters are not valid UTF-8 and are shown as �"
    return Answer(data, tuple(cuts))


def _show(line: Line) -> str:
    text = line.text.decode("utf-8", "replace").rstrip("\r")
    if line.full > len(line.text):
        return f"{text}… [line has {line.full} bytes]"
    return text


def _refuse_irregular(path: str, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode):
        return
    kind = file_kind(status.st_mode)
    hint = "use action 'find' to list it" if kind == "directory" else "only files can be read"
    raise ToolFailure(
        "INVALID_INPUT", f"{path} is a {kind}: {hint}.", details={"path": path, "kind": kind}
    )


def _refuse_if_moved(
    path: str, descriptor: int, status: os.stat_result, sensitive: SensitivePaths
) -> None:
    # A link swapped in after the first look ends here: the kernel says what is really open.
    try:
        opened = str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        opened = path
    reason = sensitive.reason_resolved(opened) or sensitive.reason_linked(status)
    if reason:
        raise refusal(path, reason)


def find_binary_kind(head: bytes, sample: bytes) -> str | None:
    """What a file is, when it is no text: by how it begins, and by a sample of it."""
    kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)
    if kind is None and head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "UTF-16 text"
    controls = sum(byte in _CONTROL for byte in sample)
    if kind is None and (b"\0" in sample or controls > len(sample) * 0.1):
        return "binary data"
    return kind


def _refuse_binary(file: OpenFile, sample: bytes) -> None:
    os.lseek(file.descriptor, 0, os.SEEK_SET)
    head = _read_chunk(file.descriptor)[:_SNIFF_BYTES]
    if kind := find_binary_kind(head, sample):
        raise ToolFailure(
            "INVALID_INPUT",
            f"{file.path} is {kind}, not text in UTF-8 or a similar encoding; nothing was read.",
            details={"path": file.path, "kind": kind},
        )


def _read_end(file: OpenFile) -> bytes:
    os.lseek(file.descriptor, max(0, file.size - _SNIFF_BYTES), os.SEEK_SET)
    return _read_chunk(file.descriptor)[:_SNIFF_BYTES]


def file_kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISFIFO(mode):
        return "fifo"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "device"


def timestamp(seconds: float) -> str:
    """UTC time of a file or boot, to the second."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _nearest_directory(path: str) -> str:
    current = os.path.dirname(os.path.normpath(path))  # noqa: PTH120 - text that may not be a path
    while current != "/" and not os.path.isdir(current):  # noqa: PTH112
        current = os.path.dirname(current)  # noqa: PTH120
    return current
