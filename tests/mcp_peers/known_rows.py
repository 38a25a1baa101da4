"""A row of the reviewed table beside what its server lists."""

from collections.abc import Collection, Mapping

from mcp_bridge.known_servers import KnownServer, read_table


def find_known(name: str, version: str) -> KnownServer | None:
    """The row that was reviewed for this version."""
    rows = (row for row in read_table() if row.name == name and row.covers(version))
    return next(rows, None)


def check_row(row: KnownServer, listed: Mapping[str, Collection[str]]) -> None:
    """Every tool is known, by the parameters that it has, and every check fits its read."""
    assert listed.keys() == row.tools.keys()
    for tool, rule in row.tools.items():
        assert rule.argument in ("", *listed[tool])
        assert {*rule.identifies} <= {*listed[tool]}
        if row.versions is None and rule.default == "read":
            assert row.parameters[tool] == set(listed[tool])
        if rule.verify is not None:
            read = rule.verify.tool
            assert row.tools[read].default == "read"
            assert {*rule.verify.arguments} - _left_out(rule.verify.arguments) <= {*listed[read]}


def _left_out(arguments: Mapping[str, str]) -> set[str]:
    """What may be asked only where the write has it: a server may list it or not."""
    return {name for name, text in arguments.items() if text.endswith(" if given")}
