"""The `file_edit` tool: one text file, read exactly and written exactly."""

from typing import Annotated

from pydantic import Field

from ops.envelope_server import EnvelopeServer
from ops.file_edits.changes import FileAction
from ops.file_edits.content import MAX_CONTENT_BYTES, MAX_SCAN_BYTES, Part
from ops.file_edits.editor import EditRequest, FileEditor
from ops.tools.fields import AbsolutePath, PodContainer, Reply, ResourceId, describe_writer

Action = Annotated[
    FileAction,
    Field(
        description="read: the file as it is. write: 'content' takes the place of all of "
        "it, or makes it. append: 'content' is added to its end."
    ),
]
Path = Annotated[AbsolutePath, Field(description="Absolute path of the file.")]
Place = Annotated[
    ResourceId,
    Field(
        description="Where the file is: id of a host, container, guest or pod, as query "
        "gave it. For read, empty is this machine."
    ),
]
Content = Annotated[
    str | None,
    Field(
        max_length=MAX_CONTENT_BYTES,
        description="For write all of the new content, for append what is added. Written "
        "as UTF-8, exactly as given: line ends too.",
    ),
]
ExpectedHash = Annotated[
    str,
    Field(
        max_length=64,
        description="For write and append: the sha256 that read told, or 'absent' where "
        "there is no such file yet. Left out, it is what the file is when the change is "
        "put to a person.",
    ),
]
MostBytes = Annotated[
    int, Field(ge=0, le=MAX_CONTENT_BYTES, description="Most bytes of content that read gives.")
]
TailBytes = Annotated[
    int,
    Field(
        ge=0,
        le=MAX_SCAN_BYTES,
        description="For read: only so many bytes at the end, with hashes of these and of "
        "what lies before them.",
    ),
]


def add_file_edit(server: EnvelopeServer, editor: FileEditor) -> None:
    @server.tool(
        title="Edit a file",
        annotations=describe_writer("Edit a file"),
        description=(
            "Reads a text file with its SHA-256, owner and mode, writes it anew, or appends to it. "
            "Read first: a write says which content it expects to find, and nothing is written "
            "when the file has changed since. Keys, passwords, other secrets, system accounts "
            "and binary files are refused."
        ),
    )
    async def file_edit(
        action: Action,
        path: Path,
        resource_id: Place = "",
        container: PodContainer = "",
        content: Content = None,
        expected_sha256: ExpectedHash = "",
        max_bytes: MostBytes = MAX_CONTENT_BYTES,
        tail_bytes: TailBytes = 0,
    ) -> Reply:
        request = EditRequest(
            action=action,
            path=path,
            resource_id=resource_id,
            container=container,
            content=content,
            expected_sha256=expected_sha256,
            part=Part(max_bytes, tail_bytes),
        )
        return await server.deliver(editor.run(request))
