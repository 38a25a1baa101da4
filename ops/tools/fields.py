"""What the tools' arguments and answers have in common."""

from typing import Annotated, TypeAlias

from mcp_types import CallToolResult, ToolAnnotations
from pydantic import Field

from ops import files
from ops.envelope import Envelope

READ_SECONDS = 10.0
"""What one look may take."""

Reply: TypeAlias = Annotated[CallToolResult, Envelope]

SampleSeconds = Annotated[
    float, Field(ge=0.1, le=5, description="Seconds to watch before reporting rates and shares.")
]
ResourceId = Annotated[str, Field(max_length=512)]
AbsolutePath = Annotated[str, Field(max_length=4096)]
PodContainer = Annotated[
    str, Field(max_length=63, description="Container of the pod, where it has several.")
]
Limit = Annotated[int, Field(ge=1, le=500, description="Most entries to return.")]
Lines = Annotated[
    int,
    Field(ge=1, le=files.MAX_LINES, description="Most lines to return; for find, most results."),
]
Offset = Annotated[int, Field(ge=0, le=100_000, description="Where a list starts.")]
PageSize = Annotated[int, Field(ge=1, le=50, description="Most entries of a page.")]
Cursor = Annotated[str, Field(max_length=100, description="next_cursor of the page before.")]
Grep = Annotated[
    str,
    Field(
        max_length=1000,
        description="Keep only lines that match this RE2 expression (file, tail, logs). Ignores "
        "case unless it has a capital letter. Example: error|timed? out",
    ),
]
Since = Annotated[
    str, Field(max_length=64, description="Only newer log lines: 30m, 2h, 1d or an ISO 8601 time.")
]


def describe_reader(title: str) -> ToolAnnotations:
    return ToolAnnotations(
        title=title,
        read_only_hint=True,
        destructive_hint=False,
        idempotent_hint=True,
        open_world_hint=False,
    )


def describe_writer(title: str) -> ToolAnnotations:
    """For a tool some of whose actions change something."""
    return ToolAnnotations(
        title=title,
        read_only_hint=False,
        destructive_hint=True,
        idempotent_hint=False,
        open_world_hint=False,
    )
