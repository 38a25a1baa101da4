"""What a document says of itself: the texts in it that may be a title, the best first."""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from investigations.sources.inner_json import read_inner
from investigations.sources.reading import JSON, name_and_told
from investigations.sources.severity import normalise
from investigations.sources.states import names_state

MOST_LEAVES = 2_000
"""Of a document that are looked at, those nearest to its top first."""

NAMES = ("title", "alertname", "summary", "subject", "headline", "name", "message", "description",
         "reason", "text", "content", "body", "check", "rule", "monitor", "alarm")  # fmt: skip
"""What titles are called, the most telling first. Compared without case and punctuation."""
_WEAK = NAMES.index("check")
"""From here on a text may be a kind or a number, so that a better name counts more, wherever."""
_LAST_OF_ALERT = NAMES.index("description")
"""Up to here, what stands in the alert itself tells more than what stands beside it."""
_NAME_OF_ALERT = re.compile(
    r"\w*(?:alert|alarm|rule|incident|problem|monitor|event|check|condition|policy|issue|trigger"
    r"|threat|detection|finding|vulnerability|violation|anomaly)"
    r"(?:display|friendly)?(?:name|title|summary|subject)"
)
_TEXT_OF_ALERT = re.compile(
    r"(?:alert|alarm|incident|event|issue|error|exception|fault)(message|description|text|reason)"
)
_TELLING = ("summary", "message", "description")
"""What texts are called that say what is wrong beside an `alertname`, the best first."""
_NO_WORDS = re.compile(
    r"true|false|null|none|[a-z]+://\S*|/\S*|[\W\d_]*|(?=[a-f-]*\d)[0-9a-f-]{12,}"
    r"|\d{4}-\d\d-\d\d[t ][\d:.+z-]*|[\w.:@-]+(?:/[\w.:@-]+){3,}",
    re.IGNORECASE,
)
"""What tells nobody anything: numbers and signs, hashes and ids, moments, addresses and paths."""
HEADINGS = ("title", "subject", "headline")
_ONE_TAG = re.compile(r"\[[^\[\]]*\]")
"""`[prod]` and a state alone head a text, and say nothing themselves."""
_OF_ALERT = re.compile(r"alert|alarm|incident|problem|issue|error")
_KIND = re.compile(r"[A-Za-z]+(?:[_.:][A-Za-z]+)+")
_ALERTS = re.compile(
    r"(?:new|current|latest)?(?:alert|alarm|incident|issue|problem|rule|error|exception|fault"
    r"|finding|violation|anomaly)s?(?:data|details?|info|group)?|condition"
)
"""What an object is called that is the alert."""
_OWNERS = frozenset({
    "user", "author", "actor", "owner", "sender", "creator", "assignee", "account", "organization",
    "workspace", "team", "tenant", "company", "customer", "space",
})  # fmt: skip
_LONGEST = 300


@dataclass(frozen=True)
class Leaf:
    """A text of a document with its name, and how deep it stands."""

    depth: int
    name: str
    text: str
    place: int = 0
    """Which of the objects of its document it stands in."""
    parent: str = ""
    """The name of that object."""

    @property
    def folded(self) -> str:
        """Its name without case and punctuation."""
        return fold(self.name)

    @property
    def rank(self) -> int:
        """How well its name says that this is a title; `len(NAMES)` where it does not."""
        folded = self.folded
        if self.names_alert:
            return NAMES.index("alertname")
        if folded in NAMES:
            return NAMES.index(folded)
        text = _TEXT_OF_ALERT.fullmatch(folded)
        if text and (self.is_of_alert or not folded.startswith(("error", "exception", "fault"))):
            return NAMES.index(text[1])
        if not is_name_of_alert(folded):
            return len(NAMES)
        # The name of an event is mostly its kind.
        return NAMES.index("description" if folded.startswith("event") else "alertname")

    @property
    def is_of_owner(self) -> bool:
        """Whether it names whom something belongs to, and not what it is about."""
        return self.folded == "name" and fold(self.parent) in _OWNERS

    @property
    def is_of_alert(self) -> bool:
        """Whether it stands in the object that is the alert, and not in one beside it."""
        return names_alert(fold(self.parent))

    @property
    def names_alert(self) -> bool:
        if self.folded in ("alert", "alarm"):
            return self.is_telling and not _judges(self.text)
        return self.folded == "alertname" or (self.folded == "name" and self.is_of_alert)

    @property
    def is_telling(self) -> bool:
        text = self.text[:_LONGEST].strip()
        is_marker = self.folded in HEADINGS and (names_state(text) or _ONE_TAG.fullmatch(text))
        return _NO_WORDS.fullmatch(text) is None and not is_marker


@lru_cache(maxsize=4096)
def names_alert(folded: str) -> bool:
    """Whether an object with this folded name is the alert, and not something beside it."""
    return _ALERTS.fullmatch(folded) is not None


def fold(name: str) -> str:
    """The name of a field without case and punctuation."""
    return _fold(name[:80])


@lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    """Documents of one source have the same names, again and again."""
    return re.sub(r"[\W_]+", "", name).lower()


def words_of_name(name: str) -> tuple[str, ...]:
    """The words of a name as it is written, in small letters: `queue_url`, `queueURL` and
    `queue-url` have two, and `account` is one, which does not end in `count`."""
    return _words_of_name(name[:80])


@lru_cache(maxsize=4096)
def _words_of_name(name: str) -> tuple[str, ...]:
    parted = re.sub(r"(?<=[^\W_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return tuple(each.lower() for each in re.split(r"[\W_]+", parted) if each)


@lru_cache(maxsize=4096)
def is_name_of_alert(folded: str) -> bool:
    """Whether a folded name says that its text names an alert, as `check_name` does."""
    return _NAME_OF_ALERT.fullmatch(folded) is not None


def walk(value: JSON) -> Iterator[Leaf]:
    """The texts of a value, level by level. JSON within a text is read too."""
    waiting: deque[tuple[int, str, JSON, int, str]] = deque([(0, "", value, 0, "")])
    for number in range(1, MOST_LEAVES + 1):
        if not waiting:
            return
        depth, name, node, place, parent = waiting.popleft()
        inner = (read_inner(node) or node) if isinstance(node, str) else node
        if isinstance(inner, Mapping):
            # The name in it is that of the object around it.
            owner = parent if name == "metadata" else name
            waiting.extend((depth + 1, key, below, number, owner) for key, below in inner.items())
        elif isinstance(inner, list):
            waiting.extend((depth + 1, name, below, number, parent) for below in inner)
        elif isinstance(node, str):
            yield Leaf(depth, name, node, place, parent)
        elif isinstance(node, int | float) and not isinstance(node, bool):
            yield Leaf(depth, name, str(node), place, parent)


def find_titles(leaves: list[Leaf], least: int = len(NAMES)) -> Iterator[str]:
    """Texts with a title's name that ranks before `least`, those nearest to the top first. An
    `alertname` comes with what stands beside it and says what is wrong."""
    named = (
        leaf for leaf in leaves if leaf.is_telling and leaf.rank < least and not leaf.is_of_owner
    )
    told = _find_told(leaves)
    names = {leaf.place: leaf.text[:_LONGEST].strip() for leaf in leaves if leaf.folded == "name"}
    named = (leaf for leaf in named if not _is_kind(leaf.text))
    for leaf in sorted(named, key=_order_of):
        if leaf.folded == "summary" and (name := names.get(leaf.place, "")):
            yield name_and_told(name, "" if _judges(leaf.text) else leaf.text[: 4 * _LONGEST])
            continue
        is_short = leaf.names_alert or (leaf.folded == "name" and " " not in leaf.text.strip())
        beside = told.get(leaf.place, "") if is_short else ""
        beside = "" if _judges(beside) else beside
        yield name_and_told(leaf.text[: 4 * _LONGEST].strip(), beside) if beside else leaf.text


def _order_of(leaf: Leaf) -> tuple[bool, bool, int, int, bool]:
    is_aside = leaf.depth > 1 and not (leaf.is_of_alert and leaf.rank <= _LAST_OF_ALERT)
    is_of_thing = leaf.folded == "name" and not leaf.is_of_alert and fold(leaf.parent) not in NAMES
    return (leaf.rank >= _WEAK, is_aside, leaf.depth, leaf.rank, is_of_thing)


def _is_kind(text: str) -> bool:
    """Whether a text is the kind of a post, as `new_item` and `monitor.down` are."""
    if not _KIND.fullmatch(text[:100]):
        return False
    return any(names_state(each) for each in re.split(r"[_.:]", text))


def _find_told(leaves: list[Leaf]) -> dict[int, str]:
    """By object, the text in it that says best what is wrong."""
    telling = [leaf for leaf in leaves if leaf.folded in _TELLING and leaf.is_telling]
    telling.sort(key=lambda leaf: _TELLING.index(leaf.folded), reverse=True)
    return {leaf.place: leaf.text[: 4 * _LONGEST] for leaf in telling}


def find_telling(leaves: list[Leaf]) -> Iterator[str]:
    """Of leaves without such a name: what is made of words, then what says anything at all."""
    telling = [leaf for leaf in leaves if leaf.is_telling]
    worded = [leaf for leaf in telling if " " in leaf.text.strip() and not leaf.is_of_owner]
    yield from (leaf.text for leaf in sorted(worded, key=_is_beside))
    yield from (leaf.text for leaf in telling if not (_judges(leaf.text) or leaf.is_of_owner))
    yield from (leaf.text for leaf in telling)
    yield from (f"{leaf.name} {leaf.text}" for leaf in leaves if leaf.name)


def _is_beside(leaf: Leaf) -> bool:
    """Whether a text is not called after the alert, as `alertType` is."""
    return _OF_ALERT.match(leaf.folded) is None


def _judges(text: str) -> bool:
    """Whether a word says how an alert is, and not what it is about."""
    word = text[:_LONGEST]
    return names_state(word) or normalise(word, {}) != "unknown"


def titles_of_document(value: JSON) -> Iterator[str]:
    """Everything of a document that may be its title, the best first."""
    yield from titles_of_leaves(list(walk(value)))


def titles_of_leaves(leaves: list[Leaf]) -> Iterator[str]:
    """The same of what `walk` has found."""
    yield from find_titles(leaves)
    yield from find_telling(leaves)
