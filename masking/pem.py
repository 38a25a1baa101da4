"""Finds the bodies of PEM blocks and PuTTY keys: whole, cut at either end, inside logs."""

import re
from collections.abc import Iterator

from masking.budget import Budget
from masking.spans import Span

_EDGE = re.compile(r"----(?:-| )(BEGIN|END) ([A-Za-z0-9 ]{1,60}?)(?:-----| ----)")
_PUTTY = re.compile(r"Private-Lines: ([0-9]{1,4})[ \t\r]*\n")
# The last word of a line of a body; what stands before it is a log's or a quote's.
_BODY_WORD = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}(?:\\[rn])*")
_TAIL_WORD = re.compile(r"(?=.*[0-9+/=])[A-Za-z0-9+/]{1,15}={0,2}(?:\\[rn])*")
_HEADER = re.compile(r"(?:[^\s:]+ +)*[A-Za-z][A-Za-z0-9-]*: [\w, ./:-]+$")
# A line of a body that a container's log wrote as JSON.
_JSON_LINE = re.compile(r"(?<=[\"n ])[A-Za-z0-9+/]{16,}={0,2}(?=\\\\*n?\"|\")")
_REST = re.compile(r"[ \t]*(?:(?:\\+[nr])*[A-Za-z0-9+/]{16,}={0,2}[\\nr \t]*)*")
# A string of source code that goes on in the next line.
_JOINED = re.compile(r"[\"'] ?[+.\\]$")
_LEAD = re.compile(r"[ \t+>|-]*+$")
MAX_LINES = 2_000
MAX_BLANK = 2
MAX_PUTTY_LINES = 200
_BLANKS = " \t\r\n+>|"


def find_pem(text: str, budget: Budget, *, any_label: bool) -> Iterator[Span]:
    """Bodies of private keys, or of every PEM block where `any_label`."""
    edges = list(_EDGE.finditer(text))
    for number, edge in enumerate(edges):
        is_private = "PRIVATE KEY" in edge[2] or edge[2].startswith("OpenVPN Static")
        kind = "private_key" if is_private else "certificate"
        if kind == "certificate" and not any_label:
            continue
        budget.spend_hits()
        if edge[1] == "BEGIN":
            following = edges[number + 1] if number + 1 < len(edges) else None
            yield from _find_below(text, edge, following, kind, budget)
        elif number == 0 or edges[number - 1][1] != "BEGIN":
            yield from _find_above(text, edge, kind, budget)
    for header in _PUTTY.finditer(text):
        budget.spend_hits()
        end = header.end()
        for _ in range(min(int(header[1]), MAX_PUTTY_LINES)):
            end = text.find("\n", end) + 1 or len(text)
        yield from _trim(text, header.end(), end, "private_key")


def _find_below(
    text: str, begin: re.Match[str], following: re.Match[str] | None, kind: str, budget: Budget
) -> Iterator[Span]:
    limit = following.start() if following else len(text)
    is_closed = following is not None and following[1] == "END" and following[2] == begin[2]
    line_start = text.rfind("\n", 0, begin.start()) + 1
    line_end = text.find("\n", begin.end(), limit)
    is_bare = _LEAD.match(text[line_start : begin.start()]) is not None
    if line_end < 0 and not is_closed:
        yield from _trim(text, begin.end(), _end(text, begin), kind)
        return
    if is_closed and (line_end < 0 or is_bare):
        # On one line, or with nothing of a log around it: all of it is the key.
        yield from _trim(text, begin.end(), limit, kind)
        return
    yield from _trim(text, begin.end(), min(_end(text, begin), line_end), kind)
    words = list(_words_below(text, line_end + 1, limit, budget))
    if words and all(_LEAD.match(text[line:start]) for line, start, _ in words):
        yield Span(words[0][1], words[-1][2], kind)
        return
    for _, start, end in words:
        yield Span(start, end, kind)


def _end(text: str, begin: re.Match[str]) -> int:
    """The end of a body that was cut off in the line where it begins."""
    body = _REST.match(text, begin.end())
    return body.end() if body else begin.end()


def _words_below(
    text: str, position: int, limit: int, budget: Budget
) -> Iterator[tuple[int, int, int]]:
    """Where each line of a body begins, and where its base64 begins and ends."""
    blank = count = 0
    while position < limit and count < MAX_LINES:
        end = text.find("\n", position, limit)
        end = limit if end < 0 else end
        count += 1
        budget.spend_lines()
        word = _last_word(text, position, end)
        if word is not None:
            blank = 0
            start, stop = word
            if not _BODY_WORD.fullmatch(text, start, stop):
                # What a cut left of the last line is short, but no word.
                if count > 1 and _TAIL_WORD.fullmatch(text, start, stop):
                    yield position, start, stop
                    return
                if not _HEADER.match(text[position : min(end, position + 200)].strip()):
                    return
            else:
                yield position, start, stop
        else:
            blank += 1
            if blank > MAX_BLANK:
                return
        position = end + 1


def _find_above(text: str, closing: re.Match[str], kind: str, budget: Budget) -> Iterator[Span]:
    """The end of a body whose beginning was cut off."""
    end = text.rfind("\n", 0, closing.start())
    if end < 0:
        end = closing.start()
    for count in range(MAX_LINES):
        start = text.rfind("\n", 0, max(end, 0)) + 1
        word = _last_word(text, start, end)
        budget.spend_lines()
        if word is None:
            return
        is_body = _BODY_WORD.fullmatch(text, *word)
        if not is_body and not (count == 0 and _TAIL_WORD.fullmatch(text, *word)):
            return
        yield Span(*word, kind)
        if start == 0:
            return
        end = start - 1


def _last_word(text: str, start: int, end: int) -> tuple[int, int] | None:
    line = _JOINED.sub("", text[start:end].rstrip()).rstrip("\t\r \"'`,")
    if not line:
        return None
    if line.endswith("}") and (inside := _JSON_LINE.search(line)):
        return start + inside.start(), start + inside.end()
    first = max(line.rfind(" "), line.rfind("\t"), line.rfind('"'), line.rfind("|")) + 1
    while first < len(line) and line[first] in "+>|" and first == _lead_width(line):
        first += 1
    return start + first, start + len(line)


def _lead_width(line: str) -> int:
    return len(line) - len(line.lstrip(" \t+>|"))


def _trim(text: str, start: int, end: int, kind: str) -> Iterator[Span]:
    body = text[start:end]
    for _ in range(4):
        kept = body.lstrip(_BLANKS)
        kept = kept[2:] if kept.startswith(("\\n", "\\r")) else kept
        start += len(body) - len(kept)
        body = kept.rstrip(_BLANKS)
        body = body[:-2] if body.endswith(("\\n", "\\r")) else body
    body = body.rstrip(_BLANKS)
    if body:
        yield Span(start, start + len(body), kind)
