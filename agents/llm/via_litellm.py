"""Every provider through litellm, tamed: offline, silent, no retries of its own."""

import os
import re
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

from typing_extensions import override

from agents.llm.chunks import ChunkReader
from agents.llm.classify import only_llm_errors, refuse_key
from agents.llm.deadlines import Beat, stream_within
from agents.llm.learning import learning
from agents.llm.native_tools import NativeToolReader, offer_native_tools
from agents.llm.quirks import Quirks, find_quirks
from agents.llm.settings import ProviderSettings, ProviderType
from agents.llm.thinking import choose_thinking, is_image_model
from agents.llm.windows import find_input_limit
from agents.llm.wire import (
    open_fields,
    seal_fields,
    write_called_tools,
    write_messages,
    write_tools,
)
from agents.llm.wire_values import as_dict
from agents.llm_events import LLMEvent, UsageReported
from agents.ports import LLMOptions, RetryRule
from agents.types import JSON, Message, ToolSpec, Usage
from tarsy.errors import LLMError

READ_ONLY_WARNING = r"Items? '.* on TypedDict class '.* using the `ReadOnly` qualifier"
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else the import fetches prices from the network
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_OFFLINE_MODE": "true",
    "LITELLM_MODE": "PRODUCTION",  # else the import reads a .env file
    "LITELLM_LOG": "WARNING",
    "REPEATED_STREAMING_CHUNK_LIMIT": "1000000",  # we stop repetition ourselves
}
_SAID_END = re.compile(rb"[\r\n]data:[ \t]*\[DONE\]")
_LONGEST_END = 20
_REPLAY = "openai_responses_replay"
_PREFIXES: Mapping[ProviderType, str] = {
    "google": "gemini",
    "openai": "openai",
    "anthropic": "anthropic",
    "xai": "xai",
    "vertexai": "vertex_ai",
}


class ViaLitellm:
    """A model of Google, OpenAI, Anthropic, xAI or Vertex AI."""

    def __init__(self, settings: ProviderSettings) -> None:
        self._settings = settings

    @property
    def provider_name(self) -> str:
        return self._settings.provider_name

    @property
    def model(self) -> str:
        return self._settings.model

    @property
    def input_limit(self) -> int:
        return find_input_limit(self._settings)

    @property
    def retry_rule(self) -> RetryRule:
        return self._settings.retry_rule

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncGenerator[LLMEvent, None]:
        _check_readiness(self._settings)
        reader = ChunkReader(self.model, [tool.wire_name for tool in tools])
        fields = _ProviderFields()
        native = NativeToolReader()
        offered, withheld = offer_native_tools(self._settings, messages, tools)
        for told in withheld:
            yield told
        times = self._settings.times.within(options)
        quirks = find_quirks(self._settings)
        request = self._write_request(messages, tools, offered, options, quirks)
        request["timeout"] = times.call + 5
        end = _End()
        with only_llm_errors(self._settings), learning(self._settings, request, quirks):
            opened = partial(_open, request, native, options, end)
            chunks = stream_within(opened, times, model=self.model)
            async with aclosing(chunks):
                async for chunk in chunks:
                    fields.take(chunk)
                    for event in reader.read(chunk):
                        yield self._price(event)
            if end.is_said:
                reader.end()
        for told in native.tell():
            yield told
        for event in reader.finish(seal_fields(self.provider_name, fields.collect())):
            yield event

    def _write_request(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        native_tools: list[dict[str, JSON]],
        options: LLMOptions,
        quirks: Quirks,
    ) -> dict[str, Any]:
        settings = self._settings
        functions = [] if is_image_model(settings.model) else write_tools(tools)
        offered = functions or native_tools
        is_kept = quirks.keeps_tools or _came_by_responses(messages, self.provider_name)
        kept = write_called_tools(messages) if is_kept and not offered else []
        request: dict[str, Any] = {
            "model": _qualify(settings),
            "messages": write_messages(messages, provider_name=self.provider_name, quirks=quirks),
            "stream": True,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": True,
        }
        optional = {
            "api_key": settings.api_key,
            "api_base": settings.base_url,
            "vertex_project": settings.vertex_project,
            "vertex_location": settings.vertex_location,
            "vertex_credentials": settings.vertex_credentials,
            "max_tokens": options.max_output_tokens,
            "stream_options": {"include_usage": True} if quirks.stream_options else None,
            "tools": offered or kept,
            "tool_choice": "none" if kept and quirks.tool_choice else None,
            **self._choose_thinking(messages, options, quirks, has_tools=bool(offered or kept)),
        }
        return request | {name: value for name, value in optional.items() if value}

    def _choose_thinking(
        self, messages: Sequence[Message], options: LLMOptions, quirks: Quirks, *, has_tools: bool
    ) -> dict[str, Any]:
        chosen = choose_thinking(self._settings, messages, options.max_output_tokens)
        if has_tools and not quirks.thinks_with_tools:
            chosen = {"reasoning_effort": "none"}
        if not quirks.reasoning_effort:
            chosen.pop("reasoning_effort", None)
        return chosen

    def _price(self, event: LLMEvent) -> LLMEvent:
        if not isinstance(event, UsageReported):
            return event
        cost = _find_cost(_qualify(self._settings), event.usage)
        return UsageReported(replace(event.usage, cost_usd=cost))


def _came_by_responses(messages: Sequence[Message], provider_name: str) -> bool:
    """Whether OpenAI answered by its newer API, which litellm asks where there are tools alone.

    It wants its thoughts back there, and the older one refuses them.
    """
    fields = (open_fields(each.provider_fields, provider_name) for each in messages)
    return any(_REPLAY in as_dict(each.get("provider_specific_fields")) for each in fields)


def _check_readiness(settings: ProviderSettings) -> None:
    if settings.type == "vertexai":
        if find_spec("google") is None or find_spec("google.auth") is None:
            raise LLMError(
                "credentials",
                f"The provider {settings.provider_name} needs the Python package google-auth to "
                "sign in to Vertex AI, and it is not installed.",
            )
    elif not settings.api_key:
        # litellm would look for a key of its own in the environment.
        raise refuse_key(None, settings)


@cache
def load_litellm() -> Any:
    """Import litellm with everything switched off that reaches out or prints."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    # Its types make pydantic warn whenever one of them is first used.
    warnings.filterwarnings("ignore", message=READ_ONLY_WARNING, category=UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.callbacks = []
    litellm.disable_aiohttp_transport = True  # one HTTP library, whose errors we know
    litellm.disable_token_counter = True  # it counts what no provider told; see _read_provider
    # Each call hands litellm's tokenizer (42 MB) to readers of answers that come in one piece.
    litellm.main._encoding_cache = _RoughTokenizer()  # type: ignore[assignment]
    return litellm


class _RoughTokenizer:
    """Stands where litellm keeps its tokenizer; a streamed answer is never counted with it."""

    def encode(self, text: str, **_options: object) -> list[int]:
        return [0] * (len(text) // 4)


@asynccontextmanager
async def _open(
    request: Mapping[str, Any],
    native: NativeToolReader,
    options: LLMOptions,
    end: "_End",
    beat: Beat,
) -> AsyncGenerator[AsyncIterator[Any], None]:
    litellm = load_litellm()
    await options.before_request()
    stream = await litellm.acompletion(**request)
    _watch_connecting(stream, native, options)
    try:
        yield _read_provider(stream, end, beat)
    finally:
        await stream.aclose()


def _watch_connecting(stream: Any, native: NativeToolReader, options: LLMOptions) -> None:
    """Some providers are asked only when their stream is read: have the last word before that.

    And let Google's chunks be seen before litellm, which drops the code a model ran, reads them.
    """
    connect = getattr(stream, "make_call", None)
    if connect is None:
        return

    async def connect_and_show(*args: Any, **named: Any) -> Any:
        await options.before_request()
        chunks = await connect(*args, **named)
        parse = getattr(chunks, "chunk_parser", None)
        if parse is not None:

            def parse_and_show(chunk: Any) -> Any:
                native.take(chunk)
                return parse(chunk)

            chunks.chunk_parser = parse_and_show
        return chunks

    stream.make_call = connect_and_show


async def _read_provider(stream: Any, end: "_End", beat: Beat) -> AsyncIterator[Any]:
    """The chunks as litellm's reader of this provider gives them.

    Not through the wrapper around it: that takes two thirds of the time of a token, invents a good
    end for a stream that was cut, and a usage where none was told.
    """
    chunks = await stream.fetch_stream()
    _listen(chunks, end, beat)
    async for chunk in chunks:
        beat()
        if hasattr(chunk, "choices"):  # what is no answer stands for a line that says nothing
            yield chunk


class _End:
    """Looks in the bytes of a stream for the word that this is all, which an SDK keeps to itself.

    JSON has no line end within a text, so that no model can say it.
    """

    def __init__(self) -> None:
        self.is_said = False
        self._last = b"\n"

    def look(self, packet: bytes) -> None:
        read = self._last + packet
        self.is_said = self.is_said or _SAID_END.search(read) is not None
        self._last = read[-_LONGEST_END:]


def _listen(chunks: Any, end: _End, beat: Beat) -> None:
    """Hear each packet where the SDK of OpenAI would keep comments and blank lines to itself."""
    from httpx import AsyncByteStream, Response

    response = getattr(chunks, "response", None)
    if not isinstance(response, Response) or not isinstance(response.stream, AsyncByteStream):
        return
    packets = response.stream

    class Heard(AsyncByteStream):
        @override
        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for packet in packets:
                beat()
                end.look(packet)
                yield packet

        @override
        async def aclose(self) -> None:
            await packets.aclose()

    response.stream = Heard()


class _ProviderFields:
    """What must be replayed to the provider and is neither text nor call: signatures."""

    def __init__(self) -> None:
        self._chunks: list[Any] = []
        self._specific: dict[str, JSON] = {}

    def take(self, chunk: Any) -> None:
        for choice in chunk.choices or ():
            specific = getattr(choice.delta, "provider_specific_fields", None)
            if isinstance(specific, dict):
                self._merge(specific)
            if getattr(choice.delta, "thinking_blocks", None):
                self._chunks.append(chunk)

    def collect(self) -> dict[str, JSON]:
        fields: dict[str, JSON] = {}
        if self._specific:
            fields["provider_specific_fields"] = self._specific
        blocks = self._join_thinking_blocks()
        if blocks:
            fields["thinking_blocks"] = blocks
        return fields

    def _merge(self, specific: Mapping[str, JSON]) -> None:
        for name, value in specific.items():
            if name == "thinking_blocks":
                continue  # told a second time here, in pieces
            known = self._specific.get(name)
            if isinstance(known, list) and isinstance(value, list):
                self._specific[name] = [*known, *value]
            elif value is not None:
                self._specific[name] = value

    def _join_thinking_blocks(self) -> list[JSON]:
        """Signed blocks of thinking; a signature closes the block that streamed before it."""
        blocks: list[JSON] = []
        text: list[str] = []
        for chunk in self._chunks:
            for part in chunk.choices[0].delta.thinking_blocks:
                if part.get("type") == "redacted_thinking":
                    blocks.append(dict(part))
                    continue
                text.append(part.get("thinking") or "")
                if part.get("signature"):
                    blocks.append(
                        {
                            "type": "thinking",
                            "thinking": "".join(text),
                            "signature": part["signature"],
                        }
                    )
                    text = []
        return blocks


def _qualify(settings: ProviderSettings) -> str:
    return f"{_PREFIXES[settings.type]}/{settings.model}"


def _find_cost(model: str, usage: Usage) -> float | None:
    """Dollars from the bundled price list; None for a model it does not price."""
    try:
        prompt, completion = load_litellm().cost_per_token(
            model=model,
            prompt_tokens=usage.input_tokens or 0,
            completion_tokens=usage.output_tokens or 0,
        )
    except Exception:
        # litellm raises a bare Exception subclass for unknown models.
        return None
    return (prompt + completion) or None
