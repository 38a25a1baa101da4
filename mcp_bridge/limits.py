"""Cuts text to what may be kept, at the end of a line, and says so."""

STORED_BYTES = 32_000
"""What a page shows of one result."""
BYTES_PER_TOKEN = 4
"""As configuration counts them."""


def cut_text(text: str, max_bytes: int, *, whole_bytes: int | None = None) -> tuple[str, bool]:
    """The text, or its first lines and a marker that names both sizes.

    `whole_bytes` is the size before an earlier cut, if there was one; the marker then appears
    even where this cut takes nothing away.
    """
    data = text.encode("utf-8", "replace")
    total = len(data) if whole_bytes is None else max(whole_bytes, len(data))
    if len(data) <= max_bytes and total <= len(data):
        return text, False
    kept = text
    if len(data) > max_bytes:
        kept = data[:max_bytes].decode("utf-8", "ignore")
        line_end = kept.rfind("\n")
        # A single endless line is cut where it is; half a text of nothing helps nobody.
        if line_end > max_bytes // 2:
            kept = kept[:line_end]
    shown = len(kept.encode("utf-8", "replace"))
    return f"{kept}\n[truncated: showing {shown} of {total} bytes]", True
