"""Cuts text to what may be kept, at the end of a line or of an item of JSON, and says so."""

from agents.json_cutting import cut_json

STORED_BYTES = 32_000
"""What a page shows of one result."""
BYTES_PER_TOKEN = 4
"""As configuration counts them."""


def cut_text(text: str, max_bytes: int, *, whole_bytes: int | None = None) -> tuple[str, bool]:
    """The text, or its first lines and a marker that names both sizes; of JSON, its first items
    and how many there are.

    `whole_bytes` is the size before an earlier cut, if there was one; the marker then appears
    even where this cut takes nothing away.
    """
    data = text.encode("utf-8", "replace")
    total = len(data) if whole_bytes is None else max(whole_bytes, len(data))
    if len(data) <= max_bytes and total <= len(data):
        return text, False
    kept, is_torn = text, whole_bytes is not None
    if len(data) > max_bytes:
        cut = _cut_json(text, max_bytes, is_torn=is_torn)
        if cut and not is_torn:
            return cut, True
        kept = cut or _cut_lines(data, max_bytes)
    shown = len(kept.encode("utf-8", "replace"))
    return f"{kept}\n[truncated: showing {shown} of {total} bytes]", True


def _cut_lines(data: bytes, max_bytes: int) -> str:
    kept = data[:max_bytes].decode("utf-8", "ignore")
    line_end = kept.rfind("\n")
    # A single endless line is cut where it is; half a text of nothing helps nobody.
    return kept[:line_end] if line_end > max_bytes // 2 else kept


def _cut_json(text: str, max_bytes: int, *, is_torn: bool) -> str:
    """JSON in so many bytes; empty where it cannot be made to fit. A character may take several."""
    cut = cut_json(text, max_bytes, is_torn=is_torn) or ""
    size = len(cut.encode("utf-8", "replace"))
    if size > max_bytes:
        cut = cut_json(text, max_bytes * len(cut) // size, is_torn=is_torn) or ""
    return cut if len(cut.encode("utf-8", "replace")) <= max_bytes else ""
