"""Skills that stand in no prompt, whatever is investigated."""

from collections.abc import Iterator, Mapping

from config.checks.findings import Findings
from config.skills import Skill
from config.tree import match
from tarsy.errors import Mistake

_STAGE_AGENT = "agent_chains.*.stages.*.agents.*"
_ALWAYS_USED = ("SynthesisAgent", "ExecSummaryAgent")
_IDLE = (
    "this skill is never loaded: skills on demand are not supported yet, and no agent that a chain "
    "uses has it under required_skills"
)


def warn_of_idle_skills(findings: Findings, skills: Mapping[str, Skill]) -> None:
    """Name each skill that no agent at work requires."""
    required = set(_required(findings))
    findings.warnings += [
        Mistake(skill.file, 1, f"{name}: {_IDLE}")
        for name, skill in sorted(skills.items())
        if name not in required
    ]


def _required(findings: Findings) -> Iterator[str]:
    for name in {*_ALWAYS_USED, *_agents_at_work(findings)}:
        block = findings.root.get("agents", name, "required_skills")
        yield from (item.text for item in (block.items if block else ()))
    for _, item in match(findings.root, f"{_STAGE_AGENT}.required_skills.*"):
        yield item.text


def _agents_at_work(findings: Findings) -> Iterator[str]:
    for pattern in (f"{_STAGE_AGENT}.name", "agent_chains.*.stages.*.synthesis.agent"):
        yield from (node.text for _, node in match(findings.root, pattern))
    for _, chat in match(findings.root, "agent_chains.*.chat"):
        switch = chat.get("enabled")
        if switch is not None and switch.is_true:
            yield chat.text_at("agent")
