"""Whether a server's word that a tool only reads may be believed: the tool has to look like it.

A hint is no proof. It counts where the name begins or ends with a word that is known to only look,
where the description begins with such a word or one about answer or use, where no later sentence
begins with a verb that nobody knows in front of what it does something to, and where nothing in the
schema could do anything else: no act among the values of an argument, no flag that acts, no
argument that carries a command, a statement, a body or an address, and a free query only of what
searches. A known verb of an act speaks against it wherever it stands as a verb.

Proved is that much and no more: a verb that nobody knows goes unseen within a sentence, in the
passive, without an object, and in a name that ends like a look and is described as one. So does a
server that lies. What is lost all the same, an operator gives back in one line.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool

from safety.word_lists import word_list

_READING = frozenset(
    word_list("""
    access analyze analyse browse calculate check compare compute count describe detect diff display
    enumerate estimate evaluate examine explain explore fetch find get grep identify inspect
    list lookup look measure obtain peek preview print query read retrieve return scan search
    see show sum summarize summarise tail trace validate verify view watch
    """)
)
"""Verbs that take nothing but a look."""
_LOOKS = frozenset(
    word_list("""
    alerts balance catalog count dashboard depth details diagnostics diff events feed graph health
    help history info information inventory latency list log logs lookup metadata metric
    metrics overview path performance range report schema snapshot stat statistics stats status
    structure summary top topology tree types usage utilization version versions
    ps whoami
    """)
)
"""What a tool that only looks may be named after, as the last word of its name."""
_CHANGING = frozenset(
    word_list("""
    abort accept ack acknowledge acquire activate add adjust admit allocate allow alter
    annotate append apply approve archive arm assign attach authorize back ban begin bind block
    book boot bounce bring build bulk buy call cancel change charge checkout clean cleanup
    clear click clone close commit compact configure confirm connect consume convert copy
    cordon correct create cut deactivate decommission decrease delete demote deny deploy
    deprovision destroy detach disable discard disconnect dismiss dispatch do downgrade drain
    drop edit eject elect emit empty enable encrypt end enforce enqueue ensure erase escalate
    evict exec execute expand expire extend fail failover fill fix flush force fork format
    freeze grant grow halt heal hibernate import increase index inject insert install interrupt
    invalidate invite invoke isolate join kill label launch link load lock log login logout
    make mark mask merge migrate modify mount move mute mutate name navigate notify open order
    override overwrite page patch pause pay perform pin place populate post power press prevent
    promote propose provision prune publish pull purge push put quarantine queue quiesce
    reassign reboot rebuild recover recreate recycle redeploy reduce refresh register reindex
    reject release reload remediate remove rename renew reopen repair replace replay reply
    report request reschedule reserve reset resize resolve restart restore resume retire retry
    revert revoke rewrite rm roll rollback rollout rotate route run save scale schedule send
    set settle shell shrink shut shutdown sign silence skip sleep snooze spawn split start stop
    store submit subscribe suspend swap switch sync synchronize tag taint take terminate
    throttle tidy toggle touch transfer transition trigger truncate tune turn type unban
    unblock uncordon undeploy undo uninstall unlink unlock unmask unmount unmute unpause
    unregister unset unsubscribe update upgrade upload upsert use vacuum wake wipe write zap
    """)
) - {"log", "report", "index", "name", "type", "use", "format", "page", "order"}
"""Verbs of acts, in their plain form. As nouns or participles they say nothing."""
_ACTS = frozenset(
    word_list("act action cmd command do method mode op operation subcommand task verb")
)
"""Arguments whose value says what is done."""
_CARRIERS = frozenset(
    word_list("""
    args argv arguments body callback cmd code command content contents cypher data endpoint
    env exec headers host_url href input javascript json manifest message mutation params patch
    payload raw request script shell sql statement stdin template uri url webhook yaml
    """)
)
"""Arguments that carry what is run, sent or visited."""
_LANGUAGES = frozenset(
    word_list("""
    clickhouse cql cypher database ddl duckdb dml gql graphql javascript mariadb mongo mongodb
    mutation mysql oracle postgres postgresql psql python shell spark sql sqlite statement
    statements
    """)
)
"""Words of tools whose query could be any statement."""
_PROPERTIES = frozenset(
    word_list("""
    by category color direction event events field fields filter format group kind level order
    outcome phase priority protocol result role severity sort state status tier type unit units
    """)
)
"""Arguments that choose by a property; what stands in their values are states and no acts."""
_NEGATIONS = frozenset(word_list("cannot never no nor not nothing without doesn don won isn"))
_OBJECTS = frozenset(
    word_list(
        "a all an any each every her his it its my one our that the their them these this "
        "those your"
    )
)
_LEADS = frozenset(
    word_list("also and can could may might must or shall should that then to which will")
)
_NO_VERBS = frozenset(
    word_list("""
    about after all also and any are as at be before below between but by do does during each
    either every for from given has have how if in including into is like not of on only
    optionally or over per since so such than that then these this those through to under until
    up via was were what when where whether which while who whose why with within without
    """)
)
_BEFORE_GERUNDS = frozenset(word_list("allows and by for or supports"))
_RUNNING = frozenset(word_list("do execute make perform run"))
_LOOKED = frozenset(word_list("analysis check comparison look lookup queries query search scan"))
"""What is run where only a look is taken."""
_HARMLESS = frozenset(
    word_list("""
    accept allow contain filter format group handle include limit order provide sort support
    tell wait
    """)
)
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[.,;:!?()\n]")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_FILLER = re.compile(
    r"(?i)\A\W*(?:(?:this|the|a|an|use|tool|function|that|which|to|can|be|used|for|you|it|lets|"
    r"allows|helper|simply|will|[a-z]{2,20}ly)\b\W*)*"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_ASIDE = re.compile(r"\([^()]{0,400}\)")
_OPENINGS = frozenset(
    word_list("""
    args arguments best cannot default defaults example examples for handles how if never note notes
    only operates optional optionally output parameters prefer provides recommended requires result
    results returned should supports takes typically use useful usually what when where whether
    which works
    """)
)
"""What else a sentence may begin with: it goes on about the answer or about the use."""
_LATER = frozenset(word_list("afterward afterwards subsequently then"))
_SEARCHES = frozenset(word_list("find grep lookup search"))
_DEPTH = 6
_MOST = 1_000
"""Parts of a schema that are looked at; of a larger one no hint is believed."""


def object_to_hint(tool: Tool) -> str:
    """Why a tool that is said to only read is not believed; empty where it is.

    A clause to follow "its server says that it only reads, but".
    """
    if tool.annotations is not None and tool.annotations.destructive_hint is True:
        return "also that it destroys"
    title = tool.title or (tool.annotations.title if tool.annotations is not None else "") or ""
    told = tool.description or ""
    for text in (told, title):
        if word := _find_act(text):
            return f"its description speaks of something else: {word}"
    return _object_to_name(tool.name, told) or _object_to_sentences(told) or _object_to_schema(tool)


# ---- Words ---------------------------------------------------------------------------------------


def _object_to_name(name: str, told: str) -> str:
    """A name is believed by its verb. Of one that only ends like a look, the first word may be any
    verb, so that a description has to speak for it."""
    words = _split(name)
    acts = [word for word in words if word in _CHANGING]
    if not _READING.isdisjoint(words[:1]):
        return f"its name speaks of something else: {acts[0]}" if acts and "or" in words else ""
    if not _RUNNING.isdisjoint(words[:1]):
        return f"its name speaks of something else: {words[0]}"
    if (_LOOKS | _READING).isdisjoint(words[-1:]):
        return "its name has no word that is known to only look"
    return "" if told.strip() else "neither its name nor a description speaks of reading"


def _object_to_sentences(text: str) -> str:
    told = _SENTENCE_END.split(_ASIDE.sub(" ", text[:20_000]))
    sentences = [each for each in told if _WORD.search(each)]
    for place, sentence in enumerate(sentences):
        if _begins_as_look(sentence) or (place and not _may_be_an_act(sentence)):
            continue
        begun = " ".join(sentence.split())[:40]
        return f"a sentence of its description begins with no look: {begun}"
    return ""


def _may_be_an_act(sentence: str) -> bool:
    """Whether a sentence that goes on may tell of one: `Frobnicates each`, `It is then deleted`."""
    words = [word.lower() for word in _WORD.findall(_FILLER.sub("", sentence[:400], count=1))]
    if len(words) > 1 and words[1] in _OBJECTS and words[0] not in _NO_VERBS | _OBJECTS:
        return True
    is_later = not _LATER.isdisjoint(word.lower() for word in _WORD.findall(sentence))
    return is_later and any(_is_done(word.lower()) for word in _WORD.findall(sentence))


def _is_done(word: str) -> bool:
    """Whether it is the participle of a known act."""
    plain = (word[:-2], word[:-1], word[:-3], f"{word[:-3]}y")
    return word.endswith("ed") and not _CHANGING.isdisjoint(plain)


def _begins_as_look(sentence: str) -> bool:
    first = _first_word(sentence)
    if _stem(first) in _RUNNING:
        return not _LOOKED.isdisjoint(word.lower() for word in _WORD.findall(sentence)[1:6])
    return _stem(first) in _READING | _HARMLESS or first in _OPENINGS | _LOOKS


def _find_act(text: str) -> str:
    """The first word that tells of an act: in the place of a verb, and not denied."""
    words: list[str] = [word.lower() for word in _WORD.findall(text[:20_000])]
    is_denied = False
    for position, word in enumerate(words):
        if word in ".;:!?\n":
            is_denied = False
            continue
        if word in _NEGATIONS or word.endswith("n't"):
            is_denied = True
        if is_denied or not word[0].isalpha():
            continue
        if _is_act(words, position):
            return word
    return ""


def _is_act(words: list[str], position: int) -> bool:
    """Whether a word stands where a verb stands, and is one that does more than look."""
    word = words[position]
    before = words[position - 1] if position else "."
    after = words[position + 1] if position + 1 < len(words) else "."
    stem, takes_object, begins = _stem(word), after in _OBJECTS, not before[0].isalpha()
    if word.endswith("ing"):
        return stem in _CHANGING and (takes_object or before in _BEFORE_GERUNDS)
    if stem in _RUNNING and _LOOKED.intersection(words[position + 1 : position + 6]):
        return not _LANGUAGES.isdisjoint(words)
    if stem in _CHANGING and stem not in _HARMLESS:
        ends = not after[0].isalpha() or after in _NO_VERBS
        is_noun = word.endswith("s") and before in ("and", "or", ",") and ends
        return takes_object or ((begins or before in _LEADS) and not is_noun)
    # Behind a conjunction, a verb nobody knows could be any act.
    is_verb = word.endswith("s") and before in ("and", "or", "then", ",") and takes_object
    return is_verb and stem not in _READING | _HARMLESS and word not in _NO_VERBS


def _first_word(text: str) -> str:
    found = _WORD.search(_FILLER.sub("", text[:400], count=1))
    return found[0].lower() if found else ""


def _stem(word: str) -> str:
    """The plain form of a verb; of a participle or a noun in the plural it is no word at all."""
    word = word.lower()
    for form in _plain_forms(word):
        if form in _CHANGING or form in _READING or form in _HARMLESS:
            return form
    return word


def _plain_forms(word: str) -> Iterator[str]:
    yield word
    if word.endswith("s"):
        yield word[:-1]
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("ies"):
        yield f"{word[:-3]}y"
    if word.endswith("ing"):
        yield word[:-3]
        yield f"{word[:-3]}e"
        yield word[:-4]


def _split(name: str) -> list[str]:
    return [word.lower() for word in _NAME_WORD.findall(name)]


# ---- Schema --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Argument:
    """An argument with all its types, what it says of itself, and the texts it lists as values."""

    name: str
    kinds: frozenset[str]
    values: tuple[str, ...]
    told: str

    @property
    def words(self) -> list[str]:
        return _split(self.name)


def _object_to_schema(tool: Tool) -> str:
    try:
        arguments = list(_Reader(tool.input_schema).find_arguments(tool.input_schema))
    except _TooLarge:
        return "its schema is too large to be judged"
    words = {*_split(tool.name), *(word.lower() for word in _WORD.findall(tool.description or ""))}
    for argument in arguments:
        if reason := _object_to_argument(argument, words):
            return reason
    return ""


def _object_to_argument(argument: _Argument, words: set[str]) -> str:
    name, last = argument.name, argument.words[-1] if argument.words else ""
    if act := _find_value(argument):
        return f"its argument {name} may be {act}"
    if "boolean" in argument.kinds and not _CHANGING.isdisjoint(argument.words):
        return f"its flag {name} acts"
    if argument.values or (argument.kinds and argument.kinds <= _BARE):
        return ""
    if last in _ACTS:
        return f"its argument {name} may name any act"
    if last in _CARRIERS or "_".join(argument.words) in _CARRIERS:
        return f"its argument {name} may carry anything"
    says = {word.lower() for word in _WORD.findall(argument.told)}
    is_search = not _SEARCHES.isdisjoint(words)
    if last in ("query", "q") and (not is_search or (words | says) & _LANGUAGES):
        return f"its argument {name} may be any statement"
    if says & _GRAVE:
        return f"what it says of its argument {name} speaks of something else"
    return ""


_BARE = frozenset({"boolean", "integer", "number", "null"})
_GRAVE = frozenset(
    word_list(
        "create delete destroy drop insert kill purge remove restart stop truncate update write"
    )
)


def _find_value(argument: _Argument) -> str:
    """A value that is an act. Of an argument that says what is done, all but looks are acts."""
    last = argument.words[-1] if argument.words else ""
    if last in _PROPERTIES:
        return ""
    firsts = {value: (_split(value) or [""])[0] for value in argument.values}
    says_act = last in _ACTS - {"mode"} or not _PLAIN_LOOKS.isdisjoint(firsts.values())
    for value, first in firsts.items():
        is_look = first in _READING or first in _LOOKS or first in ("head", "options")
        if first in _CHANGING or (says_act and not is_look):
            return value
    return ""


_PLAIN_LOOKS = frozenset({"get", "show", "describe", "fetch"})


class _TooLarge(Exception):
    """A schema has more parts than are looked at."""


class _Reader:
    """Finds the arguments of one schema, at any depth, each by its own name."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST
        self._entered: set[str] = set()

    def find_arguments(self, schema: Any, depth: int = 0) -> Iterator[_Argument]:
        here = self._enter(schema, self._entered)
        if here is None or depth > _DEPTH:
            return
        for key in ("properties", "patternProperties"):
            for name, each in _mapping(here.get(key)).items():
                yield self._describe(str(name), each)
                yield from self.find_arguments(each, depth + 1)
        several = ("anyOf", "oneOf", "allOf", "prefixItems")
        for part in (
            *(
                here.get(key)
                for key in ("items", "additionalProperties", "not", "if", "then", "else")
            ),
            *(each for key in several for each in _sequence(here.get(key))),
        ):
            yield from self.find_arguments(part, depth + 1)

    def _enter(self, schema: Any, entered: set[str]) -> Mapping[str, Any] | None:
        """A part of the schema; None where it is none, or was looked at under its reference."""
        reference = str(_mapping(schema).get("$ref") or "")
        if not _mapping(schema) or reference in entered:
            return None
        if reference:
            entered.add(reference)
        if self._left == 0:
            raise _TooLarge
        self._left -= 1
        return _follow(schema, self._root)

    def _describe(self, name: str, schema: Any) -> _Argument:
        kinds: set[str] = set()
        values: list[str] = []
        for part in self._alternatives(schema, set()):
            kind = part.get("type")
            kinds.update(str(each) for each in (kind if isinstance(kind, list) else [kind]) if each)
            listed = (part.get("const"), *_sequence(part.get("enum")))
            values += (str(each) for each in listed if each is not None)
        told = str(_follow(schema, self._root).get("description") or "")[:4_000]
        return _Argument(name, frozenset(kinds), tuple(values), told)

    def _alternatives(
        self, schema: Any, entered: set[str], depth: int = 0
    ) -> Iterator[Mapping[str, Any]]:
        """An argument's schema and all that it may be instead; of a list, what its items are."""
        here = self._enter(schema, entered)
        if here is None or depth > _DEPTH:
            return
        yield here
        several = [each for key in ("anyOf", "oneOf", "allOf") for each in _sequence(here.get(key))]
        for part in (here.get("items"), *several):
            yield from self._alternatives(part, entered, depth + 1)


def _follow(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema, or what it refers to within the same document."""
    here = _mapping(schema)
    for _ in range(_DEPTH):
        reference = here.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            break
        target: Any = root
        for step in reference[2:].split("/"):
            target = _mapping(target).get(step)
        here = {**_mapping(target), **{key: each for key, each in here.items() if key != "$ref"}}
    return here


def _sequence(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
