"""Which read shows whether a write took effect, and whether its answer does.

Our own server's writes have their checks here; another server's are declared by the operator.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from agents.types import JSON
from safety.evidence import Judgement
from safety.targets import find_ops_target
from safety.tool_rules import VerifyRule

SHOWN = 80
AT_ONCE = (0.0,)
SOON = (0.0, 0.5, 1.5, 3.0)
"""Seconds before each look, while what was changed may still be coming up."""
IN_A_WHILE = (0.0, 1.0, 3.0, 6.0, 10.0)

_IF_GIVEN = " if given"
"""Behind the name of an argument that the write may leave out."""
RUNNING = ("running", "active", "up")
_OF_WRITES = frozenset({"action", "content", "expected_sha256", "max_bytes", "tail_bytes"})
ABSENT = "absent"
"""What a write of `file_edit` expects where there is no such file."""
STOPPED = ("stopped", "inactive", "exited", "dead", "created", "failed")
_STATES = {
    "start": RUNNING, "restart": RUNNING, "reboot": RUNNING, "reload": RUNNING,
    "stop": STOPPED, "shutdown": STOPPED,
}  # fmt: skip


@dataclass(frozen=True)
class Expectation:
    """What stands at a path of the answer; the whole answer where there is no path."""

    path: tuple[str, ...]
    relation: Literal["is", "contains"]
    wanted: tuple[JSON, ...]


@dataclass(frozen=True)
class Check:
    """A read on the server of the write. It may have to look more than once."""

    server: str
    tool: str
    arguments: Mapping[str, JSON]
    expects: tuple[Expectation, ...]
    pauses: tuple[float, ...] = AT_ONCE
    shortens: frozenset[str] = frozenset()
    """Its arguments that only shorten the answer."""

    @property
    def name(self) -> str:
        return f"{self.server}.{self.tool}"

    @property
    def sentence(self) -> str:
        """What will be asked, and what has to come of it."""
        asked = ", ".join(f"{name}={_cut(_spell(each))}" for name, each in self.arguments.items())
        wanted = " and ".join(
            f"{'.'.join(each.path) or 'the answer'} {_relate(each)}" for each in self.expects
        )
        return f"TARSy calls {self.name} ({asked}): {wanted}."


# ---- Which check ---------------------------------------------------------------------------------


def plan_check(
    server: str,
    tool: str,
    arguments: Mapping[str, JSON],
    *,
    is_own_server: bool,
    verify: VerifyRule | None,
) -> Check | None:
    """The check that follows a write; None where none is known."""
    if is_own_server:
        return find_own_check(server, tool, arguments)
    return find_declared_check(server, verify, arguments) if verify is not None else None


def find_own_check(server: str, tool: str, arguments: Mapping[str, JSON]) -> Check | None:
    """The check of a write of our own server; None where no read would show its effect."""
    match tool:
        case "control":
            return _check_state(server, arguments, str(arguments.get("action")))
        case "docker":
            return _check_container(server, arguments)
        case "file_edit":
            return _check_file(server, arguments)
        case "kubernetes":
            return _check_deployment(server, arguments)
        case "knowledge":
            return _check_note(server, arguments)
    return None


def find_declared_check(
    server: str, rule: VerifyRule, arguments: Mapping[str, JSON]
) -> Check | None:
    """The operator's check with the write's arguments filled in; None where one is missing that
    may not be."""
    values: dict[str, JSON] = {}
    for name, text in rule.arguments.items():
        argument = text[1:].removesuffix(_IF_GIVEN) if text.startswith("$") else ""
        if not argument:
            values[name] = _read_constant(text)
        elif argument in arguments:
            values[name] = arguments[argument]
        elif not text.endswith(_IF_GIVEN):
            return None
    expect = rule.expect
    wanted: JSON = expect.equals or expect.contains
    if isinstance(wanted, str) and wanted.startswith("$"):
        if wanted[1:] not in arguments:
            return None
        wanted = arguments[wanted[1:]]
    path = tuple(expect.path.split(".")) if expect.path else ()
    relation: Literal["is", "contains"] = "is" if expect.equals else "contains"
    return Check(server, rule.tool, values, (Expectation(path, relation, (wanted,)),), SOON)


def _check_state(server: str, arguments: Mapping[str, JSON], action: str) -> Check | None:
    target = find_ops_target(arguments)
    if action == "repair" and target:
        is_well = Expectation(("data", "is_well"), "is", (True,))
        asked = {"action": "service", "resource_id": target}
        return Check(server, "probe", asked, (is_well,), IN_A_WHILE)
    if action not in _STATES or not target:
        return None
    return check_status(server, target, _STATES[action])


def check_status(server: str, resource_id: str, wanted: tuple[JSON, ...]) -> Check:
    """The read that says how a resource of our own server is."""
    expects = Expectation(("data", "status"), "is", wanted)
    return Check(server, "query", {"action": "get", "resource_id": resource_id}, (expects,), SOON)


def _check_container(server: str, arguments: Mapping[str, JSON]) -> Check | None:
    container, operation = arguments.get("container"), str(arguments.get("operation"))
    digest = arguments.get("digest")
    if arguments.get("action") == "update" and container and digest:
        runs = Expectation(("data", "image_digests"), "contains", (digest,))
        is_well = Expectation(("data", "is_well"), "is", (True,))
        asked = {"action": "inspect", "container": container}
        return Check(server, "docker", asked, (runs, is_well), IN_A_WHILE)
    if arguments.get("action") != "control" or operation not in _STATES or not container:
        return None
    expects = Expectation(("data", "state", "status"), "is", _STATES[operation])
    return Check(server, "docker", {"action": "inspect", "container": container}, (expects,), SOON)


def _check_file(server: str, arguments: Mapping[str, JSON]) -> Check | None:
    """The file, read back where it was written, and compared by hash: its size does not matter.

    What was appended is its end; where it is known what was there before, the rest is just that.
    """
    content, action = arguments.get("content"), arguments.get("action")
    if not isinstance(content, str) or action not in ("write", "append"):
        return None
    written = content.encode("utf-8", "replace")
    read = {**place_of_file(arguments), "action": "read", "max_bytes": 0}
    before = arguments.get("expected_sha256")
    expects: tuple[Expectation, ...] = (_expect_hash("sha256", written),)
    if action == "append" and before != ABSENT:
        read["tail_bytes"] = len(written)
        expects = (_expect_hash("tail_sha256", written),)
        if before:
            expects += (Expectation(("data", "head_sha256"), "is", (before,)),)
    return Check(server, "file_edit", read, expects, shortens=frozenset({"max_bytes"}))


def place_of_file(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """The arguments of a call of `file_edit` that say which file is meant."""
    return {key: value for key, value in arguments.items() if key not in _OF_WRITES}


def _expect_hash(name: str, content: bytes) -> Expectation:
    return Expectation(("data", name), "is", (hashlib.sha256(content).hexdigest(),))


def _check_deployment(server: str, arguments: Mapping[str, JSON]) -> Check | None:
    kind = arguments.get("type")
    place = _place_of_deployment(arguments)
    if kind not in ("scale", "restart") or not place.get("deployment"):
        return None
    rows = ("data", "deployments", "*")
    expects: tuple[Expectation, ...] = (Expectation((*rows, "status"), "is", ("available",)),)
    if kind == "scale":
        expects = (Expectation((*rows, "replicas"), "is", (arguments.get("replicas"),)),)
    pauses = SOON if kind == "scale" else IN_A_WHILE
    return Check(server, "kubernetes", {"type": "deployments", **place}, expects, pauses)


def _check_note(server: str, arguments: Mapping[str, JSON]) -> Check | None:
    """The note's resource and text, asked for as they were told."""
    place = {key: arguments[key] for key in ("resource_id", "note") if arguments.get(key)}
    if arguments.get("action") != "remember" or len(place) < 2:
        return None
    expects = Expectation(("data", "is_kept"), "is", (True,))
    return Check(server, "knowledge", {"action": "recall", **place, "limit": 1}, (expects,))


def _place_of_deployment(arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Cluster, namespace and name, as an id `deployment:CLUSTER:NAMESPACE/NAME` or each of them."""
    named = arguments.get("resource_id")
    parts = named.split(":", 2) if isinstance(named, str) else []
    if len(parts) == 3 and "/" in parts[2]:
        namespace, _, name = parts[2].partition("/")
        return {"cluster": parts[1], "namespace": namespace, "deployment": name}
    wanted = ("cluster", "namespace", "deployment")
    return {key: arguments[key] for key in wanted if arguments.get(key)}


def _read_constant(text: str) -> JSON:
    """`3` and `true` as what they are; everything else is text."""
    try:
        value: JSON = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, bool | int | float) else text


# ---- What an answer says -------------------------------------------------------------------------


def judge_answer(check: Check, text: str) -> Judgement:
    """Whether an answer shows what is expected. What cannot be told is unverified."""
    seen: list[str] = []
    for expectation in check.expects:
        if any(_is_in_anything(wanted, expectation) for wanted in expectation.wanted):
            return Judgement("unverified", "what is looked for is empty, so any answer has it")
        found = _find(text, expectation.path)
        spot = ".".join(expectation.path) or "the answer"
        if not found:
            return Judgement("unverified", f"{check.name} answered nothing at {spot}")
        if not all(fits(each, expectation) for each in found):
            return Judgement("failed", f"{spot} is {show(found)}, not {_wanted(expectation)}")
        seen.append(f"{spot} is {show(found)}")
    return Judgement("verified", "; ".join(seen))


def is_this_check(check: Check, name: str, arguments: Mapping[str, JSON]) -> bool:
    """Whether a call asks what the check would ask, perhaps more closely."""
    asked = {key: each for key, each in check.arguments.items() if key not in check.shortens}
    return name == check.name and asked.items() <= arguments.items()


def _find(text: str, path: tuple[str, ...]) -> list[JSON]:
    """Everything at a path; nothing where the answer has no such place.

    Structured content beside a text that is no JSON stands on the last line.
    """
    if not path:
        return [text]
    for said in (text, text.rpartition("\n")[2]):
        try:
            whole: JSON = json.loads(said)
        except (ValueError, RecursionError):
            continue
        return find_values(whole, path)
    return []


def find_values(whole: JSON, path: tuple[str, ...]) -> list[JSON]:
    """Everything at a path of an answer; `*` stands for each of its entries."""
    return list(_walk(whole, path))


def _walk(value: JSON, path: tuple[str, ...]) -> Iterator[JSON]:
    if not path:
        yield value
        return
    first, rest = path[0], path[1:]
    if first == "*" and isinstance(value, list | dict):
        for each in value if isinstance(value, list) else value.values():
            yield from _walk(each, rest)
    elif isinstance(value, dict) and first in value:
        yield from _walk(value[first], rest)
    elif isinstance(value, list) and first.isdigit() and int(first) < len(value):
        yield from _walk(value[int(first)], rest)


def fits(found: JSON, expectation: Expectation) -> bool:
    """Whether what was found is what is expected."""
    match expectation.relation:
        case "is":
            return any(_is_same(found, wanted) for wanted in expectation.wanted)
        case "contains":
            return any(_contains(found, wanted) for wanted in expectation.wanted)


def _is_in_anything(wanted: JSON, expectation: Expectation) -> bool:
    is_empty = wanted is None or (isinstance(wanted, str) and not wanted.strip())
    return expectation.relation == "contains" and (is_empty or wanted in ([], {}))


def _is_same(found: JSON, wanted: JSON) -> bool:
    """Equal, or the same scalar in two spellings: an operator writes every value as text."""
    if isinstance(found, str) and isinstance(wanted, str):
        return found.rstrip("\n") == wanted.rstrip("\n")
    if isinstance(found, str) and isinstance(wanted, dict | list):
        found = _read_value(found)
    if isinstance(found, dict | list) or isinstance(wanted, dict | list):
        return found == wanted
    return _spell(found) == _spell(wanted)


def _read_value(text: str) -> JSON:
    """What a text says in JSON; else the text."""
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _contains(found: JSON, wanted: JSON) -> bool:
    if isinstance(found, list):
        return any(_is_same(each, wanted) for each in found)
    return _spell(wanted) in (found if isinstance(found, str) else json.dumps(found))


def _spell(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def show(found: list[JSON]) -> str:
    """What was found, in a line; empty where nothing was."""
    if len(found) == 1 and isinstance(found[0], str) and len(found[0]) > SHOWN:
        return f"a text of {len(found[0])} characters"
    return _cut(", ".join(dict.fromkeys(map(_spell, found))))


def _wanted(expectation: Expectation) -> str:
    with_ = "one with " if expectation.relation == "contains" else ""
    return f"{with_}{_cut(_alternatives(expectation))}"


def _relate(expectation: Expectation) -> str:
    verb = "has to contain" if expectation.relation == "contains" else "has to be"
    return f"{verb} {_cut(_alternatives(expectation))}"


def _alternatives(expectation: Expectation) -> str:
    return " or ".join(map(_spell, expectation.wanted))


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
