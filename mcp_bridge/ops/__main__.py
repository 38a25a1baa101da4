"""`python -m mcp_bridge.ops`: the ops server over stdio, for any MCP client."""

from mcp_bridge.ops.server import build_server


def main() -> None:
    build_server().run("stdio")


if __name__ == "__main__":
    main()
