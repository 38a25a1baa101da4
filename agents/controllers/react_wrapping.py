"""Takes off what stands around a ReAct answer: thinking, quotation marks of mail, one fence."""

import re

_THINKING = re.compile(
    r"(?<![`'\"\\])(?:<(?P<close>/?)(?:think|thinking|thought|thoughts|reasoning|reflection)>"
    r"|\[(?P<close2>/?)THINK\]|(?P<kimi>◁/?think▷))(?![`'\"])",
    re.IGNORECASE,
)
_SPECIAL_TOKENS = re.compile(r"(?:<\|[a-z_]{1,20}\|>|</s>|<eos>|<end_of_turn>)\s{0,20}\Z")
_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+-]{0,20}[^\S\n]*")
_BLANKS_OF_LINES = str.maketrans({"\u2028": "\n", "\u2029": "\n", "\ufeff": None, "\u200b": None})


def unwrap(text: str) -> str:
    """The answer itself; empty when nothing but thinking is there."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n").translate(_BLANKS_OF_LINES)
    unified = _SPECIAL_TOKENS.sub("", unified.rstrip())
    return _strip_fence(_strip_quoting(_remove_thinking(unified).strip())).strip()


def _remove_thinking(text: str) -> str:
    """Drop thinking blocks. One without an opening tag began before the answer did."""
    kept: list[str] = []
    position = depth = opened_at = 0
    for tag in _THINKING.finditer(text):
        if _closes(tag):
            if depth == 0:
                kept.clear()
            elif depth == 1:
                kept.append("\n")
            depth = max(0, depth - 1)
            position = tag.end()
        else:
            if depth == 0:
                kept.append(text[position : tag.start()])
                opened_at = tag.start()
            depth += 1
    if depth == 0:
        kept.append(text[position:])
    elif text[:opened_at].rpartition("\n")[2].strip():
        # Never closed and in the midst of a line: the word is being talked about.
        kept.append(text[opened_at:])
    return "".join(kept)


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["close"] or tag["close2"] or (tag["kimi"] or "").startswith("◁/"))


def _strip_quoting(text: str) -> str:
    lines = text.split("\n")
    if not all(line.lstrip().startswith(">") or not line.strip() for line in lines):
        return text
    return "\n".join(line.lstrip().removeprefix(">").removeprefix(" ") for line in lines)


def _strip_fence(text: str) -> str:
    """Unwrap an answer that stands in one fence as a whole."""
    first, _, rest = text.partition("\n")
    inner, _, last = rest.rpartition("\n")
    is_fenced = bool(_FENCE.fullmatch(first.strip())) and last.strip() in ("```", "~~~")
    # With a second fence in between, it may be two blocks rather than one around all.
    return inner if is_fenced and "```" not in inner and "~~~" not in inner else text
