"""Reads an error as each engine words it: what it says, and what it is called.

The words are those of OpenAI, Azure, Anthropic, Google, Mistral, llama.cpp, vLLM, SGLang, TGI,
Ollama, LM Studio, Bedrock, DashScope, Moonshot, MiniMax, Z.ai, xAI, DeepSeek, Groq and OpenRouter,
as their users quote them.
"""

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agents.llm.wire_values import as_dict, as_list

_STATUSES: Mapping[int, tuple[str, ...]] = {
    400: (
        "invalid request error", "bad request", "bad request error", "invalid argument",
        "validation exception", "invalid parameter", "invalid parameter error",
        "invalid value", "validation", "exceed context size error", "context length exceeded",
    ),
    401: (
        "authentication error", "invalid api key", "unauthenticated", "unauthorized",
        "invalid authentication error", "unrecognized client exception", "expired token exception",
    ),
    402: ("billing error", "insufficient balance", "payment required"),
    403: ("permission error", "permission denied", "forbidden", "access denied exception",
          "permission denied error"),
    404: ("not found error", "not found", "model not found", "resource not found exception"),
    413: ("request too large",),
    429: (
        "rate limit error", "rate limit exceeded", "resource exhausted", "throttling exception",
        "throttling", "too many requests", "too many requests exception", "insufficient quota",
        "rate limit reached error", "exceeded current quota error",
    ),
}  # fmt: skip
"""What an error is called where no number says what it is."""
_STATUS_OF = {name.replace(" ", ""): code for code, names in _STATUSES.items() for name in names}
_MINIMAX = {1004: 401, 2049: 401, 1002: 429, 1041: 429, 1008: 402, 1039: 400, 2013: 400}
"""Its own numbers for a refused key, too many requests, no balance and a refused request."""

_OVERFLOW = re.compile(
    # "context", and how long the question is or may be
    r"context.?(?:length|window|size|limit)|maximum context|context the overflows"
    r"|exceed(?:s|ed)?\W+(?:\w+\W+){0,4}context"
    # the question is too long
    r"|(?:prompt|input|request|messages?|conversation)(?: text)?(?: is| was| are)? too "
    r"(?:long|large)"
    r"|too many (?:input |prompt |total )?tokens"
    r"|(?:prompt|input|inputs|request|messages)\b[^.]{0,80}\bexceed(?:s|ed)?\b[^.]{0,60}"
    r"\b(?:length|tokens?|maximum|limit|size)"
    r"|exceed(?:s|ed)?\b[^.]{0,40}\btoken limit"
    r"|(?:prompt|input|request|conversation)\b[^.]{0,60}\b(?:great|long|larg)er than\b[^.]{0,60}"
    r"\b(?:tokens?|limit|length|max_\w+)"
    r"|\d tokens\b[^.]{0,60}\b(?:over|above|beyond)\b[^.]{0,40}\b(?:limit|maximum)"
    r"|token (?:count|limit|length)[^.]{0,40}\bexceed(?:s|ed)?"
    r"|exceeds the maximum number of tokens|messages\[\d+\]\S* string too long"
    # how long it may be
    r"|(?:prompt|input|request)\b[^.]{0,40}\d tokens\b[^.]{0,40}\bmax(?:imum)?\b"
    r"|max(?:imum)? tokens of \d+ exceeded"
    r"|maximum (?:prompt|input) length|range of input length|input length should be"
    r"|`?inputs`?(?: tokens)? (?:\+|must have less than)"
    # what to do about it
    r"|(?:reduce|shorten)[^.]{0,50}\b(?:messages|prompt|input)\b"
    # the same as engines from China say it
    r"|(?:输入|上下文|[Pp]rompt)[^。]{0,20}(?:超过|超出|超长)"
    r"|tokens must be reduced|\btokens\b[^.]{0,40}\bmore than\b[^.]{0,40}\btokens?\b",
    re.IGNORECASE,
)
_OVERFLOW_NAMES = re.compile(
    r"context_?(?:length|window|size)|max_prompt_tokens|request_too_large|^1261$",
    re.IGNORECASE,
)
_NOT_OVERFLOW = re.compile(
    r"\btools?\[|\.description|\.name\b|completion tokens, whereas|wait before|\bquota\b",
    re.IGNORECASE,
)
_NO_TOOL_CALLING = re.compile(
    r"(?:does|do)(?: not|n't) support (?:[\w-]+ ){0,3}(?:tool|function)(?![ _-]?choice|config\.)"
    r"|(?:tool|function)(?:s|[ _-](?:use|usage|calls?|calling))?`? (?:is|are) not "
    r"(?:supported|enabled|available)"
    r"|not supported for (?:tool|function)|no endpoints found that support (?:the provided )?.?tool"
    r"|--enable-auto-tool-choice|tools param requires"
    r"|unsupported (?:parameter|value).{0,5}tools?\b(?![\[.])",
    re.IGNORECASE,
)
_TITLE = re.compile(r"<title[^>]*>(.*?)</title|<h1[^>]*>(.*?)</h1", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
_BODY_AT_END: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (re.compile(ending + r"\Z"), re.compile(r"(?:\A|[-:] ?)(" + opening + ")"))
    for ending, opening in (
        (r"\}\s*'", r"b'\{"),
        (r"\}\s*\"", r"b\"\{"),
        (r"\}\]", r"\[\{"),
        (r"\}", r"\{"),
    )
)
"""How a body ends at the end of a text, and how it begins then: one look for each, however often
the text says what may begin one."""
_FINE = ("0", "200")
"""Codes by which some gateways say that all is well."""
_TEXTS = ("message", "error", "detail", "status_msg", "msg", "error_msg")
_DEEPEST = 6
_LONGEST_TEXT = 20_000


@dataclass(frozen=True)
class ErrorBody:
    """What an error says in words, what it is called, and the HTTP status it stands for."""

    message: str
    names: tuple[str, ...]
    status: int | None

    def is_overflow(self, status: int | None) -> bool:
        """Whether the question is too long: asked in fewer words, it may be answered."""
        if status in (401, 402, 403, 404):
            return False
        if any(_OVERFLOW_NAMES.search(name) for name in self.names):
            return True
        if status == 429:
            # Too much at once for the minute's allowance: no wait makes it smaller.
            return "too large" in self.message and _OVERFLOW.search(self.message) is not None
        if status == 413:
            return True
        if status is not None and status >= 500 and "context" not in self.message.lower():
            # A server that is full speaks of tokens as well.
            return False
        return (
            _OVERFLOW.search(self.message) is not None
            and _NOT_OVERFLOW.search(self.message) is None
        )

    @property
    def lacks_tool_calling(self) -> bool:
        """Whether the model cannot be given tools to call."""
        return _NO_TOOL_CALLING.search(self.message) is not None


def is_error(event: Mapping[str, Any]) -> bool:
    """Whether an event of a stream, or a body that came with a good status, tells of an error."""
    if event.get("error") or event.get("object") == "error" or event.get("type") == "error":
        return True
    if as_dict(event.get("base_resp")).get("status_code"):
        return True
    if any(as_dict(choice).get("error") for choice in as_list(event.get("choices"))):
        return True
    if event.get("choices") is not None:
        return False
    code = event.get("code") or event.get("error_code")
    has_failed = (
        event.get("success") is False
        or event.get("status") in ("error", "failed")
        or (code and str(code) not in _FINE)
    )
    is_told = has_failed and any(map(_find_message, walk_error(event, 0)))
    return bool(event.get("detail")) or bool(is_told)


def read_error(body: object, text: str) -> ErrorBody:
    """What a body says; `text` counts where it is no object. Never raises."""
    found = list(walk_error(find_body(text) if body is None else body, 0))
    message = " ".join(dict.fromkeys(said for said in map(_find_message, found) if said))
    names = [name for members in found for name in _find_names(members)]
    status = next((s for members in found if (s := _find_status(members))), None)
    if status is None:
        status = next((s for name in names if (s := _STATUS_OF.get(_fold(name)))), None)
    return ErrorBody((message or read_page(text))[:_LONGEST_TEXT], tuple(names), status)


def find_body(text: str) -> object:
    """The body that an SDK has put behind its own words: JSON, or as Python writes its values."""
    said = _find_at_end(text[:_LONGEST_TEXT].rstrip())
    if said is None:
        return _find_object(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        value = ast.literal_eval(said) if said.startswith("b") else said
        said = value.decode(errors="replace") if isinstance(value, bytes) else said
    return _as_json(said) or _as_python(said)


def _find_at_end(text: str) -> str | None:
    for ending, opening in _BODY_AT_END:
        if ending.search(text, max(0, len(text) - 50)):
            found = opening.search(text)
            return text[found.start(1) :] if found else None
    return None


def _find_object(text: str) -> object:
    """An object with more words behind it."""
    start = text.find("{")
    if start < 0:
        return None
    try:
        return json.JSONDecoder().raw_decode(text[:_LONGEST_TEXT], start)[0]
    except (ValueError, RecursionError):
        return None


def _as_python(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None


def read_page(text: str) -> str:
    """The title of a web page, or what else of it can be read; other text as it is."""
    if not text.lstrip().startswith("<"):
        return text
    found = _TITLE.search(text[:_LONGEST_TEXT])
    said = (found[1] or found[2]) if found else _TAG.sub(" ", text[:_LONGEST_TEXT])
    return " ".join(html.unescape(said or "").split())


def walk_error(value: object, depth: int) -> Iterator[dict[str, Any]]:
    """The objects in which an error is told: the innermost says the most, so it comes first."""
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for item in value[:3]:
            yield from walk_error(item, depth + 1)
    elif isinstance(value, dict):
        metadata = as_dict(value.get("metadata"))
        for name in ("error", "errors", "choices", "base_resp"):
            yield from walk_error(value.get(name), depth + 1)
        for text in (metadata.get("raw"), value.get("error"), value.get("message")):
            yield from walk_error(_as_json(text), depth + 1)
        if not depth or "choices" not in value:
            yield value


def _as_json(text: object) -> object:
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _find_message(members: Mapping[str, Any]) -> str:
    detail = members.get("detail")
    if isinstance(detail, list):
        detail = "; ".join(_write_detail(as_dict(each)) for each in detail[:5])
    texts = (detail if name == "detail" else members.get(name) for name in _TEXTS)
    said = next((text for text in texts if isinstance(text, str) and text), "")
    return "" if _as_json(said) is not None else said


def _write_detail(detail: Mapping[str, Any]) -> str:
    """What is wrong, behind the member that it is wrong with."""
    place = ".".join(str(step) for step in as_list(detail.get("loc")))
    return ": ".join(part for part in (place, str(detail.get("msg") or "")) if part)


def _find_names(members: Mapping[str, Any]) -> Iterator[str]:
    for name in ("code", "type", "status", "error_type", "__type"):
        value = members.get(name)
        if isinstance(value, str) and value:
            yield value


def _find_status(members: Mapping[str, Any]) -> int | None:
    for name in ("code", "status", "status_code", "http_code", "statusCode"):
        number = _as_number(members.get(name))
        if number is not None and 400 <= number < 600:
            return number
        if name == "status_code" and number in _MINIMAX:
            return _MINIMAX[number]
    return None


def _as_number(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return int(value) if str(value).isdecimal() and len(str(value)) < 6 else None


def _fold(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.rpartition("#")[2].lower())
