"""What the name and the description of a tool say that it does."""

import re
from collections.abc import Iterator
from itertools import pairwise

from safety.gate.hint_words import (
    CHANGING,
    HARMLESS,
    LANGUAGES,
    LOOKS,
    READING,
    RUNNING,
    find_stem,
    find_words,
    split_name,
)
from safety.word_lists import word_set

_NEGATIONS = word_set("cannot never no nor not nothing without doesn don won isn")
_OBJECTS = word_set(
    "a all an any each every her his it its my one our that the their them these this those your"
)
_CLAUSES = word_set("anything everything something what whatever whichever")
"""Further objects of a verb that is known to act."""
_CONDITIONS = word_set("""
    after as because before how if once or since than that unless until what when where whether
    which while who why
    """)
"""Behind them stands how something may be, and not what is done to it."""
_ANSWERED = word_set("""
    answer answers columns comments content data dates entries fields filters items keys lines list
    lists logs matches name names numbers objects outputs output pages parameters
    paths records response responses result results rows secrets strings text texts times
    timestamps values
    """)
"""What is left out of these, or put in order, is part of an answer: `Results are removed from the
end`."""
_ARRANGED = word_set("""
    added appended applied cut dropped expanded extended filled filtered grouped joined limited
    ordered removed renamed replaced sorted split
    """)
"""What may be done to an answer. Anything else is done to what was looked at: `rows are purged`."""
_IRREGULAR = word_set("overwritten paid resent rewritten sent sold written")
"""Participles of acts that do not end as others do."""
_RELATIVE = word_set("that which who")
_SHAPED = word_set("converted formatted masked merged truncated")
"""What is mostly done to an answer, whatever is spoken of."""
_PRONOUNS = word_set("it they this these")
_STATES = word_set("are had has have is was were")
_BEING = word_set("are be get gets is")
_LEADS = word_set("also and can could may might must or shall should that then to which will")
_NO_VERBS = word_set("""
    about after all also and any are as at be before below between but by do does during each
    either every for from given has have how if in including into is like not of on only
    optionally or over per since so such than that then these this those through to under until
    up via was were what when where whether which while who whose why with within without
    """)
_BEFORE_GERUNDS = word_set("allows and by for or supports")
_LOOKED = word_set("analysis check comparison look lookup queries query search scan")
"""What is run where only a look is taken."""
_FILLER = re.compile(
    r"(?i)\A\W*(?:(?:this|the|a|an|use|tool|function|that|which|to|can|be|used|for|you|it|lets|"
    r"allows|helper|simply|will|[a-z]{2,20}ly)\b\W*)*"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
_MOST_OWNERS = 2
_JOINING = word_set("and then")
"""Between two verbs of a name."""
_LABEL = re.compile(r"\A[\w .-]{1,30} \| ")
"""What a tool belongs to, before what it does: `Notion | Retrieve a user`."""
_ASIDE = re.compile(r"\([^()]{0,400}\)")
_OPENINGS = word_set("""
    args arguments best cannot choose default defaults example examples for handles how if never
    note notes only operates optional optionally output parameters pass prefer provides recommended
    requires result results returned should supports takes typically use useful uses usually what
    when where whether which works
    """)
"""What else a sentence may begin with: it goes on about the answer or about the use."""
_LATER = word_set("afterward afterwards subsequently then")


def object_to_name(name: str, told: str) -> str:
    """A name is believed by its verb, before which may stand what it belongs to: `jira_get_issue`.
    Of one that begins in another way, or only ends like a look, the first word may be any verb, so
    that a description has to speak for it."""
    words = split_name(name)
    acts = [word for word in words if word in CHANGING]
    if told.strip():
        words = words[_count_owners(words) :]
    if not READING.isdisjoint(words[:1]):
        joined = {word for before, word in pairwise(words) if before in _JOINING} & CHANGING
        is_other = acts and (joined or "or" in words)
        return f"its name speaks of something else: {acts[0]}" if is_other else ""
    if not RUNNING.isdisjoint(words[:1]):
        return f"its name speaks of something else: {words[0]}"
    if (LOOKS | READING).isdisjoint(words[-1:]):
        return "its name has no word that is known to only look"
    return "" if told.strip() else "neither its name nor a description speaks of reading"


def _count_owners(words: list[str]) -> int:
    """How many words of a name stand before its verb, and are none themselves."""
    verb = next((place for place, word in enumerate(words) if word in READING | CHANGING), 0)
    is_behind = 0 < verb <= _MOST_OWNERS and words[verb] in READING and verb + 1 < len(words)
    return verb if is_behind else 0


def object_to_sentences(text: str) -> str:
    """What of a description goes beyond a look; empty where nothing does."""
    told = _SENTENCE_END.split(_ASIDE.sub(" ", _LABEL.sub("", text[:20_000])))
    sentences = [each for each in told if find_words(each)]
    for place, sentence in enumerate(sentences):
        if _begins_as_look(sentence) or (place and not _may_be_an_act(sentence)):
            continue
        begun = " ".join(sentence.split())[:40]
        return f"a sentence of its description begins with no look: {begun}"
    return ""


def _may_be_an_act(sentence: str) -> bool:
    """Whether a sentence that goes on may tell of one: `Frobnicates each`, `It is then deleted`."""
    words = _find_told(sentence)
    is_noun = words[1:2] == ["that"] and not _STATES.isdisjoint(words[2:3])
    is_verb = words[1:2] and words[1] in _OBJECTS and words[0] not in _NO_VERBS | _OBJECTS
    if is_verb and not is_noun:
        return True
    said = find_words(sentence)
    return not _LATER.isdisjoint(said) and any(map(_is_done, said))


def _is_done(word: str) -> bool:
    """Whether it is the participle of a known act."""
    plain = (word[:-2], word[:-1], word[:-3], f"{word[:-3]}y")
    return word in _IRREGULAR or (word.endswith("ed") and not CHANGING.isdisjoint(plain))


def _begins_as_look(sentence: str) -> bool:
    first = next(iter(_find_told(sentence)), "")
    if find_stem(first) in RUNNING:
        return not _LOOKED.isdisjoint(find_words(sentence)[1:6])
    return find_stem(first) in READING | HARMLESS or first in _OPENINGS | LOOKS


def find_act(text: str) -> str:
    """The first word that tells of an act: in the place of a verb, and not denied."""
    return next(find_acts(text), "")


def find_acts(text: str) -> Iterator[str]:
    """Every word that tells of an act."""
    words = find_words(text[:20_000])
    is_denied = False
    for position, word in enumerate(words):
        if word in ".;:!?\n":
            is_denied = False
            continue
        if word in _NEGATIONS or word.endswith("n't"):
            is_denied = True
        if is_denied or not word[0].isalpha():
            continue
        if _is_act(words, position) or _is_done_to_it(words, position):
            yield word


def _is_act(words: list[str], position: int) -> bool:
    """Whether a word stands where a verb stands, and is one that does more than look."""
    word = words[position]
    before = words[position - 1] if position else "."
    after = words[position + 1] if position + 1 < len(words) else "."
    stem, begins = find_stem(word), not before[0].isalpha()
    if words[max(0, position - 2) : position] == ["about", "to"]:
        return False  # What is about to expire does so by itself.
    if after == "that" and not _STATES.isdisjoint(words[position + 2 : position + 3]):
        return False  # "Routes that were withdrawn"
    takes_object = after in _OBJECTS or (stem in CHANGING and after in _CLAUSES)
    if word.endswith("ing"):
        return stem in CHANGING and (takes_object or before in _BEFORE_GERUNDS)
    if stem in RUNNING and _LOOKED.intersection(words[position + 1 : position + 6]):
        return not LANGUAGES.isdisjoint(words)
    if stem in CHANGING and stem not in HARMLESS:
        ends = not after[0].isalpha() or after in _NO_VERBS
        is_listed = before in ("and", "or", ",") and ends
        is_subject = position == 0 and after == "of"
        is_noun = word.endswith("s") and (is_listed or is_subject)
        return takes_object or ((begins or before in _LEADS) and not is_noun)
    # Behind a conjunction, a verb nobody knows could be any act.
    is_verb = word.endswith("s") and before in ("and", "or", "then", ",") and takes_object
    return is_verb and stem not in READING | HARMLESS and word not in _NO_VERBS


def _is_done_to_it(words: list[str], position: int) -> bool:
    """Whether a known act is told in the passive of what was looked at: `it is retried`."""
    if words[position] in _SHAPED or not _is_done(words[position]):
        return False
    clause = [word for word in _take_clause(words[:position]) if not _is_adverb(word)]
    if clause[-1:] == ["be"] and clause[-2:-1] == ["will"]:
        del clause[-2:-1]
    clause = _without_relative(clause)
    is_of_answer = clause[-2:-1] and clause[-2] in _ANSWERED and words[position] in _ARRANGED
    return (
        len(clause) > 1
        and clause[-1] in _BEING
        and not is_of_answer
        and _CONDITIONS.isdisjoint(clause)
    )


def _without_relative(clause: list[str]) -> list[str]:
    """The clause without one in it that has a verb of its own: `rows that are read are purged`."""
    start = next((place for place, word in enumerate(clause) if word in _RELATIVE), 0)
    has_own_verb = not (_STATES | _BEING).isdisjoint(clause[start + 1 : -1])
    return [*clause[:start], clause[-1]] if start and has_own_verb else clause


def _take_clause(before: list[str]) -> list[str]:
    """The words of a clause up to a place in it. A comma ends one, and so does a verb in front of
    what is spoken of: `if it failed it is retried`."""
    clause: list[str] = []
    for word in reversed(before[-12:]):
        if not word[0].isalpha():
            break
        clause.insert(0, word)
        if word in _PRONOUNS and len(clause) > 1:
            break
    start = len(before) - len(clause)
    is_conditional = start > 0 and before[start - 1] in _CONDITIONS
    return [before[start - 1], *clause] if is_conditional else clause


def _is_adverb(word: str) -> bool:
    return word.endswith("ly") or word in ("also", "then", "first")


def _find_told(text: str) -> list[str]:
    """The words of a sentence behind what it begins with anyway."""
    return find_words(_FILLER.sub("", text[:400], count=1))
