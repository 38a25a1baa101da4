"""Names, versions, addresses and quotes of an answer that occur in no result."""

import re
from collections.abc import Iterator
from itertools import islice

from safety.evidence import match_whole
from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts
from safety.grounding.units import read_unit
from safety.grounding.unsupported import Unsupported

_NAME = re.compile(
    r"(?<![\w./@:-])(?:"
    r"[A-Za-z][A-Za-z0-9]*(?:[-_.:/@][A-Za-z0-9]+)*[-_.:@][A-Za-z]{0,12}\d[A-Za-z0-9]*(?:[-_.:@][A-Za-z0-9]+)*"
    r"|v\d+(?:\.\d+)+[\w.-]*"
    r"|\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"
    r"|[a-z0-9-]+(?:\.[a-z0-9-]+)+\.(?:com|net|org|io|dev|local|internal|svc|example|cloud|de|eu)"
    r"|/(?:[\w.@-]+/)+[\w.@-]+"
    r")(?![\w/@-])(?!\.\w)"
)
_SHORT_ENDING = re.compile(r"(?<![\w./-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-[a-z]{1,2}(?![\w-])")
_GENERAL = re.compile(
    r"(?:utf|sha|md|http|https|tls|ssl|ipv|iso|rfc|x86|amd|arm|ext|oauth|base|log4j|tcp|udp|"
    r"sig|p|q|t|step|stage|phase|tier|top|level|type|layer|python|http/)[-_./:]?v?\d[\w.]*",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"\"([^\"\n]{6,300})\"|“([^”\n]{6,300})”")
_ACTOR = re.compile(
    r"\b\w*(?:ed|en|out|back|done|made|built|sent|run|put|set)\s+by\s+"
    r"(?:(?:the|an?)\s+)?(?P<who>[a-z][\w.@-]*\w)"
)
_SPELLED_AS_NAME = re.compile(r"\w[-_.@]\w")
_KEY = re.compile(r"(?<![\w.:-])\d+(?![\w.:%-])|\b[\w-]*\d[\w-]*\b")
MAX_ACTORS, MAX_KEYS = 5, 20
"""Of a clause that are looked up; prose names one or two."""
_VERSION = re.compile(r"v?(\d+(?:\.\d+)+)")


def find_names(text: str) -> Iterator[tuple[str, int]]:
    """Names as machines bear them: with a digit behind a separator, addresses, paths."""
    for found in _NAME.finditer(text):
        name = found[0].rstrip(".")
        if not _GENERAL.fullmatch(name) and not read_unit(name.partition("/")[0]):
            yield name, found.start()


def check_names(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    siblings = ((found[0], found.start()) for found in _SHORT_ENDING.finditer(clause.text))
    looks_alike = [each for each in siblings if _has_siblings(each[0], facts)]
    for name, start in [*find_names(clause.text), *looks_alike]:
        if not _is_known(name, facts):
            yield Unsupported(
                clause.start + start,
                clause.start + start + len(name),
                "name",
                f"{name} occurs in no result",
            )


def check_quotes(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Words in quotation marks that nobody wrote. A single word may be a term and is let be."""
    for found in _QUOTE.finditer(clause.text):
        quoted = found[1] or found[2]
        parts = [part for part in re.split(r"\.\.\.|…|\[[^\]]*\]", quoted) if part.strip()]
        if " " not in quoted.strip() or all(_is_written(part, facts) for part in parts):
            continue
        yield Unsupported(
            clause.start + found.start(), clause.start + found.end(), "quote",
            "no result contains these words",
        )  # fmt: skip


def check_actor(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Who did something, where the very line about it names somebody else."""
    for found in islice(_ACTOR.finditer(clause.text), MAX_ACTORS):
        who = match_whole(found["who"])
        if _SPELLED_AS_NAME.search(found["who"]) and not facts.mentions(found["who"]):
            yield Unsupported(
                clause.start + found.start("who"),
                clause.start + found.end("who"),
                "name",
                f"{found['who']} occurs in no result",
            )
            continue
        keys = _KEY.findall(clause.text)[:MAX_KEYS]
        for run in facts.runs:
            about = [line for line in run.lines if any(match_whole(k).search(line) for k in keys)]
            named = [line for line in run.lines if who.search(line)]
            if about and named and not any(who.search(line) for line in about):
                yield Unsupported(
                    clause.start + found.start("who"),
                    clause.start + found.end("who"),
                    "name",
                    f"the result names somebody else than {found['who']}",
                )
                break


def _has_siblings(name: str, facts: Facts) -> bool:
    """Whether results name others that differ only in how they end: node-a, node-b."""
    return len(facts.short_endings.get(name.rpartition("-")[0], ())) > 1


def _is_known(name: str, facts: Facts) -> bool:
    if facts.mentions(name) or " ".join(name.casefold().split()) in facts.folded_words:
        return True
    version = _VERSION.fullmatch(name)
    if version is not None:
        # 1.29 is how people say 1.29.4.
        return re.search(rf"(?<![\d.]){re.escape(version[1])}(?!\d)", facts.whole) is not None
    if name.startswith("/"):
        return name in facts.whole
    if "/" in name and all(facts.mentions(part) for part in name.split("/")):
        return True  # "node-a/node-b", two names that stand together.
    return _is_part(name, facts)


def _is_part(name: str, facts: Facts) -> bool:
    """A name that stands in a longer one, cut where names are cut: a pod's deployment, an image."""
    return name.casefold() in facts.casefolded and (
        re.search(rf"(?<![\w]){re.escape(name)}(?:[-./:@][\w]|[/:@]|$)", facts.whole, re.I)
        is not None
    )


def _is_written(words: str, facts: Facts) -> bool:
    return " ".join(words.casefold().split()).strip(".,;:!") in facts.folded
