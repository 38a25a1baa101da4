"""OpenAI-compatible endpoints through the OpenAI SDK, without the weight of litellm."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents.llm.chunks import ChunkReader
from agents.llm.classify import classify
from agents.llm.deadlines import stream_within
from agents.llm.loose import loosen
from agents.llm.native_tools import offer_native_tools
from agents.llm.settings import ProviderSettings
from agents.llm.windows import find_input_limit
from agents.llm.wire import seal_fields, write_messages, write_tools
from agents.ports import LLMOptions
from agents.types import LLMEvent, Message, ToolSpec
from tarsy.errors import LLMError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

CONNECT_TIMEOUT = 10.0
WRITE_TIMEOUT = 30.0

_ClientKey = tuple[str, str]
# Connections belong to an event loop; the worker has one that lives as long as it does.
_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_ClientKey, AsyncOpenAI]]" = (
    WeakKeyDictionary()
)


class OpenAICompatible:
    """A model behind `{base_url}/chat/completions`."""

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

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncGenerator[LLMEvent, None]:
        reader = ChunkReader(self.model)
        request = self._write_request(messages, tools, options)
        for told in offer_native_tools(self._settings, messages, tools)[1]:
            yield told
        try:
            chunks = stream_within(lambda: self._open(request, options), options, model=self.model)
            async with aclosing(chunks):
                async for chunk in chunks:
                    for event in reader.read(chunk):
                        yield event
        except LLMError:
            raise
        except Exception as error:
            # The port promises LLMError and nothing else, whatever the SDK raises. Its error is
            # not carried along: addresses with keys stand in its text.
            raise classify(error, self._settings) from None
        for event in reader.finish(seal_fields(self.provider_name, {})):
            yield event

    @asynccontextmanager
    async def _open(
        self, request: Mapping[str, Any], options: LLMOptions
    ) -> AsyncGenerator[AsyncIterator[Any], None]:
        from openai import AsyncStream, Timeout

        client = _find_client(self._settings)
        timeout = Timeout(
            connect=CONNECT_TIMEOUT,
            write=WRITE_TIMEOUT,
            pool=WRITE_TIMEOUT,
            read=max(options.first_chunk_timeout, options.stall_timeout) + 5,
        )
        # Not `chat.completions.create`: building its models takes most of the time of a stream.
        stream = await client.post(
            "/chat/completions",
            cast_to=object,
            body=request,
            options={"timeout": timeout},
            stream=True,
            stream_cls=AsyncStream[object],
        )
        async with stream:
            yield (loosen(chunk) async for chunk in stream)

    def _write_request(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": write_messages(messages, provider_name=self.provider_name),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if tools:
            request["tools"] = write_tools(tools)
        if options.max_output_tokens is not None:
            request["max_tokens"] = options.max_output_tokens
        if self._settings.reasoning_effort is not None:
            request["reasoning_effort"] = self._settings.reasoning_effort
        return request


def load_openai() -> None:
    import openai  # noqa: F401


async def close_clients() -> None:
    """Close the connections of the running event loop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.close()


def _find_client(settings: ProviderSettings) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    key = (settings.base_url, settings.api_key)
    if key not in clients:
        clients[key] = AsyncOpenAI(
            # Servers without authentication get a word; without any the SDK looks for its own.
            api_key=settings.api_key or "none",
            base_url=settings.base_url,
            max_retries=0,
        )
    return clients[key]
