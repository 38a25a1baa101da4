"""Markdown that a model or a tool wrote, as HTML that may stand on a page.

Rendered once, when a block completes. Raw HTML is text, images are named and never loaded, only
http, https and mailto links survive, and a link whose words name another host says where it goes.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape, unescape
from urllib.parse import urlsplit

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from pygments import highlight as pygments_highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from agents.citations import Citation, Ref, find_citations, find_in_plain_text
from investigations.rendering.linkifying import BoundedLinkify, link_address
from investigations.rendering.plain_text import show_invisible

MAX_CHARACTERS = 64 * 1024
LONGEST_SHOWN_QUOTE = 500
"""Characters of a quote that a chip carries along."""
_MAX_HIGHLIGHTED = 8 * 1024
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li",
    "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {"a": {"href"}, "ol": {"start"}, "span": {"class"}, "pre": {"class"}}
_HOST = re.compile(r"(?:https?://)?((?:[\w-]+\.)+[^\W\d_]{2,})", re.IGNORECASE)
_TAG = re.compile(r"""(<(?:[^<>"']|"[^"]*"|'[^']*')*>)""")
_ASIDE, _ASIDE_END = "\u2e22", "\u2e23"
_PUT_ASIDE = re.compile(f"{_ASIDE}(\\d+){_ASIDE_END}")
_ASIDE_IN_ADDRESS = re.compile(f"%E2%B8%A2|{_ASIDE}", re.IGNORECASE)
_LOOK_ALIKES = {ord(_ASIDE): "\u231c", ord(_ASIDE_END): "\u231d"}
_QUOTED = re.compile(
    r'<span class="t-cite" title="([^"]*)">(?:<mark[^>]*>)?\[T(\d{1,9})\](?:</mark>)?</span>'
)


@dataclass(frozen=True)
class CitedTool:
    """A tool call that a text may cite: enough to label the chip. Of one that a person or a rule
    did not let run, `not_run` says so in words, and that is no failure. `misquoted` are the
    quotes, as they are written, that its result is known not to have."""

    tool_name: str
    is_error: bool = False
    not_run: str = ""
    may_write: bool = False
    misquoted: frozenset[str] = frozenset()


def render_markdown(text: str) -> str:
    """Safe HTML for Markdown from outside. Text beyond 64 kB is left out and that is said."""
    if not text.strip():
        return ""
    html = _render(text[:MAX_CHARACTERS])
    if len(text) > MAX_CHARACTERS:
        html += f"<p>Only the first 64 kB are shown, of {len(text) // 1024:,} kB.</p>"
    return html


@lru_cache(maxsize=256)
def plain_words(text: str) -> str:
    """One line of Markdown as it is read, for places that show a line without any markup."""
    (line,) = _parser().parseInline(text[:MAX_CHARACTERS])
    return "".join(
        " " if token.type in ("softbreak", "hardbreak") else token.content
        for token in line.children or ()
    )


def link_citations(html: str, tools: Mapping[int, CitedTool]) -> str:
    """Turn `[T5]` in rendered HTML into chips that jump to the tool call, and to what is quoted.

    Comes after sanitising, touches only text outside code and links, and leaves a number that no
    tool call has as it was written, marked.
    """
    html = _QUOTED.sub(lambda found: citation_chip(_ref_of(found), tools), html)
    pieces: list[str] = []
    quiet = 0
    for piece in split_tags(html):
        if piece.startswith("<"):
            quiet = max(0, quiet + changes_quiet(piece))
            pieces.append(piece)
        elif quiet:
            pieces.append(piece)
        else:
            pieces += _with_chips(piece, tools)
    return "".join(pieces)


def _with_chips(piece: str, tools: Mapping[int, CitedTool]) -> Iterator[str]:
    position = 0
    for citation in find_in_plain_text(piece):
        yield piece[position : citation.start]
        yield _chips(citation, tools)
        position = citation.end
    yield piece[position:]


def _chips(citation: Citation, tools: Mapping[int, CitedTool]) -> str:
    return citation_chips(citation.refs, tools)


def _ref_of(found: re.Match[str]) -> Ref:
    return Ref(int(found[2]), unescape(found[1]))


def link_known(text: str, tools: Mapping[int, CitedTool]) -> str:
    """Plain text as HTML, with `[T5]` as a chip where there is such a tool call."""
    pieces: list[str] = []
    position = 0
    for citation in find_in_plain_text(text):
        if all(ref.number in tools for ref in citation.refs):
            pieces += (escape(text[position : citation.start]), _chips(citation, tools))
            position = citation.end
    return "".join([*pieces, escape(text[position:])])


def citation_chips(refs: Sequence[Ref], tools: Mapping[int, CitedTool]) -> str:
    """A row of chips. Another quote of the same call does not say its name again."""
    before = [None, *(ref.number for ref in refs)]
    return "".join(
        citation_chip(ref, tools, is_named=ref.number != last)
        for last, ref in zip(before, refs, strict=False)
    )


def citation_chip(ref: Ref, tools: Mapping[int, CitedTool], *, is_named: bool = True) -> str:
    """One chip as HTML; a number that no tool call has becomes a mark of doubt."""
    number, tool = ref.number, tools.get(ref.number)
    if tool is None:
        return (
            f'<span class="t-nocite" title="This session has no tool call T{number}">'
            f"T{number}, no such call</span>"
        )
    name = escape(show_invisible(tool.tool_name))
    title = f"Show tool call T{number}, {name}"
    words, classes = "", ""
    if tool.not_run:
        title, classes = f"{title}. {escape(show_invisible(tool.not_run))}", " t-ev--held"
    elif tool.is_error:
        title, classes = f"{title}, which failed", " t-ev--bad"
    if ref.quote is not None and len(ref.quote) <= LONGEST_SHOWN_QUOTE:
        quote = escape(show_invisible(ref.quote))
        is_missing = ref.quote in tool.misquoted
        title = f"{name} does not say: {quote}" if is_missing else f"{name}: {quote}"
        classes = " t-ev--not" if is_missing else " t-ev--said"
        words = f' data-quote="{escape(ref.quote)}"'
    label = f"T{number} <span>{name}</span>" if is_named else f"T{number}"
    return f'<a class="t-ev{classes}" href="#T{number}"{words} title="{title}">{label}</a>'


@lru_cache(maxsize=128)
def _render(text: str) -> str:
    text = text.translate(_LOOK_ALIKES)
    quoting = [each for each in find_citations(text) if each.has_quote]
    if not quoting:
        return _to_html(show_invisible(text))
    pieces = split_tags(_to_html(_put_aside(text, quoting)))
    if any(each.startswith("<") and _ASIDE_IN_ADDRESS.search(each) for each in pieces):
        # What stands in an address is none of ours.
        return _to_html(show_invisible(text))
    return "".join(_bring_back(pieces, text, quoting))


def _put_aside(text: str, citations: Sequence[Citation]) -> str:
    """The text as it may be shown, with a number in place of each citation: nothing in a quote is
    Markdown, and it is looked for as it was written."""
    pieces: list[str] = []
    position = 0
    for number, citation in enumerate(citations):
        pieces += (show_invisible(text[position : citation.start]), f"{_ASIDE}{number}{_ASIDE_END}")
        position = citation.end
    return "".join([*pieces, show_invisible(text[position:])])


def _bring_back(pieces: Sequence[str], text: str, citations: Sequence[Citation]) -> Iterator[str]:
    quiet = 0
    for piece in pieces:
        if piece.startswith("<"):
            quiet = max(0, quiet + changes_quiet(piece))
            yield piece
            continue

        def write(found: re.Match[str], quiet: int = quiet) -> str:
            number = int(found[1])
            if number >= len(citations):
                return found[0]
            citation = citations[number]
            if quiet:
                return escape(show_invisible(text[citation.start : citation.end]))
            return "".join(map(_name_ref, citation.refs))

        yield _PUT_ASIDE.sub(write, piece)


def _name_ref(ref: Ref) -> str:
    """A citation as it stands in HTML until it becomes a chip: its quote is seen on hover."""
    if ref.quote is None:
        return f"[T{ref.number}]"
    return f'<span class="t-cite" title="{escape(ref.quote)}">[T{ref.number}]</span>'


def _to_html(text: str) -> str:
    return nh3.clean(
        _parser().render(text),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
    )


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt(
        "commonmark", {"html": False, "linkify": True, "highlight": _highlight}
    ).enable(["table", "strikethrough", "linkify"])
    # `data.is` is a word of a sentence: an address begins with its scheme.
    parser.linkify = BoundedLinkify(options={"fuzzy_link": False})
    parser.inline.ruler.at("linkify", link_address)
    parser.add_render_rule("image", _name_image)
    parser.core.ruler.after("block", "free_citations", _free_citations)
    parser.core.ruler.push("name_hosts", _name_hosts)
    return parser


def _highlight(code: str, language: str, _attributes: str) -> str:
    """Coloured code, or an empty answer for the renderer's own plain block."""
    if not language or len(code) > _MAX_HIGHLIGHTED:
        return ""
    try:
        lexer = get_lexer_by_name(language)
    except ClassNotFound:
        return ""
    inner = pygments_highlight(code, lexer, HtmlFormatter(nowrap=True, classprefix="hl-"))
    return f'<pre class="t-hl"><code>{inner}</code></pre>'


def _name_image(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    index: int,
    _options: OptionsDict,
    _env: EnvType,
) -> str:
    token = tokens[index]
    host = urlsplit_host(str(token.attrGet("src") or ""))
    where = f" at {host}" if host else ""
    return escape(f"{token.content} (image{where}, not loaded)".strip())


def _free_citations(state: StateCore) -> None:
    """`[T5]: address` must not turn evidence into somebody's link."""
    references = state.env.get("references", {})
    for label in [label for label in references if _is_citation(f"[{label}]")]:
        del references[label]


def _is_citation(text: str) -> bool:
    found = find_in_plain_text(text)
    return len(found) == 1 and found[0].end - found[0].start == len(text)


def _name_hosts(state: StateCore) -> None:
    for block in state.tokens:
        if block.type == "inline" and block.children:
            block.children = _with_hosts(block.children)


def _with_hosts(tokens: list[Token]) -> list[Token]:
    named: list[Token] = []
    target, words = "", ""
    for token in tokens:
        named.append(token)
        if token.type == "link_open":
            target, words = urlsplit_host(str(token.attrGet("href") or "")), ""
        elif token.type == "link_close":
            said = _HOST.search(words)
            if target and said and said.group(1).lower() != target:
                named.append(Token("text", "", 0, content=f" (goes to {target})"))
            target = ""
        elif target:
            words += token.content
    return named


def urlsplit_host(address: str) -> str:
    """The host of an address, empty when there is none to speak of."""
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def split_tags(html: str) -> list[str]:
    """Sanitised HTML as tags and the texts between them, in order."""
    return _TAG.split(html)


def changes_quiet(tag: str) -> int:
    """How far a tag leads into links and code, where nothing of ours is put, or out of them."""
    name = tag.strip("</>").split(" ", 1)[0].lower()
    if name not in ("a", "code", "pre"):
        return 0
    return -1 if tag.startswith("</") else 1
