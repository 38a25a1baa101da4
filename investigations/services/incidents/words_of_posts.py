"""What a sender hears of what was done about a post."""

from collections import Counter
from collections.abc import Sequence

from config.words import list_names
from investigations.services.incidents.taking import Kind, Taken
from investigations.sources.reading import Reading

BEGUN = (Kind.STARTED, Kind.HELD, Kind.MAINTENANCE, Kind.INHIBITED, Kind.OVER_BUDGET)


def tell_post(reading: Reading, taken: Sequence[Taken]) -> str:
    """What was done about a post, in words for whoever sent it."""
    begun = [each for each in taken if each.kind in BEGUN]
    if begun:
        of_all = f"{len(begun):,} of " if len(begun) < len(taken) else ""
        told = f"An investigation of {of_all}{_count(len(taken))} is queued"
        held = next((each.outcome for each in begun if each.kind != Kind.STARTED), "")
        return f"{told}; {held}" if held else told
    joined = [each for each in taken if each.kind == Kind.JOINED]
    if joined:
        told = "1 alert has joined" if len(joined) == 1 else f"{len(joined):,} alerts have joined"
        return f"{told} incident {joined[0].incident.pk if joined[0].incident else ''}"
    if not taken and reading.notice:
        return f"Nothing is investigated: {reading.notice}"
    over = [each for each in taken if each.kind == Kind.RESOLVED]
    if over:
        return _tell_over(over, len(taken))
    told_of = dict.fromkeys(each.outcome for each in taken)
    return f"Nothing is investigated: {list_names(list(told_of)[:5])}"


def _tell_over(over: Sequence[Taken], total: int) -> str:
    """Of alerts that are over: that they are, and what becomes of what looks into them."""
    is_one = len(over) == 1
    if total > len(over):
        told = f"{len(over):,} of {total:,} alerts {'is' if is_one else 'are'} over."
    else:
        told = "The alert is over." if is_one else f"{total:,} alerts are over."
    follows = Counter(_tell_aftermath(each, "Its" if is_one else "Their") for each in over)
    if len(follows) == 1:
        (only,) = follows
        return f"{told} {only}."
    parts = [f"Of {count:,}: {each}." for each, count in follows.items()]
    return " ".join([told, *parts])


def _tell_aftermath(taken: Taken, whose: str) -> str:
    if taken.incident is None:
        return "Nothing was to be investigated"
    if taken.incident.is_open:
        return "Others of the incident fire on"
    if taken.aftermath:
        return f"{whose} investigation {taken.aftermath}"
    return "That was known before"


def _count(number: int) -> str:
    return "1 alert" if number == 1 else f"{number:,} alerts"
