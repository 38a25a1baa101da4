"""The tool servers that are part of the product and run inside the process that uses them."""

from mcp_bridge.ops.server import build_server
from mcp_bridge.transports import InProcessFactories

OWN_SERVERS: InProcessFactories = {"ops": build_server}
"""By the name that `transport.command`, or the server's id, gives in the configuration."""
