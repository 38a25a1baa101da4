"""Content of files: which part is shown, what is told of the whole, and what may be written."""

import codecs
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ops.bounded import Deadline
from ops.envelope import Json, ToolFailure
from ops.files import KEY_BEGIN, KEY_END, find_binary_kind

MAX_CONTENT_BYTES = 60_000
"""Of what is written, and of a file that is replaced: what changes can then be shown as a whole."""
MAX_SCAN_BYTES = 64 << 20
_SNIFF_BYTES = 8_192
_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Part:
    """What of a file is wanted. With `tail_bytes` it is its end, and what lies before is told
    apart by hash."""

    max_bytes: int = MAX_CONTENT_BYTES
    tail_bytes: int = 0


WHOLE = Part()
FACTS = Part(max_bytes=0)


@dataclass(frozen=True)
class Digest:
    """What a whole file comes down to, and the part of it that was asked for."""

    size: int
    sha256: str
    encoding: str
    line_ends: str
    ends_line: bool
    shown: str
    first_line: int
    is_cut: bool
    head_sha256: str
    tail_sha256: str

    @property
    def is_utf8(self) -> bool:
        return self.encoding != "unknown"


def digest(path: str, chunks: Iterable[bytes], size: int, part: Part) -> Digest:
    """Read a file of `size` bytes once, to its end. Raises `ToolFailure` for what is no text."""
    scan = _Scan(max(0, size - part.tail_bytes) if part.tail_bytes else 0, part.max_bytes)
    for chunk in chunks:
        scan.take(chunk)
    if scan.seen != size:
        raise ToolFailure(
            "EXECUTION_FAILED",
            f"{path} changed while it was read; nothing was done.",
            retryable=True,
            details={"path": path},
        )
    if kind := find_binary_kind(bytes(scan.head), bytes(scan.head)):
        raise ToolFailure(
            "INVALID_INPUT",
            f"{path} is {kind}, not text in UTF-8 or a similar encoding; nothing was done.",
            details={"path": path, "kind": kind},
        )
    return scan.finish(path, has_tail=part.tail_bytes > 0)


def watch(chunks: Iterable[bytes], path: str, deadline: Deadline) -> Iterable[bytes]:
    """The same chunks, up to the most that is read at all and as long as there is time."""
    seen = 0
    for chunk in chunks:
        seen += len(chunk)
        if seen > MAX_SCAN_BYTES or deadline.passed:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"{path} is too large to be read to its end here; use the tool 'read'.",
                details={"path": path, "max_bytes": MAX_SCAN_BYTES},
            )
        yield chunk


def encode_content(content: str) -> bytes:
    """The bytes that are written. Raises `ToolFailure` for what is no text that can be shown."""
    try:
        written = content.encode()
    except UnicodeEncodeError as error:
        raise _wrong("'content' holds what is no character (half a surrogate pair).") from error
    if len(written) > MAX_CONTENT_BYTES:
        raise _wrong(f"'content' has {len(written)} bytes; at most {MAX_CONTENT_BYTES} are written")
    if found := _CONTROLS.search(content):
        raise _wrong(f"'content' holds the control character U+{ord(found[0]):04X}; only text is")
    if kind := find_binary_kind(written[:_SNIFF_BYTES], written[:_SNIFF_BYTES]):
        raise _wrong(f"'content' looks like {kind}; only text is written")
    if _holds_key(written):
        raise ToolFailure("POLICY_BLOCKED", "'content' holds a private key, which is not written.")
    return written


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def describe(found: Digest) -> dict[str, Json]:
    return {
        "size_bytes": found.size,
        "sha256": found.sha256,
        "encoding": found.encoding,
        "line_ends": found.line_ends,
        "ends_with_newline": found.ends_line,
    }


def _wrong(message: str) -> ToolFailure:
    return ToolFailure("INVALID_INPUT", f"{message.rstrip('.')}. Nothing was written.")


def _holds_key(data: bytes | bytearray) -> bool:
    return KEY_BEGIN.search(data) is not None or KEY_END.search(data) is not None


@dataclass
class _Scan:
    """One pass over a file. `split` is where the part that is shown begins."""

    split: int
    max_shown: int
    seen: int = 0
    head: bytearray = field(default_factory=bytearray)
    _shown: bytearray = field(default_factory=bytearray)
    _lines_before: int = 0
    _newlines: int = 0
    _carriage_pairs: int = 0
    _last_byte: bytes = b""

    def __post_init__(self) -> None:
        self._whole, self._before, self._after = (hashlib.sha256() for _ in range(3))
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._is_utf8 = self._is_ascii = True

    def take(self, chunk: bytes) -> None:
        before = chunk[: max(0, self.split - self.seen)]
        after = chunk[len(before) :]
        self._whole.update(chunk)
        self._before.update(before)
        self._after.update(after)
        self._lines_before += before.count(b"\n")
        self._shown += after[: max(0, self.max_shown - len(self._shown))]
        self.head += chunk[: max(0, _SNIFF_BYTES - len(self.head))]
        self._newlines += chunk.count(b"\n")
        self._carriage_pairs += (self._last_byte + chunk).count(b"\r\n")
        self._last_byte = chunk[-1:] or self._last_byte
        self._is_ascii = self._is_ascii and chunk.isascii()
        self._decode(chunk)
        self.seen += len(chunk)

    def finish(self, path: str, *, has_tail: bool) -> Digest:
        self._decode(b"", is_last=True)
        if _holds_key(self._shown):
            raise ToolFailure(
                "POLICY_BLOCKED",
                f"{path} holds a private key, so it is neither read out nor written.",
                details={"path": path, "reason": "it holds a private key"},
            )
        is_cut = len(self._shown) < self.seen - self.split
        shown, skipped = self._whole_lines(is_cut=is_cut)
        return Digest(
            size=self.seen,
            sha256=self._whole.hexdigest(),
            encoding=self._encoding(),
            line_ends=self._line_ends(),
            ends_line=not self.seen or self._last_byte == b"\n",
            shown=shown.decode("utf-8", "replace"),
            first_line=self._lines_before + skipped + 1,
            is_cut=is_cut,
            head_sha256=self._before.hexdigest() if has_tail else "",
            tail_sha256=self._after.hexdigest() if has_tail else "",
        )

    def _whole_lines(self, *, is_cut: bool) -> tuple[bytes, int]:
        """What is shown without half lines, and how many lines were left out in front."""
        shown = bytes(self._shown)
        if is_cut:
            shown = shown[: shown.rfind(b"\n") + 1]
        if not self.split or b"\n" not in shown:
            return (b"" if self.split else shown), 0
        return shown[shown.find(b"\n") + 1 :], 1

    def _decode(self, chunk: bytes, *, is_last: bool = False) -> None:
        if not self._is_utf8:
            return
        try:
            self._decoder.decode(chunk, final=is_last)
        except UnicodeDecodeError:
            self._is_utf8 = False

    def _encoding(self) -> str:
        if self._is_ascii:
            return "us-ascii"
        if not self._is_utf8:
            return "unknown"
        return "utf-8 with a byte order mark" if self.head.startswith(_BOM) else "utf-8"

    def _line_ends(self) -> str:
        if not self._newlines:
            return "none"
        if not self._carriage_pairs:
            return "LF"
        return "CR LF" if self._carriage_pairs == self._newlines else "mixed"
