"""Commands that read: proven before they run, where the resource is that they are meant for."""

import os
import re

from masking import Placeholders, build_default_masker
from ops.envelope import Answer, ErrorCode, Json, ToolFailure
from ops.executors.base import Executor
from ops.executors.scripts import run_script
from ops.output import refuse_unstarted, show_output
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.routes import Routes
from ops.settings import OpsSettings
from safety.commands import (
    Finished,
    Proof,
    Recovery,
    Screen,
    Withheld,
    prove_or_rewrite,
    run_proven,
)
from safety.commands.paths import is_wide
from safety.commands.screen import AROUND_SECONDS, MAX_AROUND_LINES
from safety.commands.script import Step, pipelines_of
from safety.paths.sensitive_paths import SensitivePaths

_SECONDS = 20.0
_LOOK_SECONDS = 5.0
_MAX_BYTES = 60_000
_MAX_SHOWN_COMMAND = 100
_FIRST_NUMBER = 1_000
_SEPARATORS = re.compile(r"[=:,]")
_BOUNDARY = "only a command that is proven to read and to end by itself is run"
_TRANSPORTS = {
    "direct": "direct",
    "ssh": "ssh",
    "docker": "docker_exec",
    "kubectl": "kubectl_exec",
    "pct": "pct_exec",
    "qm": "qm_guest_exec",
}


class CommandReader:
    """Runs commands that change nothing. What cannot be proven is refused."""

    def __init__(self, settings: OpsSettings, resources: ResourceQuery, routes: Routes) -> None:
        self._settings = settings
        self._resources = resources
        self._routes = routes
        self._sensitive = SensitivePaths(settings.protected, settings.open_files)
        # Numbered apart from what is masked behind this server.
        self._masker = build_default_masker(Placeholders(after=_FIRST_NUMBER))

    async def run(self, command: str, target: str, container: str = "") -> Answer:
        """Exit code and output of a proven command; `container` is one of the pod's."""
        recovery = prove_or_rewrite(command, self._sensitive, self._settings.targets.addresses)
        proof = recovery.to_run
        if proof is None or proof.script is None:
            raise _refuse(recovery)
        if proof.reaches_out and not self._settings.targets.may_reach_out:
            raise _refuse_reaching_out(proof)
        resource = await self._resources.resolve(target or f"host:{self._settings.host}")
        screen = Screen(self._masker)
        try:
            finished = await self._run(proof.script, resource, container, screen)
        except Withheld as reason:
            raise _withhold(proof, reason) from reason
        refuse_unstarted(finished, seconds=_SECONDS)
        shown = show_output(finished, seconds=_SECONDS, max_bytes=_MAX_BYTES)
        data: dict[str, Json] = {
            "command": proof.command,
            **shown.data,
            "execution": _execution(target, resource),
        }
        return Answer(data, shown.cuts, _notes(recovery, proof, screen))

    async def _run(
        self, script: Step, resource: Resource, container: str, screen: Screen
    ) -> Finished:
        if self._routes.is_local(resource):
            return await run_proven(script, seconds=_SECONDS, max_bytes=_MAX_BYTES, screen=screen)
        executor = await self._routes.into(resource, container)
        await self._refuse_links(script, executor)
        return await run_script(
            executor, script, seconds=_SECONDS, max_bytes=_MAX_BYTES, screen=screen
        )

    async def _refuse_links(self, script: Step, executor: Executor) -> None:
        """Where the paths lead is known only over there, and nothing secret may lie behind them."""
        paths = sorted(_paths_of(script))
        if not paths:
            return
        finished = await executor.run(
            ("realpath", *paths), seconds=_LOOK_SECONDS, max_bytes=_MAX_BYTES
        )
        if finished.exit_code not in (0, 1) or finished.cut:
            said = finished.stderr.decode("utf-8", "replace").strip()[:300]
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"It cannot be seen there where the command's paths lead: {said or 'no answer'}",
                details={"paths": paths},
            )
        if found := self._find_secret(paths, finished.stdout.decode("utf-8", "replace")):
            real, reason = found
            raise ToolFailure(
                "SENSITIVE_COMMAND",
                f"A path of the command leads to {real}, which is not read out: {reason}.",
                details={"path": real, "reason": reason},
            )

    def _find_secret(self, paths: list[str], output: str) -> tuple[str, str] | None:
        named = {os.path.normpath(path) for path in paths}
        for real in output.splitlines():
            if reason := self._sensitive.reason_resolved(real):
                return real, reason
            if is_wide(real) and real not in named:
                return real, "as a whole it holds keys and passwords"
        return None


def _paths_of(script: Step) -> set[str]:
    """Every word that could be a path over there, also behind an option or an equals sign."""
    words = {
        text
        for pipeline in pipelines_of(script)
        for command in pipeline.commands
        for word in (*command.argv[1:], command.stdin or "")
        for text in (word, *_SEPARATORS.split(word), word[max(0, word.find("/")) :])
    }
    return {word for word in words if "/" in word and not word.startswith("-")}


def _refuse(recovery: Recovery) -> ToolFailure:
    """Why nothing was run, as facts. A rewrite that may not be tried alone is told, not run."""
    proof = recovery.proof
    details: dict[str, Json] = {
        "command": proof.command[:_MAX_SHOWN_COMMAND],
        "reason": proof.reason,
        "intent": proof.intent.value,
        "policy_boundary": _BOUNDARY,
    }
    if proof.category is not None:
        details["category"] = proof.category.value
    if recovery.rewrite is not None:
        details["suggested_rewrite"] = recovery.rewrite.command
    if recovery.rewritten is not None:
        details["rewrite_reason"] = recovery.rewritten.reason
    is_sensitive = any(
        each is not None and each.is_sensitive for each in (proof, recovery.rewritten)
    )
    code: ErrorCode = "SENSITIVE_COMMAND" if is_sensitive else "READ_ONLY_VIOLATION"
    return ToolFailure(code, f"The command was not run: {proof.reason}.", details=details)


def _refuse_reaching_out(proof: Proof) -> ToolFailure:
    return ToolFailure(
        "POLICY_BLOCKED",
        "The command was not run: it talks to a machine that its words name, and what is asked "
        "there can carry data away.",
        details={
            "command": proof.command[:_MAX_SHOWN_COMMAND],
            "policy_boundary": "commands reach no other machine unless an operator allows it",
        },
        rule="reaches_out",
    )


def _withhold(proof: Proof, reason: Withheld) -> ToolFailure:
    return ToolFailure(
        "SENSITIVE_COMMAND",
        f"The output is withheld: {reason}. `read` with action `file`, `tail` or `logs` shows "
        "text with its secrets masked.",
        details={
            "command": proof.command[:_MAX_SHOWN_COMMAND],
            "policy_boundary": "no part of a secret is printed",
        },
    )


def _notes(recovery: Recovery, proof: Proof, screen: Screen) -> tuple[str, ...]:
    notes = [
        f"stdout: {count} secret{'s' * (count > 1)} in {source} masked before the command read it, "
        "so that its counts, positions and checksums are those of the masked text"
        for source, count in screen.masked.items()
    ]
    notes += [
        f"stdout: of what surrounds the lines that {source} printed no more than "
        f"{MAX_AROUND_LINES >> 20} MiB and {AROUND_SECONDS:.0f} s of it was looked at for secrets; "
        "lines are masked as they stand"
        for source in sorted(screen.unseen)
    ]
    if proof is not recovery.proof:
        notes.append(
            f"command: '{recovery.proof.command}' does not end by itself "
            f"({recovery.proof.reason}); '{proof.command}' was proven and run in its place"
        )
    return tuple(notes)


def _execution(target: str, resource: Resource) -> dict[str, Json]:
    executor = max(resource.executors, key=lambda each: each.priority)
    return {
        "requested_target_host": target or resource.name,
        "resolved_kind": resource.kind,
        "resolved_node": resource.host,
        "transport": _TRANSPORTS[executor.adapter],
        "target_id": resource.uid,
    }
