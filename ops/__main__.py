"""`python -m ops`: the ops server over stdio, for any MCP client. Read-only, masked."""

from ops.server import build_server


def main() -> None:
    build_server(stands_alone=True).run("stdio")


if __name__ == "__main__":
    main()
