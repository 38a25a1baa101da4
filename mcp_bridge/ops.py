"""`python -m mcp_bridge.ops`: an older name of `python -m ops`, which configurations may hold."""

from ops.__main__ import main

if __name__ == "__main__":
    main()
