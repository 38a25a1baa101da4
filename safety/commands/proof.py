"""The proof that a command only reads: a script, a policy for each program in it, a verdict."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from safety.commands.addresses import KnownAddress
from safety.commands.contents import refuse_parts
from safety.commands.durations import CALL_SECONDS
from safety.commands.grammar import Parsed, parse
from safety.commands.languages.escapes import refuse_computed_escapes, refuse_escapes
from safety.commands.loopback import is_local, needs_no_lookup
from safety.commands.named_files import (
    files_of,
    judge_files,
    judge_front,
    judge_patterns,
    reads_trees,
    texts_of,
)
from safety.commands.output_shape import shape_of
from safety.commands.paths import ENDLESS_DEVICES, PathJudge
from safety.commands.policy import Policy, Wrapper
from safety.commands.program_traits import ProgramTraits
from safety.commands.programs import ENDLESS_PROGRAMS, all_programs
from safety.commands.refusal import Category, Refused, SensitivePath
from safety.commands.risk import Risk, judge_risk
from safety.commands.script import (
    Branch,
    Chain,
    Command,
    Pipeline,
    Repeat,
    Sequence,
    Step,
    While,
)
from safety.commands.shell import parse_script
from safety.commands.subcommands import find_policy
from safety.commands.templates import whole_of
from safety.paths.sensitive_paths import SensitivePaths

_MAX_WRAPPERS = 4
_MAX_COMMANDS = 40
# Wherever an option has such a name, escapes in its text are read.
_TEMPLATES = ("--template", "--printf", "--qf", "--queryformat", "--showformat")
_SYSTEM_DIRECTORIES = ("/bin", "/usr/bin", "/sbin", "/usr/sbin")


class Intent(StrEnum):
    READ_ONLY_CERTAIN = "read_only_certain"
    READ_ONLY_CONDITIONAL = "read_only_conditional"
    WRITE_OR_UNKNOWN = "write_or_unknown"


@dataclass(frozen=True, slots=True)
class Proof:
    """What is known about one command.

    `script` is what may be run, and is there only if the command is a read that ends by itself.
    `category` says in which way it would not end. `reaches_out`: it may talk to another machine
    that its words name. `is_sensitive`: it is refused for what it would read. `bounded` says
    nothing about how long the command takes.
    """

    command: str
    intent: Intent
    bounded: bool
    risk: Risk
    reason: str
    script: Step | None = None
    category: Category | None = None
    reaches_out: bool = False
    is_sensitive: bool = False

    @property
    def is_read(self) -> bool:
        return self.intent is not Intent.WRITE_OR_UNKNOWN

    @property
    def may_run(self) -> bool:
        return self.script is not None


def prove(
    command: str,
    sensitive: SensitivePaths | None = None,
    addresses: tuple[KnownAddress, ...] = (),
) -> Proof:
    """What this command is. Never raises; what cannot be proven is `write_or_unknown`.

    `addresses` may be fetched beside those that are known everywhere.
    """
    prover = Prover(PathJudge(sensitive or SensitivePaths()), addresses)
    try:
        script = prover.prove_script(parse_script(command))
    except Refused as refusal:
        return Proof(
            command=command,
            intent=Intent.WRITE_OR_UNKNOWN,
            bounded=refusal.category is None,
            risk=judge_risk(command),
            reason=refusal.reason,
            category=refusal.category,
            is_sensitive=isinstance(refusal, SensitivePath),
        )
    return Proof(
        command=command,
        intent=Intent.READ_ONLY_CONDITIONAL if prover.is_conditional else Intent.READ_ONLY_CERTAIN,
        bounded=prover.is_bounded,
        risk=Risk.READ_ONLY,
        reason=_explain(prover),
        script=script if prover.is_bounded else None,
        category=None if prover.is_bounded else Category.UNBOUNDED_STREAM,
        reaches_out=prover.reaches_out,
    )


def _explain(prover: "Prover") -> str:
    if not prover.is_bounded:
        return f"it only reads, but it does not end by itself within {CALL_SECONDS:.0f} s"
    if prover.is_conditional:
        return "what it is told to do was read and changes nothing"
    return "nothing it is asked for changes anything"


class Prover:
    """Walks one script and remembers what holds for all of it."""

    def __init__(self, paths: PathJudge, addresses: tuple[KnownAddress, ...] = ()) -> None:
        self.paths = paths
        self.addresses = addresses
        self.is_bounded = True
        self.is_conditional = False
        self.reaches_out = False
        # What the commands before this one in its pipeline are.
        self.feed: tuple[tuple[str, ...], ...] = ()
        self._depth = 0
        self._commands = 0
        self._seconds = 0.0

    def prove_script(self, script: Step) -> Step:
        """The whole of it, which has the time of one call."""
        proven = self.prove_step(script)
        self.is_bounded &= self._seconds <= CALL_SECONDS
        return proven

    def prove_step(self, step: Step) -> Step:
        """The same step with the arguments that will really be used."""
        match step:
            case Pipeline():
                return self._prove_pipeline(step)
            case Chain():
                return replace(
                    step, left=self.prove_step(step.left), right=self.prove_step(step.right)
                )
            case Sequence():
                return Sequence(tuple(self.prove_step(inner) for inner in step.steps))
            case Repeat():
                before = self._seconds
                body = self.prove_step(step.body)
                self._seconds = before + (self._seconds - before) * step.times
                return replace(step, body=body)
            case Branch():
                arms = tuple((self.prove_step(test), self.prove_step(do)) for test, do in step.arms)
                return Branch(arms, self.prove_step(step.otherwise) if step.otherwise else None)
            case While():
                proven = While(self.prove_step(step.condition), self.prove_step(step.body))
                self.is_bounded = False
                return proven

    def _prove_pipeline(self, pipeline: Pipeline) -> Pipeline:
        commands: list[Command] = []
        is_bounded, seconds = True, 0.0
        self._commands += len(pipeline.commands)
        if self._commands > _MAX_COMMANDS:
            raise Refused(f"it has more than {_MAX_COMMANDS} commands")
        for place, command in enumerate(pipeline.commands):
            self.feed = tuple(before.argv for before in pipeline.commands[:place])
            traits = self.prove_argv(command.argv, is_fed=place > 0 or command.stdin is not None)
            if place > 0 and command.stdin is not None:
                raise Refused("a command has two inputs")
            if command.stdin is not None:
                self.paths.judge_content(command.stdin)
            is_fed_for_ever = command.stdin in ENDLESS_DEVICES
            is_bounded = traits.stops_early or (
                is_bounded and traits.is_bounded and not is_fed_for_ever
            )
            seconds = traits.seconds if traits.stops_early else max(seconds, traits.seconds)
            self.is_conditional |= traits.is_conditional
            self.reaches_out |= traits.reaches_out
            commands.append(_describe(command, traits))
        self.is_bounded &= is_bounded
        self._seconds += seconds
        return replace(pipeline, commands=tuple(commands))

    def prove_argv(self, argv: tuple[str, ...], *, is_fed: bool = False) -> ProgramTraits:
        """Raises `Refused` unless the program is known and asked for nothing but a read."""
        name = _program_name(argv[0])
        entry = all_programs().get(name)
        if entry is None:
            category, reason = ENDLESS_PROGRAMS.get(name, (None, None))
            raise Refused(reason or f"{name} is not on the read-only allowlist", category)
        if isinstance(entry, Wrapper):
            return self._prove_wrapped(entry, (name, *argv[1:]), is_fed)
        policy, before, rest = find_policy(entry, argv[1:])
        parsed = parse(rest, policy.grammar)
        judge_front(self.paths, policy, before)
        self._apply(name, policy, parsed, is_fed)
        if is_fed and not policy.is_filter:
            raise Refused(f"{name} is not a filter; what is piped into it could be commands")
        stops_early = bool(policy.stops_after and policy.stops_after(parsed))
        return ProgramTraits(
            argv=(name, *before, *policy.hardening, *rest),
            is_bounded=stops_early or not self._is_endless(policy, parsed),
            stops_early=stops_early,
            is_filter=policy.is_filter,
            is_conditional=policy.is_conditional,
            reaches_out=_reaches_out(policy, parsed, before),
            reads=texts_of(policy, parsed),
            reads_trees=reads_trees(policy, parsed),
            shape=shape_of(before[-1] if before else name, parsed),
            whole=whole_of((name, *before), parsed),
            runs=(name, *argv[1:]),
            seconds=policy.lasts(parsed) if policy.lasts else 0.0,
        )

    def _prove_wrapped(
        self, wrapper: Wrapper, argv: tuple[str, ...], is_fed: bool
    ) -> ProgramTraits:
        self._depth += 1
        if self._depth > _MAX_WRAPPERS:
            raise Refused("programs that run programs are nested too deeply")
        traits = wrapper.prove(self, argv)
        self._depth -= 1
        if is_fed and not traits.is_filter:
            raise Refused(f"{argv[0]} is not a filter here")
        return traits if traits.runs else replace(traits, runs=argv)

    def _apply(self, name: str, policy: Policy, parsed: Parsed, is_fed: bool) -> None:
        low, high = policy.words
        if not low <= len(parsed.words) <= high:
            raise Refused(f"{name} with {len(parsed.words)} words is not known to be a read")
        if policy.word:
            for word in parsed.words:
                if not re.fullmatch(policy.word, word):
                    raise Refused(f"{name} with the word {word!r} is not known to be a read")
        if policy.needs and not parsed.has(*policy.needs):
            category, _ = ENDLESS_PROGRAMS.get(name, (None, None))
            needed = " or ".join(sorted(policy.needs))
            raise Refused(f"{name} is a read that ends only with {needed}", category)
        if parsed.has(*policy.parts):
            raise refuse_parts(name)
        if policy.check:
            policy.check(parsed)
        refuse_computed_escapes(parsed.values(*policy.formats, *_TEMPLATES))
        refuse_escapes(parsed.values("--format"))
        judge_files(self.paths, policy, parsed, is_fed)
        judge_patterns(self.paths, policy, parsed)

    def _is_endless(self, policy: Policy, parsed: Parsed) -> bool:
        if policy.endless and parsed.has(*policy.endless):
            return not (policy.ends and parsed.has(*policy.ends))
        if policy.is_endless and policy.is_endless(parsed):
            return True
        return bool(ENDLESS_DEVICES.intersection(files_of(policy, parsed) or ()))


def _reaches_out(policy: Policy, parsed: Parsed, before: tuple[str, ...]) -> bool:
    """Whether another machine may be named. A name server is another machine."""
    named = parsed.values(*policy.reaches_out_with)
    if not all(map(is_local, named)):
        return True
    if any(word.partition("=")[0] in policy.reaches_out_with for word in before):
        return True
    if not all(map(needs_no_lookup, _looked_up(policy, parsed))):
        return True
    reaches = policy.reaches_out
    if not (reaches(parsed) if callable(reaches) else reaches):
        return False
    values = (value for _, given in parsed.options for value in given)
    return not all(map(is_local, (*parsed.words, *values)))


def _looked_up(policy: Policy, parsed: Parsed) -> Iterator[str]:
    """What a resolver may be asked for."""
    options = policy.grammar.options
    for option, values in parsed.options:
        if option in options and options[option].is_destination:
            yield from values
    if policy.destinations is not None:
        yield from policy.destinations(parsed)


def _program_name(word: str) -> str:
    directory, slash, name = word.rpartition("/")
    if slash and directory not in _SYSTEM_DIRECTORIES:
        raise Refused("only programs of the system's own directories are known")
    return name


def _describe(command: Command, traits: ProgramTraits) -> Command:
    return replace(
        command,
        argv=traits.argv,
        reads=traits.reads,
        reads_trees=traits.reads_trees,
        takes_names=traits.takes_names,
        shape=traits.shape,
        whole=traits.whole,
        runs=traits.runs,
    )
