"""A script from its file, or every mistake in it with line and remedy."""

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agents.rehearsal.script import (
    Pace,
    Reply,
    Rule,
    Script,
    ScriptedCall,
    ScriptedError,
    ScriptedUsage,
    When,
)
from tarsy.errors import ConfigError, Mistake

BUILTIN_SCRIPT = Path(__file__).with_name("host_triage.yaml")
PROVIDER_CHECK_SCRIPT = Path(__file__).with_name("provider_check.yaml")
BUILTIN_SCRIPTS = (
    PROVIDER_CHECK_SCRIPT,
    Path(__file__).with_name("own_tools.yaml"),
    Path(__file__).with_name("service_down.yaml"),
    BUILTIN_SCRIPT,
)
"""What the demo plays: the first rule that fits answers, and the last script fits everything."""
MAX_SCRIPT_BYTES = 1_048_576
MAX_SCRIPT_NODES = 200_000

# Which keys are known below a key, for the remedy in a message about an unknown one.
_KNOWN_BELOW: dict[str, type[BaseModel]] = {
    "": Script,
    "pace": Pace,
    "rules": Rule,
    "when": When,
    "reply": Reply,
    "tool_calls": ScriptedCall,
    "usage": ScriptedUsage,
    "error": ScriptedError,
}

Location = tuple[int | str, ...]


def load_script(path: Path) -> Script:
    """Read and check a script. Raises `ConfigError` with every mistake in it."""
    try:
        if path.stat().st_size > MAX_SCRIPT_BYTES:
            raise ConfigError([Mistake(str(path), 0, "is larger than 1 MiB; split the script")])
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigError([Mistake(str(path), 0, "does not exist; name a YAML file")]) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([Mistake(str(path), 0, f"cannot be read: {error}")]) from error
    return parse_script(text, file=str(path))


def load_scripts(paths: Sequence[Path]) -> Script:
    """Several scripts as one: rules in the order given; models and pace are those of the last."""
    scripts = [load_script(path) for path in paths]
    return scripts[-1].model_copy(
        update={
            "macros": "\n".join(script.macros for script in scripts),
            "rules": tuple(rule for script in scripts for rule in script.rules),
        }
    )


def parse_script(text: str, *, file: str = "script") -> Script:
    """Check the text of a script. Raises `ConfigError` with every mistake in it."""
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None and _count_nodes(root, {}) > MAX_SCRIPT_NODES:
            raise ConfigError([Mistake(file, 0, "its aliases (`*name`) expand to too much")])
        value = yaml.safe_load(text)
    except RecursionError as error:
        raise ConfigError([Mistake(file, 0, "is nested too deeply for a script")]) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line = mark.line + 1 if mark else 0
        raise ConfigError([Mistake(file, line, f"is no valid YAML: {problem}")]) from error
    if root is None:
        raise ConfigError([Mistake(file, 0, "is empty; a script is a list of `rules`")])
    mistakes = [Mistake(file, line, message) for line, message in _find_repeated_keys(root, set())]
    try:
        script = Script.model_validate(value)
    except ValidationError as error:
        mistakes += [_explain(detail, root, file) for detail in error.errors()]
        raise ConfigError(mistakes) from error
    if mistakes:
        raise ConfigError(mistakes)
    return script


def _count_nodes(node: yaml.Node, counted: dict[int, int]) -> int:
    """How many nodes the document has once its aliases are written out."""
    if id(node) not in counted:
        counted[id(node)] = MAX_SCRIPT_NODES + 1  # Met again below itself, it never ends.
        children: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            children = node.value
        if isinstance(node, yaml.MappingNode):
            children = [part for pair in node.value for part in pair]
        counted[id(node)] = 1 + sum(_count_nodes(child, counted) for child in children)
    return counted[id(node)]


def _find_repeated_keys(node: yaml.Node, seen: set[int]) -> Iterator[tuple[int, str]]:
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _find_repeated_keys(item, seen)
    if isinstance(node, yaml.MappingNode):
        names: set[str] = set()
        for key, item in node.value:
            if key.value in names:
                yield key.start_mark.line + 1, f"`{key.value}` is given twice; keep one"
            names.add(key.value)
            yield from _find_repeated_keys(item, seen)


def _explain(detail: ErrorDetails, root: yaml.Node, file: str) -> Mistake:
    location = detail["loc"]
    if isinstance(root, yaml.SequenceNode) and location[:1] == ("rules",):
        line = _find_line(root, location[1:])
    else:
        line = _find_line(root, location)
    place = _spell(location) or "the script"
    return Mistake(file, line, f"{place}: {_word(detail)}")


def _word(detail: ErrorDetails) -> str:
    location = detail["loc"]
    if detail["type"] == "extra_forbidden":
        return _suggest_key(location)
    if detail["type"] == "missing":
        return "is missing"
    return detail["msg"].removeprefix("Value error, ")


def _suggest_key(location: Location) -> str:
    names = [part for part in location[:-1] if isinstance(part, str) and part in _KNOWN_BELOW]
    known = list(_KNOWN_BELOW[names[-1] if names else ""].model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    remedy = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(known)}"
    return f"is not known here; {remedy}"


def _spell(location: Location) -> str:
    spelled = ""
    for part in location:
        if isinstance(part, int):
            spelled += f"[{part}]"
        elif not part.endswith(("]", ")")):  # a branch of a union, no key of the file
            spelled += f".{part}" if spelled else part
    return spelled


def _find_line(root: yaml.Node, location: Sequence[int | str]) -> int:
    """The line of the deepest part of `location` that stands in the file."""
    node, line = root, root.start_mark.line + 1
    for part in location:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            if part >= len(node.value):
                break
            node = node.value[part]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
            if pair is None:
                continue
            node = pair[1]
            line = pair[0].start_mark.line + 1
    return line
