"""Which row of the table holds for the arguments of a program, down its sub-commands."""

from dataclasses import replace

from safety.commands.grammar import Grammar, parse, read_options
from safety.commands.policy import Group, Policy, Wrapper
from safety.commands.refusal import Category, Refused

_TERMINAL = frozenset({"-it", "-ti", "-i", "-t", "--interactive", "--tty"})


def find_policy(
    entry: Policy | Group | Wrapper, arguments: tuple[str, ...]
) -> tuple[Policy, tuple[str, ...], tuple[str, ...]]:
    """The row that holds, what stands before its own arguments, and those."""
    if isinstance(entry, Policy):
        return entry, (), arguments
    if isinstance(entry, Wrapper):
        raise Refused("it runs another program")
    before: tuple[str, ...] = ()
    shared = ""
    group = entry
    while isinstance(entry, Group):
        shared = f"{shared} {entry.shared}"
        name, options, rest = _split(arguments, shared, group)
        if name is None:
            if entry.bare is None:
                raise Refused("without a sub-command it is not known to be a read")
            return _with_shared(entry.bare, "", group), before, arguments
        inner = entry.commands.get(name)
        if inner is None:
            raise Refused(
                f"sub-command {name!r} is not known to be a read", _why_endless(name, rest)
            )
        before = (*before, *options, name)
        arguments, entry = rest, inner
    if isinstance(entry, Wrapper):
        raise Refused("this sub-command runs another program")
    return _with_shared(entry, shared, group), before, arguments


def _why_endless(name: str, arguments: tuple[str, ...]) -> Category | None:
    if name in ("exec", "run", "attach", "debug") and _TERMINAL.intersection(arguments):
        return Category.TTY_FLAG
    return Category.INTERACTIVE_REPL if name in ("s_client", "s_server") else None


def _split(
    arguments: tuple[str, ...], shared: str, group: Group
) -> tuple[str | None, tuple[str, ...], tuple[str, ...]]:
    """The first word, what stands before it and what behind it."""
    if all(argument.startswith("-") for argument in arguments):
        return None, (), arguments
    grammar = Grammar(
        read_options(shared), clusters=group.clusters, stops=True, equals=group.equals
    )
    parsed = parse(arguments, grammar)
    if not parsed.words:
        return None, (), arguments
    place = len(arguments) - len(parsed.words)
    return arguments[place], arguments[:place], arguments[place + 1 :]


def _with_shared(policy: Policy, shared: str, group: Group) -> Policy:
    merged = {**read_options(shared), **policy.grammar.options}
    grammar = replace(policy.grammar, options=merged, equals=group.equals)
    return replace(policy, grammar=grammar)
