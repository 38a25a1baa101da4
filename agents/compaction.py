"""Makes a conversation fit a model's window by what it presents, never by what is stored.

A function of the messages alone: an execution that goes on elsewhere presents the same. Old
results are put into short form many at once, and stay so: the beginning of the conversation, which
providers remember, changes seldom.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agents.estimating import BYTES_PER_TOKEN, cut_at_line, find_cap, weigh_message
from agents.result_texts import SHORTEST_CUT, ResultText, read_result
from agents.types import Message

TARGET = 0.75
"""Down to which share of the limit results are put into short form once it is exceeded."""
KEPT_OF_ANSWERS = 2_000
"""Characters of what a model wrote itself that stay where nothing else makes room."""
KEPT_ROUNDS = 2
"""The last answers with tool calls whose results stay whole as long as possible."""


@dataclass(frozen=True)
class Fitted:
    """A conversation as it is presented. `fits` is False when even that is too long."""

    messages: tuple[Message, ...]
    tokens: int
    compacted: tuple[int, ...]
    fits: bool


def fit_conversation(
    messages: Sequence[Message], *, limit: int, overhead: int = 0, can_recall: bool = True
) -> Fitted:
    """The conversation within `limit` tokens, of which tools and the like take `overhead`.

    Goes through the conversation as it grew, one question after another, so that each question
    presents what the one before it did, and more.
    """
    presented = _Presented(messages, overhead, can_recall)
    for position, message in enumerate(messages):
        if message.role == "assistant" and position:
            presented.fit(position, limit)
    presented.fit(len(messages), limit)
    return presented.show(limit)


@dataclass
class _Presented:
    """Each message as it is presented so far. A round is an answer's calls with their results."""

    originals: Sequence[Message]
    overhead: int
    can_recall: bool
    now: list[Message] = field(init=False)
    weights: list[int] = field(init=False)
    rounds: list[list[int]] = field(init=False)
    arguments: Mapping[int, str] = field(init=False)
    short: dict[int, int] = field(default_factory=dict)
    seen: int = 0
    total: int = field(init=False)

    def __post_init__(self) -> None:
        self.now = list(self.originals)
        self.weights = [weigh_message(message) for message in self.originals]
        self.rounds, self.arguments = _find_rounds(self.originals)
        self.total = self.overhead

    def fit(self, end: int, limit: int) -> None:
        """Make the first `end` messages fit, the oldest results first."""
        self.total += sum(self.weights[self.seen : end])
        self.seen = end
        if self.total <= limit:
            return
        rounds = [r for each in self.rounds if (r := [p for p in each if p < end])]
        for kept in range(KEPT_ROUNDS, 0, -1):
            old = [position for each in rounds[:-kept] for position in each]
            self._shorten(old, int(limit * TARGET))
            if self.total <= limit:
                return
        newest = rounds[-1] if rounds else []
        self._cut(newest, limit)
        self._shorten(newest, limit)
        self._trim(end, limit)

    def show(self, limit: int) -> Fitted:
        numbers = tuple(sorted(set(self.short.values())))
        return Fitted(tuple(self.now), self.total, numbers, self.total <= limit)

    def _shorten(self, positions: Sequence[int], target: int) -> None:
        for position in positions:
            if self.total <= target:
                return
            result = self._read(position)
            if result is not None:
                arguments = self.arguments.get(position, "")
                self._replace(position, result.shorten(arguments, can_recall=self.can_recall))

    def _cut(self, positions: Sequence[int], limit: int) -> None:
        """Cut the longest results so that all of them share what room there is."""
        results = {p: r for p in positions if (r := self._read(p)) is not None}
        sizes = [self.weights[position] for position in results]
        cap = find_cap(sizes, limit - (self.total - sum(sizes)))
        for position, result in results.items():
            weight = self.weights[position]
            if weight <= cap:
                continue
            # What stands around the result, the note of the cut included, stays.
            around = weight - len(result.inside.encode()) // BYTES_PER_TOKEN + 40
            characters = (cap - around) * BYTES_PER_TOKEN * len(result.inside)
            characters //= max(1, len(result.inside.encode()))
            if characters >= SHORTEST_CUT:
                self._replace(position, result.cut(characters, can_recall=self.can_recall))

    def _read(self, position: int) -> ResultText | None:
        """What may still be made shorter at this place."""
        result = read_result(self.now[position])
        return None if result is None or result.is_short else result

    def _trim(self, end: int, limit: int) -> None:
        """Last of all, what the model itself wrote at too great length, the oldest first."""
        for position in range(end):
            if self.total <= limit:
                return
            if self.now[position].role == "assistant":
                self._put(position, _trim_answer(self.now[position]))

    def _replace(self, position: int, message: Message) -> None:
        result = read_result(message)
        if result is not None and self._put(position, message):
            self.short[position] = result.number

    def _put(self, position: int, message: Message) -> bool:
        """Present a message so, if that makes it shorter."""
        weight = weigh_message(message)
        if weight >= self.weights[position]:
            return False
        self.total += weight - self.weights[position]
        self.weights[position] = weight
        self.now[position] = message
        return True


def _trim_answer(message: Message) -> Message:
    """An answer whose text and whose arguments are cut; every call stays, and stays JSON."""
    calls = tuple(
        replace(call, arguments=_trim_arguments(call.arguments)) for call in message.tool_calls
    )
    content = message.content
    if len(content) > 2 * KEPT_OF_ANSWERS:
        kept = cut_at_line(content, KEPT_OF_ANSWERS)
        content = f"{kept}\n[{len(content) - len(kept):,} more characters are left out here]"
    return replace(message, content=content, tool_calls=calls)


def _trim_arguments(arguments: str) -> str:
    if len(arguments) <= 2 * KEPT_OF_ANSWERS:
        return arguments
    return json.dumps(
        {
            "left_out": f"these arguments had {len(arguments):,} characters and began like this",
            "beginning": arguments[:KEPT_OF_ANSWERS],
        }
    )


def _find_rounds(messages: Sequence[Message]) -> tuple[list[list[int]], dict[int, str]]:
    """The places of the results, by the answer that asked for them, and each one's arguments."""
    rounds: list[list[int]] = []
    arguments: dict[int, str] = {}
    asked: dict[str, str] = {}
    for position, message in enumerate(messages):
        if message.tool_calls:
            asked = {call.id: call.arguments for call in message.tool_calls}
            rounds.append([])
        elif message.tool_call_id and rounds:
            rounds[-1].append(position)
            arguments[position] = asked.get(message.tool_call_id, "")
    return rounds, arguments
