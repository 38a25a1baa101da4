"""Turns what a tool returned into text a model can read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import yaml
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from agents.types import JSON
from masking.visible_text import clean_line, clean_text
from mcp_bridge.wire.cutting import WHOLE_SIZE

MAX_RESULT_BYTES = 1024 * 1024
_DOUBTFUL = ('"ok"', '"error"')
_ABOUT_ERRORS = frozenset({
    "code", "detail", "details", "error", "errorCode", "error_code", "error_type", "hint",
    "message", "requestId", "request_id", "statusCode", "status_code", "success", "suggestion",
})  # fmt: skip
"""Members of an answer that tells of nothing but an error."""
_MOST_YAML = 100_000
"""Characters of a text that is compared with the structured content beside it."""


@dataclass(frozen=True)
class ResultText:
    """`size_bytes` is the size of all the text there was; `cut` says that some of it is gone."""

    text: str
    is_error: bool
    size_bytes: int
    cut: bool


def read_result(result: CallToolResult, max_bytes: int = MAX_RESULT_BYTES) -> ResultText:
    """Everything a result says, as text without control characters, at most `max_bytes` of it."""
    text = "\n".join(_read_blocks(result))
    size = len(text.encode("utf-8", "replace"))
    # Of an answer that was too long for the wire, only the beginning got here.
    told = (result.meta or {}).get(WHOLE_SIZE)
    whole = max(size, told) if isinstance(told, int) else size
    if size > max_bytes:
        text = text.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")
    text = clean_text(text)
    return ResultText(
        text=text,
        is_error=result.is_error or _says_not_ok(text),
        size_bytes=whole,
        cut=whole > min(size, max_bytes),
    )


def read_json(result: CallToolResult) -> JSON:
    """An answer exactly as the server said it, as far as it is JSON; else None.

    A server that knows no structured content says it as text, or wraps a text that does.
    """
    structured: dict[str, JSON] | None = result.structured_content
    if structured is not None and structured.keys() != {"result"}:
        return structured
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    try:
        said: JSON = json.loads("\n".join(texts))
    except (ValueError, RecursionError):
        return structured
    return said if isinstance(said, dict | list) else structured


def _read_blocks(result: CallToolResult) -> Iterator[str]:
    """What each block says, and last the structured content where no text says the same."""
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    structured = result.structured_content
    for block in result.content:
        # The same in YAML is longer, and nothing finds a place in it or cuts it well.
        if structured is None or not (isinstance(block, TextContent)
                                      and _is_yaml_of(block.text, structured)):  # fmt: skip
            yield _read_block(block)
    if structured is not None and not any(_repeats(text, structured) for text in texts):
        yield json.dumps(structured, ensure_ascii=False)


def _read_block(block: ContentBlock) -> str:
    if isinstance(block, TextContent):
        return block.text
    if isinstance(block, ImageContent):
        return f"[image {clean_line(block.mime_type, 80)}, {_decoded_size(block.data)} bytes]"
    if isinstance(block, AudioContent):
        return f"[audio {clean_line(block.mime_type, 80)}, {_decoded_size(block.data)} bytes]"
    if isinstance(block, ResourceLink):
        return _read_link(block)
    return _read_resource(block)


def _read_link(link: ResourceLink) -> str:
    facts = [clean_line(link.uri, 500)]
    if link.mime_type:
        facts.append(clean_line(link.mime_type, 80))
    if link.size is not None:
        facts.append(f"{link.size} bytes")
    if link.description:
        facts.append(clean_line(link.description, 500))
    return f"[resource {clean_line(link.name, 200)}: {', '.join(facts)}]"


def _read_resource(block: EmbeddedResource) -> str:
    resource = block.resource
    uri = clean_line(str(resource.uri), 500)
    if isinstance(resource, BlobResourceContents):
        kind = clean_line(resource.mime_type or "binary", 80)
        return f"[resource {uri}: {kind}, {_decoded_size(resource.blob)} bytes]"
    return f"[resource {uri}]\n{resource.text}"


def _decoded_size(data: str) -> int:
    return len(data.rstrip("=")) * 3 // 4


def _repeats(text: str, structured: dict[str, JSON]) -> bool:
    """Whether a text block already says what the structured content says, as MCP advises.

    An object with one field is often only the envelope that structured content needs.
    """
    said = structured, *(structured.values() if len(structured) == 1 else ())
    if text in said:
        return True
    try:
        return json.loads(text) in said
    except (ValueError, RecursionError):
        return False


def _is_yaml_of(text: str, structured: dict[str, JSON]) -> bool:
    if len(text) > _MOST_YAML or text.lstrip().startswith(("{", "[")):
        return False
    try:
        return _is_spelled_so(yaml.load(text, Loader=yaml.CBaseLoader), structured)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False


def _is_spelled_so(said: object, value: JSON) -> bool:
    """Whether YAML whose scalars are all texts spells a value of JSON."""
    if isinstance(value, dict):
        return isinstance(said, dict) and said.keys() == value.keys() and all(
            _is_spelled_so(said[name], each) for name, each in value.items()
        )  # fmt: skip
    if isinstance(value, list):
        return isinstance(said, list) and len(said) == len(value) and all(
            map(_is_spelled_so, said, value)
        )  # fmt: skip
    if value is None:
        return said in ("", "null", "~")
    return said == (value if isinstance(value, str) else json.dumps(value))


def _says_not_ok(text: str) -> bool:
    """Whether this is the envelope of a tool that reports failure inside: one that says that it is
    not ok, or no success and why, or one that holds nothing but an error."""
    if not text.lstrip().startswith("{") or not any(word in text[:2000] for word in _DOUBTFUL):
        return False
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(envelope, dict):
        return False
    error = envelope.get("error")
    # A number of errors is a figure.
    is_told = isinstance(error, str | dict | bool) and bool(error)
    is_alone = envelope.keys() <= _ABOUT_ERRORS or envelope.get("success") is False
    return envelope.get("ok") is False or (is_told and is_alone)
