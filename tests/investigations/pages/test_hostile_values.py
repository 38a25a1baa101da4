"""Whatever stands in a row, every address still answers: no stored value makes a page fail."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from traceback import extract_tb
from typing import Any

import pytest
from django.db import connection, models, transaction
from django.http import HttpResponseBase
from django.test import Client

from investigations.models import (
    AlertSession,
    ApprovalRequest,
    Event,
    LLMInteraction,
    MCPInteraction,
    Message,
    ResourceNote,
    Stage,
    TimelineEvent,
)
from investigations.rendering.markdown import render_markdown
from investigations.roles import create_roles
from investigations.stream.fragments import fragments_for
from tests.factories import (
    ApprovalRequestFactory,
    AuditEventFactory,
    ChatFactory,
    ChatUserMessageFactory,
    EventFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    ResourceNoteFactory,
    SessionFactory,
    TimelineEventFactory,
    UserFactory,
)
from tests.test_access import ALL

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

ROOT = Path(__file__).parents[3]
DEPTH = 900
LARGEST_PAGE = 4_000_000
"""Bytes of HTML, with what is escaped in it, for thirty events."""
BIDI = "pay \u202e\u2066gnp.exe\u2069\u200b\u00ad\x1b[31m\x1b]0;t\x07\x08\x85\ufeff"


def _nested(levels: int, inside: str = "1") -> str:
    return '{"a": [' * (levels // 2) + inside + "]}" * (levels // 2)


WIDE = json.dumps({f"key {n}": n for n in range(10_000)})
KEYS = json.dumps(
    {"": 1, " ": [], "0": {}, "12": "x", "__class__": "y", "items": "of", "keys": 3, "values": None,
     "count": {"items": 5}, "<img src=x>": "&", "name\n\u202e": "z", "toString": []}
)  # fmt: skip
# What tools, models and senders may say; each stands in every text of a session at once.
TEXTS: dict[str, str] = {
    "nested lists": "[" * DEPTH + "]" * DEPTH,
    "nested objects": _nested(DEPTH),
    "nested as deep as Python reads": _nested(950),
    "nested out of all reason": "[" * 50_000,
    "nested in a refusal": '{"ok": false, "error": {"code": "X", "details": '
    + _nested(DEPTH)
    + "}}",
    "a refusal of nothing": '{"ok": false, "error": [1], "blocked": true}',
    "a refusal in other types": '{"ok": false, "error": {"code": [], "message": {}, "blocked": 7, '
    '"details": {"verdict": "denied", "reason": [], "decided_by": {}}}}',
    "wide below deep": _nested(90, ",".join(["1"] * 40_000)),
    "no numbers": '{"a": NaN, "b": [Infinity, -Infinity], "c": 1e999}',
    "a number of 5,000 digits": '{"a": ' + "9" * 5000 + "}",
    "a number of 400 digits": '{"a": -' + "9" * 400 + "}",
    "half a surrogate pair": r'{"\ud83d": "\ud800", "b": ["\udfff"]}',
    "NUL in JSON": r'{"a\u0000b": "\u0000"}',
    "bidi and controls": BIDI,
    "bidi in JSON": json.dumps({BIDI: BIDI}),
    "one word": "x" * 100_000,
    "ten thousand keys": WIDE,
    "odd keys": KEYS,
    "html": "<script>alert(1)</script>\"'><img src=x onerror=y> {{ 7 }} {% now %} &#0; <!--",
    "quotes in quotes": ">" * 2_000 + " x\n\n" + "".join(f"{'  ' * n}- x\n" for n in range(300)),
    "stars and brackets": "*" * 10_000 + "[" * 10_000 + "](" * 10_000 + "`" * 5_001 + "_a" * 5_000,
    "tables": "|a" * 3_000 + "|\n" + "|-" * 3_000 + "|\n" + "|b|\n" * 500,
    "citations": "[T1] [T999999] [T1; T2" + ", T3" * 3_000 + "] [T99999999999999999999]",
    "links": "http://" * 3_000 + " [a](javascript:x) http://[::1 http://a@b:x " + "www." * 2_000,
    "an empty text": "",
    "blanks": " \t\r\n" * 1_000,
    "marks": "e" + "\u0301" * 20_000 + "\u0e47" * 5_000,
}
# What a JSON column may hold, as PostgreSQL takes it: in place of each leaf.
VALUES: dict[str, str] = {
    "nested lists": "[" * DEPTH + "]" * DEPTH,
    "nested objects": _nested(1_200),
    "a number of 400 digits": "1e400",
    "a number of 5,000 digits": "-1e5000",
    "a fraction of 400 digits": "0." + "1" * 400,
    "odd keys": KEYS,
    "null": "null",
    "true": "true",
    "a list": '[null, 1, "x", {"a": []}]',
}
# What stands where one of our own values should, of a type that it never has.
TYPES = (
    "{}", "[]", '{"a": 1}', "[[], {}]", "-1", "0.5", "true", "false", "null", '""', '"x"', '"7"',
    "1" * 40, '[{"a": null}]', '{"at": "x", "steps": 7, "status": {}, "reason": [1]}',
)  # fmt: skip
TURNS = 6
"""In each turn every place holds another value."""
READ_OF_METADATA = re.compile(r"""metadata(?:\.get\(|\[|\.|__)["']?([a-z_]+)""")


@cache
def _names_in_metadata() -> list[str]:
    """Whatever is read anywhere of what stands beside an event."""
    places = [*ROOT.glob("investigations/**/*.py"), *ROOT.glob("templates/**/*.html")]
    found = {name for each in places for name in READ_OF_METADATA.findall(each.read_text())}
    return sorted(found - {"get", "items", "values", "contains", "has_key"})


# What we make ourselves.
NOT_FOREIGN = {"content_html", "channel", "prefix", "key_hash", "digest", "tool_call_id"}


@dataclass(frozen=True)
class Story:
    """One of each kind of row, all of one session that has ended, and one that runs."""

    session: AlertSession
    running: AlertSession
    rows: list[models.Model]

    def first(self, kind: type[models.Model]) -> models.Model:
        return next(row for row in self.rows if isinstance(row, kind))


@pytest.fixture
def story() -> Story:
    create_roles()
    rows: list[models.Model] = []
    sessions = [SessionFactory(completed=True), SessionFactory(running=True)]
    for session in sessions:
        rows += _tell(session)
    return Story(*sessions, rows)


def _tell(session: AlertSession) -> list[models.Model]:
    has_ended = session.status == AlertSession.Status.COMPLETED
    ended = {"completed": True} if has_ended else {"active": True}
    execution = ExecutionFactory(
        stage__session=session, **{f"stage__{k}": v for k, v in ended.items()}, **ended
    )
    failed = ExecutionFactory(stage=execution.stage, failed=True)
    rows = [session, execution.stage, execution, failed]
    call = LLMInteractionFactory(execution=execution)
    tool = MCPInteractionFactory(
        execution=execution, available_tools=[{"name": "query", "description": "reads"}]
    )
    of = {"execution": execution}
    message = MessageFactory(
        **of, tool_calls=[{"id": "1", "name": "ops__query", "arguments": '{"kind": "pods"}'}]
    )
    rows += [
        call, tool, message,
        LLMInteractionFactory(**of, iteration=2, last_message_id=message.pk, error_message="x",
                              response_metadata={"code": "429"}),
        MessageFactory(**of, role=Message.Role.TOOL, tool_number=1, tool_name="ops__query"),
        TimelineEventFactory(**of, tool_call=True, mcp_interaction_id=tool.pk),
        TimelineEventFactory(**of, tool_call=True, status=TimelineEvent.Status.FAILED),
        ApprovalRequestFactory(
            **of, tool_number=2, reason="because", preview={"action": "restart",
            "current_state": "up", "origins": ["a"], "commands": ["x"], "effects": ["y"],
            "verification": ["z"], "masked": 1, "undo": "no", "risk": "low", "change": {
                "path": "/a", "asked_path": "/b", "state": "s", "added": 1, "removed": 1,
                "left_out": 1, "size_after": 1, "exists": True, "facts": {"mode": "0644"},
                "rows": [{"kind": "add", "old": 1, "new": 2, "text": "t", "note": "n"}] * 3}},
            **({"approved": True} if has_ended else {}),
        ),
        ResourceNoteFactory(**of, session=session),
        AuditEventFactory(target_id=str(session.pk)),
    ]  # fmt: skip
    if has_ended:
        kinds = set(TimelineEvent.Type) - {TimelineEvent.Type.LLM_TOOL_CALL}
        rows += [TimelineEventFactory(**of, event_type=kind) for kind in sorted(kinds)]
        chat = ChatFactory(session=session)
        rows += [chat, ChatUserMessageFactory(chat=chat)]
    else:
        rows.append(TimelineEventFactory(**of, streaming=True))
    rows += [EventFactory(session=session) for _ in range(2)]
    return rows


# ---- Putting values into rows -------------------------------------------------------------------


class Turn:
    """Gives each place the next of all values, so that many meet in one story."""

    def __init__(self, turn: int) -> None:
        self._places = count(turn * 5)
        self._texts = list(TEXTS.values())
        self._values = [*VALUES.values(), *map(json.dumps, self._texts), *TYPES]

    def text(self) -> str:
        return self._texts[next(self._places) % len(self._texts)]

    def coin(self) -> bool:
        return next(self._places) % 2 == 0

    def value(self) -> str:
        return self._values[next(self._places) % len(self._values)]


def fill(story: Story, turn: Turn) -> None:
    """A text in every text of every row, a value at every place of every JSON column."""
    for row in story.rows:
        if row._meta.model_name == "auditevent":
            AuditEventFactory(target_id=row.target_id, details={"reason": turn.text(), "n": 1})
            continue
        names = [field for field in row._meta.concrete_fields if _is_foreign(field)]
        values = [_value_for(row, field, turn) for field in names]
        sets = ", ".join(
            f'"{field.column}" = %s' + ("::jsonb" if isinstance(field, models.JSONField) else "")
            for field in names
        )
        with connection.cursor() as cursor:
            cursor.execute(
                f'UPDATE "{row._meta.db_table}" SET {sets} WHERE id = %s', [*values, row.pk]
            )
        if isinstance(row, TimelineEvent) and row.event_type in TimelineEvent.MARKDOWN:
            row.refresh_from_db(fields=["content"])
            row.content_html = render_markdown(row.content)
            row.save(update_fields=["content_html"])


def _is_foreign(field: models.Field[Any, Any]) -> bool:
    is_text = isinstance(field, models.TextField | models.CharField) and not field.choices
    return (is_text or isinstance(field, models.JSONField)) and field.name not in NOT_FOREIGN


def _value_for(row: models.Model, field: models.Field[Any, Any], turn: Turn) -> str:
    if not isinstance(field, models.JSONField):
        text = turn.text()
        if isinstance(row, ResourceNote):
            text = text.strip()[:500] or "nothing"
        return text[: field.max_length]
    kept = getattr(row, field.name)
    if isinstance(row, TimelineEvent):
        kept = dict.fromkeys(_names_in_metadata()) | kept
        kept |= (
            {"writes": {"at": 1, "steps": [{"tool": 1, "is_settled": 2}]}} if turn.coin() else {}
        )
    if isinstance(row, Event):
        values = f'"content": {turn.value()}, "metadata": {{"x": {turn.value()}}}'
        return f"{json.dumps(kept)[:-1]}, {values}}}"
    return _fill_json(kept, turn)


def _fill_json(kept: object, turn: Turn) -> str:
    """The same shape with a value for each leaf, and one under a name that templates know."""
    if isinstance(kept, Mapping):
        pairs = [f"{json.dumps(name)}: {_fill_json(inner, turn)}" for name, inner in kept.items()]
        return "{" + ", ".join([*pairs, f'"items": {turn.value()}']) + "}"
    if isinstance(kept, list):
        return "[" + ", ".join(_fill_json(inner, turn) for inner in kept) + "]"
    return turn.value()


# ---- Asking -------------------------------------------------------------------------------------


QUERIES = {
    "fragments/recent/": ("?q=a", "?after=1"),
    "/events/": ("?before=99", "?after=0", "?around=3"),
    "/search/": ("?q=a", "?q=%22"),
    "/place/": ("?event=e-1",),
    "/timeline": ("?limit=100",),
    "api/v1/sessions": ("?search=a",),
    "sessions/retry/": ("?session={session}",),
    "sessions/cancel/": ("?session={session}",),
    "sessions/delete/": ("?session={session}",),
    "submit-alert/": ("?again={session}",),
}
_PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")


def addresses(story: Story, session: AlertSession) -> Iterator[str]:
    """Every address there is, with the ids of this session's rows, and with what may be asked."""
    of = [row for row in story.rows if getattr(row, "session_id", row.pk) == session.pk]
    for pattern in ALL:
        pattern = pattern.replace("(?P<url>.*)$", "nothing/")
        pattern = pattern.replace("^(?P<app_label>auth|investigations)/$", "investigations/")
        if pattern in ("logout/", "admin/logout/"):
            continue
        for address in _with_ids(pattern, session, of):
            yield "/" + address
            for part, queries in QUERIES.items():
                if f"/{address}".endswith(part):
                    yield from (f"/{address}{each}".format(session=session.pk) for each in queries)


def _with_ids(pattern: str, session: AlertSession, of: list[models.Model]) -> Iterator[str]:
    named = set(_PARAMETER.findall(pattern))
    known: dict[str, list[object]] = {
        "session_id": [session.pk], "memory_id": [session.pk], "group": ["reviewed"],
        "name": ["none"], "token": ["none"], "content_type_id": [1],
        "format_name": ["csv", "json"], "place": [1, 2],
        "stage_id": _ids(of, Stage), "event_id": _ids(of, TimelineEvent),
        "approval_id": _ids(of, ApprovalRequest),
        "interaction_id": _ids(of, LLMInteraction, MCPInteraction),
        "execution_id": [row.pk for row in of if row._meta.model_name == "agentexecution"],
        "object_id": _objects(pattern, of),
    }  # fmt: skip
    found = [pattern]
    for name in named:
        found = [
            re.sub(rf"<(?:\w+:)?{name}>", str(value), each)
            for each in found
            for value in known.get(name, [1])
        ]
    yield from found


def _ids(of: list[models.Model], *kinds: type[models.Model]) -> list[object]:
    return [row.pk for row in of if isinstance(row, kinds)]


def _objects(pattern: str, of: list[models.Model]) -> list[object]:
    found = re.match(r"admin/investigations/(\w+)/", pattern)
    return [row.pk for row in of if found and row._meta.model_name == found[1]][:3] or [1]


def ask_everything(story: Story, client: Client) -> list[str]:
    """What failed, and how; the addresses that answer with more than they may."""
    wrong = []
    of_both = [*addresses(story, story.session), *addresses(story, story.running)]
    for address in dict.fromkeys(of_both):
        size = 0
        try:
            with transaction.atomic():
                answer = client.get(address, headers={"accept": "*/*"})
                size = len(read_whole(answer))
            error = _tell_error(answer.exc_info[1]) if getattr(answer, "exc_info", None) else ""
        except Exception as problem:
            error = _tell_error(problem)
        if answer.status_code >= 500 or error:
            wrong.append(f"{address}: {answer.status_code} {error}")
        if size > LARGEST_PAGE and not _gives_all(address):
            wrong.append(f"{address}: {size:,} bytes, at most {LARGEST_PAGE:,} are fit for a page")
    return wrong


def _tell_error(error: BaseException) -> str:
    of_ours = [
        f"{Path(frame.filename).name}:{frame.lineno}"
        for frame in extract_tb(error.__traceback__)
        if frame.filename.startswith(str(ROOT)) and ".venv" not in frame.filename
    ]
    return f"{error!r:.200} at {' '.join(of_ours[-3:])}"


def _gives_all(address: str) -> bool:
    return "/export" in address or address.endswith(("/timeline", "?limit=100"))


def read_whole(answer: HttpResponseBase) -> bytes:
    return b"".join(answer.streaming_content) if answer.streaming else answer.content


def make_fragments(story: Story) -> list[str]:
    wrong = []
    for session in (story.session, story.running):
        for payload in _payloads(story, session):
            try:
                [fragment] = fragments_for([payload])
                (fragment or "").encode()
            except Exception as problem:
                wrong.append(f"{payload['type']}: {_tell_error(problem)}")
    return wrong


def _payloads(story: Story, session: AlertSession) -> Iterator[dict[str, Any]]:
    about = {"session_id": str(session.pk)}
    yield {"type": "session.status", **about}
    for row in story.rows:
        if getattr(row, "session_id", None) != session.pk:
            continue
        if isinstance(row, TimelineEvent):
            yield {"type": "timeline_event.completed", "event_id": str(row.pk), **about}
        elif isinstance(row, Stage):
            yield {"type": "stage.status", "stage_id": str(row.pk), **about}
        elif row._meta.model_name == "agentexecution":
            yield {"type": "execution.status", "execution_id": str(row.pk), **about}
        elif isinstance(row, ApprovalRequest):
            yield {"type": "approval.requested", "approval_id": str(row.pk),
                   "execution_id": str(row.execution_id), **about}  # fmt: skip


@pytest.fixture
def person(settings) -> Client:
    settings.TARSY_AUTH = "login"
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(UserFactory(admin=True))
    return client


@pytest.mark.timeout(300)
@pytest.mark.parametrize("turn", range(TURNS))
def test_no_stored_value_makes_any_address_fail(story, person, turn):
    fill(story, Turn(turn))

    wrong = ask_everything(story, person) + make_fragments(story)

    assert not wrong, "\n".join(wrong)
