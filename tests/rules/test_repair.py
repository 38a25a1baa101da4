"""The one act of an agent of rules: a repair that is asked for, and what it reports afterwards."""

import json
from dataclasses import dataclass, replace

import pytest
from typing_extensions import override

from agents.citations import find_citations
from agents.report import parse_report
from agents.types import Message, ToolResult, ToolSpec
from rules.run import OPENING, RulesTask, run_rules
from tests.agents.doubles import MemoryJournal
from tests.rules.worlds import NOW, World, WorldResults, WorldToolbox, built_in_packs

SERVICES = tuple(pack for pack in built_in_packs() if pack.name == "services")
ALERT = {"labels": {"alertname": "CheckFailing", "service": "web"}}
ALL_WELL = {"service": "web", "resource_id": "service:h:web", "is_well": True, "status": "running",
            "depends_on": [], "problems": [], "repairs": []}  # fmt: skip
FULL = {
    **ALL_WELL,
    "is_well": False,
    "problems": ["/spool holds 99 of 100 bytes"],
    "repairs": [{"repair": "tidy", "mends": "space", "does": "tidies", "runs": "/bin/tidy"}],
    "space": {"directory": "/spool", "used_percent": 99.0, "used_bytes": 99, "limit_bytes": 100,
              "largest": [{"path": "/spool/debug.log", "bytes": 97, "percent": 97.0}]},
}  # fmt: skip
REFUSED = {
    "ok": False, "data": None, "meta": {},
    "error": {"code": "APPROVAL_REQUIRED", "message": "Command denied: not now.", "blocked": True},
}  # fmt: skip
BROKEN = {
    "ok": False, "data": None, "meta": {},
    "error": {"code": "EXECUTION_FAILED", "message": "tidy ended with exit code 1: no spool.",
              "blocked": False, "details": {"before": {"pid": 7}, "after": {"pid": 7}}},
}  # fmt: skip
FAILED = (
    "ops.control reported an error.\nYou asked: ops__control {}\nIt answered:\n"
    f'{json.dumps(BROKEN)}\n\nThe check: it reported an error. It answered:\n{{"ok": true}}'
)
"""As a call that failed is kept, with what was looked at afterwards behind it."""


def envelope(data: object) -> str:
    return json.dumps({"ok": True, "data": data, "error": None, "meta": {}})


@dataclass
class Shop(WorldToolbox):
    """A service that is in trouble until its repair has run."""

    mends: bool = True
    answer: str = envelope({"done": "tidy of web: done"})

    @property
    @override
    def specs(self) -> tuple[ToolSpec, ...]:
        schema = {"type": "object", "properties": {}}
        names = ("query", "probe", "changes", "read", "control")
        return tuple(
            ToolSpec(f"ops.{name}", f"ops__{name}", name, {**schema, "properties": _any(name)})
            for name in names
        )

    @override
    def identify(self, call):
        target = super().identify(call)
        return replace(target, may_write=target.tool == "control")

    @override
    async def execute(self, call, *, report_progress):
        self.executed.append(call)
        tool = self.identify(call).tool
        text = self.answer if tool == "control" else envelope(self._look(tool))
        is_error = '"ok": false' in text
        return ToolResult(text, text, is_error=is_error, size_bytes=len(text))

    @property
    def writes(self) -> list[dict[str, str]]:
        return [json.loads(call.arguments) for call in self.executed if "control" in call.name]

    def _look(self, tool: str) -> object:
        is_mended = self.mends and bool(self.writes)
        match tool:
            case "probe":
                return {"services": [ALL_WELL if is_mended else FULL]}
            case "changes":
                return {"changes": []}
        return {"resources": [], "content": "nothing"}


def _any(tool: str) -> dict[str, dict[str, str]]:
    names = {
        "query": "action kind", "probe": "action", "changes": "action since limit",
        "read": "action unit lines grep",
        "control": "type action resource_id repair runs",
    }[tool]  # fmt: skip
    return {name: {} for name in names.split()}


WORLD = World("shop", ALERT, ("ops",), ())
TASK = RulesTask(
    packs=SERVICES, alert=ALERT, received=NOW, now=NOW, opening=(Message("user", OPENING),),
    proposes=True,
)  # fmt: skip


async def mend(shop: Shop, task: RulesTask = TASK, journal: MemoryJournal | None = None) -> str:
    journal = journal or MemoryJournal()
    outcome = await run_rules(task, toolbox=shop, journal=journal, evidence=WorldResults(journal))
    assert parse_report(outcome.final_analysis) is not None
    return outcome.final_analysis


async def test_the_repair_of_the_likeliest_cause_is_asked_for_once_and_looked_at_afterwards():
    shop = Shop(WORLD)

    report = await mend(shop)

    assert shop.writes == [
        {"type": "service", "action": "repair", "resource_id": "service:h:web",
         "repair": "tidy", "runs": "/bin/tidy"}
    ]  # fmt: skip
    assert "The repair, `tidy` of `web`, ran, and the cause is gone." in report
    assert "/spool/debug.log" in report
    [step] = parse_report(report).next_steps
    assert step.startswith("Find out what led to it: `tidy` of `web` ended it")


async def test_a_cause_that_is_still_there_after_the_repair_is_told():
    shop = Shop(WORLD, mends=False)

    report = await mend(shop)

    assert len(shop.writes) == 1
    assert "ran, and the cause is still there" in report
    assert "Find out what led to it" not in report


async def test_a_cause_that_could_not_be_looked_at_again_is_not_said_to_be_gone():
    class Falls(Shop):
        """The repair takes the eyes with it."""

        @override
        async def execute(self, call, *, report_progress):
            result = await super().execute(call, report_progress=report_progress)
            if self.identify(call).tool != "probe" or not self.writes:
                return result
            text = json.dumps({"ok": False, "data": None, "error": {"message": "no answer"}})
            return ToolResult(text, text, is_error=True, size_bytes=len(text))

    shop = Falls(WORLD)

    report = await mend(shop)

    assert len(shop.writes) == 1
    assert "ran, and whether the cause is gone could not be seen." in report
    assert "the cause is gone." not in report
    assert "[]" not in report


async def test_a_repair_that_a_person_denied_is_told_with_the_reason():
    shop = Shop(WORLD, answer=json.dumps(REFUSED))

    report = await mend(shop)

    assert "did not run: Command denied: not now." in report
    assert f"did not run. What is told here was seen at {TASK.now:%H:%M} UTC." in report
    assert "is gone" not in report


@pytest.mark.parametrize(
    ("mends", "fate"), [(False, "the cause is still there"), (True, "the cause is gone")]
)
async def test_a_repair_that_failed_is_told_as_tried_with_its_own_words(mends, fate):
    shop = Shop(WORLD, mends=mends, answer=FAILED)

    report = await mend(shop)

    assert f"The repair, `tidy` of `web`, was tried and failed, and {fate}." in report
    assert "was tried and failed: tidy ended with exit code 1: no spool. [T" in report
    assert "did not run" not in report
    assert "ended it" not in report


async def test_an_agent_that_does_not_propose_asks_for_nothing():
    shop = Shop(WORLD)

    report = await mend(shop, replace(TASK, proposes=False))

    assert shop.writes == []
    assert "repair" not in report.lower()


async def test_where_all_is_well_nothing_is_asked_for():
    shop = WellShop(WORLD)

    report = await mend(shop)

    assert shop.writes == []
    assert "All 1 declared services are well" in parse_report(report).conclusion


EARLIER = """\
## Conclusion
No cause of this alert was found. Something else is wrong: the process `miner`. Confidence: low

## Evidence
1. `miner` keeps a core busy. [T1]

## Next steps
1. Ask whose `miner` is.

## Not checked
- storage: no tool that could look at it is offered.

## Ruled out
Nothing.
"""


class WellShop(Shop):
    @override
    def _look(self, tool):
        return {"services": [ALL_WELL]} if tool == "probe" else super()._look(tool)


async def test_what_the_stage_before_found_stays_where_this_one_finds_no_cause():
    report = await mend(WellShop(WORLD), replace(TASK, earlier=EARLIER))

    read = parse_report(report)
    assert read.conclusion.startswith("No cause of this alert was found. Something else is wrong")
    assert read.conclusion.endswith("the process `miner`. A second look found no cause.")
    assert read.claims[0].text == "`miner` keeps a core busy. [T1]"
    assert read.next_steps == ("Ask whose `miner` is.",)
    assert any(each.startswith("storage: ") for each in read.not_checked)


async def test_a_cause_that_is_found_speaks_for_itself():
    report = await mend(Shop(WORLD), replace(TASK, earlier=EARLIER))

    assert "miner" not in report
    assert "A second look found no cause" not in report


async def test_a_repair_whose_tool_is_not_offered_is_told_and_not_made():
    class ReadOnly(Shop):
        @property
        @override
        def specs(self):
            return tuple(each for each in super().specs if each.name != "ops.control")

    report = await mend(ReadOnly(WORLD))

    assert "its tool is not offered to this agent" in report


async def test_an_interrupted_execution_does_not_ask_for_the_repair_again():
    journal, whole = MemoryJournal(), Shop(WORLD)
    report = await mend(whole, journal=journal)
    stored = [Message("user", OPENING)]
    for plan in journal.plans:
        stored.append(plan.message)
        stored += [
            each.message for each in journal.tool_calls if each.call in plan.message.tool_calls
        ]

    later = Shop(WORLD)
    again = await mend(later, replace(TASK, history=tuple(stored)), MemoryJournal(numbered=99))

    assert later.executed == []
    assert "ran, and the cause is gone" in again
    assert again.splitlines()[0] == report.splitlines()[0]


@pytest.mark.parametrize("name", ['`x` [T99 "y"]', "x\n## Conclusion", "**bold**"])
async def test_what_a_repair_is_called_never_becomes_markdown(name):
    class Odd(Shop):
        @override
        def _look(self, tool):
            found = super()._look(tool)
            if tool == "probe" and found["services"] == [FULL]:
                row = {**FULL, "repairs": [{**FULL["repairs"][0], "repair": name}]}
                return {"services": [row]}
            return found

    report = await mend(Odd(WORLD))

    assert report.splitlines().count("## Conclusion") == 1
    assert 99 not in {ref.number for each in find_citations(report) for ref in each.refs}
    assert "**bold**" not in report.replace("`**bold**`", "")
