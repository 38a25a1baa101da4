"""How long a refusal asks to wait, in the forms of many vendors and in no form at all."""

import json
import re
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from agents.llm.asked_wait import read_asked_wait
from agents.llm.error_bodies import find_body
from agents.retry_after import LONGEST, read_retry_after, spell_seconds
from tests.cases import for_each

_LINES = (Path(__file__).parent / "asked_waits.jsonl").read_text(encoding="utf-8").splitlines()
CASES = [json.loads(line) for line in _LINES]
_MOMENT = re.compile(r"\{(http|rfc3339|epoch|epoch_ms)([+-]\d+)\}")


def fill(value, now):
    """The same with moments in place of what stands for them, such as `{http+300}`."""
    if isinstance(value, dict):
        return {name: fill(each, now) for name, each in value.items()}
    if isinstance(value, list):
        return [fill(each, now) for each in value]
    if not isinstance(value, str):
        return value
    return _MOMENT.sub(lambda found: write_moment(found[1], now + int(found[2])), value).replace(
        "{digits}", "9" * 10_000
    )


def write_moment(form, at):
    match form:
        case "http":
            return formatdate(at, usegmt=True)
        case "rfc3339":
            return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
        case "epoch":
            return str(int(at))
    return str(int(at * 1000))


@for_each(CASES, name=lambda case: case["why"])
def test_a_wait_is_read_wherever_it_stands_and_nothing_is_read_where_none_does(case):
    now = time.time()
    filled = fill(case, now)

    wait = read_asked_wait(
        filled["headers"], filled.get("body"), json.dumps(filled.get("body")), is_rate_limit=True
    )

    if case["wait"] is None:
        assert wait is None
        return
    # Dates have no parts of a second.
    is_moment = any(form in json.dumps(case) for form in ("{http", "{rfc", "{epoch"))
    assert abs(wait - case["wait"]) <= (1.5 if is_moment else 0.001)


@pytest.mark.parametrize("indent", [None, 2])
def test_the_body_of_an_error_is_found_in_the_text_that_wraps_it(indent):
    body = {"error": {"message": 'Don\'t "hurry"', "details": [{"retryDelay": "31s"}]}}
    text = json.dumps(body, indent=indent)

    for wrapped in (text, f"litellm.RateLimitError: geminiException - {text}"):
        assert find_body(wrapped) == body
    for wrapped in (str(text.encode()), f"AnthropicException - {text.encode()}"):
        assert find_body(wrapped) == body


@pytest.mark.parametrize("text", ["", "busy", "{", "b'{", "b'\\x'", "{}" * 10_000, "b'" * 10_000])
def test_a_text_without_a_body_has_none(text):
    assert find_body(text) in (None, {})


def test_limits_that_are_used_up_say_nothing_of_another_failure():
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}

    assert read_asked_wait(headers, None, "broken", is_rate_limit=False) is None
    assert read_asked_wait(headers, None, "busy", is_rate_limit=True) == 360.0


def test_more_than_a_year_is_not_meant():
    assert read_retry_after({"Retry-After": f"{LONGEST:.0f}"}) == LONGEST
    assert read_retry_after({"Retry-After": f"{LONGEST + 1:.0f}"}) is None


def test_a_time_to_wait_is_spelled_for_people():
    waits = (0.25, 1.2, 90.0, 600.0, 1500.0, 7200.0, 8640.0, 90_000.0)

    spelled = [spell_seconds(wait) for wait in waits]

    assert spelled == [
        "0.25 s", "1.2 s", "90 s", "10 min", "25 min", "2 h", "2 h 24 min", "25 h",
    ]  # fmt: skip
