"""The `control` tool: the one that changes what runs."""

from typing import Annotated

from pydantic import Field

from ops.control.actions import ControlAction, ControlType, SignalName
from ops.control.controller import Controller, ControlRequest
from ops.envelope_server import EnvelopeServer
from ops.tools.fields import Reply, describe_writer

Type = Annotated[
    ControlType,
    Field(
        description="service: start, stop, restart, reload, repair. container: start, stop, "
        "restart. guest: start, stop, shutdown, reboot. process: signal, kill. command: "
        "one program with its arguments."
    ),
]
Target = Annotated[
    str,
    Field(
        max_length=512,
        pattern=r"^[a-z][a-z_-]*:.+$",
        description="Id of the resource, such as service:NAME:nginx.service.",
    ),
]
Action = Annotated[
    ControlAction, Field(description="What to do to it; leave it out for type=command.")
]
Pid = Annotated[int, Field(ge=0, le=2**31, description="Number of the process, for type=process.")]
StartTicks = Annotated[
    int,
    Field(
        ge=-1,
        description="start_ticks of that process as query action=config gives it: a "
        "number may have become another process's.",
    ),
]
Signal = Annotated[SignalName, Field(description="The signal, for action=signal.")]
Command = Annotated[
    str,
    Field(
        max_length=4096,
        description="For type=command. No shell reads it: no pipe, redirection, variable "
        "or pattern.",
    ),
]
RepairName = Annotated[
    str, Field(max_length=64, description="Which of the service's repairs, for action=repair.")
]
Runs = Annotated[
    str,
    Field(
        max_length=8192,
        description="What that repair runs, exactly as query action=get says under runs.",
    ),
]
Seconds = Annotated[
    float, Field(ge=1, le=50, description="What a command may take, for type=command.")
]


def add_control(server: EnvelopeServer, controller: Controller) -> None:
    @server.tool(
        title="Change what runs",
        annotations=describe_writer("Change what runs"),
        description=(
            "Starts, stops, restarts and repairs services, containers and guests, signals "
            "processes, runs a command. It changes the machine: look first, and read the state "
            "back afterwards. Give the id exactly as query or discovery returned it."
        ),
    )
    async def control(
        type: Type,
        resource_id: Target,
        action: Action = "command",
        pid: Pid = 0,
        start_ticks: StartTicks = -1,
        signal: Signal = "",
        command: Command = "",
        seconds: Seconds = 30,
        repair: RepairName = "",
        runs: Runs = "",
    ) -> Reply:
        request = ControlRequest(
            type=type,
            action=action,
            resource_id=resource_id,
            signal=signal,
            pid=pid,
            start_ticks=start_ticks,
            command=command,
            seconds=seconds,
            repair=repair,
            runs=runs,
        )
        return await server.deliver(controller.change(request))
