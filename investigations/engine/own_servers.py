"""The tool servers that are part of the product and run inside the process that uses them."""

from functools import cache

from mcp_bridge.transports import InProcessFactories
from ops.records import Records
from ops.server import OpsServer, build_server


def own_servers(records: Records | None = None) -> InProcessFactories:
    """By the name that `transport.command`, or the server's id, gives in the configuration.

    `records` are what an execution may see and add to; without them the tools that need them are
    not offered.
    """
    if records is None:
        return {"ops": build_server}
    return {"ops": lambda: _ops_server().bound_to(records)}


@cache
def _ops_server() -> OpsServer:
    """One for the whole process: building its tools costs as much as a hundred of its calls."""
    return build_server()
