"""Reads that reach out: which machines they may ask is decided here, not by what the model read.

A machine passes that is inside, that a resolve tool returned, or that configuration or a person
named. What logs, pages, alerts and the model name does not: a question to a stranger's machine can
carry anything out.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from safety.argument_values import find_leaves
from safety.commands.proof import prove
from safety.commands.script import pipelines_of
from safety.evidence import match_whole
from safety.gate.destinations import (
    find_destinations,
    find_public_host,
    is_inside,
    is_number,
    starts_with_address,
)
from safety.gate.provenance import Block
from safety.gate_port import GateRequest
from safety.refusals import Refusal
from safety.word_lists import word_set

_NAMES = word_set("""
    addr address base callback destination dns domain email endpoint fqdn href host hostname ip
    link location mail origin peer proxy recipient remote server site to uri url webhook website
    """)
"""Arguments whose value is a machine, or leads to one."""
_OTHERS = word_set("""
    annotation api attribute by class column crd dimension directory dir field file filename
    finalizer folder group image key kind label metric module order package path property resource
    select selector sort tag
    """)
"""Arguments whose values look like domains and name something else. Whole addresses count still."""
_BETWEEN = re.compile(r"[\s,;|]+")
_LONGEST_LIST = 20
_COMMANDS = frozenset({"command", "cmd", "script", "shell"})
_WORDS = re.compile(r"[a-z0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def refuse_stranger(
    request: GateRequest, given: Sequence[Block], is_resolved: Callable[[str], bool]
) -> Refusal | None:
    """The refusal of a read that would ask a machine nobody trusted has named."""
    for name, host in _machines(request):
        if is_inside(host) or is_resolved(host) or _is_named(host, given):
            continue
        return Refusal(
            "POLICY_BLOCKED",
            f"{request.name} would ask {host}, which neither configuration nor a person has "
            "named and no resolve tool has returned.",
            {"tool": request.name, "argument": name, "host": host},
            rule="stranger",
        )
    return None


def _machines(request: GateRequest) -> Iterator[tuple[str, str]]:
    for name, text in find_leaves(request.arguments):
        if not isinstance(text, str):
            continue
        words = frozenset(
            form
            for word in _WORDS.findall(_HUMP.sub("_", name).lower())
            for form in (word, word.removesuffix("s"))
        )
        if words & _COMMANDS:
            yield from ((name, host) for host in _machines_of_command(text))
        elif not request.is_own_server:
            yield from ((name, host) for host in _machines_of_value(text, words))


def _machines_of_value(text: str, words: frozenset[str]) -> Iterator[str]:
    """What the value could be decides. The name of its argument only says what it surely is."""
    if words & _NAMES or starts_with_address(text):
        yield from find_destinations(text)
    parts = [part for part in _BETWEEN.split(text) if part]
    if words & _NAMES:
        for part in parts[:_LONGEST_LIST]:
            yield from find_destinations(part)
    if words & _OTHERS or len(parts) > _LONGEST_LIST:
        return
    hosts = list(map(find_public_host, parts))
    # A sentence mentions machines. A list has nothing else in it, or no blanks.
    if len(text.split()) == 1 or all(hosts):
        yield from filter(None, hosts)


def _machines_of_command(command: str) -> Iterator[str]:
    """Addresses anywhere, and every machine in the words of a program that reaches out."""
    yield from find_destinations(command)
    proof = prove(command)
    if not proof.reaches_out or proof.script is None:
        return
    for pipeline in pipelines_of(proof.script):
        for each in pipeline.commands:
            for word in each.argv[1:]:
                for part in re.split(r"[\s=,@()!<>|&]+", word):
                    yield from (part,) if is_number(part) else find_destinations(part)


def _is_named(host: str, given: Sequence[Block]) -> bool:
    whole = match_whole(host)
    return any(block.provenance.is_trusted and whole.search(block.text) for block in given)
