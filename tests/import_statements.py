"""The imports of a file of ours."""

import ast
from collections.abc import Iterator
from pathlib import Path

HOLD_STATEMENTS = ("body", "orelse", "finalbody", "handlers", "cases")


def imports_in(path: Path) -> Iterator[ast.Import | ast.ImportFrom]:
    """Wherever they stand. Expressions, of which a file has ten times as many nodes as it has
    statements, can hold none."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        for name in HOLD_STATEMENTS:
            waiting += getattr(node, name, ())
