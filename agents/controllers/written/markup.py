"""Reads the marks, tags and names with which model families write their calls.

What a chat template of a family puts between special tokens arrives as text where its server does
not know the family: those of Llama, Qwen, Mistral, DeepSeek, Kimi, GLM, MiniMax, Granite, Phi,
InternLM, Functionary, Gemma, Claude, Grok, LongCat, Solar, Doubao and gpt-oss.
"""

import json
import re
from dataclasses import dataclass, field

from agents.controllers.written.code import find_end, read_keywords, read_loosely
from agents.controllers.written.names import TOOL_NAME, OfferedNames
from agents.controllers.written.values import Read, TooDeep, read_calls
from agents.types import JSON

MOST_CALLS = 50
MOST_DEPTH = 4
"""Brackets that may stand around the code of a call."""
_DECODER = json.JSONDecoder(strict=False)
_BLANK = re.compile(r"[\s;,]+")
_FENCE = re.compile(r"(?:```|~~~)[\w+-]{0,20}[^\S\n]*(?=\n|$|\[|\{)|(?:```|~~~)(?=\s|$|<)")
_TOKEN = re.compile(
    r"<[|｜][^<>\n]{1,60}[|｜]>|<[a-z_]{1,20}[|｜]>|\[/?(?:[A-Z][A-Z_]{2,30}|tool_calls?)\]|>>>|✿/?[A-Z]{3,12}✿:?|functools(?=\[)"
)
_CALL_ID = re.compile(r"\[CALL_ID\][\w-]{1,64}|[\w-]{1,64}(?=<\|tool_call:name\|>)")
_LABEL = re.compile(r"(?:tool|function)[_ ]calls?:[ \t]*(?=[{\[])", re.IGNORECASE)
_TAG = re.compile(r"</?[^<>\n]{1,200}>")
_NAMED_TAG = re.compile(
    r"<(?:[\w-]+:|[|｜]\w+[|｜])?(?:function_call|function|invoke|tool_call|tool|call|action)"
    r"(?:\s+id\s*=\s*[\"'][^\"'<>\n]{0,100}[\"'])?(?:\s*=\s*|\s+(?:name|tool)\s*=\s*)[\"']?([^\"'<>\s]{1,128})[\"']?([^<>\n]{0,400})>"
)
_PARAMETER = re.compile(
    r"\s*<(?:[\w-]+:|[|｜]\w+[|｜])?(?:parameter|param|argument|arg)(?:\s*=\s*|\s+(?:name|key)\s*=\s*)[\"']?([^\"'<>\s]{1,128})[\"']?"
    r"([^<>\n]{0,100})>(.*?)</(?:[\w-]+:|[|｜]\w+[|｜])?(?:parameter|param|argument|arg)\s*>",
    re.DOTALL,
)
_KEY_AND_VALUE = re.compile(
    r"\s*<(\w{0,20})arg_key>(.*?)</\1arg_key>\s*<\1arg_value>(.*?)</\1arg_value>", re.DOTALL
)
"""Those of LongCat bear the name of the family."""
_TEXT_BY_WORD = ('string="true"', 'type="string"')
"""How a member is said to be a text, by DeepSeek and by Kimi."""
_PLAIN_MEMBER = re.compile(r"\s*<([A-Za-z_][\w-]{0,60})>(.*?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r"([A-Za-z_][\w-]{0,60})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_OWN_ATTRIBUTES = frozenset({"id", "index", "name", "string", "type"})
_CLOSING = re.compile(r"\s*</[^<>\n]{1,80}>")
_NAME = re.compile(rf"(?:to=)?(?:call:)?({TOOL_NAME.pattern})")
_NOISE = re.compile(
    r"(?:assistant|commentary|analysis|final|function|functools|json|code|call|Action:)"
    r"(?![\w.:-])|json(?=\{)"
)
_NAMELESS = "tool_call("
"""How ChatGLM writes arguments, behind a line with the name."""
_ASSIGNED = re.compile(
    r"(?:(?:const|let|var) )?[A-Za-z_]\w{0,40}(?:, ?\w{1,40}){0,3} ?= ?(?:await )?|await "
)
_MEMBER_TAG = re.compile(
    r"</?(?:(?:tool_|function_)?name|arguments|parameters|args|params|input|tool_input)>"
)
_GIVEN_TAG = re.compile(
    r"\s*<[\w:-]{0,30}(?:input|arguments?|args|params|parameters)>", re.IGNORECASE
)
_ABOUT_CALLS = re.compile(
    r"tool|function|invoke|python|action|plugin|commentary|call|recipient", re.IGNORECASE
)


@dataclass
class Reader:
    """Reads on from a place as long as there is nothing but calls and what stands around them."""

    text: str
    offered: OfferedNames
    at: int
    calls: list[Read] = field(default_factory=list)
    is_marked: bool = False
    """Some of it is written by models alone, and by no person."""
    is_broken: bool = False
    """A call begins there and cannot be read."""
    is_too_deep: bool = False
    """It stands within more brackets than anybody puts around a call."""
    depth: int = 0

    def read(self) -> None:
        end, meant = self.at, 0
        while self.at < len(self.text) and len(self.calls) < MOST_CALLS:
            if not (self._skip() or self._read_tag() or self._read_json() or self._read_name()):
                break
            if not self.calls or not self.calls[-1].is_word:
                end, meant = self.at, len(self.calls)
        if meant:
            # A last word behind the calls is said of them: "Ignored."
            self.at = end if meant < len(self.calls) else self.at
            del self.calls[meant:]

    def _skip(self) -> bool:
        """What says nothing by itself: blanks, fences, special tokens."""
        for pattern in (_BLANK, _FENCE):
            if found := pattern.match(self.text, self.at):
                self.at = found.end()
                return True
        if found := _LABEL.match(self.text, self.at):
            self.is_marked = True
            self.at = found.end()
            return True
        if found := _CALL_ID.match(self.text, self.at) or _TOKEN.match(self.text, self.at):
            self.is_marked = self.is_marked or bool(_ABOUT_CALLS.search(found[0]))
            self.at = found.end()
            return True
        return False

    def _read_tag(self) -> bool:
        if not self.text.startswith("<", self.at):
            return False
        if found := _NAMED_TAG.match(self.text, self.at):
            self.is_marked = True
            self.at = found.end()
            return self._read_call(found[1], found[2])
        found = _TAG.match(self.text, self.at)
        if found is None or _MEMBER_TAG.fullmatch(found[0]):
            return self._skip_member_tag()
        name, _, attributes = found[0].strip("</>").partition(" ")
        if self.offered.find(name) and not found[0].startswith("</"):
            self.is_marked = True
            self.at = found.end()
            return self._read_call(name, attributes)
        if not _ABOUT_CALLS.search(name):
            return False
        self.is_marked = True
        self.at = found.end()
        return True

    def _read_call(self, name: str, attributes: str) -> bool:
        """What a call is given, between its tags or within the one that opens it."""
        given = self._read_attributes(name, attributes)
        if given is None:
            return self._read_body(name)
        if not given or not self._is_at_end_of_call():
            self.is_broken = True
            return False
        self._take(name, given)
        self._skip_closing()
        return True

    def _read_attributes(self, tool: str, attributes: str) -> dict[str, JSON] | None:
        """None where there are none; empty where they cannot be read."""
        if "{" in attributes:
            try:
                value, _ = _decode(attributes, attributes.index("{"))
            except ValueError:
                return {}
            return value if isinstance(value, dict) else {}
        found = {each[1]: each[2] or each[3] or "" for each in _ATTRIBUTE.finditer(attributes)}
        members = found.keys() - _OWN_ATTRIBUTES
        return {n: self._read_value(tool, n, found[n]) for n in found if n in members} or None

    def _skip_member_tag(self) -> bool:
        found = _MEMBER_TAG.match(self.text, self.at) if self.is_marked else None
        if found is not None:
            self.at = found.end()
        return found is not None

    def _read_body(self, name: str) -> bool:
        """What stands between the tags of a call: an object, a tag for each argument, nothing."""
        arguments = self._read_members(name) or self._read_object()
        if arguments is None:
            arguments = self._read_plain_members(name)
        self.at = _find_next(self.text, self.at)
        if not arguments and not self._is_at_end_of_call():
            self.is_broken = True
            return False
        self._take(name, arguments)
        self._skip_closing()
        return True

    def _is_at_end_of_call(self) -> bool:
        """Where a call without arguments is closed, or another one begins."""
        return (
            self.at >= len(self.text)
            or self.text.startswith(("</", "<|", "<｜"), self.at)
            or _NAMED_TAG.match(self.text, self.at) is not None
        )

    def _read_json(self) -> bool:
        if not self.text.startswith(("{", "["), self.at):
            return False
        try:
            value, end = _decode(self.text, self.at)
        except ValueError:
            if self._read_code_list():
                return True
            self.is_broken = True
            return False
        try:
            calls = read_calls(value, self.offered)
        except TooDeep:
            self.is_broken = self.is_too_deep = True
            return False
        if not calls:
            return False
        self.calls += calls
        self.at = end
        return True

    def _read_code_list(self) -> bool:
        end = find_end(self.text, self.at) if self.text.startswith("[", self.at) else None
        return end is not None and self._read_within(end)

    def _read_within(self, end: int) -> bool:
        """Calls within the bracket that opens here and is closed before `end`, and nothing else."""
        if self.depth >= MOST_DEPTH:
            self.is_broken = self.is_too_deep = True
            return False
        inner = Reader(self.text[: end - 1], self.offered, self.at + 1, depth=self.depth + 1)
        inner.read()
        self.is_broken = self.is_broken or inner.is_broken
        self.is_too_deep = self.is_too_deep or inner.is_too_deep
        if inner.at < end - 1 or not inner.calls:
            return False
        self.calls += inner.calls
        self.at = end
        return True

    def _read_name(self) -> bool:
        """A name with its arguments behind it."""
        noise = _NOISE.match(self.text, self.at) if self.is_marked else None
        noise = noise or _ASSIGNED.match(self.text, self.at)
        if noise is not None:
            self.at = noise.end()
            return True
        found = _NAME.match(self.text, self.at)
        if found is None:
            return False
        name, start, self.at = found[1].rstrip(".:"), self.at, found.end()
        if name in ("print", "tool_codeprint") and self.text.startswith("(", self.at):
            return self._read_printed(start)
        is_known = self.offered.find(name) is not None
        if is_known or self.is_marked or name.startswith("functions."):
            if "to=functions." in found[0] or name.startswith("functions."):
                self.is_marked = True
            arguments = self._read_behind_name(name)
            if arguments is not None:
                self.calls.append(Read(name, arguments, is_word=not is_known and not arguments))
                return True
        self.at = start
        return False

    def _read_printed(self, start: int) -> bool:
        end = find_end(self.text, self.at)
        if end is not None and self._read_within(end):
            return True
        self.at = start
        return False

    def _read_behind_name(self, name: str) -> dict[str, JSON] | None:
        if self.text.startswith("(", self.at):
            end = find_end(self.text, self.at)
            read = None if end is None else read_keywords(self.text[self.at + 1 : end - 1])
            if end is not None and read is not None:
                self.at = end
                return dict(read)
            self.is_broken = True
            return None
        start = self.at
        while self._skip_within_call():
            pass
        if self.text.startswith(_NAMELESS, self.at):
            self.at += len(_NAMELESS) - 1
            return self._read_behind_name(name)
        if members := self._read_pairs(name):
            return members
        read = self._read_object()
        if read is not None:
            return read
        if self.is_marked and (members := self._read_plain_members(name)):
            return members
        is_alone = self.is_marked and not self.text.startswith(("{", "["), self.at)
        if is_alone and self._is_at_end_of_call():
            return self._read_apart(name)
        self.is_broken = self.is_broken or self.text.startswith("{", self.at)
        self.at = start
        return None

    def _read_apart(self, name: str) -> dict[str, JSON]:
        """Arguments behind the tag that closes the name, in tags of their own; or none at all."""
        start = self.at
        self._skip_closing()
        if members := self._read_members(name):
            return members
        if given := _GIVEN_TAG.match(self.text, self.at):
            self.at = given.end()
            read = self._read_object()
            if read is not None:
                return read
            self.is_broken = True
        self.at = start
        return {}

    def _skip_within_call(self) -> bool:
        if self._skip_member_tag():
            return True
        if self.is_marked and (noise := _NOISE.match(self.text, self.at)):
            self.at = noise.end()
            return True
        found = _BLANK.match(self.text, self.at) or _FENCE.match(self.text, self.at)
        found = found or _CALL_ID.match(self.text, self.at) or _TOKEN.match(self.text, self.at)
        if found is None or _ends_call(found[0]):
            return False
        self.at = found.end()
        return True

    def _read_object(self) -> dict[str, JSON] | None:
        start = self.at
        while (found := _BLANK.match(self.text, self.at)) or (
            found := _FENCE.match(self.text, self.at)
        ):
            self.at = found.end()
        try:
            value, end = _decode(self.text, self.at)
        except ValueError:
            value, end = None, start
        if not isinstance(value, dict):
            self.at = start
            return None
        self.at = end
        return value

    def _read_members(self, tool: str) -> dict[str, JSON]:
        members: dict[str, JSON] = {}
        while found := _PARAMETER.match(self.text, self.at):
            is_text = any(said in found[2] for said in _TEXT_BY_WORD)
            members[found[1]] = self._read_value(tool, found[1], found[3], is_text=is_text)
            self.at = found.end()
        return members

    def _read_pairs(self, tool: str) -> dict[str, JSON]:
        members: dict[str, JSON] = {}
        while found := _KEY_AND_VALUE.match(self.text, self.at):
            name = found[2].strip()
            members[name] = self._read_value(tool, name, found[3])
            self.at = found.end()
        return members

    def _read_plain_members(self, tool: str) -> dict[str, JSON]:
        members: dict[str, JSON] = {}
        while found := _PLAIN_MEMBER.match(self.text, self.at):
            members[found[1]] = self._read_value(tool, found[1], found[2])
            self.at = found.end()
        only = members.get("arguments", members.get("parameters"))
        return only if len(members) == 1 and isinstance(only, dict) else members

    def _read_value(self, tool: str, name: str, written: str, *, is_text: bool = False) -> JSON:
        """What stands between tags: a text is one as it stands, but for a line end around it."""
        if is_text or self.offered.takes_text(tool, name):
            return written.removeprefix("\n").removesuffix("\n")
        return _read_value(written)

    def _skip_closing(self) -> None:
        while found := _CLOSING.match(self.text, self.at):
            self.at = found.end()

    def _take(self, name: str, arguments: dict[str, JSON]) -> None:
        self.calls.append(Read(name, arguments))


def _decode(text: str, at: int) -> tuple[JSON, int]:
    """A value of JSON, or what only looks like one. Raises ValueError."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        closing = find_end(text, at) if text.startswith(("{", "["), at) else None
        if closing is None:
            raise ValueError("no value") from None
        return read_loosely(text[at:closing]), closing
    return value, end


def _find_next(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _ends_call(token: str) -> bool:
    return "end" in token.lower() or token.startswith(("</", "[/"))


def _read_value(written: str) -> JSON:
    """A value between tags: a number, an object and the like where it is one, else text."""
    text = written.strip()
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
