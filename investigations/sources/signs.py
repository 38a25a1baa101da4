"""By what a post is recognised: signs, each a handful of places that must be there together.

A place is written as `a.b` (the key is there), `a[]` (a list), `a{}` (an object), `a=x` (this
text), `a[].b` (the first object of the list has it; `[].b` where the body is the list),
`header:name`, or `!a` (it is not there).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from investigations.sources.reading import JSON, Post, Reading

Sign = tuple[str, ...]


@dataclass(frozen=True)
class Source:
    """One kind of sender.

    `signs`: any of them recognises a post. `expects` says in a message what a post of this source
    looks like. `is_template`: the body is what the user's own template says, so that at the
    source's address any object is read. `least` suffices at that address, where nobody has to tell
    the source: senders by hand leave much out. `bare` recognises a post in which no sign of any
    source is, and never against the address it came to. `also`: sources whose posts this one sends,
    too. `alert_opens`: what the link of its alerts opens, where that is no page of the source.
    """

    name: str
    label: str
    signs: tuple[Sign, ...]
    expects: str
    read: Callable[[Post], Reading]
    is_template: bool = False
    least: Sign = ()
    bare: Sign = ()
    also: tuple[str, ...] = ()
    alert_opens: str = ""

    def reads(self, post: Post) -> bool:
        """Whether a post to this source's own address is one of its own."""
        return _holds_all(self.least, post) or self.recognises(post)

    def recognises(self, post: Post) -> bool:
        return any(_holds_all(sign, post) for sign in self.signs)

    def suits(self, post: Post) -> bool:
        """Whether it is taken for one of this source's for want of a better one."""
        return _holds_all(self.bare, post)

    def nearness(self, post: Post) -> float:
        """The share of places of the best sign that the post has, its headers aside."""
        return max((_share(sign, post) for sign in self.signs), default=0.0)


def _share(sign: Sign, post: Post) -> float:
    there = [place for place in sign if not place.startswith("!")]
    return sum(_holds(place, post) for place in there) / len(there)


def _holds_all(sign: Sign, post: Post) -> bool:
    """Not, where there is no such sign."""
    for place in _read_sign(sign):
        if not _is_as_wanted(place, post):
            return False
    return bool(sign)


def _holds(place: str, post: Post) -> bool:
    return _is_as_wanted(_read_place(place), post)


def _is_as_wanted(place: "_Place", post: Post) -> bool:
    if place.header:
        return (place.header in post.headers) is place.is_wanted
    return _stands(place, post.body) is place.is_wanted


@dataclass(frozen=True)
class _Place:
    """A place as it is looked up: names and kinds of the steps, or the name of a header."""

    steps: tuple[tuple[str, str], ...]
    text: str
    header: str
    is_wanted: bool


@cache
def _read_sign(sign: Sign) -> tuple[_Place, ...]:
    return tuple(map(_read_place, sign))


@cache
def _read_place(place: str) -> _Place:
    """There are some hundred of them, and each post is asked about most."""
    is_wanted = not place.startswith("!")
    place = place.removeprefix("!")
    if place.startswith("header:"):
        return _Place((), "", place.removeprefix("header:"), is_wanted)
    path, _, text = place.partition("=")
    return _Place(tuple(map(_split_step, path.split("."))), text, "", is_wanted)


def _stands(place: _Place, body: JSON) -> bool:
    node = body
    last = len(place.steps) - 1
    for number, (name, kind) in enumerate(place.steps):
        if name:
            if not isinstance(node, dict) or name not in node:
                return False
            node = node[name]
        if kind and not isinstance(node, list if kind == "[]" else dict):
            return False
        if isinstance(node, list) and number < last:
            node = next((each for each in node[:10] if isinstance(each, dict)), None)
    return node == place.text if place.text else True


def _split_step(step: str) -> tuple[str, str]:
    kind = step[-2:] if step.endswith(("[]", "{}")) else ""
    return step.removesuffix(kind), kind
