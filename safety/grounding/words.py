"""Content words: what a passage is about, folded so that `Pods` and `pod` are one."""

import re
from functools import lru_cache

from safety.word_lists import word_set

_WORD = re.compile(r"[A-Za-z][A-Za-z]+")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_STOP = word_set("""
    a about above after again all also an and any are as at back be been before being
    below both but by current currently did do does done down due during each every few
    following for from had has have he her here his how i in into is it its itself just
    lately later less many me more most much my near new no none nor not now of off old on
    once one only or other others our out over own per present previous earlier latest newest recent
    recently same
    several she since so some still such than that the their them then there these they
    this those though through to too total under until up upon us very via was we were
    what when where which while who whole whose why with within without you your yet
    percent time times first last next second third current value values level number
    amount usage use used uses using rate status state way thing things found find seen
    see left free taken full average two three four five six seven eight nine ten eleven
    twelve both half quarter dozen around roughly almost nearly exactly least host server
    system
    """)
_TOPICS = {
    "disk": "disk storage filesystem mount volume space df partition",
    "memory": "memory mem ram rss oom swap",
    "cpu": "cpu processor core cores cpus",
    "restart": "restart restarts restarted rebooted reboot",
    "log": "log logs journal journalctl logged logging logfile",
    "connect": "connection connections connect connected",
    "pod": "pod pods replica replicas",
}
_TOPIC_OF = {word: topic for topic, words in _TOPICS.items() for word in words.split()}


def content_words(text: str) -> frozenset[str]:
    """The words of a passage that say what it is about; `file system` counts as a disk."""
    joined = re.sub(r"\bfile\s+systems?\b", "filesystem", text, flags=re.IGNORECASE)
    parts = {part for word in set(_WORD.findall(joined)) for part in _PARTS.findall(word)}
    return frozenset(fold(part) for part in parts if part.lower() not in _STOP and len(part) > 1)


@lru_cache(maxsize=10_000)
def fold(word: str) -> str:
    """One form for a word: its topic, or its stem without the commonest endings."""
    low = word.lower()
    if low in _TOPIC_OF:
        return _TOPIC_OF[low]
    for ending in ("ies", "es", "s"):
        if low.endswith(ending) and len(low) - len(ending) >= 3 and not low.endswith("ss"):
            low = low.removesuffix(ending) + ("y" if ending == "ies" else "")
            break
    for ending in ("ing", "ed", "e"):
        if low.endswith(ending) and len(low) - len(ending) >= 3:
            low = low.removesuffix(ending)
            break
    return _TOPIC_OF.get(low, low)


def find_subjects(text: str) -> frozenset[str]:
    """The subjects that a passage speaks of, of those that results call by few names."""
    return content_words(text) & {"cpu", "memory"}
