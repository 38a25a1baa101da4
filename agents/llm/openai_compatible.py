"""OpenAI-compatible endpoints over plain HTTP, without the weight of an SDK."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from agents.llm.chunks import ChunkReader
from agents.llm.classify import only_llm_errors
from agents.llm.deadlines import Beat, stream_within
from agents.llm.http import Packet, post_for_events
from agents.llm.learning import learning
from agents.llm.native_tools import offer_native_tools
from agents.llm.quirks import Quirks, find_quirks
from agents.llm.settings import ProviderSettings
from agents.llm.windows import find_input_limit
from agents.llm.wire import seal_fields, write_called_tools, write_messages, write_tools
from agents.llm_events import LLMEvent
from agents.ports import LLMOptions, RetryRule
from agents.types import Message, ToolSpec


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

    @property
    def retry_rule(self) -> RetryRule:
        return self._settings.retry_rule

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], options: LLMOptions
    ) -> AsyncGenerator[LLMEvent, None]:
        reader = ChunkReader(self.model, [tool.wire_name for tool in tools])
        quirks = find_quirks(self._settings)
        request = self._write_request(messages, tools, options, quirks)
        for told in offer_native_tools(self._settings, messages, tools)[1]:
            yield told
        with only_llm_errors(self._settings), learning(self._settings, request, quirks):
            packets = stream_within(
                partial(self._open, request, options),
                self._settings.times.within(options),
                model=self.model,
            )
            async with aclosing(packets):
                async for packet in packets:
                    for chunk in packet.events:
                        for event in reader.read(chunk):
                            yield event
                    if packet.is_end:
                        reader.end()
            fields = seal_fields(self.provider_name, *reader.collect_wanted())
            for event in reader.finish(fields):
                yield event

    def _open(
        self, request: dict[str, Any], options: LLMOptions, beat: Beat
    ) -> AbstractAsyncContextManager[AsyncIterator[Packet]]:
        base = urlsplit(self._settings.base_url)
        url = base._replace(path=f"{base.path.rstrip('/')}/chat/completions").geturl()
        # Servers without authentication get a word; a user in the address is one.
        headers = {"Authorization": f"Bearer {self._settings.api_key or 'none'}"}
        return post_for_events(
            url,
            body=request,
            headers={} if base.username else headers,
            before_request=options.before_request,
            beat=beat,
        )

    def _write_request(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        options: LLMOptions,
        quirks: Quirks,
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": write_messages(messages, provider_name=self.provider_name, quirks=quirks),
            "stream": True,
        }
        if quirks.stream_options:
            request["stream_options"] = {"include_usage": True}
        if tools:
            request["tools"] = write_tools(tools)
        elif quirks.keeps_tools and (called := write_called_tools(messages)):
            request["tools"] = called
            if quirks.tool_choice:
                request["tool_choice"] = "none"
        if options.max_output_tokens is not None:
            name = "max_completion_tokens" if quirks.max_completion_tokens else "max_tokens"
            request[name] = options.max_output_tokens
        effort: str | None = self._settings.reasoning_effort
        if "tools" in request and not quirks.thinks_with_tools:
            effort = "none"
        if effort is not None and quirks.reasoning_effort:
            request["reasoning_effort"] = effort
        return request
