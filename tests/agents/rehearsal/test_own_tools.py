"""Without a key: the tools of a chain's own are called once, and what they say is cited."""

import json
from datetime import UTC, datetime

import pytest

from agents.controllers.react_format import FinalAnswer, parse_react
from agents.fencing import fence
from agents.prompts import Alert, PromptInput, build_investigation
from agents.rehearsal.loading import BUILTIN_SCRIPTS, load_scripts
from agents.types import CHANGES_SOMETHING, ToolSpec
from safety.refusals import Refusal
from tests.agents.rehearsal.asking import Spoken, called, listen_to, offer, result, system, user

pytestmark = pytest.mark.slow

ALERT = {
    "alertname": "OrdersFail",
    "labels": {"service": "payments", "shard": 3, "password": "[MASKED:password#1]"},
}


def tool(name: str, description: str = "Looks.", **schema: object) -> Spoken:
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


def needs(*names: str, kind: str = "string") -> dict[str, object]:
    return {"required": [*names], "properties": {name: {"type": kind} for name in names}}


def brought(number: int, name: str, text: str, *, failed: bool = False) -> str:
    head = f"[T{number}] {name.replace('__', '.')}{' failed' if failed else ''}"
    return f"{head}\n{fence(text, f'result of T{number}')}"


@pytest.fixture
async def ask(rehearse, connect):
    client = await connect(rehearse(load_scripts(BUILTIN_SCRIPTS), pace=0))
    task = user(f"Investigate.\n{fence(json.dumps(ALERT), 'alert data')}")

    async def listen(tools: list[Spoken], *said: Spoken, agent: str = "ShopAgent"):
        return await listen_to(client, [system(agent), task, *said], tools=tools)

    return listen


async def test_each_tool_is_called_once_with_what_the_alert_gives(ask):
    tools = [
        *offer("ops__query", "ops__metrics", "shop__orders", "recall_result"),
        tool("shop__service_state", **needs("service")),
        tool("shop__shard", **needs("shard", kind="integer")),
        tool("shop__named_shard", **needs("shard")),
        tool(
            "shop__any_state",
            required=["service"],
            properties={"service": {"type": ["string", "null"]}},
        ),
        tool("shop__order", **needs("order_id")),
        tool("shop__login", **needs("password")),
        tool("shop__close", f"Closes the shop.\n{CHANGES_SOMETHING}"),
    ]

    first = await ask(tools)

    made = {call["name"]: json.loads(call["arguments"]) for call in first.calls}
    assert made == {
        "shop__orders": {},
        "shop__service_state": {"service": "payments"},
        "shop__shard": {"shard": 3},
        "shop__any_state": {"service": "payments"},
    }


def describe(name: str, says: str = "Looks.", **schema: object) -> ToolSpec:
    return ToolSpec(name.replace("__", "."), name, says, {"type": "object", **schema})


async def test_a_model_that_calls_by_writing_calls_each_once_and_then_reports(rehearse, connect):
    client = await connect(rehearse(load_scripts(BUILTIN_SCRIPTS), pace=0))
    tools = (
        describe("shop__orders", "Counts.\nshop.close: is not this one"),
        describe("shop__service_state", **needs("service")),
        describe("shop__shard", required=["n"], properties={"n": {"enum": ["a, b", "c"]}}),
        describe("shop__close", f"Closes the shop.\n{CHANGES_SOMETHING}"),
        describe("ops__query"),
    )
    prompt = PromptInput(
        "ShopAgent", datetime(2026, 11, 27, tzinfo=UTC), Alert("shop", json.dumps(ALERT)),
        has_tools=True, is_react=True, tools=tools,
    )  # fmt: skip
    messages = [{"role": m.role, "content": m.content} for m in build_investigation(prompt)]
    made: list[tuple[str, str]] = []
    for number in range(1, 4):
        heard = await listen_to(client, messages)
        step = parse_react(heard.text).step
        if isinstance(step, FinalAnswer):
            break
        made.append((step.tool, step.input))
        said = brought(number, step.tool, '{"failed": 41}', failed=number == 2)
        messages += [
            {"role": "assistant", "content": heard.text},
            user(f"Observation: {said}"),
        ]

    assert made == [
        ("shop.orders", "{}"),
        ("shop.service_state", '{"service": "payments"}'),
    ]
    assert isinstance(step, FinalAnswer)
    assert '1. shop.orders: failed is 41 [T1 "failed: 41"]' in step.text
    assert "shop.service_state gave no data" in step.text
    assert "shop.shard was not called: it needs n, which the alert does not give." in step.text
    assert "shop.close was not called: it changes something" in step.text


async def test_a_model_that_calls_by_writing_reports_when_it_may_call_no_more(rehearse, connect):
    client = await connect(rehearse(load_scripts(BUILTIN_SCRIPTS), pace=0))
    prompt = PromptInput(
        "ShopAgent", datetime(2026, 11, 27, tzinfo=UTC), Alert("shop", "orders fail"),
        has_tools=True, is_react=True,
        tools=(describe("shop__orders"), describe("shop__carts")),
    )  # fmt: skip
    messages = [{"role": m.role, "content": m.content} for m in build_investigation(prompt)]
    first = await listen_to(client, messages)
    messages += [
        {"role": "assistant", "content": first.text},
        user(f"Observation: {brought(1, 'shop.orders', '41')}"),
        user("No more tools can be called. Conclude."),
    ]

    heard = await listen_to(client, messages)

    assert isinstance(parse_react(heard.text).step, FinalAnswer)
    assert "shop.orders" in heard.text


async def test_no_more_than_eight_are_called_and_the_report_says_what_was_not(ask):
    tools = [
        *offer(*(f"shop__look{n}" for n in range(10))),
        tool("shop__order", **needs("order_id")),
    ]

    first = await ask(tools)
    names = [call["name"] for call in first.calls]
    answers = [
        message
        for number, name in enumerate(names)
        for message in (called(f"c{number}", name), result(f"c{number}", brought(1, name, "ok")))
    ]
    second = await ask(tools, *answers)

    assert len(names) == 8
    assert second.calls == []
    assert "shop.look9 was not called: it was left out: a rehearsal calls 8 tools" in second.text
    assert "shop.order was not called: it needs order_id, which the alert does not" in second.text


REFUSED = Refusal(
    "POLICY_BLOCKED", "shop.gateway would ask cards.example.net.", rule="stranger"
).to_text()


REPORTED = "shop.orders reported an error.\nYou asked: shop__orders {}\nIt answered:\n"


@pytest.mark.parametrize(
    ("text", "failed", "told"),
    [
        (
            '{"failed": 41, "all": {"total": 161}, "lines": [{"sku": "A-7"}, {"sku": "B"}]}',
            False,
            '1. shop.orders: failed is 41 [T1 "failed: 41"]\n'
            '2. shop.orders: all.total is 161 [T1 "total: 161"]\n'
            '3. shop.orders: lines.sku is A-7 [T1 "sku: A-7"]',
        ),
        ("\n41 of 161 orders failed\n---\n", False, '[T1 "41 of 161 orders failed"]'),
        ("state [T9] *down*", False, "shop.orders: state (T9) down [T1]\n"),
        ("password=[MASKED:password#1]", False, "shop.orders: password=… [T1]\n"),
        ("", False, "- shop.orders said nothing [T1]"),
        ("connection refused by db-1\nat line 3", True, "no data: connection refused by db-1 [T1]"),
        (f"{REPORTED}db-1 hangs\nat line 3", True, "no data: db-1 hangs [T1]"),
        (f"{REPORTED}{REFUSED}", True, "would ask cards.example.net. [T1]"),
        (REFUSED, True, "would ask cards.example.net. To allow it: An operator names the host in "),
    ],
)
async def test_what_a_tool_says_is_told_with_the_call_behind_it(ask, text, failed, told):
    call = called("c1", "shop__orders")

    report = await ask(
        offer("shop__orders", "ops__query"),
        call,
        result("c1", brought(1, "shop__orders", text, failed=failed)),
    )

    assert told in report.text
    assert "Without a model nobody has weighed this alert" in report.text
    assert "Confidence: low" in report.text


async def test_the_report_is_the_same_where_no_tool_can_be_called_any_more(ask):
    said = [called("c1", "shop__orders"), result("c1", brought(1, "shop__orders", "41 failed"))]

    report = await ask([], *said)

    assert '1. shop.orders: “41 failed” [T1 "41 failed"]' in report.text


async def test_tools_that_ship_with_the_product_are_looked_at_where_there_are_no_others(ask):
    tools = [*offer("ops__query"), tool("shop__order", **needs("order_id"))]

    first = await ask(tools)

    assert [call["name"] for call in first.calls] == ["ops__query"]
