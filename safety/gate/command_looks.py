"""Whether a command has looked at a thing: by what its words ask for, and how it ended."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.types import JSON
from safety.commands.output_shape import Shape
from safety.commands.proof import prove
from safety.commands.questions.filters import keeps_what_is_read
from safety.commands.questions.question import Question
from safety.commands.questions.table import read_question
from safety.commands.script import (
    Chain,
    Command,
    Pipeline,
    Repeat,
    Sequence,
    Sink,
    Step,
    pipelines_of,
)
from safety.gate.states import leaves_of, says_state, tells_state
from safety.gate.written_objects import Written, find_row_names, find_rows

_SILENT = frozenset({"true", "sleep", "test"})
_LONGEST_ERROR = 4_000
_EMPTY = ("", "[]", "{}", "null")
ERROR = re.compile(
    r"(?mi)^(?:error\b|fatal\b|failed to |[\w.-]+: (?:.*: )?(?:error|cannot|no such))"
)


@dataclass(frozen=True)
class Output:
    """What a command printed. `code` and `errors` are None where nobody told them."""

    text: str
    code: int | None = None
    errors: str | None = None


def command_shows(command: str, output: Output, thing: Written) -> bool:
    """Whether a proven command was asked for the state of a thing, and told it."""
    script = prove(command).script
    if script is None:
        return False
    whole = tuple(pipelines_of(script))
    return any(
        _shows(pipeline, Output(output.text, code, output.errors), thing, _rest(whole, pipeline))
        for pipeline, code in _ended(script, output.code)
    )


def _rest(whole: tuple[Pipeline, ...], pipeline: Pipeline) -> tuple[Pipeline, ...]:
    return tuple(each for each in whole if each is not pipeline)


def _ended(step: Step, code: int | None) -> Iterator[tuple[Pipeline, int | None]]:
    """The pipelines that surely ran, each with its exit code where that is sure as well."""
    match step:
        case Pipeline():
            yield step, None if step.is_negated else code
        case Sequence():
            for before in step.steps[:-1]:
                yield from _ended(before, None)
            yield from _ended(step.steps[-1], code)
        case Repeat():
            yield from _ended(step.body, code)
        case Chain(left=left, operator="&&", right=right) if code == 0:
            yield from _ended(left, 0)
            yield from _ended(right, 0)
        case Chain(left=left, operator="||", right=Pipeline(commands=(Command(argv=("true",)),))):
            yield from _ended(left, None)


def _shows(pipeline: Pipeline, output: Output, thing: Written, rest: tuple[Pipeline, ...]) -> bool:
    first, *filters = pipeline.commands
    question = read_question(first)
    if question is None or not thing.is_in(question.scope.replace("*", "")):
        return False
    if question.cluster and question.cluster != thing.machine:
        return False
    if question.engine and thing.engines and question.engine not in thing.engines:
        return False
    if not all(keeps_what_is_read(each) for each in filters):
        return False
    named = [
        each for each in question.named
        if thing.is_called(each.name, each.kinds) and thing.is_in(each.scope)
    ]  # fmt: skip
    is_named = bool(named)
    code = output.code if not filters else None
    prints_more = not all(map(_is_quiet, rest))
    # That there is none in some other namespace, the default one say, proves nothing.
    is_same_scope = any(each.scope == thing.scope for each in named)
    if is_same_scope and _proves_gone(question, output, code, thing):
        return not rest
    if question.lists and (question.needs_row or not is_named):
        may_read = not prints_more and _may_read(first, filters, output)
        return may_read and _has_row(first, question, output, thing)
    if not is_named:
        return False
    if code == 0 and question.tells_by_code and (rest or not question.says_name):
        return True
    if prints_more or _says_gone(question, output.text, thing):
        return False
    if code is not None:
        is_error = code != 0 and ERROR.search(output.text) is not None
        return code in question.answers and not is_error and _tells(question, output, thing)
    is_told = not question.says_state or _page_says_state(output.text, thing)
    return is_told and _may_read(first, filters, output)


def _is_quiet(pipeline: Pipeline) -> bool:
    """Whether all that it prints was found as well, or it prints nothing."""
    first, *filters = pipeline.commands
    is_found = first.argv[0] in _SILENT or read_question(first) is not None
    return is_found and all(map(keeps_what_is_read, filters))


def _tells(question: Question, output: Output, thing: Written) -> bool:
    if question.says_state:
        return _page_says_state(output.text, thing)
    if not question.says_name:
        return bool(output.text.strip())
    words = [word.strip("()\"'.,:;") for word in output.text.split()]
    return len(words) > 1 and any(map(thing.is_called, words))


def _page_says_state(page: str, thing: Written) -> bool:
    try:
        answer: JSON = json.loads(page)
    except (ValueError, RecursionError):
        return page.strip().casefold() == "ok" or says_state(page, thing.names)
    leaves = leaves_of(answer if isinstance(answer, dict | list) else {"status": answer})
    return any(tells_state(leaf, thing.names, is_about_thing=True) for leaf in leaves)


def _may_read(first: Command, filters: list[Command], output: Output) -> bool:
    """Whether what was printed is an answer: an error is none, wherever it went."""
    if output.code not in (None, 0) or ERROR.search(output.text):
        return False
    if output.text.strip() in _EMPTY:
        return False
    if output.code is None and not filters:
        return not output.errors
    if any(each.shape is not Shape.LINES for each in filters):
        return output.errors == "" and first.stderr is Sink.ERRORS
    return not ERROR.search(output.errors or "")


def _proves_gone(question: Question, output: Output, code: int | None, thing: Written) -> bool:
    """Whether a command that found nothing shows that what was to be gone is gone."""
    is_running = "process" in _all_kinds(question)
    if code is None or code != question.gone or not (thing.removes or (thing.ends and is_running)):
        return False
    if not question.gone_says:
        return not output.errors
    return _says_gone(question, output.errors or output.text, thing)


def _says_gone(question: Question, said: str, thing: Written) -> bool:
    beginning = said[:_LONGEST_ERROR]
    return bool(question.gone_says) and any(
        re.search(question.gone_says.replace("{name}", re.escape(name)), beginning, re.MULTILINE)
        for name in thing.plain_names
    )


def _all_kinds(question: Question) -> frozenset[str]:
    return question.lists.union(*(each.kinds for each in question.named))


# ---- Rows ----------------------------------------------------------------------------------------


def _has_row(first: Command, question: Question, output: Output, thing: Written) -> bool:
    """Whether one of the rows is that of the thing, and not words of the command itself."""
    if any(_writes_name(word, thing) for word in first.argv[1:]):
        return False
    if (data := _read_rows(output.text)) is not None:
        return any(
            thing.is_called(name.removeprefix("/"), question.lists)
            for row in data
            for name, _ in find_row_names({key.lower(): value for key, value in row.items()})
        )
    is_everywhere = question.scope == "*" and thing.scope
    for line in output.text.splitlines():
        cells = line.split()
        if is_everywhere and cells[:1] != [thing.scope]:
            continue
        found = _cells_at(cells, question.columns)
        if len(cells) > 1 and any(_is_cell_of(cell, question, thing) for cell in found):
            return True
    return False


def _cells_at(cells: list[str], columns: tuple[int, ...]) -> list[str]:
    """The cells of these columns; of a row that is shorter, its first path, which is a program."""
    found = [cells[place] for place in columns if -len(cells) <= place < len(cells)]
    return found or [cell for cell in cells if cell.startswith("/")][:1]


def _writes_name(word: str, thing: Written) -> bool:
    """Whether a format of the output may hold the name by itself."""
    is_format = any(sign in word for sign in "%{}") or "custom-columns" in word
    return is_format and any(name in word.casefold() for name in thing.plain_names)


def _read_rows(text: str) -> list[Mapping[str, JSON]] | None:
    """The objects that were printed as JSON, in one document or one a line; None for a table."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        values = [json.loads(text)]
    except (ValueError, RecursionError):
        try:
            values = [json.loads(line) for line in text.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return None
    return [row for value in values for _, _, row in find_rows(value)]


def _is_cell_of(cell: str, question: Question, thing: Written) -> bool:
    kinds = question.lists
    if "process" in kinds:
        cell = cell.rstrip(":")
        names = [cell, *re.findall(r'"([^"]+)",pid=', cell)]
        if "/" in cell:
            names.append(cell.rpartition("/")[2])
        return any(thing.is_called(name, kinds) for name in names)
    kind, slash, name = cell.partition("/")
    if slash:
        return thing.is_called(name, frozenset({kind.partition(".")[0]}))
    return thing.is_called(cell, kinds)
