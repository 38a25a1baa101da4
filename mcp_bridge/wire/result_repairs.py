"""Makes of a call's result what the SDK can read: whatever it says reaches whoever asked.

An odd answer is an answer. Each block is read by the model that the SDK will use, first as it is,
then without what stands around its content, and at last as a text of what it says.
"""

import json
from typing import cast

from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from agents.types import JSON
from masking.visible_text import clean_line

Fields = dict[str, JSON]

_SIDE_FIELDS = ("annotations", "_meta", "icons", "title", "description", "size", "mimeType")
_NO_CONTENT = frozenset({"content", "structuredContent", "isError", "_meta", "resultType"})
_SPELLINGS = {"is_error": "isError", "structured_content": "structuredContent"}
_MEMBERS = frozenset({"structuredContent", "structured_content", "_meta"})
"""Objects that a result has of its own, whatever stands in them."""
_KEPT = ("content", "isError", "structuredContent")
_LONGEST_VALUE = 2_000
_MOST_ODD = 1_000
_YES = frozenset({"true", "yes", "1"})


def repair_call_result(result: Fields, version: str) -> None:
    """Change a result of `tools/call` in place, so that no odd part costs the whole."""
    if result.get("resultType") == "input_required":
        return
    _unwrap(result)
    result["content"] = cast(JSON, _read_content(result, version))
    _repair_structured(result)
    result["isError"] = _is_true(result.get("isError"))
    if not isinstance(result.get("_meta"), dict):
        result.pop("_meta", None)
    if not isinstance(result.get("resultType"), str):
        result["resultType"] = "complete"
    if _is_readable(result, version):
        return
    # The flags and the content are readable by now; what is left can only be said around them.
    told: Fields = {name: result[name] for name in _KEPT if name in result}
    result.clear()
    result.update({**told, "resultType": "complete"})


def _unwrap(result: Fields) -> None:
    """Put fields under their names in MCP: another language spells them otherwise, and a proxy may
    hand on the whole result of another server as the only member of its own."""
    (name, inner), *others = result.items() or (("", None),)
    is_whole = isinstance(inner, dict) and isinstance(inner.get("content"), list)
    if is_whole and not others and name not in _MEMBERS:
        result.clear()
        result.update(cast(Fields, inner))
    for spelled, name in _SPELLINGS.items():
        if spelled in result:
            result.setdefault(name, result.pop(spelled))
    content = result.get("content")
    if isinstance(content, dict) and content and all(key.isdecimal() for key in content):
        result["content"] = list(content.values())
    blocks = result.get("content")
    if "isError" not in result and isinstance(blocks, list):
        kinds = (block.get("type") for block in blocks if isinstance(block, dict))
        result["isError"] = "error" in kinds


def _read_content(result: Fields, version: str) -> list[JSON]:
    content = result.get("content")
    if content is None:
        # What a result says in no field of MCP's, older servers and own frameworks do.
        said = {key: value for key, value in result.items() if key not in _NO_CONTENT}
        return [_text(_spell(said))] if said else []
    blocks = content if isinstance(content, list) else [content]
    return _repair_blocks([block for block in blocks if block is not None], version)


def _repair_blocks(blocks: list[JSON], version: str) -> list[JSON]:
    """The blocks, the odd ones repaired: each may be read several times, so only so many are."""
    repaired: list[JSON] = []
    odd = 0
    for block in blocks:
        if isinstance(block, dict) and _is_block(block, version):
            repaired.append(block)
            continue
        odd += 1
        if odd <= _MOST_ODD:
            repaired.append(_repair_block(block, version))
    if odd > _MOST_ODD:
        more = odd - _MOST_ODD
        repaired.append(_text(f"[{more} more parts that are no content of MCP's are left out]"))
    return repaired


def _repair_block(block: JSON, version: str) -> JSON:
    if not isinstance(block, dict):
        return _text(block if isinstance(block, str) else _spell(block))
    for odd in _SIDE_FIELDS:
        rest = {key: value for key, value in block.items() if key != odd}
        if odd in block and _is_block(rest, version):
            return rest
    bare = {key: value for key, value in block.items() if key not in _SIDE_FIELDS}
    if isinstance(resource := bare.get("resource"), dict):
        bare["resource"] = _repair_resource(resource)
    if isinstance(kind := block.get("mimeType"), str) or "data" in bare:
        bare["mimeType"] = kind if isinstance(kind, str) else "application/octet-stream"
    if _is_block(bare, version):
        return bare
    return _text(_describe_odd(block))


def _repair_resource(resource: Fields) -> Fields:
    """A resource with an address, and the text or the bytes that it holds."""
    kept: Fields = {"uri": str(resource.get("uri") or "unnamed:")}
    for name in ("text", "blob"):
        if name in resource:
            value = resource[name]
            kept[name] = value if isinstance(value, str) else _spell(value)
            break
    if isinstance(resource.get("mimeType"), str):
        kept["mimeType"] = resource["mimeType"]
    return kept


def _describe_odd(block: Fields) -> str:
    """What a block says that is of no kind of MCP's: its text, or all of it as far as it is short.

    A long value is most likely data that is not meant to be read.
    """
    for name in ("text", "content", "value"):
        if name in block and block.get("type") in (None, "text", "string"):
            value = block[name]
            return value if isinstance(value, str) else _spell(value)
    if isinstance(text := block.get("text"), str):
        return text
    if block.keys() <= {"type", *_SIDE_FIELDS} and block.get("type") == "text":
        # JSON leaves out a text that its server's language calls undefined.
        return ""
    kind = clean_line(str(block.get("type")), 80)
    rest = _spell({key: value for key, value in block.items() if key != "type"})
    told = f": {rest}" if len(rest) <= _LONGEST_VALUE else ""
    return f"[content of a kind that cannot be shown: {kind}{told}]"


def _repair_structured(result: Fields) -> None:
    """Revisions up to 2025-11-25 know objects only, so anything else is put into one."""
    structured = result.get("structuredContent")
    if isinstance(structured, dict):
        return
    result.pop("structuredContent", None)
    if structured not in (None, [], ""):
        result["structuredContent"] = {"result": structured}


def _is_true(flag: JSON) -> bool:
    return flag.strip().lower() in _YES if isinstance(flag, str) else bool(flag)


def _text(text: str) -> JSON:
    return {"type": "text", "text": text}


def _spell(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_block(block: Fields, version: str) -> bool:
    return _is_readable({"content": [cast(JSON, block)], "resultType": "complete"}, version)


def _is_readable(result: Fields, version: str) -> bool:
    """Whether the SDK will take it, by the model of the revision that was agreed on."""
    try:
        validate_server_result("tools/call", version, result)
    except (ValidationError, KeyError, ValueError, RecursionError):
        return False
    return True
