"""The examples that stand beside rules: recorded answers in, a finding out."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from config.schema.packs import ExampleConfig, PackConfig
from rules.alerts import read_alert
from rules.documents import Reply
from rules.evaluation import Scope
from rules.facts import FactBook, looks_behind
from rules.findings import Finding
from rules.forms import Row
from rules.functions import read_moment
from rules.judging import Judge
from rules.looks import disappoints


@dataclass(frozen=True)
class ExampleResult:
    """How an example came out; `wrong` is empty where it did as it says."""

    rule: str
    number: int
    wrong: str


def run_examples(pack: PackConfig) -> Iterator[ExampleResult]:
    """Every example of a pack's rules. Asks no tool."""
    for name, rule in pack.rules.items():
        for number, example in enumerate(rule.examples, 1):
            yield ExampleResult(f"{pack.name}.{name}", number, _try(pack, name, example))


def find_in_example(pack: PackConfig, name: str, example: ExampleConfig) -> list[Finding]:
    """What a rule finds in recorded answers."""
    now = read_moment(example.at) or datetime.now(UTC)
    alert = read_alert({"labels": dict(example.alert)}, now)
    scope = Scope({"alert": alert.read_words(pack.alert), "onset": alert.onset or now}, now)
    book = FactBook(pack, scope)
    _fill(book, pack, example)
    judge = Judge(pack, book, scope, alert.onset)
    return [each for each in judge.find_all() if each.rule == f"{pack.name}.{name}"]


def _try(pack: PackConfig, name: str, example: ExampleConfig) -> str:
    found = find_in_example(pack, name, example)
    if not example.finds:
        return f"it finds what it must not: {found[0].says}" if found else ""
    if not found:
        return "it finds nothing"
    told = "\n".join(each.says for each in found)
    missing = [text for text in example.says if text not in told]
    return f"it does not say {missing[0]!r}: {told}" if missing else ""


def _fill(book: FactBook, pack: PackConfig, example: ExampleConfig) -> None:
    """Take the answers in, those about a row of a fact after what the fact is read from."""
    waiting = dict(example.answers)
    number = 0
    for _ in range(len(waiting)):
        for look in [each for each in waiting if _is_ready(pack, each, waiting)][:1]:
            text = waiting.pop(look)
            for row in _rows_for(book, pack, look, example):
                number += 1
                kept = {name: row.get(name) for name in pack.looks[look].keep} if row else None
                reply = Reply(look, number, text, row=kept)  # type: ignore[arg-type]  # plain
                if reply.failure or disappoints(pack.looks[look], reply):
                    book.add_failed(reply)
                else:
                    book.add(reply)


def _is_ready(pack: PackConfig, look: str, waiting: dict[str, str]) -> bool:
    over = pack.looks[look].over
    if not over:
        return True
    needed, names = set(), [over]
    while names:
        fact = pack.facts[names.pop()]
        needed |= set(fact.looks)
        names += (*fact.of, *(join.fact for join in fact.join.values()))
    return not (needed - {look}) & waiting.keys()


def _rows_for(
    book: FactBook, pack: PackConfig, look: str, example: ExampleConfig
) -> list[Row | None]:
    """The rows that a look is made for. An example that says nothing of what they are read from
    takes the look for made."""
    config = pack.looks[look]
    if not config.over or not looks_behind(pack, config.over) & example.answers.keys():
        return [None]
    rows: list[Row | None] = [*book.find(config.over).rows[: config.most]]
    return rows
