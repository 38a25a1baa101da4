"""The `grep` parameter: an RE2 expression over lines, in linear time whatever the model writes."""

from collections.abc import Callable

import re2

from ops.envelope import ToolFailure

_MAX_PATTERN_CHARS = 1000

LineFilter = Callable[[bytes], bool]


def build_line_filter(pattern: str) -> LineFilter | None:
    """A test for lines, None when there is no pattern. Ignores case unless it has a capital."""
    if not pattern:
        return None
    if len(pattern) > _MAX_PATTERN_CHARS:
        raise ToolFailure(
            "INVALID_INPUT", f"'grep' is longer than {_MAX_PATTERN_CHARS} characters."
        )
    options = re2.Options()
    options.case_sensitive = pattern != pattern.lower()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        expression = re2.compile(pattern, options)
    except re2.error as error:
        raise ToolFailure(
            "INVALID_INPUT",
            f"'grep' is not an RE2 expression: {_reason(error)}. RE2 has no look-around and no "
            "back-references; escape literal brackets and dots with a backslash.",
        ) from error
    return lambda line: expression.search(line.decode("utf-8", "replace")) is not None


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else "cannot be compiled"
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
