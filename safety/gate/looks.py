"""Whether a read has looked at what a write was done to.

A command looks where its own grammar says that it asks for the state of just that thing, and where
it was answered. Any other tool looks where an argument is the name of that thing as a whole, or a
row of the answer has that name. A mention is no look, and neither is an error, but for one that
proves that what was to be gone is gone.
"""

import json
import re
from collections.abc import Mapping, Sequence

from agents.types import JSON
from safety.argument_values import find_leaves
from safety.evidence import SettledCall
from safety.gate.command_looks import ERROR, Output, command_shows
from safety.gate.resources import HOST_KINDS
from safety.gate.states import (
    asks_for_state,
    is_of_the_call,
    leaves_of,
    says_state,
    tells_state,
)
from safety.gate.written_objects import Written, find_row_names, find_rows, find_written, scope_of
from safety.refusals import read_envelope, read_error
from safety.targets import (
    OPS_TARGETS,
    Identifier,
    find_identifiers,
    kind_of_argument,
)
from safety.word_lists import word_set

_PAST = word_set("event events history journal log logs tail")
"""What tells of the past: a line from before the write shows nothing of after it."""
_COMMANDS = word_set("cmd command commands script shell")
_NO_STATE = ("find", *_PAST)
"""Acts of our own reads that repeat what was asked, or tell of the past."""
_WORD = re.compile(r"[^\W_]+")
_CELLS = re.compile(r"\s{2,}|\t|\s*\|\s*")
_FAILURES = frozenset({"error", "errors"})
_NOT_THERE = frozenset({404, "404", "notfound", "not_found"})
"""How protocols say that a thing does not exist: HTTP's number, and its name."""


def shows_state_of(
    call: SettledCall, names: Sequence[str], write: SettledCall | None = None
) -> bool:
    """Whether a read showed how everything is that was written to.

    `names` are those of the written things; `write` tells more of them: of which kind they are,
    and whether they were to be gone. A read that failed shows only that.
    """
    things = find_written(names, write)
    try:
        return (
            bool(things) and not call.is_of_the_past and all(_shows(call, each) for each in things)
        )
    except RecursionError:
        # Nested so deep that nothing of it was read.
        return False


def _shows(call: SettledCall, thing: Written) -> bool:
    commands = [
        value for key, value in find_leaves(call.arguments)
        if key.lower() in _COMMANDS and isinstance(value, str) and value.strip()
    ]  # fmt: skip
    if commands:
        return call.outcome == "succeeded" and _command_shows(call, commands, thing)
    if call.outcome != "succeeded":
        # A call that was refused was never sent, whatever the refusal says.
        has_failed = call.outcome == "failed" and thing.removes
        return (
            has_failed and _asks_for(call, thing) and _says_gone(call.text, _read_json(call.text))
        )
    return _own_shows(call, thing) if call.is_own_server else _foreign_shows(call, thing)


# ---- Commands ------------------------------------------------------------------------------------


def _command_shows(call: SettledCall, commands: Sequence[str], thing: Written) -> bool:
    if len(commands) > 1:
        return False
    if not call.is_own_server:
        return _is_at(call, thing) and command_shows(
            commands[0], _read_foreign_output(call.text), thing
        )
    envelope = read_envelope(call.text)
    data = envelope.get("data") if envelope is not None else None
    if not isinstance(data, dict) or not _is_where(data.get("execution"), thing):
        return False
    return command_shows(commands[0], _read_output(data), thing)


def _read_foreign_output(text: str) -> Output:
    """What another server tells of a command: its streams, or one text."""
    data = _read_json(text)
    if isinstance(data, dict) and isinstance(data.get("stdout"), str):
        return _read_output(data)
    return Output(text)


def _read_output(data: Mapping[str, JSON]) -> Output:
    code, errors = data.get("exit_code"), data.get("stderr")
    return Output(
        str(data.get("stdout") or ""),
        code=code if isinstance(code, int) else None,
        errors=errors if isinstance(errors, str) else None,
    )


def _is_where(execution: JSON, thing: Written) -> bool:
    """Whether a command ran where the thing is: on its machine, or in what holds the file."""
    if not isinstance(execution, dict) or not thing.is_on_a_machine:
        return True
    if (execution.get("resolved_kind") in HOST_KINDS) is not thing.is_right_on_a_machine:
        return False
    ran = (execution.get("resolved_node"), execution.get("target_id"))
    return not thing.holder or thing.holder in ran


# ---- Our own tools -------------------------------------------------------------------------------


def _own_shows(call: SettledCall, thing: Written) -> bool:
    """Our own server names a thing by an argument, or in a row with its id or its kind."""
    if any(call.arguments.get(name) in _NO_STATE for name in ("action", "operation", "type")):
        return False
    envelope = read_envelope(call.text)
    data = envelope.get("data") if envelope is not None else None
    if envelope is None or not isinstance(data, dict):
        return False
    is_here = _is_here(call, envelope.get("meta"), thing)
    if is_here and _asks_for(call, thing) and _tells_anything(data, call, thing):
        return True
    asked = next((kind for key in call.arguments if (kind := kind_of_argument(key))), "")
    return any(
        thing.is_in(scope) and _is_own_row(row, kind, thing, is_here=is_here)
        for kind, scope, row in find_rows(data, asked)
    )


def _is_here(call: SettledCall, meta: JSON, thing: Written) -> bool:
    """Whether what was asked is about where the thing is: about this machine, if nothing else."""
    if not thing.is_on_a_machine or not thing.holder:
        return True
    values = (call.arguments.get(name) for name in ("resource_id", "target_host"))
    asked = next((value for value in values if isinstance(value, str) and value), "")
    if asked:
        own = {name.casefold() for name in (thing.id, *thing.names)}
        return asked.casefold() in own or asked.rpartition(":")[2] == thing.holder
    host = meta.get("host") if isinstance(meta, dict) else None
    return host is None or (host == thing.holder and thing.is_right_on_a_machine)


def _is_own_row(row: Mapping[str, JSON], kind: str, thing: Written, *, is_here: bool) -> bool:
    identity, said = row.get("id"), row.get("kind")
    if thing.id and isinstance(identity, str) and ":" in identity:
        return identity.casefold() == thing.id.casefold()
    if not is_here:
        return False
    kinds = _same_kinds(str(said) if isinstance(said, str) else kind)
    return len(row) > 1 and any(
        thing.is_called(str(row[key]).rpartition(":")[2], kinds)
        for key in ("name", "id", "resource_id", "pid") if key in row
    )  # fmt: skip


def _same_kinds(kind: str) -> frozenset[str]:
    if not kind:
        return frozenset()
    also = {"service": ("unit",), "process": ("unit", "service"), "lxc": ("guest",)}
    return frozenset({kind, *also.get(kind, ())})


# ---- Other servers -------------------------------------------------------------------------------


def _foreign_shows(call: SettledCall, thing: Written) -> bool:
    if _PAST.intersection(_words(call.tool.replace("_", " "))) or not _is_at(call, thing):
        return False
    answer = _read_json(call.text)
    is_asked = _asks_for(call, thing)
    if answer is None:
        return _text_shows(call, thing, is_asked=is_asked)
    is_gone = _says_gone(call.text, answer)
    if is_gone or _is_failure(answer):
        return is_gone and thing.removes and is_asked
    rows = [
        (row, scope, names)
        for kind, scope, row in find_rows(answer, "", scope_of(call.arguments))
        if (names := _names_in(row, kind, thing))
    ]
    near = [(row, names) for row, scope, names in rows if thing.is_in(scope)]
    if rows and not near:
        return False
    if is_asked and _answers(answer, [row for row, _ in near], call, thing):
        return True
    asked = _values(call)
    return any(name.casefold() not in asked for _, names in near for name in names)


def _names_in(row: Mapping[str, JSON], kind: str, thing: Written) -> list[str]:
    """The names of a thing in one object, each of no other kind than its own."""
    return [
        name
        for name, own in find_row_names(row)
        if thing.is_called(name, frozenset({own or kind} - {""}))
    ]


def _answers(
    answer: JSON, rows: Sequence[Mapping[str, JSON]], call: SettledCall, thing: Written
) -> bool:
    """Whether what was asked about a thing was answered: it is named again, or a state is told.

    Who owns it, or where its page is, is about the same name and shows nothing of the thing.
    """
    if (rows or thing.kind == "file") and _tells_anything(answer, call, thing):
        return True
    asked, is_for_states = _values(call), asks_for_state(call.tool)
    named = set(map(id, rows))
    return any(
        tells_state(
            leaf,
            thing.names,
            is_about_thing=is_for_states or id(leaf.holder) in named,
        )
        for leaf in leaves_of(answer)
        if not (isinstance(leaf.value, str) and leaf.value.casefold() in asked)
        # What has another name is another thing.
        and thing.is_called(str(leaf.holder.get("name") or thing.names[0]))
    )


def _is_at(call: SettledCall, thing: Written) -> bool:
    """Whether no argument names a machine but that of the thing."""
    named = [
        each.value
        for each in find_identifiers(call.arguments, call.identifies)
        if kind_of_argument(each.argument) in ("host", "node")
    ]
    return not thing.place or not named or thing.place in named


def _text_shows(call: SettledCall, thing: Written, *, is_asked: bool) -> bool:
    """A text that is no data: a row of a table, the content of a file, or a state in words."""
    asked = set(_words(json.dumps(dict(call.arguments))))
    if not set(_words(call.text)) - asked:
        return False
    if _has_row(call, thing):
        return True
    if not is_asked or ERROR.search(call.text):
        return False
    if thing.kind == "file":
        return not any(name in call.text for name in thing.names)
    return says_state(call.text, thing.names)


def _has_row(call: SettledCall, thing: Written) -> bool:
    """Whether a row of a table has the name of the thing, and no other namespace."""
    table = [_CELLS.split(line.strip()) for line in call.text.splitlines()]
    headers = [cell.casefold() for cell in table[0]] if table else []
    place = headers.index("namespace") if "namespace" in headers else None
    for row in table:
        told = row[place] if place is not None and place < len(row) else ""
        is_near = thing.is_in(told or scope_of(call.arguments))
        if is_near and len(row) > 1 and any(map(thing.is_called, row)):
            return True
    return False


def _is_failure(answer: JSON) -> bool:
    if not isinstance(answer, dict):
        return False
    is_no = any(answer.get(name) is False for name in ("ok", "success", "found", "exists"))
    is_refused = answer.get("isError") is True or (
        answer.get("status") in ("Failure", "error") and "message" in answer
    )
    numbers = (answer.get(name) for name in ("status", "code", "status_code", "statusCode"))
    is_http = any(isinstance(each, int) and 400 <= each < 600 for each in numbers)
    return is_no or is_refused or is_http or any(answer.get(name) for name in _FAILURES)


# ---- What both have in common --------------------------------------------------------------------


def _asks_for(call: SettledCall, thing: Written) -> bool:
    """Whether an argument is the name of the thing, as a whole, and none says another kind."""
    if thing.id and thing.id.casefold() in _values(call):
        return True
    cluster = call.arguments.get("cluster")
    if not thing.is_in(scope_of(call.arguments)):
        return False
    if thing.machine and isinstance(cluster, str) and cluster not in ("", thing.machine):
        return False
    if thing.kind == "file":
        return any(name.casefold() in _values(call) for name in thing.names)
    return any(
        thing.is_called(each.value, _kinds_asked(each.argument, call))
        for each in _identifiers_of(call)
        if not each.is_scope
    )


def _identifiers_of(call: SettledCall) -> tuple[Identifier, ...]:
    """Our own tools name what they look at in arguments that are known."""
    named = OPS_TARGETS if call.is_own_server else call.identifies
    return find_identifiers(call.arguments, named)


def _kinds_asked(argument: str, call: SettledCall) -> frozenset[str]:
    kind = kind_of_argument(argument)
    return _same_kinds(kind) if call.is_own_server else frozenset({kind} - {""})


def _values(call: SettledCall) -> set[str]:
    return {value.casefold() for _, value in find_leaves(call.arguments) if isinstance(value, str)}


def _tells_anything(answer: JSON, call: SettledCall, thing: Written) -> bool:
    """Whether an answer holds more than what was asked: a word, a state in words, or a figure.

    Beside an empty list a figure may only say how much was found.
    """
    asked = _values(call)
    has_empty = _has_empty_list(answer)
    return any(
        _is_told(leaf.value, thing) and leaf.value.casefold() not in asked
        if isinstance(leaf.value, str)
        else isinstance(leaf.value, bool | int | float) and not has_empty
        for leaf in leaves_of(answer)
        if not is_of_the_call(leaf, is_about_thing=not leaf.has_empty_beside)
    )


def _is_told(text: str, thing: Written) -> bool:
    """Whether a value says something: what has several words may say that nothing was found."""
    if thing.kind == "file" or len(text.split()) == 1:
        return bool(text.strip())
    return says_state(text, thing.names)


def _has_empty_list(value: JSON) -> bool:
    if isinstance(value, dict):
        return any(map(_has_empty_list, value.values()))
    return isinstance(value, list) and (not value or any(map(_has_empty_list, value)))


def _says_gone(text: str, answer: JSON) -> bool:
    """Whether an error says by its code that there is no such thing. `answer` is the text read."""
    told: JSON = read_error(text) or answer
    return any(
        (str(value).casefold() if isinstance(value, str) else value) in _NOT_THERE
        for key, value in find_leaves(told)
        if key in ("code", "status", "reason") and not isinstance(value, bool)
    )


def _read_json(text: str) -> JSON:
    """The object or list that a text is; None where it is anything else."""
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
