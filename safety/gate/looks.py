"""Whether a read has shown how the target of a write is: its answer has to name it, as found.

What a call was asked counts for nothing, and neither does an answer that only gives that back: a
command that prints its own words has looked at nothing.
"""

import json
import re
from collections.abc import Iterator, Sequence

from agents.types import JSON
from safety.commands.proof import prove
from safety.commands.script import Command, Pipeline, pipelines_of
from safety.evidence import SettledCall, match_whole
from safety.leaves import find_leaves
from safety.refusals import read_envelope
from safety.word_list import word_list

_LOOKERS = frozenset(
    word_list("""
    crictl df docker du findmnt helm kubectl ls lsof md5sum mount nerdctl netstat pct pgrep pidof
    podman ps pvesh qm rc-service service sha256sum ss stat supervisorctl systemctl test virsh zfs
    zpool
    """)
)
"""Programs whose output is what they found, and none of their own words but names."""
_FILE_READERS = frozenset(word_list("cat grep head tail"))
_STATE_FILES = ("/etc/", "/proc/", "/run/", "/sys/")
"""Where files say how things are. Any other file may be a log, whatever it is called."""
_PAST = frozenset(word_list("event events history journal log logs tail"))
"""What tells of the past: a line from before the write shows nothing of after it."""
_FILTERS = frozenset(word_list("egrep fgrep grep head sort tail uniq wc"))
"""Behind a pipe: what only leaves lines out."""
_COMMANDS = frozenset(word_list("cmd command commands script shell"))
_NO_STATE = ("find", *_PAST)
"""Acts of our own reads that repeat what was asked, or tell of the past."""
_WORD = re.compile(r"[^\W_]+")


def shows_state_of(call: SettledCall, names: Sequence[str]) -> bool:
    """Whether a read that succeeded returned something of everything that was written to."""
    told = _found_by(call)
    return bool(names) and all(
        any(_tells(told, spelling, call) for spelling in _spellings(name)) for name in names
    )


def _found_by(call: SettledCall) -> list[str]:
    """The texts of an answer in which a look may have found its target."""
    commands = [
        value for key, value in find_leaves(call.arguments)
        if key.lower() in _COMMANDS and isinstance(value, str) and value.strip()
    ]  # fmt: skip
    if not all(_looks(command) for command in commands):
        return []
    if not call.is_own_server:
        return [] if _PAST.intersection(_words(call.tool.replace("_", " "))) else [call.text]
    if any(call.arguments.get(name) in _NO_STATE for name in ("action", "operation", "type")):
        return []
    envelope = read_envelope(call.text)
    data = envelope.get("data") if envelope is not None else None
    if not isinstance(data, dict):
        return []
    if commands:
        return [str(data.get("stdout") or "")]
    return [text for text in _texts(data)]


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def _tells(told: Sequence[str], name: str, call: SettledCall) -> bool:
    """Whether the name stands in what was found, among words that nobody asked with.

    Our own server names a resource in a field of its own; elsewhere a text is all there is.
    """
    if call.is_own_server and "command" not in call.arguments:
        folded = name.casefold()
        return len(told) > 1 and any(text.casefold() == folded for text in told)
    whole, asked = match_whole(name), set(_words(json.dumps(dict(call.arguments))))
    return any(whole.search(text) and set(_words(text)) - asked for text in told)


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _spellings(name: str) -> Sequence[str]:
    """An id and the name it ends with; a bare number means too little."""
    last = re.split(r"[:/]", name)[-1] if ":" in name else name
    return (name,) if last == name or last.isdigit() else (name, last)


# ---- Commands ------------------------------------------------------------------------------------


def _looks(command: str) -> bool:
    """Whether all that a command prints was found, and nothing of it made up of its own words."""
    script = prove(command).script
    return script is not None and all(map(_is_look, pipelines_of(script)))


def _is_look(pipeline: Pipeline) -> bool:
    first, *rest = pipeline.commands
    return (
        (_looks_at_files(first) if _program(first) in _FILE_READERS else _asks_for_state(first))
        and not any(_shapes_output(word) for word in first.argv[1:])
        and all(_program(each) in _FILTERS for each in rest)
    )


def _asks_for_state(command: Command) -> bool:
    return _program(command) in _LOOKERS and _PAST.isdisjoint(command.argv[1:])


def _looks_at_files(command: Command) -> bool:
    """Whether every file that is read says how things are now."""
    paths = [word for word in command.argv[1:] if "/" in word]
    return bool(paths) and all(
        word.startswith(_STATE_FILES) and "/../" not in word for word in paths
    )


def _program(command: Command) -> str:
    return command.argv[0].rpartition("/")[2]


def _shapes_output(word: str) -> bool:
    """Whether a word may put words of its own into the output: a format, a header, a template."""
    return any(sign in word for sign in "%{}=") and not word.startswith(("-l", "--selector"))
