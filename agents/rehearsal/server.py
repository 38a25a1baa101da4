"""The HTTP side of a rehearsal: which rule answers, and a server to answer with."""

import json
import socket
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from typing_extensions import override

from agents.rehearsal.conversation import Conversation, read_conversation
from agents.rehearsal.dialects import PLAIN, DialectUnknown, find_dialect
from agents.rehearsal.dialects.dialect import Dialect
from agents.rehearsal.own_tools import OwnTools
from agents.rehearsal.playback import Holds, Playback, StreamPlayback, WholePlayback
from agents.rehearsal.rendering import TemplateFailed, render_reply
from agents.rehearsal.script import Pace, Reply, Rule, Script, When
from agents.rehearsal.strictness import Refused, find_refusal
from agents.rehearsal.wire import (
    Asked,
    encode_broken_stream,
    encode_error,
    encode_failure,
    encode_models,
)
from agents.rehearsal.wires import read_request, write_stream, write_whole
from agents.types import JSON

_JSON = "application/json"


@dataclass(frozen=True)
class LoggedRequest:
    """A request that was answered, and by which rule (None: by none)."""

    agent: str
    turn: int
    model: str
    rule: int | None
    body: dict[str, JSON] = field(repr=False)
    dialect: str = PLAIN
    fault: str = ""
    """Why a strict server refused it."""


class Rehearsal:
    """A script being played: what was used up, what is held, what was asked."""

    def __init__(self, script: Script, *, pace: float | None = None, keep: int = 500) -> None:
        self.script = script
        self.holds = Holds()
        self.requests: deque[LoggedRequest] = deque(maxlen=keep)
        self._used = [0] * len(script.rules)
        self._pace = pace

    async def list_models(self, request: Request) -> Response:
        name = request.path_params.get("dialect", PLAIN)
        try:
            models = self.script.models if name == PLAIN else find_dialect(name).models
        except DialectUnknown as error:
            return _refuse(str(error), status=404)
        return Response(encode_models(models), media_type=_JSON)

    async def release_hold(self, request: Request) -> Response:
        self.holds.release(request.path_params["name"])
        return Response(b"{}", media_type=_JSON)

    async def complete_chat(self, request: Request) -> Response | Playback:
        """Answer a request by the first rule that fits, as the dialect of its address does."""
        name = request.path_params.get("dialect", PLAIN)
        if request.url.path.endswith("/responses"):
            name = f"{name}-responses"
        try:
            dialect = find_dialect(name)
            body = json.loads(await request.body())
            chat = read_request(dialect, body, request.path_params.get("call", ""))
            conversation = read_conversation(chat)
        except DialectUnknown as error:
            return _refuse(str(error), status=404)
        except (ValueError, RecursionError) as error:
            return _refuse(f"not a chat completion request: {error}")
        refused = find_refusal(dialect, chat)
        position = None if refused else self._choose_rule(conversation)
        self.requests.append(
            LoggedRequest(
                agent=conversation.agent,
                turn=conversation.turn,
                model=conversation.model,
                rule=position,
                body=body,
                dialect=name,
                fault=refused.fault if refused else "",
            )
        )
        if refused:
            return _answer_refused(refused)
        if position is None:
            return _refuse(
                f"no rule of the script answers turn {conversation.turn} of agent "
                f"{conversation.agent or '(unnamed)'}; add one, or a last rule without `when`"
            )
        try:
            return self._play(self.script.rules[position].reply, conversation, dialect)
        except TemplateFailed as error:
            name = self.script.rules[position].name or f"rules[{position}]"
            return _refuse(f"a template of {name} failed: {error}", status=500)

    def _choose_rule(self, conversation: Conversation) -> int | None:
        for position, rule in enumerate(self.script.rules):
            if self._is_left(position, rule) and fits(rule.when, conversation):
                self._used[position] += 1
                return position
        return None

    def _is_left(self, position: int, rule: Rule) -> bool:
        return rule.times is None or self._used[position] < rule.times

    def _play(self, reply: Reply, conversation: Conversation, dialect: Dialect) -> Playback:
        reply, pace = _set_pace(reply, self.script.pace, self._pace)
        if reply.error is not None and reply.error_after is None:
            headers = dict(reply.error.headers)
            if reply.error.retry_after is not None:
                headers["retry-after"] = f"{reply.error.retry_after:g}"
            body, status = encode_error(reply.error, dialect), reply.error.status
            return WholePlayback(body, reply, pace, self.holds, status=status, headers=headers)
        answer = render_reply(self.script, reply, conversation)
        asked = Asked(
            dialect=dialect,
            model=conversation.model,
            includes_usage=conversation.includes_usage,
            prompt_characters=sum(len(turn.text) for turn in conversation.turns),
            thinks=conversation.thinks,
        )
        if not conversation.streams:
            return WholePlayback(write_whole(answer, reply, asked), reply, pace, self.holds)
        stream = write_stream(answer, reply, asked)
        if reply.error is not None and reply.error_after is not None:
            stream = encode_broken_stream(stream, reply.error, reply.error_after, dialect)
        return StreamPlayback(stream, reply, pace, self.holds)


def fits(when: When, conversation: Conversation) -> bool:
    """Whether a request looks as a rule demands."""
    if when.turn is not None and conversation.turn not in when.turn:
        return False
    if when.agent is not None and not when.agent.search(conversation.agent):
        return False
    if when.model is not None and not when.model.search(conversation.model):
        return False
    if when.tools is not None and not _offers(when.tools, conversation):
        return False
    if when.own_tools is not None and when.own_tools != OwnTools(conversation).are_used:
        return False
    if when.contains is not None and not when.contains.search(conversation.last_input):
        return False
    return when.anywhere is None or when.anywhere.search(conversation.whole) is not None


def _offers(demanded: Iterable[str], conversation: Conversation) -> bool:
    if not (demanded := tuple(demanded)):
        return not conversation.offered
    return all(conversation.offers(name) for name in demanded)


def _set_pace(reply: Reply, pace: Pace, override: float | None) -> tuple[Reply, Pace]:
    """Let an override (tokens per second, 0 for full speed) win over the script's own pace."""
    if override is None:
        return reply, pace
    unpaced: dict[str, object] = {"chunk_delay": None, "tokens_per_second": override or None}
    if not override:
        return reply.model_copy(update={**unpaced, "delay": 0.0}), Pace()
    return reply.model_copy(update=unpaced), pace


def _answer_refused(refused: Refused) -> Response:
    return Response(refused.body, status_code=refused.status, media_type=_JSON)


def _refuse(message: str, *, status: int = 400) -> Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    body = encode_failure(message, find_dialect(PLAIN), status=status, kind=kind)
    return Response(body, status_code=status, media_type=_JSON)


async def _say_healthy(_request: Request) -> Response:
    return Response(b'{"status": "ok"}', media_type=_JSON)


def build_app(script: Script, *, pace: float | None = None) -> Starlette:
    """An ASGI application that plays a script.

    `pace` overrides the script's: tokens per second, 0 for as fast as possible.
    """
    return mount(Rehearsal(script, pace=pace))


def mount(rehearsal: Rehearsal) -> Starlette:
    """The ASGI application of a rehearsal that is under way."""
    answer = rehearsal.complete_chat
    return Starlette(
        routes=[
            Route("/v1/chat/completions", answer, methods=["POST"]),
            Route("/v1/models", rehearsal.list_models),
            Route("/{dialect}/v1/chat/completions", answer, methods=["POST"]),
            Route("/{dialect}/v1/responses", answer, methods=["POST"]),
            Route("/{dialect}/v1/messages", answer, methods=["POST"]),
            Route("/{dialect}/v1/models/{call}", answer, methods=["POST"]),
            Route("/{dialect}/v1/models", rehearsal.list_models),
            Route("/healthz", _say_healthy),
            Route("/control/release/{name}", rehearsal.release_hold, methods=["POST"]),
        ]
    )


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=512)


def spell_url(listener: socket.socket) -> str:
    """The base URL to give to a client of the OpenAI API."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/v1" if ":" in host else f"http://{host}:{port}/v1"


class RehearsalServer(uvicorn.Server):
    """A uvicorn server that says when it is ready and does not wait for hanging replies."""

    def __init__(self, app: Starlette, on_ready: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                log_level="critical",  # A cut stream is no fault of the server: nothing to log.
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                # Longer than clients keep theirs, so that none is closed as it is used again.
                timeout_keep_alive=75,
                timeout_graceful_shutdown=1,
            )
        )
        self._on_ready = on_ready

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._on_ready()
