"""What servers say is masked before it is cut: no cut goes through a secret."""

import pytest

from agents.types import ToolCall
from masking import Masker, build_default_masker
from masking.visible_text import clean_line
from mcp_bridge.server_words import (
    MARGIN,
    WITHHELD,
    show_last_lines,
    show_line,
    show_schema,
    show_text,
)
from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.wire.stderr import STDERR_TAIL_BYTES, StderrTail
from tests.mcp_bridge.conftest import quick, run, stdio
from tests.server_plans import ServerPlan, TransportPlan

PASSWORD = "Ex4mple-Pass-Which-Is-Long-01"
URL = f"postgres://app:{PASSWORD}@db-0/orders"
MASKER = build_default_masker()


@pytest.mark.parametrize("show", [show_line, show_text])
def test_no_cut_leaves_a_part_of_a_secret(show):
    text = f"{'word ' * 20}could not connect to {URL} and gave up"

    shown = [show(MASKER, text, limit) for limit in range(2, len(text) + 1)]

    assert [each for each in shown if PASSWORD[:4] in each] == []
    assert all(len(each) <= limit + 1 for limit, each in enumerate(shown, start=2))
    assert shown[-1].endswith("and gave up")


def test_what_is_too_long_to_be_masked_whole_is_not_cut_in_a_secret_either():
    texts = [f"{'x' * (MARGIN + lead)} {URL} rest" for lead in range(60)]

    shown = [show_text(MASKER, text, 50) for text in texts]

    assert [each for each in shown if PASSWORD[:4] in each] == []


def test_what_cannot_be_masked_is_withheld(monkeypatch: pytest.MonkeyPatch):
    def fail(self, text):
        raise MemoryError

    monkeypatch.setattr(Masker, "mask", fail)

    assert show_line(MASKER, "anything", 50) == show_text(MASKER, "anything", 50) == WITHHELD
    assert show_schema(MASKER, {"type": "object", "title": "x"}) == {"type": "object"}
    assert show_text(MASKER, "", 50) == ""


def test_a_line_is_cut_between_words():
    assert clean_line("one two three", 9) == "one two …"
    assert clean_line("onetwothree", 9) == "onetwoth…"
    assert clean_line("one two three", 13) == "one two three"


def test_the_tail_of_what_a_child_said_begins_with_a_whole_line():
    tail = StderrTail()
    tail.add(b"first\nsecond")
    assert tail.text == "first\nsecond"

    tail.add(b"x" * (STDERR_TAIL_BYTES - 5) + b"\nthird\n")

    assert tail.text == "third"


@pytest.mark.usefixtures("nothing_left_behind")
async def test_the_reason_of_a_dead_server_holds_no_part_of_its_password():
    script = "; ".join(
        f"printf '%0{width}d could not connect to {URL}\\n' 0 >&2" for width in (480, 560)
    )
    command = TransportPlan("stdio", command="/bin/sh", args=("-c", f"{script}; exit 1"))
    dying = {"dying": ServerPlan(command)}

    async with open_toolbox(dying, deadlines=quick()) as toolbox:
        reason = toolbox.unavailable["dying"]

    assert PASSWORD[:4] not in reason
    assert len(reason) <= 600


@pytest.mark.usefixtures("nothing_left_behind")
async def test_the_name_of_a_call_is_masked_before_it_is_cut():
    async with open_toolbox({"shell": stdio("normal")}, deadlines=quick()) as toolbox:
        for lead in range(150, 200):
            name = f"{'n' * lead} {URL}"
            told = toolbox.identify(ToolCall("1", name, "{}"))
            result = await run(toolbox, name)

            assert PASSWORD[:4] not in told.tool
            assert PASSWORD[:4] not in result.content


def test_the_last_lines_of_a_program_hold_no_part_of_a_key_that_began_before_them():
    key = "\n".join(f"MIIEexample{number:02}line{'k' * 50}" for number in range(8))
    tail = StderrTail()
    tail.add(
        f"cannot use\n-----BEGIN PRIVATE KEY-----\n{key}\n-----END PRIVATE KEY-----\n"
        "going down\n".encode()
    )

    told = show_last_lines(MASKER, tail.text)

    assert "MIIEexample" not in told
    assert told.endswith("going down")
