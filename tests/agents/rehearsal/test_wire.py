import asyncio
import json
import urllib.request

import httpx
import openai
import pytest

from tests.agents.rehearsal.asking import ask, listen_to, user

pytestmark = pytest.mark.slow

TALKATIVE = """
rules:
  - reply:
      thinking: First I look at the disks, then at the memory.
      text: "Looking at\\n\\n  two things — now."
      tool_calls:
        - {name: ops__storage, arguments: {action: usage, depth: 3, paths: [/var, /tmp]}}
        - {name: ops__metrics, arguments: '{"action": '}
      usage: {input_tokens: 1000, output_tokens: 50, thinking_tokens: 20, cached_tokens: 600}
"""


async def test_streamed_thinking_text_calls_and_usage_arrive_whole(rehearse, connect):
    client = await connect(rehearse(TALKATIVE))

    heard = await listen_to(client, [user()])

    assert heard.thinking == "First I look at the disks, then at the memory."
    assert heard.text == "Looking at\n\n  two things — now."
    assert [call["name"] for call in heard.calls] == ["ops__storage", "ops__metrics"]
    assert json.loads(heard.calls[0]["arguments"]) == {
        "action": "usage",
        "depth": 3,
        "paths": ["/var", "/tmp"],
    }
    assert heard.calls[1]["arguments"] == '{"action": '
    assert heard.calls[0]["id"] != heard.calls[1]["id"]
    assert heard.finish_reasons == ["tool_calls"]
    assert heard.usage.prompt_tokens == 1000
    assert heard.usage.completion_tokens == 50
    assert heard.usage.completion_tokens_details.reasoning_tokens == 20
    assert heard.usage.prompt_tokens_details.cached_tokens == 600


async def test_an_answer_without_streaming_is_the_same_answer(rehearse, connect):
    client = await connect(rehearse(TALKATIVE))

    answer = await client.chat.completions.create(model="any", messages=[user()])

    message = answer.choices[0].message
    assert message.content == "Looking at\n\n  two things — now."
    assert message.reasoning_content == "First I look at the disks, then at the memory."
    assert [call.function.name for call in message.tool_calls] == ["ops__storage", "ops__metrics"]
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage.total_tokens == 1050
    assert answer.model == "any"


async def test_no_usage_is_streamed_to_a_client_that_did_not_ask(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: hello}}]"))

    heard = await listen_to(client, [user()], stream_options={"include_usage": False})

    assert heard.text == "hello"
    assert heard.finish_reasons == ["stop"]
    assert heard.usage is None


async def test_a_provider_without_usage_reports_none(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: hello, usage: false}}]"))

    assert (await listen_to(client, [user()])).usage is None


async def test_usage_is_estimated_when_the_script_does_not_state_it(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: 12345678}}]".replace("12345678", "abcdefgh")))

    heard = await listen_to(client, [user("sixteen letters!")])

    assert heard.usage.prompt_tokens == 4
    assert heard.usage.completion_tokens == 2


async def test_chunk_size_decides_how_many_chunks_carry_a_text(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: abcdefghij, chunk_size: 3}}]"))

    heard = await listen_to(client, [user()], stream_options={"include_usage": False})

    assert heard.text == "abcdefghij"
    assert heard.chunks == 1 + 4 + 1  # role, content, finish


async def test_a_paced_answer_arrives_whole(rehearse, connect):
    script = "[{reply: {text: one two three, delay: 0.01, tokens_per_second: 500}}]"
    client = await connect(rehearse(script))

    assert (await listen_to(client, [user()])).text == "one two three"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
@pytest.mark.parametrize("stream", [True, False])
async def test_a_scripted_error_is_the_error_the_client_knows(
    rehearse, connect, status, expected, stream
):
    script = f"[{{reply: {{error: {{status: {status}, message: no luck, retry_after: 7}}}}}}]"
    client = await connect(rehearse(script))

    with pytest.raises(expected, match="no luck") as caught:
        await client.chat.completions.create(model="m", messages=[user()], stream=stream)

    assert caught.value.response.headers["retry-after"] == "7"


async def test_an_error_comes_with_the_headers_of_its_script(rehearse, connect):
    headers = "{x-ratelimit-remaining-tokens: '0', x-ratelimit-reset-tokens: 6m0s}"
    client = await connect(rehearse(f"[{{reply: {{error: {{status: 429, headers: {headers}}}}}}}]"))

    with pytest.raises(openai.RateLimitError) as caught:
        await client.chat.completions.create(model="m", messages=[user()])

    assert caught.value.response.headers["x-ratelimit-reset-tokens"] == "6m0s"


async def test_an_error_body_is_sent_as_written(rehearse, connect):
    script = '[{reply: {error: {status: 502, body: "<html>bad gateway</html>"}}}]'
    client = await connect(rehearse(script))

    with pytest.raises(openai.InternalServerError) as caught:
        await ask(client, [user()])

    assert caught.value.response.text == "<html>bad gateway</html>"


async def test_a_cut_stream_breaks_off_after_its_chunks(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: abcdefghij, chunk_size: 2, cut_after: 2}}]"))
    stream = await client.chat.completions.create(model="m", messages=[user()], stream=True)
    pieces: list[str] = []

    with pytest.raises((httpx.RemoteProtocolError, openai.APIConnectionError)):
        await _collect(stream, pieces)

    assert "".join(pieces) == "abcd"


async def test_a_cut_answer_without_streaming_breaks_off(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: abcdefghij, cut_after: 0}}]"))

    with pytest.raises(openai.APIConnectionError):
        await ask(client, [user()])


async def test_a_malformed_stream_is_no_json(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: hello, malformed: true}}]"))

    with pytest.raises(json.JSONDecodeError):
        await listen_to(client, [user()])


@pytest.mark.parametrize("stream", [True, False])
async def test_a_hanging_model_is_left_by_the_clients_timeout(rehearse, connect, stream):
    client = await connect(rehearse("[{reply: {hang: true}}]"))

    with pytest.raises(openai.APITimeoutError):
        await client.chat.completions.create(
            model="m", messages=[user()], stream=stream, timeout=0.2
        )


async def test_a_stream_that_falls_silent_has_sent_its_first_chunks(rehearse, connect):
    client = await connect(rehearse("[{reply: {text: abcdef, chunk_size: 2, hang_after: 2}}]"))
    stream = await client.chat.completions.create(
        model="m", messages=[user()], stream=True, timeout=0.3
    )
    pieces: list[str] = []

    with pytest.raises((httpx.ReadTimeout, openai.APITimeoutError)):
        await _collect(stream, pieces)

    assert "".join(pieces) == "abcd"


async def test_a_held_answer_goes_on_when_it_is_released(rehearse, connect):
    server = rehearse("[{reply: {text: abcdef, chunk_size: 2, hold: gate, hold_after: 1}}]")
    client = await connect(server)
    stream = await client.chat.completions.create(model="m", messages=[user()], stream=True)
    pieces = [(await anext(stream)).choices[0].delta.content for _ in range(2)]
    await asyncio.to_thread(server.wait_until_held, "gate")

    server.release("gate")
    pieces += [chunk.choices[0].delta.content async for chunk in stream]

    assert pieces[:2] == ["", "ab"]
    assert "".join(piece or "" for piece in pieces) == "abcdef"


async def test_a_hold_is_released_over_http_and_stays_released(rehearse, connect):
    server = rehearse("[{reply: {text: done, hold: gate}}]")
    client = await connect(server)
    asking = asyncio.ensure_future(ask(client, [user()]))
    await asyncio.to_thread(server.wait_until_held, "gate")

    async with httpx.AsyncClient() as http:
        released = await http.post(server.url.removesuffix("/v1") + "/control/release/gate")

    assert released.status_code == 200
    assert await asking == "done"
    assert await ask(client, [user()]) == "done"


async def test_a_client_that_leaves_frees_the_hold(rehearse, connect):
    server = rehearse("[{reply: {text: done, hold: gate}}]")
    client = await connect(server)
    asking = asyncio.ensure_future(ask(client, [user()]))
    await asyncio.to_thread(server.wait_until_held, "gate")

    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)

    async with asyncio.timeout(10):
        while server.count_held("gate"):
            await asyncio.to_thread(_look_at, server)


async def test_many_clients_stream_at_once(rehearse, connect):
    server = rehearse("[{reply: {text: one two three four five, tokens_per_second: 200}}]")
    client = await connect(server)

    heard = await asyncio.gather(*[listen_to(client, [user(str(n))]) for n in range(30)])

    assert {answer.text for answer in heard} == {"one two three four five"}
    assert len(server.requests) == 30


async def test_models_and_health_are_listed(rehearse, connect):
    server = rehearse("{models: [small, large], rules: [{reply: {text: hello}}]}")
    client = await connect(server)

    models = await client.models.list()

    assert [model.id for model in models.data] == ["small", "large"]
    async with httpx.AsyncClient() as http:
        health = await http.get(server.url.removesuffix("/v1") + "/healthz")
    assert health.json() == {"status": "ok"}


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"messages": []}', b'{"messages": ["hello"]}', b"[" * 100_000]
)
async def test_a_request_that_is_none_is_refused_with_a_reason(rehearse, body):
    server = rehearse("[{reply: {text: hello}}]")

    async with httpx.AsyncClient() as http:
        answer = await http.post(server.url + "/chat/completions", content=body)

    assert answer.status_code == 400
    assert "not a chat completion request" in answer.json()["error"]["message"]


async def test_full_speed_overrides_every_delay_of_the_script(rehearse, connect):
    script = "[{reply: {text: one two, delay: 3600, chunk_delay: 3600}}]"
    client = await connect(rehearse(script, pace=0))

    assert (await listen_to(client, [user()])).text == "one two"


async def _collect(stream, pieces: list[str]) -> None:
    async for chunk in stream:
        pieces.append(chunk.choices[0].delta.content or "")


def _look_at(server) -> None:
    with urllib.request.urlopen(server.url.removesuffix("/v1") + "/healthz", timeout=5) as answer:
        answer.read()
