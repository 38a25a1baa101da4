"""The words by which a tool is known to only look, or to act."""

import re
from collections.abc import Iterator

from safety.word_lists import word_set

READING = word_set("""
    access analyze analyse browse calculate check compare compute count describe detect diff
    discover display enumerate estimate evaluate examine explain explore fetch find get grep
    identify inspect list lookup look measure obtain peek preview print query read retrieve
    return scan search see show sum summarize summarise tail trace validate verify view watch
    """)
"""Verbs that take nothing but a look."""
LOOKS = word_set("""
    alerts balance catalog count dashboard depth details diagnostics diff events feed graph health
    help history info information inventory latency list log logs lookup metadata metric
    metrics overview path performance range report schema snapshot stat statistics stats status
    structure summary top topology tree types usage utilization version versions
    ps whoami
    """)
"""What a tool that only looks may be named after, as the last word of its name."""
CHANGING = word_set("""
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
    """) - {"log", "report", "index", "name", "type", "use", "format", "page", "order"}
"""Verbs of acts, in their plain form. As nouns or participles they say nothing."""
LANGUAGES = word_set("""
    clickhouse cql cypher database ddl duckdb dml gql graphql javascript mariadb mongo mongodb
    mutation mysql oracle postgres postgresql psql python shell spark sql sqlite statement
    statements
    """)
"""Words of tools whose query could be any statement."""
ACTS = word_set("act action cmd command do method mode op operation subcommand task verb")
"""Arguments whose value says what is done."""
RUNNING = word_set("do execute make perform run")
HARMLESS = word_set("""
    accept allow contain filter format group handle include limit order provide sort support
    tell wait
    """)
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|[.,;:!?()\n]")
_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def find_words(text: str) -> list[str]:
    """The words and stops of a text, in small letters."""
    return [word.lower() for word in _WORD.findall(text)]


def split_name(name: str) -> list[str]:
    """The words that a name of a tool or an argument is put together from."""
    return [word.lower() for word in _NAME_WORD.findall(name)]


def find_stem(word: str) -> str:
    """The plain form of a verb; of a participle or a noun in the plural it is no word at all."""
    word = word.lower()
    for form in _plain_forms(word):
        if form in CHANGING or form in READING or form in HARMLESS:
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
